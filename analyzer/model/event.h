/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a recording, the same for every kind of source.
 *
 * Sources hand events out in time order, process after process; strings, pools, places, sites and
 * threads are dense indexes into the tables of struct model. Index 0 of the texts and of the sites
 * means "none"; a pool always exists.
 */
#ifndef LEAKTIDE_MODEL_EVENT_H
#define LEAKTIDE_MODEL_EVENT_H

#include <stdint.h>

enum event_kind {
    EVENT_ALLOC,          /* address, value = size in bytes, site, pool, place */
    EVENT_FREE,           /* address, pool; value = size in bytes if the source says it, else 0 */
    EVENT_ALLOC_FAILED,   /* value = size in bytes, site, pool, place; address = status */
    EVENT_RESERVED,       /* value = bytes the pool holds from below; pool, place */
    EVENT_OPERATOR_BEGIN, /* text; on this thread */
    EVENT_OPERATOR_END,
    EVENT_RANGE_BEGIN, /* text, address = range id */
    EVENT_RANGE_END,   /* address = range id */
    EVENT_MARK,        /* text */
    EVENT_STEP_BEGIN,  /* value = step number, from 1 */
    EVENT_STEP_END,    /* value = step number */
    EVENT_TAG_BEGIN,   /* text = owner; on this thread */
    EVENT_TAG_END,
    EVENT_LAUNCH, /* text = kernel, place */
    EVENT_ACCESS, /* address, value = size in bytes, pool; text = operator, detail */
    EVENT_SAMPLE, /* text = counter, value = bytes, place */
    EVENT_DEVICE, /* text, place, value = status */
    /* address, pool: the program has given the block up or is about to, and now no stream uses it
     * any more: its pool may hand it out again. Not before, and seldom long after its free. */
    EVENT_RETURNED,
    EVENT_WINDOW_BEGIN, /* sums and peaks of this process begin anew: step_source.h */
    /*
     * Which addresses a pool holds from below, from sources that know them, beside
     * EVENT_RESERVED, which says how much. Never counted as memory.
     */
    EVENT_SEGMENT,      /* address, value = size in bytes; pool, place */
    EVENT_SEGMENT_GONE, /* address, value = size in bytes; a part of segments, or several */
    /* The program has freed the block, but another stream uses it until its free; address, pool. */
    EVENT_FREE_WAITS,
    EVENT_BLOCK_OWNER, /* address, text: the block there belongs to it from its alloc on */
    EVENT_NOTE,        /* detail = subject, text; address and value = first and second; place */
    EVENT_PAUSE,       /* value 1: no new blocks were recorded from here on; 0: they were again */
    /* text = path, "blocks.17.mlp": a module of the model (torch.nn.Module, a Cell) runs forward,
     * on this thread */
    EVENT_NN_MODULE_BEGIN,
    EVENT_NN_MODULE_END,
    EVENT_BLOCK_NN_MODULE, /* address, text = path: the block there is a part of that module */
    EVENT_KIND_COUNT
};

enum event_flag {
    /*
     * Older than the recording. An alloc: of a block that was alive when it began. A free: of a
     * block that the source never saw, but whose place it knows. A sample: what such blocks hold
     * in this pool and place, beside those that are blocks here; a running total.
     */
    EVENT_IS_OLDER = 1,
    EVENT_IS_READ = 2, /* an access: what it does; none of both: not known */
    EVENT_IS_WRITE = 4,
    EVENT_IS_MAPPED = 8, /* a segment: pages of one mapping, that go on in their neighbours */
    /* An alloc, a free: its device has addresses of its own, which others may have, too. */
    EVENT_IS_OF_DEVICE = 16,
    /* Not of the recording: a step, an owner, a window that is put in where it is known to be. */
    EVENT_IS_PUT_IN = 32
};

struct event {
    uint64_t time_ns; /* since the start of the run, CLOCK_MONOTONIC */
    uint64_t address;
    uint64_t value;
    uint32_t text;
    uint32_t site;
    uint32_t thread;
    uint16_t pool;
    uint16_t place;
    uint16_t process;
    uint8_t kind;  /* enum event_kind */
    uint8_t flags; /* enum event_flag */
    /* A text; 0: not known. An access: the tensor's type and its shape, "torch.float32
     * torch.Size([2, 3])". An alloc, a sample: the stream of the device. */
    uint32_t detail;
};

/* For who goes through a batch and is at this event: another processor wrote the next ones. Past
 * the end of the batch nothing comes of it. */
static inline void event_fetch_ahead(const struct event *event)
{
    enum { EVENTS_AHEAD = 64 };

    __builtin_prefetch((const void *)((uintptr_t)event + EVENTS_AHEAD * sizeof(*event)));
}

/* "alloc", "step begin"; kind < EVENT_KIND_COUNT. */
const char *event_kind_name(uint8_t kind);

#endif
