/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "unwinder.h"

#include <stddef.h>
#include <string.h>

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Reads other functions' frames, which sanitizers guard. */
#define READS_STACK         __attribute__((no_sanitize("address", "thread", "undefined")))

enum {
    SCAN_WORDS = 512, /* a frame without rows may be as large */
    SHARE_LOW = 96,   /* of 256: below, remembering costs more than it saves */
    JUDGED_CAPTURES = 16,
    QUICK_FRAMES = 64,   /* new ones, in the short way */
    PLAIN_CAPTURES = 62, /* until it is tried again */
    NOTHING = -1
};

/* One walk. sp and fp are those of the frame whose pc it is. */
struct walk {
    struct unwinder *unwinder;
    struct unwind_thread *thread;
    struct stack_memory memory;
    uint64_t pc, sp, fp;
    uint64_t link;       /* the link register, or 0 where nobody knows it */
    bool is_interrupted; /* pc is an instruction that was to run, no return address */
    bool is_sp_known;
    bool can_be_kept; /* depends on nothing but rows and checked words */
    uint32_t flags;
    uint32_t count, limit; /* of thread->new_frames */
    int32_t candidate;     /* innermost remembered frame that may be met, or NOTHING */
};

static READS_STACK uint64_t word_at(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

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
    return TRAMPOLINE_BYTES && memory_is_readable(pc) &&
           memory_is_readable(pc + TRAMPOLINE_BYTES - 1) && is_signal_trampoline(pc);
}

/* Outside of any object, or the full rule. Source of all rows; about a microsecond. */
static struct unwind_rule rule_at(struct unwinder *unwinder, uint64_t pc)
{
    struct unwind_rule rule = {.kind = RULE_OUTSIDE};
    struct cfi_section section;

    if (pc >> ROW_PC_BITS)
        return rule;
    if (objects_find(&unwinder->objects, pc, &section)) {
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
    uint32_t row;

    if (address >> ROW_PC_BITS)
        return 0;
    row = row_table_find(&unwinder->rows, address, generation);
    if (row)
        return row;
    rule = rule_at(unwinder, address);
    row = row_pack(&rule);
    if (row)
        row_table_put(&unwinder->rows, address, generation, row);
    return row;
}

static __attribute__((noinline)) void front_fill(struct unwinder *unwinder,
                                                 struct unwind_thread *thread,
                                                 struct unwind_front_row *front, uint64_t pc)
{
    uint32_t row = row_at(unwinder, thread->generation, pc - 1);

    *front = (struct unwind_front_row){pc, row, row_is_plain(row) ? row_cfa_bytes(row) : 0};
}

/* The row of a return address. */
static inline const struct unwind_front_row *front_row(struct unwinder *unwinder,
                                                       struct unwind_thread *thread, uint64_t pc)
{
    struct unwind_front_row *front = &thread->front[(pc ^ pc >> 9) % UNWIND_FRONT_ROWS];

    if (UNLIKELY(front->pc != pc))
        front_fill(unwinder, thread, front, pc);
    return front;
}

/* --- steps that are not plain ----------------------------------------------------------- */

static bool walk_ends(struct walk *walk, enum unwind_flag flag)
{
    walk->flags |= (uint32_t)flag;
    if (flag == UNWIND_UNREADABLE)
        walk->can_be_kept = false;
    return false;
}

static bool walk_can_read(struct walk *walk, uint64_t address)
{
    return address % 8 == 0 && stack_memory_reach(&walk->memory, address);
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
    if (slot->place == PLACE_LOST || !walk_can_read(walk, address))
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
    if (cfa < walk->sp || (cfa == walk->sp && !walk->is_interrupted) || cfa % 8 ||
        !walk_can_read(walk, cfa - 8))
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
        rule = rule_at(walk->unwinder, walk->pc - !walk->is_interrupted);
        if (rule.kind == RULE_OUTSIDE)
            return walk_ends(walk, UNWIND_JIT);
        walk->can_be_kept = false;
        break;
    default:
        rule = row_unpack(row);
    }
    return follow_rule(walk, &rule);
}

