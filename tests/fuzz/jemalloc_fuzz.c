/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a heap profile of jemalloc.
 */
#define _GNU_SOURCE
#include "fuzz_path.h"
#include "input_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    fuzz_kind(&input_jemalloc, data, size_bytes);
    return 0;
}
