/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_gather.h"

#include <inttypes.h>
#include <string.h>

#include "hash.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "origins.h"
#include "process_end.h"
#include "rank_gather_parts.h"

/* --- names ------------------------------------------------------------------------------------ */

/* -1: not known. */
static int64_t rank_number(const struct gathering *gathering, const struct model_process *process)
{
    if (gathering->wish->has_rank)
        return (int64_t)gathering->wish->rank;
    return process->rank >= 0 ? process->rank : (int64_t)process->job_rank_number - 1;
}

/*
 * The start and the number of a process are its own on its host. A source that does not tell both
 * is known by its path.
 */
static const char *process_key(struct gathering *gathering, const struct model_process *process)
{
    const char *source = model_text_at(gathering->question->model, process->source);
    uint64_t hash = hash_pair(process->process_id, process->start_realtime_ns);

    hash = hash_pair(hash, (uint64_t)rank_number(gathering, process));
    if (gathering->wish->host)
        hash = hash_pair(hash, hash_bytes(gathering->wish->host, strlen(gathering->wish->host)));
    if (!process->process_id || !process->start_realtime_ns)
        hash = hash_pair(hash, hash_bytes(source, strlen(source)));
    return arena_format(&gathering->arena, "%016" PRIx64, hash);
}

const char *gathered_pool(struct gathering *gathering, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(gathering->question->tally, ledger);
    const char *pool = label_pool(gathering->question, row);
    const char *kind = label_kind(pool, row->kind);

    return *kind ? arena_format(&gathering->arena, "%s (%s)", pool, kind) : pool;
}

size_t gathered_row(struct gathering *gathering, enum summary_table table,
                    struct gathered_columns columns, uint16_t ledger)
{
    const struct ledger *row = tally_ledger_at(gathering->question->tally, ledger);
    struct summary *summary = gathering->summary;
    size_t added = summary_add(summary, table);

    summary_put_text(summary, columns.process_key, added, gathering->keys[row->process]);
    summary_put_text(summary, columns.pool, added, gathered_pool(gathering, ledger));
    if (row->device >= 0)
        summary_put(summary, columns.device, added, (uint64_t)row->device);
    return added;
}

const char *gathered_site_key(struct gathering *gathering, struct who who)
{
    const char *label = label_who(gathering->question, &gathering->arena, who);
    bool is_known = who.site || who.operator_text || who.owner_text;

    return arena_format(&gathering->arena, "%016" PRIx64,
                        is_known ? origin_id(gathering->question, &who)
                                 : hash_bytes(label, strlen(label)));
}

/* --- processes -------------------------------------------------------------------------------- */

/* The device whose ledgers hold most; -1: none. */
static int32_t main_device(const struct tally *tally, uint16_t process)
{
    uint64_t most = 0;
    int32_t device = -1;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process == process && ledger->kind == LEDGER_MEMORY && ledger->device >= 0 &&
            ledger->peak_bytes > most) {
            most = ledger->peak_bytes;
            device = ledger->device;
        }
    }
    return device;
}

static void put_optional(struct summary *summary, enum summary_column column, size_t row,
                         int64_t number, bool is_known)
{
    if (is_known)
        summary_put(summary, column, row, number > 0 ? (uint64_t)number : 0);
}

/* In the cgroup of the process, while it ran; not of one that ended by itself. */
static int64_t kernel_kills(const struct question *question, uint16_t process)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    const struct model_process *row = model_process_at(tally_model(question->tally), process);

    for (size_t i = 0; i < accounts->kill_count; i++)
        if (accounts->kills[i].process == process && !row->has_exited && !row->ended_at_once)
            return (int64_t)(accounts->kills[i].kills & INT64_MAX);
    return 0;
}

static void gather_process(struct gathering *gathering, uint16_t index)
{
    const struct question *question = gathering->question;
    struct model *model = tally_model(question->tally);
    const struct model_process *process = model_process_at(model, index);
    struct summary *summary = gathering->summary;
    size_t row = summary_add(summary, SUMMARY_ranks);
    int32_t device = main_device(question->tally, index);
    int64_t kills = kernel_kills(question, index);
    uint64_t lost = 0;

    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        lost += process->lost_counts[i];
    summary_put_text(summary, COLUMN_ranks_process_key, row, gathering->keys[index]);
    summary_put_text(summary, COLUMN_ranks_name, row,
                     label_process(question, &gathering->arena, index));
    put_optional(summary, COLUMN_ranks_rank, row, rank_number(gathering, process),
                 rank_number(gathering, process) >= 0);
    if (gathering->wish->host)
        summary_put_text(summary, COLUMN_ranks_host, row, gathering->wish->host);
    put_optional(summary, COLUMN_ranks_world_size, row, process->world_size,
                 process->world_size > 0);
    put_optional(summary, COLUMN_ranks_device, row, device, device >= 0);
    summary_put_text(
        summary, COLUMN_ranks_program, row,
        model_text_at(model, process->command_line ? process->command_line : process->executable));
    summary_put_text(summary, COLUMN_ranks_settings, row, model_text_at(model, process->options));
    summary_put_text(summary, COLUMN_ranks_allocator_settings, row,
                     model_text_at(model, process->allocator_settings));
    summary_put(summary, COLUMN_ranks_process_id, row, process->process_id);
    put_optional(summary, COLUMN_ranks_start_realtime_ns, row, (int64_t)process->start_realtime_ns,
                 process->start_realtime_ns != 0);
    summary_put(summary, COLUMN_ranks_duration_ns, row,
                process->end_ns > process->start_ns ? process->end_ns - process->start_ns : 0);
    summary_put_text(summary, COLUMN_ranks_source, row, model_text_at(model, process->source));
    summary_put_text(summary, COLUMN_ranks_source_kind, row, question->source_kind);
    summary_put_text(summary, COLUMN_ranks_leaktide_version, row, LEAKTIDE_VERSION);
    summary_put(summary, COLUMN_ranks_event_count, row, process->event_count);
    summary_put(summary, COLUMN_ranks_lost_count, row, lost);
    summary_put(summary, COLUMN_ranks_step_count, row,
                tally_process_at(question->tally, index).ended_step_count);
    summary_put(summary, COLUMN_ranks_is_complete, row,
                process->is_complete && !lost && !model_is_incomplete(model));
    put_optional(summary, COLUMN_ranks_exit_status, row, process->exit_status,
                 process_exit_is_known(process));
    put_optional(summary, COLUMN_ranks_kernel_kill_count, row, kills, kills > 0);
}

