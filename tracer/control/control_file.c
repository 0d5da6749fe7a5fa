/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 16 * 1024 };

/* One that is being written has no end yet. */
static int check_object(const char *text, size_t length)
{
    static const char blanks[] = " \t\r\n";
    const char *begin = text + strspn(text, blanks);

    if (!*begin)
        return ENODATA;
    while (strchr(blanks, text[length - 1]))
        length--;
    return *begin == '{' && text[length - 1] == '}' ? 0 : EINVAL;
}

int control_file_read(const char *path, int64_t rank, struct control_change *change)
{
    static char text[FILE_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
    int error = size < 0 ? errno : size == sizeof(text) - 1 ? EFBIG : 0;

    if (file >= 0)
        close(file);
    if (error)
        return error;
    text[size] = 0;
    error = check_object(text, strlen(text));
    if (!error)
        *change = control_of_file(text, rank);
    return error;
}
