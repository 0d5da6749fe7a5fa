/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open recording, as the inside of the analyzer sees it.
 */
#ifndef LEAKTIDE_TRACE_QUESTION_H
#define LEAKTIDE_TRACE_QUESTION_H

#include "analysis.h"
#include "helpers.h"
#include "leaktide/analyzer.h"
#include "model.h"

/* What a question needs of a recording. */
enum trace_need {
    TRACE_SUMS,
    TRACE_TOTALS, /* of processes and pools alone */
    TRACE_BLOCKS  /* sums, and blocks that may be seen while they are added up: trace_pending() */
};
struct trace_scope {
    enum trace_need need;
    enum loads_wanted loads;
};

/*
 * As mt_trace_open_with(); options are whole; their question is a name of answer_kinds, and
 * kept.
 */
enum mt_result trace_open(const char *const *paths, size_t count,
                          const struct mt_open_options *options, struct trace_scope scope,
                          struct mt_trace **out, struct mt_error *error);
/* The same of one process, by the number of its row: of a source that has a file for each. Others
 * are read whole. */
enum mt_result trace_open_process(const char *path, uint16_t process,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error);
/* What tells whether that process was a helper; its executable is borrowed from the model. */
struct process_use trace_process_use(const struct mt_trace *trace);
/* Before something is asked. question: NULL: no question of answer_kinds. MT_USAGE: the trace was
 * opened for another one, or without pictures. */
enum mt_result trace_allows(const struct mt_trace *trace, const char *question, bool has_pictures,
                            struct mt_error *error);
/* NULL is fine. */
void trace_close(struct mt_trace *trace);

/* With the options that a command has by default. Borrowed from the trace. */
struct question trace_question(const struct mt_trace *trace);
/* What is to be read before anything is answered; only after TRACE_BLOCKS. NULL: nothing. Good
 * until it is done. */
const struct pending_sums *trace_pending(const struct mt_trace *trace);
/* Of the question; to be read into again. */
struct model *trace_model(const struct mt_trace *trace);
/* The first of its inputs. */
const char *trace_path(const struct mt_trace *trace);
bool trace_has_input(const struct mt_trace *trace, const char *path);
uint64_t trace_lost_count(const struct mt_trace *trace);
uint64_t trace_event_count(const struct mt_trace *trace);
/* Nothing was lost while recording, and everything recorded can be read. */
bool trace_is_complete(const struct mt_trace *trace);

/* As mt_trace_keep_names(). */
enum mt_result trace_keep_names(struct mt_trace *trace, struct mt_error *error);

/*
 * Around something that may read the trace again: what was cancelled before is read, and what was
 * cancelled meanwhile becomes MT_CANCELLED, also where readers made a sentence of it.
 */
void trace_begin(struct mt_trace *trace);
enum mt_result trace_end(const struct mt_trace *trace, enum mt_result result,
                         struct mt_error *error);

#endif
