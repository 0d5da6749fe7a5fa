/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of ranks, as their summaries have them.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "labels.h"
#include "sentence.h"

/* A cache that grows is no finding, but a verdict of a site. */
static const char cache_verdict[] = "growing cache";

struct seen {
    const char *key, *device, *pool, *site;
    uint64_t growth, bytes;
    size_t repeat;
    bool is_cache;
};

static void note(const struct gate *gate, struct gate_verdict *verdict, const struct seen *seen)
{
    struct arena *texts = &verdict->arena;
    struct gate_leak *row = gate_leak_for(verdict, seen->key);

    if (!row)
        return;
    if (!row->repeat_count || row->last_repeat != seen->repeat)
        row->repeat_count++;
    row->last_repeat = seen->repeat;
    row->device = seen->device;
    row->pool = seen->pool;
    row->is_cache = seen->is_cache;
    if (!row->where.label || seen->growth > row->growth_per_step) {
        row->growth_per_step = seen->growth;
        row->where = place_of_label(texts, seen->site);
        row->sentence = seen->growth
                            ? sentence(texts, "%s per step at %s (%s)",
                                       label_size(texts, seen->growth), seen->site, seen->pool)
                            : sentence(texts, "%s stay at %s (%s)", label_size(texts, seen->bytes),
                                       seen->site, seen->pool);
    }
    if (seen->bytes > row->alive_bytes)
        row->alive_bytes = seen->bytes;
    if (!row->suppression)
        row->suppression = gate_suppression_of(gate, seen->site, NULL, 0);
}

static void see(const struct gate *gate, struct gate_verdict *verdict, struct seen *seen,
                int32_t device, const char *site_key)
{
    struct arena *texts = &verdict->arena;

    seen->device = device_key(texts, pool_by_name(seen->pool)->family, seen->pool, device);
    seen->pool = arena_copy(texts, seen->pool);
    seen->site = arena_copy(texts, seen->site);
    seen->key =
        arena_format(texts, "%s/%s/leak/%s", seen->device, key_name(texts, seen->pool), site_key);
    note(gate, verdict, seen);
}

static int32_t device_at(const struct summary *summary, enum summary_column column, size_t row)
{
    return summary_has(summary, column, row) ? (int32_t)summary_number(summary, column, row) : -1;
}

/* Findings have no device: it is that of the site of the same key, of the same process, or of a
 * ledger of this pool. */
static int32_t device_of(const struct summary *summary, size_t finding)
{
    int64_t process = summary_number(summary, COLUMN_findings_process_key, finding);

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++)
        if (summary_number(summary, COLUMN_sites_site_key, row) ==
                summary_number(summary, COLUMN_findings_site_key, finding) &&
            summary_number(summary, COLUMN_sites_process_key, row) == process)
            return device_at(summary, COLUMN_sites_device, row);
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ledgers); row++)
        if (summary_number(summary, COLUMN_ledgers_process_key, row) == process &&
            summary_number(summary, COLUMN_ledgers_pool, row) ==
                summary_number(summary, COLUMN_findings_pool, finding))
            return device_at(summary, COLUMN_ledgers_device, row);
    return -1;
}

static void find_leaks(const struct gate *gate, struct gate_verdict *verdict, size_t repeat)
{
    const struct summary *summary = gate->recordings[repeat].summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_findings); row++) {
        struct seen seen = {
            .pool = summary_text_at(summary, COLUMN_findings_pool, row),
            .site = summary_text_at(summary, COLUMN_findings_site, row),
            .growth = summary_bytes(summary, COLUMN_findings_growth_bytes_per_step, row),
            .bytes = summary_bytes(summary, COLUMN_findings_bytes, row),
            .repeat = repeat,
        };

        if (strcmp(summary_text_at(summary, COLUMN_findings_kind, row), "leak") == 0 &&
            (!summary_has(summary, COLUMN_findings_growth_bytes_per_step, row) ||
             seen.growth >= gate->policy->leak.slope_min))
            see(gate, verdict, &seen, device_of(summary, row),
                summary_text_at(summary, COLUMN_findings_site_key, row));
    }
}

size_t summary_leaks_find(const struct gate *gate, struct gate_verdict *verdict, size_t repeat)
{
    const struct summary *summary = gate->recordings[repeat].summary;
    size_t judged_count = 0;

    find_leaks(gate, verdict, repeat);
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++) {
        struct seen seen = {
            .pool = summary_text_at(summary, COLUMN_sites_pool, row),
            .site = summary_text_at(summary, COLUMN_sites_site, row),
            .growth = summary_bytes(summary, COLUMN_sites_growth_bytes_per_step, row),
            .bytes = summary_bytes(summary, COLUMN_sites_end_bytes, row),
            .repeat = repeat,
            .is_cache = true,
        };

        judged_count += summary_has(summary, COLUMN_sites_verdict, row);
        if (!gate->policy->leak.allows_caches &&
            strcmp(summary_text_at(summary, COLUMN_sites_verdict, row), cache_verdict) == 0)
            see(gate, verdict, &seen, device_at(summary, COLUMN_sites_device, row),
                summary_text_at(summary, COLUMN_sites_site_key, row));
    }
    return judged_count;
}

size_t summary_ranks_unjudged(const struct summary *summary)
{
    bool *is_judged = calloc(summary->texts.count + 1, sizeof(*is_judged));
    size_t count = 0;

    for (size_t row = 0; is_judged && row < summary_rows(summary, SUMMARY_sites); row++)
        if (summary_has(summary, COLUMN_sites_verdict, row))
            is_judged[summary_number(summary, COLUMN_sites_process_key, row)] = true;
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++)
        count += summary_has(summary, COLUMN_ranks_rank, row) &&
                 (!is_judged || !is_judged[summary_number(summary, COLUMN_ranks_process_key, row)]);
    free(is_judged);
    return count;
}
