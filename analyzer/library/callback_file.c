/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream whose bytes go to a function.
 */
#define _GNU_SOURCE /* fopencookie */
#include "callback_file.h"

#include <errno.h>
#include <stdlib.h>

#include "error_sentence.h"

struct callback {
    mt_write_function write;
    void *context;
};

static ssize_t callback_write(void *cookie, const char *bytes, size_t size_bytes)
{
    const struct callback *callback = cookie;

    if (callback->write(callback->context, bytes, size_bytes))
        return (ssize_t)size_bytes;
    errno = EIO;
    return 0;
}

static int callback_close(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *callback_file_open(mt_write_function write, void *context, struct mt_error *error)
{
    static const cookie_io_functions_t functions = {.write = callback_write,
                                                    .close = callback_close};
    struct callback *callback = malloc(sizeof(*callback));
    FILE *file = NULL;

    if (callback) {
        *callback = (struct callback){write, context};
        file = fopencookie(callback, "w", functions);
    }
    if (!file) {
        free(callback);
        mt_error_set(error, MT_NO_MEMORY, "no memory to write");
    }
    return file;
}
