/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pickle remembers, by number: four bytes each, and nothing for a stretch of things that
 * were used and cannot be needed again.
 *
 * Python remembers every dict and list, so a snapshot of millions of events remembers millions.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_MEMO_H
#define LEAKTIDE_INPUT_SNAPSHOT_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memo_kind {
    MEMO_OTHER,
    MEMO_TEXT,   /* index: text of the model */
    MEMO_WORD,   /* index: enum word */
    MEMO_NUMBER, /* index: of a table */
    MEMO_OBJECT, /* index: of an object that may still change */
    MEMO_STACK,  /* index: site; a list of frames that was used */
    MEMO_USED    /* an event, a block: in its list */
};

enum { MEMO_INDEX_MAX = (1 << 28) - 1 };

struct memo_slot {
    uint32_t kind; /* enum memo_kind */
    uint32_t index;
};

struct snapshot_memo {
    struct memo_chunk **chunks; /* NULL: all of kind MEMO_OTHER */
    size_t chunk_count, count;  /* chunks; numbers in use, from 0 */
};

void snapshot_memo_release(struct snapshot_memo *memo);

/* slot.index <= MEMO_INDEX_MAX. False when there is no memory. */
bool snapshot_memo_put(struct snapshot_memo *memo, size_t number, struct memo_slot slot);
/* number < memo->count */
struct memo_slot snapshot_memo_at(const struct snapshot_memo *memo, size_t number);
/* The object under this number, if it is still there, becomes something that is final. */
void snapshot_memo_settle(struct snapshot_memo *memo, size_t number, uint32_t object,
                          struct memo_slot slot);

#endif
