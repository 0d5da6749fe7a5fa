/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the events of a recording to rows of msmemscope: what is known on the way, and what the
 * functions for the kinds of events share.
 *
 * A pool's size, `total`, is told by an event of its own that may come right after the alloc whose
 * row shows it: so the row of a block is held back until something else happens.
 */
#ifndef LEAKTIDE_MEMSCOPE_SOURCE_H
#define LEAKTIDE_MEMSCOPE_SOURCE_H

#include "live_set.h"
#include "lives.h"
#include "memscope_events.h"
#include "memscope_stacks.h"
#include "ordered_set.h"

enum {
    MEMSCOPE_OWNER_BYTES = 64,
    MEMSCOPE_TYPE_BYTES = 32,
    MEMSCOPE_NOTES = 64,
    MEMSCOPE_OPERATOR_BYTES = 320
};

struct memscope_ledger {
    uint64_t used_bytes, total_bytes;
    uint64_t used_peak_bytes, total_peak_bytes;
    uint64_t driver_bytes; /* what the process had from the driver when total_bytes was told */
    uint64_t older_bytes, older_id;     /* of the block that stands for what is older; 0: none */
    char type[MEMSCOPE_TYPE_BYTES];     /* "PTA" */
    bool is_driver, is_host, is_pinned; /* is_host: of the processor, not of a device */
    bool is_below;                      /* others take their memory from it */
    int32_t device;                     /* as rows have it */
};

/* Of a thread's range that is open: what the recording and what the rows call it. */
struct memscope_range {
    uint64_t id, number;
    bool is_step;
};

/* A block that was handed out before the program said start. */
struct memscope_early {
    struct life life;
    bool is_over;
};

enum { MEMSCOPE_DEVICES = 64 };

/* What the system said last; 0: nothing yet. */
struct memscope_readings {
    uint64_t device_bytes[MEMSCOPE_DEVICES]; /* in use on the device, by all processes */
    uint64_t free_bytes[MEMSCOPE_DEVICES];   /* there */
    uint64_t resident_bytes;                 /* of the process, on the host */
};

/* What was told of the operator that begins or ends next on a thread. */
struct memscope_operator_note {
    bool is_told;
    uint32_t thread;
    uint32_t path; /* text */
    uint64_t workspace_address, workspace_bytes;
};

struct memscope_source {
    const struct export_request *request;
    const struct question *question;
    const struct memscope_sink *sink;
    struct memscope_stacks stacks;
    enum mt_result result;
    struct mt_error *error;
    uint64_t next_id;
    uint64_t older_count; /* blocks that stood for what is older */
    struct memscope_ledger *ledgers;
    size_t ledger_count;
    struct live_set live;       /* birth: number of the alloc */
    struct ordered_set holders; /* the same by address, where the recording has accesses */
    bool has_accesses;
    /* Of the current process. */
    uint64_t process_id, base_ns, newest_ns; /* times of rows = base_ns + time */
    int32_t main_device; /* used first: rows of no device go there, as the tool has them */
    bool has_process;
    bool has_torch_npu; /* loaded in the process: the tool takes snapshots with it */
    uint16_t process;
    struct memscope_range *ranges;
    size_t range_count, range_capacity;
    uint64_t begun_ranges;
    /* Nothing has a row before the program says start; what is alive then has its rows at that
     * moment.
     */
    bool is_history;
    struct memscope_early *early; /* by number */
    size_t early_count, early_capacity;
    uint64_t told_step; /* the open one, of those that end when the program says so; 0: none */
    struct memscope_readings readings;
    struct memscope_operator_note
        notes[MEMSCOPE_NOTES]; /* by thread, the newest of those that share a place */
    /* The row of a block that waits for its pool's size. */
    struct memscope_row held;
    bool is_holding;
    uint64_t held_time_ns;
    uint32_t held_ledger;
    size_t held_total; /* attribute */
    char held_owner[MEMSCOPE_OWNER_BYTES];
};

/* --- rows ----------------------------------------------------------------------------------- */

/* Of no name, device, pointer, attribute or stack yet. */
void memscope_row_begin(const struct memscope_source *source, struct memscope_row *row,
                        const char *event, const char *type, uint64_t time_ns, uint32_t thread);
/* The row gets its number, and goes to the sink; what the sink says is kept. */
void memscope_row_send(struct memscope_source *source, struct memscope_row *row);
void memscope_row_send_held(struct memscope_source *source);

/* --- kinds of events ------------------------------------------------------------------------ */

typedef void memscope_take(struct memscope_source *source, const struct event *event);

/* Blocks: memscope_blocks.c. */
bool memscope_ledgers_init(struct memscope_source *source);
bool memscope_block_born(struct memscope_source *source, const struct life *life);
bool memscope_block_over(struct memscope_source *source, const struct life *life);
/* The program said start: rows of what is alive. */
void memscope_history_ends(struct memscope_source *source, const struct event *event);
/* One of this pool that starts there; its bucket is NULL when there is none. */
struct live_place memscope_block_at(const struct memscope_source *source, uint64_t address,
                                    uint16_t pool);
memscope_take memscope_take_older_free, memscope_take_reserved, memscope_take_access,
    memscope_take_failed_alloc;

/* What a pool holds that is older than the recording, where only the sum is known: one block, that
 * is freed and made again where the sum changes. */
memscope_take memscope_take_older;
void memscope_older_over(struct memscope_source *source, uint16_t process);

/* Which block an address lies in: memscope_holders.c. False when there is no memory. */
bool memscope_holder_add(struct memscope_source *source, const struct life *life, uint16_t pool);
void memscope_holder_remove(struct memscope_source *source, const struct life *life, uint16_t pool);
/* Of this pool, else of another; the driver's own only where there are no blocks of this pool. */
struct live_place memscope_holder_of(const struct memscope_source *source, uint64_t address,
                                     uint16_t pool);

/* What the program runs and says: memscope_marks.c. */
memscope_take memscope_take_operator, memscope_take_launch, memscope_take_range_begin,
    memscope_take_range_end, memscope_take_step_begin, memscope_take_step_end, memscope_take_mark,
    memscope_take_device, memscope_take_note;

/* The program says start. */
bool memscope_is_start(const struct memscope_source *source, const struct event *event);

/* What the system says: memscope_readings.c. */
/* NULL: the driver's calls are not in the recording. */
const struct memscope_ledger *memscope_driver_of(const struct memscope_source *source,
                                                 int32_t device);
memscope_take memscope_take_sample;
/* process_used and device_used of a row, where they are known. */
void memscope_add_readings(const struct memscope_source *source, struct memscope_row *row,
                           const struct memscope_ledger *ledger);

/* A row of what torch_npu's pool on the device holds, and of the device. site: whose stack it has;
 * 0: none. False: the process has no such pool, or no torch_npu to ask, and there is none. */
bool memscope_send_snapshot(struct memscope_source *source, const struct event *event,
                            int32_t device, uint32_t site, const char *name);

#endif
