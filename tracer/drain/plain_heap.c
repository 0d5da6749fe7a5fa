/* SPDX-License-Identifier: Apache-2.0 */
/* Where nobody hooks malloc, in the consumer and in the plug-in, the C library's is good enough. */
#include "private_heap.h"

#include <stdlib.h>

void *mt_je_malloc(size_t size_bytes)
{
    return malloc(size_bytes);
}

void *mt_je_calloc(size_t count, size_t size_bytes)
{
    return calloc(count, size_bytes);
}

void *mt_je_realloc(void *block, size_t size_bytes)
{
    return realloc(block, size_bytes);
}

void mt_je_free(void *block)
{
    free(block);
}
