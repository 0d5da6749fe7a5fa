/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_rows.h"

#include <stdlib.h>

#include "hash.h"
#include "ledger_layers.h"
#include "list.h"
#include "thresholds.h"

struct group_state {
    uint64_t alive_bytes;
    uint32_t row;    /* + 1; 0: not asked yet; NOT_JUDGED */
    uint16_t traits; /* where the row is not 0 */
};

static const uint32_t not_judged = UINT32_MAX;

/* --- from groups to stacks ------------------------------------------------------------------- */

/* Of blocks without a site. */
static uint64_t name_without_site(const struct group_detail *detail)
{
    return hash_pair(hash_pair(detail->operator_text, detail->owner_text), detail->size_class);
}

static void row_is_of(const struct question *question, struct survivor_row *row, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    row->who_group = row->most_group = group;
    row->name = 0;
    row->who =
        (struct who){detail->site, detail->operator_text, detail->owner_text, detail->size_class};
}

static struct survivor_row row_for(const struct question *question, uint32_t group, uint16_t ledger,
                                   unsigned traits)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    struct survivor_row row = {
        .ledger = ledger,
        .heap = detail->site ? ledger_of_heap(question_ledgers(question), ledger) : ledger,
        .traits = (uint16_t)traits,
    };

    row_is_of(question, &row, group);
    return row;
}

/* Number + 1; 0: there is none. */
static uint32_t row_find(const struct survivor_rows *rows, uint64_t key)
{
    size_t probe = 0;
    uint32_t number;

    while (hash_index_next(&rows->index, key, &probe, &number))
        if (((const struct survivor_row *)table_at(&rows->table, number))->key == key)
            return number + 1;
    return 0;
}

/* Its number + 1; not_judged without memory. */
static uint32_t row_add(struct survivor_rows *rows, uint64_t key, const struct survivor_row *values)
{
    struct survivor_row *row = hash_index_add_row(&rows->index, key, &rows->table);

    if (!row) {
        rows->has_failed = true;
        return not_judged;
    }
    *row = *values;
    row->key = key;
    return (uint32_t)rows->table.count;
}

static bool is_judged(const struct survivor_rows *rows, uint16_t ledger)
{
    return ledger_is_judged(tally_ledger_at(rows->question->tally, ledger));
}

static bool is_of_objects(const struct question *question, uint16_t ledger)
{
    uint32_t pool = tally_ledger_at(question->tally, ledger)->pool;

    return model_pool_at(question->model, pool)->id == POOL_PYTHON;
}

/* The row of the stack that the group is of. */
static uint32_t group_row(struct survivor_rows *rows, uint32_t group, uint16_t ledger,
                          struct symbols_shape shape)
{
    const struct group_detail *detail = tally_detail_at(rows->question->tally, group);
    uint64_t none = detail->site ? 0 : name_without_site(detail);
    uint64_t key = hash_pair(hash_pair(shape.shape, none), ledger);
    uint32_t row = row_find(rows, key);
    struct survivor_row values;

    if (row)
        return row;
    values = row_for(rows->question, group, ledger, shape.traits);
    return row_add(rows, key, &values);
}

static void group_begin(struct survivor_rows *rows, uint32_t group, uint16_t ledger)
{
    const struct question *question = rows->question;
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    struct symbols_shape shape = symbols_shape_of(question->symbols, detail->site);

    rows->groups[group].traits = (uint16_t)shape.traits;
    rows->current.hides_objects |= (shape.traits & STACK_IS_POOLED) != 0;
    rows->current.lacks_names |= (shape.traits & STACK_IS_UNNAMED) != 0;
    rows->current.sees_objects |= is_of_objects(question, ledger);
    if (detail->is_older || shape.traits & STACK_IS_ENDING || !is_judged(rows, ledger))
        rows->groups[group].row = not_judged;
    else
        rows->groups[group].row = group_row(rows, group, ledger, shape);
}

