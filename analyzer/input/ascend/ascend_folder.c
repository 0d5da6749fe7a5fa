/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks folders and reads file names.
 */
#define _GNU_SOURCE /* asprintf */
#include "ascend_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ascend_classify.h"
#include "leaktide/invariant.h"
#include "list.h"
#include "path_text.h"

enum { depth_max = 6, time_digits_least = 12 };

/* Longer names first where one begins like another. */
static const struct {
    const char *name;
    enum ascend_file kind;
    const char *end;
} names[] = {
    {"operator_memory", ASCEND_OPERATOR_MEMORY, ".csv"},
    {"memory_record", ASCEND_MEMORY_RECORD, ".csv"},
    {"cpu_ms_memory_record", ASCEND_MEMORY_RECORD, ".txt"},
    {"npu_module_mem", ASCEND_MODULE_MEM, ".csv"},
    {"npu_mem", ASCEND_NPU_MEM, ".csv"},
    {"static_op_mem", ASCEND_STATIC_OP_MEM, ".csv"},
    {"memory_block", ASCEND_MEMORY_BLOCK, ".csv"},
    {"step_trace_time", ASCEND_STEP_TRACE, ".csv"},
    {"kernel_details", ASCEND_KERNEL_DETAILS, ".csv"},
    {"trace_view", ASCEND_TRACE_VIEW, ".json"},
    {"msprof_tx", ASCEND_MSPROF_TX, ".csv"},
    {"ascend_pytorch_profiler", ASCEND_DATABASE, ".db"},
    {"ascend_mindspore_profiler", ASCEND_DATABASE, ".db"},
    {"msprof", ASCEND_DATABASE, ".db"},
};

struct file_name {
    enum ascend_file kind;
    int32_t rank;  /* -1: none */
    uint64_t time; /* 20260101000000; 0: none */
};

/* "_12" at *at: moves past it. */
static bool take_number(const char **at, uint64_t *number, size_t *digits)
{
    char *end;

    if (**at != '_' || (*at)[1] < '0' || (*at)[1] > '9')
        return false;
    *number = strtoull(*at + 1, &end, 10);
    *digits = (size_t)(end - (*at + 1));
    *at = end;
    return true;
}

/* name[_slice_N][_RANK][_TIME].end */
static bool parse_rest(const char *at, const char *end, struct file_name *out)
{
    uint64_t number;
    size_t digits;

    if (strncmp(at, "_slice", 6) == 0) {
        at += 6;
        if (!take_number(&at, &number, &digits))
            return false;
    }
    while (take_number(&at, &number, &digits)) {
        if (digits >= time_digits_least)
            out->time = number;
        else if (number <= INT32_MAX)
            out->rank = (int32_t)number;
    }
    return strcmp(at, end) == 0;
}

static bool parse_name(const char *name, struct file_name *out)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i].name);

        *out = (struct file_name){names[i].kind, -1, 0};
        if (strncmp(name, names[i].name, length) == 0 &&
            parse_rest(name + length, names[i].end, out))
            return true;
    }
    return false;
}

bool ascend_is_named(const char *name, const char *stem, const char *end)
{
    struct file_name ignored = {0};
    size_t length = strlen(stem);

    MT_ASSERT(*end == '.');
    return strncmp(name, stem, length) == 0 && parse_rest(name + length, end, &ignored);
}

/* --- what was found ------------------------------------------------------------------------ */

bool ascend_is_output_folder(const char *name)
{
    return strcmp(name, "ASCEND_PROFILER_OUTPUT") == 0 ||
           strcmp(name, "mindstudio_profiler_output") == 0;
}

/* The folder above, for folders of outputs; "x/.." where the path does not tell. */
static char *root_of(const char *folder)
{
    const char *part = path_base(folder);
    char *root = NULL;

    if (!ascend_is_output_folder(part))
        return strdup(folder);
    if (part != folder)
        return strndup(folder, (size_t)(part - folder - 1));
    return asprintf(&root, "%s/..", folder) < 0 ? NULL : root;
}

/* Without the path, if that ends in a part which is no name: as in the file system. */
static char *name_of(const char *path)
{
    const char *part = path_base(path);
    char *whole = strcmp(part, ".") == 0 || strcmp(part, "..") == 0 ? realpath(path, NULL) : NULL;

    return whole ? whole : strdup(path);
}

static struct ascend_found *found_add(struct ascend_search *search, const char *folder,
                                      int32_t rank)
{
    struct ascend_found *found;

    if (!list_has_room(&search->ranks, &search->capacity, search->count, sizeof(*search->ranks)))
        return NULL;
    found = &search->ranks[search->count];
    *found = (struct ascend_found){.folder = strdup(folder), .root = root_of(folder), .rank = rank};
    if (found->root)
        found->name = name_of(found->root);
    search->count++;
    return found->folder && found->name ? found : NULL;
}

