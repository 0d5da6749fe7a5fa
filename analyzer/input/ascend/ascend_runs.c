/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of a run overlap, or follow each other soon. A process may record several, but a rank
 * is one process.
 */
#include "ascend_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "leaktide/invariant.h"
#include "sentence.h"

static const uint64_t second_ns = 1000000000, soon_ns = UINT64_C(3600) * 1000000000;

static int compare_beginnings(const void *left, const void *right)
{
    const struct ascend_rank_files *const *a = left, *const *b = right;

    return (*a)->first_ns < (*b)->first_ns ? -1 : (*a)->first_ns > (*b)->first_ns;
}

/* Two processes were this rank, one after the other. */
static bool are_two(const struct model_process *a, const struct model_process *b)
{
    return a->rank >= 0 && a->rank == b->rank && a->process_id && b->process_id &&
           a->process_id != b->process_id;
}

static bool is_same_process(const struct model_process *a, const struct model_process *b)
{
    return a->rank == b->rank && a->process_id && a->process_id == b->process_id;
}

/* Whether the last of these is of the same run as those before, which end at end_ns. */
static bool goes_on(struct ascend_rank_files *const *ranks, size_t count, uint64_t end_ns)
{
    const struct ascend_rank_files *next = ranks[count - 1];
    bool is_soon = next->first_ns <= end_ns || next->first_ns - end_ns <= soon_ns;

    MT_ASSERT(count > 1);
    if (next->first_ns <= end_ns)
        return true;
    for (size_t i = 0; i + 1 < count; i++) {
        if (is_same_process(&ranks[i]->process, &next->process))
            return true;
        if (are_two(&ranks[i]->process, &next->process))
            is_soon = false;
    }
    return is_soon;
}

static void write_span(char *out, size_t size_bytes, uint64_t ns)
{
    uint64_t seconds = ns / second_ns;

    if (seconds >= UINT64_C(2) * 86400)
        snprintf(out, size_bytes, translated("%" PRIu64 " days"), seconds / 86400);
    else if (seconds >= UINT64_C(2) * 3600)
        snprintf(out, size_bytes, translated("%" PRIu64 " hours"), seconds / 3600);
    else
        snprintf(out, size_bytes, translated("%" PRIu64 " minutes"), seconds / 60);
}

enum mt_result ascend_runs_check(const struct model *model, struct ascend_rank_files **ranks,
                                 size_t count, const char *path, struct mt_error *error)
{
    size_t run_count = 1, first = 0;
    uint64_t end_ns = count ? ranks[0]->last_ns : 0;
    char span[64];

    for (size_t i = 0; i < count; i++) {
        MT_ASSERT(!ranks[i]->is_plan); /* numbers of nodes are no times */
        MT_ASSERT(ranks[i]->first_ns != UINT64_MAX);
    }
    if (count)
        qsort(ranks, count, sizeof(struct ascend_rank_files *), compare_beginnings);
    for (size_t i = 0; i < count; i++) {
        if (i && !goes_on(ranks + first, i - first + 1, end_ns)) {
            first = i;
            run_count++;
        }
        if (i == first || ranks[i]->last_ns > end_ns)
            end_ns = ranks[i]->last_ns;
    }
    if (run_count == 1)
        return MT_OK;
    write_span(span, sizeof(span), ranks[first]->first_ns - ranks[0]->first_ns);
    return mt_error_set(error, MT_USAGE,
                        "%s: %zu runs, %s apart. Name one; the newest begins in %s", path,
                        run_count, span, model_text_at(model, ranks[first]->process.source));
}
