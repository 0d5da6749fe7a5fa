/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not a plain step of a walk: rows are made from .eh_frame, and frames are left that are
 * those of signals, have no row, or one that no short form holds.
 */
#define _GNU_SOURCE
#include "unwind_walk.h"

#include <stddef.h>

enum { SCAN_WORDS = 512 }; /* a frame without rows may be as large */

/* --- rows ------------------------------------------------------------------------------- */

static READS_STACK bool code_follows_call(uint64_t pc)
{
    uint8_t code[CALL_BYTES];

    if (!memory_is_readable(pc - CALL_BYTES) || !memory_is_readable(pc - 1))
        return false;
    for (uint64_t i = 0; i < CALL_BYTES; i++)
        code[i] = *(const uint8_t *)(uintptr_t)(pc - CALL_BYTES + i);
    return follows_call(code);
}

/*
 * A return address where a function starts, and no call in front of it: makecontext puts one below
 * the first function of a context.
 */
static bool starts_context(const struct cfi_section *section, uint64_t pc)
{
    return cfi_rule_at(section, &ROW_REGISTERS, pc).kind != RULE_ABSENT && !code_follows_call(pc);
}

/* Rows of the C library or not, and in an object or not: emulators have a page of their own. */
static READS_STACK bool ends_handler(uint64_t pc)
{
    return TRAMPOLINE_BYTES > 0 && memory_is_readable(pc) &&
           memory_is_readable(pc + TRAMPOLINE_BYTES - 1) && is_signal_trampoline(pc);
}

/*
 * Outside of any object, or the full rule. Source of all rows; about a microsecond. is_of_object:
 * it holds until that object leaves, and not only until the next one comes.
 */
static struct unwind_rule rule_at(struct unwinder *unwinder, uint64_t pc, bool *is_of_object)
{
    struct unwind_rule rule = {.kind = RULE_OUTSIDE};
    struct cfi_section section;

    *is_of_object = false;
    if (pc >> ROW_PC_BITS)
        return rule;
    *is_of_object = objects_find(&unwinder->objects, pc, &section);
    if (*is_of_object) {
        __atomic_fetch_add(&unwinder->compiled_count, 1, __ATOMIC_RELAXED);
        rule = cfi_rule_at(&section, &ROW_REGISTERS, pc);
        if (rule.kind == RULE_ABSENT && starts_context(&section, pc + 1))
            rule.kind = RULE_END;
    }
    if (ends_handler(pc) || ends_handler(pc + 1))
        rule.kind = RULE_SIGNAL;
    return rule;
}

/* 0: there is no packed row for this address, which lies inside an instruction. */
static uint32_t row_at(struct unwinder *unwinder, uint64_t generation, uint64_t address)
{
    struct unwind_rule rule;
    bool is_of_object;
    uint32_t row;

    if (address >> ROW_PC_BITS)
        return 0;
    row = row_table_find(&unwinder->rows, address, generation);
    if (row)
        return row;
    rule = rule_at(unwinder, address, &is_of_object);
    row = row_pack(&rule);
    if (row && is_of_object)
        row_table_put(&unwinder->rows, address, generation, row);
    return row;
}

/*
 * A row that takes a step of words further up: what it says is inside of the frame, so a frame that
 * lies where it may be read needs no look at each word. 0: the long way takes the step.
 */
static uint16_t front_cfa_words(uint32_t row)
{
    uint64_t cfa;

    if (!row_is_plain(row) || row_loses_fp(row))
        return 0;
    cfa = row_cfa_bytes(row);
    if (row_needs_fp(row))
        return (uint16_t)(cfa / 8);
    if (row_return_slot(row, cfa) > cfa || (row_saves_fp(row) && row_fp_slot(row, cfa) > cfa))
        return 0;
    return (uint16_t)(cfa / 8);
}