/* --- reading --------------------------------------------------------------------------------- */

static void process_begin(struct survivor_rows *rows, uint64_t first_index)
{
    rows->current = (struct survivor_current){.has_begun = true, .first_index = first_index};
}

void survivor_rows_settle(struct survivor_rows *rows)
{
    for (size_t i = 0; i < survivor_row_count(rows); i++)
        overdue_settle(&survivor_row_at(rows, i)->stack);
}

/* Of an import, what of all kinds was loaded is one row. */
static bool is_plain(const struct survivor_row *row)
{
    return row->traits & STACK_IS_PLAIN && !(row->traits & STACK_IS_IMPORT);
}

/* What went until now went before the last collection began. */
static void see_let_go(struct survivor_rows *rows)
{
    for (size_t i = 0; i < survivor_row_count(rows); i++) {
        struct survivor_row *row = survivor_row_at(rows, i);
        uint64_t count = overdue_let_go(&row->stack);

        if (!is_plain(row))
            rows->current.interpreter_end.referrers += count;
        if (row->traits & STACK_IS_CONTAINER)
            rows->current.interpreter_end.containers += count;
    }
}

static void see_end(struct survivor_rows *rows, enum interpreter_event event)
{
    if (event == INTERPRETER_HANDLED)
        see_let_go(rows);
    for (size_t i = 0; event == INTERPRETER_COLLECTS && i < survivor_row_count(rows); i++)
        overdue_swept(&survivor_row_at(rows, i)->stack);
}

/* Which time of the process it is. What threads without Python frames ask of a device, as a
 * backward pass does, is work as well: an interpreter that ends asks for nothing there. */
static void see_time(struct survivor_rows *rows, unsigned traits, bool is_on_device)
{
    struct survivor_current *current = &rows->current;

    if (traits & STACK_IS_CLEANUP && !current->is_cleaned_up) {
        survivor_rows_settle(rows);
        current->is_cleaned_up = true;
    }
    if (traits & STACK_TELLS_END)
        see_end(rows, interpreter_end_born(&current->interpreter_end, traits));
    if (traits & STACK_IS_ENDING) {
        current->ending_ns = current->ending_ns ? current->ending_ns : current->now.time_ns;
        return;
    }
    current->ends.any = current->now;
    if (is_on_device)
        current->ends.device = current->now;
    if (traits & STACK_IS_PYTHON)
        current->ends.python = current->now;
}

/* The time since the birth before is of the import. */
static void now_is(struct survivor_moment *now, uint32_t births, uint64_t time_ns, unsigned traits)
{
    if (traits & STACK_IS_IMPORT) {
        now->imported++;
        now->import_ns += now->births && time_ns > now->time_ns ? time_ns - now->time_ns : 0;
    }
    now->births = births;
    now->time_ns = time_ns;
}

static void tide_rise(struct survivor_tide *tide, uint64_t bytes)
{
    tide->alive_bytes += bytes;
    if (tide->alive_bytes > tide->high_bytes)
        tide->high_bytes = tide->alive_bytes;
}

static void tide_fall(struct survivor_tide *tide, uint64_t bytes)
{
    tide->alive_bytes -= bytes;
    if (tide->high_bytes - tide->alive_bytes > tide->fall_bytes)
        tide->fall_bytes = tide->high_bytes - tide->alive_bytes;
}

/* Takes the row over where it has more than the one that had most, when that was born last. */
static void row_born(struct survivor_row *row, uint32_t group, uint64_t alive_bytes)
{
    if (row->most_group != group && alive_bytes <= row->most_bytes)
        return;
    row->most_group = group;
    row->most_bytes = alive_bytes;
}

/* In the process's own memory. */
static uint64_t held_bytes(const struct survivor_rows *rows, const struct survivor_change *change)
{
    return ledger_is_of_process(tally_ledger_at(rows->question->tally, change->ledger))
               ? change->size_bytes
               : 0;
}