/* --- the remembered stack --------------------------------------------------------------- */

/* The checks of frames [0, candidate] hold? The innermost that does not, or NOTHING. */
static READS_STACK int32_t broken_check(const struct unwind_thread *thread, int32_t candidate)
{
    const struct unwind_check *checks = thread->checks;
    int32_t at = thread->frames[candidate].check_end;

    for (; at >= 4; at -= 4) {
        uint64_t changed = word_at(checks[at - 1].address) ^ checks[at - 1].value;

        changed |= word_at(checks[at - 2].address) ^ checks[at - 2].value;
        changed |= word_at(checks[at - 3].address) ^ checks[at - 3].value;
        changed |= word_at(checks[at - 4].address) ^ checks[at - 4].value;
        if (UNLIKELY(changed & ROW_PC_MASK))
            break;
    }
    for (; at > 0; at--)
        if ((word_at(checks[at - 1].address) ^ checks[at - 1].value) & ROW_PC_MASK)
            return at - 1;
    return NOTHING;
}

static READS_STACK uint64_t fp_after(uint32_t row, uint64_t fp, uint64_t cfa)
{
    if (!row_is_plain(row))
        return word_at(fp); /* ROW_AT_FP, the only other that is remembered */
    if (!row_saves_fp(row))
        return fp;
    return row_loses_fp(row) ? 0 : word_at(row_fp_slot(row, cfa));
}

/*
 * Frame walk->candidate is met, but a word that frame `broken` reads is another now. The frames
 * further in are walked again, with the rows and places that are known; then the walk stands in
 * `broken`. False: too many frames.
 */
static READS_STACK bool replay(struct walk *walk, int32_t broken)
{
    struct unwind_thread *thread = walk->thread;
    int32_t at = walk->candidate;

    for (; at > broken; at--) {
        const struct unwind_frame *frame = &thread->frames[at];

        if (walk->count == walk->limit)
            return false;
        thread->new_frames[walk->count++] =
            (struct unwind_new_frame){thread->pcs[at], frame->sp, walk->fp, frame->row};
        walk->fp = fp_after(frame->row, walk->fp, thread->frames[at - 1].sp);
    }
    walk->pc = thread->pcs[at];
    walk->sp = thread->frames[at].sp;
    walk->candidate = at - 1;
    return true;
}

static int32_t frame_of_check(const struct unwind_thread *thread, int32_t frame, int32_t check)
{
    while (frame > 0 && thread->frames[frame - 1].check_end > check)
        frame--;
    return frame;
}

enum meeting { MET, MET_IN_PART, MET_NOT, TOO_MANY };

/* Is the walk in a remembered frame, and are all outer ones unchanged? */
static READS_STACK enum meeting walk_meets(struct walk *walk)
{
    const struct unwind_thread *thread = walk->thread;
    const struct unwind_frame *frame = &thread->frames[walk->candidate];
    int32_t broken;

    if (thread->pcs[walk->candidate] != walk->pc || (frame->needs_fp && frame->fp != walk->fp))
        return MET_NOT;
    broken = broken_check(thread, walk->candidate);
    if (LIKELY(broken == NOTHING))
        return MET;
    broken = frame_of_check(thread, walk->candidate, broken);
    return replay(walk, broken) ? MET_IN_PART : TOO_MANY;
}

/* --- walking ---------------------------------------------------------------------------- */

/*
 * Steps that are not plain, until one could be again: after a signal the next frame is that of an
 * instruction that was interrupted. The frame that is left first is noted already. False: the walk
 * has ended.
 */
static __attribute__((noinline)) bool walk_slowly(struct walk *walk, uint32_t row)
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

/*
 * Plain steps, the many. Returns the row that needs walk_slowly; UINT32_MAX: nothing was walked as
 * the frame of walk->candidate is reached, the pc is 0 or the limit is.
 */