/* A file alone in any folder is called by its own name: that of the folder says nothing of it. */
static bool name_file(struct ascend_found *found, const char *path)
{
    const char *part = path_base(found->name);

    if (strstr(part, "_ascend_") || strncmp(part, "rank", 4) == 0 ||
        strcmp(found->root, found->folder) != 0)
        return true;
    free(found->name);
    found->name = strdup(path);
    return found->name != NULL;
}

/* The entry of this folder that the file belongs to. A database's number is the rank of all. */
static struct ascend_found *found_for(struct ascend_search *search, size_t first,
                                      const char *folder, const struct file_name *name)
{
    for (size_t i = first; i < search->count; i++) {
        struct ascend_found *found = &search->ranks[i];
        bool has_database = found->files[ASCEND_DATABASE].count > 0;

        if (found->label)
            continue;
        if (found->rank == name->rank)
            return found;
        if (name->kind == ASCEND_DATABASE && !has_database && found->rank < 0) {
            found->rank = name->rank;
            return found;
        }
        if (name->rank < 0 && has_database)
            return found;
    }
    return found_add(search, folder, name->rank);
}

static void list_clear(struct ascend_file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct ascend_file_list){0};
}

static bool list_add(struct ascend_file_list *list, const char *path)
{
    if (!list_has_room(&list->paths, &list->capacity, list->count, sizeof(*list->paths)))
        return false;
    list->paths[list->count] = strdup(path);
    return list->paths[list->count++] != NULL;
}

static uint64_t time_of_list(const struct ascend_file_list *list)
{
    struct file_name name;

    return list->count && parse_name(path_base(list->paths[0]), &name) ? name.time : 0;
}

static bool add_file(struct ascend_search *search, size_t first, const char *folder,
                     const char *path, const struct file_name *name)
{
    struct ascend_found *found = found_for(search, first, folder, name);
    struct ascend_file_list *list;

    if (!found)
        return false;
    list = &found->files[name->kind];
    if (list->count && time_of_list(list) != name->time) {
        found->older_count += time_of_list(list) > name->time ? 1 : list->count;
        if (time_of_list(list) > name->time)
            return true;
        list_clear(list);
    }
    return list_add(list, path);
}

/* --- files known by their headers ---------------------------------------------------------- */

/* The name without what names its kind: "rank0_|.csv", "| (1).csv". */
static char *label_of(const char *name, enum ascend_file kind)
{
    char *label = strdup(name);

    for (size_t i = 0; label && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i].name);
        char *at = names[i].kind == kind ? strcasestr(label, names[i].name) : NULL;

        if (!at)
            continue;
        *at = '|';
        memmove(at + 1, at + length, strlen(at + length) + 1);
        break;
    }
    return label;
}

static bool ends_in_csv(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && strcasecmp(name + length - 4, ".csv") == 0;
}

/* Beside a file with the usual name, one of the same kind may be a copy. */
static bool is_copy(struct ascend_search *search, size_t first, const char *folder,
                    enum ascend_file kind)
{
    for (size_t i = first; i < search->count; i++) {
        struct ascend_found *found = &search->ranks[i];

        if (found->label || !found->files[kind].count || strcmp(found->folder, folder) != 0)
            continue;
        found->copy_count++;
        return true;
    }
    return false;
}

static bool add_by_header(struct ascend_search *search, size_t first, const char *folder,
                          const char *path, enum ascend_file kind)
{
    const char *name = path_base(path);
    struct ascend_found *found = NULL;
    char *label;

    if (is_copy(search, first, folder, kind))
        return true;
    label = label_of(name, kind);
    for (size_t i = first; label && !found && i < search->count; i++)
        if (search->ranks[i].label && strcmp(search->ranks[i].label, label) == 0 &&
            strcmp(search->ranks[i].folder, folder) == 0)
            found = &search->ranks[i];
    if (!found && label) {
        found = found_add(search, folder, path_rank(name));
        if (found)
            found->label = strdup(label);
        if (found && !name_file(found, path))
            found = NULL;
    }
    free(label);
    return found && found->label && list_add(&found->files[kind], path);
}

/* The files of this folder whose names say nothing. */
static bool add_unnamed(struct ascend_search *search, size_t first, const char *folder,
                        struct dirent **entries, int count)
{
    bool is_ok = true;

    for (int i = 0; is_ok && i < count; i++) {
        struct file_name parsed;
        enum ascend_file kind;
        char *path;

        if (!ends_in_csv(entries[i]->d_name) || parse_name(entries[i]->d_name, &parsed))
            continue;
        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            return false;
        if (ascend_classify(path, &kind) && kind != ASCEND_DATABASE)
            is_ok = add_by_header(search, first, folder, path, kind);
        free(path);
    }
    return is_ok;
}

