/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads DWARF data for another one: what it is asked and what it says.
 *
 *   first           <- one byte: enum symbol_open_result, or no_memory_mark
 *   addresses       -> at most batch_most in one message
 *                   <- for each, in order, a count of frames in one byte, and the frames, each a
 *                      struct wire_frame and its texts; as many messages as it takes. Instead of
 *                      the count no_memory_mark, where the child had too little memory to find them
 *
 * It ends when the other end of its socket is closed.
 */
#ifndef LEAKTIDE_SYMBOL_CHILD_H
#define LEAKTIDE_SYMBOL_CHILD_H

#include "symbol_source.h"

enum {
    text_most_bytes = 4096,
    batch_most = 256, /* addresses in one message */
    message_bytes = 1 << 16,
    no_memory_mark = 255,
    frame_most_bytes = 16 + 2 * text_most_bytes /* struct wire_frame and its texts */
};

/* What is known of one function; its texts follow, without ends. */
struct wire_frame {
    uint64_t offset_bytes;
    uint32_t line;
    uint16_t name_bytes, file_bytes; /* more than text_most_bytes: not known */
};

_Static_assert(sizeof(struct wire_frame) == 16, "frame_most_bytes");

/* To be called in a process that was just forked. Nothing of its parent's is run or written. */
_Noreturn void symbol_child_run(int socket, const char *path, struct build_id recorded);

#endif
