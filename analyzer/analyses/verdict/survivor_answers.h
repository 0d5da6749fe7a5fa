/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors say: whether a process leaks, may, or cannot be judged, and how fast.
 *
 * Nothing here asks for memory or keeps anything; survivors.h owns what is handed in.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_ANSWERS_H
#define LEAKTIDE_ANALYSES_SURVIVOR_ANSWERS_H

#include "survivors.h"

/* NULL: nothing was read of it. */
const struct survivor_process *survivors_of_process(const struct survivors *survivors,
                                                    uint16_t process);
/* Heavy enough to be called a leak; lighter, or bounded, is a remark. */
bool survivors_are_leak(const struct survivor_process *process);
/* Heavy enough, but of a loop of less than TURNS_MIN turns: a program that makes a list of some
 * large things and ends looks the same. No leak, unless steps that were marked say so. */
bool survivors_are_of_few_turns(const struct survivor_process *process);
/* A leak, but much of what the process has and asked for, and no turns of a loop are seen: data
 * that is built to the end looks the same. */
bool survivors_may_be_data(const struct survivor_process *process);
/* Not a leak, but what may be a cache that fills, or garbage, is as heavy as one: more turns
 * decide.
 */
bool survivors_are_undecided(const struct survivor_process *process);
/* An errand that keeps as much as a leak has. */
bool survivors_are_of_errand(const struct survivor_process *process);
/* Undecided because of what may wait for its collector. */
bool survivors_may_be_garbage(const struct survivor_process *process);
/* A block that grows with the work, and may be a history, is as heavy as a leak. */
bool survivors_may_be_larger_work(const struct survivor_process *process);
/* How many of its origins, the first ones, are leaks of their own; 0: nothing leaks. */
size_t survivors_leak_count(const struct survivor_process *process);
enum survivor_answer {
    SURVIVORS_SILENT,  /* nothing can be said */
    SURVIVORS_STOPPED, /* a stack made many, and none is active to the end: of data, or of a loop */
    SURVIVORS_STAY,
    SURVIVORS_MAY_GO, /* they stay, in a cache that is bounded or seems to fill, or as garbage */
    SURVIVORS_GO      /* what stays longer than a step does not stay for good */
};

/* About one origin, by ledger_of_heap() and symbols_site_key(). *origin: where they stay; else
 * NULL. */
enum survivor_answer survivors_about(const struct survivors *survivors, uint16_t process,
                                     uint16_t heap, uint64_t name,
                                     const struct survivor_origin **origin);
/* What waits for the end is as heavy as a leak. */
bool survivors_wait(const struct survivor_process *process);
/* What an exit handler lets go, or a collection that it runs, is as heavy as a leak. */
bool survivors_are_let_go(const struct survivor_process *process);
/* 0: turns are not known. */
uint64_t survivors_unseen_per_turn(const struct survivor_process *process);
/* Of one of the recordings that are read (model_process.input): something leaks or may, or of the
 * process that did most enough was seen to say that none does. */
bool survivors_can_judge(const struct question *question, const struct survivors *survivors,
                         uint32_t input);
/* The same of any of them: stacks that allocate to the end decide, if marked steps do not.
 * survivors may be NULL. */
bool survivors_decide(const struct question *question, const struct survivors *survivors);
/* Processes of which too little could be judged; those that did little are not counted. */
size_t survivors_unjudged_processes(const struct survivors *survivors);
/* Bytes that a turn of the loop leaves; 0: turns are not known. */
uint64_t survivors_per_turn(const struct survivor_process *process,
                            const struct survivor_origin *origin);
uint64_t survivors_blocks_per_1000_turns(const struct survivor_process *process,
                                         const struct survivor_origin *origin);
/* The same where the turns are steps that are known. */
uint64_t survivors_per_step(const struct survivors *survivors, uint16_t process,
                            const struct survivor_origin *origin, uint32_t steps);

#endif
