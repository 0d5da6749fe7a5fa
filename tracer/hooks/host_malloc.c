/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host heap: malloc and everything that ends in free.
 *
 * Always interposed, recorded only when asked for (--device=cpu). C++ new and delete come through
 * here from the C++ library. The real functions are those of the next object that has them, so
 * that an allocator of the program's own stays in charge.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"
#include "guard.h"
#include "hook.h"
#include "host_records.h"
#include "mapped_regions.h"
#include "python_heap.h"
#include "torch_host.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE      __attribute__((noinline))

HOOK_EXPORT void *malloc(size_t size);
HOOK_EXPORT void *calloc(size_t count, size_t size);
HOOK_EXPORT void *realloc(void *block, size_t size);
HOOK_EXPORT void *reallocarray(void *block, size_t count, size_t size);
HOOK_EXPORT void free(void *block);
HOOK_EXPORT int posix_memalign(void **out, size_t alignment, size_t size);
HOOK_EXPORT void *aligned_alloc(size_t alignment, size_t size);
HOOK_EXPORT void *memalign(size_t alignment, size_t size);
HOOK_EXPORT void *valloc(size_t size);
HOOK_EXPORT void *pvalloc(size_t size);
HOOK_EXPORT size_t malloc_usable_size(void *block);

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
} real;

static const struct {
    const char *name;
    void **slot;
} real_table[] = {
    {"malloc", (void **)&real.malloc},
    {"calloc", (void **)&real.calloc},
    {"realloc", (void **)&real.realloc},
    {"reallocarray", (void **)&real.reallocarray},
    {"posix_memalign", (void **)&real.posix_memalign},
    {"aligned_alloc", (void **)&real.aligned_alloc},
    {"memalign", (void **)&real.memalign},
    {"valloc", (void **)&real.valloc},
    {"pvalloc", (void **)&real.pvalloc},
    {"malloc_usable_size", (void **)&real.malloc_usable_size},
    {"free", (void **)&real.free},
};

/* Written once each, and compiled for each: what is not asked for costs nothing. */
enum mode {
    UNREADY,   /* the real functions are not known yet */
    PASSING,   /* nothing is recorded */
    RECORDING, /* blocks with their call site */
    STACKS,    /* blocks with their call stack */
    ALL_STACKS /* frees too */
};
static _Atomic int mode;

/*
 * Some C libraries allocate inside dlsym. What they get then is from here, and stays here.
 */
enum { FIRST_BYTES = 16 * 1024, FIRST_ALIGNMENT = 16 };
static _Alignas(FIRST_ALIGNMENT) char first_blocks[FIRST_BYTES];
static _Atomic size_t first_used;

static void *first_alloc(size_t size)
{
    size_t whole = (size + FIRST_ALIGNMENT - 1) / FIRST_ALIGNMENT * FIRST_ALIGNMENT;
    size_t offset;

    if (size > FIRST_BYTES)
        return NULL;
    offset = atomic_fetch_add(&first_used, whole);
    return offset + whole <= FIRST_BYTES ? first_blocks + offset : NULL;
}

static bool is_first_block(const void *block)
{
    return (uintptr_t)block - (uintptr_t)first_blocks < FIRST_BYTES;
}

static void *first_grow(const void *block, size_t size)
{
    size_t old = (size_t)(first_blocks + FIRST_BYTES - (const char *)block);
    void *copy = real.malloc(size);

    if (copy)
        memcpy(copy, block, old < size ? old : size);
    return copy;
}

static enum mode wanted_mode(void)
{
    const struct config *config = config_get();

    if (!config->records_host)
        return PASSING;
    if (!config->has_host_stacks)
        return RECORDING;
    call_stacks_prepare();
    return config->has_free_stacks ? ALL_STACKS : STACKS;
}

/* Finds the real functions. UNREADY while this very thread is doing so further out. */
static NOINLINE enum mode make_ready(void)
{
    struct thread_state *thread = &thread_state;

    if (thread->inside & IS_OURS) /* inside dlsym below, or found while reading the options */
        return real.free ? PASSING : UNREADY;
    thread->inside |= IS_OURS;
    for (size_t i = 0; i < sizeof(real_table) / sizeof(real_table[0]); i++)
        *real_table[i].slot = dlsym(RTLD_NEXT, real_table[i].name);
    atomic_store_explicit(&mode, wanted_mode(), memory_order_release);
    thread->inside &= ~(uint32_t)IS_OURS;
    return (enum mode)atomic_load_explicit(&mode, memory_order_relaxed);
}

static ALWAYS_INLINE enum mode mode_now(void)
{
    enum mode now = (enum mode)atomic_load_explicit(&mode, memory_order_acquire);

    return LIKELY(now != UNREADY) ? now : make_ready();
}

/* A call on its way through: who makes it, and what was open on that thread before. */
struct passage {
    struct thread_state *thread; /* NULL: not recorded */
    uint32_t inside;
};