static READS_STACK uint32_t walk_plainly(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;
    const uint64_t low = walk->memory.low, high = walk->memory.high;
    uint64_t stop = walk->candidate >= 0 ? thread->frames[walk->candidate].sp : UINT64_MAX;
    uint64_t pc = walk->pc, sp = walk->sp, fp = walk->fp, cfa;
    uint32_t count = walk->count, limit = walk->limit, row = UINT32_MAX;

    while (sp < stop && pc != 0 && count < limit) {
        const struct unwind_front_row *front = front_row(walk->unwinder, thread, pc);

        row = front->row;
        thread->new_frames[count++] = (struct unwind_new_frame){pc, sp, fp, row};
        if (UNLIKELY(!row_is_plain(row)))
            break;
        cfa = sp;
        if (row_needs_fp(row)) {
            cfa = fp;
            __asm__("" : "+r"(cfa)); /* a jump can be foreseen, a conditional move has to wait */
        }
        cfa += front->cfa_bytes;
        if (UNLIKELY(cfa <= sp || cfa > high || (cfa & 7) || row_return_slot(row, cfa) < low))
            break;
        if (row_saves_fp(row)) {
            if (UNLIKELY(row_loses_fp(row) || row_fp_slot(row, cfa) < low))
                break;
            fp = word_at(row_fp_slot(row, cfa));
        }
        pc = word_at(row_return_slot(row, cfa)) & ROW_PC_MASK;
        sp = cfa;
        row = UINT32_MAX;
    }
    walk->pc = pc;
    walk->sp = sp;
    walk->fp = fp;
    walk->count = count;
    return row;
}

/*
 * Walks until the end, or until a remembered frame is met below which nothing has changed: its
 * number is then in walk->candidate, and the result is true.
 */
static READS_STACK bool walk_on(struct walk *walk)
{
    const struct unwind_frame *frames = walk->thread->frames;

    for (;;) {
        uint32_t row;

        while (walk->candidate >= 0 && frames[walk->candidate].sp < walk->sp)
            walk->candidate--;
        if (walk->candidate >= 0 && frames[walk->candidate].sp == walk->sp) {
            enum meeting meeting = walk_meets(walk);

            if (meeting == MET)
                return true;
            if (meeting == TOO_MANY)
                walk->count = walk->limit;
            else
                walk->candidate -= meeting == MET_NOT;
        }
        row = walk_plainly(walk);
        if (row != UINT32_MAX) {
            if (!walk_slowly(walk, row))
                return false;
        } else if (walk->pc == 0) {
            return walk_ends(walk, UNWIND_COMPLETE);
        } else if (walk->count == walk->limit) {
            return walk_ends(walk, UNWIND_TRUNCATED);
        }
    }
}

static inline bool is_on_own_stack(const struct unwind_thread *thread, uint64_t sp)
{
    return thread->stack.low && sp >= thread->stack.low && sp < thread->stack.top;
}

static void walk_begin(struct walk *walk, struct unwinder *unwinder, struct unwind_thread *thread,
                       const struct unwind_registers *start)
{
    uint32_t limit = unwinder->frame_limit;

    walk->unwinder = unwinder;
    walk->thread = thread;
    if (LIKELY(is_on_own_stack(thread, start->sp)))
        walk->memory = (struct stack_memory){thread->stack.low, thread->stack.top, true};
    else
        walk->memory = stack_memory_around(&thread->stack, start->sp);
    walk->pc = start->pc & ROW_PC_MASK;
    walk->sp = start->sp;
    walk->fp = start->fp;
    walk->link = 0;
    walk->is_interrupted = false;
    walk->is_sp_known = true;
    walk->can_be_kept = walk->memory.is_own;
    walk->flags = 0;
    walk->count = 0;
    walk->limit = limit && limit < UNWIND_MAX_FRAMES ? limit : UNWIND_MAX_FRAMES;
    walk->candidate = NOTHING;
}

/* --- after the walk --------------------------------------------------------------------- */

static void add_check(struct unwind_thread *thread, struct unwind_frame *frame, uint64_t address,
                      uint64_t value)
{
    thread->checks[frame->check_end++] = (struct unwind_check){address, value};
}

