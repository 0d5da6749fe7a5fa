/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all streams of a process share while they are read: its number in the model, its clock, the
 * texts that were defined so far, and what turned out to be missing.
 */
#ifndef LEAKTIDE_TRACE_CONTEXT_H
#define LEAKTIDE_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/format.h"
#include "model.h"
#include "trace_clock.h"
#include "trace_stacks.h"

/* A model index that was not looked up yet. */
#define TRACE_UNRESOLVED UINT32_MAX

/* Text ids of a run, and which text of the model each is. */
struct trace_texts {
    uint64_t *ids; /* 0 is free */
    uint32_t *texts;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

void trace_texts_release(struct trace_texts *texts);
/* False: no memory. */
bool trace_texts_add(struct trace_texts *texts, uint64_t id, uint32_t text);
bool trace_texts_find(const struct trace_texts *texts, uint64_t id, uint32_t *text);

/* Pairs of texts that were joined lately. */
enum { TRACE_TENSORS = 64 };
struct trace_tensor {
    uint32_t dtype, shape, joined;
};

struct trace_context {
    struct model *model;
    struct trace_texts *texts;   /* of the run: ids are hashes of what they name */
    struct trace_frames frames;  /* of the process */
    struct trace_stacks *stacks; /* of the stream that is being read */
    struct trace_clock clock;
    uint16_t process;
    uint16_t host_pool, host_place;
    uint32_t any_site; /* stands for all of them, where nobody asks for sites; else 0 */
    struct trace_tensor tensors[TRACE_TENSORS];
    /* Grows when a module takes the place of another: sites must be looked up again. */
    uint32_t site_epoch;
    uint64_t told_steps; /* of those that end when somebody says so: the newest that has ended */
    uint64_t event_count;
    uint64_t last_time_ns;
    uint64_t lost_counts[MT_LOST_KINDS];
    uint64_t unknown_records, unknown_columns, malformed_words;
    uint64_t bad_stacks, missing_stacks; /* definitions; and uses of what is not defined */
    bool is_out_of_memory;
};

/* Indexes of the model, from what the trace says. They answer 0 when the model is full. */
uint32_t trace_context_text(struct trace_context *context, uint64_t id);
uint16_t trace_context_pool(struct trace_context *context, uint64_t name_id);
uint16_t trace_context_place(struct trace_context *context, uint64_t packed);
/* site: a return address or the id of a stack, as in leaktide/format.h. */
uint32_t trace_context_site(struct trace_context *context, uint64_t site, uint64_t time_ns);
/* That will be asked for soon: time to fetch where it may be found. */
void trace_context_site_soon(const struct trace_context *context, uint64_t site);
/* "torch.float32 torch.Size([2, 3])" of two texts; 0 when both are. */
uint32_t trace_context_tensor(struct trace_context *context, uint32_t dtype, uint32_t shape);
struct stack_source trace_context_stack_source(struct trace_context *context, uint64_t time_ns);

#endif
