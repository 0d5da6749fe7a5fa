/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "call_stacks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>

#include "leaktide/frames.h"
#include "own_memory.h"
#include "python_stacks.h"
#include "python_switch.h"
#include "recorder.h"
#include "recording.h"
#include "stack_set.h"

enum { WRITTEN_WHOLE_EVERY = 64, SPACE_SHARE = 64, CODE_SHARE = 8 };

#define CUT_NUMBERS (UINT64_C(1) << 63)

enum readiness { NOT_READY, GETTING_READY, READY };

/* The last stack that had more frames than are wanted. */
struct cut_stack {
    uint64_t number, whole_number;
    uint64_t hash; /* of what was left, before unwind_hash_end */
    uint32_t whole_count, wanted;
};

struct call_stacks {
    size_t mapped_bytes;
    struct unwind_thread thread;
    struct stack_set set;
    struct cut_stack cut;
    struct python_stacks python;
    uint64_t caller; /* the one native frame, where no others are asked for */
    uint32_t number;
    uint32_t since_whole; /* `stack` records since one that shared nothing */
    uint32_t counted_restarts;
    uint64_t told_bytes; /* of memory: filled, as far as it was told */
    uint8_t bytes[MT_STACK_FRAMES_MAX * MT_FRAME_BYTES_MAX + MT_VARINT_MAX_BYTES];
    uint64_t memory[]; /* of the set, then of codes of Python */
};

_Static_assert(MT_STACK_FRAMES_MAX *MT_FRAME_BYTES_MAX <= MT_TEXT_MAX, "fits a BYTES field");
_Static_assert((int)UNWIND_MAX_FRAMES <= (int)MT_STACK_FRAMES_MAX, "all frames can be written");
_Static_assert((int)UNWIND_COMPLETE == (int)MT_STACK_COMPLETE &&
                   (int)UNWIND_SIGNAL == (int)MT_STACK_SIGNAL,
               "flags are written as they are");

static struct unwinder unwinder; /* a MiB that is touched as it is used */
static _Atomic int readiness;
static _Atomic uint32_t last_number;
static _Atomic uint32_t frames_wanted, python_frames_wanted; /* may change while events come */
static bool python_is_looked_for;

static void python_look(bool may_load)
{
    struct mt_file_header *header = recording_header();

    if (!python_is_looked_for)
        return;
    python_find(may_load);
    python_switch_look();
    if (header)
        header->unread_python = python_unread();
}

void call_stacks_prepare(void)
{
    const struct recording_setup *setup = recording_setup();
    int before = NOT_READY;

    if (!(setup->stack_frames | setup->python_frames) || setup->is_forbidden ||
        !atomic_compare_exchange_strong(&readiness, &before, GETTING_READY))
        return;
    frames_wanted = setup->stack_frames;
    python_frames_wanted = setup->python_frames;
    python_is_looked_for = setup->python_frames > 0;
    python_look(false);
    unwinder_prepare(&unwinder);
    atomic_store_explicit(&readiness, READY, memory_order_release);
}

enum call_stacks_change call_stacks_set_frames(uint32_t frames, uint32_t python_frames)
{
    if (!call_stacks_are_on())
        return CALL_STACKS_ARE_OFF;
    if (python_frames && !python_is_looked_for)
        return CALL_STACKS_HAVE_NO_PYTHON;
    atomic_store_explicit(&frames_wanted, frames, memory_order_relaxed);
    atomic_store_explicit(&python_frames_wanted, python_frames, memory_order_relaxed);
    return CALL_STACKS_CHANGED;
}

bool call_stacks_are_on(void)
{
    return atomic_load_explicit(&readiness, memory_order_acquire) == READY;
}

void call_stacks_objects_came(void)
{
    if (!call_stacks_are_on())
        return;
    unwinder_objects_came(&unwinder);
    python_look(true);
}

void call_stacks_objects_left(void)
{
    if (!call_stacks_are_on())
        return;
    unwinder_objects_left(&unwinder);
    python_look(true);
}

/* Where the program's address space or data is limited, most of it is left to the program. */
static size_t share_of(int resource, size_t wanted)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur / SPACE_SHARE >= wanted)
        return wanted;
    return limit.rlim_cur / SPACE_SHARE;
}

static size_t set_bytes_wanted(void)
{
    size_t wanted = share_of(RLIMIT_DATA, share_of(RLIMIT_AS, recording_setup()->stack_bytes));

    return wanted > STACK_SET_MIN_BYTES ? wanted : STACK_SET_MIN_BYTES;
}

static size_t code_bytes_wanted(size_t set_bytes)
{
    size_t wanted = set_bytes / CODE_SHARE;

    return wanted > PYTHON_CODES_MIN_BYTES ? wanted : PYTHON_CODES_MIN_BYTES;
}

