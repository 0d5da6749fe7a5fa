/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A leaktide run as an input: a folder of .mtt files, or one of them.
 *
 * All headers are read at the start, so that processes come in the order in which they began and
 * share one time line. Files are then read one after the other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_source.h"
#include "input_kinds.h"
#include "list.h"
#include "mtt_file.h"
#include "path_text.h"
#include "run_rings.h"
#include "trace_context.h"
#include "trace_process.h"

struct run_file {
    char *path;
    struct mt_file_header header;
    uint16_t process;
};

struct run {
    struct model *model;
    struct run_file *files;
    size_t file_count, file_capacity;
    size_t bad_count;          /* files that were left out */
    struct mt_error first_bad; /* why */
    enum mt_result first_bad_result;
    size_t next_file;
    bool is_process_open;
    struct trace_process process;
    struct trace_texts texts;
    struct chunk_loader loader;
};

/* --- recognising --------------------------------------------------------------------------- */

static bool ends_in_mtt(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".mtt") == 0;
}

static bool begins_like_a_trace(const char *path)
{
    char magic[8];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_trace = descriptor >= 0 &&
                    read(descriptor, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
                    memcmp(magic, MT_FILE_MAGIC, sizeof(magic)) == 0;

    if (descriptor >= 0)
        close(descriptor);
    return is_trace;
}

static int run_recognises(const char *path)
{
    struct stat status;
    const struct dirent *entry;
    bool has_trace = false;
    DIR *folder;

    if (stat(path, &status) != 0)
        return 0;
    /* A trace whose first bytes are damaged is still ours to refuse. */
    if (!S_ISDIR(status.st_mode))
        return begins_like_a_trace(path) || ends_in_mtt(path);
    folder = opendir(path);
    while (folder && !has_trace && (entry = readdir(folder)))
        has_trace = ends_in_mtt(entry->d_name) || strcmp(entry->d_name, MT_RINGS_NAME) == 0;
    if (folder)
        closedir(folder);
    return has_trace;
}

/* --- opening ------------------------------------------------------------------------------- */

static void run_close(void *state)
{
    struct run *run = state;

    if (!run)
        return;
    trace_process_close(&run->process);
    for (size_t i = 0; i < run->file_count; i++)
        free(run->files[i].path);
    free(run->files);
    trace_texts_release(&run->texts);
    chunk_loader_release(&run->loader);
    free(run);
}

/* A file that cannot be read is left out, unless there is no memory. */
static enum mt_result add_file(struct run *run, const char *path, struct mt_error *error)
{
    struct mt_error trouble = {.message = ""};
    struct mtt_file file;
    enum mt_result result = mtt_file_open(&file, path, &trouble);
    struct run_file *kept = NULL;

    if (result != MT_OK) {
        if (result == MT_NO_MEMORY)
            return mt_error_set(error, result, "%s", trouble.message);
        if (!run->bad_count++) {
            run->first_bad = trouble;
            run->first_bad_result = result;
        }
        return MT_OK;
    }
    if (list_has_room(&run->files, &run->file_capacity, run->file_count, sizeof(*kept))) {
        kept = &run->files[run->file_count];
        *kept = (struct run_file){.path = strdup(path), .header = file.header};
    }
    mtt_file_close(&file);
    if (!kept || !kept->path)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    run->file_count++;
    return MT_OK;
}

static enum mt_result add_file_in(struct run *run, const char *folder, const char *name,
                                  struct mt_error *error)
{
    size_t size_bytes = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(size_bytes);
    enum mt_result result;

    if (!path)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", folder);
    snprintf(path, size_bytes, "%s/%s", folder, name);
    result = add_file(run, path, error);
    free(path);
    return result;
}

static bool has_file(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->file_count; i++)
        if (strcmp(path_base(run->files[i].path), name) == 0)
            return true;
    return false;
}

