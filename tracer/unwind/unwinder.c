/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "unwinder.h"

#include <stddef.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "unwind_remembered.h"
#include "unwind_tops.h"
#include "unwind_walk.h"

/* --- walking ---------------------------------------------------------------------------- */

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

/*
 * The value. But where the guess is right, the processor goes on with that, and need not wait for
 * the value: the frames of a stack mostly lie where others lay, though of other functions.
 */
static ALWAYS_INLINE uint64_t guessed(uint64_t value, uint64_t guess)
{
    if (LIKELY(value == guess)) {
        __asm__ volatile("" : "+r"(guess)); /* for all the compiler knows it is another one */
        return guess;
    }
    return value;
}

/*
 * Plain steps, the many, until the candidate or one that lies further out. `now` is a copy, as what
 * others have the address of does not stay in registers.
 */
static READS_STACK ALWAYS_INLINE enum pause walk_plainly(struct unwinder *unwinder,
                                                         struct unwind_thread *thread,
                                                         const struct stack_memory *memory,
                                                         const struct unwind_new_frame *end,
                                                         struct position *at)
{
    const uint64_t high = memory->high;
    struct position now = *at;
    enum pause pause = AT_ROW;

    for (;;) {
        const struct unwind_front_row *front;
        uint64_t cfa, fp_words, guess;

        while (now.candidate->sp < now.sp)
            now.candidate--;
        guess = now.candidate->sp;
        if (guess == now.sp) {
            if (now.candidate->pc == now.pc &&
                !(now.candidate->needs_fp && now.candidate->fp != now.fp)) {
                pause = AT_KNOWN;
                break;
            }
            guess = now.candidate[-1].sp;
        }
        if (UNLIKELY(now.to == end)) {
            pause = AT_LIMIT;
            break;
        }
        front = front_row(unwinder, thread, now.pc);
        *now.to++ = (struct unwind_new_frame){now.pc, now.sp, now.fp, front->row};
        if (UNLIKELY(front->cfa_words == 0))
            break;
        fp_words = front->fp_words;
        if (LIKELY(fp_words < FRONT_CFA_FROM_FP)) {
            cfa = guessed(now.sp + 8 * (uint64_t)front->cfa_words, guess);
            if (UNLIKELY(cfa > high))
                break;
        } else {
            cfa = cfa_from_fp(front, memory, now.sp, now.fp);
            if (UNLIKELY(cfa == 0))
                break;
            fp_words -= FRONT_CFA_FROM_FP;
        }
        if (fp_words)
            now.fp = word_at(cfa - 8 * fp_words);
        now.pc = word_at(row_return_slot(front->row, cfa)) & ROW_PC_MASK;
        now.sp = cfa;
    }
    *at = now;
    return pause;
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
        (last->needs_fp && last->fp != start->fp) || !all_hold(thread, last->check_end))
        return false;
    thread->tops.unlaid = 0;
    stack->count = stack->reused_count = thread->frame_count;
    stack->flags = thread->kept_flags;
    stack->hash = unwind_hash_end(thread->hashes[thread->frame_count]);
    note_all_kept(thread, thread->frame_count);
    return true;
}

static inline uint64_t changes_of(const struct unwinder *unwinder)
{
    return __atomic_load_n(&unwinder->changes, __ATOMIC_ACQUIRE);
}

/* Objects came or went since this thread was here. */
static void forget(struct unwinder *unwinder, struct unwind_thread *thread)
{
    thread->changes = changes_of(unwinder);
    thread->generation = row_table_generation(&unwinder->rows);
    memset(thread->front, 0, sizeof(thread->front));
    for (int i = 0; i < UNWIND_SPARE_CHECKS; i++)
        thread->checks[i].address = (uint64_t)(uintptr_t)&thread->checks[i].value;
    thread->frames[0] = (struct unwind_frame){.sp = UINT64_MAX, .check_end = UNWIND_SPARE_CHECKS};
    thread->frame_count = thread->pc_count = 0;
    thread->tops.unlaid = 0;
    thread->given_same = UINT32_MAX;
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
    MT_ASSERT(thread->tops.last < UNWIND_TOPS);
    MT_ASSERT(thread->frames[thread->frame_count].check_end <=
              sizeof(thread->checks) / sizeof(thread->checks[0]));
}

