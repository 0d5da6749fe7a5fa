/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of memory: the request that failed (refusals.h), who held the memory then, who had grown, and
 * what the pools of the device held without using it. The host is a device like others: its
 * memory is that of the process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caching_allocator.h"
#include "failed_request.h"
#include "fragments.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "lives.h"
#include "origins.h"
#include "pool_analyses.h"
#include "process_end.h"
#include "refusals.h"
#include "request_parts.h"
#include "segment_pins.h"
#include "sentence.h"

enum {
    warm_up_steps = 2,
    tries_most = 2,
    little_percent = 10 /* of unused memory */,
    word_precision = 128
};

/* What was alive when the request failed. */
struct failure_state {
    const struct question *question;
    const struct failure *failure;
    struct fragments fragments;
    uint64_t seen_count;        /* failures so far */
    uint64_t birth_count;       /* of its process, so far */
    struct step_sample *groups; /* alive, by group; without parts that came back */
    /* The same when half of the births before it were made: what to compare with without steps. */
    struct step_sample *half;
    uint64_t half_ns; /* 0: it was not reached */
    struct request_parts parts;
    struct step_sample came_back; /* of the failure's ledger, for this request */
    uint64_t room_bytes;          /* that went to such parts before it failed */
    bool is_behind;               /* it has failed */
    bool is_answered;             /* and the next request of its ledger was the same, and granted */
    enum refusal_fate fate;
    bool *is_holder; /* by ledger: its blocks are what the program holds */
};

struct grown {
    const struct origin *origin;
    struct step_sample held;
    uint64_t before_bytes; /* at the end of the step that is compared with */
};

/* --- the state when it failed --------------------------------------------------------------- */

static bool is_of_host(const struct failure_state *state)
{
    return tally_ledger_at(state->question->tally, state->failure->ledger)->device < 0;
}

static bool on_event(void *context, const struct event *event)
{
    struct failure_state *state = context;

    request_parts_event(&state->parts, event);
    if (event->kind == EVENT_ALLOC_FAILED && ++state->seen_count == state->failure->number) {
        const struct ledger *failed =
            tally_ledger_at(state->question->tally, state->failure->ledger);
        const struct part_run *run = request_parts_of(&state->parts, event->thread, failed->device);

        state->is_behind = true;
        state->room_bytes = run ? run->back_bytes : 0;
    }
    return true;
}

/* Of an allocator that tells what segment it wanted, in words of three digits. */
static bool is_same_size(const struct failure_state *state, uint64_t bytes)
{
    const struct tally *tally = state->question->tally;
    const struct ledger *ledger = tally_ledger_at(tally, state->failure->ledger);
    uint64_t refused_bytes = state->failure->size_bytes, segment_bytes;

    if (model_pool_at(tally_model(tally), ledger->pool)->allocator != POOL_ALLOCATOR_NPU_CACHING)
        return bytes == refused_bytes;
    segment_bytes = caching_allocator_segment(bytes);
    return segment_bytes >= refused_bytes - refused_bytes / word_precision &&
           segment_bytes <= refused_bytes + refused_bytes / word_precision;
}

static void see_half(struct failure_state *state, const struct life *life)
{
    const struct tally *tally = state->question->tally;
    uint16_t process = tally_ledger_at(tally, state->failure->ledger)->process;

    if (state->is_behind || state->half_ns ||
        tally_ledger_at(tally, life->ledger)->process != process)
        return;
    if (state->birth_count++ < state->failure->birth_count / 2)
        return;
    state->half_ns = life->born_ns;
    memcpy(state->half, state->groups, tally_group_count(tally) * sizeof(*state->half));
}

/* A heap hands out blocks of that size to others as well. */
static bool is_asked_again(const struct failure_state *state, const struct life *life)
{
    return is_same_size(state, life->size_bytes) &&
           (!is_of_host(state) ||
            tally_detail_at(state->question->tally, life->group)->site == state->failure->site);
}

