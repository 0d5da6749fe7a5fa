/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "NPU out of memory. Tried to allocate 902.00 MiB (NPU 0; 600.00 MiB total capacity; ..."
 */
#include "torch_refusal.h"

#include <string.h>

/* Reads no further than a byte 0. */
static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool take_number(const char **text, uint64_t *number)
{
    const char *start = *text;
    enum { MOST = 1000000000 };

    for (*number = 0; **text >= '0' && **text <= '9' && *number < MOST; ++*text)
        *number = *number * 10 + (uint64_t)(**text - '0');
    return *text > start;
}

/* "902.00 MiB", "512 bytes". */
static bool take_size(const char **text, uint64_t *size_bytes)
{
    static const struct {
        const char *word;
        unsigned shift;
    } units[] = {{" GiB", 30}, {" MiB", 20}, {" KiB", 10}, {" bytes", 0}};
    uint64_t whole, hundredths = 0;

    if (!take_number(text, &whole) || (take_word(text, ".") && !take_number(text, &hundredths)))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (take_word(text, units[i].word)) {
            *size_bytes = (whole << units[i].shift) + (hundredths << units[i].shift) / 100;
            return hundredths < 100;
        }
    return false;
}

bool torch_refusal_read(const char *text, size_t length, struct torch_refusal *refusal)
{
    struct torch_refusal read = {.is_workspace = false};
    uint64_t device;

    if (!text || !length || !take_word(&text, "NPU out of memory. "))
        return false;
    read.is_workspace = take_word(&text, "NPUWorkspaceAllocator tried to allocate ");
    if ((!read.is_workspace && !take_word(&text, "Tried to allocate ")) ||
        !take_size(&text, &read.size_bytes))
        return false;
    take_word(&text, " ");
    if (!take_word(&text, "(NPU ") || !take_number(&text, &device) || device > INT32_MAX)
        return false;
    read.device = (int32_t)device;
    *refusal = read;
    return true;
}
