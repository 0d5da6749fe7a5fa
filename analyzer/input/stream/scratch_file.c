/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that never had a name where the disk can do that; elsewhere its name is taken away at
 * once.
 */
#define _GNU_SOURCE /* O_TMPFILE, mkostemp */
#include "scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_in(const char *folder)
{
    char path[4096];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (descriptor >= 0 ||
        snprintf(path, sizeof(path), "%s/leaktide-XXXXXX", folder) >= (int)sizeof(path))
        return descriptor;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

bool scratch_file_open(struct scratch_file *file)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

    *file = (struct scratch_file){.descriptor = -1};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && file->descriptor < 0; i++)
        if (folders[i] && folders[i][0])
            file->descriptor = open_in(folders[i]);
    return file->descriptor >= 0;
}

void scratch_file_close(struct scratch_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

bool scratch_file_append(struct scratch_file *file, const void *bytes, size_t size_bytes)
{
    size_t written = 0;

    while (written < size_bytes) {
        ssize_t more = pwrite(file->descriptor, (const char *)bytes + written, size_bytes - written,
                              (off_t)(file->size_bytes + written));

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        written += (size_t)more;
    }
    file->size_bytes += size_bytes;
    return true;
}

bool scratch_file_read(const struct scratch_file *file, uint64_t offset_bytes, void *bytes,
                       size_t size_bytes)
{
    size_t got = 0;

    while (got < size_bytes) {
        ssize_t more = pread(file->descriptor, (char *)bytes + got, size_bytes - got,
                             (off_t)(offset_bytes + got));

        if (more < 0 && errno == EINTR)
            continue;
        if (more == 0)
            errno = EIO;
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}
