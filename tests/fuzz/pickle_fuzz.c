/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an allocator snapshot, pickle or JSON.
 */
#define _GNU_SOURCE
#include "fuzz_path.h"
#include "input_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    fuzz_kind(&input_snapshot, data, size_bytes);
    return 0;
}
