/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a `stack` record, outermost first, each a varint:
 *
 *   bit 0 clear   a return address of less than 2^48: its zigzag difference to the address of the
 *                 frame before, in bits 1 up
 *   bit 0 set     a frame of an interpreter: id of its code << 20 | line, in bits 1 up
 *
 * The frame before the first one is the last of those that are shared with the stack before. A
 * frame of an interpreter counts as address 0. In memory such a frame has bit 63 set.
 */
#ifndef LEAKTIDE_FRAMES_H
#define LEAKTIDE_FRAMES_H

#include <stdint.h>

#include "leaktide/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MT_STACK_FRAMES_MAX = 512,
    MT_FRAME_LINE_BITS = 20,
    MT_FRAME_CODE_BITS = 35,
    MT_FRAME_ADDRESS_BITS = 48,
    MT_FRAME_BYTES_MAX = 8
};

#define MT_FRAME_IS_CODE (UINT64_C(1) << 63)

/* A larger line number, or none, is 0. */
static inline uint64_t mt_frame_of_code(uint64_t code_id, uint64_t line)
{
    return MT_FRAME_IS_CODE | code_id << MT_FRAME_LINE_BITS |
           (line >> MT_FRAME_LINE_BITS ? 0 : line);
}

/* The address that the next frame is a difference to. */
static inline uint64_t mt_frame_address(uint64_t frame)
{
    return frame & MT_FRAME_IS_CODE ? 0 : frame & ((UINT64_C(1) << MT_FRAME_ADDRESS_BITS) - 1);
}

/* Writes up to MT_VARINT_MAX_BYTES, of which at most MT_FRAME_BYTES_MAX count. */
static inline uint8_t *mt_frame_put(uint8_t *out, uint64_t frame, uint64_t frame_before)
{
    if (frame & MT_FRAME_IS_CODE)
        return mt_varint_put(out, (frame & ~MT_FRAME_IS_CODE) << 1 | 1);
    return mt_varint_put(out, mt_zigzag(mt_frame_address(frame) - mt_frame_address(frame_before))
                                  << 1);
}

/* Returns the byte after the frame, or NULL. */
static inline const uint8_t *mt_frame_get(const uint8_t *in, const uint8_t *end,
                                          uint64_t frame_before, uint64_t *frame)
{
    uint64_t value;

    in = mt_varint_get(in, end, &value);
    if (!in)
        return in;
    if (value & 1)
        *frame = MT_FRAME_IS_CODE | value >> 1;
    else
        *frame = mt_frame_address(mt_frame_address(frame_before) + mt_unzigzag(value >> 1));
    return in;
}

#ifdef __cplusplus
}
#endif

#endif
