/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frame of a stack tells where the program asked for memory.
 *
 * Innermost first, a stack runs through the allocator, the framework and its modules before it
 * comes to code that somebody wrote for this program. The first frame of the highest rank is taken.
 */
#include "snapshot_frames.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hash.h"
#include "text_builder.h"

enum frame_rank {
    RANK_ALLOCATOR, /* C++ on the way to the allocator */
    RANK_NATIVE,
    RANK_OPERATOR,
    RANK_INTERPRETER,
    RANK_BACKWARD, /* which gradient, where no Python is on the stack */
    RANK_FRAMEWORK,
    RANK_PACKAGE,
    RANK_PROGRAM
};

static const char generated[] = "torch::autograd::generated::"; /* BmmBackward0::apply(... */

/* As in the paths of Linux; those of Windows are compared with / for \. */
static const struct {
    const char *part;
    enum frame_rank rank;
} ranks_by_path[] = {
    {"/site-packages/torch/", RANK_FRAMEWORK},
    {"/dist-packages/torch/", RANK_FRAMEWORK},
    {"/site-packages/torch_npu/", RANK_FRAMEWORK},
    {"/dist-packages/torch_npu/", RANK_FRAMEWORK},
    {"/site-packages/", RANK_PACKAGE},
    {"/dist-packages/", RANK_PACKAGE},
    {"/lib/python", RANK_INTERPRETER},
};

static bool has_part(const char *path, const char *part)
{
    for (; *path; path++) {
        size_t i = 0;

        while (part[i] && (path[i] == part[i] || (path[i] == '\\' && part[i] == '/') ||
                           (path[i] && tolower((unsigned char)path[i]) == part[i])))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

static bool is_python(const char *path)
{
    size_t length = strlen(path);

    return length > 3 && strcmp(path + length - 3, ".py") == 0;
}

static enum frame_rank rank_of_native(const char *name)
{
    static const char *const allocator[] = {
        "torch::unwind::", "torch::CapturedTraceback::", "c10::", "torch::cuda::", "??"};

    for (size_t i = 0; i < sizeof(allocator) / sizeof(allocator[0]); i++)
        if (strncmp(name, allocator[i], strlen(allocator[i])) == 0)
            return RANK_ALLOCATOR;
    if (strncmp(name, generated, sizeof(generated) - 1) == 0)
        return RANK_BACKWARD;
    return strncmp(name, "at::_ops::", 10) == 0 ? RANK_OPERATOR : RANK_NATIVE;
}

static enum frame_rank rank_of(const char *name, const char *path)
{
    if (path[0] == '<')
        return RANK_INTERPRETER;
    if (!is_python(path))
        return rank_of_native(name);
    for (size_t i = 0; i < sizeof(ranks_by_path) / sizeof(ranks_by_path[0]); i++)
        if (has_part(path, ranks_by_path[i].part))
            return ranks_by_path[i].rank;
    return RANK_PROGRAM;
}

uint32_t snapshot_frame(struct snapshot_tables *tables, uint32_t name, uint32_t file, uint64_t line)
{
    uint64_t hash = hash_pair((uint64_t)name << 32 | file, line);
    size_t probe = 0;
    uint32_t found;
    const char *path;
    struct snapshot_frame *row;

    while (hash_index_next(&tables->frame_index, hash, &probe, &found)) {
        row = table_at(&tables->frames, found);
        if (row->name == name && row->file == file && row->line == line)
            return found;
    }
    row = table_add(&tables->frames);
    if (!row || !hash_index_add(&tables->frame_index, hash, (uint32_t)(tables->frames.count - 1)))
        return UINT32_MAX;
    path = model_text_at(tables->model, file);
    *row = (struct snapshot_frame){name, file, line, 0,
                                   (uint8_t)rank_of(model_text_at(tables->model, name), path)};
    if (has_part(path, "/torch_npu/"))
        tables->is_npu = true;
    return (uint32_t)(tables->frames.count - 1);
}

/* The file and the folder it is in: many files are called module.py. */
static const char *short_path(const char *path)
{
    const char *end = path + strlen(path);
    unsigned parts = 0;

    while (end > path) {
        if ((end[-1] == '/' || end[-1] == '\\') && ++parts == 2)
            break;
        end--;
    }
    return end;
}

/* Parameters of C++ fill lines. */
static void add_name(struct text_builder *text, const char *name, uint8_t rank)
{
    static const char unnamed[] = "(anonymous namespace)";
    size_t length = 0;

    if (rank == RANK_BACKWARD)
        name += sizeof(generated) - 1;
    while (name[length] && (name[length] != '(' || rank > RANK_BACKWARD)) {
        length++;
        if (strncmp(name + length, unnamed, sizeof(unnamed) - 1) == 0)
            length += sizeof(unnamed) - 1;
    }
    text_add_bytes(text, name, length);
}

uint32_t snapshot_frame_site(struct snapshot_tables *tables, uint32_t frame)
{
    struct snapshot_frame *row = table_at(&tables->frames, frame);
    struct text_builder text;
    const char *path;

    if (row->site)
        return row->site;
    path = model_text_at(tables->model, row->file);
    text_init(&text);
    add_name(&text, model_text_at(tables->model, row->name), row->rank);
    if (*path && strcmp(path, "??") != 0)
        text_add_format(&text, " (%s:%" PRIu64 ")", short_path(path), row->line);
    if (text.size_bytes)
        row->site = model_site(
            tables->model, (struct model_site){
                               .process = tables->process,
                               .label = model_text(tables->model, text_get(&text), text.size_bytes),
                           });
    text_release(&text);
    return row->site;
}
