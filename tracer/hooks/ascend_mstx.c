/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving end of mstx, through which programs and frameworks tell about marks, ranges and
 * memory pools of their own.
 *
 * mstx is header-only: each library of the program has its own table of functions and calls
 * InitInjectionMstx once to have it filled. It finds us in the preloaded library, or by
 * MSTX_INJECTION_PATH.
 *
 * Domains name pools. The frameworks differ in what they fill in, and leave the rest
 * uninitialised, so each domain says what may be looked at:
 *
 *   domain            pool           heap size is        usage, type, heap, handle array
 *   msleaks           pta            the total, now      never touched
 *   ptaCaching        pta            the total, now      never touched
 *   ptaWorkspace      pta_workspace  the total, now      never touched; a region registered again
 *                                                        replaces the one that was there
 *   mindsporeMemPool  mindspore      the total, now      never touched
 *   atb               atb            one heap of many    as specified: handles are filled
 *   any other         its name       one heap of many    as specified
 *
 * The handle of a region or a heap is its address, so references by pointer and by handle are the
 * same. Invariant: a handle of a domain points into `domains`; anything else is the default domain.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "ascend_abi.h"
#include "ascend_device.h"
#include "ascend_mstx.h"
#include "config.h"
#include "device_blocks.h"
#include "device_memory.h"
#include "hook.h"
#include "mstx_text.h"
#include "watch.h"

enum {
    DOMAIN_MAX = 64,
    DOMAIN_NAME_MAX = 64,
    OPEN_STEPS_MAX = 64,
};

enum domain_state { DOMAIN_FREE, DOMAIN_WRITING, DOMAIN_READY };

struct domain {
    char name[DOMAIN_NAME_MAX];
    char pool[DOMAIN_NAME_MAX];
    bool follows_specification; /* all fields are filled in, handles are expected */
    bool replaces_regions;
    _Atomic int state;
    _Atomic uint64_t heap_bytes[DEVICES_MAX + 1]; /* by device + 1: what was recorded last */
};

static struct domain domains[DOMAIN_MAX] = {
    {.name = "", .pool = "mstx", .follows_specification = true, .state = DOMAIN_READY},
    {.name = "msleaks", .pool = "pta", .state = DOMAIN_READY},
    {.name = "ptaCaching", .pool = "pta", .state = DOMAIN_READY},
    {.name = "ptaWorkspace",
     .pool = "pta_workspace",
     .replaces_regions = true,
     .state = DOMAIN_READY},
    {.name = "mindsporeMemPool", .pool = "mindspore", .state = DOMAIN_READY},
};

/* The newest steps that are ranges; a step ends when its own range does. */
static struct {
    _Atomic uint64_t range;
    _Atomic uint64_t step;
} open_steps[OPEN_STEPS_MAX];

static struct domain *domain_find(struct text name)
{
    for (size_t i = 0; i < DOMAIN_MAX; i++) {
        struct domain *domain = &domains[i];

        if (atomic_load_explicit(&domain->state, memory_order_acquire) == DOMAIN_READY &&
            strlen(domain->name) == name.size_bytes &&
            memcmp(domain->name, name.bytes, name.size_bytes) == 0)
            return domain;
    }
    return NULL;
}

/* The default domain when all are taken. */
static struct domain *domain_add(struct text name)
{
    for (size_t i = 0; i < DOMAIN_MAX; i++) {
        struct domain *domain = &domains[i];
        int expected = DOMAIN_FREE;

        if (!atomic_compare_exchange_strong(&domain->state, &expected, DOMAIN_WRITING))
            continue;
        memcpy(domain->name, name.bytes, name.size_bytes);
        memcpy(domain->pool, name.bytes, name.size_bytes);
        domain->follows_specification = true;
        atomic_store_explicit(&domain->state, DOMAIN_READY, memory_order_release);
        return domain;
    }
    return &domains[0];
}

static struct domain *domain_of(const void *handle)
{
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)domains;
    size_t index = offset / sizeof(struct domain);

    if (index >= DOMAIN_MAX || offset % sizeof(struct domain) ||
        atomic_load_explicit(&domains[index].state, memory_order_acquire) != DOMAIN_READY)
        return &domains[0];
    return &domains[index];
}

