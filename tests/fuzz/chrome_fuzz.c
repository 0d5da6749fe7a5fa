/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a Chrome trace of torch.profiler, packed or not.
 */
#define _GNU_SOURCE
#include "fuzz_path.h"
#include "input_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    fuzz_kind(&input_chrome, data, size_bytes);
    return 0;
}
