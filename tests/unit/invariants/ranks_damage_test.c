/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of summaries and of sets of ranks.
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "death.h"
#include "doubt.h"
#include "parquet.h"
#include "parquet_runs.h"
#include "path_text.h"
#include "rank_history.h"
#include "rank_set.h"
#include "thrift.h"
#include "why.h"

/* --- a summary -------------------------------------------------------------------------------- */

static struct rank_set set;
static struct summary *summary = &set.summary;

static void add_rank(const char *key, uint64_t number)
{
    size_t rank = summary_add(summary, SUMMARY_ranks);
    size_t ledger = summary_add(summary, SUMMARY_ledgers);

    summary_put_text(summary, COLUMN_ranks_process_key, rank, key);
    summary_put(summary, COLUMN_ranks_rank, rank, number);
    summary_put_text(summary, COLUMN_ledgers_process_key, ledger, key);
    summary_put_text(summary, COLUMN_ledgers_pool, ledger, "pta");
    summary_put(summary, COLUMN_ledgers_device, ledger, 0);
    summary_put(summary, COLUMN_ledgers_is_memory, ledger, 1);
    summary_put(summary, COLUMN_ledgers_seen_peak_bytes, ledger, 4096);
    for (uint64_t step = 1; step < 4; step++) {
        size_t row = summary_add(summary, SUMMARY_steps);

        summary_put_text(summary, COLUMN_steps_process_key, row, key);
        summary_put_text(summary, COLUMN_steps_pool, row, "pta");
        summary_put(summary, COLUMN_steps_device, row, 0);
        summary_put(summary, COLUMN_steps_step, row, step);
    }
}

static void make(void)
{
    rank_set_init(&set, false);
    add_rank("a", 0);
    add_rank("b", 1);
    rank_set_take(&set);
    if (!rank_set_finish(&set))
        _exit(1);
    summary_check(summary);
}

#define LOOK(name, ...)  DAMAGE(make, name, __VA_ARGS__; summary_check(summary))
#define RANKS(name, ...) DAMAGE(make, name, __VA_ARGS__; rank_set_check(&set))

LOOK(values_missing, summary->values[COLUMN_ranks_name].known = NULL)
LOOK(values_short, summary->values[COLUMN_ranks_name].number_capacity = 1)
LOOK(known_is_a_truth, summary->values[COLUMN_ranks_host].known[0] = 2)
LOOK(required_is_known, summary->values[COLUMN_ranks_name].known[0] = 0)
LOOK(missing_is_nothing, summary->values[COLUMN_ranks_tp].numbers[0] = 7)
LOOK(text_is_there, summary->values[COLUMN_ranks_name].numbers[0] = 1000)
LOOK(texts_are_there, summary->texts.count = 0)
LOOK(first_text_is_none, *(const char **)table_at(&summary->texts, 0) = "x")
LOOK(texts_are_indexed, summary->text_index.count++)
LOOK(left_out_is_not_there, summary->is_left_out[COLUMN_ranks_name] = true)

RANKS(rank_row, set.ranks[0].row = 9)
RANKS(rank_index, set.index_of_row[0] = 2)
RANKS(rank_number, set.ranks[0].number = -2)
RANKS(rank_order, set.ranks[0].number = 5)
RANKS(rank_group, set.ranks[0].group = 1)
RANKS(ledger_is_compared, summary->values[COLUMN_ledgers_is_memory].numbers[0] = 0)
RANKS(ledger_is_its_own, set.ranks[0].ledger = 1)
RANKS(steps_are_of_the_set, set.ranks[0].steps = NULL)
RANKS(steps_in_order, set.steps[0].number = 9)
RANKS(ranks_are_rows, set.count = 3)
RANKS(compared_are_ranks, set.compared_count = 3)
RANKS(pool_is_known, set.pool = NULL)
RANKS(pool_has_a_name, set.pool = "")
RANKS(compared_are_counted, set.compared_count = 1)
RANKS(rows_are_taken, set.taken_rows[SUMMARY_sites] = 1)

/* --- what is said of a rank --------------------------------------------------------------------
 */

static struct text_builder page_link;

static void make_link(void)
{
    text_init(&page_link);
    text_add_relative_path(&page_link, "/a", "/a/b");
}