struct call_stacks *call_stacks_create(void)
{
    size_t set_bytes, code_bytes, mapped_bytes;
    struct call_stacks *stacks;

    if (recording_makes_no_calls())
        return NULL;
    set_bytes = set_bytes_wanted() / sizeof(uint64_t) * sizeof(uint64_t);
    code_bytes = code_bytes_wanted(set_bytes);
    mapped_bytes = sizeof(*stacks) + set_bytes + code_bytes;
    stacks = own_memory_map(mapped_bytes);

    if (!stacks)
        return NULL;
    stacks->mapped_bytes = mapped_bytes;
    stack_set_init(&stacks->set, stacks->memory, set_bytes);
    python_stacks_init(&stacks->python, (char *)stacks->memory + set_bytes, code_bytes);
    stacks->number = atomic_fetch_add(&last_number, 1) + 1;
    return stacks;
}

void call_stacks_destroy(struct call_stacks *stacks)
{
    own_memory_unmap(stacks, stacks->mapped_bytes);
}

void call_stacks_hand_over(struct call_stacks *stacks)
{
    unwind_thread_changes(&stacks->thread);
}

uint32_t call_stacks_number(const struct call_stacks *stacks)
{
    return stacks->number;
}

static void count_restarts(struct call_stacks *stacks)
{
    struct mt_file_header *header = recording_header();
    uint32_t count = stacks->set.restart_count - stacks->counted_restarts;

    if (count && header)
        __atomic_fetch_add(&header->stack_restart_count, count, __ATOMIC_RELAXED);
    stacks->counted_restarts += count;
}

/* What was filled once stays, after a restart, too. */
static void tell_filled(struct call_stacks *stacks)
{
    uint64_t bytes = stack_set_filled_bytes(&stacks->set);

    if (bytes <= stacks->told_bytes)
        return;
    own_memory_fill(bytes - stacks->told_bytes);
    stacks->told_bytes = bytes;
}

/* The definition of a stack, with what it shares with the one written before. */
static __attribute__((noinline)) bool stack_write(struct call_stacks *stacks,
                                                  const struct unwind_stack *stack,
                                                  const struct stack_name *name)
{
    uint32_t shared_count = name->shared_count;
    uint64_t before = 0;
    uint8_t *end = stacks->bytes;
    uint64_t fields[3];

    count_restarts(stacks);
    tell_filled(stacks);
    if (++stacks->since_whole == WRITTEN_WHOLE_EVERY)
        shared_count = 0;
    if (shared_count)
        before = stack->pcs[shared_count - 1];
    else
        stacks->since_whole = 0;
    for (uint32_t i = shared_count; i < stack->count; i++) {
        end = mt_frame_put(end, stack->pcs[i], before);
        before = stack->pcs[i];
    }
    fields[0] = name->id;
    fields[1] = shared_count;
    fields[2] = stack->flags;
    return recorder_push_bytes(MT_RECORD_stack, fields, stacks->bytes,
                               (size_t)(end - stacks->bytes));
}

/* The consumer is dead and the ring is full: an id without a definition would mean nothing. */
static __attribute__((noinline)) void stack_is_lost(struct call_stacks *stacks,
                                                    struct stack_name *name)
{
    stack_set_restart(&stacks->set);
    name->id = 0;
}

static __attribute__((noinline)) void count_no_stack(void)
{
    struct mt_file_header *header = recording_header();

    if (header)
        __atomic_fetch_add(&header->no_stack_count, 1, __ATOMIC_RELAXED);
}

/*
 * Leaves the innermost `wanted`. Stacks are walked whole nevertheless: a whole one is known
 * again from the one before, which is cheaper than to walk as many frames anew. What is left is
 * the same as before only if the whole stack is; the numbers are those of cut stacks alone, so
 * that whole ones are not taken for what follows them.
 */
static __attribute__((noinline)) void stack_cut(struct call_stacks *stacks,
                                                struct unwind_stack *stack, uint32_t wanted)
{
    struct cut_stack *last = &stacks->cut;
    bool is_same;

    unwind_lay_out(&stacks->thread, stack);
    is_same = stack->count == last->whole_count && stack->count == stack->reused_count &&
              stack->number == last->whole_number + 1 && wanted == last->wanted;
    last->whole_count = stack->count;
    last->whole_number = stack->number;
    last->wanted = wanted;
    stack->pcs += stack->count - wanted;
    stack->count = wanted;
    stack->reused_count = is_same ? wanted : 0;
    stack->number = ++last->number | CUT_NUMBERS;
    stack->flags = (stack->flags & ~(uint32_t)UNWIND_COMPLETE) | UNWIND_TRUNCATED;
    if (!is_same) {
        last->hash = 0;
        for (uint32_t i = 0; i < stack->count; i++)
            last->hash = unwind_hash(last->hash, stack->pcs[i]);
    }
    stack->hash = unwind_hash_end(last->hash);
    stack->name = NULL;
}

