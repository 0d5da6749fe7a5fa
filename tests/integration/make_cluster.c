/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of a job that was never run: ranks of four pipeline stages, eight on a host, that
 * differ by chance a little, and one planted cause.
 *
 *   make_cluster FOLDER CAUSE RANKS SEED [SITES STEPS [each [unjudged|older]]]
 *
 * CAUSE: clean, rank, one_host, stages, leak_all, leak_one, leak_late, leak_two, refused, stray,
 * died, died_of_memory, stopped. One summary of all ranks, or with `each` one a rank. Of the last
 * rank it is not known whether it leaks, or its summary is of a leaktide that did not tell. What
 * was planted is printed as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chance.h"
#include "hash.h"
#include "summary_files.h"

enum { STAGES = 4, HOST_RANKS = 8, LEAK_BYTES = 1 << 20 };

static const uint64_t gib = UINT64_C(1) << 30;

struct cluster {
    const char *cause, *last_rank;
    uint64_t rank_count, site_count, step_count;
    struct chance chance;
    uint64_t rank, host, stage, step; /* that are chosen */
    uint64_t start_ns;                /* a day later with each seed */
};

static bool is_cause(const struct cluster *cluster, const char *cause)
{
    return strcmp(cluster->cause, cause) == 0;
}

static uint64_t chance_below(struct cluster *cluster, uint64_t end)
{
    return chance_next(&cluster->chance) % end;
}

/* A share of a thousand more or less. */
static uint64_t scattered(struct cluster *cluster, uint64_t bytes, uint64_t per_mille)
{
    uint64_t spread = bytes / 1000 * per_mille;

    return bytes - spread + chance_below(cluster, 2 * spread + 1);
}

static uint64_t stage_of(const struct cluster *cluster, uint64_t rank)
{
    return rank / (cluster->rank_count / STAGES) % STAGES;
}

static bool leaks(const struct cluster *cluster, uint64_t rank)
{
    return is_cause(cluster, "leak_all") ||
           ((is_cause(cluster, "leak_one") || is_cause(cluster, "leak_late") ||
             is_cause(cluster, "leak_two")) &&
            rank == cluster->rank);
}

/* What its peak has beside what is normal. */
static uint64_t surplus(const struct cluster *cluster, uint64_t rank)
{
    if (is_cause(cluster, "rank") && rank == cluster->rank)
        return 6 * gib;
    if (is_cause(cluster, "one_host") && rank / HOST_RANKS == cluster->host)
        return 5 * gib;
    if (is_cause(cluster, "stages") && stage_of(cluster, rank) == cluster->stage)
        return 12 * gib;
    return 0;
}

/*
 * A job that was stopped ends in a tenth of a second. Where one died, its launcher kills the ranks
 * of its host then, and the others fail later, with a status.
 */
static void add_end(struct cluster *cluster, struct summary *summary, size_t row, uint64_t rank)
{
    bool has_died = is_cause(cluster, "died") || is_cause(cluster, "died_of_memory");
    uint64_t end_ns = UINT64_C(3600000000000) + chance_below(cluster, 100000000);

    summary_put_text(summary, COLUMN_ranks_source_kind, row, "leaktide run");
    if (has_died && rank == cluster->rank)
        end_ns -= UINT64_C(200000000);
    else if (has_died && rank / HOST_RANKS != cluster->host)
        end_ns += UINT64_C(30000000000);
    summary_put(summary, COLUMN_ranks_duration_ns, row, end_ns - rank);
    if (has_died && rank / HOST_RANKS != cluster->host)
        summary_put(summary, COLUMN_ranks_exit_status, row, 1);
    else if (!has_died && !is_cause(cluster, "stopped"))
        summary_put(summary, COLUMN_ranks_exit_status, row, 0);
    if (is_cause(cluster, "died_of_memory") && rank == cluster->rank)
        summary_put(summary, COLUMN_ranks_kernel_kill_count, row, 1);
}

