/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses, numbers and completes the rows of one process, and writes them to a file per device.
 *
 * With the analyses decompose and inefficient the recording is read twice: see dump_findings.h.
 */
#include "dump_write.h"

#include <stdlib.h>
#include <string.h>

#include "dump_state.h"
#include "memscope_events.h"
#include "trace_question.h"

static const struct {
    const char *event;
    dump_take *take;
} takers[] = {
    {"MALLOC", dump_take_block},         {"FREE", dump_take_block},
    {"ACCESS", dump_take_access},        {"OP_LAUNCH", dump_take_launch},
    {"KERNEL_LAUNCH", dump_take_launch}, {"MSTX", dump_take_mstx},
    {"OOM_DETAIL", dump_take_oom},       {"SYSTEM", dump_take_system},
    {"SNAPSHOT", dump_take_snapshot},
};

static enum mt_result take_row(struct dump_state *state, const struct memscope_row *row,
                               struct mt_error *error)
{
    for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
        if (strcmp(row->event, takers[i].event) == 0)
            return takers[i].take(state, row, error);
    return MT_OK;
}

/* A row of no device belongs to device 0; those of the system are of every device. */
static enum mt_result on_row(void *context, const struct memscope_row *row, struct mt_error *error)
{
    struct dump_state *state = context;
    struct memscope_row placed;

    if (strcmp(row->event, "SYSTEM") == 0)
        return take_row(state, row, error);
    if (row->device == MEMSCOPE_DEVICE_NONE) {
        placed = *row;
        placed.device = 0;
        row = &placed;
    }
    return dump_is_device_chosen(state->what, row->device) ? take_row(state, row, error) : MT_OK;
}

static void on_told_step(void *context)
{
    struct dump_state *state = context;

    dump_step_begin(&state->steps);
}

static void reading_begin(struct dump_state *state)
{
    state->next_id = state->next_allocation = 0;
    state->range_count = state->step_range = 0;
    state->shadows.count = 0;
    state->steps = (struct dump_steps){0};
    state->quirks = (struct dump_quirks){0};
}

static enum mt_result read_once(struct dump_state *state, struct mt_trace *trace,
                                struct mt_error *error)
{
    struct question question = trace_question(trace);
    const struct export_request request = {.question = &question, .model = trace_model(trace)};
    const struct memscope_sink sink = {.context = state, .row = on_row, .told_step = on_told_step};
    enum mt_result result;

    reading_begin(state);
    if (!dump_blocks_init(&state->blocks))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    result = memscope_rows_read(&request, &sink, error);
    if (result == MT_OK && state->steps.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for steps");
    dump_blocks_release(&state->blocks);
    return result;
}

/* The reading that only finds. */
static enum mt_result look(struct dump_state *state, struct mt_trace *trace, struct mt_error *error)
{
    uint32_t analyses = state->what->analyses;
    enum mt_result result;

    if (!(analyses & (DUMP_BIT_DECOMPOSE | DUMP_BIT_INEFFICIENT)))
        return MT_OK;
    if (!dump_findings_begin(&state->findings, analyses & DUMP_BIT_INEFFICIENT))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge blocks");
    result = read_once(state, trace, error);
    dump_steps_release(&state->steps);
    if (!dump_findings_end(&state->findings) && result == MT_OK)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for what is known of blocks");
    return result;
}

static enum mt_result write_files(struct dump_state *state, struct mt_trace *trace, FILE *text,
                                  struct mt_error *error)
{
    enum mt_result result = read_once(state, trace, error);

    if (result == MT_OK)
        result = dump_emit_shadows(state, error);
    result = dump_files_close(&state->files, result, error);
    state->facts->file_count = state->files.count;
    state->facts->leak_count = state->steps.leak_count;
    if (result == MT_OK && text && (state->what->analyses & DUMP_BIT_LEAKS))
        dump_steps_print(&state->steps, text);
    dump_steps_release(&state->steps);
    return result;
}

enum mt_result dump_write(struct mt_trace *trace, const struct dump_write *what, FILE *text,
                          struct dump_facts *facts, struct mt_error *error)
{
    struct dump_state state = {.what = what, .facts = facts};
    enum mt_result result;

    dump_files_init(&state.files, what);
    *facts = (struct dump_facts){0};
    result = look(&state, trace, error);
    if (result == MT_OK)
        result = write_files(&state, trace, text, error);
    dump_findings_release(&state.findings);
    dump_files_release(&state.files);
    free(state.shadows.rows);
    return result;
}