/* It has its pcs: in what they are those of the last one, is told to who asks. */
static inline void give_laid(struct unwind_thread *thread, struct unwind_stack *stack)
{
    if (UNLIKELY(thread->given_same < stack->reused_count))
        stack->reused_count = thread->given_same;
    thread->given_same = UINT32_MAX;
    stack->number = ++thread->number;
    capture_check(thread, stack);
}

static __attribute__((noinline)) void lay_out(struct unwind_thread *thread,
                                              struct unwind_stack *stack)
{
    uint32_t number = thread->tops.unlaid - 1;

    MT_ASSERT(number < UNWIND_TOPS);
    thread->tops.unlaid = 0;
    stack->reused_count = top_lay(thread, number);
    stack->pcs = thread->pcs;
    stack->hash = unwind_hash_end(thread->hashes[stack->count]);
    give_laid(thread, stack);
}

void unwind_lay_out(struct unwind_thread *thread, struct unwind_stack *stack)
{
    if (!stack->pcs)
        lay_out(thread, stack);
}

/* may_be_unlaid: a stack that is known again is not laid out. */
static __attribute__((noinline)) void capture(struct unwinder *unwinder,
                                              struct unwind_thread *thread,
                                              const struct unwind_registers *start,
                                              bool may_be_unlaid, struct unwind_stack *stack)
{
    if (UNLIKELY(is_nested(thread, start->sp))) {
        *stack = (struct unwind_stack){.pcs = thread->pcs, .flags = UNWIND_NESTED};
        return;
    }
    thread->busy_sp = start->sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (UNLIKELY(thread->changes != changes_of(unwinder)))
        forget(unwinder, thread);
    stack->pcs = thread->pcs;
    stack->name = NULL;
    if (UNLIKELY(thread->plain_left || unwinder->is_plain)) {
        thread->plain_left -= thread->plain_left > 0;
        capture_plain(unwinder, thread, start, stack);
    } else if (!give_last(thread, start, stack) &&
               (unwinder->frame_limit || !give_top(thread, start, stack))) {
        capture_and_remember(unwinder, thread, start, stack);
    }
    if (stack->pcs)
        give_laid(thread, stack);
    else if (!may_be_unlaid || UNLIKELY(unwinder->is_checking))
        lay_out(thread, stack);
    if (UNLIKELY(unwinder->is_checking))
        check(unwinder, thread, start, stack);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy_sp = 0;
}

void unwind_capture(struct unwinder *unwinder, struct unwind_thread *thread,
                    const struct unwind_registers *start, struct unwind_stack *stack)
{
    capture(unwinder, thread, start, false, stack);
}

/* Nothing speaks against tops. */
static inline bool is_ordinary(const struct unwinder *unwinder, const struct unwind_thread *thread)
{
    return !thread->busy_sp && thread->changes == changes_of(unwinder) &&
           !(thread->plain_left | thread->tops.rest_left) &&
           !(unwinder->frame_limit | unwinder->is_plain | unwinder->is_checking);
}

/* The one that came next last time is known at once, the others by a call. */
void unwind_recall(struct unwinder *unwinder, struct unwind_thread *thread,
                   const struct unwind_registers *start, struct unwind_stack *stack)
{
    if (LIKELY(is_ordinary(unwinder, thread))) {
        uint32_t number = *top_expected(&thread->tops, start);
        bool is_there;

        thread->busy_sp = start->sp;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        is_there = top_is_there(thread, number, start);
        if (LIKELY(is_there))
            give_unlaid(thread, number, stack);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->busy_sp = 0;
        if (LIKELY(is_there))
            return;
    }
    capture(unwinder, thread, start, true, stack);
}

void unwind_thread_changes(struct unwind_thread *thread)
{
    thread->stack = (struct stack_knowledge){.top = 0};
    thread->frame_count = 0;
    thread->busy_sp = 0;
}

static void change(struct unwinder *unwinder)
{
    __atomic_add_fetch(&unwinder->changes, 1, __ATOMIC_SEQ_CST);
}

void unwinder_prepare(struct unwinder *unwinder)
{
    stack_memory_prepare();
    objects_prepare(&unwinder->objects, true);
    row_table_next_generation(&unwinder->rows);
    change(unwinder);
}

void unwinder_objects_came(struct unwinder *unwinder)
{
    objects_refresh(&unwinder->objects);
    change(unwinder);
}

void unwinder_objects_left(struct unwinder *unwinder)
{
    objects_refresh(&unwinder->objects);
    row_table_next_generation(&unwinder->rows);
    change(unwinder);
}
