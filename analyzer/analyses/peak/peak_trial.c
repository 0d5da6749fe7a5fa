/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries what a peak would be without some of its blocks.
 *
 * First, where accesses were recorded, one reading tells when the blocks of the tried sites were
 * first and last used. A second one adds up the curve of each ledger as it is, less what each
 * trial takes away, and keeps the highest point of each. What is used later, or no longer, waits
 * in a heap for its time.
 */
#include "peak_trial.h"

#include <stdlib.h>
#include <string.h>

#include "block_uses.h"
#include "heap.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "ledger_order.h"
#include "list.h"

/* The uses of one block. */
struct span {
    uint64_t index; /* of the life */
    uint64_t first_ns, last_ns;
    bool is_used;
};

/* A used block comes, or goes. */
struct change {
    uint64_t time_ns;
    uint64_t size_bytes;
    uint16_t place; /* ledger * TRIALS_MOST + trial */
    bool is_end;
};

struct curve {
    uint64_t live_bytes;
    uint64_t trial_bytes[TRIALS_MOST]; /* alive of each trial */
    uint64_t used_bytes[TRIALS_MOST];  /* and in use */
    bool is_peak_behind;
    uint64_t peak_index;
};

struct trial_curves {
    const struct question *question;
    struct trials *trials;
    struct curve curves[TRIAL_LEDGERS_MOST];
    uint8_t *trial_of_group; /* trial + 1 */
    struct span *spans;
    size_t span_count, span_capacity, next_span;
    struct change *heap; /* earliest first; beginnings before ends */
    size_t heap_count, heap_capacity;
    bool has_failed, has_too_many;
};

/* --- which sites ---------------------------------------------------------------------------- */

static int trial_compare(const void *left, const void *right)
{
    const struct trial *a = left, *b = right;

    if (a->held.bytes != b->held.bytes)
        return a->held.bytes > b->held.bytes ? -1 : 1;
    return (a->origin > b->origin) - (a->origin < b->origin);
}

/* The largest few, in order. */
static void keep_largest(struct peak_trials *ledger, struct trial trial)
{
    size_t at = ledger->count;

    while (at > 0 && trial_compare(&trial, &ledger->trials[at - 1]) < 0)
        at--;
    if (at == TRIALS_MOST)
        return;
    if (ledger->count < TRIALS_MOST)
        ledger->count++;
    memmove(&ledger->trials[at + 1], &ledger->trials[at], (ledger->count - 1 - at) * sizeof(trial));
    ledger->trials[at] = trial;
}

static void choose_sites(const struct question *question, struct trials *trials,
                         struct peak_trials *ledger)
{
    const struct ledger *row = tally_ledger_at(question->tally, ledger->ledger);

    ledger->counts_steps = row->peak_step > 0;
    for (size_t i = 0; i < trials->origins.count; i++) {
        const struct origin *origin = &trials->origins.rows[i];
        struct trial trial = {.origin = origin};

        if (origin->ledger != ledger->ledger)
            continue;
        trial.held = origin_at_peak(question->tally, origin);
        if (trial.held.bytes)
            keep_largest(ledger, trial);
    }
}

static bool choose(struct trial_curves *running)
{
    const struct question *question = running->question;
    struct trials *trials = running->trials;
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    running->trial_of_group = calloc(tally_group_count(question->tally) + 1, 1);
    if (!order || !running->trial_of_group ||
        !origins_init_of(&trials->origins, question, ORIGINS_BY_OPERATOR, group_is_own)) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < count && trials->count < TRIAL_LEDGERS_MOST; i++) {
        struct peak_trials *ledger = &trials->ledgers[trials->count];

        if (!ledger_matters(question->tally, order[0], order[i]))
            continue;
        ledger->ledger = order[i];
        choose_sites(question, trials, ledger);
        for (size_t k = 0; k < ledger->count; k++)
            for (size_t g = 0; g < ledger->trials[k].origin->group_count; g++)
                running->trial_of_group[ledger->trials[k].origin->groups[g]] = (uint8_t)(k + 1);
        trials->count++;
    }
    free(order);
    return true;
}

static struct peak_trials *ledger_find(const struct trial_curves *running, uint16_t ledger,
                                       size_t *index)
{
    for (size_t i = 0; i < running->trials->count; i++) {
        if (running->trials->ledgers[i].ledger != ledger)
            continue;
        *index = i;
        return &running->trials->ledgers[i];
    }
    return NULL;
}

/* --- when blocks are used ------------------------------------------------------------------- */

