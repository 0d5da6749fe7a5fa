/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built under greenlet's name: does what greenlet does to CPython 3.11 and 3.12 when it moves
 * stacks, but for moving them. A block is freed while the struct through which the thread's frames
 * are found, on the stack, holds something else.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "python_layout.h"

__attribute__((visibility("default"))) bool free_while_switching(size_t kept_bytes);

static char *member_at(char *object, size_t offset)
{
    return *(char **)(void *)(object + offset);
}

/* False where the interpreter has no such struct. Keeps a block of so many bytes. */
bool free_while_switching(size_t kept_bytes)
{
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    char *(*this_thread)(void) =
        (char *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    void *volatile block = malloc(100), *volatile kept;
    struct python_layout layout;
    char *volatile *place, *frame;

    if (!python_layout_find(version(), NULL, &layout) || layout.frame_of_cframe < 0)
        return false;
    place = (char *volatile *)(void *)(member_at(this_thread(), layout.frame_of_thread) +
                                       layout.frame_of_cframe);
    frame = *place;
    *place = (char *)1;
    free(block);
    *place = frame;
    kept = malloc(kept_bytes);
    return kept != NULL;
}