/* Whoever is refused may make room and ask again. */
static bool on_born(void *context, const struct life *life)
{
    struct failure_state *state = context;

    request_parts_born(&state->parts, life);
    see_half(state, life);
    if (state->is_behind && life->ledger == state->failure->ledger)
        state->is_answered = is_asked_again(state, life);
    if (state->is_behind)
        return life->ledger != state->failure->ledger;
    state->groups[life->group].bytes += life->size_bytes;
    state->groups[life->group].count++;
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct failure_state *state = context;
    bool was_part = request_parts_over(&state->parts, life);

    if (life->freed_ns == UINT64_MAX || (state->is_behind && !was_part))
        return true;
    state->groups[life->group].bytes -= life->size_bytes;
    state->groups[life->group].count--;
    if (state->is_behind && life->ledger == state->failure->ledger) {
        state->came_back.bytes += life->size_bytes;
        state->came_back.count++;
    }
    return true;
}

/* The state at the failure, and what pools held, in as few readings as pools take. */
static enum mt_result read_all(struct failure_state *state, struct mt_error *error)
{
    struct life_visitor visitor = {
        .context = state, .born = on_born, .over = on_over, .event = on_event};
    enum mt_result result;

    request_parts_init(&state->parts, state->question->tally,
                       tally_ledger_at(state->question->tally, state->failure->ledger)->process);
    state->groups = calloc(tally_group_count(state->question->tally) + 1, sizeof(*state->groups));
    state->half = calloc(tally_group_count(state->question->tally) + 1, sizeof(*state->half));
    state->is_holder =
        calloc(tally_ledger_count(state->question->tally), sizeof(*state->is_holder));
    if (!state->groups || !state->half || !state->is_holder)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to list sites");
    result = fragments_read(state->question, &visitor, &state->fragments, error);
    if (result == MT_OK && state->parts.has_no_memory)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to list sites");
    return result;
}

/* What the ledger held when the request failed. */
static uint64_t held_then(const struct failure_state *state, uint16_t ledger)
{
    uint64_t bytes = 0;

    for (size_t i = 1; i < tally_group_count(state->question->tally); i++)
        if (tally_group_at(state->question->tally, i)->ledger == ledger)
            bytes += state->groups[i].bytes;
    return bytes;
}

/* --- layers --------------------------------------------------------------------------------- */

/* Memory of the device that refused, of the same process. */
static bool is_of_device(const struct failure_state *state, uint16_t index)
{
    const struct tally *tally = state->question->tally;
    const struct ledger *failed = tally_ledger_at(tally, state->failure->ledger);
    const struct ledger *ledger = tally_ledger_at(tally, index);

    return ledger->kind == LEDGER_MEMORY && ledger->process == failed->process &&
           ledger->device == failed->device;
}

/* What is known of a pool at that moment; NULL: nothing. */
static struct fragment_moment *moment_of(struct failure_state *state, uint16_t ledger)
{
    for (size_t i = 0; i < state->fragments.count; i++) {
        struct fragment_moment *moment = &state->fragments.ledgers[i].moments[MOMENT_FAILURE];

        if (state->fragments.ledgers[i].ledger == ledger && moment->is_known &&
            is_of_device(state, ledger))
            return moment;
    }
    return NULL;
}

static bool lies_directly_in(const struct failure_state *state, uint16_t above, uint16_t below)
{
    const struct tally *tally = state->question->tally;

    return is_of_device(state, above) &&
           ledger_below(tally, tally_ledger_at(tally, above)) == tally_ledger_at(tally, below);
}

/* What pools right above took from it: what they reserve, where they tell. */
static uint64_t taken_from(struct failure_state *state, uint16_t below)
{
    uint64_t bytes = 0;

    for (uint16_t i = 0; i < tally_ledger_count(state->question->tally); i++) {
        const struct fragment_moment *moment = moment_of(state, i);

        if (lies_directly_in(state, i, below))
            bytes += moment ? moment->reserved_bytes : held_then(state, i);
    }
    return bytes;
}

/* What the ledger held when the request failed, outside of the pools that lie in it. */
static uint64_t own_then(const struct failure_state *state, uint16_t ledger)
{
    const struct tally *tally = state->question->tally;
    uint64_t bytes = 0;

    for (uint32_t i = 1; i < tally_group_count(tally); i++)
        if (tally_group_at(tally, i)->ledger == ledger && group_is_own(tally, i))
            bytes += state->groups[i].bytes;
    return bytes;
}

