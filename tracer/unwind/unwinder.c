/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "unwinder.h"

#include <stddef.h>
#include <string.h>

#include "leaktide/invariant.h"

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE       inline __attribute__((always_inline))

/* Reads other functions' frames, which sanitizers guard. */
#define READS_STACK         __attribute__((no_sanitize("address", "thread", "undefined")))

enum {
    SCAN_WORDS = 512,     /* a frame without rows may be as large */
    SHARE_LOW = 96,       /* of 256: below, remembering costs more than it saves */
    CREDIT_MAX = 1 << 15, /* some ten large stacks without anything in common */
    PLAIN_CAPTURES = 62,  /* until it is tried again */
    TOP_DEBT_MAX = 256,   /* of tops: one that is found pays for two that are not */
    TOP_REST = 4096,
    /* Of unwind_front_row.fp_words; the other bits: how many words below the CFA the frame pointer
     * is saved, 0: it is not */
    FRONT_CFA_FROM_FP = 1 << 15
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
    uint32_t count, limit;                /* of thread->new_frames */
    const struct unwind_frame *candidate; /* innermost remembered one that may be met, or guard */
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
    return TRAMPOLINE_BYTES > 0 && memory_is_readable(pc) &&
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

static __attribute__((noinline)) void front_fill(struct unwinder *unwinder,
                                                 struct unwind_thread *thread,
                                                 struct unwind_front_row *front, uint64_t pc)
{
    uint32_t row = row_at(unwinder, thread->generation, pc - 1);

