/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of the calling thread, by the rows of .eh_frame.
 *
 *     static struct unwinder unwinder;             // zeros, 1.1 MiB, touched as it is used
 *     unwinder_prepare(&unwinder);                 // once, outside of hooks
 *
 *     struct unwind_stack stack;                   // in a hook; thread: zeros at first, one each
 *     unwind_capture(&unwinder, thread, UNWIND_CALLER, &stack);
 *
 * A thread remembers its last stack. Frames whose words on the stack are still as they were are
 * taken over; only new frames are walked. That is sound because each step is a function of (pc,
 * sp, fp) and of those words. Where little is the same from stack to stack, all is walked.
 *
 * Programs go back and forth between a few stacks. So the innermost frames of earlier ones are
 * kept, too (struct unwind_top), and taken over in the same way: a walk waits for each pc until it
 * has the row of the one before; words that are only verified do not wait for each other.
 *
 * Takes no lock, uses no heap, reads no address that is not known to be readable, leaves errno as
 * it was: safe in signal handlers, inside of malloc, while others load and unload objects.
 *
 * A stack says how it ended. Only one that is UNWIND_COMPLETE goes down to the thread's start; the
 * frames of any other are right as far as they go.
 */
#ifndef LEAKTIDE_TRACER_UNWINDER_H
#define LEAKTIDE_TRACER_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"
#include "row_table.h"
#include "stack_memory.h"
#include "unwind_caller.h"

enum {
    UNWIND_MAX_FRAMES = 512,
    UNWIND_FRONT_ROWS = 2048,
    UNWIND_SPARE_CHECKS = 3, /* in front, always right: checks are done four at a time */
    UNWIND_TOP_SETS = 128,
    UNWIND_TOP_WAYS = 2,
    UNWIND_TOPS = UNWIND_TOP_SETS * UNWIND_TOP_WAYS,
    UNWIND_TOPS_EXPECTED_BITS = 10,
    UNWIND_TOP_FRAMES = 8,
    UNWIND_TOP_CHECKS = 12 /* four at a time */
};

/* How a stack ended, and what was met. */
enum unwind_flag {
    UNWIND_COMPLETE = 1 << 0,   /* down to the start of the thread or context */
    UNWIND_TRUNCATED = 1 << 1,  /* more frames than allowed: the inner ones are here */
    UNWIND_JIT = 1 << 2,        /* code of no object; its frame is the last */
    UNWIND_UNREADABLE = 1 << 3, /* a frame beyond the stack */
    UNWIND_NO_ROWS = 1 << 4,    /* a frame that no row or frame pointer tells how to leave */
    UNWIND_GUESSED = 1 << 5,    /* somewhere a frame pointer was followed for lack of a row */
    UNWIND_SIGNAL = 1 << 6,     /* goes through a signal handler */
    UNWIND_NESTED = 1 << 7      /* nothing: a signal came while this thread was walking */
};

/* Of one frame: its caller's stack pointer is not here, it is that of the next outer frame. */
struct unwind_frame {
    uint64_t sp, pc, fp;
    uint16_t check_end; /* checks of this frame and of all outer ones */
    bool needs_fp;      /* an outer row reads the frame pointer that this frame has */
    uint32_t serial;    /* two frames with the same have all in common, and all further out */
};

/* A word that must be as it was. */
struct unwind_check {
    uint64_t address, value;
};

struct unwind_new_frame {
    uint64_t pc, sp, fp;
    uint32_t row;
};

/* What the caller calls a stack, and one that it made from that together with something else. */
struct unwind_names {
    uint32_t name, merged_name; /* 0: none */
    uint64_t merged_with[2];    /* the caller's */
};

/*
 * Frames that were walked, with the remembered one that they stood on. They are taken over when
 * that one is there again and their checks hold.
 */
struct unwind_top {
    uint64_t sp, pc, fp;  /* of the innermost frame */
    uint32_t base_serial; /* of the frame that they stand on ... */
    uint16_t base_count;  /* ... and its place */
    uint8_t count, check_count;
    uint8_t flags; /* enum unwind_flag */
    bool needs_fp;
    struct unwind_names names;
};

/*
 * By sp and pc; of several at the same place there are two. Programs repeat themselves: the one
 * that was there after the same one last time is tried first.
 */
struct unwind_tops {
    uint32_t last;
    uint32_t unlaid;    /* + 1: it was given last, and is not in unwind_thread.frames; 0: none */
    uint32_t debt;      /* are they worth their while? */
    uint32_t rest_left; /* captures that do without */
    uint8_t newest_ways[UNWIND_TOP_SETS];
    /* What is looked at each time, what is if the first fits, and what is seldom needed. */
    uint8_t expected[1 << UNWIND_TOPS_EXPECTED_BITS]; /* by sp, pc and the last one */
    _Alignas(64) struct unwind_top tops[UNWIND_TOPS];
    struct unwind_check checks[UNWIND_TOPS][UNWIND_TOP_CHECKS];
    struct unwind_frame frames[UNWIND_TOPS][UNWIND_TOP_FRAMES];
};

