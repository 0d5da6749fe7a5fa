/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and processes: what is written down when one ends.
 *
 *   process begins   step 1 begins      step 1 ends         step 2 ends
 *   |--- era 0 -----|------ era 1 ------|------ era 2 ------|------ era 3 ...
 *
 * A block's birth is the number of its alloc, which tells the era it was made in. When an era ends,
 * every group that changed in it puts what it holds into its series, and what is left of the era's
 * blocks into a cohort.
 */
#include "tally_state.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

bool tally_touch(struct tally *tally, uint32_t index)
{
    const struct group *group = group_at(tally, index);

    if (!list_has_room(&tally->touched, &tally->touched_capacity, tally->touched_count,
                       sizeof(*tally->touched)))
        return false;
    tally->touched[tally->touched_count++] =
        (struct touched_group){.alloc_bytes = group->alloc_bytes,
                               .alloc_count = group->alloc_count,
                               .live_count = group->live_count,
                               .group = index};
    return true;
}

struct group_past *tally_past_for(struct tally *tally, uint32_t group)
{
    struct group_detail *detail = table_at(&tally->details, group);
    struct group_past *past;

    if (detail->past)
        return table_at(&tally->pasts, detail->past);
    past = table_add(&tally->pasts);
    if (!past) {
        tally->has_failed = true;
        return NULL;
    }
    detail->past = (uint32_t)(tally->pasts.count - 1);
    return past;
}

/* Mostly of one of the last: so the search begins there. */
uint32_t tally_era_of(const struct tally *tally, uint32_t birth)
{
    uint64_t number = tally_number_of(tally, birth);
    uint32_t first = tally->era, after = tally->era, stride = 1;

    while (first && tally->era_firsts[first] > number) {
        after = first;
        first = stride < first ? first - stride : 0;
        stride *= 2;
    }
    while (first + 1 < after) {
        uint32_t middle = first + (after - first) / 2;

        if (tally->era_firsts[middle] <= number)
            first = middle;
        else
            after = middle;
    }
    return first;
}

static bool era_begin(struct tally *tally, uint32_t era)
{
    if (!list_has_room(&tally->era_firsts, &tally->era_capacity, era, sizeof(*tally->era_firsts)))
        return false;
    tally->era = era;
    tally->era_first = tally->era_firsts[era] = tally->number;
    return true;
}

/* Each is two cache misses where there are many groups: asked for together, they overlap. */
void tally_settle(struct tally *tally)
{
    for (size_t i = 0; i < tally->spent_count; i++) {
        const struct group_past *past = tally_past_at(tally, tally->spent[i].group);

        __builtin_prefetch(&past->cohorts);
        __builtin_prefetch(&past->freed_age, 1);
    }
    for (size_t i = 0; i < tally->spent_count; i++)
        __builtin_prefetch(tally_past_at(tally, tally->spent[i].group)->cohorts.rows);
    for (size_t i = 0; i < tally->spent_count; i++) {
        const struct spent_block *block = &tally->spent[i];
        struct group_past *past = tally_past_for(tally, block->group);
        uint32_t age = tally->era - block->birth;

        if (!past)
            break;
        past->freed_age = age > past->freed_age ? age : past->freed_age;
        cohorts_take(&past->cohorts, block->birth, block->size_bytes, tally->epoch);
    }
    tally->spent_count = 0;
}

/* Counts that a ledger does not need at every event. */
static void tell_ledger(struct tally *tally, struct group *group,
                        const struct touched_group *before)
{
    struct ledger *ledger = ledger_at(tally, group->ledger);

    ledger->alloc_bytes += group->alloc_bytes - before->alloc_bytes;
    ledger->alloc_count += group->alloc_count - before->alloc_count;
    ledger->live_count += (uint64_t)group->live_count - before->live_count;
    group->flags &= (uint16_t)~GROUP_TOUCHED;
}

static bool past_era_end(const struct tally *tally, const struct group *group,
                         struct group_past *past)
{
    struct step_sample sample = {tally->era, group->live_count, group->live_bytes};

    past->freed_age_at_end = past->freed_age;
    if (group->born_count && tally->era) {
        past->left_bytes += group->born_bytes;
        past->left_count += group->born_count;
        past->left_steps++;
    }
    if (group->born_count &&
        !cohorts_put(&past->cohorts, tally->era, group->born_count, group->born_bytes))
        return false;
    return step_series_put(&past->series, sample);
}