static void born(struct survivor_rows *rows, const struct survivor_change *change)
{
    struct survivor_current *current = &rows->current;
    uint32_t clock = (uint32_t)(change->index - current->first_index);
    struct group_state *group = &rows->groups[change->group];

    clock_samples_put(&current->times, clock, change->time_ns);
    clock_samples_put(&current->asked, clock, current->asked_bytes);
    if (is_judged(rows, change->ledger)) /* address space is no memory */
        current->asked_bytes += change->size_bytes;
    if (!group->row)
        group_begin(rows, change->group, change->ledger);
    now_is(&current->now, clock + 1, change->time_ns, group->traits);
    see_time(rows, group->traits,
             tally_ledger_at(rows->question->tally, change->ledger)->device >= 0);
    collector_watch_born(&current->collector, group->traits, clock);
    tide_rise(&rows->tides[change->ledger], change->size_bytes);
    unseen_watch_born(&rows->unseen, change->ledger, change->time_ns, change->size_bytes);
    block_rise_born(&current->rise, change->time_ns, held_bytes(rows, change));
    if (group->row != not_judged) {
        struct survivor_row *stack = table_at(&rows->table, group->row - 1);

        group->alive_bytes += change->size_bytes;
        row_born(stack, change->group, group->alive_bytes);
        if (!stack->stack.births) {
            stack->first_ns = change->time_ns;
            stack->first_bytes = change->size_bytes;
        }
        stack->newest = current->now;
        stack->went_first.births = stack->went_last.births = 0;
        rows->has_failed |= !overdue_born(&stack->stack, clock, change->size_bytes);
        stack->alive_at_newest_bytes = stack->stack.alive_bytes;
    }
}

static void row_gone(struct survivor_row *row, const struct survivor_moment *now, uint64_t time_ns)
{
    uint64_t few_bytes = row->alive_at_newest_bytes / FEW_SHARE;

    if (row->stack.alive_bytes > row->alive_at_newest_bytes - few_bytes || row->went_last.births)
        return;
    if (!row->went_first.births) {
        row->went_first = *now;
        row->went_first.time_ns = time_ns;
    }
    if (row->stack.alive_bytes <= few_bytes) {
        row->went_last = *now;
        row->went_last.time_ns = time_ns;
    }
}

static void gone(struct survivor_rows *rows, const struct survivor_change *change)
{
    struct survivor_current *current = &rows->current;
    struct group_state *group = &rows->groups[change->group];

    tide_fall(&rows->tides[change->ledger], change->size_bytes);
    unseen_watch_gone(&rows->unseen, change->ledger, change->time_ns, change->size_bytes);
    block_rise_gone(&current->rise, change->time_ns, held_bytes(rows, change));
    if (group->row && group->row != not_judged) {
        struct survivor_row *stack = table_at(&rows->table, group->row - 1);

        group->alive_bytes -= change->size_bytes;
        if (stack->most_group == change->group)
            stack->most_bytes = group->alive_bytes;
        rows->has_failed |= !overdue_gone(
            &stack->stack, (uint32_t)(change->index - current->first_index), current->now.births,
            change->size_bytes, interpreter_end_is_sweeping(&current->interpreter_end));
        row_gone(stack, &current->now, change->time_ns);
    }
}

static void apply(struct survivor_rows *rows, const struct survivor_change *change)
{
    if (change->is_death)
        gone(rows, change);
    else
        born(rows, change);
}

/* --- changes that wait ------------------------------------------------------------------------ */

/*
 * A change needs three places of memory, each of which says where the next one is: the state of its
 * group, the row of that, and what the row keeps of its births. Of many rows none is in a cache:
 * they are asked for one after the other, some changes apart.
 */
enum { WIDE_ROWS = 1 << 13, ROW_AFTER = 10, BIRTHS_AFTER = 20 };

static const struct survivor_change *change_before(const struct survivor_queue *queue, uint32_t age)
{
    return &queue->changes[(queue->head - 1 - age) % SURVIVOR_CHANGES_MOST];
}