/* The one native frame, where no others are asked for. */
static void stack_of_caller(struct call_stacks *stacks, uint64_t pc, struct unwind_stack *stack)
{
    stacks->caller = pc;
    stack->pcs = &stacks->caller; /* field by field: what is cleared as a block is slow to load */
    stack->count = 1;
    stack->reused_count = 0;
    stack->flags = UNWIND_COMPLETE;
    stack->number = 0;
    stack->hash = pc;
    stack->name = NULL;
}

struct wanted {
    uint32_t frames, python_frames;
};

static inline struct wanted frames_wanted_now(void)
{
    return (struct wanted){
        atomic_load_explicit(&frames_wanted, memory_order_relaxed),
        atomic_load_explicit(&python_frames_wanted, memory_order_relaxed),
    };
}

/*
 * Native frames, frames of Python, or both. True: it is not here, but has its name, *stack->name.
 */
static inline __attribute__((always_inline)) bool
take_with_python(struct call_stacks *stacks, const struct unwind_registers *from, bool is_free,
                 struct wanted wanted, struct unwind_stack *stack)
{
    bool may_switch = is_free && python_switch_is_here(), is_switched = false;

    if (wanted.frames || may_switch)
        unwind_recall(&unwinder, &stacks->thread, from, stack);
    if (may_switch) {
        unwind_lay_out(&stacks->thread, stack);
        is_switched = python_switch_is_under_way(stack);
    }
    if (!wanted.frames)
        stack_of_caller(stacks, from->pc, stack);
    else if (UNLIKELY(stack->count > wanted.frames))
        stack_cut(stacks, stack, wanted.frames);
    if (python_is_here() && !is_switched)
        return python_stacks_merge(&stacks->python, &stacks->thread, wanted.python_frames,
                                   stacks->set.first_id, stack);
    unwind_lay_out(&stacks->thread, stack);
    return false;
}

/* Native frames. The same. */
static inline bool take_native(struct call_stacks *stacks, const struct unwind_registers *from,
                               uint32_t wanted, struct unwind_stack *stack)
{
    unwind_recall(&unwinder, &stacks->thread, from, stack);
    if (UNLIKELY(stack->count > wanted))
        stack_cut(stacks, stack, wanted);
    else if (LIKELY(!stack->pcs) && LIKELY(stack_set_knows(&stacks->set, stack)))
        return true;
    unwind_lay_out(&stacks->thread, stack);
    return false;
}

/* The id of a stack that is here; 0: it got none. */
static inline uint32_t stack_id(struct call_stacks *stacks, struct unwind_stack *stack)
{
    struct stack_name name;

    stack_set_find(&stacks->set, stack, &name);
    if (UNLIKELY(name.is_new) && UNLIKELY(!stack_write(stacks, stack, &name)))
        stack_is_lost(stacks, &name);
    if (UNLIKELY(!name.id))
        count_no_stack();
    return name.id;
}

static inline uint32_t capture(struct thread_state *thread, const struct unwind_registers *from,
                               bool is_free)
{
    struct wanted wanted = frames_wanted_now();
    struct call_stacks *stacks;
    struct unwind_stack stack;
    uint32_t before, id;
    bool is_named;

    if (!thread_has_room(thread, 3))
        return 0;
    if (UNLIKELY(!thread->stacks) && !thread_take_stacks(thread))
        return 0;
    stacks = thread->stacks;
    before = push_begin(thread);
    if (LIKELY(!wanted.python_frames) && LIKELY(wanted.frames))
        is_named = take_native(stacks, from, wanted.frames, &stack);
    else
        is_named = take_with_python(stacks, from, is_free, wanted, &stack);
    id = LIKELY(is_named) ? *stack.name : stack_id(stacks, &stack);
    push_end(thread, before);
    return id;
}

uint32_t call_stacks_capture(struct thread_state *thread, const struct unwind_registers *from)
{
    return capture(thread, from, false);
}

uint32_t call_stacks_capture_free(struct thread_state *thread, const struct unwind_registers *from)
{
    return capture(thread, from, true);
}

struct call_site call_stacks_site(const struct thread_state *thread, uint32_t stack, uint64_t pc)
{
    return (struct call_site){
        .caller = (const void *)(uintptr_t)pc,
        .stack = stack,
        .stacks = stack ? thread->stacks->number : 0,
    };
}