static uint16_t front_fp_words(uint32_t row)
{
    uint32_t words = row_needs_fp(row) ? FRONT_CFA_FROM_FP : 0;

    if (row_is_plain(row) && row_saves_fp(row))
        words |= (uint32_t)(0 - row_fp_slot(row, 0)) / 8;
    return (uint16_t)words;
}

void walk_front_fill(struct unwinder *unwinder, struct unwind_thread *thread,
                     struct unwind_front_row *front, uint64_t pc)
{
    uint32_t row = row_at(unwinder, thread->generation, pc - 1);

    *front = (struct unwind_front_row){pc, row, front_cfa_words(row), front_fp_words(row)};
}

/* --- steps that are not plain ----------------------------------------------------------- */

static bool walk_can_read(struct walk *walk, uint64_t address)
{
    return address % 8 == 0 && stack_memory_reach(&walk->memory, address);
}

/*
 * Below the stack pointer: a function that is interrupted as it returns has taken its frame pointer
 * back, and its rows still name the slot. The kernel leaves these bytes alone.
 */
static bool lies_in_red_zone(const struct walk *walk, uint64_t address)
{
    return walk->is_interrupted && address % 8 == 0 && address < walk->sp &&
           walk->sp - address <= RED_ZONE_BYTES && memory_is_readable(address);
}

static READS_STACK bool read_slot(struct walk *walk, const struct rule_slot *slot, uint64_t cfa,
                                  uint64_t unchanged, uint64_t *value)
{
    uint64_t address = slot->place == PLACE_AT_CFA ? cfa : walk->fp;

    if (slot->place == PLACE_SAME) {
        *value = unchanged;
        return true;
    }
    address += (uint64_t)(int64_t)slot->offset_bytes;
    if (slot->place == PLACE_LOST ||
        (!walk_can_read(walk, address) && !lies_in_red_zone(walk, address)))
        return false;
    *value = word_at(address);
    return true;
}

/* To the caller: it must lie further up on the same stack. */
static READS_STACK bool follow_rule(struct walk *walk, const struct unwind_rule *rule)
{
    uint64_t cfa = rule->base == BASE_SP ? walk->sp : walk->fp;
    uint64_t pc, fp = 0;

    if (rule->base == BASE_SP && !walk->is_sp_known)
        return walk_ends(walk, UNWIND_NO_ROWS);
    cfa += (uint64_t)(int64_t)rule->cfa_offset_bytes;
    if (rule->base == BASE_AT_FP) {
        if (!walk_can_read(walk, cfa))
            return walk_ends(walk, UNWIND_UNREADABLE);
        cfa = word_at(cfa);
    }
    /* A leaf that was interrupted may have its caller's stack pointer still. */
    if (cfa % 8 || cfa < walk->sp || (cfa == walk->sp && !walk->is_interrupted) ||
        (cfa > walk->sp && !walk_can_read(walk, cfa - 8)))
        return walk_ends(walk, UNWIND_UNREADABLE);
    if (!read_slot(walk, &rule->return_address, cfa, walk->link, &pc))
        return walk_ends(walk, UNWIND_UNREADABLE);
    if (rule->return_address.place == PLACE_SAME && walk->link == 0)
        return walk_ends(walk, UNWIND_NO_ROWS);
    if (!read_slot(walk, &rule->frame_pointer, cfa, walk->fp, &fp))
        fp = 0; /* lost: no row that needs it will be satisfied */
    walk->pc = pc & ROW_PC_MASK;
    walk->sp = cfa;
    walk->fp = fp;
    walk->link = 0;
    walk->is_interrupted = false;
    walk->is_sp_known = true;
    return true;
}