/* What the step from frame `at` to the next outer one has read. */
static inline void note_checks(struct unwind_thread *thread, uint32_t at)
{
    const struct unwind_frame *outer = &thread->frames[at - 1];
    struct unwind_frame *frame = &thread->frames[at];

    frame->check_end = outer->check_end;
    frame->needs_fp = row_needs_fp(frame->row);
    if (UNLIKELY(!row_is_plain(frame->row))) { /* ROW_AT_FP */
        struct unwind_rule rule = row_unpack(frame->row);

        add_check(thread, frame, frame->fp + (uint64_t)(int64_t)rule.cfa_offset_bytes, outer->sp);
        if (outer->needs_fp)
            add_check(thread, frame, frame->fp, outer->fp);
        add_check(thread, frame, outer->sp - 8, thread->pcs[at - 1]);
        return;
    }
    if (outer->needs_fp) {
        if (!row_saves_fp(frame->row))
            frame->needs_fp = true;
        else if (!row_loses_fp(frame->row))
            add_check(thread, frame, row_fp_slot(frame->row, outer->sp), outer->fp);
    }
    add_check(thread, frame, row_return_slot(frame->row, outer->sp), thread->pcs[at - 1]);
}

/* The new frames go on top of the `kept` outermost ones. */
static void remember(struct unwind_thread *thread, uint32_t kept, uint32_t new_count)
{
    uint64_t hash = kept ? thread->hashes[kept - 1] : 0;
    uint32_t at = kept;

    for (const struct unwind_new_frame *from = thread->new_frames + new_count;
         from > thread->new_frames; at++) {
        from--;
        thread->pcs[at] = from->pc;
        hash = unwind_hash(hash, from->pc);
        thread->hashes[at] = hash;
        thread->frames[at] = (struct unwind_frame){from->sp, from->fp, from->row, 0, false};
        if (at)
            note_checks(thread, at);
    }
    thread->frame_count = thread->pc_count = at;
}

/* The pcs only, with what they have in common with those of the last capture. */
static void give_plain(const struct walk *walk, struct unwind_stack *stack)
{
    struct unwind_thread *thread = walk->thread;
    uint32_t count = walk->count, at = 0, same_count = 0;
    const struct unwind_new_frame *from = thread->new_frames + count;
    uint64_t hash = 0;

    for (; at < count; at++) {
        uint64_t pc = (--from)->pc;

        same_count += same_count == at && at < thread->pc_count && thread->pcs[at] == pc;
        thread->pcs[at] = pc;
        hash = unwind_hash(hash, pc);
    }
    thread->pc_count = count;
    thread->frame_count = 0;
    stack->count = count;
    stack->reused_count = same_count;
    stack->flags = walk->flags;
    stack->hash = unwind_hash_end(hash);
}

/* The share of frames that were taken over decides whether that is worth its while. */
static void note_share(struct unwind_thread *thread, uint32_t reused_count, uint32_t count)
{
    thread->judged_captures++;
    thread->judged_frames += count;
    thread->judged_reused += reused_count;
    if (thread->judged_captures < thread->judge_after)
        return;
    thread->judge_after = JUDGED_CAPTURES;
    if (thread->judged_reused * 256 < thread->judged_frames * SHARE_LOW) {
        thread->plain_left = PLAIN_CAPTURES;
        thread->judge_after = 1; /* one more as bad as these is enough */
    }
    thread->judged_captures = thread->judged_frames = thread->judged_reused = 0;
}

static bool is_same(const struct unwind_thread *thread, const struct walk *plain, uint32_t count)
{
    if (plain->count != count)
        return false;
    for (uint32_t at = 0; at < count; at++)
        if (thread->pcs[at] != thread->new_frames[count - 1 - at].pc)
            return false;
    return true;
}

