/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash of bytes: XXH64, as the trace names its texts.
 */
#include "hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t size_bytes)
{
    return XXH64(bytes, size_bytes, 0);
}
