/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporters.
 */
#include <string.h>

#include "export.h"
#include "memscope_events.h"
#include "stack_weights.h"
#include "timeline.h"

const struct exporter exporters[] = {
    {"sqlite", "a database of everything, for SQL (docs/sqlite-schema.md)", EXPORT_FILE,
     export_sqlite},
    {"memscope-csv", "the csv of msmemscope", EXPORT_STREAM, export_memscope_csv},
    {"memscope-db", "the database of msmemscope, for MindStudio Insight", EXPORT_FILE,
     export_memscope_db},
    {"ascend", "a folder as torch_npu's profiler writes it, for Insight and msprof-analyze",
     EXPORT_FOLDER, export_ascend},
    {"pprof", "a profile of stacks, for pprof: at the peak, at the end, growth per step",
     EXPORT_STREAM, export_pprof},
    {"folded", "folded stacks at the peak, for flame graphs", EXPORT_STREAM, export_folded},
    {"speedscope", "the same three profiles for speedscope.app", EXPORT_STREAM, export_speedscope},
    {"perfetto", "a trace for ui.perfetto.dev: ledgers as counters, steps, operators",
     EXPORT_STREAM, export_perfetto},
    {"chrome", "the same as JSON, for chrome://tracing", EXPORT_STREAM, export_chrome},
    {"memory-viz", "a snapshot for pytorch.org/memory_viz, coloured by verdict", EXPORT_STREAM,
     export_memory_viz},
    {"memory-viz-json", "the same as JSON, for scripts: the viewer does not read it", EXPORT_STREAM,
     export_memory_viz_json},
    {"csv", "a line for each block", EXPORT_STREAM, export_csv},
    {NULL, NULL, EXPORT_FILE, NULL},
};

const struct exporter *exporter_find(const char *name)
{
    for (const struct exporter *exporter = exporters; exporter->name; exporter++)
        if (strcmp(exporter->name, name) == 0)
            return exporter;
    return NULL;
}
