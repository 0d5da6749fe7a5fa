/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sanitizer_runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int program_open(const char *path)
{
    struct stat status;

    if (access(path, X_OK) != 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

static long program_read(int file, void *bytes, size_t size_bytes, uint64_t offset_bytes)
{
    return pread(file, bytes, size_bytes, (off_t)offset_bytes);
}

static void program_close(int file)
{
    close(file);
}

bool sanitizer_runtime_of(const char *program, char soname[MT_RUNTIME_NAME_MAX])
{
    static const struct mt_program_files files = {program_open, program_read, program_close};
    const char *folders = getenv("PATH");

    return mt_program_runtime(&files, program, folders ? folders : "/bin:/usr/bin", soname);
}
