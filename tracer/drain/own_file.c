/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs number their descriptors from below and expect theirs to be small. */
enum { DESCRIPTOR_FLOOR = 500 };

static int descriptor_lift(int low)
{
    int high = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR);

    if (high < 0)
        return low;
    close(low);
    return high;
}

static bool open_as(struct own_file *file, int flags)
{
    struct stat status;
    int descriptor = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

    file->descriptor = -1;
    if (descriptor < 0)
        return false;
    descriptor = descriptor_lift(descriptor);
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        return false;
    }
    file->descriptor = descriptor;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return true;
}

bool own_file_create(struct own_file *file)
{
    return open_as(file, O_CREAT | O_EXCL);
}

bool own_file_open(struct own_file *file)
{
    return open_as(file, 0);
}

static bool is_ours(const struct own_file *file, int descriptor)
{
    struct stat status;

    return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->inode;
}

int own_file_descriptor(struct own_file *file)
{
    int descriptor = __atomic_load_n(&file->descriptor, __ATOMIC_RELAXED);

    if (is_ours(file, descriptor))
        return descriptor;
    descriptor = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return -1;
    descriptor = descriptor_lift(descriptor);
    if (!is_ours(file, descriptor)) {
        close(descriptor);
        return -1;
    }
    __atomic_store_n(&file->descriptor, descriptor, __ATOMIC_RELAXED);
    return descriptor;
}

bool own_file_write(int descriptor, const void *bytes, size_t size_bytes, uint64_t offset_bytes)
{
    const char *at = bytes;

    while (size_bytes) {
        ssize_t count = pwrite(descriptor, at, size_bytes, (off_t)offset_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size_bytes -= (size_t)count;
        offset_bytes += (uint64_t)count;
    }
    return true;
}

void own_file_close(struct own_file *file)
{
    if (is_ours(file, file->descriptor))
        close(file->descriptor);
    file->descriptor = -1;
}

void own_file_remove(struct own_file *file)
{
    if (file->descriptor >= 0) {
        own_file_close(file);
        unlink(file->path);
    }
}