static void add_judged(const struct cluster *cluster, struct summary *summary, size_t row,
                       uint64_t rank)
{
    bool is_last = rank + 1 == cluster->rank_count;

    if (is_last && strcmp(cluster->last_rank, "older") == 0)
        return;
    summary_put(summary, COLUMN_ranks_judged_count, row, cluster->site_count);
    if (is_last && strcmp(cluster->last_rank, "unjudged") == 0)
        summary_put_text(summary, COLUMN_ranks_unjudged, row, "steps");
}

static void add_rank(struct cluster *cluster, struct summary *summary, uint64_t rank,
                     const char *key)
{
    size_t row = summary_add(summary, SUMMARY_ranks);
    char text[64];

    summary_put_text(summary, COLUMN_ranks_process_key, row, key);
    snprintf(text, sizeof(text), "python3 %" PRIu64, 4000 + rank);
    summary_put_text(summary, COLUMN_ranks_name, row, text);
    summary_put(summary, COLUMN_ranks_rank, row, rank);
    summary_put(summary, COLUMN_ranks_world_size, row, cluster->rank_count);
    snprintf(text, sizeof(text), "node-%04" PRIu64, rank / HOST_RANKS);
    summary_put_text(summary, COLUMN_ranks_host, row, text);
    summary_put(summary, COLUMN_ranks_device, row, rank % HOST_RANKS);
    summary_put(summary, COLUMN_ranks_pp, row, stage_of(cluster, rank));
    summary_put(summary, COLUMN_ranks_process_id, row, 4000 + rank);
    summary_put(summary, COLUMN_ranks_start_realtime_ns, row, cluster->start_ns + rank);
    summary_put(summary, COLUMN_ranks_event_count, row, 100000000);
    summary_put(summary, COLUMN_ranks_step_count, row, cluster->step_count);
    summary_put(summary, COLUMN_ranks_is_complete, row, 1);
    add_judged(cluster, summary, row, rank);
    add_end(cluster, summary, row, rank);
}

static void add_ledger(struct summary *summary, uint64_t rank, const char *key, uint64_t peak,
                       uint64_t growth)
{
    size_t row = summary_add(summary, SUMMARY_ledgers);
    char name[64];

    snprintf(name, sizeof(name), "pta device %" PRIu64, rank % HOST_RANKS);
    summary_put_text(summary, COLUMN_ledgers_process_key, row, key);
    summary_put_text(summary, COLUMN_ledgers_pool, row, "pta");
    summary_put(summary, COLUMN_ledgers_device, row, rank % HOST_RANKS);
    summary_put_text(summary, COLUMN_ledgers_name, row, name);
    summary_put(summary, COLUMN_ledgers_is_memory, row, 1);
    summary_put(summary, COLUMN_ledgers_peak_bytes, row, peak);
    summary_put(summary, COLUMN_ledgers_seen_peak_bytes, row, peak);
    summary_put(summary, COLUMN_ledgers_reserved_peak_bytes, row, peak + gib);
    summary_put(summary, COLUMN_ledgers_end_bytes, row, peak / 2);
    summary_put(summary, COLUMN_ledgers_growth_bytes_per_step, row, growth);
}

static void put_site_key(struct summary *summary, enum summary_column column, size_t row,
                         const char *site)
{
    char key[20];

    snprintf(key, sizeof(key), "%016" PRIx64, hash_bytes(site, strlen(site)));
    summary_put_text(summary, column, row, key);
}

static void add_site(struct summary *summary, uint64_t rank, const char *key, const char *site,
                     uint64_t bytes)
{
    size_t row = summary_add(summary, SUMMARY_sites);

    summary_put_text(summary, COLUMN_sites_process_key, row, key);
    summary_put_text(summary, COLUMN_sites_pool, row, "pta");
    summary_put(summary, COLUMN_sites_device, row, rank % HOST_RANKS);
    put_site_key(summary, COLUMN_sites_site_key, row, site);
    summary_put_text(summary, COLUMN_sites_verdict, row, "stable");
    summary_put_text(summary, COLUMN_sites_site, row, site);
    summary_put(summary, COLUMN_sites_peak_bytes, row, bytes);
    summary_put(summary, COLUMN_sites_end_bytes, row, bytes / 2);
    summary_put(summary, COLUMN_sites_end_count, row, 3);
}

