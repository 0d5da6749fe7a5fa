/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a model, shared by its files and by nobody else.
 *
 * Each table is rows in the arena and, where rows are found again by what they hold, a hash index.
 * Row 0 of the texts is "", row 0 of the sites, frames and stacks is none. The first failure to get
 * memory is remembered, and everything added after it is row 0.
 */
#ifndef LEAKTIDE_MODEL_MODEL_STATE_H
#define LEAKTIDE_MODEL_MODEL_STATE_H

#include "arena.h"
#include "hash_index.h"
#include "model.h"
#include "module_map.h"
#include "notes.h"
#include "stretch.h"
#include "table.h"

struct text_row {
    const char *bytes;
    size_t size_bytes;
};

/*
 * Sites and frames at an address are distinguished by the module that was there: what is loaded to
 * the same addresses later has other functions, and the same module, loaded there again, has the
 * same.
 */
struct site_row {
    uint32_t module_next; /* one more than the row of its module; 0: none was known yet */
    struct model_site site;
};

struct frame_row {
    uint32_t module_next;
    struct model_frame frame;
};

/*
 * A stack whose row comes right after that of its caller is found there, and is not in the index:
 * of a recorded stack, all frames but the first that is new.
 */
struct stack_row {
    struct model_stack stack;
    uint32_t site; /* that is this stack and has no label; 0: none is known */
};

struct kept_row {
    uint16_t process;
    uint32_t stream;
    struct kept_sites kept;
};

struct module_row {
    struct model_module module;
    bool
        replaces; /* one that was not told to be gone yet: the next that is gone here is that one */
};

/* Looking a site up costs several cache misses where there are many; this one, that can be asked
 * for in time. A set is a line of memory, the newest site first. */
enum { SITE_SETS = 1 << 16, SITE_SET_WAYS = 4 };

struct site_set {
    _Alignas(64) uint64_t address[SITE_SET_WAYS];
    uint32_t index[SITE_SET_WAYS]; /* 0: empty */
    uint16_t process[SITE_SET_WAYS];
    uint16_t epoch[SITE_SET_WAYS]; /* of its region, when it was put there */
};

/* Addresses in regions of 2 MiB: where modules change, sets forget the sites of those. */
enum { REGION_BITS = 21, REGIONS = 1 << 12 };

struct pool_row {
    uint32_t name_text;
    const struct pool *known;
};

struct model {
    struct arena arena;
    struct table texts, pools, places, sites, frames, stacks, kept_sites, threads, processes,
        modules, worked_devices;
    struct model_process no_process; /* filled in where there was no memory for a row */
    struct table processes_again;    /* as a second reading fills them in; nobody looks at them */
    struct hash_index text_index, pool_index, place_index, site_index, frame_index, stack_index,
        kept_index, thread_index, module_index;
    struct module_map module_map; /* as far as was read */
    uint16_t region_epochs[REGIONS];
    struct notes notes;
    uint32_t input;         /* that processes come from */
    const char *failure;    /* what there was no room for; NULL while all is well */
    size_t memory_failures; /* before this model */
    uint64_t lost_count;    /* of processes that have no row */
    size_t helper_count;
    struct model_share shares[PART_COUNT];
    char first_damage[sizeof(((struct mt_error *)0)->message)];
    bool is_incomplete;
    bool wants_partial;
    enum operator_view operators; /* whose blocks are whose */
    bool wants_no_sites;
    enum loads_wanted loads_wanted;
    frame_rule frame_rule; /* NULL: none */
    void *frame_rule_context;
    uint8_t *frame_parts; /* by frame: enum frame_part; of the thread that reads */
    size_t frame_part_count;
    bool wants_one_process;
    uint16_t wanted_process;
    bool is_reread;
    size_t reread_processes;  /* so far */
    struct stretch site_sets; /* pages come as they are needed */
};

/* Remembers for what there was no memory, if it is the first. Returns row 0. */
uint32_t model_fail(struct model *model, const char *what);

/* A new row that the index knows under hash; NULL after a failure, which is then remembered. */
void *model_row_add(struct model *model, struct table *table, struct hash_index *index,
                    uint64_t hash, size_t limit, const char *what);

static inline struct stack_row *model_stack_row(const struct model *model, uint32_t index)
{
    return table_at_sized(&model->stacks, index, sizeof(struct stack_row));
}

static inline struct module_row *model_module_row(const struct model *model, size_t index)
{
    return table_at(&model->modules, index);
}

static inline uint16_t *model_region_epoch(struct model *model, uint64_t address)
{
    return &model->region_epochs[address >> REGION_BITS & (REGIONS - 1)];
}

#endif
