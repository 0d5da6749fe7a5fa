/* SPDX-License-Identifier: Apache-2.0 */
#include "leak_doubt.h"

#include <string.h>

#include "growth.h"
#include "leaktide/invariant.h"
#include "missing.h"
#include "sentence.h"
#include "survivor_answers.h"

/* --- words ------------------------------------------------------------------------------------ */

const char *leak_doubt_word(enum leak_doubt doubt)
{
    static const char *const words[LEAK_DOUBT_COUNT] = {
        [LEAK_DOUBT_NONE] = "",           [LEAK_DOUBT_BLOCKS] = "blocks",
        [LEAK_DOUBT_STEPS] = "steps",     [LEAK_DOUBT_HIDDEN] = "hidden",
        [LEAK_DOUBT_UNSEEN] = "unseen",   [LEAK_DOUBT_LOOP] = "loop",
        [LEAK_DOUBT_TURNS] = "turns",     [LEAK_DOUBT_POOL] = "device",
        [LEAK_DOUBT_MISSING] = "missing", [LEAK_DOUBT_OLDER] = "older",
        [LEAK_DOUBT_WAITING] = "waiting", [LEAK_DOUBT_RISE] = "rise",
    };

    MT_ASSERT((unsigned)doubt < LEAK_DOUBT_COUNT);
    return words[doubt];
}

enum leak_doubt leak_doubt_by_word(const char *word)
{
    for (int doubt = LEAK_DOUBT_NONE; doubt < LEAK_DOUBT_COUNT; doubt++)
        if (strcmp(leak_doubt_word((enum leak_doubt)doubt), word) == 0)
            return (enum leak_doubt)doubt;
    return LEAK_DOUBT_OLDER;
}

const char *leak_doubt_reason(enum leak_doubt doubt)
{
    switch (doubt) {
    case LEAK_DOUBT_BLOCKS:
        return translated("no allocation of a block was recorded");
    case LEAK_DOUBT_STEPS:
        return translated("too few steps were recorded, and too little of what is allocated "
                          "repeats to the end: mark steps, or run the job longer");
    case LEAK_DOUBT_HIDDEN:
        return translated(
            "leaks of Python objects cannot be judged: CPython's own allocator made them; "
            "record with --call-stack=python or PYTHONMALLOC=malloc");
    case LEAK_DOUBT_UNSEEN:
        return translated("the process grows by what no recorded block explains: see "
                          "leaktide account");
    case LEAK_DOUBT_LOOP:
        return translated(
            "a loop ended before the program did, and much of it stays: mark steps to "
            "judge it");
    case LEAK_DOUBT_TURNS:
        return translated("what stays may be a leak, a cache that still fills, or garbage: run "
                          "the job twice as long");
    case LEAK_DOUBT_WAITING:
        return translated("what stays until the interpreter ends may be garbage that no "
                          "collection met, or a leak that an exit handler frees: call "
                          "gc.collect() in the loop to tell");
    case LEAK_DOUBT_RISE:
        return translated("what the process holds rises to the end, and no stack alone tells why: "
                          "mark steps to judge it");
    case LEAK_DOUBT_POOL:
        return translated("leaks of one kind of memory cannot be judged: what was made there in "
                          "the loop was not made to its end; run the job longer, or mark steps");
    case LEAK_DOUBT_MISSING:
        return translated("much of the recording is missing, or could not be read");
    case LEAK_DOUBT_OLDER:
        return translated("its summary does not tell: summarize its recording again");
    case LEAK_DOUBT_NONE:
    case LEAK_DOUBT_COUNT:
        break;
    }
    return "";
}

/* --- what there is ---------------------------------------------------------------------------- */

static bool has_device_memory(const struct question *question)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        if (tally_ledger_at(question->tally, i)->device >= 0)
            return true;
    return false;
}

bool leak_stacks_decide(const struct question *question, const struct survivors *survivors)
{
    return survivors && survivors_can_judge(survivors) && !growth_steps_decide(question);
}

static bool has_steps(const struct question *question, struct judged_steps steps)
{
    return steps.last - steps.warm_up >= growth_steps_needed(question);
}

static bool is_of_turns(const struct question *question, const struct survivors *survivors)
{
    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors_are_undecided(&survivors->processes[i]) ||
            (!growth_steps_decide(question) &&
             survivors_are_of_few_turns(&survivors->processes[i])))
            return true;
    return false;
}

static enum leak_doubt doubt_of_survivors(const struct question *question,
                                          const struct survivors *survivors)
{
    bool do_steps_decide = growth_steps_decide(question);
    uint16_t ledger;

    if (is_of_turns(question, survivors))
        return LEAK_DOUBT_TURNS;
    if (survivors_with_unseen_growth(survivors))
        return LEAK_DOUBT_UNSEEN;
    if (survivors_of_stopped_loop(survivors) && !do_steps_decide)
        return LEAK_DOUBT_LOOP;
    if (survivors_that_wait(survivors) && !do_steps_decide)
        return LEAK_DOUBT_WAITING;
    if (survivors_hide_objects(survivors) && !(do_steps_decide && has_device_memory(question)))
        return LEAK_DOUBT_HIDDEN;
    if (survivors_that_rise(survivors) && !do_steps_decide)
        return LEAK_DOUBT_RISE;
    if (!do_steps_decide && (survivors_lack_pool(survivors, question->tally, &ledger) ||
                             survivors_in_one_pass(survivors)))
        return LEAK_DOUBT_POOL;
    return LEAK_DOUBT_NONE;
}

/* --- what it means ---------------------------------------------------------------------------- */

enum leak_doubt leak_doubt_of(const struct question *question, const struct survivors *survivors)
{
    enum leak_doubt doubt;

    if (!leak_stacks_decide(question, survivors)) {
        if (!has_steps(question, growth_longest_steps(question)))
            return LEAK_DOUBT_STEPS;
        if (!growth_has_blocks(question))
            return LEAK_DOUBT_BLOCKS;
    }
    doubt = survivors ? doubt_of_survivors(question, survivors) : LEAK_DOUBT_NONE;
    if (doubt == LEAK_DOUBT_NONE && missing_is_much(tally_model(question->tally)))
        return LEAK_DOUBT_MISSING;
    return doubt;
}

enum leak_doubt leak_doubt_of_process(const struct question *question,
                                      const struct survivors *survivors, uint16_t process,
                                      size_t *judged_count)
{
    const struct survivor_process *row =
        survivors ? survivors_of_process(survivors, process) : NULL;

    if (leak_stacks_decide(question, survivors)) {
        *judged_count = row && row->is_judged ? row->active_count : 0;
        if (!row || !(row->is_judged || survivors_are_leak(row) || survivors_are_undecided(row)))
            return LEAK_DOUBT_STEPS;
    } else if (!has_steps(question, growth_steps_of(question, process))) {
        return LEAK_DOUBT_STEPS;
    }
    return leak_doubt_of(question, survivors);
}