static bool note_use(void *context, const struct life *life, const struct block_use *use)
{
    struct trial_curves *running = context;

    if (!running->trial_of_group[life->group])
        return true;
    if (running->span_count == TRIAL_USES_MOST) {
        running->has_too_many = true;
        return false;
    }
    if (!list_has_room(&running->spans, &running->span_capacity, running->span_count,
                       sizeof(*running->spans))) {
        running->has_failed = true;
        return false;
    }
    running->spans[running->span_count++] =
        use->count ? (struct span){life->index, use->first.time_ns, use->last.time_ns, true}
                   : (struct span){life->index, life->born_ns, life->freed_ns, false};
    return true;
}

static int span_compare(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return (a->index > b->index) - (a->index < b->index);
}

static enum mt_result find_uses(struct trial_curves *running, struct mt_error *error)
{
    struct use_visitor visitor = {running, note_use};
    enum mt_result result;

    if (!uses_are_known(running->question->tally))
        return MT_OK;
    result = uses_read(running->question, &visitor, &running->trials->missed_count, error);
    if (result != MT_OK)
        return result;
    if (running->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the uses of blocks");
    if (running->span_count)
        qsort(running->spans, running->span_count, sizeof(*running->spans), span_compare);
    if (running->has_too_many)
        running->span_count = 0;
    return MT_OK;
}

/* --- the curve again ------------------------------------------------------------------------ */

static bool comes_first(const void *row, const void *other)
{
    const struct change *a = row, *b = other;

    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : !a->is_end && b->is_end;
}

static bool heap_push(struct trial_curves *running, struct change change)
{
    if (!list_has_room(&running->heap, &running->heap_capacity, running->heap_count,
                       sizeof(*running->heap)))
        return false;
    running->heap[running->heap_count] = change;
    heap_sift_up(running->heap, sizeof(*running->heap), running->heap_count++, comes_first);
    return true;
}

static struct change heap_pop(struct trial_curves *running)
{
    struct change first = running->heap[0];

