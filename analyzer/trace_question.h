/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open recording, as the inside of the analyzer sees it.
 */
#ifndef LEAKTIDE_TRACE_QUESTION_H
#define LEAKTIDE_TRACE_QUESTION_H

#include "analysis.h"
#include "leaktide/analyzer.h"

/* With the options that a command has by default. Borrowed from the trace. */
struct question trace_question(const struct mt_trace *trace);
/* Of the question; to be read into again. */
struct model *trace_model(const struct mt_trace *trace);
/* The first of its inputs. */
const char *trace_path(const struct mt_trace *trace);

#endif
