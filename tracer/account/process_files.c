/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "process_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool file_read(int folder, const char *name, char *text, size_t text_bytes)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t size = 0;

    while (file >= 0 && used + 1 < text_bytes) {
        size = read(file, text + used, text_bytes - 1 - used);
        if (size <= 0)
            break;
        used += (size_t)size;
    }
    text[used] = 0;
    if (file >= 0)
        close(file);
    return file >= 0 && size >= 0;
}

uint64_t line_number_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    const char *line = text;

    while (line && strncmp(line, key, length) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        return UINT64_MAX;
    line += length;
    line += strspn(line, " \t");
    return *line >= '0' && *line <= '9' ? strtoull(line, NULL, 10) : UINT64_MAX;
}
