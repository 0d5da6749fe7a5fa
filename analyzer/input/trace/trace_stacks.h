/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of one stream of a trace, by their ids; and the code objects of interpreters that
 * the stacks of a process name.
 *
 * A stack becomes frames of the model when it is defined, and a site when an event first uses it;
 * after that its id is looked up and no more. Where other modules were loaded since, the same
 * addresses may be other functions: then the frames are asked for again, as of now. The next
 * reading of a trace that cannot change, and where that never happened, has the sites by the ids
 * alone.
 */
#ifndef LEAKTIDE_TRACE_STACKS_H
#define LEAKTIDE_TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"
#include "model.h"

/* A table of rows that are found by a number of the trace. Starts as zeros. */
struct trace_ids {
    struct hash_index index;
    void *rows; /* each begins with its uint64_t number */
    size_t count, capacity;
};

/* All zeros at first. */
struct trace_stacks {
    struct trace_stack_row *rows; /* in the order of their ids; none where nobody wants sites */
    size_t count, capacity;
    struct id_run *runs; /* which ids they have */
    size_t run_count, run_capacity;
    struct last_stack *last; /* the stack that was defined last: the next one may share frames */
    uint32_t free_site;      /* of the model: who asks for the free that comes next; 0: not known */
    struct kept_sites kept;  /* of an earlier reading; count 0: none */
};

/* Frames as the trace has them, and which frame of the model each is, by hash. At most half of the
 * rows are taken. */
struct known_frames {
    struct known_row *rows;
    size_t count, capacity; /* 0 or a power of two */
};

/* What the stacks of a process are made of. All zeros at first. */
struct trace_frames {
    struct trace_ids codes; /* by their ids */
    struct known_frames known;
};

/* What stacks are made from. */
struct stack_source {
    struct model *model;
    struct trace_frames *frames;
    uint64_t time_ns;
    uint32_t any_site; /* of all stacks: they are looked through, and not made; else 0 */
    uint32_t epoch;    /* grows when a module takes the place of another */
    uint16_t process;
};

/* A `stack` record as it stands in the trace. */
struct stack_definition {
    uint64_t id, shared_count, flags;
    const uint8_t *frames;
    size_t size_bytes;
};

enum stack_taken { STACK_TAKEN, STACK_CORRUPT, STACK_NO_MEMORY };

/* STACK_CORRUPT: it shares frames with a stack that is not here, or does not read back. */
enum stack_taken trace_stacks_define(struct trace_stacks *stacks, const struct stack_source *source,
                                     const struct stack_definition *definition);

/*
 * The definition that comes next, of which only the frames and how many it shares are known yet:
 * time to fetch where the first frame that it adds may be found.
 */
void trace_stacks_soon(const struct trace_stacks *stacks, const struct stack_source *source,
                       const struct stack_definition *next);

/* The site of the model that is this stack; 0 if it is not defined. */
uint32_t trace_stacks_site(struct trace_stacks *stacks, const struct stack_source *source,
                           uint64_t id);

/* The same, where nothing has to be made for it; else 0. any_site, epoch: as in stack_source. */
uint32_t trace_stacks_known_site(const struct trace_stacks *stacks, uint32_t any_site,
                                 uint32_t epoch, uint64_t id);

enum { TRACE_STACKS_NEAR = 32 << 10 };

/* So many that where the site of one stands is seldom in a near cache. */
static inline bool trace_stacks_are_many(const struct trace_stacks *stacks)
{
    return stacks->kept.count > TRACE_STACKS_NEAR || stacks->count > TRACE_STACKS_NEAR;
}

/* Fetches where the site of that stack stands. */
void trace_stacks_site_soon(const struct trace_stacks *stacks, uint64_t id);

/* An earlier reading has all sites, so that definitions are passed over. */
static inline bool trace_stacks_are_kept(const struct trace_stacks *stacks)
{
    return stacks->kept.count;
}

/* The stream was read to its end, and whole: the next reading finds its sites by
 * model_kept_sites(). */
void trace_stacks_keep(const struct trace_stacks *stacks, struct model *model, uint16_t process,
                       uint32_t stream);
void trace_stacks_release(struct trace_stacks *stacks);

/* function, file: texts of the model. False: no memory. */
bool trace_frames_code(struct trace_frames *frames, uint64_t id, uint32_t function, uint32_t file);
void trace_frames_release(struct trace_frames *frames);

#endif