/* The debug mode: the stack once more, from new_frames only. */
static void check(struct unwinder *unwinder, struct unwind_thread *thread,
                  const struct unwind_registers *start, struct unwind_stack *stack)
{
    struct walk plain;

    walk_begin(&plain, unwinder, thread, start);
    walk_on(&plain);
    if (is_same(thread, &plain, stack->count) && plain.flags == stack->flags)
        return;
    __atomic_fetch_add(&unwinder->mismatch_count, 1, __ATOMIC_RELAXED);
    give_plain(&plain, stack);
    stack->reused_count = 0; /* of the last capture nothing is left */
}

/* --- the short way ---------------------------------------------------------------------- */

/* To the caller of new frame `new`, if that takes a plain row and words of the thread's own stack.
 */
static READS_STACK inline bool step_plainly(const struct unwind_thread *thread, uint32_t row,
                                            uint32_t cfa_bytes, struct unwind_registers *at)
{
    uint64_t cfa = at->sp;

    if (row_needs_fp(row)) {
        cfa = at->fp;
        __asm__("" : "+r"(cfa)); /* as in walk_plainly */
    }
    cfa += cfa_bytes;
    if (UNLIKELY(!row_is_plain(row) || cfa <= at->sp || cfa > thread->stack.top || (cfa & 7) ||
                 row_return_slot(row, cfa) < thread->stack.low))
        return false;
    if (row_saves_fp(row)) {
        if (UNLIKELY(row_loses_fp(row) || row_fp_slot(row, cfa) < thread->stack.low))
            return false;
        at->fp = word_at(row_fp_slot(row, cfa));
    }
    at->pc = word_at(row_return_slot(row, cfa)) & ROW_PC_MASK;
    at->sp = cfa;
    return true;
}

/*
 * What nearly all captures are: a few plain steps, and then a remembered frame below which nothing
 * has changed. Puts the new frames into thread->new_frames and returns how many of the remembered
 * ones stay; 0: something was otherwise, and the long way begins from the start.
 */
static READS_STACK uint32_t meet_quickly(struct unwinder *unwinder, struct unwind_thread *thread,
                                         struct unwind_registers at, uint32_t *new_count)
{
    const struct unwind_frame *frames = thread->frames;
    int32_t candidate = (int32_t)thread->frame_count - 1;
    uint32_t count = 0;

    at.pc &= ROW_PC_MASK;
    for (;;) {
        const struct unwind_front_row *front;

        while (candidate >= 0 && frames[candidate].sp < at.sp)
            candidate--;
        if (candidate < 0 || count == QUICK_FRAMES)
            return 0;
        if (frames[candidate].sp == at.sp) {
            if (thread->pcs[candidate] == at.pc &&
                (!frames[candidate].needs_fp || frames[candidate].fp == at.fp))
                break;
            candidate--;
        }
        if (UNLIKELY(at.pc == 0))
            return 0;
        front = front_row(unwinder, thread, at.pc);
        thread->new_frames[count++] = (struct unwind_new_frame){at.pc, at.sp, at.fp, front->row};
        if (!step_plainly(thread, front->row, front->cfa_bytes, &at))
            return 0;
    }
    if (UNLIKELY(broken_check(thread, candidate) != NOTHING))
        return 0;
    *new_count = count;
    return (uint32_t)candidate + 1;
}

/* --- captures --------------------------------------------------------------------------- */

static void capture_plain(struct unwinder *unwinder, struct unwind_thread *thread,
                          const struct unwind_registers *start, struct unwind_stack *stack)
{
    struct walk walk;

    walk_begin(&walk, unwinder, thread, start);
    walk_on(&walk);
    give_plain(&walk, stack);
}

/* The kept frames and on top of them the new ones. */
static void give_remembered(struct unwind_thread *thread, uint32_t kept, uint32_t new_count,
                            struct unwind_stack *stack)
{
    remember(thread, kept, new_count);
    stack->count = kept + new_count;
    stack->reused_count = kept;
    stack->flags = thread->kept_flags;
    stack->hash = unwind_hash_end(stack->count ? thread->hashes[stack->count - 1] : 0);
}

static void give_kept(struct unwind_thread *thread, uint32_t kept, uint32_t new_count,
                      struct unwind_stack *stack)
{
    give_remembered(thread, kept, new_count, stack);
    note_share(thread, kept, kept + new_count);
}