static void *domain_create(const char *name)
{
    struct text text = mstx_text(name);
    struct domain *domain;

    if (text.size_bytes >= DOMAIN_NAME_MAX)
        text.size_bytes = DOMAIN_NAME_MAX - 1;
    if (!text.size_bytes)
        return &domains[0];
    domain = domain_find(text);
    return domain ? domain : domain_add(text);
}

/* A domain may be created again under its name, and pools outlive it: nothing goes. */
static void domain_destroy(void *handle)
{
    (void)handle;
}

static POOL(pool_of_tensors, "pta");

static void accesses_record(struct text list, struct text name, uint64_t access)
{
    struct tensor_use use = {.flags = access, .operator_name = name};

    while (mstx_access_next(&list, &use.address, &use.size_bytes)) {
        if (config_get()->records_accesses)
            record_tensor_access(pool_of_tensors, &use);
        if (access == MSTX_WRITE && watch_is_on())
            watch_output(use.address, use.size_bytes);
    }
}

static void access_record(const struct mstx_mark *mark)
{
    const struct tensor_use use = {.address = mark->address,
                                   .size_bytes = mark->size_bytes,
                                   .flags = mark->access & (MSTX_READ | MSTX_WRITE),
                                   .operator_name = mark->name,
                                   .dtype = mark->dtype,
                                   .shape = mark->shape};

    if (config_get()->records_accesses)
        record_tensor_access(pool_of_tensors, &use);
    if (mark->access & MSTX_OUTPUT && watch_is_on())
        watch_output(mark->address, mark->size_bytes);
}

static void operator_begin(struct text name, void *stream)
{
    if (!config_get()->passes_operators)
        record_operator_begin(name);
    if (watch_is_on())
        watch_operator_begin(&(struct watched_operator){.name = name, .stream = stream});
}

static void operator_end(struct text name, void *stream)
{
    if (!config_get()->passes_operators)
        record_operator_end(name);
    if (watch_is_on())
        watch_operator_end(&(struct watched_operator){.name = name, .stream = stream});
}

static void mark_record(struct text message, struct text domain, void *stream)
{
    struct mstx_mark mark = mstx_mark_read(message);

    switch (mark.kind) {
    case MSTX_MARK_PLAIN:
        record_mark(message, domain);
        break;
    case MSTX_MARK_OPERATOR_BEGIN:
        operator_begin(mark.name, stream);
        break;
    case MSTX_MARK_OPERATOR_END:
        operator_end(mark.name, stream);
        break;
    case MSTX_MARK_ACCESS:
        access_record(&mark);
        break;
    case MSTX_MARK_ACCESSES:
        if (!config_get()->records_accesses && !watch_is_on())
            break;
        operator_begin(mark.name, stream);
        accesses_record(mark.reads, mark.name, MSTX_READ);
        accesses_record(mark.writes, mark.name, MSTX_WRITE);
        operator_end(mark.name, stream);
        break;
    }
}

static void mark_in(const struct domain *domain, const char *message, void *stream)
{
    if (!guard_enter(LAYER_MSTX))
        return;
    mark_record(mstx_text(message), text_of(domain->name), stream);
    guard_leave(LAYER_MSTX);
}

static void step_open(uint64_t range)
{
    uint64_t step = record_step_begin(range);
    size_t index = (size_t)(step % OPEN_STEPS_MAX);

    atomic_store_explicit(&open_steps[index].step, step, memory_order_relaxed);
    atomic_store_explicit(&open_steps[index].range, range, memory_order_release);
}

static void step_close(uint64_t range)
{
    for (size_t i = 0; i < OPEN_STEPS_MAX; i++) {
        uint64_t expected = range;

        if (atomic_load_explicit(&open_steps[i].range, memory_order_acquire) == range &&
            atomic_compare_exchange_strong(&open_steps[i].range, &expected, 0)) {
            record_step_end(atomic_load_explicit(&open_steps[i].step, memory_order_relaxed));
            return;
        }
    }
}

static uint64_t range_start_in(const struct domain *domain, const char *message)
{
    struct text text = mstx_text(message);
    uint64_t range;

    if (!message || !guard_enter(LAYER_MSTX))
        return 0;
    range = recorder_new_range();
    record_range_begin(range, text, text_of(domain->name));
    if (mstx_is_step(text))
        step_open(range);
    guard_leave(LAYER_MSTX);
    return range;
}

