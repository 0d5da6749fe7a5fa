/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and folders of the files.
 */
#include "compat_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0750, FILE_MODE = 0600, TRIES = 10000 };

void compat_stamp(time_t time, char *stamp)
{
    struct tm local;

    localtime_r(&time, &local);
    strftime(stamp, COMPAT_STAMP_BYTES, "%Y%m%d%H%M%S", &local);
}

enum mt_result compat_folders_make(const char *path, struct mt_error *error)
{
    char part[PATH_MAX];

    for (const char *end = path; *end; end += *end == '/') {
        end += strcspn(end, "/");
        snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
        if (part[0] && mkdir(part, FOLDER_MODE) != 0 && errno != EEXIST)
            return mt_error_set(error, MT_IO, "%s: the folder cannot be made: %s", part,
                                strerror(errno));
    }
    return MT_OK;
}

enum mt_result compat_place_make(struct compat_place *place, const struct compat_request *request,
                                 uint64_t process_id, time_t time, struct mt_error *error)
{
    const char *output = request->output_path;
    char stamp[COMPAT_STAMP_BYTES];
    int length;

    *place = (struct compat_place){.request = request, .process_id = process_id, .time = time};
    compat_stamp(time, stamp);
    if (request->has_process_folders)
        length = snprintf(place->folder, sizeof(place->folder), "%s/%s_%ju_%s_ascend", output,
                          request->generation->process_prefix, (uintmax_t)process_id, stamp);
    else
        length = snprintf(place->folder, sizeof(place->folder), "%s", output);
    if (length >= (int)sizeof(place->folder))
        return mt_error_set(error, MT_USAGE, "--output-path: the path is too long");
    return compat_folders_make(place->folder, error);
}

/* "device_0/dump" is "dump" in a flat layout. */
static const char *sub_in_layout(const struct compat_place *place, const char *sub)
{
    const char *slash = strchr(sub, '/');

    return !place->request->has_process_folders && slash && strncmp(sub, "device_", 7) == 0
               ? slash + 1
               : sub;
}

enum mt_result compat_folder_make(const struct compat_place *place, const char *sub, char *path,
                                  struct mt_error *error)
{
    sub = sub_in_layout(place, sub);
    if (snprintf(path, PATH_MAX, "%s%s%s", place->folder, *sub ? "/" : "", sub) >= PATH_MAX)
        return mt_error_set(error, MT_USAGE, "--output-path: the path is too long");
    return compat_folders_make(path, error);
}

enum mt_result compat_file_make(const struct compat_place *place, const char *sub, const char *name,
                                const char *ending, char *path, struct mt_error *error)
{
    char folder[PATH_MAX], stamp[COMPAT_STAMP_BYTES];
    enum mt_result result = compat_folder_make(place, sub, folder, error);

    for (int i = 0; result == MT_OK && i < TRIES; i++) {
        int file;

        compat_stamp(place->time + i, stamp);
        if (snprintf(path, PATH_MAX, "%s/%s_%s%s", folder, name, stamp, ending) >= PATH_MAX)
            return mt_error_set(error, MT_USAGE, "--output-path: the path is too long");
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (file >= 0) {
            close(file);
            return MT_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return result == MT_OK ? mt_error_set(error, MT_IO, "%s: the file cannot be made: %s", path,
                                          strerror(errno))
                           : result;
}

enum mt_result compat_file_open(const struct compat_place *place, const char *sub, const char *name,
                                const char *ending, char *path, FILE **out, struct mt_error *error)
{
    enum mt_result result = compat_file_make(place, sub, name, ending, path, error);

    if (result != MT_OK)
        return result;
    *out = fopen(path, "w");
    return *out ? MT_OK : mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
}

void compat_file_drop(const struct compat_place *place, const char *path)
{
    char folder[PATH_MAX], *slash;

    unlink(path);
    snprintf(folder, sizeof(folder), "%s", path);
    while ((slash = strrchr(folder, '/')) && (size_t)(slash - folder) >= strlen(place->folder)) {
        *slash = 0;
        rmdir(folder); /* only if it is empty */
    }
    rmdir(place->request->output_path);
}
