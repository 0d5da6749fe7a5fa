/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-64 as xz and ECMA-182 have it: polynomial 0x42F0E1EBA9EA3693 reflected, all ones in and out.
 */
#ifndef LEAKTIDE_TRACER_CRC64_H
#define LEAKTIDE_TRACER_CRC64_H

#include <stddef.h>
#include <stdint.h>

/* Of what came before, 0 at first, and these bytes after it. Any thread. */
uint64_t crc64(uint64_t before, const void *bytes, size_t size_bytes);

#endif
