/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer: its verdict, what was found, its tables, every value with its unit; and all of it
 * written in a format.
 *
 *     const struct mt_finding *finding;
 *
 *     for (size_t i = 0; (finding = mt_answer_finding_at(answer, i)); i++)
 *         printf("%s: %" PRIu64 " bytes per step\n",
 *                mt_value_text(mt_finding_value(finding, "site")),
 *                mt_value_number(mt_finding_value(finding, "growth_bytes_per_step")));
 *
 * Everything that is returned is borrowed until mt_answer_close(); texts are UTF-8 as recorded, so
 * not harmless for a terminal. A list ends with NULL. Keys are those of docs/json-schema.md; a key
 * ends in its unit. From several threads while nobody closes the answer.
 */
#ifndef LEAKTIDE_ANSWER_H
#define LEAKTIDE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "leaktide/error.h"
#include "leaktide/library.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mt_answer;
struct mt_finding;
struct mt_table;
struct mt_value;

/* How an answer is to be taken; the exit code of the command is made from it. */
enum mt_outcome {
    MT_OUTCOME_FINE = 0,
    MT_OUTCOME_NO_DATA, /* too little was recorded to judge */
    MT_OUTCOME_FOUND    /* something is over the limit: a leak */
};

MT_API enum mt_outcome mt_answer_outcome(const struct mt_answer *answer);
/* The sentences of the verdict, most important first. */
MT_API size_t mt_answer_verdict_count(const struct mt_answer *answer);
MT_API const char *mt_answer_verdict_at(const struct mt_answer *answer, size_t index);
/* What was lost, skipped or guessed, as sentences; count, unless NULL, gets how often, or 0. */
MT_API const char *mt_answer_note_at(const struct mt_answer *answer, size_t index, uint64_t *count);

/* Single values about the recording: "step_count". NULL: there is none of that key. */
MT_API const struct mt_value *mt_answer_fact(const struct mt_answer *answer, const char *key);
MT_API const struct mt_value *mt_answer_fact_at(const struct mt_answer *answer, size_t index,
                                                const char **key);

/*
 * What was found, most important first. The values of a leak: "site", "ledger", "stack",
 * "growth_bytes_per_step", "what_to_do" and others.
 */
MT_API const struct mt_finding *mt_answer_finding_at(const struct mt_answer *answer, size_t index);
MT_API const char *mt_finding_kind(const struct mt_finding *finding); /* "leak" */
MT_API const char *mt_finding_sentence(const struct mt_finding *finding);
/* NULL: there is none of that key. */
MT_API const struct mt_value *mt_finding_value(const struct mt_finding *finding, const char *key);
MT_API const struct mt_value *mt_finding_value_at(const struct mt_finding *finding, size_t index,
                                                  const char **key);

MT_API const struct mt_table *mt_answer_table_at(const struct mt_answer *answer, size_t index);
MT_API const char *mt_table_name(const struct mt_table *table);  /* for programs: "leaks" */
MT_API const char *mt_table_title(const struct mt_table *table); /* for people */
/* The memory pool that it is about, as people read it; NULL: about none, or about all. */
MT_API const char *mt_table_ledger(const struct mt_table *table);
MT_API size_t mt_table_row_count(const struct mt_table *table);
MT_API size_t mt_table_column_count(const struct mt_table *table);
/* The key of a column; title, unless NULL, gets what people read, or NULL: not shown to them. */
MT_API const char *mt_table_column_at(const struct mt_table *table, size_t column,
                                      const char **title);
/* NULL: the table is smaller. */
MT_API const struct mt_value *mt_table_value(const struct mt_table *table, size_t row,
                                             size_t column);
/* Sentences below the table. */
MT_API const char *mt_table_remark_at(const struct mt_table *table, size_t index);