    *front = (struct unwind_front_row){pc, row, front_cfa_words(row), front_fp_words(row)};
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

/* How far a walk has come: what changes with each step. */
struct position {
    uint64_t pc, sp, fp;
    const struct unwind_frame *candidate; /* innermost remembered one that may be met, or guard */
    struct unwind_new_frame *to;          /* where the next frame is noted */
};

/* --- the remembered stack --------------------------------------------------------------- */

static READS_STACK inline uint64_t change_of(const struct unwind_check *check)
{
    return (word_at(check->address) ^ check->value) & ROW_PC_MASK;
}

/* How many checks hold, from the outermost on. Not beyond `end`. */
static READS_STACK inline uint32_t good_checks(const struct unwind_thread *thread, uint32_t end)
{
    const struct unwind_check *last = thread->checks + end;
    const struct unwind_check *check = last - ((end - UNWIND_SPARE_CHECKS + 3) & ~3u);

    for (; check < last; check += 4)
        if (UNLIKELY(change_of(check) | change_of(check + 1) | change_of(check + 2) |
                     change_of(check + 3)))
            break;
    while (UNLIKELY(check < last) && !change_of(check))
        check++;
    return (uint32_t)(check - thread->checks);
}

/*
 * A remembered frame is met: that one or the innermost further out, outside of which nothing has
 * changed. Not to be asked before: right below the stack of the remembered frames may be another
 * one, of a coroutine, which looks like more of it, and goes on when the upper is unmapped.
 */
static inline const struct unwind_frame *unchanged_frame(const struct unwind_thread *thread,
                                                         const struct unwind_frame *met)
{
    uint32_t good_count = good_checks(thread, met->check_end);

    while (met->check_end > good_count)
        met--;
    return met;
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

/* The CFA of a plain row from the frame pointer, if it and the words it leads to may be read; or 0.
 */
static inline uint64_t cfa_from_fp(const struct unwind_front_row *front,
                                   const struct stack_memory *memory, uint64_t sp, uint64_t fp)
{
    uint64_t cfa = fp + 8 * (uint64_t)front->cfa_words;

    if (UNLIKELY(cfa <= sp || cfa > memory->high || cfa % 8 ||
                 row_return_slot(front->row, cfa) < memory->low ||
                 cfa - 8 * (uint64_t)(front->fp_words & ~FRONT_CFA_FROM_FP) < memory->low))
        return 0;
    return cfa;
}

enum pause {
    AT_KNOWN, /* in the candidate */
    AT_ROW,   /* the row of the newest frame is not plain, or leads where nobody may read */
    AT_LIMIT  /* of frames */
};

/* Plain steps, the many, until the candidate or one that lies further out. All in registers. */
static READS_STACK ALWAYS_INLINE enum pause walk_plainly(struct unwinder *unwinder,
                                                         struct unwind_thread *thread,
                                                         const struct stack_memory *memory,
                                                         const struct unwind_new_frame *end,
                                                         struct position *at)
{
    const uint64_t high = memory->high;

    for (;;) {
        const struct unwind_front_row *front;
        uint64_t cfa, fp_words;

        while (at->candidate->sp < at->sp)
            at->candidate--;
        if (at->candidate->sp == at->sp && at->candidate->pc == at->pc &&
            !(at->candidate->needs_fp && at->candidate->fp != at->fp))
            return AT_KNOWN;
        if (UNLIKELY(at->to == end))
            return AT_LIMIT;
        front = front_row(unwinder, thread, at->pc);
        *at->to++ = (struct unwind_new_frame){at->pc, at->sp, at->fp, front->row};
        if (UNLIKELY(front->cfa_words == 0))
            return AT_ROW;
        fp_words = front->fp_words;
        if (LIKELY(fp_words < FRONT_CFA_FROM_FP)) {
            cfa = at->sp + 8 * (uint64_t)front->cfa_words;
            if (UNLIKELY(cfa > high))
                return AT_ROW;
        } else {
            cfa = cfa_from_fp(front, memory, at->sp, at->fp);
            if (UNLIKELY(cfa == 0))
                return AT_ROW;
            fp_words -= FRONT_CFA_FROM_FP;
        }
        if (fp_words)
            at->fp = word_at(cfa - 8 * fp_words);
        at->pc = word_at(row_return_slot(front->row, cfa)) & ROW_PC_MASK;
        at->sp = cfa;
    }
}

static inline void walk_stands(struct walk *walk, const struct position *at)
{
    walk->pc = at->pc;
    walk->sp = at->sp;
    walk->fp = at->fp;
    walk->candidate = at->candidate;
    walk->count = (uint32_t)(at->to - walk->thread->new_frames);
}

/* The newest frame is not left by a plain step. False: the walk has ended. */
static bool walk_on_slowly(struct walk *walk)
{
    uint32_t row = walk->thread->new_frames[walk->count - 1].row;

    if (walk->pc == 0) {
        walk->count--;
        return walk_ends(walk, UNWIND_COMPLETE);
    }
    return walk_slowly(walk, row);
}

/*
 * Walks until the end, or until a remembered frame is met below which nothing has changed: that is
 * then walk->candidate, and the result is true.
 */
static READS_STACK __attribute__((noinline)) bool walk_on(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;

    for (;;) {
        struct position at = {walk->pc, walk->sp, walk->fp, walk->candidate,
                              thread->new_frames + walk->count};
        enum pause pause = walk_plainly(walk->unwinder, thread, &walk->memory,
                                        thread->new_frames + walk->limit, &at);

        walk_stands(walk, &at);
        if (pause == AT_KNOWN) {
            walk->candidate = unchanged_frame(thread, at.candidate);
            if (walk->candidate == at.candidate)
                return true;
            continue;
        }
        if (pause == AT_LIMIT)
            return walk_ends(walk, walk->pc ? UNWIND_TRUNCATED : UNWIND_COMPLETE);
        if (!walk_on_slowly(walk))
            return false;
    }
}

/* is_plain: no remembered frame may be met. */
static void walk_begin(struct walk *walk, struct unwinder *unwinder, struct unwind_thread *thread,
                       const struct unwind_registers *start, bool is_plain)
{
    uint32_t limit = unwinder->frame_limit;

    walk->unwinder = unwinder;
    walk->thread = thread;
    if (LIKELY(stack_is_own(&thread->stack, start->sp)))
        walk->memory = stack_memory_of_own(&thread->stack, start->sp);
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
    walk->candidate = thread->frames + (is_plain || !walk->memory.is_own ? 0 : thread->frame_count);
}

/* --- after the walk --------------------------------------------------------------------- */

static void add_check(struct unwind_thread *thread, struct unwind_frame *frame, uint64_t address,
                      uint64_t value)
{
    thread->checks[frame->check_end++] = (struct unwind_check){address, value};
}

/* What the step from a frame to the next outer one has read. */
static __attribute__((noinline)) void note_checks(struct unwind_thread *thread,
                                                  struct unwind_frame *frame, uint32_t row)
{
    const struct unwind_frame *outer = frame - 1;

    if (!row_is_plain(row)) { /* ROW_AT_FP */
        struct unwind_rule rule = row_unpack(row);

        frame->needs_fp = true;
        add_check(thread, frame, frame->fp + (uint64_t)(int64_t)rule.cfa_offset_bytes, outer->sp);
        if (outer->needs_fp)
            add_check(thread, frame, frame->fp, outer->fp);
        add_check(thread, frame, outer->sp - 8, outer->pc);
        return;
    }
    if (!row_saves_fp(row))
        frame->needs_fp = true;
    else if (!row_loses_fp(row))
        add_check(thread, frame, row_fp_slot(row, outer->sp), outer->fp);
    add_check(thread, frame, row_return_slot(row, outer->sp), outer->pc);
}

/* Serials begin anew. */
static __attribute__((noinline)) uint32_t tops_forget(struct unwind_thread *thread)
{
    memset(&thread->tops, 0, sizeof(thread->tops));
    for (uint32_t i = 0; i < UNWIND_MAX_FRAMES; i++)
        thread->frames[i + 1].serial = i + 1;
    return UNWIND_MAX_FRAMES;
}

/* The outermost frame: no step leads on from it. */
static void remember_outermost(struct unwind_thread *thread, const struct unwind_new_frame *from,
                               uint32_t serial)
{
    thread->pcs[0] = from->pc;
    thread->hashes[1] = unwind_hash(0, from->pc);
    thread->frames[1] =
        (struct unwind_frame){from->sp, from->pc, from->fp, UNWIND_SPARE_CHECKS, false, serial};
}

/* The new frames go on top of the `kept` outermost ones. */
static inline void remember(struct unwind_thread *thread, uint32_t kept, uint32_t new_count)
{
    const struct unwind_new_frame *from = thread->new_frames + new_count;
    struct unwind_frame *frame = thread->frames + kept;
    uint64_t *pc = thread->pcs + kept, *hash = thread->hashes + kept;
    uint32_t serial = thread->last_serial;

    if (UNLIKELY(serial > UINT32_MAX - 1 - UNWIND_MAX_FRAMES))
        serial = tops_forget(thread);
    thread->last_serial = serial + new_count;
    thread->frame_count = thread->pc_count = kept + new_count;
    if (UNLIKELY(kept == 0 && new_count)) {
        remember_outermost(thread, --from, ++serial);
        frame++;
        pc++;
        hash++;
    }
    while (from > thread->new_frames) {
        const struct unwind_frame *outer = frame++;
        uint16_t check_end = outer->check_end;

        from--;
        *pc++ = from->pc;
        hash[1] = unwind_hash(hash[0], from->pc);
        hash++;
        frame->sp = from->sp;
        frame->pc = from->pc;
        frame->fp = from->fp;
        frame->check_end = check_end;
        frame->needs_fp = row_needs_fp(from->row);
        frame->serial = ++serial;
        if (UNLIKELY(outer->needs_fp || !row_is_plain(from->row))) {
            note_checks(thread, frame, from->row);
            continue;
        }
        frame->check_end = (uint16_t)(check_end + 1);
        thread->checks[check_end] =
            (struct unwind_check){row_return_slot(from->row, outer->sp), outer->pc};
    }
}

/* The pcs only, with what they have in common with those of the last capture. */
static void give_plain(const struct walk *walk, struct unwind_stack *stack)
{
    struct unwind_thread *thread = walk->thread;
    uint32_t count = walk->count, at = 0, same_count = 0;
    const struct unwind_new_frame *from = thread->new_frames + count;

    while (at < count && at < thread->pc_count && thread->pcs[at] == from[-1].pc) {
        from--;
        at++;
    }
    same_count = at;
    for (; at < count; at++) {
        uint64_t pc = (--from)->pc;

        thread->pcs[at] = pc;
        thread->hashes[at + 1] = unwind_hash(thread->hashes[at], pc);
    }
    thread->pc_count = count;
    thread->frame_count = 0;
    stack->count = count;
    stack->reused_count = same_count;
    stack->flags = walk->flags;
    stack->hash = unwind_hash_end(thread->hashes[count]);
}

/*
 * The share of frames that were taken over decides whether that is worth its while: new ones take
 * from the credit, kept ones add to it, so that it falls when less than SHARE_LOW of 256 are kept.
 */
static inline void note_share(struct unwind_thread *thread, uint32_t kept, uint32_t new_count)
{
    int32_t credit = thread->share_credit + (int32_t)(kept * (256 - SHARE_LOW)) -
                     (int32_t)(new_count * SHARE_LOW);

    if (UNLIKELY(credit < 0)) {
        thread->plain_left = PLAIN_CAPTURES;
        credit = 0; /* after these, one more as bad is enough */
    }
    thread->share_credit = credit < CREDIT_MAX ? credit : CREDIT_MAX;
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
static __attribute__((noinline)) void check(struct unwinder *unwinder, struct unwind_thread *thread,
                                            const struct unwind_registers *start,
                                            struct unwind_stack *stack)
{
    struct walk plain;

    walk_begin(&plain, unwinder, thread, start, true);
    walk_on(&plain);
    if (is_same(thread, &plain, stack->count) && plain.flags == stack->flags)
        return;
    __atomic_fetch_add(&unwinder->mismatch_count, 1, __ATOMIC_RELAXED);
    give_plain(&plain, stack);
    stack->reused_count = 0; /* of the last capture nothing is left */
    stack->name = NULL;
}

/* --- tops ---------------------------------------------------------------------------------- */

static inline uint32_t top_first_way(const struct unwind_registers *start)
{
    uint64_t hash = start->pc ^ start->pc >> 8 ^ start->sp >> 4 ^ start->sp >> 10;

    return (uint32_t)hash % UNWIND_TOP_SETS * UNWIND_TOP_WAYS;
}

/* This one comes after the last. */
static inline void top_follows(struct unwind_tops *tops, uint32_t number)
{
    tops->tops[tops->last].next = number;
    tops->last = number;
}

/* One had to be walked: where that is so too often, tops cost more than they save. */
static inline void top_missed(struct unwind_tops *tops)
{
    if (++tops->debt > TOP_DEBT_MAX) {
        tops->debt = 0;
        tops->rest_left = TOP_REST;
    }
}

/* Those that fill up the last four are always right. */
static void top_save_checks(struct unwind_top *top, const struct unwind_check *from)
{
    uint32_t at = 0;

    for (; at < top->check_count; at++)
        top->checks[at] = from[at];
    for (; at % 4; at++)
        top->checks[at].address = (uint64_t)(uintptr_t)&top->checks[at].value;
}

/* The frames that were walked on top of the kept ones, for the next time. */
static __attribute__((noinline)) void top_save(struct unwind_thread *thread, uint32_t kept,
                                               uint32_t new_count,
                                               const struct unwind_registers *start,
                                               struct unwind_stack *stack)
{
    const struct unwind_frame *base = thread->frames + kept;
    uint32_t check_count = (uint32_t)(base[new_count].check_end - base->check_end);
    struct unwind_tops *tops = &thread->tops;
    uint32_t number = top_first_way(start);
    uint8_t *newest = &tops->newest_ways[number / UNWIND_TOP_WAYS];
    struct unwind_top *top;

    if (!kept || !new_count || new_count > UNWIND_TOP_FRAMES || check_count > UNWIND_TOP_CHECKS)
        return;
    *newest = (uint8_t)((*newest + 1) % UNWIND_TOP_WAYS);
    number += *newest;
    top = &tops->tops[number];
    top->sp = start->sp;
    top->pc = base[new_count].pc;
    top->fp = start->fp;
    top->needs_fp = base[new_count].needs_fp;
    top->base_serial = base->serial;
    top->base_count = (uint16_t)kept;
    top->count = (uint8_t)new_count;
    top->check_count = (uint8_t)check_count;
    top->flags = thread->kept_flags;
    top->names.name = top->names.merged_name = 0;
    for (uint32_t i = 0; i < new_count; i++)
        top->frames[i] = base[1 + i];
    top_save_checks(top, thread->checks + base->check_end);
    top_follows(tops, number);
    stack->name = &top->names.name;
}

static READS_STACK inline bool top_holds(const struct unwind_top *top)
{
    const struct unwind_check *check = top->checks, *end = check + top->check_count;
    uint64_t change = 0;

    for (; check < end; check += 4)
        change |=
            change_of(check) | change_of(check + 1) | change_of(check + 2) | change_of(check + 3);
    return change == 0;
}

/* What stands on the same frame is the same. */
static inline bool is_same_frame(const struct unwind_frame *one, const struct unwind_frame *other)
{
    return one->sp == other->sp && one->pc == other->pc &&
           (!other->needs_fp || one->fp == other->fp);
}

static inline void top_check(const struct unwind_top *top)
{
    MT_ASSERT(top->base_count && top->base_count + top->count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(top->count && top->count <= UNWIND_TOP_FRAMES);
    MT_ASSERT(top->check_count <= UNWIND_TOP_CHECKS);
}

/* Instead of the frames that stand there. Returns how many of all are the same as before. */
static inline uint32_t top_put(struct unwind_thread *thread, const struct unwind_top *top)
{
    uint32_t base_count = top->base_count, count = base_count + top->count, at = base_count;
    uint32_t same_end = count < thread->frame_count ? count : thread->frame_count;
    uint32_t check_begin = thread->frames[base_count].check_end, same_count, check;
    const struct unwind_frame *from = top->frames;
    uint64_t hash;

    while (at < same_end && is_same_frame(&thread->frames[at + 1], from)) {
        from++;
        at++;
    }
    same_count = at;
    hash = thread->hashes[at];
    for (check = thread->frames[at].check_end - check_begin; check < top->check_count; check++)
        thread->checks[check_begin + check] = top->checks[check];
    for (; at < count; at++, from++) {
        thread->frames[at + 1] = *from;
        thread->pcs[at] = from->pc;
        hash = unwind_hash(hash, from->pc);
        thread->hashes[at + 1] = hash;
    }
    thread->frame_count = thread->pc_count = count;
    return same_count;
}

/* It stands on a remembered frame, and nothing of it has changed. */
static inline bool top_is_there(const struct unwind_thread *thread, const struct unwind_top *top,
                                const struct unwind_registers *start)
{
    const struct unwind_frame *base;

    if (top->sp != start->sp || top->pc != (start->pc & ROW_PC_MASK) ||
        top->base_count > thread->frame_count || top->flags != thread->kept_flags)
        return false;
    base = thread->frames + top->base_count;
    return base->serial == top->base_serial && !(top->needs_fp && top->fp != start->fp) &&
           top_holds(top) && good_checks(thread, base->check_end) == base->check_end;
}

static inline bool top_find(struct unwind_thread *thread, const struct unwind_registers *start,
                            uint32_t *number)
{
    struct unwind_tops *tops = &thread->tops;

    if (UNLIKELY(tops->rest_left)) {
        tops->rest_left--;
        return false;
    }
    *number = tops->tops[tops->last].next;
    if (LIKELY(top_is_there(thread, &tops->tops[*number], start)))
        return true;
    *number = top_first_way(start);
    if (top_is_there(thread, &tops->tops[*number], start))
        return true;
    ++*number;
    return top_is_there(thread, &tops->tops[*number], start);
}

/* A stack that was there before, though not last. */
static inline bool give_top(struct unwind_thread *thread, const struct unwind_registers *start,
                            struct unwind_stack *stack)
{
    struct unwind_top *top;
    uint32_t number;

    if (!top_find(thread, start, &number))
        return false;
    top = &thread->tops.tops[number];
    top_check(top);
    top_follows(&thread->tops, number);
    thread->tops.debt -= thread->tops.debt < 2 ? thread->tops.debt : 2;
    stack->reused_count = top_put(thread, top);
    stack->count = thread->frame_count;
    stack->flags = top->flags;
    stack->hash = unwind_hash_end(thread->hashes[stack->count]);
    stack->name = &top->names.name;
    note_share(thread, stack->count, 0);
    return true;
}

/* --- captures --------------------------------------------------------------------------- */

static __attribute__((noinline)) void capture_plain(struct unwinder *unwinder,
                                                    struct unwind_thread *thread,
                                                    const struct unwind_registers *start,
                                                    struct unwind_stack *stack)
{
    struct walk walk;

    walk_begin(&walk, unwinder, thread, start, true);
    walk_on(&walk);
    give_plain(&walk, stack);
}

/* The kept frames and on top of them the new ones. */
static inline void give_remembered(struct unwind_thread *thread, uint32_t kept, uint32_t new_count,
                                   struct unwind_stack *stack)
{
    remember(thread, kept, new_count);
    stack->count = kept + new_count;
    stack->reused_count = kept;
    stack->flags = thread->kept_flags;
    stack->hash = unwind_hash_end(thread->hashes[stack->count]);
}

/* The kept frames and the new ones of a walk, if they can be remembered; else all, walked again. */
static void give_walked(const struct walk *walk, uint32_t kept,
                        const struct unwind_registers *start, struct unwind_stack *stack)
{
    struct unwind_thread *thread = walk->thread;
    uint32_t known_count = thread->frame_count;

    if (kept + walk->count > walk->limit || !walk->can_be_kept ||
        (walk->flags & UNWIND_TRUNCATED)) {
        if (kept)
            capture_plain(walk->unwinder, thread, start, stack);
        else
            give_plain(walk, stack);
        return;
    }
    thread->kept_flags = walk->flags;
    give_remembered(thread, kept, walk->count, stack);
    if (known_count)
        note_share(thread, kept, walk->count);
}

/* From where plain steps led no further; at is NULL at the start. */
static __attribute__((noinline)) void capture_slowly(struct unwinder *unwinder,
                                                     struct unwind_thread *thread,
                                                     const struct unwind_registers *start,
                                                     const struct position *at,
                                                     struct unwind_stack *stack)
{
    struct walk walk;
    uint32_t kept = 0;

    walk_begin(&walk, unwinder, thread, start, false);
    if (at)
        walk_stands(&walk, at);
    if (walk_on(&walk)) {
        kept = (uint32_t)(walk.candidate - thread->frames);
        walk.flags |= thread->kept_flags;
    }
    give_walked(&walk, kept, start, stack);
}

/*
 * What nearly all captures are: a few plain steps, and then a remembered frame below which nothing
 * has changed.
 */
static inline void capture_and_remember(struct unwinder *unwinder, struct unwind_thread *thread,
                                        const struct unwind_registers *start,
                                        struct unwind_stack *stack)
{
    struct unwind_new_frame *new_frames = thread->new_frames;
    struct stack_memory memory = stack_memory_of_own(&thread->stack, start->sp);
    struct position at = {start->pc & ROW_PC_MASK, start->sp, start->fp, NULL, new_frames};
    bool is_unchanged = false; /* what is outside of the candidate, and of all further out */
    uint32_t kept, new_count;
    enum pause pause;

    if (UNLIKELY(!stack_is_own(&thread->stack, start->sp) || unwinder->frame_limit)) {
        capture_slowly(unwinder, thread, start, NULL, stack);
        return;
    }
    at.candidate = thread->frames + thread->frame_count;
    for (;;) {
        const struct unwind_frame *met;

        pause = walk_plainly(unwinder, thread, &memory, new_frames + UNWIND_MAX_FRAMES, &at);
        if (pause != AT_KNOWN || is_unchanged)
            break;
        met = at.candidate;
        at.candidate = unchanged_frame(thread, met);
        is_unchanged = true;
        if (LIKELY(at.candidate == met))
            break;
    }
    if (UNLIKELY(pause != AT_KNOWN)) {
        at.to -= pause == AT_ROW; /* that step was not taken */
        capture_slowly(unwinder, thread, start, &at, stack);
        return;
    }
    kept = (uint32_t)(at.candidate - thread->frames);
    new_count = (uint32_t)(at.to - new_frames);
    if (UNLIKELY(kept + new_count > UNWIND_MAX_FRAMES)) {
        capture_slowly(unwinder, thread, start, &at, stack);
        return;
    }
    give_remembered(thread, kept, new_count, stack);
    note_share(thread, kept, new_count);
    if (LIKELY(!thread->tops.rest_left)) {
        top_missed(&thread->tops);
        top_save(thread, kept, new_count, start, stack);
    }
}

/*
 * The same function called from the same place, and nothing further out has changed: what a program
 * does that fills a list. No walk, one loop.
 */
static inline bool give_last(struct unwind_thread *thread, const struct unwind_registers *start,
                             struct unwind_stack *stack)
{
    const struct unwind_frame *last = thread->frames + thread->frame_count;

    if (last->sp != start->sp || last->pc != (start->pc & ROW_PC_MASK) ||
        (last->needs_fp && last->fp != start->fp) ||
        good_checks(thread, last->check_end) < last->check_end)
        return false;
    stack->count = stack->reused_count = thread->frame_count;
    stack->flags = thread->kept_flags;
    stack->hash = unwind_hash_end(thread->hashes[thread->frame_count]);
    note_share(thread, thread->frame_count, 0);
    return true;
}

/* Objects came or went since this thread was here. */
static void forget(struct unwind_thread *thread, uint64_t generation)
{
    memset(thread->front, 0, sizeof(thread->front));
    for (int i = 0; i < UNWIND_SPARE_CHECKS; i++)
        thread->checks[i].address = (uint64_t)(uintptr_t)&thread->checks[i].value;
    thread->frames[0] = (struct unwind_frame){.sp = UINT64_MAX, .check_end = UNWIND_SPARE_CHECKS};
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
    if (!stack_is_own(&thread->stack, sp) ||
        (stack_is_own(&thread->stack, thread->busy_sp) && sp <= thread->busy_sp))
        return true;
    thread->frame_count = thread->pc_count = 0;
    return false;
}

/* What was captured, and what is remembered of it. */
static inline void capture_check(const struct unwind_thread *thread,
                                 const struct unwind_stack *stack)
{
    MT_ASSERT(stack->count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(stack->reused_count <= stack->count);
    MT_ASSERT(thread->pc_count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(thread->frame_count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(thread->frames[0].check_end == UNWIND_SPARE_CHECKS);
    MT_ASSERT(thread->tops.last < UNWIND_TOP_SETS * UNWIND_TOP_WAYS);
    MT_ASSERT(thread->frames[thread->frame_count].check_end <=
              sizeof(thread->checks) / sizeof(thread->checks[0]));
}

void unwind_capture(struct unwinder *unwinder, struct unwind_thread *thread,
                    const struct unwind_registers *start, struct unwind_stack *stack)
{
    uint64_t generation = row_table_generation(&unwinder->rows);

    stack->pcs = thread->pcs;
    if (UNLIKELY(is_nested(thread, start->sp))) {
        *stack = (struct unwind_stack){.pcs = thread->pcs, .flags = UNWIND_NESTED};
        return;
    }
    thread->busy_sp = start->sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (UNLIKELY(thread->generation != generation))
        forget(thread, generation);
    stack->number = ++thread->number;
    stack->name = NULL;
    if (UNLIKELY(thread->plain_left || unwinder->is_plain)) {
        thread->plain_left -= thread->plain_left > 0;
        capture_plain(unwinder, thread, start, stack);
    } else if (!give_last(thread, start, stack) &&
               (unwinder->frame_limit || !give_top(thread, start, stack))) {
        capture_and_remember(unwinder, thread, start, stack);
    }
    if (UNLIKELY(unwinder->is_checking))
        check(unwinder, thread, start, stack);
    capture_check(thread, stack);
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
