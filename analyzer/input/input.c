/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what kind of recording a path is, and hands the calls on to that kind's reader.
 */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ascend_explain.h"
#include "byte_stream.h"
#include "database.h"
#include "input_kinds.h"

/* The first that recognises a path reads it. */
// clang-format off
static const struct input_kind *const kinds[] = {
    &input_trace,
    &input_process,
    &input_snapshot,
    &input_memscope,
    &input_chrome,
    &input_heaptrack,
    &input_jemalloc,
    &input_ascend,
    &input_snapshot_folder,
};
// clang-format on

struct input {
    const struct input_kind *kind;
    void *state;
};

static bool is_empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool is_empty = folder != NULL;

    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            is_empty = false;
    if (folder)
        closedir(folder);
    return is_empty;
}

/* Packed, and cut before the first bytes can be unpacked: then nobody can know it. */
static enum mt_result check_packed(const char *path, struct mt_error *error)
{
    struct byte_stream stream;
    enum mt_result result = MT_OK;

    if (byte_stream_open(&stream, path, NULL) != MT_OK)
        return MT_OK;
    if (stream.is_packed && byte_stream_fill(&stream, 1) == 0)
        result = byte_stream_status(&stream, error);
    byte_stream_close(&stream);
    return result;
}

/* The path is there, but no kind knows it. */
static enum mt_result refuse(const char *path, bool is_folder, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    if (access(path, is_folder ? R_OK | X_OK : R_OK) != 0)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    if (is_folder && is_empty_folder(path))
        return mt_error_set(error, MT_NO_DATA, "%s: the folder is empty", path);
    if (database_recognises(path))
        result = database_check(path, error);
    if (result == MT_OK && !is_folder)
        result = check_packed(path, error);
    if (result == MT_OK)
        result = ascend_explain(path, error);
    if (result != MT_OK)
        return result;
    return mt_error_set(error, MT_UNSUPPORTED, "%s: no kind of recording that leaktide knows",
                        path);
}

static enum mt_result find_kind(const char *path, const struct input_kind **kind,
                                struct mt_error *error)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return mt_error_set(error, errno == ENOENT || errno == ENOTDIR ? MT_NOT_FOUND : MT_IO,
                            "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !input_is_part(path); i++) {
        if (kinds[i]->recognises(path)) {
            *kind = kinds[i];
            return MT_OK;
        }
    }
    return refuse(path, S_ISDIR(status.st_mode), error);
}

bool input_is_part(const char *path)
{
    return ascend_is_part(path);
}

enum mt_result input_open(const char *path, struct model *model, struct input **out,
                          struct mt_error *error)
{
    struct input *input;
    const struct input_kind *kind = NULL;
    enum mt_result result = find_kind(path, &kind, error);

    if (result != MT_OK)
        return result;
    input = calloc(1, sizeof(*input));
    if (!input)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    input->kind = kind;
    result = kind->open(path, model, &input->state, error);
    if (result != MT_OK) {
        free(input);
        return result;
    }
    *out = input;
    return MT_OK;
}

enum mt_result input_next(struct input *input, struct event *batch, size_t capacity, size_t *count,
                          struct mt_error *error)
{
    return input->kind->next(input->state, batch, capacity, count, error);
}

const struct input_kind *input_kind_of(const struct input *input)
{
    return input->kind;
}

void input_close(struct input *input)
{
    if (!input)
        return;
    input->kind->close(input->state);
    free(input);
}
