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

#define CALLER __builtin_return_address(0)

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

enum mode { UNREADY, PASSING, RECORDING };
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

/* Finds the real functions. False while this very thread is doing so further out. */
static bool make_ready(void)
{
    struct thread_state *thread = &thread_state;

    if (atomic_load_explicit(&mode, memory_order_acquire) != UNREADY)
        return true;
    if (thread->inside & IS_OURS)
        return real.free != NULL; /* inside dlsym below, or found while reading the options */
    thread->inside |= IS_OURS;
    for (size_t i = 0; i < sizeof(real_table) / sizeof(real_table[0]); i++)
        *real_table[i].slot = dlsym(RTLD_NEXT, real_table[i].name);
    atomic_store_explicit(&mode, config_get()->records_host ? RECORDING : PASSING,
                          memory_order_release);
    thread->inside &= ~(uint32_t)IS_OURS;
    return true;
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

static inline struct passage host_enter(void)
{
    struct thread_state *thread = &thread_state;
    struct passage passage = {thread, thread->inside};

    if (UNLIKELY(atomic_load_explicit(&mode, memory_order_relaxed) != RECORDING))
        return (struct passage){NULL, 0};
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

/* Real functions are known; if not, this thread is looking for them further out. */
static inline bool is_ready(void)
{
    return LIKELY(atomic_load_explicit(&mode, memory_order_acquire) != UNREADY) || make_ready();
}

static inline __attribute__((always_inline)) void *made(struct passage passage, void *block,
                                                        size_t size, const void *site)
{
    if (!passage.thread)
        return block;
    if (LIKELY(block != NULL))
        record_host_alloc(passage.thread, passage.inside, block, size, site);
    else
        host_leave(passage);
    return block;
}

void *malloc(size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return first_alloc(size);
    passage = host_enter();
    return made(passage, real.malloc(size), size, CALLER);
}

void *calloc(size_t count, size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return size && count > SIZE_MAX / size ? NULL : first_alloc(count * size);
    passage = host_enter();
    return made(passage, real.calloc(count, size), count * size, CALLER);
}

void free(void *block)
{
    struct passage passage;

    if (!block || UNLIKELY(is_first_block(block)) || UNLIKELY(!is_ready()))
        return;
    passage = host_enter();
    if (!passage.thread) {
        real.free(block);
        return;
    }
    record_host_free(passage.thread, passage.inside | 1u << LAYER_HOST, block, clock_ticks());
    real.free(block);
    host_leave(passage);
}

/* A block moves: its end is stamped before the real call, and both halves recorded after it. */
static inline void *moved(struct passage passage, uint64_t ticks, const void *old_block,
                          void *new_block, size_t size, const void *site)
{
    if (passage.thread && old_block && (new_block || !size))
        record_host_free(passage.thread, passage.inside | 1u << LAYER_HOST, old_block, ticks);
    return made(passage, new_block, size, site);
}

void *realloc(void *block, size_t size)
{
    struct passage passage;
    uint64_t ticks;

    if (UNLIKELY(!is_ready()))
        return block ? NULL : first_alloc(size);
    if (UNLIKELY(is_first_block(block)))
        return first_grow(block, size);
    passage = host_enter();
    ticks = passage.thread ? clock_ticks() : 0;
    return moved(passage, ticks, block, real.realloc(block, size), size, CALLER);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    struct passage passage;
    uint64_t ticks;

    if (UNLIKELY(!is_ready()) || !real.reallocarray) {
        errno = ENOMEM;
        return NULL;
    }
    passage = host_enter();
    ticks = passage.thread ? clock_ticks() : 0;
    return moved(passage, ticks, block, real.reallocarray(block, count, size), count * size,
                 CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    struct passage passage;
    int error;

    if (UNLIKELY(!is_ready()))
        return ENOMEM;
    passage = host_enter();
    error = real.posix_memalign(out, alignment, size);
    made(passage, error ? NULL : *out, size, CALLER);
    return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return NULL;
    passage = host_enter();
    return made(passage, real.aligned_alloc(alignment, size), size, CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return NULL;
    passage = host_enter();
    return made(passage, real.memalign(alignment, size), size, CALLER);
}

void *valloc(size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return NULL;
    passage = host_enter();
    return made(passage, real.valloc(size), size, CALLER);
}

void *pvalloc(size_t size)
{
    struct passage passage;

    if (UNLIKELY(!is_ready()))
        return NULL;
    passage = host_enter();
    return made(passage, real.pvalloc(size), size, CALLER);
}

size_t malloc_usable_size(void *block)
{
    if (!block || !is_ready())
        return 0;
    if (is_first_block(block))
        return (size_t)(first_blocks + FIRST_BYTES - (const char *)block);
    return real.malloc_usable_size(block);
}
