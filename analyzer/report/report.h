/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer, before anybody decides how it looks: a verdict, findings, tables, series, notes.
 *
 * Analyses fill it, writers read it. The verdict is sentences; each has a rank, and the lowest
 * comes first. Every column and fact has a key that ends in its unit (peak_bytes, time_ns), which
 * is also its name in JSON. All texts are copied. Running out of memory is remembered:
 * report_status() tells. One thread at a time.
 */
#ifndef LEAKTIDE_REPORT_H
#define LEAKTIDE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error_sentence.h"
#include "outlet.h"

struct arena;
struct report;
struct report_table;
struct report_series;
struct report_stack;
struct report_dataset;

/* What a value is. A cell says it for itself, so that columns of facts and findings can mix. */
enum value_kind {
    VALUE_NONE, /* not known, or does not apply */
    VALUE_TEXT,
    VALUE_WORD,    /* one of a fixed list, for people with blanks; data has it as no_data */
    VALUE_UNKNOWN, /* not known, and people read this text */
    VALUE_BYTES,
    VALUE_BYTES_CHANGE, /* signed */
    VALUE_COUNT,
    VALUE_COUNT_CHANGE, /* signed */
    VALUE_TIME_NS,      /* since the start of the run */
    VALUE_DURATION_NS,
    VALUE_EVENT,       /* the number of one, where a source tells no times */
    VALUE_EVENT_COUNT, /* as a duration */
    VALUE_STEP,
    VALUE_PERCENT,
    VALUE_SERIES, /* small numbers, drawn */
    VALUE_FLAG,
    VALUE_STACK /* frames; in text below a finding or a table, never in a cell */
};

struct value {
    enum value_kind kind;
    union {
        const char *text;
        uint64_t number;
        int64_t change;
        const struct report_series *series;
        const struct report_stack *stack;
    };
};

/* Texts are never NULL; "" is not known. */
struct report_frame {
    const char *function, *file, *module;
    uint32_t line; /* 0: not known */
    const char
        *folded_as;  /* "the interpreter": such frames are only counted for people; NULL: shown */
    bool is_inlined; /* in the next outer frame */
    bool is_python;
};

/* A frame, and the stack of who called it; equal ones of a report have the same address. */
struct report_stack {
    const struct report_frame *frame;
    const struct report_stack *caller; /* NULL: it is the outermost */
    uint32_t depth;                    /* frames from here outwards, itself counted */
};

/* A value under its name: a fact, a figure of a finding, a cell of a table's row. */
struct field {
    const char *key;   /* in JSON */
    const char *title; /* for people; NULL: not shown to them */
    struct value value;
};

struct report_column {
    const char *key;
    const char *title; /* NULL: not shown to people */
};

/* Rows of one table that a page for a browser takes; JSON has all. */
enum { REPORT_PAGE_ROWS = 20000 };

/* How the answer is to be taken, for exit codes; the greatest one counts. */
enum report_outcome {
    REPORT_FINE,
    REPORT_NO_DATA, /* too little to judge */
    REPORT_FOUND    /* something is over the limit: a leak */
};

struct finding {
    const char *kind; /* "leak" */
    const char *sentence;
    const struct field *facts;
    size_t fact_count;
};

static inline struct value value_none(void)
{
    return (struct value){.kind = VALUE_NONE, .number = 0};
}

static inline struct value value_text(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .text = text};
}

static inline struct value value_word(const char *word)
{
    return (struct value){.kind = VALUE_WORD, .text = word};
}

static inline struct value value_unknown(const char *text)
{
    return (struct value){.kind = VALUE_UNKNOWN, .text = text};
}

static inline bool value_is_text(const struct value *value)
{
    return value->kind == VALUE_TEXT || value->kind == VALUE_WORD || value->kind == VALUE_UNKNOWN;
}

static inline struct value value_number(enum value_kind kind, uint64_t number)
{
    return (struct value){.kind = kind, .number = number};
}

static inline struct value value_bytes(uint64_t bytes)
{
    return value_number(VALUE_BYTES, bytes);
}

static inline struct value value_count(uint64_t count)
{
    return value_number(VALUE_COUNT, count);
}

static inline struct value value_time(uint64_t ns)
{
    return value_number(VALUE_TIME_NS, ns);
}

static inline struct value value_step(uint64_t step)
{
    return value_number(VALUE_STEP, step);
}

