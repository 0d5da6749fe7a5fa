/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stack leak? Judged without steps, by the births and deaths of its blocks alone.
 *
 * A stack that still allocates when the program's work ends, and whose blocks from all over its
 * life are still there although they are older than anything it ever freed, leaks.
 * docs/verdicts.md explains each rule.
 *
 * The clock counts births of the process, from 0. A stack keeps what it needs in at most
 * OVERDUE_ROWS_MOST rows: neighbouring births share one, so that no row spans more than a small
 * part of the stack's life. What was freed since the newest birth stands apart, as it is forgotten
 * at the next one: a recording may have a million stacks, and rows are most of its memory. One
 * thread at a time.
 */
#ifndef LEAKTIDE_ANALYSES_OVERDUE_H
#define LEAKTIDE_ANALYSES_OVERDUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OVERDUE_ROWS_MOST = 32 };

/* Why a stack is not called overdue; in the order in which it is asked. */
enum overdue_reason {
    OVERDUE_YES,
    OVERDUE_NOT_ACTIVE,   /* it had stopped before the end, or was seen too seldom */
    OVERDUE_FEW,          /* survivors that are older than any that was freed */
    OVERDUE_STOPPED,      /* they were not born up to the end */
    OVERDUE_LIVES_UNSEEN, /* three of its longest lives do not fit into the recording */
    OVERDUE_SLOWING,      /* ever fewer are left: a cache by key */
    OVERDUE_UNEVEN,       /* left in one part of the time more than in others */
    OVERDUE_REASON_COUNT
};

/* Births that followed each other closely: what is left of them. */
struct overdue_row {
    uint32_t first; /* when the first was born */
    uint32_t left;  /* alive */
    uint64_t left_bytes;
    uint64_t alive_bytes; /* of the stack, at most, before one of these births or in its block */
};

/* The same births: how they followed each other. */
struct overdue_span {
    uint32_t last;      /* when the last was born */
    uint32_t inner_gap; /* the longest between two of them */
    uint32_t births;
    uint32_t moments; /* what of them was not one burst with the birth before, but for the first */
};

/* Of a row, freed since the newest birth of the stack; `swept` of these while the interpreter
 * ended, as by its last collection, which frees what nobody could reach; `let_go` of these before
 * that collection could begin. */
struct overdue_late {
    uint32_t row;
    uint32_t count, swept, let_go;
    uint64_t bytes, swept_bytes, let_go_bytes;
};

/* What is left out of the survivors, of all that was freed after the newest birth. */
enum overdue_sweep {
    OVERDUE_SWEEP_UNKNOWN, /* nothing: what was garbage was not told */
    OVERDUE_SWEEP_ALL,     /* what was swept */
    OVERDUE_SWEEP_LAST     /* what was swept, but for what was let go before */
};

struct overdue_stack {
    struct overdue_row *rows;   /* by time; for overdue_release(), as the next are */
    struct overdue_span *spans; /* of each row; NULL while each is one birth, as of most stacks */
    struct overdue_late *lates; /* at most one of each row */
    uint8_t row_count, row_capacity, late_count, late_capacity;
    bool is_gap_due; /* longest_gap is still to be looked for */
    uint32_t births, first, last;
    uint32_t longest_gap;
    uint32_t width;        /* a birth so soon after the first of the newest row joins it; 0: none */
    uint32_t empty;        /* the newest birth before which no more than one block was alive */
    uint32_t bare;         /* the newest birth before which none was; 0: only the first */
    uint32_t gone;         /* births of the process, when the newest of its deaths was */
    uint32_t freed_age;    /* the oldest that was freed, in births of the process */
    uint32_t age_at_birth; /* the same when the newest block was born */
    uint64_t alive_bytes, largest_bytes, allocated_bytes;
    uint64_t alive_at_birth_bytes; /* at most, before its newest birth or in that block */
};

struct overdue {
    enum overdue_reason reason;
    bool is_active;         /* until the end; false: nothing else is known */
    bool is_fading;         /* overdue, but fewer and fewer: a cache that fills looks like that */
    bool is_growing;        /* not overdue, but what is alive rises, as a block that is made anew */
    bool is_in_bursts;      /* it does not go on, as it came in too few moments */
    bool is_in_many_blocks; /* that grows: too many to be one that is made anew */
    bool is_given_back;     /* that grows: again and again, until late, nothing of it is alive */
    uint64_t bytes, count;  /* of the overdue survivors; count 0 where what is alive grows */
    uint32_t first, last;   /* births of them, or of the blocks that grow */
    uint32_t births;        /* of the stack, in all */
    uint32_t freed_age;     /* oldest that was freed before the newest birth */
    uint64_t left_bytes;    /* alive when the newest block was born, overdue or not */
    uint64_t overdue_bytes; /* of these, overdue and reachable, whatever is said of them */
    /* By the reason: births or silences in births, overdue survivors, thousandths of unevenness. */
    uint64_t measured, needed;
};

/* The stack is zeroed before its first birth. Clocks never fall. False without memory. */
bool overdue_born(struct overdue_stack *stack, uint32_t clock, uint64_t bytes);
/* born: the clock when it was; clock: how many births there were. is_swept: freed while the
 * interpreter ended. False without memory. */
bool overdue_gone(struct overdue_stack *stack, uint32_t born, uint32_t clock, uint64_t bytes,
                  bool is_swept);
/* What was freed after the newest birth was freed like any other: not because the program ended. */
void overdue_settle(struct overdue_stack *stack);
/* What was freed since the newest birth was swept, all of it: it may have been. */
void overdue_swept(struct overdue_stack *stack);
/* What was swept until now was let go by something else than the last collection, which is still to
 * come. How many blocks that are. */
uint64_t overdue_let_go(struct overdue_stack *stack);
/* Asks for the memory that the next birth or death of the stack will need. */
void overdue_prefetch(const struct overdue_stack *stack);
void overdue_release(struct overdue_stack *stack);

/* end: of the program's work, a count of births. */
struct overdue overdue_judge(const struct overdue_stack *stack, uint32_t end,
                             enum overdue_sweep sweep);
/* The same of what was born before `latest` alone: of what is younger a collector has yet to tell
 * what stays. */
struct overdue overdue_judge_before(const struct overdue_stack *stack, uint32_t end,
                                    uint32_t latest, enum overdue_sweep sweep);

/* Again and again, until late, nothing of it was alive when it asked for more. */
bool overdue_is_given_back(const struct overdue_stack *stack);

/* How much of it was alive in the first third of its rows, and in the last, on average. chance: of
 * such a rise, if their order meant nothing. */
struct overdue_rise {
    double early_bytes, late_bytes, chance;
};
struct overdue_rise overdue_rise_of(const struct overdue_stack *stack);

/* Born in a time, and what of it was alive when the newest block of the stack was born. */
struct overdue_part {
    uint64_t births, left_bytes;
};
struct overdue_part overdue_between(const struct overdue_stack *stack, uint32_t begin,
                                    uint32_t end);

#endif
