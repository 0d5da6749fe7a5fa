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

#include "leaktide/answer.h"
#include "leaktide/error.h"
#include "leaktide/library.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mt_trace;

/* As many rows as the question itself thinks right. */
#define MT_TOP_DEFAULT  ((size_t)-1)

/* For the format html: the inputs are read once more, for what a picture needs. */
#define MT_ASK_PICTURES ((uint64_t)1)

/*
 * Entries are only ever added at the end; size_bytes = sizeof(struct mt_ask_options). What is newer
 * than the library must be 0: else MT_UNSUPPORTED, as for all such structs.
 */
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
    unsigned stack_depth; /* so many calls; 0: all. Of "layers": names of a path; 0: as fits */
    unsigned stack_least_percent; /* branches with less are left out */
    /* Of "frag": settings of the caching allocator to try beside the usual ones, as
     * PYTORCH_CUDA_ALLOC_CONF has them; NULL: none. */
    const char *allocator_settings;
    /* Of "ranks": how ranks are numbered, "tp=2,dp=8,pp=4", what changes fastest first; NULL: not
     * known. */
    const char *parallel;
    /* Of "ranks" of summaries, with MT_ASK_PICTURES: the folder in which the page will lie; links
     * to pages of ranks lead from there. NULL: the working directory. */
    const char *page_folder;
    /* Of "leaks": people are told, too, which rule decided about sites whose name has this in it;
     * "": about all; NULL: about none. Data have it in any case. */
    const char *why;
};

/* How far a reading has come. Made by the library: entries are only ever added at the end. */
struct mt_progress {
    uint64_t event_count;    /* so far, in this reading */
    uint64_t expected_count; /* in all; 0: not known yet, in the first reading */
    unsigned reading;        /* from 1; found steps and answers about single blocks need more */
};

/*
 * Called on the thread that opens, asks, compares or exports, before the first event of each
 * reading and each 65,536 events. False cancels: the call that reads returns MT_CANCELLED. A trace
 * whose reading was cancelled can be asked again. Must not use the trace.
 */
typedef bool (*mt_progress_function)(void *context, const struct mt_progress *progress);

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
    /* Told now and then while the recording is read; false stops that. NULL: nobody. */
    mt_progress_function on_progress;
    void *progress_context; /* handed on */
    /* Debug data that is not here is asked for from the servers that DEBUGINFOD_URLS names, by
     * elfutils' client, if it is installed. */
    bool asks_debug_servers;
    /* The only question that will be asked: what it does not need is not read, and everything else
     * that is asked of the trace is MT_USAGE. "info" needs no call sites, and no steps but those
     * that the program marked; all but "stacks" leave plumbing out of the stacks of Python's
     * imports, and keep their modules, packages and libraries ("leaks", "report", "verdict" and
     * "ranks" without pictures: no libraries). NULL: any question. Not kept. */
    const char *question;
    /* Of that question: with MT_ASK_PICTURES pictures are part of it; else they are not. */
    uint64_t ask_flags;
    /* Whose a block is, of operators that call each other: "profiler", the innermost, as profilers
     * have it; "caller", what needs it, without what only allocates for others. NULL: "profiler"
     * where "ops" is the only question, else "caller". */
    const char *operators;
};

/*
 * Reads all inputs, one after the other, into one picture; memory grows with live blocks and
 * sites, not with events.
 *
 * paths    count >= 1 files or folders; not kept
 * options  NULL: none. Of MT_USAGE, error->option is the member that is wrong.
 *
 * Returns MT_OK; MT_NOT_FOUND, MT_IO: an input is not there or cannot be read; MT_UNSUPPORTED: of
 * no known kind, or of a newer version; MT_USAGE: no path, the steps or the question, or a folder
 * of several runs; MT_CORRUPT: damaged beyond use; MT_NO_DATA: a recording that is empty, or
 * without memory; MT_CANCELLED; MT_NO_MEMORY. Of several inputs, one that is MT_UNSUPPORTED or
 * MT_NO_DATA is left out, and makes the recording incomplete unless it is a file that belongs to
 * another.
 */
MT_API enum mt_result mt_trace_open(const char *const *paths, size_t count, struct mt_trace **out,
                                    struct mt_error *error);
MT_API enum mt_result mt_trace_open_with(const char *const *paths, size_t count,
                                         const struct mt_open_options *options,
                                         struct mt_trace **out, struct mt_error *error);
MT_API void mt_trace_close(struct mt_trace *trace);

/* False: events were lost while recording, or something recorded cannot be read any more. */
MT_API bool mt_trace_is_complete(const struct mt_trace *trace);
/* Events that are known to be missing. Not 0 means that sums may be too small. */
MT_API uint64_t mt_trace_lost_count(const struct mt_trace *trace);
MT_API uint64_t mt_trace_event_count(const struct mt_trace *trace);

/*
 * question  a name that mt_question_at() gives
 * options   NULL: as the command line has them
 *
 * The answer lives until mt_answer_close(), also when the trace is closed before.
 * Returns MT_OK; MT_USAGE if there is no such question, or an allocator has no such setting or it
 * is not modelled; MT_CANCELLED; or MT_NO_MEMORY.
 */
MT_API enum mt_result mt_trace_ask(struct mt_trace *trace, const char *question,
                                   const struct mt_ask_options *options, struct mt_answer **out,
                                   struct mt_error *error);

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
MT_API enum mt_result mt_trace_diff(const struct mt_diff_side *sides, size_t side_count,
                                    const struct mt_ask_options *options, struct mt_answer **out,
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
MT_API enum mt_result mt_trace_export(struct mt_trace *trace, const char *exporter,
                                      const char *path, struct mt_error *error);

/*
 * Puts the names of the recording's functions into its folder, of one that leaktide recorded: so
 * that they stay when its programs are built again. They are written when the trace is closed.
 *
 * Returns MT_OK, also where there is nothing to name; MT_USAGE: it has several inputs; MT_IO: the
 * folder cannot be made.
 */
MT_API enum mt_result mt_trace_keep_names(struct mt_trace *trace, struct mt_error *error);

/* Names, NULL after the last; meaning, unless NULL, gets a line that explains it. */
MT_API const char *mt_question_at(size_t index, const char **meaning);
MT_API const char *mt_exporter_at(size_t index, const char **meaning);

#ifdef __cplusplus
}
#endif

#endif