/* Blocks of a pool that others cut up are theirs: those know who holds them, not who touched them
 * first. */
static void find_holder_ledgers(struct failure_state *state)
{
    for (uint16_t i = 0; i < tally_ledger_count(state->question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(state->question->tally, i);

        state->is_holder[i] =
            is_of_device(state, i) && (!ledger_is_reserved(ledger) || own_then(state, i) > 0);
    }
}

/* The most that a pool of the device ever had: not what it had for the request alone. */
static uint64_t most_held(struct failure_state *state)
{
    uint64_t most_bytes = 0;

    for (uint16_t i = 0; i < tally_ledger_count(state->question->tally); i++) {
        bool is_only_then =
            !state->is_holder[i] || (state->came_back.count && i == state->failure->ledger);
        uint64_t bytes =
            is_only_then ? held_then(state, i) : ledger_figures_of(state->question, i).held_bytes;

        if (is_of_device(state, i) && bytes > most_bytes)
            most_bytes = bytes;
    }
    return most_bytes;
}

/* --- who held, and who had grown ------------------------------------------------------------ */

/* The step whose end is compared with: the last of the warm-up; 0: there is none. */
static uint32_t compared_step(const struct question *question, const struct failure *failure)
{
    uint32_t warm_up = question->warm_up_steps == WARM_UP_DEFAULT
                           ? warm_up_steps
                           : (uint32_t)question->warm_up_steps;
    uint32_t step = warm_up ? warm_up : 1;

    return failure->step > step ? step : 0;
}

static int by_held(const void *left, const void *right)
{
    const struct grown *a = left, *b = right;

    if (a->held.bytes != b->held.bytes)
        return a->held.bytes > b->held.bytes ? -1 : 1;
    return (a->origin > b->origin) - (a->origin < b->origin);
}

static int64_t growth_of(const struct grown *row)
{
    return (int64_t)(row->held.bytes - row->before_bytes);
}

static int by_growth(const void *left, const void *right)
{
    const struct grown *a = left, *b = right;

    if (growth_of(a) != growth_of(b))
        return growth_of(a) > growth_of(b) ? -1 : 1;
    return by_held(left, right);
}

/* "the end of step 2", or the time when half of what it asked for was there; NULL: neither. */
static const char *compared_words(const struct failure_state *state, struct report *report,
                                  uint32_t step)
{
    if (step)
        return report_text(report, "the end of step %" PRIu32, step);
    if (!state->half_ns || state->is_answered || state->fate != REFUSAL_FATAL)
        return NULL;
    return report_text(report, "half of the blocks were made (%s)",
                       label_moment(state->question, report_arena(report), state->half_ns));
}

static uint64_t half_of(const struct failure_state *state, const struct origin *origin)
{
    uint64_t bytes = 0;

    for (size_t k = 0; k < origin->group_count; k++)
        bytes += state->half[origin->groups[k]].bytes;
    return bytes;
}

static size_t find_holders(const struct failure_state *state, const struct origins *origins,
                           uint32_t step, struct grown *rows)
{
    const struct tally *tally = state->question->tally;
    size_t count = 0;

    for (size_t i = 0; i < origins->count; i++) {
        const struct origin *origin = &origins->rows[i];
        struct grown row = {.origin = origin};

        if (!state->is_holder[origin->ledger])
            continue;
        for (size_t k = 0; k < origin->group_count; k++) {
            row.held.bytes += state->groups[origin->groups[k]].bytes;
            row.held.count += state->groups[origin->groups[k]].count;
        }
        row.before_bytes =
            step ? origin_at_step(tally, origin, step).bytes : half_of(state, origin);
        if (row.held.count || row.before_bytes)
            rows[count++] = row;
    }
    return count;
}

static void add_holders(const struct question *question, struct report *report, const char *name,
                        const char *title, const struct grown *rows, size_t count, bool is_compared)
{
    struct arena *texts = report_arena(report);
    struct report_table *table = report_table(report, name, title, NULL);
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct who who = rows[i].origin->who;
        const struct field fields[] = {
            {"held_bytes", "held", value_bytes(rows[i].held.bytes)},
            {"block_count", "blocks", value_count(rows[i].held.count)},
            {"grown_bytes", "grown",
             is_compared ? value_change(VALUE_BYTES_CHANGE, growth_of(&rows[i])) : value_none()},
            {"site", "site", value_who(question, texts, who)},
            {"operator", "operator", value_name(question, who.operator_text)},
            {"owner", "owner", value_name(question, who.owner_text)},
            {"ledger", "ledger", value_text(label_ledger(question, texts, rows[i].origin->ledger))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
}

/* Sorted by growth: how many grew, of which the first is told. */
static size_t say_growth(const struct failure_state *state, struct report *report,
                         const struct grown *rows, size_t count, const char *since)
{
    struct arena *texts = report_arena(report);

    while (count && growth_of(&rows[count - 1]) <= 0)
        count--;
    if (count)
        report_verdict(report, RANK_PEAK, "GREW: since %s %s by %s.", since,
                       label_who(state->question, texts, rows[0].origin->who),
                       label_size(texts, (uint64_t)growth_of(&rows[0])));
    return count;
}

static void show_grown(const struct failure_state *state, struct report *report, struct grown *rows,
                       size_t count, struct failed_request *failed)
{
    uint32_t step = compared_step(state->question, state->failure);
    const char *since = compared_words(state, report, step);

    if (!since)
        return;
    qsort(rows, count, sizeof(*rows), by_growth);
    count = say_growth(state, report, rows, count, since);
    if (count && step) { /* what a program loads before its first step is no growth to be stopped */
        failed->since = since;
        failed->grown = rows[0].origin->who;
        failed->grown_bytes = (uint64_t)growth_of(&rows[0]);
    }
    add_holders(state->question, report, "grown_at_failure",
                report_text(report, "Who had grown since %s", since), rows, count, true);
}

static void show_holders(struct failure_state *state, struct report *report,
                         struct failed_request *failed)
{
    const struct question *question = state->question;
    uint32_t step = compared_step(question, state->failure);
    struct origins origins;
    struct grown *rows;
    size_t count;

    if (!origins_init_of(&origins, question, ORIGINS_BY_OPERATOR, group_is_own)) {
        report_note(report, 0, "oom: not enough memory to list sites");
        return;
    }
    rows = malloc((origins.count + 1) * sizeof(*rows));
    count = rows ? find_holders(state, &origins, step, rows) : 0;
    if (count) {
        qsort(rows, count, sizeof(*rows), by_held);
        failed->holder = rows[0].origin->who;
        failed->holder_bytes = rows[0].held.bytes;
        add_holders(question, report, "held_at_failure",
                    translated(is_of_host(state)
                                   ? "Who held memory of the process when the request failed"
                                   : "Who held memory of the device when the request failed"),
                    rows, count, compared_words(state, report, step) != NULL);
        show_grown(state, report, rows, count, failed);
    }
    free(rows);
    origins_release(&origins);
}

/* --- what was free -------------------------------------------------------------------------- */

/* The largest piece that the pool could have handed out as it was. */
static uint64_t largest_piece(const struct fragment_moment *moment)
{
    return moment->largest_hole_bytes > moment->largest_free_segment_bytes
               ? moment->largest_hole_bytes
               : moment->largest_free_segment_bytes;
}

/* Memory that pools above it do not account for. */
static void remark_rest(struct failure_state *state, struct report *report,
                        struct report_table *table)
{
    for (uint16_t i = 0; i < tally_ledger_count(state->question->tally); i++) {
        uint64_t taken_bytes = taken_from(state, i), held_bytes = held_then(state, i);

        if (is_of_device(state, i) && !state->is_holder[i] && held_bytes > taken_bytes)
            report_table_remark(report, table, "Beside what pools above it reserved, %s held %s.",
                                label_ledger(state->question, report_arena(report), i),
                                label_size(report_arena(report), held_bytes - taken_bytes));
    }
}

static void add_free(struct failure_state *state, struct report *report)
{
    const struct question *question = state->question;
    struct report_table *table =
        report_table(report, "free_at_failure", "What pools of the device held without use", NULL);

    for (size_t i = 0; i < state->fragments.count; i++) {
        uint16_t ledger = state->fragments.ledgers[i].ledger;
        const struct fragment_moment *moment = moment_of(state, ledger);
        bool is_known = moment && moment->segment_count > 0;

        if (!moment)
            continue;

        const struct field fields[] = {
            {"reserved_bytes", "reserved", value_bytes(moment->reserved_bytes)},
            {"allocated_bytes", "allocated",
             value_bytes(moment->active_bytes - moment->waiting_bytes)},
            {"waiting_bytes", "waiting", value_bytes(moment->waiting_bytes)},
            {"unused_bytes", "unused", value_bytes(moment->unused_bytes)},
            {"hole_bytes", "in holes", is_known ? value_bytes(moment->hole_bytes) : value_none()},
            {"largest_hole_bytes", "largest hole",
             is_known ? value_bytes(moment->largest_hole_bytes) : value_none()},
            {"free_segment_bytes", "free segments",
             is_known ? value_bytes(moment->free_segment_bytes) : value_none()},
            {"largest_free_segment_bytes", "largest",
             is_known ? value_bytes(moment->largest_free_segment_bytes) : value_none()},
            {"ledger", "ledger", value_text(label_ledger(question, report_arena(report), ledger))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    remark_rest(state, report, table);
}

/* What the pools of the device held without using it. */
static void add_up_pools(struct failure_state *state, struct failed_request *failed)
{
    for (size_t i = 0; i < state->fragments.count; i++) {
        const struct fragment_moment *moment = moment_of(state, state->fragments.ledgers[i].ledger);

        if (!moment)
            continue;
        if (state->fragments.ledgers[i].ledger == state->failure->ledger)
            failed->reserved_bytes = moment->reserved_bytes;
        failed->knows_pools = true;
        failed->knows_pieces |= moment->segment_count > 0;
        failed->held_bytes += moment->reserved_bytes;
        failed->unused_bytes += moment->unused_bytes;
        failed->waiting_bytes += moment->waiting_bytes;
        if (largest_piece(moment) > failed->largest_piece_bytes)
            failed->largest_piece_bytes = largest_piece(moment);
    }
}

/* Of the host the least of what limits the process. */
static const char *limit_words(struct report *report, const struct failed_request *failed)
{
    const char *size = label_size(report_arena(report), failed->limit_bytes);

    switch (failed->limit) {
    case LIMIT_ADDRESS:
        return report_text(report,
                           " The address space of the process was limited to %s (RLIMIT_AS, "
                           "ulimit -v).",
                           size);
    case LIMIT_DATA:
        return report_text(
            report, " The data of the process was limited to %s (RLIMIT_DATA, ulimit -d).", size);
    case LIMIT_MACHINE:
        break;
    }
    return report_text(report, " The machine has %s of memory and swap.", size);
}

/* Why it did not fit, as far as the pools tell. */
static const char *reason(struct report *report, const struct failed_request *failed)
{
    struct arena *texts = report_arena(report);
    uint64_t size_bytes = failed->size_bytes;

    if (failed->limit_bytes)
        return limit_words(report, failed);
    if (!failed->knows_pools)
        return "";
    if (failed->unused_bytes < size_bytes && failed->room_bytes)
        return report_text(report,
                           " Too little was free: the pools of the device held only %s unused, and "
                           "the device itself had about %s left.",
                           label_size(texts, failed->unused_bytes),
                           label_size(texts, failed->room_bytes));
    if (failed->unused_bytes < size_bytes)
        return report_text(report,
                           " Too little was free: the pools of the device held only %s unused.",
                           label_size(texts, failed->unused_bytes));
    if (!failed->knows_pieces)
        return report_text(report, " The pools of the device held %s unused.",
                           label_size(texts, failed->unused_bytes));
    if (failed->largest_piece_bytes >= size_bytes)
        return report_text(report,
                           " A free piece of %s would have done, but it belongs to another pool or "
                           "stream.",
                           label_size(texts, failed->largest_piece_bytes));
    return report_text(
        report,
        percent_of(failed->unused_bytes, failed->held_bytes) < little_percent
            ? translated(" %s were unused, but in no piece above %s.")
            : translated(" Fragmentation: %s were unused, but in no piece above %s."),
        label_size(texts, failed->unused_bytes), label_size(texts, failed->largest_piece_bytes));
}

static void show_free(struct failure_state *state, struct report *report)
{
    const struct question *question = state->question;
    struct arena *texts = report_arena(report);

    add_free(state, report);
    for (size_t i = 0; i < state->fragments.count; i++) {
        struct fragment_ledger *ledger = &state->fragments.ledgers[i];
        const struct fragment_moment *moment = moment_of(state, ledger->ledger);
        struct segment_pins pins;

        if (!moment)
            continue;
        if (segment_pins_init(&pins, moment)) {
            if (pins.count && !ledger->is_mapped) /* pages go one by one */
                report_verdict(report, RANK_FRAGMENTATION,
                               "CHEAPEST: %s of blocks, the largest of %s, keep a segment of %s.",
                               label_size(texts, pins.rows[0]->live_bytes),
                               pin_site(question, report, pins.moment, pins.rows[0]),
                               label_size(texts, pins.rows[0]->to - pins.rows[0]->from));
            segment_pins_show(&pins, question, report, ledger->ledger,
                              translated("when it failed"));
        }
        segment_pins_release(&pins);
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Pools of a framework ask the driver below them; either may be the one that fails. */
static const char *asked(const struct question *question, struct report *report,
                         const struct failure *failure)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, failure->ledger);
    bool is_driver = pool_is_of_device(model_pool_at(question->model, ledger->pool));

    return report_text(report, "%s%s",
                       label_ledger(question, report_arena(report), failure->ledger),
                       is_driver ? translated(" (the driver)") : "");
}

const char *failed_request_size(const struct failed_request *failed, struct arena *texts)
{
    const char *size = label_size(texts, failed->size_bytes);

    return failed->part_count ? sentence(texts, "at least %s", size) : size;
}

/* What the device itself had left, where the source tells it with the failure. */
static const char *device_free(const struct question *question, struct report *report,
                               const struct failure *failure)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, failure->ledger);

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (row->process == ledger->process &&
            model_place_at(question->model, row->place).device == ledger->device &&
            strcmp(model_text_at(question->model, row->counter), "free when out of memory") == 0)
            return report_text(report, ", and the device itself had %s free",
                               label_size(report_arena(report), row->last_bytes));
    }
    return "";
}

/* "24.0 MiB of the 40.0 MiB that it held" */
static const char *handed_out(struct report *report, const struct failed_request *failed)
{
    struct arena *texts = report_arena(report);
    const char *size = label_size(texts, failed->live_bytes);

    return failed->reserved_bytes ? report_text(report, "%s of the %s that it held", size,
                                                label_size(texts, failed->reserved_bytes))
                                  : size;
}

/* How the request is called by what became of it. */
static const char *fate_words(const struct failure_state *state)
{
    static const char *const words[] = {
        [REFUSAL_FATAL] = "OUT OF MEMORY",
        [REFUSAL_TOO_MUCH] = "REFUSED, MORE THAN THERE IS",
        [REFUSAL_SURVIVED] = "REFUSED, AND THE PROGRAM WENT ON",
    };

    return translated(state->is_answered ? "REFUSED, AND GRANTED WHEN ASKED AGAIN"
                                         : words[state->fate]);
}

static void say_failure(const struct failure_state *state, struct report *report,
                        const struct failed_request *failed)
{
    const struct question *question = state->question;
    struct arena *texts = report_arena(report);
    const struct failure *failure = failed->failure;
    const struct ledger *ledger = tally_ledger_at(question->tally, failure->ledger);

    report_verdict(
        report, RANK_LEAKS, "%s: %s refused %s to %s%s, %s, when it had handed out %s%s.%s",
        fate_words(state), asked(question, report, failure), failed_request_size(failed, texts),
        label_who(question, texts, (struct who){.site = failure->site}),
        label_in_step(question, texts, ledger->process, failure->step),
        label_moment(question, texts, failure->time_ns), handed_out(report, failed),
        device_free(question, report, failure), reason(report, failed));
}

/* Whether b is the failure of another layer, or of another try, of the request that failed in the
 * chain first .. b - 1. A layer below is asked first, and asked again after caches are emptied. */
static bool is_same_request(const struct question *question, size_t first, size_t b)
{
    const struct failure *next = tally_failure_at(question->tally, b);
    const struct ledger *ledger = tally_ledger_at(question->tally, next->ledger);
    const struct pool *pool = model_pool_at(question->model, ledger->pool);
    size_t tries = 0;

    for (size_t i = first; i < b; i++) {
        const struct failure *row = tally_failure_at(question->tally, i);
        const struct ledger *other = tally_ledger_at(question->tally, row->ledger);
        const struct pool *other_pool = model_pool_at(question->model, other->pool);

        if (other->process != ledger->process || other->device != ledger->device ||
            refusals_are_apart(row->time_ns, next->time_ns))
            return false;
        if (row->ledger != next->ledger && !pool_lies_in(pool, other_pool) &&
            !pool_lies_in(other_pool, pool))
            return false;
        tries += row->ledger == next->ledger;
        if (row->ledger == next->ledger &&
            (row->size_bytes != next->size_bytes || row->live_bytes < next->live_bytes))
            return false;
    }
    return tries < tries_most;
}

/* Requests of the program: failures without those of other layers and further tries. */
static size_t count_requests(const struct question *question)
{
    size_t requests = 0, first = 0;

    for (size_t i = 0; i < tally_failure_count(question->tally); i++) {
        if (i && is_same_request(question, first, i))
            continue;
        first = i;
        requests++;
    }
    return requests;
}

/* Who was refused first is as telling as who was last. */
static void note_others(const struct question *question, struct report *report,
                        const struct failure *shown)
{
    struct arena *texts = report_arena(report);
    const struct failure *first = tally_failure_at(question->tally, 0);
    const struct ledger *ledger = tally_ledger_at(question->tally, first->ledger);
    size_t kept = tally_failure_count(question->tally), requests = count_requests(question);
    const struct failure *newest = tally_failure_at(question->tally, kept - 1);
    const char *shown_words =
        translated(shown == newest ? "the last is shown" : "the one that tells most is shown");
    const char *first_words =
        report_text(report, "the first was %s for %s%s, %s", label_size(texts, first->size_bytes),
                    label_who(question, texts, (struct who){.site = first->site}),
                    label_in_step(question, texts, ledger->process, first->step),
                    label_moment(question, texts, first->time_ns));

    if (newest->number > kept) /* not all are there to be joined */
        report_note(report, newest->number,
                    report_text(report, "calls were refused; %s; %s", shown_words, first_words));
    else if (requests > 1)
        report_note(report, requests,
                    report_text(report, "requests failed (%s, with tries and layers); %s; %s",
                                label_counted(texts, newest->number, "call"), shown_words,
                                first_words));
}

static void advise(const struct question *question, struct report *report,
                   const struct failed_request *failed)
{
    const struct evidence evidence = {.question = question, .report = report, .failed = failed};
    struct advices advices;

    advices_collect_first(&evidence, failure_rules, &advices);
    advices_show(&advices, report, RANK_LEAKS, 1);
}

/* All parts together: those that it got, and the one that was refused. */
static struct failed_request request_of(const struct failure_state *state)
{
    const struct failure *failure = state->failure;

    return (struct failed_request){
        .failure = failure,
        .size_bytes = failure->size_bytes + state->came_back.bytes,
        .part_count = state->came_back.count ? state->came_back.count + 1 : 0,
        .room_bytes = state->came_back.count ? state->came_back.bytes : state->room_bytes,
        .live_bytes = failure->live_bytes - state->came_back.bytes,
    };
}

/* What the process held, in all pools of the host that take nothing from each other. */
static uint64_t held_by_process(const struct failure_state *state)
{
    uint64_t bytes = 0;

    for (uint16_t i = 0; i < tally_ledger_count(state->question->tally); i++)
        if (state->is_holder[i])
            bytes += own_then(state, i);
    return bytes;
}

static void see_host(const struct failure_state *state, struct failed_request *failed)
{
    const struct tally *tally = state->question->tally;
    uint16_t process = tally_ledger_at(tally, state->failure->ledger)->process;

    if (!is_of_host(state))
        return;
    failed->live_bytes = held_by_process(state);
    failed->limit_bytes =
        refusal_limit_bytes(model_process_at(tally_model(tally), process), &failed->limit);
}

static void answer(struct failure_state *state, struct report *report)
{
    struct failed_request failed = request_of(state);

    find_holder_ledgers(state);
    failed.most_held_bytes = most_held(state);
    add_up_pools(state, &failed);
    see_host(state, &failed);
    say_failure(state, report, &failed);
    show_holders(state, report, &failed);
    show_free(state, report);
    advise(state->question, report, &failed);
}

/* The last row of the request that begins there: a pool is refused after the driver below it. */
static size_t request_end(const struct question *question, size_t first)
{
    size_t end = first + 1;

    while (end < tally_failure_count(question->tally) && is_same_request(question, first, end))
        end++;
    return end - 1;
}

/* Of several processes that of the worst fate, and of these the newest. SIZE_MAX: none failed. */
static size_t failure_that_tells(const struct question *question, enum refusal_fate *fate)
{
    size_t told = SIZE_MAX;

    *fate = REFUSAL_SURVIVED;
    for (size_t i = 0; i < model_process_count(question->model); i++) {
        size_t row = refusal_of(question->tally, (uint16_t)i);
        const struct failure *failure =
            row == SIZE_MAX ? NULL : tally_failure_at(question->tally, row);
        enum refusal_fate its = failure ? refusal_fate(question->tally, failure) : *fate;

        if (!failure || (told != SIZE_MAX && its > *fate) ||
            (told != SIZE_MAX && its == *fate &&
             failure->time_ns < tally_failure_at(question->tally, told)->time_ns))
            continue;
        told = row;
        *fate = its;
    }
    return told == SIZE_MAX ? told : request_end(question, told);
}

/* is_asked: for it; else only what ended badly is worth the first words. */
static void answer_failure(const struct question *question, struct report *report, bool is_asked)
{
    struct failure_state state = {.question = question};
    size_t told = failure_that_tells(question, &state.fate);
    struct mt_error error;
    enum mt_result result;

    state.failure = tally_failure_at(question->tally, told);
    result = read_all(&state, &error);
    if (result != MT_OK)
        report_note(report, 0, report_text(report, "oom: %s", error.message));
    else if (is_asked || (!state.is_answered && state.fate != REFUSAL_SURVIVED))
        answer(&state, report);
    note_others(question, report, state.failure);
    free(state.groups);
    free(state.half);
    free(state.is_holder);
    request_parts_release(&state.parts);
    fragments_release(&state.fragments);
}

void analyse_oom(const struct question *question, struct report *report)
{
    if (tally_failure_count(question->tally))
        answer_failure(question, report, true);
    else
        report_verdict(report, RANK_LEAKS, "No request for memory failed.");
}

void analyse_oom_if_any(const struct question *question, struct report *report)
{
    if (tally_failure_count(question->tally))
        answer_failure(question, report, false);
}

static bool may_be_a_part(const struct question *question, const struct failure *failure)
{
    struct request_parts parts;

    request_parts_init(&parts, question->tally,
                       tally_ledger_at(question->tally, failure->ledger)->process);
    return ledger_can_have_parts(question->tally, failure->ledger) &&
           failure->size_bytes <= parts.address_bytes;
}

/* What became of it, why it did not fit, and whether it was asked for in parts takes another
 * reading. */
void analyse_oom_in_short(const struct question *question, struct report *report)
{
    enum refusal_fate fate;
    size_t told = failure_that_tells(question, &fate);
    struct arena *texts = report_arena(report);
    struct failed_request failed;

    if (told == SIZE_MAX || fate == REFUSAL_SURVIVED)
        return;
    failed = (struct failed_request){.failure = tally_failure_at(question->tally, told)};
    failed.size_bytes = failed.failure->size_bytes;
    failed.part_count = may_be_a_part(question, failed.failure);
    report_verdict(report, RANK_LEAKS, "REFUSED: %s to %s by %s; leaktide oom says why.",
                   failed_request_size(&failed, texts),
                   label_who(question, texts, (struct who){.site = failed.failure->site}),
                   asked(question, report, failed.failure));
}
