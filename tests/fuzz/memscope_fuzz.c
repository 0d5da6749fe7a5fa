/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a csv or a database of msleaks and msmemscope.
 */
#define _GNU_SOURCE
#include "fuzz_path.h"
#include "input_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    fuzz_kind(&input_memscope, data, size_bytes);
    return 0;
}
