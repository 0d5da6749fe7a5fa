/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "program_needs.h"

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

void program_needs_find(const char *program, struct mt_program_needs *needs)
{
    static const struct mt_program_files files = {program_open, program_read, program_close};
    const char *folders = getenv("PATH");

    mt_program_look(&files, program, folders ? folders : "/bin:/usr/bin", needs);
    if (needs->kind == MT_PROGRAM_FITS)
        needs->kind = mt_program_kind_here(getenv("LD_AUDIT"));
}
