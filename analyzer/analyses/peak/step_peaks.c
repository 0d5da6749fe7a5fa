/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The highest point of each step, and who held most there. By a second reading: the tally knows how
 * high each step was, but who held it only for the highest of all. Who held most is looked for in
 * the steps that are listed; one that is not costs as much as its events. What an origin holds is
 * counted as a whole: there may be a thousand groups for each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "ledger_order.h"
#include "list.h"
#include "listed_steps.h"
#include "origins.h"
#include "peak_analyses.h"

enum { ledgers_most = 3 };
/* Looking at every origin at the end of every step must end some day. */
#define WORK_LIMIT UINT64_C(400000000)

struct origin_state {
    struct step_sample live, kept; /* kept: at the peak, if the epoch is the ledger's */
    uint64_t epoch;
};

/* A step that is over. */
struct step_peak {
    uint64_t step_number;
    uint64_t peak_bytes, peak_ns;
    const struct origin *most; /* NULL: not known */
    struct step_sample held;
};

struct ledger_state {
    uint16_t ledger;
    uint32_t first_listed;
    uint64_t live_bytes, peak_bytes, peak_ns, epoch;
    uint32_t era;
    size_t first_origin, origin_count; /* they stand side by side */
    struct step_peak *rows;
    size_t row_count, row_capacity;
};

struct reading {
    const struct question *question;
    struct origins origins;
    struct origin_state *states; /* by origin */
    uint32_t *origin_of_group;
    struct ledger_state ledgers[ledgers_most];
    size_t ledger_count;
    uint64_t work;
    bool has_failed;
};

static const struct step_sample *held_at_peak(const struct ledger_state *ledger,
                                              const struct origin_state *state)
{
    return state->epoch == ledger->epoch ? &state->kept : &state->live;
}

static bool row_put(struct ledger_state *ledger, const struct step_peak *row)
{
    if (!list_has_room(&ledger->rows, &ledger->row_capacity, ledger->row_count,
                       sizeof(*ledger->rows)))
        return false;
    ledger->rows[ledger->row_count++] = *row;
    return true;
}

static void note_row(struct reading *reading, struct ledger_state *ledger, const struct step *step)
{
    struct step_peak row = {
        .step_number = step->number, .peak_bytes = ledger->peak_bytes, .peak_ns = ledger->peak_ns};

    for (size_t i = 0; i < ledger->origin_count && reading->work < WORK_LIMIT; i++) {
        size_t origin = ledger->first_origin + i;
        const struct step_sample *held = held_at_peak(ledger, &reading->states[origin]);

        reading->work++;
        if (held->bytes <= row.held.bytes)
            continue;
        row.held = *held;
        row.most = &reading->origins.rows[origin];
    }
    reading->has_failed |= !row_put(ledger, &row);
}

/* Steps of the ledger's process up to this era are over. Era 0 is before the first. */
static void advance(struct reading *reading, struct ledger_state *ledger, uint32_t era)
{
    const struct tally *tally = reading->question->tally;
    uint16_t process = tally_ledger_at(tally, ledger->ledger)->process;

    while (ledger->era < era) {
        const struct step *step = tally_step_of(tally, process, ledger->era);

        if (step && step->is_ended && step->index >= ledger->first_listed) {
            ledger->peak_ns = ledger->peak_ns < step->begin_ns ? step->begin_ns : ledger->peak_ns;
            note_row(reading, ledger, step);
        }
        ledger->era++;
        ledger->epoch++;
        ledger->peak_bytes = ledger->live_bytes;
        ledger->peak_ns = 0;
    }
}

static struct ledger_state *ledger_find(struct reading *reading, uint16_t ledger)
{
    for (size_t i = 0; i < reading->ledger_count; i++)
        if (reading->ledgers[i].ledger == ledger)
            return &reading->ledgers[i];
    return NULL;
}

static struct origin_state *touch(struct reading *reading, const struct ledger_state *ledger,
                                  uint32_t group)
{
    struct origin_state *state = &reading->states[reading->origin_of_group[group]];

    if (state->epoch != ledger->epoch) {
        state->kept = state->live;
        state->epoch = ledger->epoch;
    }
    return state;
}

static bool on_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *ledger = ledger_find(reading, life->ledger);
    struct origin_state *origin;

    if (!ledger)
        return true;
    advance(reading, ledger, life->born_step);
    origin = touch(reading, ledger, life->group);
    origin->live.bytes += life->size_bytes;
    origin->live.count++;
    ledger->live_bytes += life->size_bytes;
    if (ledger->live_bytes > ledger->peak_bytes) {
        ledger->peak_bytes = ledger->live_bytes;
        ledger->peak_ns = life->born_ns;
        ledger->epoch++;
    }
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct ledger_state *ledger = ledger_find(reading, life->ledger);
    struct origin_state *origin;

    if (!ledger || life->freed_ns == UINT64_MAX)
        return true;
    advance(reading, ledger, life->freed_step);
    origin = touch(reading, ledger, life->group);
    origin->live.bytes -= life->size_bytes;
    origin->live.count--;
    ledger->live_bytes -= life->size_bytes;
    return true;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct reading *reading = context;
    const struct tally *tally = reading->question->tally;

    for (size_t i = 0; i < reading->ledger_count; i++)
        if (tally_ledger_at(tally, reading->ledgers[i].ledger)->process == process)
            advance(reading, &reading->ledgers[i], tally_process_at(tally, process).step_count + 1);
    return true;
}

