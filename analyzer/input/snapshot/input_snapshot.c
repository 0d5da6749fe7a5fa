/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator snapshot of PyTorch or torch_npu as an input: a pickle, or the same as JSON; packed
 * with gzip or zstd, or not.
 */
#include <stdlib.h>
#include <string.h>

#include "byte_stream.h"
#include "input_kinds.h"
#include "path_text.h"
#include "pickle.h"
#include "snapshot_json.h"
#include "snapshot_look.h"
#include "snapshot_replay.h"
#include "snapshot_tables.h"

struct snapshot {
    char *path;
    struct snapshot_tables tables;
    struct snapshot_replay *replay;
};

static int snapshot_recognises(const char *path)
{
    return snapshot_may_be(path);
}

static void snapshot_close(void *state)
{
    struct snapshot *snapshot = state;

    if (!snapshot)
        return;
    snapshot_replay_destroy(snapshot->replay);
    if (snapshot->tables.fields)
        snapshot_tables_release(&snapshot->tables);
    free(snapshot->path);
    free(snapshot);
}

static enum mt_result read_tables(struct snapshot *snapshot, struct mt_error *error)
{
    struct byte_stream stream;
    struct snapshot_value root;
    struct mt_error why;
    const unsigned char *bytes;
    enum mt_result result = byte_stream_open(&stream, snapshot->path, error);

    if (result != MT_OK)
        return result;
    bytes = byte_stream_need(&stream, 3);
    if (bytes && snapshot_is_pickle(bytes, 3))
        result = pickle_read(&stream, &snapshot->tables, &root, error);
    else
        result = snapshot_json_read(&stream, &snapshot->tables, &root, error);
    byte_stream_close(&stream);
    if (result != MT_OK)
        return result;
    result = snapshot_tables_finish(&snapshot->tables, root, &why);
    if (result == MT_NO_DATA && *model_first_damage(snapshot->tables.model))
        return mt_error_set(error, MT_CORRUPT, "%s", model_first_damage(snapshot->tables.model));
    if (result != MT_OK)
        return mt_error_set(error, result, "%s: %s", snapshot->path, why.message);
    return MT_OK;
}

static enum mt_result read_all(struct snapshot *snapshot, struct model *model,
                               struct mt_error *error)
{
    struct model_process process = {
        .source = model_text(model, snapshot->path, strlen(snapshot->path)),
        .rank = path_rank(path_base(snapshot->path)),
        .is_window = true,
    };
    enum mt_result result =
        snapshot_tables_init(&snapshot->tables, model, model_process(model, &process), error);

    if (result == MT_OK)
        result = read_tables(snapshot, error);
    if (result == MT_OK)
        result =
            snapshot_replay_create(&snapshot->tables, snapshot->path, &snapshot->replay, error);
    return result == MT_OK ? model_status(model, error) : result;
}

static enum mt_result snapshot_open(const char *path, struct model *model, void **state,
                                    struct mt_error *error)
{
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    enum mt_result result;

    if (snapshot)
        snapshot->path = strdup(path);
    if (!snapshot || !snapshot->path) {
        free(snapshot);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    }
    result = read_all(snapshot, model, error);
    if (result != MT_OK) {
        snapshot_close(snapshot);
        return result;
    }
    *state = snapshot;
    return MT_OK;
}

static enum mt_result snapshot_next(void *state, struct event *batch, size_t capacity,
                                    size_t *count, struct mt_error *error)
{
    struct snapshot *snapshot = state;

    *count = snapshot_replay_next(snapshot->replay, batch, capacity);
    if (snapshot_entries_are_lost(snapshot->tables.entries))
        return mt_error_set(error, MT_IO, "%s: the scratch file of its events cannot be read",
                            snapshot->path);
    return model_status(snapshot->tables.model, error);
}

const struct input_kind input_snapshot = {
    .name = "PyTorch memory snapshot",
    .contents = "every block of the caching allocator with its innermost frame, reserved memory, "
                "annotations; no steps unless a profiler marked them",
    .recognises = snapshot_recognises,
    .open = snapshot_open,
    .next = snapshot_next,
    .close = snapshot_close,
};
