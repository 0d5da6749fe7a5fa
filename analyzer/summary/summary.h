/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of ranks: the tables of summary_tables.def, in memory.
 *
 *     size_t row = summary_add(summary, SUMMARY_ranks);
 *
 *     summary_put_text(summary, COLUMN_ranks_name, row, "rank 3");
 *
 * A column is an array of 64-bit numbers; of a text, its number among the texts of the summary,
 * each of which is there once. A value that nobody puts is missing; of a required column, 0 or "".
 * Running out of memory is remembered: summary_status() tells. One thread at a time.
 */
#ifndef LEAKTIDE_SUMMARY_H
#define LEAKTIDE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"
#include "hash_index.h"
#include "table.h"

/* Of the tables; files of another one are named, and not read. */
#define SUMMARY_VERSION "1"

enum summary_table {
#define SUMMARY_TABLE(table, meaning) SUMMARY_##table,
#include "summary_tables.def"
    SUMMARY_TABLE_COUNT
};

enum summary_column {
#define SUMMARY_COLUMN(table, column, kind, presence, meaning) COLUMN_##table##_##column,
#include "summary_tables.def"
    SUMMARY_COLUMN_COUNT
};

enum summary_kind { SUMMARY_INTEGER, SUMMARY_TEXT };

/* The tables, and what they are made of. */
struct summary_column_info {
    enum summary_table table;
    const char *name;
    enum summary_kind kind;
    bool is_optional;
};

extern const char *const summary_table_names[SUMMARY_TABLE_COUNT];
extern const struct summary_column_info summary_columns[SUMMARY_COLUMN_COUNT];

struct summary_values {
    int64_t *numbers;
    uint8_t *known;
    size_t number_capacity, known_capacity;
};

struct summary {
    struct arena arena; /* of the texts */
    struct table texts; /* const char * */
    struct hash_index text_index;
    struct summary_values values[SUMMARY_COLUMN_COUNT];
    size_t row_counts[SUMMARY_TABLE_COUNT];
    bool is_left_out[SUMMARY_COLUMN_COUNT]; /* not read, and not there: for who asks one question */
    bool has_failed;
};

void summary_init(struct summary *summary);
void summary_release(struct summary *summary);
enum mt_result summary_status(const struct summary *summary, struct mt_error *error);

/* Asserts that columns are as long as their tables, and values what the columns hold. */
void summary_check(const struct summary *summary);

/* A new row after the last. Without memory it is no row: what is put there is lost. */
size_t summary_add(struct summary *summary, enum summary_table table);
/* The same for several; returns the first. */
size_t summary_add_rows(struct summary *summary, enum summary_table table, size_t count);
/* All rows of another one. */
void summary_append(struct summary *summary, const struct summary *from);
void summary_put(struct summary *summary, enum summary_column column, size_t row, uint64_t number);
/* "" in an optional column is a missing value. */
void summary_put_text(struct summary *summary, enum summary_column column, size_t row,
                      const char *terminated);
void summary_put_bytes(struct summary *summary, enum summary_column column, size_t row,
                       const char *bytes, size_t size_bytes);

/* Its number; 0 is "". */
int64_t summary_text_number(struct summary *summary, const char *bytes, size_t size_bytes);
const char *summary_text(const struct summary *summary, int64_t number);

static inline size_t summary_rows(const struct summary *summary, enum summary_table table)
{
    return summary->row_counts[table];
}

static inline bool summary_has(const struct summary *summary, enum summary_column column,
                               size_t row)
{
    return summary->values[column].known[row];
}

/* 0: missing. */
static inline int64_t summary_number(const struct summary *summary, enum summary_column column,
                                     size_t row)
{
    return summary->values[column].numbers[row];
}

static inline uint64_t summary_bytes(const struct summary *summary, enum summary_column column,
                                     size_t row)
{
    int64_t number = summary->values[column].numbers[row];

    return number > 0 ? (uint64_t)number : 0;
}

/* "": missing. */
static inline const char *summary_text_at(const struct summary *summary, enum summary_column column,
                                          size_t row)
{
    return summary_text(summary, summary->values[column].numbers[row]);
}

#endif
