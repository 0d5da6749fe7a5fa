/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded and unloaded again and again; built with frames of different sizes. */
#include <string.h>

#ifndef PLUGIN_BYTES
#define PLUGIN_BYTES 16
#endif

void plugin_call(void (*callback)(void *), void *data);

static __attribute__((noinline)) void inner(void (*callback)(void *), void *data)
{
    volatile char room[PLUGIN_BYTES];

    memset((char *)room, 1, sizeof(room));
    callback(data);
    room[0] = 2;
}

__attribute__((visibility("default"))) void plugin_call(void (*callback)(void *), void *data)
{
    volatile char room[2 * PLUGIN_BYTES];

    memset((char *)room, 1, sizeof(room));
    inner(callback, data);
    room[0] = 2;
}
