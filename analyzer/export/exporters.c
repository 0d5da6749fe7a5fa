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
    {"sqlite", "a database of everything, for SQL (docs/sqlite-schema.md)", EXPORT_FILE, 0,
     export_sqlite},
    {"memscope-csv", "the csv of msmemscope", EXPORT_TEXT, FOR_CSV, export_memscope_csv},
    {"memscope-db", "the database of msmemscope, for MindStudio Insight", EXPORT_FILE, 0,
     export_memscope_db},
    {"ascend", "a folder as torch_npu's profiler writes it, for Insight and msprof-analyze",
     EXPORT_FOLDER, 0, export_ascend},
    {"pprof", "a profile of stacks, for pprof: at the peak, at the end, growth per step",
     EXPORT_STREAM, 0, export_pprof},
    {"folded", "folded stacks at the peak, for flame graphs", EXPORT_TEXT, FOR_FOLDED,
     export_folded},
    {"speedscope", "the same three profiles for speedscope.app", EXPORT_TEXT, FOR_JSON,
     export_speedscope},
    {"perfetto", "a trace for ui.perfetto.dev: ledgers as counters, steps, operators",
     EXPORT_STREAM, 0, export_perfetto},
    {"chrome", "the same as JSON, for chrome://tracing", EXPORT_TEXT, FOR_JSON, export_chrome},
    {"memory-viz", "a snapshot for pytorch.org/memory_viz, coloured by verdict", EXPORT_STREAM, 0,
     export_memory_viz},
    {"memory-viz-json", "the same as JSON, for scripts: the viewer does not read it", EXPORT_TEXT,
     FOR_JSON, export_memory_viz},
    {"csv", "a line for each block", EXPORT_TEXT, FOR_CSV, export_csv},
    {NULL, NULL, EXPORT_FILE, 0, NULL},
};

const struct exporter *exporter_find(const char *name)
{
    for (const struct exporter *exporter = exporters; exporter->name; exporter++)
        if (strcmp(exporter->name, name) == 0)
            return exporter;
    return NULL;
}
