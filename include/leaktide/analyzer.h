/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask recordings questions: open inputs, ask, write the answer.
 *
 *     struct mt_trace *trace;
 *     struct mt_answer *answer;
 *     struct mt_error error;
 *
 *     if (mt_trace_open(paths, 1, &trace, &error) == MT_OK &&
 *         mt_trace_ask(trace, "leaks", NULL, &answer, &error) == MT_OK)
 *         mt_answer_write(answer, "text", stdout, &error);
 *
 * What you open or ask for, you close; closing accepts NULL. Objects are for one thread at a time;
 * different traces may be used in different threads.
 */
#ifndef LEAKTIDE_ANALYZER_H
#define LEAKTIDE_ANALYZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "leaktide/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mt_trace;
struct mt_answer;

/* As many rows as the question itself thinks right. */
#define MT_TOP_DEFAULT  ((size_t)-1)

/* For the format html: the inputs are read once more, for what a picture needs. */
#define MT_ASK_PICTURES ((uint64_t)1)

/* Entries are only ever added at the end; size_bytes = sizeof(struct mt_ask_options). */
struct mt_ask_options {
    size_t size_bytes;
    size_t top;              /* rows of a list; 0: all; MT_TOP_DEFAULT */
    int warm_up_steps;       /* steps that are not judged; -1: chosen, and said in the answer */
    unsigned margin_percent; /* near a peak: at most so much below it; 0: 5 */
    /* Which blocks "blocks" lists; NULL and 0: all. */
    const char *block_name; /* part of the name of site, operator or owner */
    uint64_t block_least_bytes, block_most_bytes;
    /* Alive at some time from, to: since the start of the run, or, if that large, since 1970. */
    uint64_t block_from_ns, block_to_ns;
    uint64_t flags; /* MT_ASK_... */
    /* Of "stacks". */
    unsigned stack_depth;         /* so many calls; 0: all */
    unsigned stack_least_percent; /* branches with less are left out */
    /* Of "frag": settings of the caching allocator to try beside the usual ones, as
     * PYTORCH_CUDA_ALLOC_CONF has them; NULL: none. */
    const char *allocator_settings;
};

/* How an answer is to be taken; the exit code of the command is made from it. */
enum mt_outcome {
    MT_OUTCOME_FINE = 0,
    MT_OUTCOME_NO_DATA, /* too little was recorded to judge */
    MT_OUTCOME_FOUND    /* something is over the limit: a leak */
};

/*
 * Reads all inputs, one after the other, into one picture; memory grows with live blocks and
 * sites, not with events.
 *
 * paths   count >= 1 files or folders; not kept
 *
 * Returns MT_OK; MT_NOT_FOUND, MT_IO: an input is not there or cannot be read; MT_UNSUPPORTED: of
 * no known kind, or of a newer version; MT_USAGE: the steps asked for; MT_CORRUPT: damaged beyond
 * use; MT_NO_DATA: an empty recording; MT_NO_MEMORY.
 */
enum mt_result mt_trace_open(const char *const *paths, size_t count, struct mt_trace **out,
                             struct mt_error *error);
/* Entries are only ever added at the end; size_bytes = sizeof(struct mt_open_options). */
struct mt_open_options {
    size_t size_bytes;
    /* Of an input that is damaged, what can be read is taken; the answer says where it ends, and
     * mt_trace_is_complete() is false. */
    bool is_partial;
    /* Which steps are looked at: docs/steps.md. NULL and 0: all. */
    const char *steps; /* numbers, "3-7,9"; not together with a schedule */
    struct mt_step_schedule {
        uint64_t skip_first, wait, warmup, active, repeat; /* as the profilers' schedules */
    } schedule;
    /* What begins a step, by name. NULL: the program's marks, else what comes with a period; "":
     * marks only. */
    const char *step_site;
    /* Where names of functions come from; NULL: nothing besides what is always looked at. Lists are
     * separated by colons. */
    const char *site_rules;    /* files: what frames are plumbing; before the built-in rules */
    const char *sysroot;       /* folder: root of the recorded machine's files */
    const char *debug_folders; /* folders with debug data */
};
enum mt_result mt_trace_open_with(const char *const *paths, size_t count,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error);
void mt_trace_close(struct mt_trace *trace);