static inline struct value value_change(enum value_kind kind, int64_t change)
{
    return (struct value){.kind = kind, .change = change};
}

static inline struct value value_series(const struct report_series *series)
{
    return (struct value){.kind = VALUE_SERIES, .series = series};
}

/* command: "leaks", as asked for. */
enum mt_result report_create(const char *command, struct report **out, struct mt_error *error);
void report_destroy(struct report *report);
enum mt_result report_status(const struct report *report, struct mt_error *error);

void report_verdict(struct report *report, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* From now on: times are numbers of events, durations how many there were. */
void report_times_are_events(struct report *report);
void report_outcome(struct report *report, enum report_outcome outcome);
/* A line of the head: what was looked at. */
void report_fact(struct report *report, const char *key, const char *title, struct value value);
void report_finding(struct report *report, const char *kind, const char *sentence,
                    const struct field *facts, size_t fact_count);
/*
 * name: what data call it, in snake_case, never with a part of the recording in it. An empty table
 * is written as `when_empty`, one sentence; NULL leaves it out. Its columns are the keys and titles
 * of the first row; an empty table has none.
 */
struct report_table *report_table(struct report *report, const char *name, const char *title,
                                  const char *when_empty);
/* One of several of the same name: what is about the ledger of this label. */
struct report_table *report_ledger_table(struct report *report, const char *name,
                                         const char *ledger, const char *title,
                                         const char *when_empty);
/* The same keys in the same order as in the first row. table may be NULL after a failure. */
void report_row(struct report *report, struct report_table *table, const struct field *fields,
                size_t field_count);
/* A sentence under the table: what it leaves out, what its words mean. */
void report_table_remark(struct report *report, struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Numbers for a VALUE_SERIES; copied. key_x: "step", unit of y by kind. */
const struct report_series *report_series(struct report *report, enum value_kind kind,
                                          const uint64_t *numbers, size_t count);
/*
 * Numbers for pictures, too many for a table: columns of any length, as many as are told
 * here. Only writers that draw look at them. dataset may be NULL after a failure.
 */
struct report_dataset *report_dataset(struct report *report, const char *name, size_t column_count);
void report_dataset_numbers(struct report *report, struct report_dataset *dataset, const char *key,
                            const uint64_t *numbers, size_t count);
void report_dataset_texts(struct report *report, struct report_dataset *dataset, const char *key,
                          const char *const *texts, size_t count);
/* A VALUE_STACK of count frames, innermost first, which are copied; nothing if there are none. */
struct value report_stack(struct report *report, const struct report_frame *frames, size_t count);
/* What was lost, skipped or guessed. */
void report_note(struct report *report, uint64_t count, const char *sentence);
/* Where texts may be put that live as long as the report; report_status() tells if it had no
 * memory for one. */
struct arena *report_arena(struct report *report);
/* In that arena. */
const char *report_text(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For writers. */

const char *report_command(const struct report *report);
enum report_outcome report_outcome_of(const struct report *report);
size_t report_verdict_count(const struct report *report);
const char *report_verdict_at(const struct report *report, size_t index); /* by rank */
size_t report_fact_count(const struct report *report);
const struct field *report_fact_at(const struct report *report, size_t index);
size_t report_finding_count(const struct report *report);
const struct finding *report_finding_at(const struct report *report, size_t index);
size_t report_table_count(const struct report *report);
struct report_table_view {
    const char *name, *ledger, *title, *when_empty; /* ledger: NULL for none */
    const struct report_column *columns;
    size_t column_count, row_count, remark_count;
};
struct report_table_view report_table_at(const struct report *report, size_t index);
const struct value *report_row_at(const struct report *report, size_t table, size_t row);
const char *report_remark_at(const struct report *report, size_t table, size_t remark);
const uint64_t *report_series_numbers(const struct report_series *series, size_t *count,
                                      enum value_kind *kind);
size_t report_note_count(const struct report *report);
const char *report_note_at(const struct report *report, size_t index, uint64_t *count);
struct report_dataset_column {
    const char *key;
    const uint64_t *numbers;  /* NULL: texts */
    const char *const *texts; /* NULL: numbers */
    size_t count;
};
size_t report_dataset_count(const struct report *report);
struct report_dataset_view {
    const char *name;
    const struct report_dataset_column *columns;
    size_t column_count;
};
struct report_dataset_view report_dataset_at(const struct report *report, size_t index);

#endif
