/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.json, as msmemscope writes it: keys in the order of the alphabet, four blanks.
 */
#include "compat_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS_THERE = 5, CONFIG_MODE = 0640 };

static void add_flag(struct text_builder *text, const char *key, bool value)
{
    text_add_format(text, "    \"%s\": %s,\n", key, value ? "true" : "false");
}

static void add_number(struct text_builder *text, const char *key, uint32_t value)
{
    text_add_format(text, "    \"%s\": %u,\n", key, value);
}

static void add_string(struct text_builder *text, const char *value)
{
    text_add(text, "\"");
    for (; *value; value++)
        if (*value == '"' || *value == '\\')
            text_add_format(text, "\\%c", *value);
        else if ((unsigned char)*value < ' ')
            text_add_format(text, "\\u%04x", (unsigned char)*value);
        else
            text_add_char(text, *value, 1);
    text_add(text, "\"");
}

/* Five of them are always there; we take more. */
static void add_steps(struct text_builder *text, const struct compat_request *request)
{
    size_t count = request->dump.step_count > STEPS_THERE ? request->dump.step_count : STEPS_THERE;

    text_add_format(text,
                    "    \"SelectedStepList\": {\n        \"stepCount\": %zu,\n"
                    "        \"stepIdList\": [\n",
                    request->dump.step_count);
    for (size_t i = 0; i < count; i++)
        text_add_format(text, "            %u%s\n",
                        i < request->dump.step_count ? request->dump.steps[i] : 0,
                        i + 1 < count ? "," : "");
    text_add(text, "        ]\n    },\n");
}

static void add_watch(struct text_builder *text, const struct compat_watch *watch)
{
    text_add(text, "    \"watchConfig\": {\n        \"end\": ");
    add_string(text, watch->end);
    text_add_format(text,
                    ",\n        \"fullContent\": %s,\n        \"isWatched\": %s,\n"
                    "        \"outputId\": %u,\n        \"start\": ",
                    watch->has_full_content ? "true" : "false", watch->is_wanted ? "true" : "false",
                    watch->output_id);
    add_string(text, watch->start);
    text_add(text, "\n    }\n}");
}

static void add_output(struct text_builder *text, const char *path)
{
    char *full = realpath(path, NULL);

    text_add(text, "    \"outputDir\": ");
    add_string(text, full ? full : path);
    text_add(text, ",\n");
    free(full);
}

void compat_config_text(const struct compat_request *request, struct text_builder *text)
{
    text_add(text, "{\n");
    add_steps(text, request);
    add_number(text, "analysisType", request->dump.analyses);
    add_number(text, "cStackDepth", request->dump.c_depth);
    add_flag(text, "collectAllNpu", request->dump.has_all_devices);
    add_flag(text, "collectCpu", request->dump.has_cpu);
    add_number(text, "collectMode", request->is_deferred);
    add_number(text, "dataFormat", request->dump.is_database);
    add_number(text, "dumpEventType", request->dump.events & 15);
    add_flag(text, "enableCStack", request->dump.has_c_stacks);
    add_flag(text, "enableCompare", request->wants_compare);
    add_flag(text, "enablePyStack", request->dump.has_python_stacks);
    add_number(text, "eventType", compat_events_needed(request) & 15);
    add_flag(text, "isEffective", true);
    add_number(text, "levelType", request->dump.levels);
    add_number(text, "logLevel", request->log_level);
    add_number(text, "npuSlots", request->dump.devices);
    add_number(text, "oomTopK", request->dump.oom_top);
    add_output(text, request->output_path);
    add_number(text, "pyStackDepth", request->dump.python_depth);
    add_watch(text, &request->watch);
}

enum mt_result compat_config_write(const struct compat_request *request, const char *folder,
                                   struct mt_error *error)
{
    char path[PATH_MAX];
    struct text_builder text;
    enum mt_result result = MT_OK;
    int file;

    if (snprintf(path, sizeof(path), "%s/config.json", folder) >= (int)sizeof(path))
        return mt_error_set(error, MT_USAGE, "--output-path: the path is too long");
    text_init(&text);
    compat_config_text(request, &text);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, CONFIG_MODE);
    if (text.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for %s", path);
    else if (file < 0 || write(file, text.bytes, text.size_bytes) != (ssize_t)text.size_bytes)
        result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    text_release(&text);
    if (file >= 0)
        close(file);
    return result;
}
