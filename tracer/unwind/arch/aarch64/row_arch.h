/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of aarch64 in 25 bits, and how to follow it.
 *
 *     24     21 20          11 10                       0
 *    | kind    | return slot  | CFA offset, in words     |
 *
 * Return slot is how many words below the CFA the return address was saved. The frame pointer,
 * where it was saved, lies in the word below that: both are stored as a pair. A rule that does not
 * fit is packed to 0.
 */
#ifndef LEAKTIDE_TRACER_ROW_ARCH_H
#define LEAKTIDE_TRACER_ROW_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cfi.h"
#include "rule.h"

enum row_kind {
    ROW_NONE,
    ROW_SP,      /* CFA from sp, return address saved, frame pointer not */
    ROW_FP,      /* the same from fp */
    ROW_SP_PAIR, /* CFA from sp, both saved */
    ROW_FP_PAIR,
    ROW_SIGNAL,
    ROW_END,
    ROW_ABSENT,
    ROW_LOST
};

enum {
    ROW_BITS = 25,
    ROW_KIND_SHIFT = 21,
    ROW_SLOT_SHIFT = 11,
    ROW_SLOT_MASK = 0x3ff,
    ROW_OFFSET_MASK = 0x7ff
};

/* struct rt_sigframe: where the kernel left the registers, from the sp of the trampoline. */
enum { SIGNAL_FP = 544, SIGNAL_LR = 552, SIGNAL_SP = 560, SIGNAL_PC = 568 };

/* Below the stack pointer of what a signal interrupts; no handler writes there. */
enum { RED_ZONE_BYTES = 0 };

/* stp x29, x30: the pair says nothing about the caller's sp. */
enum { RECORD_RETURN_ADDRESS = 8, RECORD_GIVES_SP = 0, RECORD_BYTES = 16 };

#define ROW_REGISTERS cfi_registers_aarch64
#define ROW_PC_MASK                                                                                \
    ((UINT64_C(1) << 48) - 1) /* a signed return address has its signature above                   \
                               */

static inline enum row_kind row_kind(uint32_t row)
{
    return (enum row_kind)(row >> ROW_KIND_SHIFT);
}

static inline uint32_t row_pack_frame(const struct unwind_rule *rule)
{
    const struct rule_slot *back = &rule->return_address, *fp = &rule->frame_pointer;
    int32_t words = rule->cfa_offset_bytes / 8, slot = -back->offset_bytes / 8;
    bool is_pair = fp->place == PLACE_AT_CFA && fp->offset_bytes == back->offset_bytes - 8;
    uint32_t kind;

    if (rule->cfa_offset_bytes % 8 || back->place != PLACE_AT_CFA || back->offset_bytes % 8 ||
        rule->base == BASE_AT_FP || (!is_pair && fp->place != PLACE_SAME))
        return 0;
    if (words < 0 || words > ROW_OFFSET_MASK || slot < 1 || slot > ROW_SLOT_MASK)
        return 0;
    if (is_pair)
        kind = rule->base == BASE_SP ? ROW_SP_PAIR : ROW_FP_PAIR;
    else
        kind = rule->base == BASE_SP ? ROW_SP : ROW_FP;
    return kind << ROW_KIND_SHIFT | (uint32_t)slot << ROW_SLOT_SHIFT | (uint32_t)words;
}

/* The opposite. */
static inline struct unwind_rule row_unpack(uint32_t row)
{
    int32_t back = -8 * (int32_t)(row >> ROW_SLOT_SHIFT & ROW_SLOT_MASK);
    struct unwind_rule rule = {.kind = RULE_FRAME, .return_address = {PLACE_AT_CFA, back}};
    enum row_kind kind = row_kind(row);

    rule.base = kind == ROW_SP || kind == ROW_SP_PAIR ? BASE_SP : BASE_FP;
    rule.cfa_offset_bytes = 8 * (int32_t)(row & ROW_OFFSET_MASK);
    if (kind == ROW_SP_PAIR || kind == ROW_FP_PAIR)
        rule.frame_pointer = (struct rule_slot){PLACE_AT_CFA, back - 8};
    return rule;
}

/* The rows that nearly all frames have; row_cfa_bytes and the slots are for these. */
static inline bool row_is_plain(uint32_t row)
{
    return row_kind(row) - ROW_SP <= ROW_FP_PAIR - ROW_SP;
}

static inline bool row_needs_fp(uint32_t row)
{
    return row_kind(row) == ROW_FP || row_kind(row) == ROW_FP_PAIR;
}

/* From sp, or from fp where it is needed. */
static inline uint32_t row_cfa_bytes(uint32_t row)
{
    return 8 * (row & ROW_OFFSET_MASK);
}

static inline uint64_t row_return_slot(uint32_t row, uint64_t cfa)
{
    return cfa - 8 * (uint64_t)(row >> ROW_SLOT_SHIFT & ROW_SLOT_MASK);
}

static inline bool row_saves_fp(uint32_t row)
{
    return row_kind(row) >= ROW_SP_PAIR;
}

static inline bool row_loses_fp(uint32_t row)
{
    (void)row;
    return false;
}

static inline uint64_t row_fp_slot(uint32_t row, uint64_t cfa)
{
    return row_return_slot(row, cfa) - 8;
}

/*
 * code: the 8 bytes in front of an address. Could a call end there? Source: Arm ARM, BL, BLR and
 * BLRAA and its kin.
 */
enum { CALL_BYTES = 8 };

static inline bool follows_call(const uint8_t *code)
{
    uint32_t instruction;

    memcpy(&instruction, code + 4, sizeof(instruction));
    return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000 ||
           (instruction & 0xfefff800) == 0xd63f0800;
}

/* mov x8, #139; svc #0: the kernel's own page ends a handler so, with rows or without. */
enum { TRAMPOLINE_BYTES = 8 };

static inline bool is_signal_trampoline(uint64_t pc)
{
    uint32_t code[2];

    if (pc % 4)
        return false;
    memcpy(code, (const void *)(uintptr_t)pc, sizeof(code));
    return code[0] == 0xd2801168 && code[1] == 0xd4000001;
}

static inline uint64_t thread_pointer(void)
{
    return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

#endif