/* Something is open on this thread, or was left open by a longjmp: rare. */
static __attribute__((noinline)) struct passage enter_slowly(void)
{
    struct thread_state *thread = &thread_state;
    struct passage passage = {NULL, thread->inside & ~(1u << LAYER_HOST)};

    if (guard_enter(LAYER_HOST))
        passage.thread = thread;
    return passage;
}

/* Only where something is recorded. */
static ALWAYS_INLINE struct passage host_enter(void)
{
    struct thread_state *thread = &thread_state;
    struct passage passage = {thread, thread->inside};

    if (UNLIKELY(passage.inside & (1u << LAYER_HOST | IS_OURS | IS_PUSHING)))
        return enter_slowly();
    thread->inside = passage.inside | 1u << LAYER_HOST;
    thread->frames[LAYER_HOST] = __builtin_frame_address(0);
    atomic_signal_fence(memory_order_seq_cst);
    return passage;
}

static inline void host_leave(struct passage passage)
{
    push_end(passage.thread, passage.inside);
}

/*
 * Nothing was handed out. Apart, as it is rare. A wrong argument is no want of memory, and who asks
 * for nothing may get it. The program looks at errno next.
 */
static NOINLINE void refused(struct passage passage, size_t size, int error,
                             const struct unwind_registers *from)
{
    static POOL(pool, "host");
    int saved_errno = errno;

    if (size && error == ENOMEM) {
        record_host_refused(pool, mt_place_pack((struct mt_place){.device = -1, .module = -1}),
                            size, regions_site(*from));
        torch_cpu_refused(size);
    }
    host_leave(passage);
    errno = saved_errno;
}

/* In the functions below `now` is a constant: RECORDING, STACKS or ALL_STACKS. */
static ALWAYS_INLINE void *made(enum mode now, struct passage passage, void *block, size_t size,
                                const struct unwind_registers *from)
{
    python_call.made = block;
    if (!passage.thread)
        return block;
    if (UNLIKELY(!block))
        refused(passage, size, errno, from);
    else if (now == RECORDING)
        record_host_alloc(passage.thread, passage.inside, block, size, (const void *)from->pc);
    else
        record_host_alloc_with_stack(passage.thread, passage.inside, block, size, from);
    return block;
}

static inline void record_free_by(struct thread_state *thread, const struct unwind_registers *from)
{
    uint32_t stack = call_stacks_capture_free(thread, from);

    record_free_site(call_stacks_site(thread, stack, from->pc));
}

/* A block moves: its end is stamped before the real call, and both halves recorded after it. */
static ALWAYS_INLINE void *moved(enum mode now, struct passage passage, uint64_t ticks,
                                 const void *old_block, void *new_block, size_t size,
                                 const struct unwind_registers *from)
{
    python_call_frees(old_block);
    if (passage.thread && old_block && (new_block || !size)) {
        if (now == ALL_STACKS)
            record_free_by(passage.thread, from);
        record_host_free(passage.thread, passage.inside | 1u << LAYER_HOST, old_block, ticks);
    }
    return made(now, passage, new_block, size, from);
}

static ALWAYS_INLINE void *malloc_in(enum mode now, size_t size,
                                     const struct unwind_registers *from)
{
    struct passage passage = host_enter();

    return made(now, passage, real.malloc(size), size, from);
}

/* SIZE_MAX: more than there can be. */
static ALWAYS_INLINE size_t size_of_all(size_t count, size_t size)
{
    size_t size_bytes;

    return UNLIKELY(__builtin_mul_overflow(count, size, &size_bytes)) ? SIZE_MAX : size_bytes;
}

static ALWAYS_INLINE void *calloc_in(enum mode now, size_t count, size_t size,
                                     const struct unwind_registers *from)
{
    struct passage passage = host_enter();

    return made(now, passage, real.calloc(count, size), size_of_all(count, size), from);
}

static ALWAYS_INLINE void *realloc_in(enum mode now, void *block, size_t size,
                                      const struct unwind_registers *from)
{
    struct passage passage = host_enter();
    uint64_t ticks = passage.thread ? stamp_now_stored(passage.thread) : 0;

    return moved(now, passage, ticks, block, real.realloc(block, size), size, from);
}

static ALWAYS_INLINE void free_in(enum mode now, void *block, const struct unwind_registers *from)
{
    struct passage passage = host_enter();

    python_call_frees(block);
    if (!passage.thread) {
        real.free(block);
        return;
    }
    if (now == ALL_STACKS)
        record_free_by(passage.thread, from);
    record_host_free(passage.thread, passage.inside | 1u << LAYER_HOST, block,
                     stamp_now(passage.thread));
    real.free(block);
    host_leave(passage);
}

/* With stacks, apart, so that the way without them stays short. */
static NOINLINE void *malloc_with_stack(size_t size, const struct unwind_registers *from)
{
    return malloc_in(STACKS, size, from);
}

static NOINLINE void *calloc_with_stack(size_t count, size_t size,
                                        const struct unwind_registers *from)
{
    return calloc_in(STACKS, count, size, from);
}

static NOINLINE void *realloc_with_stack(enum mode now, void *block, size_t size,
                                         const struct unwind_registers *from)
{
    return now == STACKS ? realloc_in(STACKS, block, size, from)
                         : realloc_in(ALL_STACKS, block, size, from);
}

