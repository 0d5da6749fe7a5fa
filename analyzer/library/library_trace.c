/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings, as leaktide/analyzer.h has them.
 */
#include <string.h>

#include "analyses.h"
#include "export.h"
#include "leaktide/analyzer.h"
#include "taken_options.h"
#include "trace_question.h"

#ifndef LEAKTIDE_VERSION
#error "the build says which version this is"
#endif

const char *mt_version(void)
{
    return LEAKTIDE_VERSION;
}

enum mt_result mt_trace_open(const char *const *paths, size_t count, struct mt_trace **out,
                             struct mt_error *error)
{
    return mt_trace_open_with(paths, count, NULL, out, error);
}

static enum mt_result no_question(const char *name, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "there is no question named %s", name);
}

/* kind: NULL: any question may be asked. */
static struct trace_scope scope_of(const struct answer_kind *kind, bool has_pictures)
{
    struct trace_scope scope = {TRACE_SUMS, LOADS_WHOLE};

    if (!kind)
        return scope;
    if (answer_is_of_totals(kind) && !has_pictures)
        scope.need = TRACE_TOTALS;
    else if (answer_sees_blocks_early(kind))
        scope.need = TRACE_BLOCKS;
    if (!answer_is_of_frames(kind))
        scope.loads =
            scope.need == TRACE_BLOCKS && !has_pictures ? LOADS_OF_PYTHON : LOADS_IN_SHORT;
    return scope;
}

enum mt_result mt_trace_open_with(const char *const *paths, size_t count,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error)
{
    struct mt_open_options whole = {.size_bytes = sizeof(whole)};
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);
    const struct answer_kind *kind = NULL;

    if (result == MT_OK)
        result = paths_take(count, error);
    if (result == MT_OK && whole.question) {
        kind = answer_kind_find(whole.question);
        if (!kind)
            return mt_error_of(error, "question", no_question(whole.question, error));
        whole.question = kind->name;
    }
    if (result != MT_OK)
        return result;
    return trace_open(paths, count, &whole, scope_of(kind, whole.ask_flags & MT_ASK_PICTURES), out,
                      error);
}

void mt_trace_close(struct mt_trace *trace)
{
    trace_close(trace);
}

uint64_t mt_trace_lost_count(const struct mt_trace *trace)
{
    return trace_lost_count(trace);
}

bool mt_trace_is_complete(const struct mt_trace *trace)
{
    return trace_is_complete(trace);
}

uint64_t mt_trace_event_count(const struct mt_trace *trace)
{
    return trace_event_count(trace);
}

enum mt_result mt_trace_keep_names(struct mt_trace *trace, struct mt_error *error)
{
    enum mt_result result = trace_allows(trace, NULL, false, error);

    return result == MT_OK ? trace_keep_names(trace, error) : result;
}

enum mt_result mt_trace_export(struct mt_trace *trace, const char *name, const char *path,
                               struct mt_error *error)
{
    const struct exporter *exporter = exporter_find(name);
    struct question question = trace_question(trace);
    enum mt_result result;

    if (!exporter)
        return mt_error_set(error, MT_USAGE, "there is no exporter named %s", name);
    if (trace_has_input(trace, path))
        return mt_error_set(error, MT_USAGE, "%s is an input; write somewhere else", path);
    result = trace_allows(trace, NULL, false, error);
    if (result != MT_OK)
        return result;
    trace_begin(trace);
    result = export_write(exporter, &question, trace_model(trace), path, error);
    return trace_end(trace, result, error);
}

const char *mt_exporter_at(size_t index, const char **meaning)
{
    const struct exporter *exporter = exporters;

    while (exporter->name && index--)
        exporter++;
    if (exporter->name && meaning)
        *meaning = exporter->meaning;
    return exporter->name;
}