/* False: events were lost while recording, or something recorded cannot be read any more. */
bool mt_trace_is_complete(const struct mt_trace *trace);
/* Events that are known to be missing. Not 0 means that sums may be too small. */
uint64_t mt_trace_lost_count(const struct mt_trace *trace);
uint64_t mt_trace_event_count(const struct mt_trace *trace);

/*
 * question  a name that mt_question_at() gives
 * options   NULL: as the command line has them
 *
 * The answer lives until mt_answer_close(), also when the trace is closed before.
 * Returns MT_OK; MT_USAGE if there is no such question, or an allocator has no such setting or it
 * is not modelled; or MT_NO_MEMORY.
 */
enum mt_result mt_trace_ask(struct mt_trace *trace, const char *question,
                            const struct mt_ask_options *options, struct mt_answer **out,
                            struct mt_error *error);
void mt_answer_close(struct mt_answer *answer);

/* One side of a comparison: a recording, or one step of it. */
struct mt_diff_side {
    struct mt_trace *trace;
    const char *name; /* for people; not kept */
    bool is_step;     /* only the step of that number, as the program counts */
    uint64_t step_number;
};

/*
 * What changed: by ledger, site, operator, owner and module.
 *
 * sides    side_count >= 2: the bases first, the current one last. What several bases differ in
 *          among themselves is noise. A trace may be on several sides.
 * options  as mt_trace_ask(); the outcome is MT_OUTCOME_FOUND when a peak grew, or what is kept at
 *          the end.
 *
 * Reads every side again. The answer lives until mt_answer_close().
 * Returns as mt_trace_open(), and MT_NO_DATA when there is no such step, MT_USAGE for fewer than
 * two sides or more than 64.
 */
enum mt_result mt_trace_diff(const struct mt_diff_side *sides, size_t side_count,
                             const struct mt_ask_options *options, struct mt_answer **out,
                             struct mt_error *error);

enum mt_compare_level { MT_COMPARE_OPERATORS, MT_COMPARE_KERNELS };

/*
 * The same as a csv in the form of msmemscope's compare: a line for each operator that ended, or
 * for each kernel that was launched, lined up by name; what was allocated in it, or since the
 * kernel before.
 *
 * Returns as mt_trace_open(), and MT_NO_DATA when a recording has no operators, or no kernels.
 */
enum mt_result mt_trace_compare_csv(struct mt_trace *base, struct mt_trace *current,
                                    enum mt_compare_level level, FILE *out, struct mt_error *error);

/*
 * With the numbers of that tool itself, from two csv files of msleaks or msmemscope: the size of
 * the first allocation or release of a pool at or after the element.
 */
enum mt_result mt_memscope_compare_csv(const char *base, const char *current,
                                       enum mt_compare_level level, FILE *out,
                                       struct mt_error *error);

enum mt_outcome mt_answer_outcome(const struct mt_answer *answer);
/* The sentences of the verdict, most important first. Borrowed. */
size_t mt_answer_verdict_count(const struct mt_answer *answer);
const char *mt_answer_verdict_at(const struct mt_answer *answer, size_t index);

/*
 * format  a name that mt_format_at() gives
 *
 * Returns MT_OK, MT_USAGE if there is no such format, or MT_IO.
 */
enum mt_result mt_answer_write(const struct mt_answer *answer, const char *format, FILE *out,
                               struct mt_error *error);

/*
 * Writes the recording for another program; reads the inputs once more.
 *
 * exporter  a name that mt_exporter_at() gives
 * path      a file, replaced only when the new one is whole; or a folder, that must not be there or
 *           be empty; NULL: standard output, for those that can
 *
 * Returns MT_OK; MT_USAGE: there is no such exporter, or the path cannot be written, is one of the
 * inputs or may not be replaced; MT_NO_DATA: the recording lacks what the other program needs; else
 * as mt_trace_open().
 */
enum mt_result mt_trace_export(struct mt_trace *trace, const char *exporter, const char *path,
                               struct mt_error *error);

/* Names, NULL after the last; meaning, unless NULL, gets a line that explains it. */
const char *mt_question_at(size_t index, const char **meaning);
const char *mt_format_at(size_t index, const char **meaning);
const char *mt_exporter_at(size_t index, const char **meaning);

#ifdef __cplusplus
}
#endif

#endif