static void find_origins(const struct reading *reading, struct ledger_state *ledger)
{
    for (size_t i = 0; i < reading->origins.count; i++) {
        if (reading->origins.rows[i].ledger != ledger->ledger)
            continue;
        if (!ledger->origin_count++)
            ledger->first_origin = i;
    }
}

/* False without memory. */
static bool index_origins(struct reading *reading)
{
    const struct origins *origins = &reading->origins;

    reading->states = calloc(origins->count + 1, sizeof(*reading->states));
    reading->origin_of_group =
        calloc(tally_group_count(reading->question->tally) + 1, sizeof(*reading->origin_of_group));
    if (!reading->states || !reading->origin_of_group)
        return false;
    for (size_t i = 0; i < origins->count; i++)
        for (size_t g = 0; g < origins->rows[i].group_count; g++)
            reading->origin_of_group[origins->rows[i].groups[g]] = (uint32_t)i;
    return true;
}

static bool choose(struct reading *reading)
{
    const struct tally *tally = reading->question->tally;
    size_t count;
    uint16_t *order = ledger_order(tally, &count);

    if (!order || !origins_init(&reading->origins, reading->question, ORIGINS_BY_OPERATOR) ||
        !index_origins(reading)) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < count && reading->ledger_count < ledgers_most; i++) {
        struct ledger_state *ledger = &reading->ledgers[reading->ledger_count];
        const struct ledger *row = tally_ledger_at(tally, order[i]);

        if (!ledger_matters(tally, order[0], order[i]) ||
            !tally_process_at(tally, row->process).ended_step_count)
            continue;
        ledger->ledger = order[i];
        ledger->first_listed = listed_steps_first(reading->question, row->process);
        find_origins(reading, ledger);
        reading->ledger_count++;
    }
    free(order);
    return true;
}

/* --- what is said about it ----------------------------------------------------------------- */

static void add_row(const struct reading *reading, struct report *report,
                    struct report_table *table, const char *label, const struct step_peak *row)
{
    bool is_known = row->most != NULL;
    const struct field fields[] = {
        {"step", "step", value_step(row->step_number)},
        {"peak_bytes", "peak", value_bytes(row->peak_bytes)},
        {"peak_ns", "at", value_time(row->peak_ns)},
        {"held_bytes", "most held", is_known ? value_bytes(row->held.bytes) : value_none()},
        {"share_percent", "share",
         is_known ? value_number(VALUE_PERCENT, percent_of(row->held.bytes, row->peak_bytes))
                  : value_none()},
        {"site", "by",
         is_known ? value_who(reading->question, report_arena(report), row->most->who)
                  : value_none()},
        {"ledger", "ledger", value_text(label)},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_table(const struct reading *reading, struct report *report,
                      const struct ledger_state *ledger)
{
    const char *label = label_ledger(reading->question, report_arena(report), ledger->ledger);
    struct report_table *table = report_ledger_table(
        report, "peaks_by_step", label,
        report_text(report, "Highest point of %s, step by step", label), "No step ended.");

    for (size_t i = 0; i < ledger->row_count; i++)
        add_row(reading, report, table, label, &ledger->rows[i]);
    listed_steps_remark(reading->question, report, table, ledger->ledger);
}

static void reading_release(void *state)
{
    struct reading *reading = state;

    for (size_t i = 0; i < reading->ledger_count; i++)
        free(reading->ledgers[i].rows);
    free(reading->states);
    free(reading->origin_of_group);
    origins_release(&reading->origins);
    free(reading);
}

static void *reading_begin(const struct question *question, struct life_visitor *visitor)
{
    struct reading *reading = calloc(1, sizeof(*reading));

    if (!reading)
        return NULL;
    reading->question = question;
    if (!choose(reading)) {
        reading_release(reading);
        return NULL;
    }
    if (reading->ledger_count)
        *visitor = (struct life_visitor){
            .context = reading, .born = on_born, .over = on_over, .process_over = on_process_over};
    return reading;
}

static void reading_write(void *state, struct report *report)
{
    const struct reading *reading = state;

    if (reading->has_failed) {
        report_note(report, 0, "peaks of steps: not enough memory");
        return;
    }
    for (size_t i = 0; i < reading->ledger_count; i++)
        add_table(reading, report, &reading->ledgers[i]);
    if (reading->work >= WORK_LIMIT)
        report_note(report, 0,
                    "peaks of later steps: too many sites and steps to say who held most");
}

const struct block_analysis step_peaks_analysis = {
    .name = "peaks of steps",
    .begin = reading_begin,
    .write = reading_write,
    .release = reading_release,
};