/* --- ledgers ---------------------------------------------------------------------------------- */

static void gather_ledger(struct gathering *gathering, uint16_t index)
{
    const struct question *question = gathering->question;
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    struct ledger_figures figures = ledger_figures_of(question, index);
    struct summary *summary = gathering->summary;
    struct tally_process process = tally_process_at(question->tally, ledger->process);
    size_t row = gathered_row(gathering, SUMMARY_ledgers,
                              (struct gathered_columns){COLUMN_ledgers_process_key,
                                                        COLUMN_ledgers_pool, COLUMN_ledgers_device},
                              index);

    summary_put_text(summary, COLUMN_ledgers_name, row,
                     label_ledger(question, &gathering->arena, index));
    summary_put(summary, COLUMN_ledgers_is_memory, row, ledger->kind == LEDGER_MEMORY);
    summary_put(summary, COLUMN_ledgers_peak_bytes, row, figures.peak_bytes);
    summary_put(summary, COLUMN_ledgers_peak_time_ns, row, figures.peak_ns);
    if (process.step_count)
        summary_put(summary, COLUMN_ledgers_peak_step, row,
                    step_number(question->tally, ledger->process, ledger->peak_step));
    summary_put(summary, COLUMN_ledgers_seen_peak_bytes, row, figures.seen_peak_bytes);
    if (ledger->has_reserved)
        summary_put(summary, COLUMN_ledgers_reserved_peak_bytes, row, ledger->reserved_peak_bytes);
    if (figures.has_reserved)
        summary_put(summary, COLUMN_ledgers_reserved_unused_bytes, row, figures.unused_bytes);
    if (ledger_is_reserved(ledger))
        summary_put(summary, COLUMN_ledgers_outside_peak_bytes, row,
                    ledger_outside_peak(question->tally, index));
    summary_put(summary, COLUMN_ledgers_end_bytes, row, figures.end_bytes);
    if (process.ended_step_count > 1)
        summary_put(summary, COLUMN_ledgers_growth_bytes_per_step, row,
                    gathered_growth(question, index));
    summary_put(summary, COLUMN_ledgers_alloc_bytes, row, ledger->alloc_bytes);
    summary_put(summary, COLUMN_ledgers_alloc_count, row, ledger->alloc_count);
    summary_put(summary, COLUMN_ledgers_failed_count, row, ledger->failed_count);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* A shell that only started others says nothing about memory. */
static bool has_memory(const struct tally *tally, uint16_t process)
{
    size_t accounts;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->process == process)
            return true;
    for (size_t i = 0; i < tally_sample_count(tally); i++)
        if (tally_sample_at(tally, i)->process == process)
            return true;
    memory_accounts_of(tally_accounts(tally), process, &accounts);
    return accounts != 0;
}

/* Helpers are none. */
static bool is_rank(const struct question *question, uint16_t process)
{
    return has_memory(question->tally, process) &&
           !model_process_at(tally_model(question->tally), process)->is_helper;
}

void rank_gather(const struct question *question, const struct verdict *verdict,
                 const struct rank_wish *wish)
{
    struct summary *summary = wish->summary;
    struct gathering gathering = {.question = question, .wish = wish, .summary = summary};
    struct model *model = tally_model(question->tally);
    size_t count = model_process_count(question->model);
    bool has_memory_left;

    arena_init(&gathering.arena);
    gathering.keys = arena_alloc(&gathering.arena, (count + 1) * sizeof(*gathering.keys));
    gathering.processes = arena_alloc(&gathering.arena, (count + 1) * sizeof(*gathering.processes));
    has_memory_left = gathering.keys && gathering.processes;
    for (size_t i = 0; has_memory_left && i < count; i++) {
        uint16_t process = (uint16_t)i;

        gathering.keys[i] = process_key(&gathering, model_process_at(model, process));
        if (!is_rank(question, process))
            continue;
        gathering.processes[summary_rows(summary, SUMMARY_ranks)] = process;
        gather_process(&gathering, process);
        gather_steps(&gathering, process);
        gather_account(&gathering, process);
    }
    if (has_memory_left) {
        for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
            if (is_rank(question, tally_ledger_at(question->tally, i)->process))
                gather_ledger(&gathering, (uint16_t)i);
        gather_sites(&gathering, verdict);
        gather_operators(&gathering);
        gather_counters(&gathering);
        gather_failures(&gathering);
    }
    summary->has_failed = summary->has_failed || gathering.arena.has_failed;
    arena_release(&gathering.arena);
}