/* The row of the change that came so long ago; NULL: it has none yet. */
static const struct survivor_row *row_before(const struct survivor_rows *rows, uint32_t age)
{
    const struct survivor_change *change = change_before(&rows->queue, age);
    uint32_t row = rows->groups[change->group].row;

    return row && row != not_judged ? table_at(&rows->table, row - 1) : NULL;
}

static void prefetch(const struct survivor_rows *rows)
{
    const struct survivor_row *row;

    __builtin_prefetch(&rows->groups[change_before(&rows->queue, 0)->group], 1);
    row = rows->queue.count > ROW_AFTER ? row_before(rows, ROW_AFTER) : NULL;
    if (row) {
        __builtin_prefetch(&row->most_group, 1);
        __builtin_prefetch(&row->stack, 1);
        __builtin_prefetch(&row->stack.alive_at_birth_bytes, 1);
    }
    row = rows->queue.count > BIRTHS_AFTER ? row_before(rows, BIRTHS_AFTER) : NULL;
    if (row)
        overdue_prefetch(&row->stack);
}

void survivor_rows_catch_up(struct survivor_rows *rows)
{
    struct survivor_queue *queue = &rows->queue;

    for (; queue->count; queue->count--)
        apply(rows, change_before(queue, queue->count - 1));
}

static void change_put(struct survivor_rows *rows, const struct survivor_change *change)
{
    struct survivor_queue *queue = &rows->queue;

    if (survivor_row_count(rows) < WIDE_ROWS) {
        apply(rows, change);
        return;
    }
    if (queue->count == SURVIVOR_CHANGES_MOST) {
        apply(rows, change_before(queue, SURVIVOR_CHANGES_MOST - 1));
        queue->count--;
    }
    queue->changes[queue->head++ % SURVIVOR_CHANGES_MOST] = *change;
    queue->count++;
    prefetch(rows);
}

bool survivor_rows_born(struct survivor_rows *rows, const struct life *life)
{
    rows->has_failed |=
        !list_reach(&rows->groups, &rows->group_count, life->group, sizeof(*rows->groups));
    if (rows->has_failed)
        return false;
    if (!rows->current.has_begun)
        process_begin(rows, life->index);
    if (life->index - rows->current.first_index >= UINT32_MAX) /* as if it had been cut here */
        return true;
    change_put(rows, &(struct survivor_change){.index = life->index,
                                               .time_ns = life->born_ns,
                                               .size_bytes = life->size_bytes,
                                               .group = life->group,
                                               .ledger = life->ledger});
    return !rows->has_failed;
}

bool survivor_rows_over(struct survivor_rows *rows, const struct life *life)
{
    if (!life->freed_event || life->group >= rows->group_count ||
        life->index - rows->current.first_index >= UINT32_MAX)
        return true;
    change_put(rows, &(struct survivor_change){.index = life->index,
                                               .time_ns = life->freed_ns,
                                               .size_bytes = life->size_bytes,
                                               .group = life->group,
                                               .ledger = life->ledger,
                                               .is_death = true});
    return !rows->has_failed;
}

/* From the first refusal of an episode on nothing is as before: an allocator that gets no more
 * arenas asks elsewhere, and blocks of one line come from another pool. */
bool survivor_rows_refused(struct survivor_rows *rows, const struct event *event)
{
    struct survivor_current *current = &rows->current;

    if (!current->has_begun || refusal_is_too_much(rows->question->model, event) ||
        !refusal_episode_add(&current->refused, event->time_ns, 1))
        return true;
    survivor_rows_catch_up(rows);
    current->refused_ends = current->ends;
    return !rows->has_failed;
}

/* --- of a process ---------------------------------------------------------------------------- */

static struct survivor_moment last_of(const struct work_ends *ends)
{
    if (!ends->python.births)
        return ends->any;
    return ends->device.births > ends->python.births ? ends->device : ends->python;
}