    running->heap[0] = running->heap[--running->heap_count];
    if (running->heap_count)
        heap_sift_down(running->heap, running->heap_count, sizeof(*running->heap), 0, comes_first);
    return first;
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    if (value > *highest)
        *highest = value;
}

/* The peak of each trial can only have risen now. */
static void compare_peaks(struct peak_trials *ledger, const struct curve *curve)
{
    uint64_t all_bytes = 0;

    for (size_t i = 0; i < ledger->count; i++) {
        struct trial *trial = &ledger->trials[i];
        uint64_t without_bytes = curve->live_bytes - curve->trial_bytes[i];

        all_bytes += curve->trial_bytes[i];
        raise_to(&trial->without_bytes, without_bytes);
        raise_to(&trial->without_all_bytes, curve->live_bytes - all_bytes);
        raise_to(&trial->used_bytes, without_bytes + curve->used_bytes[i]);
    }
}

/* What comes into use, or goes out of it, before this time; beginnings also at it. */
static void settle(struct trial_curves *running, uint64_t time_ns)
{
    while (running->heap_count &&
           (running->heap[0].time_ns < time_ns ||
            (running->heap[0].time_ns == time_ns && !running->heap[0].is_end))) {
        struct change change = heap_pop(running);
        size_t ledger = change.place / TRIALS_MOST, trial = change.place % TRIALS_MOST;
        struct curve *curve = &running->curves[ledger];

        if (change.is_end)
            curve->used_bytes[trial] -= change.size_bytes;
        else
            curve->used_bytes[trial] += change.size_bytes;
        raise_to(&running->trials->ledgers[ledger].trials[trial].used_bytes,
                 curve->live_bytes - curve->trial_bytes[trial] + curve->used_bytes[trial]);
    }
}

static void plan_use(struct trial_curves *running, const struct life *life, size_t ledger,
                     size_t trial)
{
    uint16_t place = (uint16_t)(ledger * TRIALS_MOST + trial);
    const struct span *span;

    while (running->next_span < running->span_count &&
           running->spans[running->next_span].index < life->index)
        running->next_span++;
    if (running->next_span == running->span_count ||
        running->spans[running->next_span].index != life->index)
        return;
    span = &running->spans[running->next_span];
    running->trials->ledgers[ledger].has_uses |= span->is_used;
    running->has_failed |=
        !heap_push(running, (struct change){span->first_ns, life->size_bytes, place, false}) ||
        !heap_push(running, (struct change){span->last_ns, life->size_bytes, place, true});
}

static bool on_born(void *context, const struct life *life)
{
    struct trial_curves *running = context;
    size_t index = 0, trial = running->trial_of_group[life->group];
    struct peak_trials *ledger = ledger_find(running, life->ledger, &index);
    struct curve *curve;

    if (!ledger)
        return true;
    curve = &running->curves[index];
    settle(running, life->born_ns);
    curve->live_bytes += life->size_bytes;
    if (trial) {
        curve->trial_bytes[trial - 1] += life->size_bytes;
        if (running->span_count)
            plan_use(running, life, index, trial - 1);
        settle(running, life->born_ns);
    }
    compare_peaks(ledger, curve);
    if (!curve->is_peak_behind &&
        curve->live_bytes == tally_ledger_at(running->question->tally, life->ledger)->peak_bytes) {
        curve->is_peak_behind = true;
        curve->peak_index = life->index;
    }
    return !running->has_failed;
}

static unsigned size_class(uint64_t size_bytes)
{
    unsigned class = 0;

    while (class < SIZE_CLASSES - 1 && (UINT64_C(1) << class) < size_bytes)
        class ++;
    return class;
}

/* Steps: made in this one, in the one before, 2 to 9 ago, 10 to 99, longer ago, before the first.
 * Without steps, times: below 1 ms, 10 ms, 100 ms, 1 s, 10 s, and longer ago. */
static unsigned age_class(const struct trial_curves *running, const struct peak_trials *ledger,
                          const struct life *life)
{
    const struct ledger *row = tally_ledger_at(running->question->tally, ledger->ledger);
    uint64_t age = row->peak_time_ns - life->born_ns;
    unsigned class = 0;

    if (!ledger->counts_steps) {
        for (uint64_t limit = 1000000; class < AGE_CLASSES - 1 && age >= limit; limit *= 10)
            class ++;
        return class;
    }
    if (life->born_step == 0 && row->peak_step > 0)
        return AGE_CLASSES - 1;
    age = row->peak_step > life->born_step ? row->peak_step - life->born_step : 0;
    return age < 2 ? (unsigned)age : age < 10 ? 2 : age < 100 ? 3 : 4;
}

static void add_to(struct step_sample *sum, uint64_t bytes)
{
    sum->bytes += bytes;
    sum->count++;
}

static bool on_over(void *context, const struct life *life)
{
    struct trial_curves *running = context;
    size_t index = 0, trial = running->trial_of_group[life->group];
    struct peak_trials *ledger = ledger_find(running, life->ledger, &index);
    struct curve *curve;

    if (!ledger)
        return true;
    curve = &running->curves[index];
    if (curve->is_peak_behind && life->index <= curve->peak_index) {
        add_to(&ledger->sizes[size_class(life->size_bytes)], life->size_bytes);
        add_to(&ledger->ages[age_class(running, ledger, life)], life->size_bytes);
    }
    if (life->freed_ns == UINT64_MAX)
        return true;
    settle(running, life->freed_ns);
    curve->live_bytes -= life->size_bytes;
    if (trial)
        curve->trial_bytes[trial - 1] -= life->size_bytes;
    return true;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct trial_curves *running = context;

    (void)process;
    settle(running, UINT64_MAX);
    return true;
}

static void curves_release(struct trials *trials)
{
    if (!trials->curves)
        return;
    free(trials->curves->trial_of_group);
    free(trials->curves->spans);
    free(trials->curves->heap);
    free(trials->curves);
    trials->curves = NULL;
}

enum mt_result trials_begin(struct trials *trials, const struct question *question,
                            struct life_visitor *visitor, struct mt_error *error)
{
    struct trial_curves *running = calloc(1, sizeof(*running));

    memset(trials, 0, sizeof(*trials));
    trials->curves = running;
    if (running) {
        running->question = question;
        running->trials = trials;
    }
    if (!running || !choose(running))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to list sites");
    *visitor = (struct life_visitor){
        .context = running, .born = on_born, .over = on_over, .process_over = on_process_over};
    return find_uses(running, error);
}

/* What no block stands for is there in any case. */
static void add_unseen(const struct question *question, struct peak_trials *ledger)
{
    uint64_t bytes = ledger_figures_of(question, ledger->ledger).unseen_peak_bytes;

    for (size_t i = 0; i < ledger->count; i++) {
        ledger->trials[i].without_bytes += bytes;
        ledger->trials[i].without_all_bytes += bytes;
        ledger->trials[i].used_bytes += bytes;
    }
}

enum mt_result trials_finish(struct trials *trials, struct mt_error *error)
{
    bool has_failed = trials->curves->has_failed;

    for (size_t i = 0; i < trials->count; i++)
        add_unseen(trials->curves->question, &trials->ledgers[i]);
    curves_release(trials);
    return has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for the uses of blocks")
                      : MT_OK;
}

void trials_release(struct trials *trials)
{
    curves_release(trials);
    origins_release(&trials->origins);
}