static void add_sites(struct cluster *cluster, struct summary *summary, uint64_t rank,
                      const char *key)
{
    char site[64];

    for (uint64_t i = 0; i < cluster->site_count; i++) {
        snprintf(site, sizeof(site), "layer_%" PRIu64 "_forward (model.py:%" PRIu64 ")", i,
                 100 + i);
        add_site(summary, rank, key, site,
                 scattered(cluster, 40 * gib / (cluster->site_count + 1), 20));
    }
    if (surplus(cluster, rank))
        add_site(summary, rank, key, "planted (cause.py:7)", surplus(cluster, rank));
    if (is_cause(cluster, "stray") && rank == cluster->rank)
        add_site(summary, rank, key, "stray (cause.py:11)", 40 * gib / 50);
}

static void add_steps(struct cluster *cluster, struct summary *summary, uint64_t rank,
                      const char *key, uint64_t end_bytes)
{
    for (uint64_t step = 1; step <= cluster->step_count; step++) {
        size_t row = summary_add(summary, SUMMARY_steps);
        bool is_begun = step >= cluster->step;
        uint64_t leaked =
            leaks(cluster, rank) && is_begun ? (step - cluster->step + 1) * LEAK_BYTES : 0;

        summary_put_text(summary, COLUMN_steps_process_key, row, key);
        summary_put_text(summary, COLUMN_steps_pool, row, "pta");
        summary_put(summary, COLUMN_steps_device, row, rank % HOST_RANKS);
        summary_put(summary, COLUMN_steps_step, row, step);
        summary_put(summary, COLUMN_steps_step_count, row, 1);
        summary_put(summary, COLUMN_steps_end_bytes, row,
                    scattered(cluster, end_bytes, 10) + leaked +
                        (is_begun ? surplus(cluster, rank) : 0));
        summary_put(summary, COLUMN_steps_peak_bytes, row, 2 * end_bytes);
        summary_put(summary, COLUMN_steps_duration_ns, row, 1000000000);
    }
}

static void add_leak(struct cluster *cluster, struct summary *summary, const char *key)
{
    size_t row = summary_add(summary, SUMMARY_findings);

    summary_put_text(summary, COLUMN_findings_process_key, row, key);
    summary_put_text(summary, COLUMN_findings_kind, row, "leak");
    summary_put_text(summary, COLUMN_findings_sentence, row, "1.00 MiB per step at planted");
    summary_put_text(summary, COLUMN_findings_pool, row, "pta");
    summary_put_text(summary, COLUMN_findings_site, row, "planted (cause.py:7)");
    put_site_key(summary, COLUMN_findings_site_key, row, "planted (cause.py:7)");
    summary_put(summary, COLUMN_findings_growth_bytes_per_step, row, LEAK_BYTES);
    summary_put(summary, COLUMN_findings_bytes, row,
                (cluster->step_count - cluster->step) * LEAK_BYTES);
    summary_put(summary, COLUMN_findings_first_step, row, cluster->step);
}

/* A kilobyte a step, of every rank. */
static void add_small_leak(struct cluster *cluster, struct summary *summary, const char *key)
{
    size_t row = summary_add(summary, SUMMARY_findings);

    summary_put_text(summary, COLUMN_findings_process_key, row, key);
    summary_put_text(summary, COLUMN_findings_kind, row, "leak");
    summary_put_text(summary, COLUMN_findings_sentence, row, "1.00 KiB per step at small");
    summary_put_text(summary, COLUMN_findings_pool, row, "pta");
    summary_put_text(summary, COLUMN_findings_site, row, "small (cause.py:9)");
    summary_put(summary, COLUMN_findings_growth_bytes_per_step, row, 1024);
    summary_put(summary, COLUMN_findings_bytes, row, cluster->step_count * 1024);
    summary_put(summary, COLUMN_findings_first_step, row, 1);
}

