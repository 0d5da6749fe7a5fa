/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one frame is left: where its caller's stack begins and where its caller's registers are.
 *
 *     CFA                 the caller's stack pointer, = base register + offset or a word in memory
 *     return address      the caller's pc, in a slot relative to the CFA, or still in the link
 * register frame pointer       the caller's frame pointer, in a slot, or unchanged
 *
 * Only the stack pointer and the frame pointer are followed. A frame that needs another register
 * is RULE_LOST: the walk ends there and says so.
 */
#ifndef LEAKTIDE_TRACER_RULE_H
#define LEAKTIDE_TRACER_RULE_H

#include <stdint.h>

enum rule_kind {
    RULE_FRAME,   /* the fields below tell */
    RULE_SIGNAL,  /* the kernel's frame of a signal: the registers lie on the stack */
    RULE_END,     /* the outermost frame of its thread or context */
    RULE_ABSENT,  /* an object is known here, but has no row for this pc */
    RULE_LOST,    /* there is a row, and it cannot be followed */
    RULE_OUTSIDE, /* no object here: code made at run time */
};

enum rule_base {
    BASE_SP,    /* CFA = sp + offset */
    BASE_FP,    /* CFA = fp + offset */
    BASE_AT_FP, /* CFA = the word at fp + offset: functions that realign their stack */
};

enum rule_place {
    PLACE_SAME,   /* unchanged; for the return address: in the link register */
    PLACE_AT_CFA, /* the word at CFA + offset */
    PLACE_AT_FP,  /* the word at fp + offset */
    PLACE_LOST,
};

struct rule_slot {
    enum rule_place place;
    int32_t offset_bytes;
};

struct unwind_rule {
    enum rule_kind kind;
    enum rule_base base;
    int32_t cfa_offset_bytes;
    struct rule_slot return_address;
    struct rule_slot frame_pointer;
};

#endif
