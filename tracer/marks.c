/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says about itself through leaktide/tracer.h, on its way to the recorder.
 *
 * Steps belong to the process: at most one is open. Ranges and tags nest per thread; of ranges
 * deeper than RANGES only the number is kept, so that each pop still meets its push.
 */
#include "leaktide/tracer.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "config.h"
#include "guard.h"
#include "leaktide/format.h"
#include "recorder.h"
#include "watch.h"

#define MARKS_EXPORT __attribute__((visibility("default")))

enum { RANGES = 64, TENSOR_READ = 1, TENSOR_WRITE = 2, TENSOR_OUTPUT = 4 };

struct open_marks {
    uint64_t ranges[RANGES];
    uint32_t range_count; /* may pass RANGES */
    uint32_t tag_count;
};

static __thread struct open_marks open_marks __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t open_step; /* 0: none */

static void step_close(uint64_t step)
{
    if (step)
        record_step_end(step);
}

static void step_begin(void)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    step_close(atomic_exchange(&open_step, 0));
    /* Two threads that begin at once: the one that comes last ends the other's. */
    step_close(atomic_exchange(&open_step, record_step_begin(0)));
    guard_leave(LAYER_MARKS);
}

static void step_end(void)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    step_close(atomic_exchange(&open_step, 0));
    guard_leave(LAYER_MARKS);
}

static void range_push(const char *name)
{
    struct open_marks *open = &open_marks;

    if (!guard_enter(LAYER_MARKS))
        return;
    if (open->range_count < RANGES) {
        uint64_t range = recorder_new_range();

        open->ranges[open->range_count] = range;
        record_range_begin(range, text_of(name), text_of(NULL));
    }
    open->range_count++;
    guard_leave(LAYER_MARKS);
}

static void range_pop(void)
{
    struct open_marks *open = &open_marks;

    if (open->range_count == 0 || !guard_enter(LAYER_MARKS))
        return;
    open->range_count--;
    if (open->range_count < RANGES)
        record_range_end(open->ranges[open->range_count]);
    guard_leave(LAYER_MARKS);
}

static void mark(const char *name)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    record_mark(text_of(name), text_of(NULL));
    guard_leave(LAYER_MARKS);
}

static void tag_push(const char *owner)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    open_marks.tag_count++;
    record_tag_begin(text_of(owner));
    guard_leave(LAYER_MARKS);
}

/* Tags nest, so the end needs no name. */
static void tag_pop(void)
{
    if (open_marks.tag_count == 0 || !guard_enter(LAYER_MARKS))
        return;
    open_marks.tag_count--;
    record_tag_end(text_of(NULL));
    guard_leave(LAYER_MARKS);
}

static void tag_block(const void *address, const char *owner)
{
    if (!address || !guard_enter(LAYER_MARKS))
        return;
    record_note(&(struct note){
        .subject = text_of("block owner"), .text = text_of(owner), .first = (uintptr_t)address});
    guard_leave(LAYER_MARKS);
}

static void note(const char *subject, const char *text, uint64_t first, uint64_t second)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    record_note(&(struct note){
        .subject = text_of(subject), .text = text_of(text), .first = first, .second = second});
    guard_leave(LAYER_MARKS);
}

static void operator_begin(const char *name)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    if (!config_get()->passes_operators)
        record_operator_begin(text_of(name));
    if (watch_is_on())
        watch_operator_begin(&(struct watched_operator){.name = text_of(name)});
    guard_leave(LAYER_MARKS);
}

static void operator_end(const char *name)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    if (!config_get()->passes_operators)
        record_operator_end(text_of(name));
    if (watch_is_on())
        watch_operator_end(&(struct watched_operator){.name = text_of(name)});
    guard_leave(LAYER_MARKS);
}

static void tensor_access(const char *pool, const void *address, uint64_t size_bytes, int flags,
                          const char *operator_name, const char *dtype, const char *shape)
{
    const struct tensor_use use = {.address = (uintptr_t)address,
                                   .size_bytes = size_bytes,
                                   .flags = (uint64_t)flags & (TENSOR_READ | TENSOR_WRITE),
                                   .operator_name = text_of(operator_name),
                                   .dtype = text_of(dtype),
                                   .shape = text_of(shape)};

    if (!address || !guard_enter(LAYER_MARKS))
        return;
    if (config_get()->records_accesses)
        record_tensor_access(text_of(pool), &use);
    if (flags & TENSOR_OUTPUT && watch_is_on())
        watch_output(use.address, use.size_bytes);
    guard_leave(LAYER_MARKS);
}

static struct text pool_name(const char *pool)
{
    return text_of(pool && *pool ? pool : "private");
}

static uint64_t pool_place(int device)
{
    return mt_place_pack((struct mt_place){.device = device < 0 ? -1 : device,
                                           .kind = device < 0 ? MT_KIND_HOST : MT_KIND_DEVICE,
                                           .module = -1});
}

static void pool_alloc(const char *pool, int device, const void *address, uint64_t size_bytes)
{
    struct call_site site;

    if (!guard_enter(LAYER_MARKS))
        return;
    site = recorder_site(LAYER_MARKS, unwind_caller());
    if (address)
        record_alloc(pool_name(pool), pool_place(device), (uintptr_t)address, size_bytes, site);
    else
        record_alloc_failed(pool_name(pool), pool_place(device), size_bytes, 0, site);
    guard_leave(LAYER_MARKS);
}

static void pool_free(const char *pool, const void *address)
{
    if (!address || !guard_enter(LAYER_MARKS))
        return;
    record_free(pool_name(pool), (uintptr_t)address);
    guard_leave(LAYER_MARKS);
}

static void pool_reserved(const char *pool, int device, uint64_t size_bytes)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    record_pool_reserved(pool_name(pool), pool_place(device), size_bytes);
    guard_leave(LAYER_MARKS);
}

MARKS_EXPORT const struct mt_tracer_functions *mt_tracer_functions(void);
const struct mt_tracer_functions *mt_tracer_functions(void)
{
    static const struct mt_tracer_functions functions = {
        .size_bytes = sizeof(functions),
        .step_begin = step_begin,
        .step_end = step_end,
        .range_push = range_push,
        .range_pop = range_pop,
        .mark = mark,
        .tag_push = tag_push,
        .tag_pop = tag_pop,
        .pool_alloc = pool_alloc,
        .pool_free = pool_free,
        .pool_reserved = pool_reserved,
        .tag_block = tag_block,
        .note = note,
        .operator_begin = operator_begin,
        .operator_end = operator_end,
        .tensor_access = tensor_access,
    };

    return &functions;
}
