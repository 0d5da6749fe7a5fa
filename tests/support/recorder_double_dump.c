/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rest of a preloadable tracer that records into an array: records everything, and writes one
 * JSON object a line to the file named by MT_DOUBLE_OUTPUT when the program ends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "recorder_double.h"

#define RECORD(code, name, fields, meaning) [code] = #name,
static const char *const code_names[MT_RECORD_CODE_END] = {
#include "leaktide/records.def"
};
#undef RECORD

const struct config *config_get(void)
{
    static const struct config everything = {
        .records_device = true, .records_launches = true, .records_accesses = true};

    return &everything;
}

/* A text as part of a JSON string; the texts of tests hold no control characters. */
static void text_write(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
}

static const char *function_of(const void *site)
{
    Dl_info info;

    return site && dladdr(site, &info) && info.dli_sname ? info.dli_sname : "";
}

__attribute__((destructor)) static void events_write(void)
{
    const char *path = getenv("MT_DOUBLE_OUTPUT");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    for (size_t i = 0; i < double_event_count(); i++) {
        const struct double_event *event = &double_events[i];

        fprintf(file, "{\"event\": \"%s\", \"text\": \"", code_names[event->code]);
        text_write(file, event->text);
        fprintf(file,
                "\", \"device\": %d, \"kind\": %d, \"flags\": %d, \"address\": %" PRIu64
                ", \"size_bytes\": %" PRIu64 ", \"status\": %" PRId64 ", \"function\": \"%s\"}\n",
                event->place.device, event->place.kind, event->place.flags, event->address,
                event->size_bytes, (int64_t)event->status, function_of(event->site));
    }
    fclose(file);
}
