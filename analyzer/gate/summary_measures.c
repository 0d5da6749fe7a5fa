/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the ranks of a summary, by the keys that a recording of them has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "measures.h"

const enum summary_column gate_columns[] = {
    COLUMN_ranks_process_key,
    COLUMN_ranks_rank,
    COLUMN_ranks_step_count,
    COLUMN_ledgers_process_key,
    COLUMN_ledgers_pool,
    COLUMN_ledgers_device,
    COLUMN_ledgers_is_memory,
    COLUMN_ledgers_peak_bytes,
    COLUMN_ledgers_seen_peak_bytes,
    COLUMN_ledgers_reserved_peak_bytes,
    COLUMN_ledgers_reserved_unused_bytes,
    COLUMN_sites_process_key,
    COLUMN_sites_pool,
    COLUMN_sites_device,
    COLUMN_sites_site_key,
    COLUMN_sites_site,
    COLUMN_sites_peak_bytes,
    COLUMN_sites_end_bytes,
    COLUMN_sites_growth_bytes_per_step,
    COLUMN_sites_verdict,
    COLUMN_findings_process_key,
    COLUMN_findings_kind,
    COLUMN_findings_pool,
    COLUMN_findings_site_key,
    COLUMN_findings_site,
    COLUMN_findings_growth_bytes_per_step,
    COLUMN_findings_bytes,
    SUMMARY_COLUMN_COUNT,
};

/* Ledgers of a process have a turn each; sites of one ledger and key add up. */
struct scope {
    struct measures *measures;
    const struct summary *summary;
    size_t repeat;
};

struct ledger_of_row {
    const char *device, *pool;
};

int32_t summary_device(const struct summary *summary, enum summary_column column, size_t row)
{
    return summary_has(summary, column, row) ? (int32_t)summary_number(summary, column, row) : -1;
}

static struct ledger_of_row ledger_of(const struct scope *scope, enum summary_column pool,
                                      enum summary_column device, size_t row)
{
    struct arena *texts = &scope->measures->arena;
    const char *name = summary_text_at(scope->summary, pool, row);

    return (struct ledger_of_row){
        .device = device_key(texts, pool_by_name(name)->family, name,
                             summary_device(scope->summary, device, row)),
        .pool = arena_copy(texts, name),
    };
}

/* As ledger_figures_of(); a summary of before says what was unused as if both were highest at once.
 */
static struct ledger_figures figures_of(const struct summary *summary, size_t row)
{
    struct ledger_figures figures = {
        .peak_bytes = summary_bytes(summary, COLUMN_ledgers_peak_bytes, row),
        .seen_peak_bytes = summary_bytes(summary, COLUMN_ledgers_seen_peak_bytes, row),
        .reserved_peak_bytes = summary_bytes(summary, COLUMN_ledgers_reserved_peak_bytes, row),
    };

    figures.is_counted = figures.peak_bytes > figures.seen_peak_bytes;
    figures.has_reserved =
        figures.reserved_peak_bytes && figures.reserved_peak_bytes >= figures.seen_peak_bytes;
    if (summary_has(summary, COLUMN_ledgers_reserved_unused_bytes, row))
        figures.unused_bytes = summary_bytes(summary, COLUMN_ledgers_reserved_unused_bytes, row);
    else if (figures.reserved_peak_bytes > figures.peak_bytes)
        figures.unused_bytes = figures.reserved_peak_bytes - figures.peak_bytes;
    return figures;
}

static void add_ledgers(const struct scope *scope)
{
    const struct summary *summary = scope->summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ledgers); row++) {
        struct ledger_figures figures = figures_of(summary, row);
        struct ledger_of_row ledger;

        if (!summary_number(summary, COLUMN_ledgers_is_memory, row))
            continue;
        ledger = ledger_of(scope, COLUMN_ledgers_pool, COLUMN_ledgers_device, row);
        measures_put_pool(scope->measures, ledger.device, ledger.pool, &figures, scope->repeat,
                          (uint32_t)row);
    }
}

struct place_in_code place_of_label(struct arena *texts, const char *label)
{
    struct place_in_code place = place_none();
    const char *open = strrchr(label, '('), *colon = strrchr(label, ':');

