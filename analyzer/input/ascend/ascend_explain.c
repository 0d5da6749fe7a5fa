/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files are known by their names, or by the words of their first lines where they were renamed.
 */
#include "ascend_explain.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ascend_folder.h"
#include "byte_stream.h"
#include "database.h"
#include "path_text.h"

enum { look_bytes = 64 * 1024, depth_max = 4 };

/* --- files that belong to others ----------------------------------------------------------- */

enum owner { OF_PROFILE, OF_MEMSCOPE, OF_COMPARISON };

/* In a csv the words are in its first line; both may be NULL. */
static const struct part {
    const char *name, *end;
    const char *words[3];
    enum owner owner;
} parts[] = {
    {"step_trace_time", ".csv", {"Computing,", "Communication(Not Overlapped)", ",Free"}, 0},
    {"kernel_details", ".csv", {"Accelerator Core,", "Start Time(us)", "Wait Time(us)"}, 0},
    {"operator_details", ".csv", {"Host Self Duration(us)", "Device Self Duration(us)"}, 0},
    {"op_statistic", ".csv", {"OP Type,", "Core Type,", "Total Time(us)"}, 0},
    {"op_summary", ".csv", {"Op Name,", "Task Type,", "Task Duration(us)"}, 0},
    {"api_statistic", ".csv", {"API Name,", "Level,", "Variance"}, 0},
    {"task_time", ".csv", {"kernel_name,", "kernel_type,", "task_time(us)"}, 0},
    {"communication_statistic", ".csv", {NULL}, 0},
    {"fusion_op", ".csv", {"Fusion Name,", "Fusion Ops,"}, 0},
    {"step_trace", ".csv", {"Iteration ID,", "FP Start(us)"}, 0},
    {"data_preprocess", ".csv", {NULL}, 0},
    {"dataset", ".csv", {NULL}, 0},
    {"minddata_pipeline_summary", ".csv", {NULL}, 0},
    {"minddata_pipeline_raw", ".csv", {NULL}, 0},
    {"ai_core_utilization", ".csv", {NULL}, 0},
    {"prof_rule_0", ".json", {NULL}, 0},
    {"soc_pmu", ".csv", {NULL}, 0},
    {"l2_cache", ".csv", {NULL}, 0},
    {"hbm", ".csv", {NULL}, 0},
    {"ddr", ".csv", {NULL}, 0},
    {"llc_read_write", ".csv", {NULL}, 0},
    {"pcie", ".csv", {NULL}, 0},
    {"hccs", ".csv", {NULL}, 0},
    {"nic", ".csv", {NULL}, 0},
    {"roce", ".csv", {NULL}, 0},
    {"msprof_tx", ".csv", {NULL}, 0},
    {"cluster_step_trace_time", ".csv", {NULL}, 0},
    {"trace_view", ".json", {NULL}, 0},
    {"msprof", ".json", {NULL}, 0},
    {"communication", ".json", {NULL}, 0},
    {"communication_matrix", ".json", {NULL}, 0},
    {"cluster_communication", ".json", {NULL}, 0},
    {"cluster_communication_matrix", ".json", {NULL}, 0},
    {"profiler_info", ".json", {NULL}, 0},
    {"profiler_metadata", ".json", {NULL}, 0},
    {"analysis", ".db", {NULL}, 0},
    {"communication_analyzer", ".db", {NULL}, 0},
    {"cluster_analysis", ".db", {NULL}, 0},
    {"python_trace", ".csv", {"FuncInfo,", "StartTime(", "EndTime("}, OF_MEMSCOPE},
    {NULL, ".json", {"\"SelectedStepList\"", "\"analysisType\""}, OF_MEMSCOPE},
    {"memory_compare", ".csv", {",,,Base,Compare"}, OF_COMPARISON},
};

struct beginning {
    char text[look_bytes + 1];
    size_t size_bytes;
};

/* NULL: it cannot be read. */
static struct beginning *begin_of(const char *path)
{
    struct beginning *begin = malloc(sizeof(*begin));

    if (!begin)
        return NULL;
    begin->size_bytes = byte_stream_begin(path, (unsigned char *)begin->text, look_bytes);
    begin->text[begin->size_bytes] = '\0';
    return begin;
}

