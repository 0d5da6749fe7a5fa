/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the mangled name of a function: it is read soon, and is not long. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rust_name.h"

enum { longest_bytes = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_after(const char *first, const uint8_t *data, size_t size)
{
    size_t length = strlen(first);
    char *name = malloc(length + size + 1); /* so that a byte too many is seen */
    struct text_builder text;
    bool is_read;

    if (!name)
        abort();
    memcpy(name, first, length);
    if (size)
        memcpy(name + length, data, size);
    name[length + size] = 0;
    text_init(&text);
    is_read = add_rust_name(&text, name);
    if ((!is_read && text.size_bytes) || strlen(text_get(&text)) > length + size + longest_bytes ||
        length_without_rust_hash(name, strlen(name)) > strlen(name))
        abort();
    text_release(&text);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_after("", data, size);
    read_after("_R", data, size);
    return 0;
}
