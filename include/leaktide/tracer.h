/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tell leaktide what the program is doing: steps, ranges, marks, owners, private pools.
 *
 * Header-only: nothing to link, and harmless when no tracer is loaded: each call then costs one
 * load and one branch. With glibc before 2.34, link with -ldl. C11 and C++11.
 *
 *     for (int i = 0; i < steps; i++) {
 *         mt_step_begin();
 *         mt_range_push("forward");
 *         ...
 *         mt_range_pop();
 *         mt_step_end();
 *     }
 *
 * Strings are UTF-8, borrowed for the call; NULL is taken as "". All calls are safe from any
 * thread. Ranges and tags nest per thread; steps belong to the process.
 */
#ifndef LEAKTIDE_TRACER_H
#define LEAKTIDE_TRACER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the tracer exports, as mt_tracer_functions(). Entries are only ever added at the end;
 * size_bytes tells how many there are.
 */
struct mt_tracer_functions {
    size_t size_bytes;
    void (*step_begin)(void);
    void (*step_end)(void);
    void (*range_push)(const char *name);
    void (*range_pop)(void);
    void (*mark)(const char *name);
    void (*tag_push)(const char *owner);
    void (*tag_pop)(void);
    void (*pool_alloc)(const char *pool, int device, const void *address, uint64_t size_bytes);
    void (*pool_free)(const char *pool, const void *address);
    void (*pool_reserved)(const char *pool, int device, uint64_t size_bytes);
    void (*tag_block)(const void *address, const char *owner);
    /* For bindings: a record `note`, by its subjects in trace-format.md. */
    void (*note)(const char *subject, const char *text, uint64_t first, uint64_t second);
    /* For frameworks: an operator runs, on this thread; it reads (bit 0) or writes (bit 1) a
     * tensor, or makes it as an output (bit 2). */
    void (*operator_begin)(const char *name);
    void (*operator_end)(const char *name);
    void (*tensor_access)(const char *pool, const void *address, uint64_t size_bytes, int flags,
                          const char *operator_name, const char *dtype, const char *shape);
};

typedef const struct mt_tracer_functions *(*mt_tracer_functions_getter)(void);

/* NULL when no tracer is loaded. Looked up once; two threads that race find the same answer. */
static inline const struct mt_tracer_functions *mt_tracer(void)
{
    static const struct mt_tracer_functions none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct mt_tracer_functions *found;
    const struct mt_tracer_functions *functions = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

    if (!functions) {
        mt_tracer_functions_getter getter;

        *(void **)&getter = dlsym(RTLD_DEFAULT, "mt_tracer_functions");
        functions = getter ? getter() : &none;
        __atomic_store_n(&found, functions, __ATOMIC_RELEASE);
    }
    return functions->size_bytes ? functions : NULL;
}

/* One iteration of the program starts. A step that is still open ends here. */
static inline void mt_step_begin(void)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->step_begin();
}

static inline void mt_step_end(void)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->step_end();
}

/* A named part of a step, on this thread: "forward", "attention". */
static inline void mt_range_push(const char *name)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->range_push(name);
}

/* Ends the innermost open range of this thread; without one, nothing happens. */
static inline void mt_range_pop(void)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->range_pop();
}

/* An instant worth finding again. */
static inline void mt_mark(const char *name)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->mark(name);
}

/* Blocks that this thread gets until mt_tag_pop() belong to `owner`, as in "model@weight". */
static inline void mt_tag_push(const char *owner)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->tag_push(owner);
}

static inline void mt_tag_pop(void)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->tag_pop();
}

/*
 * The block that holds `address` belongs to `owner` as well, from its alloc on: of all pools, the
 * smallest block that holds it. It must be alive.
 */
static inline void mt_tag_block(const void *address, const char *owner)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t && t->size_bytes > offsetof(struct mt_tracer_functions, tag_block))
        t->tag_block(address, owner);
}

/*
 * A private pool hands out `size_bytes` at `address` on `device` (-1: host memory). With address
 * NULL, the pool could not serve the request.
 * Call mt_pool_free before the block can be handed out again, mt_pool_alloc after it was.
 */
#if defined(__GNUC__)
__attribute__((always_inline)) /* so that the caller is the site, also without optimization */
#endif
static inline void
mt_pool_alloc(const char *pool, int device, const void *address, uint64_t size_bytes)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->pool_alloc(pool, device, address, size_bytes);
}

static inline void mt_pool_free(const char *pool, const void *address)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->pool_free(pool, address);
}

/* What the pool holds from below now, in bytes. */
static inline void mt_pool_reserved(const char *pool, int device, uint64_t size_bytes)
{
    const struct mt_tracer_functions *t = mt_tracer();

    if (t)
        t->pool_reserved(pool, device, size_bytes);
}

#ifdef __cplusplus
}
#endif

#endif
