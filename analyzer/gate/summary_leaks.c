/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of ranks, as their summaries have them.
 */
#include <string.h>

#include "hash.h"
#include "hash_index.h"
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

/* --- devices -----------------------------------------------------------------------------------
 */

/*
 * Findings have no device: it is that of the site of the same key, of the same process, or of a
 * ledger of this pool.
 */
static const struct table_with_devices {
    enum summary_table table;
    enum summary_column process_key, name, device, name_in_findings;
} with_devices[] = {
    {SUMMARY_sites, COLUMN_sites_process_key, COLUMN_sites_site_key, COLUMN_sites_device,
     COLUMN_findings_site_key},
    {SUMMARY_ledgers, COLUMN_ledgers_process_key, COLUMN_ledgers_pool, COLUMN_ledgers_device,
     COLUMN_findings_pool},
};

enum { TABLES_WITH_DEVICES = sizeof(with_devices) / sizeof(with_devices[0]) };

struct devices {
    const struct summary *summary;
    struct hash_index rows[TABLES_WITH_DEVICES];
};

static uint64_t hash_of(int64_t process, int64_t name)
{
    return hash_pair((uint64_t)process, (uint64_t)name);
}

/* The first row of the table with these; UINT32_MAX: none. */
static uint32_t row_of(const struct devices *devices, size_t index, int64_t process, int64_t name)
{
    const struct table_with_devices *table = &with_devices[index];
    size_t probe = 0;
    uint32_t row;

    while (hash_index_next(&devices->rows[index], hash_of(process, name), &probe, &row))
        if (summary_number(devices->summary, table->process_key, row) == process &&
            summary_number(devices->summary, table->name, row) == name)
            return row;
    return UINT32_MAX;
}

/* False without memory. */
static bool devices_init(struct devices *devices, const struct summary *summary)
{
    bool is_done = true;

    devices->summary = summary;
    for (size_t i = 0; i < TABLES_WITH_DEVICES; i++) {
        const struct table_with_devices *table = &with_devices[i];

        hash_index_init(&devices->rows[i]);
        for (size_t row = 0; is_done && row < summary_rows(summary, table->table); row++) {
            int64_t process = summary_number(summary, table->process_key, row);
            int64_t name = summary_number(summary, table->name, row);

            if (row_of(devices, i, process, name) == UINT32_MAX)
                is_done = hash_index_add(&devices->rows[i], hash_of(process, name), (uint32_t)row);
        }
    }
    return is_done;
}

static void devices_release(struct devices *devices)
{
    for (size_t i = 0; i < TABLES_WITH_DEVICES; i++)
        hash_index_release(&devices->rows[i]);
}

static int32_t device_of(const struct devices *devices, size_t finding)
{
    const struct summary *summary = devices->summary;
    int64_t process = summary_number(summary, COLUMN_findings_process_key, finding);

    for (size_t i = 0; i < TABLES_WITH_DEVICES; i++) {
        uint32_t row = row_of(devices, i, process,
                              summary_number(summary, with_devices[i].name_in_findings, finding));

        if (row != UINT32_MAX)
            return summary_device(summary, with_devices[i].device, row);
    }
    return -1;
}

/* --- leaks, and caches that grow ---------------------------------------------------------------
 */

static void find_leaks(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                       struct leaks_found *found)
{
    const struct summary *summary = gate->recordings[repeat].summary;
    struct devices devices;

    if (!devices_init(&devices, summary))
        verdict->arena.has_failed = true;
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_findings); row++) {
        struct seen seen = {
            .pool = summary_text_at(summary, COLUMN_findings_pool, row),
            .site = summary_text_at(summary, COLUMN_findings_site, row),
            .growth = summary_bytes(summary, COLUMN_findings_growth_bytes_per_step, row),
            .bytes = summary_bytes(summary, COLUMN_findings_bytes, row),
            .repeat = repeat,
        };

        enum leak_standing standing = leak_standing_of(gate->policy, seen.growth, 0);

        if (strcmp(summary_text_at(summary, COLUMN_findings_kind, row), "leak") != 0)
            continue;
        if (standing == LEAK_OVER)
            see(gate, verdict, &seen, device_of(&devices, row),
                summary_text_at(summary, COLUMN_findings_site_key, row));
        else
            leaks_found_note(found, standing,
                             summary_text_at(summary, COLUMN_findings_sentence, row));
    }
    devices_release(&devices);
}

/* Caches that grow, where the policy forbids them: of sites, whose devices are known. */
static void find_caches(const struct gate *gate, struct gate_verdict *verdict, size_t repeat)
{
    const struct summary *summary = gate->recordings[repeat].summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++) {
        struct seen seen = {
            .pool = summary_text_at(summary, COLUMN_sites_pool, row),
            .site = summary_text_at(summary, COLUMN_sites_site, row),
            .growth = summary_bytes(summary, COLUMN_sites_growth_bytes_per_step, row),
            .bytes = summary_bytes(summary, COLUMN_sites_end_bytes, row),
            .repeat = repeat,
            .is_cache = true,
        };

        if (strcmp(summary_text_at(summary, COLUMN_sites_verdict, row), cache_verdict) == 0)
            see(gate, verdict, &seen, summary_device(summary, COLUMN_sites_device, row),
                summary_text_at(summary, COLUMN_sites_site_key, row));
    }
}

void summary_leaks_find(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                        struct leaks_found *found)
{
    find_leaks(gate, verdict, repeat, found);
    if (!gate->policy->leak.allows_caches)
        find_caches(gate, verdict, repeat);
}
