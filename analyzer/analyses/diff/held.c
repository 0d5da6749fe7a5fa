/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was held in a stretch, by a second reading.
 *
 * As the tally does it: a ledger counts its new highs, and a group that changes for the first time
 * after a high keeps aside what it held then. Here highs begin anew with the stretch.
 */
#include "held.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "lives.h"

/* Era of a process in which the stretch lies. */
#define ALL_ERAS UINT32_MAX
#define NO_ERA   (UINT32_MAX - 1)

struct group_state {
    struct held_amount live, kept;
    uint64_t epoch;
};

struct ledger_state {
    uint64_t live_bytes, epoch;
    bool is_begun; /* the stretch, for this ledger */
};

struct reading {
    const struct tally *tally;
    struct held *held;
    struct group_state *groups;
    struct ledger_state *ledgers;
    uint32_t *eras; /* by process */
    size_t birth_capacity;
    bool has_failed;
};

/* --- which era ------------------------------------------------------------------------------ */

static bool find_eras(const struct question *question, struct held_stretch stretch, uint32_t *eras)
{
    size_t process_count = model_process_count(question->model);
    bool is_found = !stretch.is_step;

    for (size_t i = 0; i < process_count; i++)
        eras[i] = stretch.is_step ? NO_ERA : ALL_ERAS;
    for (size_t i = 0; stretch.is_step && i < tally_step_count(question->tally); i++) {
        const struct step *step = tally_step_at(question->tally, i);

        if (step->number != stretch.step_number || !step->is_ended || eras[step->process] != NO_ERA)
            continue;
        eras[step->process] = step->index;
        is_found = true;
    }
    return is_found;
}

/* -1: before the stretch, 0: in it, 1: after it */
static int side_of(const struct reading *reading, uint16_t process, uint32_t era)
{
    uint32_t wanted = reading->eras[process];

    if (wanted == ALL_ERAS)
        return 0;
    return wanted == NO_ERA ? 1 : (era > wanted) - (era < wanted);
}

/* --- what changes --------------------------------------------------------------------------- */

static void begin(struct reading *reading, uint16_t index)
{
    struct ledger_state *ledger = &reading->ledgers[index];
    struct held_ledger *held = &reading->held->ledgers[index];

    if (ledger->is_begun)
        return;
    ledger->is_begun = true;
    ledger->epoch++;
    held->peak_bytes = ledger->live_bytes;
    held->is_used = true;
}

static void keep_aside(struct group_state *group, const struct ledger_state *ledger)
{
    if (group->epoch == ledger->epoch)
        return;
    group->kept = group->live;
    group->epoch = ledger->epoch;
}

static void note_birth(struct reading *reading, const struct life *life)
{
    struct held *held = reading->held;

    if (!tally_detail_at(reading->tally, life->group)->operator_text)
        return;
    if (held->birth_count == HELD_BIRTHS_MOST) {
        held->births_left_out++;
        return;
    }
    if (!list_has_room(&held->births, &reading->birth_capacity, held->birth_count,
                       sizeof(*held->births))) {
        reading->has_failed = true;
        return;
    }
    held->births[held->birth_count++] = (struct held_birth){life->group, life->size_bytes};
}

static void count_birth(struct reading *reading, const struct life *life)
{
    struct held_group *held = &reading->held->groups[life->group];

    held->made.bytes += life->size_bytes;
    held->made.count++;
    note_birth(reading, life);
}

static bool on_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct group_state *group = &reading->groups[life->group];
    struct ledger_state *ledger = &reading->ledgers[life->ledger];
    struct held_ledger *held = &reading->held->ledgers[life->ledger];
    uint16_t process = tally_ledger_at(reading->tally, life->ledger)->process;
    int side = side_of(reading, process, life->born_step);

    if (side > 0)
        return true;
    if (side == 0) {
        begin(reading, life->ledger);
        count_birth(reading, life);
    }
    keep_aside(group, ledger);
    group->live.bytes += life->size_bytes;
    group->live.count++;
    ledger->live_bytes += life->size_bytes;
    if (side == 0 && ledger->live_bytes > held->peak_bytes) {
        held->peak_bytes = ledger->live_bytes;
        held->peak_ns = life->born_ns;
        ledger->epoch++;
    }
    return !reading->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct group_state *group = &reading->groups[life->group];
    struct ledger_state *ledger = &reading->ledgers[life->ledger];
    uint16_t process = tally_ledger_at(reading->tally, life->ledger)->process;
    int side = life->freed_ns == UINT64_MAX ? 1 : side_of(reading, process, life->freed_step);

    if (side > 0)
        return true;
    if (side == 0)
        begin(reading, life->ledger);
    keep_aside(group, ledger);
    group->live.bytes -= life->size_bytes;
    group->live.count--;
    ledger->live_bytes -= life->size_bytes;
    return true;
}

/* --- the reading ---------------------------------------------------------------------------- */

static bool make_room(const struct question *question, struct reading *reading)
{
    struct held *held = reading->held;

    held->group_count = tally_group_count(question->tally);
    held->ledger_count = tally_ledger_count(question->tally);
    held->groups = calloc(held->group_count + 1, sizeof(*held->groups));
    held->ledgers = calloc(held->ledger_count + 1, sizeof(*held->ledgers));
    reading->groups = calloc(held->group_count + 1, sizeof(*reading->groups));
    reading->ledgers = calloc(held->ledger_count + 1, sizeof(*reading->ledgers));
    reading->eras = calloc(model_process_count(question->model) + 1, sizeof(*reading->eras));
    return held->groups && held->ledgers && reading->groups && reading->ledgers && reading->eras;
}

static void settle(struct reading *reading)
{
    struct held *held = reading->held;

    for (uint16_t i = 0; i < held->ledger_count; i++) {
        uint16_t process = tally_ledger_at(reading->tally, i)->process;

        /* Nothing changed in the stretch: it was always as high as at its end. */
        if (reading->ledgers[i].live_bytes && reading->eras[process] != NO_ERA)
            begin(reading, i);
        held->ledgers[i].end_bytes = reading->ledgers[i].live_bytes;
    }
    for (size_t i = 1; i < held->group_count; i++) {
        const struct group_state *group = &reading->groups[i];
        const struct ledger_state *ledger =
            &reading->ledgers[tally_group_at(reading->tally, i)->ledger];

        held->groups[i].end = group->live;
        held->groups[i].peak = group->epoch == ledger->epoch ? group->kept : group->live;
    }
}

enum mt_result held_read(const struct question *question, struct held_stretch stretch,
                         struct held *held, struct mt_error *error)
{
    struct reading reading = {.tally = question->tally, .held = held};
    struct life_visitor visitor = {.context = &reading, .born = on_born, .over = on_over};
    enum mt_result result = MT_OK;

    memset(held, 0, sizeof(*held));
    if (!make_room(question, &reading))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to read the recording again");
    else if (!find_eras(question, stretch, reading.eras))
        result = mt_error_set(error, MT_NO_DATA,
                              "there is no step %" PRIu64 " that has ended; leaktide steps lists "
                              "those that have",
                              stretch.step_number);
    if (result == MT_OK)
        result = lives_read(question->events, tally_model(question->tally), &visitor, error);
    if (result == MT_OK && reading.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the order of allocations");
    if (result == MT_OK)
        settle(&reading);
    free(reading.groups);
    free(reading.ledgers);
    free(reading.eras);
    return result;
}

void held_release(struct held *held)
{
    free(held->groups);
    free(held->ledgers);
    free(held->births);
    memset(held, 0, sizeof(*held));
}