/* A row as it is needed in nearly every step. */
struct unwind_front_row {
    uint64_t pc; /* a return address */
    uint32_t row;
    uint16_t cfa_words; /* from sp or fp to the CFA; 0: the row is not plain */
    uint16_t fp_words;  /* see unwind_walk.h */
};

/* Starts as zeros. One per thread, used by that thread only; 230 KiB, touched as it is used. */
struct unwind_thread {
    uint64_t changes;    /* of the unwinder's, when this was made */
    uint64_t generation; /* of the rows, then */
    uint64_t busy_sp;    /* the stack that is being walked, or 0 */
    uint64_t number;     /* of captures that were laid out */
    struct stack_knowledge stack;
    uint32_t pc_count;    /* of the last capture */
    uint32_t frame_count; /* remembered with all that can be checked; 0: none is */
    uint32_t plain_left;  /* captures that are not compared with the one before */
    uint32_t kept_flags;  /* how the remembered stack ended */
    int32_t share_credit; /* is reuse worth its while? */
    uint32_t last_serial; /* of frames */
    uint32_t given_same;  /* so many of pcs are those that were given last; more: all of them */
    struct unwind_front_row front[UNWIND_FRONT_ROWS];
    uint64_t pcs[UNWIND_MAX_FRAMES];                   /* outermost first, as in frames */
    uint64_t hashes[1 + UNWIND_MAX_FRAMES];            /* of so many pcs, [0] of none */
    struct unwind_frame frames[1 + UNWIND_MAX_FRAMES]; /* [0] is a guard that no walk goes beyond */
    struct unwind_check checks[UNWIND_SPARE_CHECKS + 3 * UNWIND_MAX_FRAMES];
    struct unwind_new_frame new_frames[UNWIND_MAX_FRAMES]; /* innermost first */
    struct unwind_tops tops;
};

/* Starts as zeros. One per process. */
struct unwinder {
    struct row_table rows;
    struct objects objects;
    uint64_t changes;        /* objects came or went so often, from 1 on */
    uint32_t frame_limit;    /* 0: UNWIND_MAX_FRAMES */
    bool is_plain;           /* walk all frames always */
    bool is_checking;        /* walk twice and compare: for tests */
    uint64_t compiled_count; /* rows made from .eh_frame */
    uint64_t mismatch_count; /* of is_checking; the plain walk is given then */
};

struct unwind_stack {
    /* Return addresses, outermost first; borrowed until the next capture. NULL: not laid out. */
    const uint64_t *pcs;
    uint32_t count;
    uint32_t reused_count; /* the first of pcs that are those of the one of `number` - 1 */
    uint32_t flags;
    uint64_t number; /* 1 for the first stack of the thread that was laid out */
    uint64_t hash;   /* of pcs */
    uint32_t *name;  /* in unwind_names, of this very stack; 0 at first. NULL: it has none */
};

/* Outside of hooks, before the first capture. */
void unwinder_prepare(struct unwinder *unwinder);

/*
 * came: after objects were loaded, and none was unloaded meanwhile. left: before and after objects
 * are unloaded. What was known of stacks is forgotten; what was known of rows only if some left, as
 * a row is of a loaded object. Both take the loader's lock where the C library is older than 2.35:
 * never from inside a hook of malloc.
 */
void unwinder_objects_came(struct unwinder *unwinder);
void unwinder_objects_left(struct unwinder *unwinder);

void unwind_capture(struct unwinder *unwinder, struct unwind_thread *thread,
                    const struct unwind_registers *start, struct unwind_stack *stack);

/*
 * The same, but a stack that is known again is not laid out: it has count, flags and name alone,
 * and no number. For who needs more than its name, unwind_lay_out gives the rest, before the next
 * capture of the thread.
 */
void unwind_recall(struct unwinder *unwinder, struct unwind_thread *thread,
                   const struct unwind_registers *start, struct unwind_stack *stack);
void unwind_lay_out(struct unwind_thread *thread, struct unwind_stack *stack);

/* Another thread uses it from now on: of the stack there, nothing is known. */
void unwind_thread_changes(struct unwind_thread *thread);

/* The hash of some pcs and one more; 0 for none. unwind_hash_end makes its bits of equal use. */
static inline uint64_t unwind_hash(uint64_t hash, uint64_t pc)
{
    return (hash ^ pc) * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint64_t unwind_hash_end(uint64_t hash)
{
    return hash ^ hash >> 32;
}

#endif