    place.label = place.function = arena_copy(texts, label);
    if (!open || !colon || colon < open || open == label || open[-1] != ' ')
        return place;
    place.function = arena_text(texts, label, (size_t)(open - 1 - label));
    place.file = arena_text(texts, open + 1, (size_t)(colon - open - 1));
    place.line = (uint32_t)strtoul(colon + 1, NULL, 10);
    if (!place.label || !place.function || !place.file)
        return place_none();
    return place;
}

static void add_sites(const struct scope *scope)
{
    const struct summary *summary = scope->summary;
    struct arena *texts = &scope->measures->arena;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++) {
        uint64_t bytes = summary_bytes(summary, COLUMN_sites_peak_bytes, row);
        struct ledger_of_row ledger;
        struct measure measure = {.kind = RULE_SITE};

        if (!bytes)
            continue;
        ledger = ledger_of(scope, COLUMN_sites_pool, COLUMN_sites_device, row);
        measure.where = place_of_label(texts, summary_text_at(summary, COLUMN_sites_site, row));
        measure.device = ledger.device;
        measure.pool = ledger.pool;
        measure.name = measure.where.label;
        measure.key =
            key_name(texts, arena_format(texts, "%s/%s/site/%s", ledger.device, ledger.pool,
                                         summary_text_at(summary, COLUMN_sites_site_key, row)));
        /* Of one process the rows add up. */
        measures_put(scope->measures, &measure, scope->repeat,
                     (uint32_t)summary_number(summary, COLUMN_sites_process_key, row), bytes);
    }
}

/* --- how uneven ranks are --------------------------------------------------------------------- */

/* Whether the process of a key has the number of a rank, by number of text. */
static bool *find_ranks(const struct summary *summary)
{
    bool *is_rank = calloc(summary->texts.count + 1, sizeof(*is_rank));

    for (size_t row = 0; is_rank && row < summary_rows(summary, SUMMARY_ranks); row++)
        if (summary_has(summary, COLUMN_ranks_rank, row))
            is_rank[summary_number(summary, COLUMN_ranks_process_key, row)] = true;
    return is_rank;
}

static void put_imbalance(const struct scope *scope, int64_t pool, uint64_t *peaks, size_t count)
{
    struct arena *texts = &scope->measures->arena;
    struct measure measure = {.device = "*", .name = "", .kind = RULE_RANKS, .where = place_none()};
    uint64_t median = count > 1 ? median_of(peaks, count) : 0;

    if (!median)
        return;
    measure.pool = arena_copy(texts, summary_text(scope->summary, pool));
    measure.key = key_name(texts, arena_format(texts, "ranks/%s/imbalance", measure.pool));
    measures_put(scope->measures, &measure, scope->repeat, UINT32_MAX - 1,
                 share_of(peaks[count - 1] - median, median));
}

static void add_imbalance(const struct scope *scope)
{
    const struct summary *summary = scope->summary;
    size_t rows = summary_rows(summary, SUMMARY_ledgers);
    bool *is_rank = find_ranks(summary);
    bool *is_done = calloc(summary->texts.count + 1, sizeof(*is_done));
    uint64_t *peaks = calloc(rows + 1, sizeof(*peaks));

    for (size_t first = 0; is_rank && is_done && peaks && first < rows; first++) {
        int64_t pool = summary_number(summary, COLUMN_ledgers_pool, first);
        size_t count = 0;

        if (is_done[pool])
            continue;
        is_done[pool] = true;
        for (size_t row = first; row < rows; row++)
            if (summary_number(summary, COLUMN_ledgers_pool, row) == pool &&
                summary_number(summary, COLUMN_ledgers_is_memory, row) &&
                summary_has(summary, COLUMN_ledgers_device, row) &&
                is_rank[summary_number(summary, COLUMN_ledgers_process_key, row)])
                peaks[count++] = summary_bytes(summary, COLUMN_ledgers_peak_bytes, row);
        put_imbalance(scope, pool, peaks, count);
    }
    if (!is_rank || !is_done || !peaks)
        scope->measures->arena.has_failed = true;
    free(peaks);
    free(is_done);
    free(is_rank);
}

void measures_add_summary(struct measures *measures, const struct summary *summary, size_t repeat)
{
    const struct scope scope = {measures, summary, repeat};

    measures_begin(measures);
    add_ledgers(&scope);
    add_sites(&scope);
    add_imbalance(&scope);
}
