/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Attr cell of msleaks and msmemscope.
 *
 *   csv  {allocation_id:4,addr:0x12c0,size:512,owner:PTA@ops,shape:torch.Size([2, 3])}
 *   db   {"allocation_id":"4","addr":"0x12c0","size":"512"}
 *
 * Nothing is escaped, and shapes and lists hold commas, so a value ends where a comma and a key
 * that is known follow, or outside of brackets any word with a colon.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_ATTR_H
#define LEAKTIDE_INPUT_MEMSCOPE_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct attr_text {
    const char *bytes;
    size_t size_bytes;
};

static inline bool attr_is(struct attr_text cell, const char *word)
{
    return cell.size_bytes == strlen(word) && memcmp(cell.bytes, word, cell.size_bytes) == 0;
}

static inline bool attr_ends_with(struct attr_text cell, const char *end)
{
    size_t length = strlen(end);

    return cell.size_bytes >= length &&
           memcmp(cell.bytes + cell.size_bytes - length, end, length) == 0;
}

struct memscope_attr {
    uint64_t address, size_bytes, total_bytes, requested_bytes;
    int32_t module; /* -1: not known */
    bool has_address, has_size, has_total;
    bool is_shadow, is_pinned;
    struct attr_text owner, page, pool;
};

/* The keys of the cell before, in their order: where to look first. All 0 at the beginning; may be
 * NULL where one cell is read. */
enum { MEMSCOPE_GUESSES = 16 };
struct memscope_attr_guess {
    uint8_t keys[MEMSCOPE_GUESSES];
};

void memscope_attr_read(struct memscope_attr *attr, const char *bytes, size_t size_bytes,
                        struct memscope_attr_guess *guess);

/* "0x000012c0", "4800", "-512" (its size); false if it is no number. */
bool memscope_number(const char *bytes, size_t size_bytes, uint64_t *number);

#endif
