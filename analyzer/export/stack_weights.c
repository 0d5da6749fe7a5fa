/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much each stack holds: at the peak of its ledger, at the end, and how much more in each step.
 */
#include "stack_weights.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "labels.h"
#include "ledger_figures.h"
#include "origins.h"
#include "verdict.h"

const char *const stack_measure_names[STACK_MEASURES] = {
    [AT_PEAK] = "live at peak",
    [AT_END] = "live at end",
    [GROWTH_PER_STEP] = "growth per step",
};

struct making {
    struct stack_weights *weights;
    const struct export_request *request;
    bool has_failed;
};

static bool is_same_line(const struct stack_line *a, const struct stack_line *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

static uint32_t line_number(struct making *making, struct stack_line line)
{
    struct stack_weights *weights = making->weights;
    uint64_t hash = hash_pair(hash_bytes(line.function, strlen(line.function)),
                              hash_bytes(line.file, strlen(line.file)) + line.line);
    struct stack_line *row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&weights->line_index, hash, &probe, &found))
        if (is_same_line(table_at(&weights->lines, found), &line))
            return found;
    row = hash_index_add_row(&weights->line_index, hash, &weights->lines);
    if (!row) {
        making->has_failed = true;
        return 0;
    }
    *row = line;
    return (uint32_t)(weights->lines.count - 1);
}

/* Ledger, then the stack from outside in; where there is none, the operator or the owner. */
static void fill_lines(struct making *making, const struct origin *origin,
                       struct stack_weight *weight)
{
    const struct question *question = making->request->question;
    const struct symbol_frame *frames;
    size_t count = 0;
    uint32_t *lines;

    frames = symbols_frames(question->symbols, origin->who.site, &count);
    weight->line_count = 1 + (count ? count : 1);
    lines = arena_alloc(&making->weights->arena, weight->line_count * sizeof(*lines));
    weight->lines = lines;
    if (!lines) {
        making->has_failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        lines[count - i] = line_number(
            making, (struct stack_line){frames[i].function, frames[i].file, frames[i].line});
    if (!count)
        lines[1] = line_number(
            making,
            (struct stack_line){label_who(question, making->request->labels, origin->who), "", 0});
    lines[0] = line_number(
        making, (struct stack_line){label_ledger(question, making->request->labels, origin->ledger),
                                    "", 0});
}

static void fill_weight(struct making *making, const struct origin *origin,
                        struct stack_weight *weight)
{
    const struct tally *tally = making->request->question->tally;
    struct step_sample peak = origin_at_peak(tally, origin), end = origin_alive(tally, origin);

    weight->ledger = origin->ledger;
    weight->bytes[AT_PEAK] = peak.bytes;
    weight->counts[AT_PEAK] = peak.count;
    weight->bytes[AT_END] = end.bytes;
    weight->counts[AT_END] = end.count;
    fill_lines(making, origin, weight);
}

/* The stack of a leak that leaks most has its whole rate. */
static void add_rate(struct making *making, const struct origins *origins, const uint32_t *leaks,
                     const struct verdict *verdict)
{
    for (size_t k = 0; k < verdict->leak_count; k++) {
        const struct leak *leak = &verdict->leaks[k];
        struct stack_weight *most = NULL;

        for (size_t i = 0; i < origins->count; i++) {
            struct stack_weight *row = &making->weights->rows[i];

            if (origins->rows[i].ledger == leak->ledger &&
                leaks[origins->rows[i].groups[0]] == k + 1 &&
                (!most || row->bytes[AT_END] > most->bytes[AT_END]))
                most = row;
        }
        if (most)
            most->bytes[GROWTH_PER_STEP] += leak->rate_bytes;
    }
}

/* What the pool alone counts is a stack of its own, so that the whole is what the pool held. */
static void fill_unseen(struct making *making, uint16_t ledger)
{
    struct ledger_figures figures = ledger_figures_of(making->request->question, ledger);
    struct stack_weights *weights = making->weights;
    struct stack_weight *row = &weights->rows[weights->count];
    uint32_t *lines;

    if (!figures.unseen_peak_bytes && !figures.unseen_end_bytes)
        return;
    lines = arena_alloc(&weights->arena, 2 * sizeof(*lines));
    if (!lines) {
        making->has_failed = true;
        return;
    }
    lines[0] =
        line_number(making, (struct stack_line){label_ledger(making->request->question,
                                                             making->request->labels, ledger),
                                                "", 0});
    lines[1] = line_number(making, (struct stack_line){"(older than the recording)", "", 0});
    *row = (struct stack_weight){.lines = lines, .line_count = 2, .ledger = ledger};
    row->bytes[AT_PEAK] = figures.unseen_peak_bytes;
    row->bytes[AT_END] = figures.unseen_end_bytes;
    weights->count++;
}

static void fill_growth(struct making *making, const struct origins *origins)
{
    const struct question *question = making->request->question;
    const struct verdict *verdict = verdict_borrow(question);
    uint32_t *leaks = verdict ? verdict_leaks_of_groups(question, verdict) : NULL;

    if (leaks)
        add_rate(making, origins, leaks, verdict);
    else
        making->has_failed = true;
    free(leaks);
    verdict_give_back(question, verdict);
}

enum mt_result stack_weights_init(struct stack_weights *weights,
                                  const struct export_request *request, struct mt_error *error)
{
    struct making making = {.weights = weights, .request = request};
    struct origins origins;

    memset(weights, 0, sizeof(*weights));
    arena_init(&weights->arena);
    table_init(&weights->lines, &weights->arena, sizeof(struct stack_line));
    if (!origins_init(&origins, request->question, ORIGINS_BY_SITE))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for stacks");
    weights->rows = calloc(origins.count + tally_ledger_count(request->question->tally) + 1,
                           sizeof(*weights->rows));
    weights->count = weights->rows ? origins.count : 0;
    making.has_failed = !weights->rows;
    for (size_t i = 0; i < weights->count; i++)
        fill_weight(&making, &origins.rows[i], &weights->rows[i]);
    if (!making.has_failed)
        fill_growth(&making, &origins);
    for (size_t i = 0; !making.has_failed && i < tally_ledger_count(request->question->tally); i++)
        fill_unseen(&making, (uint16_t)i);
    origins_release(&origins);
    return making.has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for stacks") : MT_OK;
}

void stack_weights_release(struct stack_weights *weights)
{
    hash_index_release(&weights->line_index);
    arena_release(&weights->arena);
    free(weights->rows);
    memset(weights, 0, sizeof(*weights));
}
