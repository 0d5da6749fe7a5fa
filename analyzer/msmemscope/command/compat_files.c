/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the files of every process of a run.
 */
#define _GNU_SOURCE
#include "compat_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat_config.h"
#include "compat_layout.h"
#include "compat_watch.h"
#include "dump_write.h"
#include "host_leaks.h"
#include "leaktide/format.h"
#include "outlet.h"
#include "python_trace.h"

_Static_assert(DUMP_PATH_BYTES >= PATH_MAX, "a path of the layout fits");

static void complain_of(const struct compat_request *request, const char *message)
{
    outlet_print(stderr, "[%s] %s: %s\n", request->generation->program,
                 request->generation->error_word, message);
}

static void inform(const struct compat_request *request, const char *what, const char *path)
{
    if (request->log_level <= COMPAT_INFO)
        outlet_print(stdout, "[%s] Info: %s %s.\n", request->generation->program, what, path);
}

/* What the files of a process have in common, and the first that was made. */
struct making {
    const struct compat_place *place;
    int32_t device;
    char path[PATH_MAX]; /* "": none yet */
};

static enum mt_result file_make(void *context, int32_t device, char *path, struct mt_error *error)
{
    struct making *making = context;
    const struct compat_place *place = making->place;
    const struct compat_request *request = place->request;
    char sub[64];
    enum mt_result result;

    if (device == DUMP_DEVICE_CPU)
        snprintf(sub, sizeof(sub), "device_cpu/dump");
    else
        snprintf(sub, sizeof(sub), "device_%" PRId32 "/dump", device);
    result = compat_file_make(place, sub, request->generation->dump_prefix,
                              request->dump.is_database ? ".db" : ".csv", path, error);
    if (result != MT_OK)
        return result;
    inform(request, "create file", path);
    if (!making->path[0]) {
        making->device = device;
        strcpy(making->path, path);
    }
    return MT_OK;
}

/* Beside the rows of the first device; of a process without one they are a file all the same. */
static enum mt_result python_write(const struct making *making, struct mt_trace *trace,
                                   struct mt_error *error)
{
    const struct compat_place *place = making->place;
    char sub[64] = "device_0/dump", path[PATH_MAX];
    FILE *out = NULL;
    enum mt_result result;

    if (!python_trace_is_there(trace))
        return MT_OK;
    if (place->request->dump.is_database && making->path[0])
        return python_trace_write_table(trace, making->path, place->process_id, error);
    if (making->path[0] && making->device == DUMP_DEVICE_CPU)
        snprintf(sub, sizeof(sub), "device_cpu/dump");
    else if (making->path[0])
        snprintf(sub, sizeof(sub), "device_%" PRId32 "/dump", making->device);
    result = compat_file_open(place, sub, "python_trace", ".csv", path, &out, error);
    if (result != MT_OK)
        return result;
    result = python_trace_write_csv(trace, out, error);
    if (fclose(out) != 0 && result == MT_OK)
        result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    if (result == MT_OK)
        inform(place->request, "create file", path);
    return result;
}

static struct dump_write dump_of(const struct compat_request *request, struct making *making)
{
    struct dump_write what = request->dump;

    what.collected_events = compat_events_needed(request);
    what.context = making;
    what.file_make = file_make;
    return what;
}

/* One file of the host's report; NULL, without a word, where the whole of it fails. */
static FILE *host_file(const struct compat_place *place, const char *name, const char *ending,
                       char *path, struct mt_error *error)
{
    FILE *out = NULL;

    return compat_file_open(place, "host_leak", name, ending, path, &out, error) == MT_OK ? out
                                                                                          : NULL;
}

static enum mt_result host_write_of(const struct compat_place *place, struct mt_trace *trace,
                                    struct mt_error *error)
{
    const struct compat_request *request = place->request;
    char overview_path[PATH_MAX], blocks_path[PATH_MAX] = "";
    struct host_leaks what = {.least_bytes = request->block_size_threshold};
    enum mt_result result = MT_IO;

    what.overview = host_file(place, "leak_overview", ".txt", overview_path, error);
    if (what.overview && request->is_host_by_event)
        what.blocks = host_file(place, "block_detail", ".csv", blocks_path, error);
    if (what.overview && (what.blocks || !request->is_host_by_event))
        result = host_leaks_write(trace, &what, error);
    if (what.overview)
        fclose(what.overview);
    if (what.blocks)
        fclose(what.blocks);
    if (result == MT_OK) {
        inform(request, "create file", overview_path);
    } else if (what.overview) {
        compat_file_drop(place, overview_path);
        if (blocks_path[0])
            compat_file_drop(place, blocks_path);
    }
    return result == MT_NO_DATA ? MT_OK : result;
}

/* With all steps that can be found, as our verdict stands beside the tool's numbers. */
static enum mt_result host_write(const struct compat_place *place, const char *path,
                                 struct mt_error *error)
{
    struct mt_trace *trace = NULL;
    enum mt_result result = mt_trace_open(&path, 1, &trace, error);

    if (result == MT_OK)
        result = host_write_of(place, trace, error);
    mt_trace_close(trace);
    return result;
}

