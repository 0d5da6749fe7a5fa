/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a file that has a path but is on no disk.
 */
#ifndef LEAKTIDE_TESTS_FUZZ_PATH_H
#define LEAKTIDE_TESTS_FUZZ_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"

enum { FUZZ_BATCH_EVENTS = 300 };

/* All events; what they are does not matter, that the reader comes back does. */
static inline void fuzz_read_once(const struct input_kind *kind, const char *path,
                                  bool wants_partial)
{
    static struct event batch[FUZZ_BATCH_EVENTS];
    struct mt_error error = {.message = ""};
    struct model *model;
    void *state;
    size_t count = 1;

    if (model_create(&model, &error) != MT_OK)
        abort();
    if (wants_partial)
        model_want_partial(model);
    kind->recognises(path);
    if (kind->open(path, model, &state, &error) == MT_OK) {
        while (count && kind->next(state, batch, FUZZ_BATCH_EVENTS, &count, &error) == MT_OK)
            ;
        kind->close(state);
    }
    model_destroy(model);
}

/* Refusing what is damaged, and keeping what is left of it. */
static inline void fuzz_read(const struct input_kind *kind, const char *path)
{
    fuzz_read_once(kind, path, false);
    fuzz_read_once(kind, path, true);
}

static inline void fuzz_kind(const struct input_kind *kind, const uint8_t *data, size_t size_bytes)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    if (descriptor < 0 || write(descriptor, data, size_bytes) != (ssize_t)size_bytes)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    fuzz_read(kind, path);
    close(descriptor);
}

#endif
