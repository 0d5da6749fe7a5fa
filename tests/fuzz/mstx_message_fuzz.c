/* SPDX-License-Identifier: Apache-2.0 */
/* Any message of mstx: what is read of it lies in it, and lists come to an end. */
#include <stdlib.h>

#include "mstx_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_lie_in(struct text part, struct text whole)
{
    if (part.size_bytes &&
        (part.bytes < whole.bytes || part.bytes + part.size_bytes > whole.bytes + whole.size_bytes))
        abort();
}

static void list_walk(struct text list, struct text message)
{
    uint64_t address, size_bytes;
    size_t left = list.size_bytes;

    must_lie_in(list, message);
    while (mstx_access_next(&list, &address, &size_bytes)) {
        if (list.size_bytes >= left)
            abort();
        left = list.size_bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text message = {(const char *)data, size};
    struct mstx_mark mark = mstx_mark_read(message);

    must_lie_in(mark.name, message);
    list_walk(mark.reads, message);
    list_walk(mark.writes, message);
    if (mstx_is_step(message) && mark.kind != MSTX_MARK_PLAIN)
        abort();
    return 0;
}
