/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of x86-64 in 25 bits, and how to follow it.
 *
 *     24     22 21         15 14                        0
 *    | kind    | fp slot     | CFA offset, in words      |
 *
 * The return address is always the word below the CFA; fp slot is how many words below the CFA the
 * frame pointer was saved, 0: not saved, 127: lost. A rule that does not fit is packed to 0.
 */
#ifndef LEAKTIDE_TRACER_ROW_ARCH_H
#define LEAKTIDE_TRACER_ROW_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi.h"
#include "rule.h"

enum row_kind {
    ROW_NONE,
    ROW_SP,    /* CFA from sp */
    ROW_FP,    /* CFA from fp */
    ROW_AT_FP, /* CFA is the word at fp + offset, the saved frame pointer the word at fp */
    ROW_SIGNAL,
    ROW_END,
    ROW_ABSENT,
    ROW_LOST
};

enum {
    ROW_BITS = 25,
    ROW_KIND_SHIFT = 22,
    ROW_SLOT_SHIFT = 15,
    ROW_SLOT_LOST = 127,
    ROW_OFFSET_MASK = 0x7fff,
    ROW_OFFSET_SIGN = 0x4000
};

/* struct rt_sigframe: where the kernel left the registers, from the sp of the trampoline. */
enum { SIGNAL_FP = 120, SIGNAL_LR = 0, SIGNAL_SP = 160, SIGNAL_PC = 168 };

/* Below the stack pointer of what a signal interrupts; no handler writes there. */
enum { RED_ZONE_BYTES = 128 };

/* push %rbp; mov %rsp, %rbp */
enum { RECORD_RETURN_ADDRESS = 8, RECORD_GIVES_SP = 1, RECORD_BYTES = 16 };

#define ROW_REGISTERS cfi_registers_x86_64
#define ROW_PC_MASK   UINT64_MAX

static inline enum row_kind row_kind(uint32_t row)
{
    return (enum row_kind)(row >> ROW_KIND_SHIFT);
}

static inline uint32_t row_slot_of(const struct rule_slot *slot)
{
    if (slot->place == PLACE_SAME)
        return 0;
    if (slot->place == PLACE_LOST)
        return ROW_SLOT_LOST;
    if (slot->place != PLACE_AT_CFA || slot->offset_bytes % 8 || slot->offset_bytes > -8 ||
        slot->offset_bytes <= -8 * ROW_SLOT_LOST)
        return UINT32_MAX;
    return (uint32_t)(-slot->offset_bytes / 8);
}

static inline uint32_t row_pack_frame(const struct unwind_rule *rule)
{
    int32_t words = rule->cfa_offset_bytes / 8;
    uint32_t slot = row_slot_of(&rule->frame_pointer);
    uint32_t kind = rule->base == BASE_SP ? ROW_SP : rule->base == BASE_FP ? ROW_FP : ROW_AT_FP;

    if (rule->cfa_offset_bytes % 8 || rule->return_address.place != PLACE_AT_CFA ||
        rule->return_address.offset_bytes != -8)
        return 0;
    if (kind == ROW_AT_FP) {
        if (rule->frame_pointer.place != PLACE_AT_FP || rule->frame_pointer.offset_bytes != 0 ||
            words < -ROW_OFFSET_SIGN || words >= ROW_OFFSET_SIGN)
            return 0;
        return kind << ROW_KIND_SHIFT | ((uint32_t)words & ROW_OFFSET_MASK);
    }
    if (slot == UINT32_MAX || words < 0 || words > ROW_OFFSET_MASK)
        return 0;
    return kind << ROW_KIND_SHIFT | slot << ROW_SLOT_SHIFT | (uint32_t)words;
}

/* The opposite. */
static inline struct unwind_rule row_unpack(uint32_t row)
{
    struct unwind_rule rule = {.kind = RULE_FRAME, .return_address = {PLACE_AT_CFA, -8}};
    uint32_t slot = row >> ROW_SLOT_SHIFT & 0x7f;
    int32_t words = (int32_t)(row & ROW_OFFSET_MASK);

    if (row_kind(row) == ROW_AT_FP) {
        rule.base = BASE_AT_FP;
        rule.frame_pointer = (struct rule_slot){PLACE_AT_FP, 0};
        words -= words & ROW_OFFSET_SIGN ? 2 * ROW_OFFSET_SIGN : 0;
    } else {
        rule.base = row_kind(row) == ROW_SP ? BASE_SP : BASE_FP;
        if (slot == ROW_SLOT_LOST)
            rule.frame_pointer.place = PLACE_LOST;
        else if (slot)
            rule.frame_pointer = (struct rule_slot){PLACE_AT_CFA, -8 * (int32_t)slot};
    }
    rule.cfa_offset_bytes = 8 * words;
    return rule;
}

/* The rows that nearly all frames have; row_cfa_bytes and the slots are for these. */
static inline bool row_is_plain(uint32_t row)
{
    return row_kind(row) - ROW_SP <= ROW_FP - ROW_SP;
}

static inline bool row_needs_fp(uint32_t row)
{
    return row_kind(row) == ROW_FP || row_kind(row) == ROW_AT_FP;
}

/* From sp, or from fp where it is needed. */
static inline uint32_t row_cfa_bytes(uint32_t row)
{
    return 8 * (row & ROW_OFFSET_MASK);
}

static inline uint64_t row_return_slot(uint32_t row, uint64_t cfa)
{
    (void)row;
    return cfa - 8;
}

static inline bool row_saves_fp(uint32_t row)
{
    return (row >> ROW_SLOT_SHIFT & 0x7f) != 0;
}

static inline bool row_loses_fp(uint32_t row)
{
    return (row >> ROW_SLOT_SHIFT & 0x7f) == ROW_SLOT_LOST;
}

static inline uint64_t row_fp_slot(uint32_t row, uint64_t cfa)
{
    return cfa - 8 * (uint64_t)(row >> ROW_SLOT_SHIFT & 0x7f);
}

/*
 * code: the 8 bytes in front of an address. Could a call end there? Source: Intel SDM, CALL:
 * e8 with 4 bytes of distance, or ff /2 with what its addressing needs.
 */
enum { CALL_BYTES = 8 };

static inline bool follows_call(const uint8_t *code)
{
    if (code[3] == 0xe8)
        return true;
    for (int length = 2; length <= 7; length++)
        if (code[8 - length] == 0xff && (code[9 - length] & 0x38) == 0x10)
            return true;
    return false;
}

/* The C library gives rows for its own. */
enum { TRAMPOLINE_BYTES = 0 };

static inline bool is_signal_trampoline(uint64_t pc)
{
    (void)pc;
    return false;
}

static inline uint64_t thread_pointer(void)
{
    uint64_t value;

    __asm__("mov %%fs:0, %0" : "=r"(value));
    return value;
}

#endif
