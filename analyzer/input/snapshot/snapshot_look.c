/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys are plain text, in pickles too.
 */
#define _GNU_SOURCE /* memmem */
#include "snapshot_look.h"

#include <stdlib.h>
#include <string.h>

#include "byte_stream.h"

enum { look_bytes = 1 << 16 };

bool snapshot_is_pickle(const unsigned char *bytes, size_t size_bytes)
{
    return size_bytes > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5;
}

static bool has_word(const unsigned char *bytes, size_t size_bytes, const char *word)
{
    return memmem(bytes, size_bytes, word, strlen(word)) != NULL;
}

static bool is_json(const unsigned char *bytes, size_t size_bytes)
{
    size_t i = 0;

    while (i < size_bytes && strchr(" \t\r\n", bytes[i]) && bytes[i])
        i++;
    if (i == size_bytes || (bytes[i] != '{' && bytes[i] != '['))
        return false;
    if (bytes[i] == '{')
        return has_word(bytes, size_bytes, "\"segments\"") ||
               has_word(bytes, size_bytes, "\"device_traces\"");
    return has_word(bytes, size_bytes, "\"total_size\"") &&
           has_word(bytes, size_bytes, "\"blocks\"");
}

static bool has_keys(const unsigned char *bytes, size_t size_bytes)
{
    return has_word(bytes, size_bytes, "segments") ||
           has_word(bytes, size_bytes, "device_traces") ||
           has_word(bytes, size_bytes, "total_size");
}

/* Files that nobody named need the keys of a snapshot. */
static bool look(const char *path, bool needs_keys)
{
    unsigned char *bytes = malloc(look_bytes);
    size_t size_bytes = bytes ? byte_stream_begin(path, bytes, look_bytes) : 0;
    bool is_ours = size_bytes &&
                   (is_json(bytes, size_bytes) || (snapshot_is_pickle(bytes, size_bytes) &&
                                                   (!needs_keys || has_keys(bytes, size_bytes))));

    free(bytes);
    return is_ours;
}

bool snapshot_may_be(const char *path)
{
    return look(path, false);
}

bool snapshot_is_surely(const char *path)
{
    return look(path, true);
}