/* --- walking ------------------------------------------------------------------------------- */

static bool is_worth_entering(const char *name)
{
    static const char *const left_out[] = {".", "..", "FRAMEWORK", "logs", "host", "sqlite"};

    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        if (strcmp(name, left_out[i]) == 0)
            return false;
    return strncmp(name, "device_", 7) != 0;
}

static bool has_memory_since(const struct ascend_search *search, size_t first)
{
    for (size_t i = first; i < search->count; i++)
        if (ascend_has_memory(&search->ranks[i]))
            return true;
    return false;
}

static bool walk(struct ascend_search *search, const char *folder, int depth);

/* Outputs first: where they tell of memory, the raw data beside them is not needed. */
static bool walk_entries(struct ascend_search *search, const char *folder, int depth,
                         struct dirent **entries, int count)
{
    size_t first = search->count;
    bool is_ok = true;

    for (int pass = 0; is_ok && pass < 2; pass++) {
        if (pass == 1 && has_memory_since(search, first))
            break;
        for (int i = 0; is_ok && i < count; i++) {
            const char *name = entries[i]->d_name;
            struct file_name parsed;
            struct stat status;
            char *path;

            if (ascend_is_output_folder(name) != (pass == 0))
                continue;
            if (asprintf(&path, "%s/%s", folder, name) < 0)
                return false;
            if (stat(path, &status) != 0)
                status.st_mode = 0;
            if (S_ISDIR(status.st_mode) && is_worth_entering(name))
                is_ok = walk(search, path, depth + 1);
            else if (S_ISREG(status.st_mode) && parse_name(name, &parsed))
                is_ok = add_file(search, first, folder, path, &parsed);
            free(path);
        }
        if (is_ok && pass == 1)
            is_ok = add_unnamed(search, first, folder, entries, count);
    }
    return is_ok;
}

static int files_before_folders(const struct dirent **a, const struct dirent **b)
{
    bool is_file_a = (*a)->d_type != DT_DIR, is_file_b = (*b)->d_type != DT_DIR;

    return is_file_a != is_file_b ? (is_file_a ? -1 : 1) : strcmp((*a)->d_name, (*b)->d_name);
}

static bool walk(struct ascend_search *search, const char *folder, int depth)
{
    struct dirent **entries;
    int count = depth < depth_max ? scandir(folder, &entries, NULL, files_before_folders) : -1;
    bool is_ok;

    if (count < 0)
        return errno != ENOMEM || depth >= depth_max;
    is_ok = walk_entries(search, folder, depth, entries, count);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return is_ok;
}

bool ascend_has_memory(const struct ascend_found *found)
{
    return found->files[ASCEND_OPERATOR_MEMORY].count || found->files[ASCEND_MEMORY_RECORD].count ||
           found->files[ASCEND_MODULE_MEM].count || found->files[ASCEND_NPU_MEM].count ||
           found->files[ASCEND_STATIC_OP_MEM].count || found->files[ASCEND_MEMORY_BLOCK].count ||
           found->files[ASCEND_DATABASE].count;
}

enum mt_result ascend_search(const char *path, struct ascend_search *search, struct mt_error *error)
{
    size_t length = strlen(path);
    char *folder;
    bool is_ok;

    *search = (struct ascend_search){0};
    while (length > 1 && path[length - 1] == '/')
        length--;
    folder = strndup(path, length);
    is_ok = folder && walk(search, folder, 0);
    free(folder);
    if (is_ok)
        return MT_OK;
    ascend_search_release(search);
    return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to search it", path);
}

enum mt_result ascend_search_file(const char *path, enum ascend_file kind,
                                  struct ascend_search *search, struct mt_error *error)
{
    const char *name = path_base(path);
    char *folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
    struct file_name parsed;
    struct ascend_found *found;
    bool is_ok;

    *search = (struct ascend_search){0};
    if (folder && name - path > 1)
        folder[name - path - 1] = '\0';
    if (!parse_name(name, &parsed))
        parsed.rank = -1;
    found = folder ? found_add(search, folder, parsed.rank) : NULL;
    is_ok = found && name_file(found, path) && list_add(&found->files[kind], path);
    free(folder);
    if (is_ok)
        return MT_OK;
    ascend_search_release(search);
    return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to open it", path);
}

void ascend_search_release(struct ascend_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        for (int kind = 0; kind < ASCEND_FILE_KINDS; kind++)
            list_clear(&search->ranks[i].files[kind]);
        free(search->ranks[i].folder);
        free(search->ranks[i].root);
        free(search->ranks[i].name);
        free(search->ranks[i].label);
    }
    free(search->ranks);
    *search = (struct ascend_search){0};
}