/* config.json, and a log of what was written from which recording: as in every folder of that tool.
 */
static enum mt_result settings_write(const struct compat_place *place, const char *recording,
                                     struct mt_error *error)
{
    char path[PATH_MAX], stamp[64];
    FILE *log = NULL;
    struct tm local;
    time_t now = time(NULL);
    enum mt_result result = compat_config_write(place->request, place->folder, error);

    if (result == MT_OK)
        result =
            compat_file_open(place, "msmemscope_logs", "msmemscope", ".log", path, &log, error);
    if (result != MT_OK)
        return result;
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    outlet_print(log, "%s [INFO] leaktide %s: files of process %ju, from %s\n", stamp,
                 LEAKTIDE_VERSION, (uintmax_t)place->process_id, recording);
    return fclose(log) == 0 ? MT_OK : mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
}

/* Steps are those that the program marks: the tool knows no others. */
static enum mt_result trace_open(const char *path, struct mt_trace **trace, struct mt_error *error)
{
    const struct mt_open_options options = {.size_bytes = sizeof(options), .step_site = ""};

    return mt_trace_open_with(&path, 1, &options, trace, error);
}

static enum mt_result process_write(const struct compat_request *request, const char *trace_folder,
                                    const char *path, const struct mt_file_header *header,
                                    size_t *file_count, struct mt_error *error)
{
    struct compat_place place = {.request = request};
    struct mt_trace *trace = NULL;
    struct making making = {.place = &place};
    struct dump_write what = dump_of(request, &making);
    struct dump_facts facts;
    time_t stamp =
        request->has_recording ? time(NULL) : (time_t)(header->start_realtime_ns / 1000000000);
    enum mt_result result = trace_open(path, &trace, error);

    if (result == MT_OK)
        result = compat_place_make(&place, request, header->process_id, stamp, error);
    if (result == MT_OK)
        result = dump_write(trace, &what, stdout, &facts, error);
    if (result == MT_OK)
        *file_count += facts.file_count;
    if (result == MT_OK || result == MT_NO_DATA) {
        enum mt_result written = python_write(&making, trace, error);

        result = written == MT_OK ? result : written;
    }
    if (result == MT_OK && (request->dump.analyses & DUMP_BIT_HOST_LEAKS))
        result = host_write(&place, path, error);
    if (place.folder[0]) {
        enum mt_result moved = compat_watch_move(&place, trace_folder, error);

        if (result == MT_OK || moved != MT_OK)
            result = moved;
    }
    /* Only an empty folder goes, if it has not gone with its last file. */
    if (result == MT_OK && request->has_process_folders && rmdir(place.folder) != 0 &&
        errno != ENOENT)
        result = settings_write(&place, path, error);
    mt_trace_close(trace);
    return result;
}

static bool header_read(const char *path, struct mt_file_header *header)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_ok = file >= 0 && read(file, header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
                 memcmp(header->magic, MT_FILE_MAGIC, sizeof(header->magic)) == 0;

    if (file >= 0)
        close(file);
    return is_ok;
}

static int is_trace(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".mtt") == 0;
}

/* What was asked for, where no process has files: the folder of one, as that tool leaves it. */
static enum mt_result settings_alone_write(const struct compat_request *request,
                                           const char *recording,
                                           const struct mt_file_header *header,
                                           struct mt_error *error)
{
    struct compat_place place = {.request = request};
    enum mt_result result =
        compat_place_make(&place, request, header->process_id,
                          (time_t)(header->start_realtime_ns / 1000000000), error);

    return result == MT_OK ? settings_write(&place, recording, error) : result;
}

static void say_no_rows(const struct compat_request *request, const char *recording,
                        const struct mt_file_header *header)
{
    struct mt_error error;

    if (request->has_process_folders && !request->has_recording &&
        settings_alone_write(request, recording, header, &error) != MT_OK)
        complain_of(request, error.message);
    if (request->dump.events && request->log_level <= COMPAT_WARNING)
        outlet_print(stderr,
                     "[%s] Note: no file of rows: nothing recorded is of what the options name\n",
                     request->generation->program);
}

bool compat_files_write(const struct compat_request *request, const char *trace_folder,
                        size_t *process_count)
{
    struct dirent **names = NULL;
    int count = scandir(trace_folder, &names, is_trace, alphasort);
    struct mt_file_header header, first = {0};
    size_t file_count = 0;
    bool is_ok = true;

    *process_count = 0;
    for (int i = 0; i < count; i++) {
        struct mt_error error;
        char path[PATH_MAX];
        enum mt_result result;

        snprintf(path, sizeof(path), "%s/%s", trace_folder, names[i]->d_name);
        free(names[i]);
        if (!header_read(path, &header))
            continue;
        if (!(*process_count)++)
            first = header;
        result = process_write(request, trace_folder, path, &header, &file_count, &error);
        if (result != MT_OK && result != MT_NO_DATA) {
            complain_of(request, error.message);
            is_ok = false;
        }
    }
    free(names);
    fflush(stdout);
    if (is_ok && *process_count && !file_count)
        say_no_rows(request, trace_folder, &first);
    return is_ok;
}