/* Whether it looks as files with this end do. */
static bool is_of_form(const struct beginning *begin, const char *end)
{
    const char *text = begin->text + strspn(begin->text, " \t\r\n");

    if (strcmp(end, ".db") == 0)
        return strncmp(begin->text, "SQLite format 3", 15) == 0;
    if (strcmp(end, ".json") == 0)
        return *text == '{' || *text == '[';
    return memchr(text, ',', strcspn(text, "\n")) != NULL;
}

static bool has_words(const struct part *part, const struct beginning *begin)
{
    const char *line_end = strcmp(part->end, ".csv") == 0 ? strchr(begin->text, '\n') : NULL;

    for (size_t i = 0; i < 3 && part->words[i]; i++) {
        const char *word = strstr(begin->text, part->words[i]);

        if (!word || (line_end && word > line_end))
            return false;
    }
    return part->words[0] != NULL;
}

static const struct part *part_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].name && ascend_is_named(name, parts[i].name, parts[i].end))
            return &parts[i];
    return NULL;
}

/* trace_view.json is a list; what torch.profiler writes itself is an object. */
static bool is_an_object(const struct part *part, const struct beginning *begin)
{
    return strcmp(part->name, "trace_view") == 0 &&
           begin->text[strspn(begin->text, " \t\r\n")] != '[';
}

static const struct part *part_of(const char *path)
{
    struct beginning *begin = begin_of(path);
    const struct part *found = begin ? part_by_name(path_base(path)) : NULL;

    if (found && (!is_of_form(begin, found->end) || is_an_object(found, begin)))
        found = NULL;
    for (size_t i = 0; begin && !found && i < sizeof(parts) / sizeof(parts[0]); i++)
        if (has_words(&parts[i], begin))
            found = &parts[i];
    free(begin);
    return found;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool ascend_is_part(const char *path)
{
    return !is_folder(path) && part_of(path) != NULL;
}

static enum mt_result explain_part(const char *path, enum owner owner, struct mt_error *error)
{
    if (owner == OF_PROFILE)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "%s: belongs to an Ascend profile, and tells nothing of memory alone: "
                            "give the folder of the profile",
                            path);
    if (owner == OF_MEMSCOPE)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "%s: belongs to a recording of msmemscope, and tells nothing of memory "
                            "alone: give the folder of the recording",
                            path);
    return mt_error_set(error, MT_UNSUPPORTED,
                        "%s: what a comparison of msmemscope found: give the two recordings to "
                        "leaktide diff",
                        path);
}

/* --- databases ----------------------------------------------------------------------------- */

static bool is_database_of_profile(const char *path)
{
    static const char *const tables[] = {"TASK",      "API",      "CANN_API",       "PYTORCH_API",
                                         "HOST_INFO", "NPU_INFO", "TARGET_INFO_NPU"};
    struct database *database;
    bool has_any = false;

    if (!database_recognises(path) || database_open_to_look(path, &database, NULL) != MT_OK)
        return false;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        has_any |= database_has_table(database, tables[i]);
    has_any = has_any && database_has_table(database, "STRING_IDS");
    database_close(database);
    return has_any;
}

/* --- folders ------------------------------------------------------------------------------- */

enum setting { NOT_KNOWN, IS_OFF, IS_ON };

/* What is in a folder, or below it. */
struct sight {
    bool is_profile; /* something that only a profile has */
    bool has_parts;  /* what analyse() writes */
    bool has_framework, has_device_data, has_memory_data;
    enum setting profile_memory;
};

static enum setting setting_of(const char *path)
{
    struct beginning *begin = begin_of(path);
    const char *at = begin ? strstr(begin->text, "\"profile_memory\"") : NULL;
    enum setting setting = NOT_KNOWN;