/* What a value is; kinds are only ever added. Two cells of a column may differ. */
enum mt_value_kind {
    MT_VALUE_NONE = 0, /* not known, or does not apply */
    MT_VALUE_TEXT,
    MT_VALUE_BYTES,
    MT_VALUE_BYTES_CHANGE, /* signed */
    MT_VALUE_COUNT,
    MT_VALUE_COUNT_CHANGE, /* signed */
    MT_VALUE_TIME_NS,      /* since the start of the run */
    MT_VALUE_DURATION_NS,
    MT_VALUE_STEP,
    MT_VALUE_PERCENT,
    MT_VALUE_FLAG, /* 0 or 1 */
    MT_VALUE_SERIES,
    MT_VALUE_STACK,
    MT_VALUE_WORD /* one of a fixed list, with blanks where JSON has underscores */
};

/* Each takes NULL, and a value of another kind, as a value that is not known. */
MT_API enum mt_value_kind mt_value_kind(const struct mt_value *value);
MT_API uint64_t mt_value_number(const struct mt_value *value);  /* 0: not known */
MT_API int64_t mt_value_change(const struct mt_value *value);   /* of the signed kinds; else 0 */
MT_API const char *mt_value_text(const struct mt_value *value); /* "": not known */
/* *count numbers; of, unless NULL, gets the kind of each. NULL: not known. */
MT_API const uint64_t *mt_value_series(const struct mt_value *value, size_t *count,
                                       enum mt_value_kind *of);

/* A call. Texts are never NULL; "" is not known. */
struct mt_frame {
    const char *function, *file, *module;
    uint32_t line;    /* 0: not known */
    bool is_inlined;  /* in the next outer frame */
    bool is_plumbing; /* of an interpreter or a framework: of no interest to people */
};

/* Innermost first; false behind the last. */
MT_API bool mt_value_frame_at(const struct mt_value *stack, size_t index, struct mt_frame *frame);

enum {
    MT_WRITE_COLOURS = 1 << 0, /* the escape sequences of a terminal, ECMA-48 */
    MT_WRITE_LINKS = 1 << 1,   /* places in source files as links, OSC 8 */
    MT_WRITE_WIDE = 1 << 2,    /* tables keep all columns, whatever columns says */
    MT_WRITE_SOURCES =
        1 << 3 /* "html": lines of source files, as far as they are on this machine */
};

/*
 * How an answer is shown. All 0: everything, without escape sequences, lines of any length.
 * Entries are only ever added at the end; size_bytes = sizeof(struct mt_write_options).
 */
struct mt_write_options {
    size_t size_bytes;
    uint64_t flags;    /* MT_WRITE_... */
    size_t columns;    /* of a terminal: "text" breaks sentences, and cuts and leaves out columns */
    size_t lines;      /* "text" names what comes after so many; 0: all is shown */
    const char *table; /* "csv" and "md": the tables of this name alone; NULL: all */
};

/*
 * format   a name that mt_format_at() gives
 * options  NULL: none
 *
 * Returns MT_OK, MT_USAGE if there is no such format or table, or MT_IO.
 */
MT_API enum mt_result mt_answer_write(const struct mt_answer *answer, const char *format, FILE *out,
                                      struct mt_error *error);
MT_API enum mt_result mt_answer_write_with(const struct mt_answer *answer, const char *format,
                                           const struct mt_write_options *options, FILE *out,
                                           struct mt_error *error);
/* Takes the next bytes; false: they cannot be taken, and no more are wanted. */
typedef bool (*mt_write_function)(void *context, const void *bytes, size_t size_bytes);
/* The same, to a function of the caller. */
MT_API enum mt_result mt_answer_write_to(const struct mt_answer *answer, const char *format,
                                         mt_write_function write, void *context,
                                         struct mt_error *error);

MT_API void mt_answer_close(struct mt_answer *answer);

/* Names, NULL behind the last; meaning, unless NULL, gets a line that explains it. */
MT_API const char *mt_format_at(size_t index, const char **meaning);

#ifdef __cplusplus
}
#endif

#endif