static bool group_era_end(struct tally *tally, const struct touched_group *touched)
{
    struct group *group = group_at(tally, touched->group);
    const struct group_detail *detail = table_at(&tally->details, touched->group);
    struct group_past *past;

    tell_ledger(tally, group, touched);
    if (!detail->past && !group->live_count)
        return true;
    past = tally_past_for(tally, touched->group);
    if (!past || !past_era_end(tally, group, past))
        return false;
    group->born_count = 0;
    group->born_bytes = 0;
    return true;
}

/* What the ends of the groups touched next will need. */
static void era_end_soon(const struct tally *tally, size_t next)
{
    enum { far = 24, middle = 16, near = 8 };
    const struct group_past *past;

    if (next + far < tally->touched_count) {
        __builtin_prefetch(table_at(&tally->details, tally->touched[next + far].group));
        __builtin_prefetch(group_at(tally, tally->touched[next + far].group), 1);
    }
    if (next + middle < tally->touched_count) {
        past = tally_past_at(tally, tally->touched[next + middle].group);
        __builtin_prefetch(&past->freed_age, 1);
        __builtin_prefetch(&past->series, 1);
    }
    if (next + near < tally->touched_count) {
        past = tally_past_at(tally, tally->touched[next + near].group);
        if (past->series.count)
            __builtin_prefetch(&past->series.samples[past->series.count - 1], 1);
        if (past->cohorts.count)
            __builtin_prefetch(&past->cohorts.rows[past->cohorts.count - 1], 1);
    }
}

static void era_end(struct tally *tally)
{
    for (size_t i = 0; i < tally->touched_count; i++) {
        era_end_soon(tally, i);
        if (!group_era_end(tally, &tally->touched[i]))
            tally->has_failed = true;
    }
    tally->touched_count = 0;
    if (!era_begin(tally, tally->era + 1))
        tally->has_failed = true;
    tally->epoch++;
}

static void ledgers_step_end(struct tally *tally, struct step *step)
{
    step->first_row = tally->step_rows.count;
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        struct ledger *ledger = &tally->ledgers[i];
        struct step_row *row = table_add(&tally->step_rows);

        if (!row) {
            tally->has_failed = true;
            return;
        }
        *row = (struct step_row){.ledger = (uint16_t)i,
                                 .end_bytes = ledger->live_bytes,
                                 .end_count = ledger->live_count,
                                 .peak_bytes = ledger->step_peak_bytes,
                                 .reserved_bytes = ledger->reserved_bytes,
                                 .alloc_bytes = ledger->alloc_bytes - ledger->era_alloc_bytes,
                                 .alloc_count = ledger->alloc_count - ledger->era_alloc_count};
        memcpy(row->phase_peaks_bytes, ledger->phase_peaks_bytes, sizeof(row->phase_peaks_bytes));
        memset(ledger->phase_peaks_bytes, 0, sizeof(ledger->phase_peaks_bytes));
        ledger->era_alloc_bytes = ledger->alloc_bytes;
        ledger->era_alloc_count = ledger->alloc_count;
        step->row_count++;
    }
}

static void step_end(struct tally *tally, uint64_t time_ns)
{
    struct step *step = tally->open_step;

    step->is_ended = true;
    step->end_ns = time_ns;
    tally_phase_set(tally, PHASE_OTHER);
    tally_passes_begin(tally);
    era_end(tally);
    ledgers_step_end(tally, step);
    tally->processes[tally->process].ended_step_count = step->index;
    tally->open_step = NULL;
}

static void step_begin(struct tally *tally, const struct event *event)
{
    struct tally_process *process = &tally->processes[tally->process];
    struct step *step;

    if (tally->open_step)
        step_end(tally, event->time_ns);
    if (!process->step_count)
        era_end(tally);
    step = table_add(&tally->steps);
    if (!step) {
        tally->has_failed = true;
        return;
    }
    *step = (struct step){.process = tally->process,
                          .index = ++process->step_count,
                          .number = event->value,
                          .begin_ns = event->time_ns};
    tally->open_step = step;
    tally_passes_begin(tally);
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        struct ledger *ledger = &tally->ledgers[i];

        ledger_stretch_end(ledger, tally->phase.now);
        ledger->step_peak_bytes = ledger->live_bytes;
        memset(ledger->phase_peaks_bytes, 0, sizeof(ledger->phase_peaks_bytes));
    }
    tally->phase.now = PHASE_OTHER;
    if (tally->phase.by_range) /* a range over several steps */
        tally_phase_set(tally, tally->phase.by_range);
}

