/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of one rank become events in order of time.
 *
 * A block's release is kept in a heap until its time comes, so memory grows with live blocks. At
 * equal times releases come first.
 *
 * Blocks older than the window are seen in the pool's own counter only: counter - replayed bytes
 * is what they hold, and each fall of it is a release of one or more of them. Such a release
 * becomes a free of an unknown address with the bytes of the fall, and the counter
 * "PTA older blocks" follows it.
 */
#ifndef LEAKTIDE_ASCEND_REPLAY_H
#define LEAKTIDE_ASCEND_REPLAY_H

#include "ascend_stream.h"
#include "event.h"

enum { ASCEND_STREAMS_MAX = 8, ASCEND_QUEUE = 24, ASCEND_POOLS_MAX = 64 };

struct ascend_release {
    bool is_return; /* to the pool, when no stream used it any more; no release by itself */
    uint64_t time_ns, id, size_bytes;
    struct ascend_total allocated; /* the pool's counter right after */
    uint16_t pool, place;
    enum ascend_ending { ASCEND_RELEASE, ASCEND_LAST_USE, ASCEND_RETURN } kind;
};

struct ascend_pool_state {
    uint16_t pool, place;
    uint64_t live_bytes;
    bool has_older;
    uint64_t older_bytes;
    uint64_t rise_count; /* the counter rose by more than the rows explain */
    uint64_t reserved_bytes;
    bool has_reserved;
    uint32_t allocated_counter; /* text; 0: the rows have none */
    uint64_t allocated_bytes;   /* as it was told last */
    uint32_t older_counter;     /* text */
};

struct ascend_workspace {
    uint64_t stream, id, size_bytes;
    uint16_t place;
};

struct ascend_replay {
    struct model *model;
    uint16_t process;
    uint32_t thread;
    uint64_t origin_ns;
    struct ascend_stream *streams; /* borrowed */
    size_t stream_count;
    struct ascend_row rows[ASCEND_STREAMS_MAX]; /* the next of each stream */
    bool has_row[ASCEND_STREAMS_MAX];
    bool is_begun;
    struct ascend_release *heap;
    size_t heap_count, heap_capacity;
    struct ascend_pool_state pools[ASCEND_POOLS_MAX];
    size_t pool_count;
    struct ascend_workspace workspaces[ASCEND_POOLS_MAX];
    size_t workspace_count;
    uint64_t next_unknown; /* address of the next older block */
    struct event queue[ASCEND_QUEUE];
    size_t queue_begin, queue_end;
};

/* A zeroed struct may be released, too. */
void ascend_replay_init(struct ascend_replay *replay, struct model *model, uint16_t process,
                        uint64_t origin_ns, struct ascend_stream *streams, size_t count);
enum mt_result ascend_replay_next(struct ascend_replay *replay, struct event *batch,
                                  size_t capacity, size_t *count, struct mt_error *error);
/* What was noticed on the way becomes notes. */
void ascend_replay_release(struct ascend_replay *replay);

#endif