static void range_end(uint64_t range)
{
    if (!range || !guard_enter(LAYER_MSTX))
        return;
    step_close(range);
    record_range_end(range);
    guard_leave(LAYER_MSTX);
}

static void core_mark(const char *message, void *stream)
{
    mark_in(&domains[0], message, stream);
}

static uint64_t core_range_start(const char *message, void *stream)
{
    (void)stream;
    return range_start_in(&domains[0], message);
}

static void core_tool_id(uint64_t *id)
{
    if (id)
        *id = MSTX_TOOL_ID;
}

static void domain_mark(void *handle, const char *message, void *stream)
{
    mark_in(domain_of(handle), message, stream);
}

static uint64_t domain_range_start(void *handle, const char *message, void *stream)
{
    (void)stream;
    return range_start_in(domain_of(handle), message);
}

static void domain_range_end(void *handle, uint64_t range)
{
    (void)handle;
    range_end(range);
}

static int32_t range_device(const struct mstx_virtual_range *range)
{
    return range->device < UINT16_MAX ? ascend_physical_device((int32_t)range->device) : -1;
}

static uint64_t range_place(const struct mstx_virtual_range *range)
{
    return mt_place_pack(
        (struct mt_place){.device = range_device(range), .kind = MT_KIND_DEVICE, .module = -1});
}

static enum block_space domain_space(const struct domain *domain, enum block_space first)
{
    return (enum block_space)((int)first + (int)(domain - domains));
}

static _Atomic uint64_t *heap_bytes_of(struct domain *domain, uint64_t place)
{
    size_t index = (size_t)mt_place_unpack(place).device + 1; /* 0 for none */

    return &domain->heap_bytes[index <= DEVICES_MAX ? index : 0];
}

/* What is left of a heap that is registered under this address, now that it goes. */
static void heap_forget(struct domain *domain, uint64_t address)
{
    struct block_ending ending;

    device_block_end(domain_space(domain, SPACE_MSTX_HEAP), address, NULL, &ending);
    for (unsigned i = 0; i < ending.count; i++) {
        const struct device_block *heap = &ending.ended[i].block;
        uint64_t before = atomic_fetch_sub(heap_bytes_of(domain, heap->place), heap->size_bytes);

        record_pool_reserved(text_of(domain->pool), heap->place, before - heap->size_bytes);
    }
}

static void heap_add(struct domain *domain, const struct mstx_virtual_range *range)
{
    struct device_block heap = {.place = range_place(range), .size_bytes = range->size_bytes};
    uint64_t before;

    heap_forget(domain, (uintptr_t)range->address);
    before = atomic_fetch_add(heap_bytes_of(domain, heap.place), heap.size_bytes);
    device_block_begin(domain_space(domain, SPACE_MSTX_HEAP), (uintptr_t)range->address, &heap);
    record_pool_reserved(text_of(domain->pool), heap.place, before + heap.size_bytes);
}

/* Frameworks tell the total with every block, mostly the same: that is news only once. */
static void heap_total(struct domain *domain, const struct mstx_virtual_range *range)
{
    uint64_t place = range_place(range);

    if (atomic_exchange(heap_bytes_of(domain, place), range->size_bytes) != range->size_bytes)
        record_pool_reserved(text_of(domain->pool), place, range->size_bytes);
}

static void *heap_register(void *handle, const struct mstx_heap *heap)
{
    struct domain *domain = domain_of(handle);
    const struct mstx_virtual_range *range = heap ? heap->range : NULL;

    if (!range || (domain->follows_specification && heap->type != 0))
        return domain;
    if (device_hook_enter(LAYER_MSTX)) {
        if (domain->follows_specification)
            heap_add(domain, range);
        else
            heap_total(domain, range);
        guard_leave(LAYER_MSTX);
    }
    return range->address ? (void *)(uintptr_t)range->address : domain;
}

static void heap_unregister(void *handle, void *heap)
{
    struct domain *domain = domain_of(handle);

    if (!domain->follows_specification || !device_hook_enter(LAYER_MSTX))
        return;
    heap_forget(domain, (uintptr_t)heap);
    guard_leave(LAYER_MSTX);
}

