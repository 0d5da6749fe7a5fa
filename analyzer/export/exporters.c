/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporters.
 */
#include <string.h>

#include "export.h"
#include "memscope_events.h"

const struct exporter exporters[] = {
    {"sqlite", "a database of everything, for SQL (docs/sqlite-schema.md)", EXPORT_FILE,
     export_sqlite},
    {"memscope-csv", "the csv of msmemscope", EXPORT_STREAM, export_memscope_csv},
    {"memscope-db", "the database of msmemscope, for MindStudio Insight", EXPORT_FILE,
     export_memscope_db},
    {"ascend", "a folder as torch_npu's profiler writes it, for Insight and msprof-analyze",
     EXPORT_FOLDER, export_ascend},
    {NULL, NULL, EXPORT_FILE, NULL},
};

const struct exporter *exporter_find(const char *name)
{
    for (const struct exporter *exporter = exporters; exporter->name; exporter++)
        if (strcmp(exporter->name, name) == 0)
            return exporter;
    return NULL;
}