    if (at) {
        at += strlen("\"profile_memory\"");
        at += strspn(at, " \t\r\n:");
        setting = *at == 't' ? IS_ON : *at == 'f' ? IS_OFF : NOT_KNOWN;
    }
    free(begin);
    return setting;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void see_folder(struct sight *sight, const char *name)
{
    if (strcmp(name, "FRAMEWORK") == 0)
        sight->has_framework = true;
    if (strncmp(name, "PROF_", 5) == 0)
        sight->has_device_data = true;
    sight->is_profile |= ascend_is_output_folder(name) || strcmp(name, "FRAMEWORK") == 0 ||
                         strncmp(name, "PROF_", 5) == 0 || ends_with(name, "_ascend_pt") ||
                         ends_with(name, "_ascend_ms");
}

static void see_file(struct sight *sight, const char *path, const char *name)
{
    const struct part *part = part_by_name(name);

    if (ascend_is_named(name, "profiler_info", ".json")) {
        sight->is_profile = true;
        if (sight->profile_memory == NOT_KNOWN)
            sight->profile_memory = setting_of(path);
    } else if (ends_with(name, ".csv") || (part && part->owner == OF_PROFILE)) {
        part = part_of(path);
        sight->has_parts |= part && part->owner == OF_PROFILE;
        sight->is_profile |= part && part->owner == OF_PROFILE && part->words[0];
    } else if (ends_with(name, ".db") && is_database_of_profile(path)) {
        sight->is_profile = sight->has_parts = true;
    }
    sight->has_memory_data |= strstr(name, ".memory_usage") != NULL;
}

static void look_into(struct sight *sight, const char *path, int depth)
{
    DIR *folder = depth < depth_max ? opendir(path) : NULL;
    const struct dirent *entry;

    see_folder(sight, path_base(path));
    while (folder && (entry = readdir(folder))) {
        char inner[4096];
        int length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        struct stat status;

        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof(inner) ||
            lstat(inner, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            look_into(sight, inner, depth + 1);
        else if (S_ISREG(status.st_mode))
            see_file(sight, inner, entry->d_name);
    }
    if (folder)
        closedir(folder);
}

static enum mt_result explain_raw(const char *path, const struct sight *sight,
                                  struct mt_error *error)
{
    if (sight->has_framework)
        return mt_error_set(error, MT_NO_DATA,
                            "%s: raw data of an Ascend profile that was not parsed yet. Call "
                            "torch_npu.profiler.profiler.analyse(\"%s\") first",
                            path, path);
    return mt_error_set(error, MT_NO_DATA,
                        "%s: raw data of an Ascend profile that was not parsed yet. Call analyse() "
                        "of its profiler, or run msprof --export=on --output=%s",
                        path, path);
}

static enum mt_result explain_folder(const char *given, struct mt_error *error)
{
    struct sight sight = {.has_parts = false};
    size_t length = strlen(given);
    char path[4096];

    while (length > 1 && given[length - 1] == '/')
        length--;
    snprintf(path, sizeof(path), "%.*s", (int)length, given);
    look_into(&sight, path, 0);
    if (!sight.is_profile)
        return MT_OK;
    if (!sight.has_parts && (sight.has_framework || sight.has_device_data) &&
        sight.profile_memory != IS_OFF && (sight.has_memory_data || !sight.has_framework))
        return explain_raw(path, &sight, error);
    if (sight.profile_memory == IS_ON)
        return mt_error_set(
            error, MT_NO_DATA,
            "%s: an Ascend profile whose files of memory are not here, though "
            "profile_memory was on. Copy operator_memory.csv and memory_record.csv, "
            "too, or the database; or parse it again with analyse()",
            path);
    return mt_error_set(
        error, MT_NO_DATA,
        sight.profile_memory == IS_OFF
            ? "%s: an Ascend profile without memory: profile_memory was off. Record "
              "again with profile_memory=True"
            : "%s: an Ascend profile without memory (profile_memory was off?). "
              "Record again with profile_memory=True",
        path);
}

enum mt_result ascend_explain(const char *path, struct mt_error *error)
{
    const struct part *part;

    if (is_folder(path))
        return explain_folder(path, error);
    part = part_of(path);
    if (part)
        return explain_part(path, part->owner, error);
    if (!is_database_of_profile(path))
        return MT_OK;
    return mt_error_set(error, MT_NO_DATA,
                        "%s: a database of an Ascend profile without tables of memory "
                        "(profile_memory was off?). Record again with profile_memory=True, with "
                        "msprof with --task-memory=on",
                        path);
}