/* To be looked at as a whole at every step end, in builds that do. Sizes that cannot be are a
 * damaged file's, and sums that went round the end of their numbers are no mistake of ours. */
static bool tally_is_small(const struct tally *tally)
{
    return !tally->has_failed && !tally->has_huge && tally->group_count <= 256 &&
           live_set_count(&tally->live) <= 256 && tally->steps.count <= 256;
}

static void pass_over(struct tally *tally, uint64_t number)
{
    tally->processes[tally->process].passed_step_count++;
    tally->passed_step = number;
}

/* As if it had not begun: what was made in it counts with the next. */
static void take_back(struct tally *tally)
{
    pass_over(tally, tally->open_step->number);
    tally->processes[tally->process].step_count--;
    tally->steps.count--;
    tally->open_step = NULL;
}

void tally_pause(struct tally *tally, bool is_paused)
{
    tally_settle(tally);
    tally->is_paused = is_paused;
    if (is_paused && tally->open_step)
        take_back(tally);
}

void tally_step_event(struct tally *tally, const struct event *event)
{
    tally_settle(tally);
    if (event->kind == EVENT_STEP_BEGIN && tally->is_paused)
        pass_over(tally, event->value);
    else if (event->kind == EVENT_STEP_BEGIN)
        step_begin(tally, event);
    else if (tally->passed_step && tally->passed_step == event->value)
        tally->passed_step = 0;
    else if (tally->open_step && tally->open_step->number == event->value)
        step_end(tally, event->time_ns);
    else
        tally->counts.unmatched_ends++;
    if (MT_ASSERTS && tally_is_small(tally))
        tally_check(tally);
}

void tally_process_begin(struct tally *tally, uint16_t process)
{
    if (!list_reach(&tally->processes, &tally->process_count, process, sizeof(*tally->processes))) {
        tally->has_failed = true;
        return;
    }
    tally->processes[process].first_step =
        tally->steps.count - tally->processes[process].step_count;
    tally->process = process;
    tally->has_process = true;
    if (!era_begin(tally, 0))
        tally->has_failed = true;
    tally->process_first_ledger = tally->ledger_count;
    tally->phase.now = tally->phase.by_range = PHASE_OTHER;
    tally->is_paused = false;
    tally->passed_step = 0;
    tally_passes_begin(tally);
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Of those born in one step, that with the lowest address, so that an answer does not depend on how
 * the set is laid out. */
static void keep_example(void *context, const struct live_block *block)
{
    struct tally *tally = context;
    uint32_t middle = tally->processes[tally->process].ended_step_count / 2;
    struct group_past *past = tally_past_for(tally, block->group);
    uint32_t era = tally_era_of(tally, tally_birth_of(tally, block)), old, new;

    if (!past)
        return;
    old = distance(past->example_birth, middle);
    new = distance(era, middle);
    if (past->example_address &&
        (old < new || (old == new && past->example_address <= block->address)))
        return;
    past->example_birth = era;
    past->example_address = block->address;
    past->example_bytes = block->size_bytes;
}

/* What is left alive stays counted in groups and ledgers; the addresses mean nothing any more. */
void tally_process_end(struct tally *tally)
{
    if (!tally->has_process)
        return;
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++)
        ledger_stretch_end(&tally->ledgers[i], tally->phase.now);
    tally_layers_settle(tally);
    if (MT_ASSERTS && tally_is_small(tally))
        tally_check(tally);
    tally->processes[tally->process].live_count = live_set_count(&tally->live);
    tally->left_count += live_set_count(&tally->live);
    tally->processes[tally->process].epoch = tally->epoch;
    if (tally->adds_up)
        live_set_each(&tally->live, keep_example, tally);
    for (size_t i = 0; i < tally->touched_count; i++)
        tell_ledger(tally, group_at(tally, tally->touched[i].group), &tally->touched[i]);
    tally->touched_count = 0;
    tally->open_step = NULL;
    tally->has_process = false;
    tally->disorder_until_ns = 0;
    live_set_clear(&tally->live);
    tally_layers_release(tally);
    tally->order.is_kept = false;
    memset(tally->disorders, 0, sizeof(tally->disorders));
    memset(tally->group_cache, 0, sizeof(tally->group_cache));
}
