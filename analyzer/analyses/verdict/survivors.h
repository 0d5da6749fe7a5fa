/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overdue survivors of all stacks of a recording: overdue.h judges one, this reads and adds up.
 *
 * Needs no steps. One reading more, shared with others that see blocks; memory grows with stacks
 * that allocate again and again (at most 2.6 KiB each), never with blocks or events.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVORS_H
#define LEAKTIDE_ANALYSES_SURVIVORS_H

#include "analysis.h"
#include "block_rise.h"
#include "labels.h"
#include "larger_work.h"
#include "overdue.h"
#include "stopped_loop.h"
#include "survivor_evidence.h"
#include "survivor_ground.h"
#include "unseen_growth.h"
#include "why.h"

/* A stack that left overdue survivors, or whose block grows. */
struct survivor_stack {
    struct who who; /* site: one of those that are this stack */
    uint64_t name;  /* equal for stacks of one origin */
    uint16_t ledger;
    uint16_t heap;   /* ledger_of_heap() of it: equal for stacks of one origin */
    uint32_t first;  /* of its births */
    uint16_t traits; /* enum stack_trait */
    bool keeps_all;  /* nothing of it was freed before its newest block was born */
    bool is_garbage; /* it may be: a collector frees it, and has not told yet */
    struct overdue overdue;
    uint64_t first_ns, last_ns; /* when its first and its newest block were born */
    uint64_t imports_ns;        /* that imports took after that */
};

/* Stacks of one origin in one ledger, or in one heap: one thing to mend. */
struct survivor_origin {
    const struct survivor_stack *stacks; /* heaviest first */
    size_t stack_count;
    uint64_t bytes, count;  /* of all of them */
    uint64_t bounded_bytes; /* of them, held by caches that say how much they hold at most */
    uint64_t fading_bytes;  /* of the others, of which fewer and fewer stay */
    uint64_t garbage_bytes; /* of the others, that may wait for their collector */
    bool may_go;            /* most of it is one of these */
    bool keeps_all;         /* of every stack */
};

/* What its stacks add up to. */
struct survivor_process {
    uint16_t process;
    uint32_t active_count;        /* stacks that allocate to the end; 0: nothing can be said */
    uint32_t turns, turns_agreed; /* the commonest number of births of these, and how many have it;
                                     0: no two agree */
    uint32_t turns_begin;         /* births before them */
    double turn_births;           /* of the process, from one turn to the next; 0: not known */
    uint32_t begin, end;          /* births before the loop, and before its end */
    bool is_cut; /* an interpreter whose end was not seen: garbage that waited counts as left */
    bool lacks_names;   /* of its interpreter: whether what stays is garbage, or in a cache that is
                           bounded, is not knowable for some of it */
    bool hides_objects; /* small ones: its interpreter's own allocator made them */
    bool is_errand;     /* model/helpers.h: what it keeps is no leak of the job */
    uint64_t bytes;     /* overdue, or grown, without what may go again */
    uint64_t bounded_bytes, fading_bytes; /* of caches, and of what may be one that fills */
    uint64_t garbage_bytes;               /* of what may wait for its collector */
    struct survivor_origin *origins;      /* what may go again last, then heaviest first */
    size_t origin_count;
    const struct survivor_origin *given_again; /* given_again.h: then the first may be lighter */
    const struct survivor_ground *grounds;     /* by ledger and name */
    size_t ground_count;
    uint64_t loop_bytes, peak_bytes; /* that active stacks asked for; leak_process_bytes() */
    uint64_t asked_bytes; /* by all stacks, since the heaviest began and until the work ended */
    /* Stays on a device, where nothing was freed that comes near it: of one step that had not ended
     * when the window did. Not in the origins. */
    uint64_t pass_bytes;
    uint16_t pass_ledger;
    /* Stays as overdue survivors do, until the interpreter lets it go at its end: garbage that no
     * collection met, or what an exit handler frees. Not in the origins. */
    uint64_t waiting_bytes;
    struct who waiting_who; /* of most of it */
    /* Of these, what went before the last collection began: an exit handler let it go, or ran the
     * collector. */
    uint64_t let_go_bytes;
    struct who let_go_who;
    struct larger_loop larger;   /* not in the origins */
    struct stopped_loop stopped; /* of the stacks that do not allocate to the end */
    bool has_rested; /* what stays was made long before its end: in `stopped`, and no leak */
    bool is_judged;  /* these made most of what was made meanwhile, so "no leak" says something */
    bool has_stacks; /* most of that has call stacks, so that a turn of a loop is known again */
    const struct survivor_pool *unjudged_pools; /* where they did not, and much stays */
    size_t unjudged_pool_count;
    struct why_list whys;        /* of its heaviest stacks, leaking or not */
    struct block_risen risen;    /* what its blocks hold, from the beginning of the loop on */
    struct unseen_growth unseen; /* of its resident memory, which no block explains */
};

struct survivors {
    const struct survivor_process *processes; /* heaviest first, errands last */
    size_t process_count;
};

struct survivor_reading;

/* Its callbacks into *visitor. NULL without memory. The question must outlive
 * the reading, until it is finished. */
struct survivor_reading *survivor_reading_create(const struct question *question,
                                                 struct life_visitor *visitor);
/* After the reading; what only the reading needs goes. NULL: there was no memory. Borrowed until
 * the reading is destroyed. */
const struct survivors *survivor_reading_finish(struct survivor_reading *reading);
/* Reads the recording for them alone. NULL without memory, or when it cannot be read. */
struct survivor_reading *survivors_read(const struct question *question);
void survivor_reading_destroy(struct survivor_reading *reading);

#endif