/* A free says no size, so what is watched for is remembered with its size. */
static bool remembers_regions(const struct domain *domain)
{
    return domain->replaces_regions || config_get()->watch[0];
}

static void region_begin(struct domain *domain, const struct mstx_virtual_range *range,
                         struct call_site site)
{
    struct text pool = text_of(domain->pool);
    struct device_block block = {
        .place = range_place(range), .size_bytes = range->size_bytes, .site = site};
    struct block_ending ending;

    if (remembers_regions(domain)) {
        /* Only remembered; what was there is freed first. */
        enum block_space space = domain_space(domain, SPACE_MSTX_REGION);

        device_block_end(space, (uintptr_t)range->address, NULL, &ending);
        if (ending.count && domain->replaces_regions)
            record_free(pool, (uintptr_t)range->address);
        device_block_begin(space, (uintptr_t)range->address, &block);
    }
    record_alloc(pool, block.place, (uintptr_t)range->address, range->size_bytes, site);
}

static void region_end(struct domain *domain, uint64_t address)
{
    struct block_ending ending;

    record_free(text_of(domain->pool), address);
    if (watch_is_on())
        watch_forget(address, 0);
    if (remembers_regions(domain))
        device_block_end(domain_space(domain, SPACE_MSTX_REGION), address, NULL, &ending);
}

static void regions_register(void *handle, const struct mstx_regions *regions)
{
    struct domain *domain = domain_of(handle);

    if (!regions || !regions->ranges || (domain->follows_specification && regions->type != 0))
        return;
    if (device_hook_enter(LAYER_MSTX)) {
        const struct call_site site = recorder_site(LAYER_MSTX, unwind_caller());

        for (size_t i = 0; i < regions->count; i++)
            region_begin(domain, &regions->ranges[i], site);
        guard_leave(LAYER_MSTX);
    }
    for (size_t i = 0; domain->follows_specification && regions->handles && i < regions->count; i++)
        regions->handles[i] = (void *)(uintptr_t)regions->ranges[i].address;
}

static void regions_unregister(void *handle, const struct mstx_region_references *references)
{
    struct domain *domain = domain_of(handle);

    if (!references || !references->references || !device_hook_enter(LAYER_MSTX))
        return;
    for (size_t i = 0; i < references->count; i++)
        region_end(domain, (uintptr_t)references->references[i].address);
    guard_leave(LAYER_MSTX);
}

int mstx_inject(mstx_table_getter get)
{
    static const struct {
        int module;
        unsigned index;
        mstx_function function;
    } functions[] = {
        {MSTX_MODULE_CORE, 1, (mstx_function)core_mark},
        {MSTX_MODULE_CORE, 2, (mstx_function)core_range_start},
        {MSTX_MODULE_CORE, 3, (mstx_function)range_end},
        {MSTX_MODULE_CORE, 4, (mstx_function)core_tool_id},
        {MSTX_MODULE_DOMAIN, 1, (mstx_function)domain_create},
        {MSTX_MODULE_DOMAIN, 2, (mstx_function)domain_destroy},
        {MSTX_MODULE_DOMAIN, 3, (mstx_function)domain_mark},
        {MSTX_MODULE_DOMAIN, 4, (mstx_function)domain_range_start},
        {MSTX_MODULE_DOMAIN, 5, (mstx_function)domain_range_end},
        {MSTX_MODULE_MEMORY, 1, (mstx_function)heap_register},
        {MSTX_MODULE_MEMORY, 2, (mstx_function)heap_unregister},
        {MSTX_MODULE_MEMORY, 3, (mstx_function)regions_register},
        {MSTX_MODULE_MEMORY, 4, (mstx_function)regions_unregister},
    };
    bool is_injected = false;

    if (!get)
        return 1;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        mstx_function **table = NULL;
        unsigned last_index = 0;

        if (get(functions[i].module, &table, &last_index) != 0 || !table ||
            functions[i].index > last_index || !table[functions[i].index])
            continue;
        *table[functions[i].index] = functions[i].function;
        is_injected = true;
    }
    return is_injected ? 0 : 1;
}
