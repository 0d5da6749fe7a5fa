/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an export goes: written beside its place under another name, and moved there when whole.
 *
 *   OUT.partial-4711 ──rename──► OUT
 *
 * Devices, pipes and standard output are written as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export.h"
#include "folder_remove.h"
#include "text_builder.h"

enum { stream_buffer_bytes = 1 << 20 };

struct target {
    struct text_builder place;   /* where it is to be */
    struct text_builder partial; /* where it is written; empty: at the place itself */
};

static bool is_stream(const struct exporter *exporter)
{
    return exporter->target == EXPORT_STREAM || exporter->target == EXPORT_TEXT;
}

static enum mt_result say_errno(const char *name, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno ? errno : EIO));
}

/* A link is followed, so that it goes on pointing to the result. */
static void find_place(struct target *target, const char *path)
{
    char *real = realpath(path, NULL);
    const char *place = real ? real : path;
    size_t length = strlen(place);

    while (length > 1 && place[length - 1] == '/')
        length--;
    text_init(&target->place);
    text_add_bytes(&target->place, place, length);
    text_init(&target->partial);
    free(real);
}

static void target_release(struct target *target)
{
    text_release(&target->place);
    text_release(&target->partial);
}

static enum mt_result check_file(const char *place, const char *name, bool *is_special,
                                 struct mt_error *error)
{
    struct stat status;

    *is_special = false;
    if (stat(place, &status) != 0)
        return errno == ENOENT ? MT_OK : say_errno(name, error);
    if (S_ISDIR(status.st_mode))
        return mt_error_set(error, MT_USAGE, "%s is a folder; name a file", name);
    *is_special = !S_ISREG(status.st_mode);
    return MT_OK;
}

/* rmdir removes only what is empty. */
static enum mt_result check_folder(const char *place, const char *name, struct mt_error *error)
{
    struct stat status;

    if (stat(place, &status) != 0)
        return errno == ENOENT ? MT_OK : say_errno(name, error);
    if (!S_ISDIR(status.st_mode))
        return mt_error_set(error, MT_USAGE, "%s is a file; name a new folder", name);
    if (rmdir(place) == 0)
        return MT_OK;
    if (errno == ENOTEMPTY || errno == EEXIST)
        return mt_error_set(error, MT_USAGE, "%s is not empty; name a new folder", name);
    return say_errno(name, error);
}

static enum mt_result move_or_remove(struct target *target, const char *name, enum mt_result result,
                                     struct mt_error *error)
{
    const char *partial = text_get(&target->partial);

    if (!*partial)
        return result;
    if (result == MT_OK && rename(partial, text_get(&target->place)) != 0)
        result = say_errno(name, error);
    if (result != MT_OK)
        folder_remove(partial);
    return result;
}

static enum mt_result write_text(const struct exporter *exporter, struct export_request *request,
                                 struct mt_error *error)
{
    enum mt_result result;

    request->text = outlet_create(exporter->audience, request->out);
    if (!request->text)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", request->name);
    result = exporter->write(request, error);
    if (!outlet_destroy(request->text) && result == MT_OK)
        result = ferror(request->out)
                     ? say_errno(request->name, error)
                     : mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", request->name);
    return result;
}

static enum mt_result write_stream(const struct exporter *exporter, struct export_request *request,
                                   struct mt_error *error)
{
    enum mt_result result;

    request->out = request->path ? fopen(request->path, "w") : stdout;
    if (!request->out)
        return say_errno(request->name, error);
    if (request->path)
        setvbuf(request->out, NULL, _IOFBF, stream_buffer_bytes);
    errno = 0;
    result = exporter->target == EXPORT_TEXT ? write_text(exporter, request, error)
                                             : exporter->write(request, error);
    if (result == MT_OK && (fflush(request->out) != 0 || ferror(request->out)))
        result = say_errno(request->name, error);
    if (request->path && fclose(request->out) != 0 && result == MT_OK)
        result = say_errno(request->name, error);
    return result;
}

/* What was written while memory ran out is not whole, and is not kept. */
static enum mt_result write_to(const struct exporter *exporter, struct export_request *request,
                               struct mt_error *error)
{
    enum mt_result result;

    if (is_stream(exporter))
        result = write_stream(exporter, request, error);
    else if (exporter->target == EXPORT_FOLDER && mkdir(request->path, 0777) != 0)
        result = say_errno(request->name, error);
    else
        result = exporter->write(request, error);
    return result == MT_OK ? model_status(request->model, error) : result;
}

static enum mt_result check_target(const struct exporter *exporter, struct target *target,
                                   const char *name, struct mt_error *error)
{
    const char *place = text_get(&target->place);
    bool is_special = false;
    enum mt_result result = exporter->target == EXPORT_FOLDER
                                ? check_folder(place, name, error)
                                : check_file(place, name, &is_special, error);

    if (result != MT_OK)
        return result;
    if (is_special && !is_stream(exporter))
        return mt_error_set(error, MT_USAGE, "%s is a device or a pipe; %s needs a file", name,
                            exporter->name);
    if (!is_special)
        text_add_format(&target->partial, "%s.partial-%ld", place, (long)getpid());
    if (target->place.has_failed || target->partial.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", name);
    return MT_OK;
}

static enum mt_result write_to_path(const struct exporter *exporter, struct export_request *request,
                                    struct mt_error *error)
{
    struct target target;
    enum mt_result result;

    find_place(&target, request->path);
    result = check_target(exporter, &target, request->name, error);
    if (result == MT_OK) {
        request->path = text_get(target.partial.size_bytes ? &target.partial : &target.place);
        result = write_to(exporter, request, error);
        result = move_or_remove(&target, request->name, result, error);
    }
    target_release(&target);
    return result;
}

enum mt_result export_write(const struct exporter *exporter, const struct question *question,
                            struct model *model, const char *path, struct mt_error *error)
{
    struct arena labels;
    struct export_request request = {
        .question = question,
        .labels = &labels,
        .model = model,
        .path = path,
        .name = path ? path : "standard output",
    };
    enum mt_result result;

    if (!path && !is_stream(exporter))
        return mt_error_set(error, MT_USAGE, "%s cannot go to standard output; name a %s",
                            exporter->name,
                            exporter->target == EXPORT_FOLDER ? "new folder" : "file");
    arena_init(&labels);
    if (path)
        result = write_to_path(exporter, &request, error);
    else
        result = write_to(exporter, &request, error);
    if (result == MT_OK && labels.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for names");
    arena_release(&labels);
    return result;
}