static NOINLINE void free_with_stack(void *block, const struct unwind_registers *from)
{
    free_in(ALL_STACKS, block, from);
}

void *malloc(size_t size)
{
    enum mode now = mode_now();

    if (LIKELY(now == RECORDING))
        return malloc_in(RECORDING, size, UNWIND_CALLER);
    if (now == PASSING)
        return real.malloc(size);
    return now == UNREADY ? first_alloc(size) : malloc_with_stack(size, UNWIND_CALLER);
}

void *calloc(size_t count, size_t size)
{
    enum mode now = mode_now();

    if (LIKELY(now == RECORDING))
        return calloc_in(RECORDING, count, size, UNWIND_CALLER);
    if (now == PASSING)
        return real.calloc(count, size);
    if (now != UNREADY)
        return calloc_with_stack(count, size, UNWIND_CALLER);
    return size && count > SIZE_MAX / size ? NULL : first_alloc(count * size);
}

void free(void *block)
{
    enum mode now;

    if (!block || UNLIKELY(is_first_block(block)))
        return;
    now = mode_now();
    if (LIKELY(now == RECORDING || now == STACKS))
        free_in(RECORDING, block, UNWIND_CALLER);
    else if (now == PASSING)
        real.free(block);
    else if (now != UNREADY)
        free_with_stack(block, UNWIND_CALLER);
}

void *realloc(void *block, size_t size)
{
    enum mode now = mode_now();

    if (UNLIKELY(now == UNREADY))
        return block ? NULL : first_alloc(size);
    if (UNLIKELY(is_first_block(block)))
        return first_grow(block, size);
    if (LIKELY(now == RECORDING))
        return realloc_in(RECORDING, block, size, UNWIND_CALLER);
    if (now == PASSING)
        return real.realloc(block, size);
    return realloc_with_stack(now, block, size, UNWIND_CALLER);
}

/* --- the others: rare, and one way for all modes -------------------------------------------- */

static ALWAYS_INLINE struct passage enter_if_recorded(enum mode now)
{
    return now == PASSING ? (struct passage){NULL, 0} : host_enter();
}

static void *made_rarely(enum mode now, struct passage passage, void *block, size_t size,
                         const struct unwind_registers *from)
{
    return now == RECORDING ? made(RECORDING, passage, block, size, from)
                            : made(STACKS, passage, block, size, from);
}

/* Not by way of realloc: a program may have an allocator that brings only that of its own. */
void *reallocarray(void *block, size_t count, size_t size)
{
    const struct unwind_registers from = unwind_caller();
    enum mode now = mode_now();
    struct passage passage;
    uint64_t ticks;
    /* More than there can be fails, and the block lives on: it was not asked to be freed. */
    size_t size_bytes = size_of_all(count, size);
    void *moved_to;

    if (now == UNREADY || !real.reallocarray) {
        errno = ENOMEM;
        return NULL;
    }
    passage = enter_if_recorded(now);
    ticks = passage.thread ? stamp_now_stored(passage.thread) : 0;
    moved_to = real.reallocarray(block, count, size);
    if (now == RECORDING)
        return moved(RECORDING, passage, ticks, block, moved_to, size_bytes, &from);
    return moved(now == STACKS ? STACKS : ALL_STACKS, passage, ticks, block, moved_to, size_bytes,
                 &from);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    enum mode now = mode_now();
    struct passage passage;
    int error;

    if (now == UNREADY)
        return ENOMEM;
    passage = enter_if_recorded(now);
    error = real.posix_memalign(out, alignment, size);
    if (!error)
        made_rarely(now, passage, *out, size, UNWIND_CALLER);
    else if (passage.thread) /* errno is not its */
        refused(passage, size, error, UNWIND_CALLER);
    return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    enum mode now = mode_now();
    struct passage passage;

    if (now == UNREADY)
        return NULL;
    passage = enter_if_recorded(now);
    return made_rarely(now, passage, real.aligned_alloc(alignment, size), size, UNWIND_CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    enum mode now = mode_now();
    struct passage passage;

    if (now == UNREADY)
        return NULL;
    passage = enter_if_recorded(now);
    return made_rarely(now, passage, real.memalign(alignment, size), size, UNWIND_CALLER);
}

void *valloc(size_t size)
{
    enum mode now = mode_now();
    struct passage passage;

    if (now == UNREADY)
        return NULL;
    passage = enter_if_recorded(now);
    return made_rarely(now, passage, real.valloc(size), size, UNWIND_CALLER);
}

void *pvalloc(size_t size)
{
    enum mode now = mode_now();
    struct passage passage;

    if (now == UNREADY)
        return NULL;
    passage = enter_if_recorded(now);
    return made_rarely(now, passage, real.pvalloc(size), size, UNWIND_CALLER);
}

size_t malloc_usable_size(void *block)
{
    if (!block || mode_now() == UNREADY)
        return 0;
    if (is_first_block(block))
        return (size_t)(first_blocks + FIRST_BYTES - (const char *)block);
    return real.malloc_usable_size(block);
}