/* Processes that were killed before their traces were made, and what was lost of others. */
static enum mt_result add_places(struct run *run, const char *folder, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    struct mt_rings_process place;
    struct run_rings rings;
    char name[64];

    if (!run_rings_open(&rings, folder, true))
        return MT_OK;
    for (uint32_t i = 0; result == MT_OK && i < rings.header.processes_end; i++) {
        if (!run_rings_process(&rings, i, &place))
            continue;
        mtt_file_name(name, sizeof(name), &place.header);
        if (!has_file(run, name))
            result = add_file_in(run, folder, name, error);
    }
    model_add_lost(run->model, rings.header.lost_count);
    run_rings_close(&rings);
    return result;
}

static enum mt_result add_folder(struct run *run, const char *path, struct mt_error *error)
{
    DIR *folder = opendir(path);
    enum mt_result result = MT_OK;
    const struct dirent *entry;

    if (!folder)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    while (result == MT_OK && (entry = readdir(folder)))
        if (ends_in_mtt(entry->d_name))
            result = add_file_in(run, path, entry->d_name, error);
    closedir(folder);
    return result == MT_OK ? add_places(run, path, error) : result;
}

static int compare_files(const void *left, const void *right)
{
    const struct run_file *a = left, *b = right;

    if (a->header.start_monotonic_ns != b->header.start_monotonic_ns)
        return a->header.start_monotonic_ns < b->header.start_monotonic_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

static uint32_t text_of(struct model *model, const char *bytes, size_t capacity)
{
    return model_text(model, bytes, strnlen(bytes, capacity));
}

/*
 * A process that became another program cannot close its trace; the image after it, of the same
 * process, tells that this is how it ended. What was in its rings is read like everything else.
 */
static bool became_another_program(const struct run *run, const struct run_file *file)
{
    const struct mt_file_header *h = &file->header;

    for (const struct run_file *later = file + 1; later < run->files + run->file_count; later++)
        if (later->header.process_id == h->process_id &&
            later->header.parent_process_id == h->parent_process_id)
            return true;
    return false;
}

/* What is not as it was asked for in the stacks of a process. */
static void note_stacks(struct model *model, const struct run_file *file)
{
    const struct mt_file_header *h = &file->header;

    if (h->no_stack_count)
        model_note(model, h->no_stack_count,
                   "%s: events have their call site only, as their stack could not be had",
                   file->path);
    if (h->stack_restart_count)
        model_note(model, h->stack_restart_count,
                   "%s: times the memory for stacks of a thread was full and it began anew: stacks "
                   "are right, the recording is larger; --stack-memory=SIZE gives it more",
                   file->path);
    if (h->unread_python)
        model_note(model, 1,
                   "%s: stacks have no frames of Python: those of CPython %u.%u cannot be read",
                   file->path, (unsigned)(h->unread_python >> 24 & 0xff),
                   (unsigned)(h->unread_python >> 16 & 0xff));
}

enum { END_SIGNAL_BITS = 0x7f, END_STATUS_SHIFT = 8 }; /* of what waitpid tells */

/* The row of the model for one process image, as far as its header tells. */
static void add_process(struct run *run, struct run_file *file)
{
    const struct mt_file_header *h = &file->header;
    struct model_process process = {
        .process_id = h->process_id,
        .parent_process_id = h->parent_process_id,
        .start_realtime_ns = h->start_realtime_ns,
        .start_ns = h->start_monotonic_ns - run->files[0].header.start_monotonic_ns,
        .executable = text_of(run->model, h->executable, sizeof(h->executable)),
        .command_line = text_of(run->model, h->command_line, sizeof(h->command_line)),
        .options = text_of(run->model, h->options, sizeof(h->options)),
        .source = model_text(run->model, file->path, strlen(file->path)),
        .rank = -1,
        .job_rank_number = h->rank_number <= INT32_MAX ? (uint32_t)h->rank_number : 0,
        .world_size = h->world_size <= INT32_MAX ? (uint32_t)h->world_size : 0,
        .is_complete = h->state == MT_FILE_CLOSED || became_another_program(run, file),
        .hides_objects = h->unseen_python != 0,
        .is_end_known = (h->end_status & MT_END_IS_KNOWN) != 0,
        .end_signal = h->end_status & END_SIGNAL_BITS,
        .limits = {h->address_limit_bytes, h->data_limit_bytes, h->machine_bytes},
    };

    if (process.is_end_known && !process.end_signal)
        process.exit_status = h->end_status >> END_STATUS_SHIFT & UINT8_MAX;
    process.end_ns = process.start_ns;
    if (h->last_monotonic_ns > h->start_monotonic_ns)
        process.end_ns += h->last_monotonic_ns - h->start_monotonic_ns;
    memcpy(process.lost_counts, h->lost_counts, sizeof(process.lost_counts));
    file->process = model_process(run->model, &process);
    note_stacks(run->model, file);
}

static enum mt_result check_files(const struct run *run, const char *path, struct mt_error *error)
{
    if (run->file_count) {
        if (run->bad_count)
            model_note(run->model, run->bad_count, "files that could not be read; the first: %s",
                       run->first_bad.message);
        return MT_OK;
    }
    if (run->bad_count)
        return mt_error_set(error, run->first_bad_result, "%s", run->first_bad.message);
    return mt_error_set(error, MT_NO_DATA, "%s: no trace files in this folder", path);
}

static enum mt_result run_open(const char *path, struct model *model, void **state,
                               struct mt_error *error)
{
    struct run *run = calloc(1, sizeof(*run));
    struct stat status;
    enum mt_result result;

    if (!run)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    run->model = model;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        result = add_folder(run, path, error);
    else
        result = add_file(run, path, error);
    if (result == MT_OK)
        result = check_files(run, path, error);
    if (result != MT_OK) {
        run_close(run);
        return result;
    }
    qsort(run->files, run->file_count, sizeof(*run->files), compare_files);
    for (size_t i = 0; i < run->file_count; i++)
        add_process(run, &run->files[i]);
    result = model_status(model, error);
    if (result != MT_OK) {
        run_close(run);
        return result;
    }
    *state = run;
    return MT_OK;
}

/* --- reading ------------------------------------------------------------------------------- */

/* 0: sites are wanted. */
static uint32_t any_site(struct model *model, uint16_t process)
{
    static const char name[] = "(anywhere)";

    if (model_wants_sites(model))
        return 0;
    return model_site(model,
                      (struct model_site){.process = process,
                                          .label = model_text(model, name, sizeof(name) - 1)});
}

static enum mt_result open_process(struct run *run, const struct run_file *file,
                                   struct mt_error *error)
{
    struct trace_context context = {
        .model = run->model,
        .texts = &run->texts,
        .process = file->process,
        .host_pool = model_known_pool(run->model, POOL_HOST),
        .host_place = model_place(run->model, mt_place_unpack(0)),
        .any_site = any_site(run->model, file->process),
    };

    if (!trace_clock_init(&context.clock, &file->header, run->files[0].header.start_monotonic_ns))
        model_note(run->model, 1, "%s: its clock is unknown; times are counter ticks", file->path);
    return trace_process_open(&run->process, file->path, &context, &run->loader, error);
}

/* NULL: there is no more that is wanted. */
static const struct run_file *next_file(struct run *run)
{
    while (run->next_file < run->file_count) {
        const struct run_file *file = &run->files[run->next_file++];

        if (model_wants_process(run->model, file->process))
            return file;
    }
    return NULL;
}

static enum mt_result run_next(void *state, struct event *batch, size_t capacity, size_t *count,
                               struct mt_error *error)
{
    struct run *run = state;
    enum mt_result result;

    *count = 0;
    while (capacity && !*count) {
        if (!run->is_process_open) {
            const struct run_file *file = next_file(run);

            if (!file)
                return MT_OK;
            result = open_process(run, file, error);
            if (result != MT_OK)
                return result;
            run->is_process_open = true;
        }
        result = trace_process_next(&run->process, batch, capacity, count, error);
        if (result != MT_OK)
            return result;
        if (!*count) {
            trace_process_summarize(&run->process);
            trace_process_close(&run->process);
            run->is_process_open = false;
        }
    }
    return MT_OK;
}

const struct input_kind input_trace = {
    .name = SOURCE_KIND_OWN,
    .contents = "every allocation with its call site, pool and place; steps, operators, samples",
    .recognises = run_recognises,
    .open = run_open,
    .next = run_next,
    .close = run_close,
};