/* Into the interrupted function, which may stand on another stack. */
static READS_STACK bool follow_signal(struct walk *walk)
{
    uint64_t frame = walk->sp;

    walk->can_be_kept = false;
    walk->flags |= UNWIND_SIGNAL;
    if (!walk_can_read(walk, frame + SIGNAL_FP) || !walk_can_read(walk, frame + SIGNAL_PC))
        return walk_ends(walk, UNWIND_UNREADABLE);
    walk->fp = word_at(frame + SIGNAL_FP);
    walk->pc = word_at(frame + SIGNAL_PC);
    walk->sp = word_at(frame + SIGNAL_SP);
    walk->link = SIGNAL_LR ? word_at(frame + SIGNAL_LR) & ROW_PC_MASK : 0;
    walk->is_interrupted = true;
    walk->memory = stack_memory_around(&walk->thread->stack, walk->sp);
    if (!stack_memory_reach(&walk->memory, walk->sp & ~UINT64_C(7)))
        return walk_ends(walk, UNWIND_UNREADABLE);
    return true;
}

static bool is_return_address(struct walk *walk, uint64_t address)
{
    struct cfi_section section;

    address &= ROW_PC_MASK;
    return address >> ROW_PC_BITS == 0 && address > CALL_BYTES &&
           objects_find(&walk->unwinder->objects, address - 1, &section) &&
           address - CALL_BYTES >= (uintptr_t)section.low && code_follows_call(address);
}

/*
 * A frame without a row. Its function either made a frame record, then fp points there; or fp is
 * still that of an outer function. In the second case the true return address lies somewhere
 * between sp and fp: so nothing there may look like one.
 */
static READS_STACK bool record_is_plausible(struct walk *walk)
{
    uint64_t fp = walk->fp;

    if (fp % 8 || fp < walk->sp || (fp - walk->sp) / 8 > SCAN_WORDS || walk->is_interrupted ||
        !stack_memory_reach(&walk->memory, fp + RECORD_RETURN_ADDRESS) ||
        !is_return_address(walk, word_at(fp + RECORD_RETURN_ADDRESS)))
        return false;
    for (uint64_t at = (walk->sp + 7) & ~UINT64_C(7); at < fp; at += 8)
        if (is_return_address(walk, word_at(at)))
            return false;
    return true;
}

static READS_STACK bool follow_record(struct walk *walk)
{
    walk->can_be_kept = false; /* depends on words that are not checked */
    if (!record_is_plausible(walk))
        return walk_ends(walk, UNWIND_NO_ROWS);
    walk->flags |= UNWIND_GUESSED;
    walk->pc = word_at(walk->fp + RECORD_RETURN_ADDRESS) & ROW_PC_MASK;
    walk->sp = walk->fp + RECORD_BYTES;
    walk->fp = word_at(walk->fp);
    walk->is_sp_known = RECORD_GIVES_SP;
    return true;
}

/* Any row; row 0: whatever the table cannot hold. False: the walk has ended. */
static __attribute__((noinline)) bool follow_row(struct walk *walk, uint32_t row)
{
    struct unwind_rule rule;
    bool is_of_object;

    switch (row_kind(row)) {
    case ROW_END:
        return walk_ends(walk, UNWIND_COMPLETE);
    case ROW_ABSENT:
        return follow_record(walk);
    case ROW_LOST:
        return walk_ends(walk, UNWIND_NO_ROWS);
    case ROW_SIGNAL:
        return follow_signal(walk);
    case ROW_NONE:
        rule = rule_at(walk->unwinder, walk->pc - !walk->is_interrupted, &is_of_object);
        if (rule.kind == RULE_OUTSIDE)
            return walk_ends(walk, UNWIND_JIT);
        walk->can_be_kept = false;
        break;
    default:
        rule = row_unpack(row);
    }
    return follow_rule(walk, &rule);
}

bool walk_slowly(struct walk *walk, uint32_t row)
{
    for (;;) {
        if (!follow_row(walk, row))
            return false;
        if (!walk->is_interrupted && walk->is_sp_known)
            return true;
        if (walk->count == walk->limit)
            return walk_ends(walk, UNWIND_TRUNCATED);
        row = row_at(walk->unwinder, walk->thread->generation,
                     walk->pc - (uint64_t)!walk->is_interrupted);
        walk->thread->new_frames[walk->count++] =
            (struct unwind_new_frame){walk->pc, walk->sp, walk->fp, row};
    }
}