void survivor_rows_end_work(struct survivor_rows *rows, uint16_t process)
{
    struct survivor_current *current = &rows->current;

    if (current->refused.weight && refusal_ended(question_ledgers(rows->question), process))
        current->work_end = last_of(&current->refused_ends);
    else
        current->work_end = last_of(&current->ends);
}

static struct survivor_span span_between(const struct survivor_moment *from,
                                         const struct survivor_moment *to)
{
    struct survivor_span span = {0};

    if (to->births > from->births)
        span.births = to->births - from->births - (to->imported - from->imported);
    if (to->time_ns > from->time_ns + (to->import_ns - from->import_ns))
        span.time_ns = to->time_ns - from->time_ns - (to->import_ns - from->import_ns);
    return span;
}

bool survivor_row_is_given_back(const struct survivor_rows *rows, const struct survivor_row *row)
{
    return row->went_last.births && row->went_last.time_ns < rows->current.work_end.time_ns;
}

struct survivor_span survivor_row_rest(const struct survivor_rows *rows,
                                       const struct survivor_row *row)
{
    const struct survivor_moment *end = &rows->current.work_end;
    struct survivor_span before, after;

    if (!survivor_row_is_given_back(rows, row))
        return span_between(&row->newest, end);
    before = span_between(&row->newest, &row->went_first);
    after = span_between(&row->went_last, end);
    return (struct survivor_span){
        .births = before.births > after.births ? before.births : after.births,
        .time_ns = before.time_ns > after.time_ns ? before.time_ns : after.time_ns,
    };
}

struct survivor_span survivor_row_lasted(const struct survivor_row *row)
{
    return (struct survivor_span){.births = row->stack.last - row->stack.first,
                                  .time_ns = row->newest.time_ns - row->first_ns};
}

struct survivor_row *survivor_row_settled(const struct survivor_rows *rows, size_t at)
{
    struct survivor_row *row = survivor_row_at(rows, at);

    if (row->who_group != row->most_group)
        row_is_of(rows->question, row, row->most_group);
    row->is_reserved = group_is_reserved(rows->question, row->who_group);
    return row;
}

uint64_t survivor_row_name(const struct survivor_rows *rows, struct survivor_row *row)
{
    const struct question *question = rows->question;

    if (!row->name)
        row->name = row->who.site
                        ? symbols_site_key(question->symbols, row->who.site)
                        : name_without_site(tally_detail_at(question->tally, row->who_group));
    return row->name;
}

static void stacks_release(struct survivor_rows *rows)
{
    for (size_t i = 0; i < survivor_row_count(rows); i++)
        overdue_release(&survivor_row_at(rows, i)->stack);
}

void survivor_rows_next_process(struct survivor_rows *rows)
{
    stacks_release(rows);
    rows->first = rows->table.count;
    rows->current = (struct survivor_current){.has_begun = false};
}

/* --- from outside ---------------------------------------------------------------------------- */

bool survivor_rows_init(struct survivor_rows *rows, const struct question *question)
{
    const struct tally *ledgers = question_ledgers(question);

    *rows = (struct survivor_rows){.question = question,
                                   .group_count = tally_group_count(question->tally)};
    arena_init(&rows->arena);
    table_init(&rows->table, &rows->arena, sizeof(struct survivor_row));
    hash_index_init(&rows->index);
    rows->groups = calloc(rows->group_count, sizeof(*rows->groups));
    rows->tides = calloc(tally_ledger_count(ledgers) + 1, sizeof(*rows->tides));
    if (rows->groups && rows->tides && unseen_watch_init(&rows->unseen, ledgers))
        return true;
    survivor_rows_release(rows);
    return false;
}

void survivor_rows_release(struct survivor_rows *rows)
{
    stacks_release(rows);
    hash_index_release(&rows->index);
    arena_release(&rows->arena);
    unseen_watch_release(&rows->unseen);
    free(rows->groups);
    free(rows->tides);
}