static void capture_and_remember(struct unwinder *unwinder, struct unwind_thread *thread,
                                 const struct unwind_registers *start, struct unwind_stack *stack)
{
    uint32_t known_count = thread->frame_count, kept = 0;
    struct walk walk;

    if (LIKELY(is_on_own_stack(thread, start->sp) && known_count && !unwinder->frame_limit)) {
        uint32_t new_count;

        kept = meet_quickly(unwinder, thread, *start, &new_count);
        if (LIKELY(kept && kept + new_count <= UNWIND_MAX_FRAMES)) {
            give_kept(thread, kept, new_count, stack);
            return;
        }
        kept = 0;
    }
    walk_begin(&walk, unwinder, thread, start);
    if (walk.memory.is_own)
        walk.candidate = (int32_t)known_count - 1;
    if (walk_on(&walk)) {
        kept = (uint32_t)walk.candidate + 1;
        walk.flags |= thread->kept_flags;
    }
    if (kept + walk.count > walk.limit || (kept == 0 && !walk.can_be_kept) ||
        (walk.flags & UNWIND_TRUNCATED)) {
        if (kept)
            capture_plain(unwinder, thread, start, stack);
        else
            give_plain(&walk, stack);
        return;
    }
    if (!walk.can_be_kept) {
        capture_plain(unwinder, thread, start, stack);
        return;
    }
    thread->kept_flags = walk.flags;
    if (known_count)
        give_kept(thread, kept, walk.count, stack);
    else
        give_remembered(thread, 0, walk.count, stack);
}

/* Objects came or went since this thread was here. */
static void forget(struct unwind_thread *thread, uint64_t generation)
{
    memset(thread->front, 0, sizeof(thread->front));
    thread->frame_count = 0;
    thread->generation = generation;
}

/*
 * A signal handler that interrupts a walk gets no stack. After a handler left by longjmp, the
 * thread is further out on its own stack than that walk was; what the walk left half-made is
 * forgotten. (A handler that interrupts a coroutine never runs on the thread's own stack.)
 */
static bool is_nested(struct unwind_thread *thread, uint64_t sp)
{
    if (LIKELY(thread->busy_sp == 0))
        return false;
    if (!is_on_own_stack(thread, sp) ||
        (is_on_own_stack(thread, thread->busy_sp) && sp <= thread->busy_sp))
        return true;
    thread->frame_count = 0;
    return false;
}

void unwind_capture(struct unwinder *unwinder, struct unwind_thread *thread,
                    struct unwind_registers start, struct unwind_stack *stack)
{
    uint64_t generation = row_table_generation(&unwinder->rows);

    stack->pcs = thread->pcs;
    if (UNLIKELY(is_nested(thread, start.sp))) {
        *stack = (struct unwind_stack){.pcs = thread->pcs, .flags = UNWIND_NESTED};
        return;
    }
    thread->busy_sp = start.sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (UNLIKELY(thread->generation != generation))
        forget(thread, generation);
    stack->number = ++thread->number;
    if (UNLIKELY(thread->plain_left || unwinder->is_plain)) {
        thread->plain_left -= thread->plain_left > 0;
        capture_plain(unwinder, thread, &start, stack);
    } else {
        capture_and_remember(unwinder, thread, &start, stack);
    }
    if (UNLIKELY(unwinder->is_checking))
        check(unwinder, thread, &start, stack);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy_sp = 0;
}

void unwind_thread_changes(struct unwind_thread *thread)
{
    thread->stack = (struct stack_knowledge){.top = 0};
    thread->frame_count = 0;
    thread->busy_sp = 0;
}

void unwinder_prepare(struct unwinder *unwinder)
{
    stack_memory_prepare();
    objects_prepare(&unwinder->objects, true);
    row_table_next_generation(&unwinder->rows);
}

void unwinder_objects_changed(struct unwinder *unwinder)
{
    objects_refresh(&unwinder->objects);
    row_table_next_generation(&unwinder->rows);
}
