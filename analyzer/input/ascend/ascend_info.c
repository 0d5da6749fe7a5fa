/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small JSON files, read as a whole.
 */
#define _GNU_SOURCE /* asprintf */
#include "ascend_info.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

enum { file_bytes_max = 16 << 20, depth_max = 200 };

/* The file's text, terminated; NULL when it cannot be read or is too large. */
static char *read_file(const char *folder, const char *name)
{
    char *path, *text = NULL;
    FILE *file;
    size_t size_bytes;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return NULL;
    file = fopen(path, "rbe");
    free(path);
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0 && ftell(file) <= file_bytes_max) {
        size_bytes = (size_t)ftell(file);
        rewind(file);
        text = malloc(size_bytes + 1);
        if (text)
            text[fread(text, 1, size_bytes, file)] = '\0';
    }
    fclose(file);
    return text;
}

static int one_deeper(void *depth)
{
    return ++*(unsigned *)depth <= depth_max;
}

static int one_back(void *depth)
{
    --*(unsigned *)depth;
    return 1;
}

/* A tree is given back by calls within calls, one for each level: the stack has room for some. */
static bool is_too_deep(const char *text)
{
    static const yajl_callbacks callbacks = {
        .yajl_start_map = one_deeper,
        .yajl_start_array = one_deeper,
        .yajl_end_map = one_back,
        .yajl_end_array = one_back,
    };
    unsigned depth = 0;
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &depth);
    bool is_refused;

    if (!handle)
        return true;
    yajl_config(handle, yajl_allow_comments, 1); /* as the tree does */
    is_refused = yajl_parse(handle, (const unsigned char *)text, strlen(text)) ==
                 yajl_status_client_canceled;
    yajl_free(handle);
    return is_refused;
}

static yajl_val parse_file(struct model *model, const char *folder, const char *name)
{
    char trouble[256] = "";
    char *text = read_file(folder, name);
    bool is_refused = text && is_too_deep(text);
    yajl_val tree = text && !is_refused ? yajl_tree_parse(text, trouble, sizeof(trouble)) : NULL;

    if (is_refused)
        model_note(model, 1, "%s: not read, its lists and objects are more than %d deep", name,
                   depth_max);
    else if (text && !tree)
        model_note(model, 1, "%s: not read, it is not JSON", name);
    free(text);
    return tree;
}

/* An integer, also where it is written as a text: "3". */
static int32_t number_of(yajl_val value)
{
    const char *text = NULL;
    char *end;
    long number;

    if (value && YAJL_IS_NUMBER(value))
        text = YAJL_GET_NUMBER(value);
    else if (value && YAJL_IS_STRING(value))
        text = YAJL_GET_STRING(value);
    if (!text || !*text)
        return -1;
    number = strtol(text, &end, 10);
    return *end || number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

static void add_software(struct ascend_info *info, yajl_val tree, const char *key, const char *name)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_string);
    size_t length = strlen(info->software);

    if (value)
        snprintf(info->software + length, sizeof(info->software) - length, "%s%s %s",
                 length ? ", " : "", name, YAJL_GET_STRING(value));
}

static void read_info(struct model *model, const char *folder, const char *name,
                      struct ascend_info *info)
{
    const char *rank_path[] = {"rank_id", NULL};
    const char *mindspore_path[] = {"ms_version", NULL};
    const char *suffix = strrchr(name, '_');
    yajl_val tree = parse_file(model, folder, name);

    if (suffix && suffix[1] >= '0' && suffix[1] <= '9')
        info->rank = (int32_t)strtol(suffix + 1, NULL, 10);
    if (!tree)
        return;
    if (number_of(yajl_tree_get(tree, rank_path, yajl_t_any)) >= 0)
        info->rank = number_of(yajl_tree_get(tree, rank_path, yajl_t_any));
    info->is_mindspore = yajl_tree_get(tree, mindspore_path, yajl_t_any) != NULL;
    add_software(info, tree, "torch_npu_version", "torch_npu");
    add_software(info, tree, "ms_version", "MindSpore");
    add_software(info, tree, "cann_version", "CANN");
    yajl_tree_free(tree);
}

static void read_metadata(struct model *model, const char *folder, struct ascend_info *info)
{
    const char *path[] = {"distributed_args", "rank", NULL};
    yajl_val tree = parse_file(model, folder, "profiler_metadata.json");

    if (tree)
        info->metadata_rank = number_of(yajl_tree_get(tree, path, yajl_t_any));
    if (tree)
        yajl_tree_free(tree);
}

void ascend_info_read(struct model *model, const char *folder, struct ascend_info *info)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;

    *info = (struct ascend_info){.rank = -1, .metadata_rank = -1};
    while (listing && (entry = readdir(listing))) {
        size_t length = strlen(entry->d_name);

        if (strncmp(entry->d_name, "profiler_info", 13) == 0 && length > 5 &&
            strcmp(entry->d_name + length - 5, ".json") == 0) {
            read_info(model, folder, entry->d_name, info);
            break;
        }
    }
    if (listing)
        closedir(listing);
    read_metadata(model, folder, info);
}