/* The chosen rank first; two others, that waited for it, a little later. */
static void add_failure(const struct cluster *cluster, struct summary *summary, uint64_t rank,
                        const char *key, uint64_t peak)
{
    uint64_t after = (rank + cluster->rank_count - cluster->rank) % cluster->rank_count;
    size_t row;

    if (after > 2)
        return;
    row = summary_add(summary, SUMMARY_failures);
    summary_put_text(summary, COLUMN_failures_process_key, row, key);
    summary_put_text(summary, COLUMN_failures_pool, row, "pta");
    summary_put(summary, COLUMN_failures_device, row, rank % HOST_RANKS);
    summary_put(summary, COLUMN_failures_time_ns, row, 5000000000 + after);
    summary_put(summary, COLUMN_failures_realtime_ns, row,
                cluster->start_ns + 5000000000 + after * 1000000000);
    summary_put(summary, COLUMN_failures_step, row, cluster->step);
    summary_put(summary, COLUMN_failures_size_bytes, row, 2 * gib);
    summary_put(summary, COLUMN_failures_live_bytes, row, peak);
}

static void gather(struct cluster *cluster, struct summary *summary, uint64_t rank)
{
    uint64_t peak = scattered(cluster, 40 * gib + stage_of(cluster, rank) * gib / 2, 20);
    char key[32];

    snprintf(key, sizeof(key), "%016" PRIx64, UINT64_C(0x9e3779b97f4a7c15) * (rank + 1));
    peak += surplus(cluster, rank);
    add_rank(cluster, summary, rank, key);
    add_ledger(summary, rank, key, peak, leaks(cluster, rank) ? LEAK_BYTES : 0);
    add_sites(cluster, summary, rank, key);
    add_steps(cluster, summary, rank, key, 20 * gib);
    if (leaks(cluster, rank))
        add_leak(cluster, summary, key);
    if (is_cause(cluster, "leak_two"))
        add_small_leak(cluster, summary, key);
    if (is_cause(cluster, "refused"))
        add_failure(cluster, summary, rank, key, peak);
}

static void write_to(const struct summary *summary, const char *folder, const char *name,
                     uint64_t number)
{
    struct mt_error error;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s-%05" PRIu64, folder, name, number);
    if (summary_write(summary, path, &error) != MT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
}

static void write_cluster(struct cluster *cluster, const char *folder, bool is_each)
{
    struct summary summary;

    mkdir(folder, 0777);
    summary_init(&summary);
    for (uint64_t rank = 0; rank < cluster->rank_count; rank++) {
        gather(cluster, &summary, rank);
        if (!is_each)
            continue;
        write_to(&summary, folder, "rank", rank);
        summary_release(&summary);
        summary_init(&summary);
    }
    if (!is_each)
        write_to(&summary, folder, "cluster", 0);
    summary_release(&summary);
}

int main(int argc, char **argv)
{
    struct cluster cluster = {.site_count = 40, .step_count = 60, .last_rank = ""};

    if (argc < 5)
        return 2;
    cluster.cause = argv[2];
    if (argc > 8)
        cluster.last_rank = argv[8];
    cluster.rank_count = strtoull(argv[3], NULL, 10) / (STAGES * HOST_RANKS) * STAGES * HOST_RANKS;
    cluster.chance.state = strtoull(argv[4], NULL, 10);
    cluster.start_ns =
        UINT64_C(1700000000000000000) + cluster.chance.state * UINT64_C(86400000000000);
    if (argc > 6) {
        cluster.site_count = strtoull(argv[5], NULL, 10);
        cluster.step_count = strtoull(argv[6], NULL, 10);
    }
    if (!cluster.rank_count || !cluster.site_count || cluster.step_count < 20)
        return 2;
    cluster.rank = chance_below(&cluster, cluster.rank_count);
    cluster.host = cluster.rank / HOST_RANKS;
    cluster.stage = chance_below(&cluster, STAGES);
    cluster.step = is_cause(&cluster, "leak_late") ? cluster.step_count * 3 / 4
                                                   : 3 + chance_below(&cluster, 10);
    write_cluster(&cluster, argv[1], argc > 7);
    printf("{\"rank\": %" PRIu64 ", \"host\": %" PRIu64 ", \"stage\": %" PRIu64
           ", \"step\": %" PRIu64 ", \"rank_count\": %" PRIu64 "}\n",
           cluster.rank, cluster.host, cluster.stage, cluster.step, cluster.rank_count);
    return 0;
}
