/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps as msmemscope judges them.
 */
#include "dump_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "list.h"
#include "outlet.h"

static const struct {
    const char *type, *name;
} pools[STEP_POOLS] = {
    [STEP_POOL_ATB] = {"ATB", "ATB memory pool"},
    [STEP_POOL_MINDSPORE] = {"MINDSPORE", "Mindspore memory pool"},
    [STEP_POOL_PTA] = {"PTA", "Pytorch Caching memory pool"},
};

static enum dump_step_pool pool_of(const char *type)
{
    size_t pool = 0;

    while (pool < STEP_POOLS && strcmp(pools[pool].type, type) != 0)
        pool++;
    return (enum dump_step_pool)pool;
}

void dump_steps_release(struct dump_steps *steps)
{
    free(steps->uses);
    free(steps->leaks);
}

void dump_step_begin(struct dump_steps *steps)
{
    if (steps->is_open)
        dump_step_end(steps);
    steps->newest++;
    steps->is_open = true;
    for (size_t i = 0; i < steps->use_count; i++)
        steps->uses[i].has_any = false;
}

/* Products instead of quotients: no digit is lost. */
static int compare_gaps(const struct dump_gap *a, const struct dump_gap *b)
{
    unsigned __int128 left = (unsigned __int128)a->least_bytes * b->most_bytes;
    unsigned __int128 right = (unsigned __int128)b->least_bytes * a->most_bytes;

    return (left > right) - (left < right);
}

static void gap_take(struct dump_step_use *use, uint32_t step)
{
    struct dump_gap gap = {step, use->least_bytes, use->most_bytes};

    if (!use->has_any || !gap.most_bytes)
        return;
    if (!use->narrowest.step || compare_gaps(&gap, &use->narrowest) < 0)
        use->narrowest = gap;
    if (!use->widest.step || compare_gaps(&gap, &use->widest) > 0)
        use->widest = gap;
}

void dump_step_end(struct dump_steps *steps)
{
    if (!steps->is_open)
        return;
    steps->is_open = false;
    steps->newest_ended = steps->newest;
    for (size_t i = 0; steps->newest > 1 && i < steps->use_count; i++)
        gap_take(&steps->uses[i], steps->newest);
}

static struct dump_step_use *use_of(struct dump_steps *steps, enum dump_step_pool pool,
                                    int32_t device)
{
    struct dump_step_use *use;

    for (size_t i = 0; i < steps->use_count; i++)
        if (steps->uses[i].device == device && steps->uses[i].pool == pool)
            return &steps->uses[i];
    if (!list_has_room(&steps->uses, &steps->use_capacity, steps->use_count, sizeof(*use))) {
        steps->has_failed = true;
        return NULL;
    }
    use = &steps->uses[steps->use_count++];
    *use = (struct dump_step_use){.device = device, .pool = pool};
    return use;
}

void dump_steps_use(struct dump_steps *steps, const char *type, int32_t device, uint64_t used_bytes)
{
    enum dump_step_pool pool = pool_of(type);
    struct dump_step_use *use = pool < STEP_POOLS ? use_of(steps, pool, device) : NULL;

    if (!use || !steps->is_open)
        return;
    if (!use->has_any || used_bytes < use->least_bytes)
        use->least_bytes = used_bytes;
    if (!use->has_any || used_bytes > use->most_bytes)
        use->most_bytes = used_bytes;
    use->has_any = true;
}

void dump_steps_judge(struct dump_steps *steps, const struct dump_block *block)
{
    enum dump_step_pool pool = pool_of(block->type);

    if (pool == STEP_POOLS || block->step <= 1 || steps->newest_ended <= block->step)
        return;
    if (!list_has_room(&steps->leaks, &steps->leak_capacity, steps->leak_count,
                       sizeof(*steps->leaks))) {
        steps->has_failed = true;
        return;
    }
    steps->leaks[steps->leak_count++] =
        (struct dump_leak){block->device, pool, block->address, block->size_bytes, block->step};
}

/* --- in words ----------------------------------------------------------------------------------
 */

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static int compare_leaks(const void *a, const void *b)
{
    const struct dump_leak *first = a, *second = b;

    if (first->device != second->device)
        return first->device > second->device ? 1 : -1;
    if (first->step != second->step)
        return first->step > second->step ? 1 : -1;
    return compare_numbers(first->address, second->address);
}

/* Those of one device, from `first` on; returns the first of the next. */
static size_t print_leaks(const struct dump_steps *steps, size_t first, struct outlet *out)
{
    int32_t device = steps->leaks[first].device;
    uint64_t sum = 0;
    size_t i = first;

    outlet_format(out, "====== ERROR: Detected memory leaks on device %d ======\n", device);
    for (; i < steps->leak_count && steps->leaks[i].device == device; i++) {
        const struct dump_leak *leak = &steps->leaks[i];

        outlet_format(out, "Direct %s leak of %f Mb(s) at 0x%" PRIx64 " in kernel_0 at step %u.\n",
                      pools[leak->pool].name, mebibytes(leak->size_bytes), leak->address,
                      leak->step);
        sum += leak->size_bytes;
    }
    outlet_format(out, "====== SUMMARY: %g Mb(s) leaked in %zu allocation(s) ======\n",
                  mebibytes(sum), i - first);
    return i;
}

static void print_gap(const char *name, const struct dump_gap *gap, struct outlet *out)
{
    double percent = gap->most_bytes ? 100 * (double)gap->least_bytes / (double)gap->most_bytes : 0;

    outlet_format(out, "%s\t%-25.4f%-25.4f%-25u\n", name, percent, mebibytes(gap->least_bytes),
                  gap->step);
}

static int compare_uses(const void *a, const void *b)
{
    const struct dump_step_use *first = a, *second = b;

    if (first->device != second->device)
        return first->device > second->device ? 1 : -1;
    return (int)first->pool - (int)second->pool;
}

void dump_steps_print(struct dump_steps *steps, FILE *file)
{
    struct outlet *out = outlet_create(FOR_TERMINAL, file);

    if (steps->leak_count)
        qsort(steps->leaks, steps->leak_count, sizeof(*steps->leaks), compare_leaks);
    for (size_t i = 0; i < steps->leak_count;)
        i = print_leaks(steps, i, out);
    if (steps->use_count)
        qsort(steps->uses, steps->use_count, sizeof(*steps->uses), compare_uses);
    for (size_t i = 0; i < steps->use_count; i++) {
        const struct dump_step_use *use = &steps->uses[i];

        outlet_format(out, "======= %s Gap Analysis of Device %d =======\n", pools[use->pool].name,
                      use->device);
        outlet_format(out, "\t%-25s%-25s%-25s\n", "MinAlloc/MaxAlloc(%)", "MinAllocMem(MB)",
                      "StepId");
        print_gap("MinGap", &use->narrowest, out);
        print_gap("MaxGap", &use->widest, out);
    }
    outlet_destroy(out);
}