DAMAGE(make_link, page_lies_in_a_whole_folder, text_add_relative_path(&page_link, "a", "/a/b"))
DAMAGE(make_link, page_of_a_rank_is_whole, text_add_relative_path(&page_link, "/a", "a/b"))
DAMAGE(make, doubt_has_a_word, doubt_word(DOUBT_KIND_COUNT))
DAMAGE(make, doubt_has_a_reason, doubt_reason(DOUBT_KIND_COUNT))
DAMAGE(make, doubt_has_a_sentence, doubt_sentence(NULL, NULL, &(struct doubt){.kind = DOUBT_OLDER}))
DAMAGE(make, why_has_a_word, why_word(WHY_COUNT))
DAMAGE(make, why_has_a_sentence, why_sentence(NULL, &(struct why){.rule = WHY_COUNT}))
DAMAGE(make, why_has_a_rule, why_add(&(struct why_list){0}, &(struct why){.rule = WHY_COUNT}))
DAMAGE(make, whys_are_few,
       why_add(&(struct why_list){.count = WHY_ROWS_MOST + 1}, &(struct why){.rule = WHY_LEAK}))
DAMAGE(make, why_has_a_reason,
       why_of_stack(&(struct overdue){.reason = OVERDUE_REASON_COUNT}, false))

/* --- runs over time --------------------------------------------------------------------------- */

static struct history_run runs[2];
static struct history history = {.runs = runs, .count = 2};

static void make_history(void)
{
    runs[0] = (struct history_run){.start_realtime_ns = 1, .peak_bytes = 8, .median_bytes = 8};
    runs[1] = (struct history_run){.start_realtime_ns = 2,
                                   .peak_bytes = 9,
                                   .median_bytes = 8,
                                   .base_count = 1,
                                   .base_low = 8,
                                   .base_median = 8,
                                   .base_high = 8};
    history_check(&history);
}

#define RUNS(name, ...) DAMAGE(make_history, name, __VA_ARGS__; history_check(&history))

RUNS(runs_in_order, runs[0].start_realtime_ns = 3)
RUNS(median_is_no_more_than_the_peak, runs[0].median_bytes = 9)
RUNS(leaks_are_there, runs[0].state = HISTORY_LEAKS)
RUNS(growth_has_a_base, runs[0].state = HISTORY_GREW)
RUNS(base_is_before, runs[1].base_count = 2)
RUNS(newest_base_is_before, runs[1].base_last = 1)
RUNS(base_is_good, runs[0].state = HISTORY_DIED)
RUNS(base_has_a_low, runs[1].base_low = 9)
RUNS(base_has_a_high, runs[1].base_high = 7)

/* --- a file ----------------------------------------------------------------------------------- */

static struct parquet_reader *reader;
static struct parquet_values values;

static void make_file(void)
{
    static const int64_t numbers[] = {1, 2};
    const struct parquet_column column = {"a", PARQUET_INTEGER, false, numbers, NULL};
    char path[64];

    snprintf(path, sizeof(path), "/tmp/ranks_damage_%ld.parquet", (long)getpid());
    if (parquet_write(
            path, &(struct parquet_table){.columns = &column, .column_count = 1, .row_count = 2},
            NULL) != MT_OK ||
        parquet_reader_create(&reader, NULL) != MT_OK ||
        parquet_reader_open(reader, path, NULL) != MT_OK)
        _exit(1);
    unlink(path);
}

DAMAGE(make_file, group_is_there, (void)parquet_reader_group_rows(reader, 1))
DAMAGE(make_file, group_is_read, parquet_reader_read(reader, 1, 0, &values, NULL))
DAMAGE(make_file, column_is_read, parquet_reader_read(reader, 0, 1, &values, NULL))

static struct thrift_writer writer;
static struct text_builder text;

static void make_writer(void)
{
    text_init(&text);
    thrift_writer_init(&writer, &text);
    thrift_put_integer(&writer, 2, THRIFT_I32, 1);
}

DAMAGE(make_writer, fields_rise, thrift_put_integer(&writer, 2, THRIFT_I32, 1))
DAMAGE(make_writer, structs_are_not_deep,
       for (int i = 0; i < THRIFT_DEPTH_MOST; i++) thrift_begin_struct(&writer, 0))
DAMAGE(make_writer, structs_were_begun, thrift_end_struct(&writer))
DAMAGE(make_writer, runs_are_not_empty, parquet_runs_put_flags(&text, NULL, 0))

int main(void)
{
    return deaths_run();
}
