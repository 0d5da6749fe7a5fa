/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way from a recording to the files of the tool, and what is known on the way.
 *
 * A reading hands every row to the function of its event (enum mt_result dump_take_...), which
 * chooses, completes and emits it: a new kind of row is a function in a file of its own, a line
 * here and a line in the table of dump_write.c. Numbers are given in both readings, so they agree.
 */
#ifndef LEAKTIDE_DUMP_STATE_H
#define LEAKTIDE_DUMP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "dump_blocks.h"
#include "dump_files.h"
#include "dump_findings.h"
#include "dump_quirks.h"
#include "dump_shadows.h"
#include "dump_steps.h"
#include "dump_write.h"
#include "memscope_writer.h"

struct dump_state {
    const struct dump_write *what;
    struct dump_facts *facts;
    struct dump_files files;
    struct dump_findings findings;
    /* Of the reading. */
    uint64_t next_id, next_allocation;
    uint64_t range_count, step_range; /* ranges are numbered from 1; 0: no step is open */
    struct dump_blocks blocks;
    struct dump_steps steps;
    struct dump_shadows shadows;
    struct dump_quirks quirks;
};

/* --- what was asked for ------------------------------------------------------------------------
 */

bool dump_is_device_chosen(const struct dump_write *what, int32_t device);
/* The step that runs is one of those asked for. */
bool dump_is_step_chosen(const struct dump_state *state);

/* Whether rows of an enum dump_event_bit count; whether they are written. */
static inline bool dump_collects(const struct dump_state *state, uint32_t event)
{
    return (state->what->collected_events & event) != 0;
}

static inline bool dump_writes(const struct dump_state *state, uint32_t event)
{
    return (state->what->events & event) != 0;
}

/* --- rows --------------------------------------------------------------------------------------
 */

/* The row gets its number; nothing is written while only looking. */
enum mt_result dump_emit(struct dump_state *state, struct memscope_row *row, bool is_written,
                         struct mt_error *error);

typedef enum mt_result dump_take(struct dump_state *state, const struct memscope_row *row,
                                 struct mt_error *error);

dump_take dump_take_block;    /* MALLOC, FREE */
dump_take dump_take_access;   /* ACCESS */
dump_take dump_take_launch;   /* OP_LAUNCH, KERNEL_LAUNCH */
dump_take dump_take_mstx;     /* MSTX */
dump_take dump_take_oom;      /* OOM_DETAIL */
dump_take dump_take_snapshot; /* SNAPSHOT */
dump_take dump_take_system;   /* SYSTEM */

/* What was left is freed on paper, after the last row. */
enum mt_result dump_emit_shadows(struct dump_state *state, struct mt_error *error);

#endif
