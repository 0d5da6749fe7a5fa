/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overdue survivors of all stacks of a recording.
 *
 *   block -> group (tally) -> stack, by shape -> overdue.h
 *                                                   |
 *                      process  <-  origin  <-  judged, when its process is over
 */
#include "survivors.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "clock_times.h"
#include "collector_watch.h"
#include "hash.h"
#include "hash_index.h"
#include "leak_weight.h"
#include "ledger_layers.h"
#include "table.h"

/* Stacks of one shape. It does not know the lines of native functions: the group that has most is
 * whom the row is named after. */
struct stack_row {
    uint64_t key;  /* ledger and shape */
    uint64_t name; /* of its origin */
    struct who who;
    uint32_t named_group, most_group;
    uint64_t most_bytes; /* alive of that group */
    uint16_t ledger;
    uint16_t heap;
    uint16_t traits;
    uint64_t first_ns, last_ns; /* of its births */
    struct overdue_stack stack;
};

/* Of the process that is read. */
struct current {
    bool has_begun, is_ending, is_cleared, is_cleaned_up, hides_objects, sees_objects;
    uint64_t first_index; /* of its births */
    /* Births until the last under Python, of a device, and of any, before the end. */
    uint64_t python_end, device_end, any_end;
    uint32_t clock;
    struct clock_times times;
    struct collector_watch collector;
};

struct group_state {
    uint64_t alive_bytes;
    uint32_t row;    /* + 1; 0: not asked yet; NOT_JUDGED */
    uint16_t traits; /* where the row is not 0 */
};

/* Of a ledger: how far what is alive ever fell, and how much of it is overdue. */
struct tide {
    uint64_t alive_bytes, high_bytes, fall_bytes, stays_bytes;
};

struct survivor_reading {
    const struct question *question;
    struct arena arena;
    struct table rows;       /* struct stack_row */
    struct hash_index index; /* of rows, by key */
    struct group_state *groups;
    size_t group_count;
    struct tide *tides; /* by ledger */
    struct unseen_watch unseen;
    size_t first_row; /* of the process that is read */
    struct current current;
    struct survivor_process *processes; /* that are over; heaviest first */
    size_t process_most;
    struct survivors result;
    bool has_failed;
};

static const uint32_t not_judged = UINT32_MAX;

/* --- from groups to stacks ------------------------------------------------------------------- */

/* Of blocks without a site. */
static uint64_t name_without_site(const struct group_detail *detail)
{
    return hash_pair(hash_pair(detail->operator_text, detail->owner_text), detail->size_class);
}

/* A name is made of all frames of a stack: only for the first group of a row. */
static void row_name(const struct question *question, struct stack_row *row, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    row->named_group = row->most_group = group;
    row->name = detail->site ? symbols_site_key(question->symbols, detail->site)
                             : name_without_site(detail);
    row->who =
        (struct who){detail->site, detail->operator_text, detail->owner_text, detail->size_class};
}

static struct stack_row row_for(const struct question *question, uint32_t group, uint16_t ledger,
                                unsigned traits)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    struct stack_row row = {
        .ledger = ledger,
        .heap = detail->site ? ledger_of_heap(question->tally, ledger) : ledger,
        .traits = (uint16_t)traits,
    };

    row_name(question, &row, group);
    return row;
}

/* Number + 1; 0: there is none. */
static uint32_t row_find(const struct survivor_reading *reading, uint64_t key)
{
    size_t probe = 0;
    uint32_t number;

    while (hash_index_next(&reading->index, key, &probe, &number))
        if (((const struct stack_row *)table_at(&reading->rows, number))->key == key)
            return number + 1;
    return 0;
}

/* Its number + 1; not_judged without memory. */
static uint32_t row_add(struct survivor_reading *reading, uint64_t key,
                        const struct stack_row *values)
{
    uint32_t number = (uint32_t)reading->rows.count;
    struct stack_row *row = table_add(&reading->rows);

    if (!row || !hash_index_add(&reading->index, key, number)) {
        reading->has_failed = true;
        return not_judged;
    }
    *row = *values;
    row->key = key;
    return number + 1;
}

static bool is_judged(const struct survivor_reading *reading, uint16_t ledger)
{
    enum ledger_kind kind = tally_ledger_at(reading->question->tally, ledger)->kind;

    return kind == LEDGER_MEMORY || kind == LEDGER_HOST;
}

static bool is_of_objects(const struct question *question, uint16_t ledger)
{
    uint32_t pool = tally_ledger_at(question->tally, ledger)->pool;

    return model_pool_at(question->model, pool)->id == POOL_PYTHON;
}

/* The row of the stack that the group is of. */
static uint32_t group_row(struct survivor_reading *reading, uint32_t group, uint16_t ledger,
                          struct symbols_shape shape)
{
    const struct group_detail *detail = tally_detail_at(reading->question->tally, group);
    uint64_t none = detail->site ? 0 : name_without_site(detail);
    uint64_t key = hash_pair(hash_pair(shape.shape, none), ledger);
    uint32_t row = row_find(reading, key);
    struct stack_row values;

    if (row)
        return row;
    values = row_for(reading->question, group, ledger, shape.traits);
    return row_add(reading, key, &values);
}

static void group_begin(struct survivor_reading *reading, uint32_t group, uint16_t ledger)
{
    const struct question *question = reading->question;
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    struct symbols_shape shape = symbols_shape_of(question->symbols, detail->site);

    reading->groups[group].traits = (uint16_t)shape.traits;
    reading->current.hides_objects |= (shape.traits & STACK_IS_POOLED) != 0;
    reading->current.sees_objects |= is_of_objects(question, ledger);
    if (detail->is_older || shape.traits & STACK_IS_ENDING || !is_judged(reading, ledger))
        reading->groups[group].row = not_judged;
    else
        reading->groups[group].row = group_row(reading, group, ledger, shape);
}

/* --- reading --------------------------------------------------------------------------------- */

static void process_begin(struct survivor_reading *reading, uint64_t first_index)
{
    reading->current = (struct current){.has_begun = true, .first_index = first_index};
}

/* What was freed until now was not freed because the program ends. */
static void settle_rows(struct survivor_reading *reading)
{
    for (size_t i = reading->first_row; i < reading->rows.count; i++)
        overdue_settle(&((struct stack_row *)table_at(&reading->rows, i))->stack);
}

/* Which time of the process it is. What threads without Python frames ask of a device, as a
 * backward pass does, is work as well: an interpreter that ends asks for nothing there. */
static void see_time(struct survivor_reading *reading, unsigned traits, bool is_on_device)
{
    struct current *current = &reading->current;

    if (traits & STACK_IS_CLEANUP && !current->is_cleaned_up) {
        settle_rows(reading);
        current->is_cleaned_up = true;
    }
    if (traits & STACK_IS_ENDING) {
        current->is_ending = true;
        current->is_cleared |= (traits & STACK_IS_CLEARED) != 0;
        return;
    }
    current->any_end = current->clock;
    if (is_on_device)
        current->device_end = current->clock;
    if (traits & STACK_IS_PYTHON)
        current->python_end = current->clock;
}

/* Births of the process until its work ended. */
static uint32_t work_end(const struct current *current)
{
    if (!current->python_end)
        return (uint32_t)current->any_end;
    return (uint32_t)(current->device_end > current->python_end ? current->device_end
                                                                : current->python_end);
}

static void tide_rise(struct tide *tide, uint64_t bytes)
{
    tide->alive_bytes += bytes;
    if (tide->alive_bytes > tide->high_bytes)
        tide->high_bytes = tide->alive_bytes;
}

static void tide_fall(struct tide *tide, uint64_t bytes)
{
    tide->alive_bytes -= bytes;
    if (tide->high_bytes - tide->alive_bytes > tide->fall_bytes)
        tide->fall_bytes = tide->high_bytes - tide->alive_bytes;
}

/* Takes the row over where it has more than the one that had most, when that was born last. */
static void row_born(struct stack_row *row, uint32_t group, uint64_t alive_bytes)
{
    if (row->most_group != group && alive_bytes <= row->most_bytes)
        return;
    row->most_group = group;
    row->most_bytes = alive_bytes;
}

static bool on_born(void *context, const struct life *life)
{
    struct survivor_reading *reading = context;
    struct current *current = &reading->current;
    struct group_state *group;
    uint32_t clock;

    if (life->group >= reading->group_count)
        return true;
    if (!current->has_begun)
        process_begin(reading, life->index);
    if (life->index - current->first_index >= UINT32_MAX) /* as if it had been cut here */
        return true;
    clock = (uint32_t)(life->index - current->first_index);
    current->clock = clock + 1;
    clock_times_put(&current->times, clock, life->born_ns);
    group = &reading->groups[life->group];
    if (!group->row)
        group_begin(reading, life->group, life->ledger);
    see_time(reading, group->traits,
             tally_ledger_at(reading->question->tally, life->ledger)->device >= 0);
    collector_watch_born(&current->collector, group->traits, clock);
    tide_rise(&reading->tides[life->ledger], life->size_bytes);
    unseen_watch_born(&reading->unseen, life->ledger, life->born_ns, life->size_bytes);
    if (group->row != not_judged) {
        struct stack_row *stack = table_at(&reading->rows, group->row - 1);

        group->alive_bytes += life->size_bytes;
        row_born(stack, life->group, group->alive_bytes);
        if (!stack->stack.births)
            stack->first_ns = life->born_ns;
        stack->last_ns = life->born_ns;
        reading->has_failed |= !overdue_born(&stack->stack, clock, life->size_bytes);
    }
    return !reading->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct survivor_reading *reading = context;
    struct current *current = &reading->current;
    uint64_t born = life->index - current->first_index;
    struct group_state *group;

    if (!life->freed_event || life->group >= reading->group_count || born >= UINT32_MAX)
        return true;
    tide_fall(&reading->tides[life->ledger], life->size_bytes);
    unseen_watch_gone(&reading->unseen, life->ledger, life->freed_ns, life->size_bytes);
    group = &reading->groups[life->group];
    if (group->row && group->row != not_judged) {
        struct stack_row *stack = table_at(&reading->rows, group->row - 1);

        group->alive_bytes -= life->size_bytes;
        if (stack->most_group == life->group)
            stack->most_bytes = group->alive_bytes;
        overdue_gone(&stack->stack, (uint32_t)born, current->clock, life->size_bytes,
                     current->is_ending && !current->is_cleared);
    }
    return true;
}

/* --- what it adds up to ---------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* A stack that allocates to the end. */
struct active_stack {
    uint32_t births, first;
};

static int active_compare(const void *left, const void *right)
{
    const struct active_stack *a = left, *b = right;

    if (a->births != b->births)
        return compare_numbers(a->births, b->births);
    return compare_numbers(a->first, b->first);
}

/* How many of the stacks from this one on have as many births. */
static size_t agreed_at(const struct active_stack *stacks, size_t count, size_t at)
{
    size_t end = at;

    while (end < count && stacks[end].births == stacks[at].births)
        end++;
    return end - at;
}

/*
 * The commonest number of births, of several the greatest: of stacks that allocate once in each
 * turn. least: a smaller number is taken instead, if two stacks have it, as the commonest is of a
 * loop within that one; 0: none.
 */
static void turns_of(struct active_stack *stacks, size_t count, uint32_t least,
                     struct survivor_process *process)
{
    size_t agreed, least_agreed = 0;

    qsort(stacks, count, sizeof(*stacks), active_compare);
    for (size_t i = 0; i < count; i += agreed) {
        agreed = agreed_at(stacks, count, i);
        if (stacks[i].births == least)
            least_agreed = agreed;
        if (agreed < 2 || agreed < process->turns_agreed)
            continue;
        process->turns_agreed = (uint32_t)agreed;
        process->turns = stacks[i].births;
    }
    if (least_agreed > 1 && least < process->turns) {
        process->turns_agreed = (uint32_t)least_agreed;
        process->turns = least;
    }
}

static int first_compare(const void *left, const void *right)
{
    const struct active_stack *a = left, *b = right;

    return compare_numbers(a->first, b->first);
}

/* When half of them had begun. */
static uint32_t middle_first(struct active_stack *stacks, size_t count)
{
    if (!count)
        return 0;
    qsort(stacks, count, sizeof(*stacks), first_compare);
    return stacks[count / 2].first;
}

/* Of those that began about when this one did: others are of another loop, or of imports. */
static size_t keep_loop(struct active_stack *stacks, size_t count, uint32_t first, uint32_t end)
{
    enum { span_parts = 8 };
    uint32_t near = (end - first) / span_parts;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (stacks[i].first + (uint64_t)near >= first && stacks[i].first <= first + (uint64_t)near)
            stacks[kept++] = stacks[i];
    return kept;
}

/* By origin, and the heaviest first. */
static int stack_compare(const void *left, const void *right)
{
    const struct survivor_stack *a = left, *b = right;

    if (a->heap != b->heap)
        return a->heap < b->heap ? -1 : 1;
    if (a->name != b->name)
        return compare_numbers(a->name, b->name);
    if (a->overdue.bytes != b->overdue.bytes)
        return compare_numbers(b->overdue.bytes, a->overdue.bytes);
    return compare_numbers(a->who.site, b->who.site);
}

static int origin_compare(const void *left, const void *right)
{
    const struct survivor_origin *a = left, *b = right;

    if (a->may_go != b->may_go)
        return a->may_go - b->may_go;
    if (a->bytes != b->bytes)
        return compare_numbers(b->bytes, a->bytes);
    return compare_numbers(a->stacks[0].who.site, b->stacks[0].who.site);
}

/* re keeps as many patterns; a program that keeps more of one line keeps them itself. */
static bool is_bounded(const struct survivor_stack *stack)
{
    enum { patterns_most = 512 };

    return stack->traits & STACK_IS_BOUNDED ||
           (stack->traits & STACK_IS_PATTERN && stack->overdue.count <= patterns_most);
}

static void origin_add(struct survivor_origin *origin, const struct survivor_stack *stack)
{
    origin->keeps_all = stack->keeps_all && (origin->keeps_all || !origin->stack_count);
    if (!origin->stack_count++)
        origin->stacks = stack;
    origin->bytes += stack->overdue.bytes;
    origin->count += stack->overdue.count;
    if (is_bounded(stack))
        origin->bounded_bytes += stack->overdue.bytes;
    else if (stack->is_garbage)
        origin->garbage_bytes += stack->overdue.bytes;
    else if (stack->overdue.is_fading)
        origin->fading_bytes += stack->overdue.bytes;
}

/* What stays in pools that take their memory from the origin's ledger. */
static uint64_t bytes_above(const struct tally *tally, const struct survivor_process *process,
                            const struct survivor_origin *origins,
                            const struct survivor_origin *below)
{
    const struct ledger *outer = tally_ledger_at(tally, below->stacks->ledger);
    uint64_t bytes = 0;

    for (size_t i = 0; i < process->origin_count; i++)
        if (ledger_lies_in(tally_model(tally), tally_ledger_at(tally, origins[i].stacks->ledger),
                           outer))
            bytes += origins[i].bytes;
    return bytes;
}

/* A pool that leaks takes ever more segments from the ledger below it: the same leak. */
static void drop_explained(const struct tally *tally, struct survivor_process *process,
                           struct survivor_origin *origins)
{
    bool *is_explained = calloc(process->origin_count + 1, sizeof(*is_explained));
    size_t kept = 0;

    for (size_t i = 0; is_explained && i < process->origin_count; i++) {
        uint64_t bytes = bytes_above(tally, process, origins, &origins[i]);

        is_explained[i] = bytes && bytes >= origins[i].bytes / 2;
    }
    for (size_t i = 0; is_explained && i < process->origin_count; i++)
        if (!is_explained[i])
            origins[kept++] = origins[i];
    process->origin_count = is_explained ? kept : process->origin_count;
    free(is_explained);
}

/* What is collected has handles, which go with it: lighter, and no more of them. */
static void join_garbage(struct survivor_process *process, struct survivor_origin *origins)
{
    uint64_t garbage_bytes = process->garbage_bytes, garbage_count = 0;

    for (size_t i = 0; i < process->origin_count; i++)
        if (origins[i].garbage_bytes)
            garbage_count += origins[i].count;
    for (size_t i = 0; i < process->origin_count; i++) {
        struct survivor_origin *origin = &origins[i];
        uint64_t bytes;

        if (origin->may_go || origin->bytes > garbage_bytes || origin->count > garbage_count)
            continue;
        bytes = origin->bytes - origin->bounded_bytes - origin->garbage_bytes;
        origin->may_go = true;
        origin->garbage_bytes += bytes;
        process->garbage_bytes += bytes;
        process->bytes -= bytes;
    }
}

/* Stacks that are judged, as origins of the process. */
static void process_add(struct survivor_reading *reading, struct survivor_process *process,
                        struct survivor_stack *stacks, size_t count)
{
    struct survivor_origin *origins = arena_alloc(&reading->arena, (count + 1) * sizeof(*origins));

    if (!origins) {
        reading->has_failed = true;
        return;
    }
    qsort(stacks, count, sizeof(*stacks), stack_compare);
    for (size_t i = 0; i < count; i++) {
        if (!i || stacks[i].name != stacks[i - 1].name || stacks[i].heap != stacks[i - 1].heap)
            process->origin_count++;
        origin_add(&origins[process->origin_count - 1], &stacks[i]);
    }
    drop_explained(reading->question->tally, process, origins);
    for (size_t i = 0; i < process->origin_count; i++) {
        struct survivor_origin *origin = &origins[i];

        origin->may_go = origin->bounded_bytes + origin->fading_bytes + origin->garbage_bytes >
                         origin->bytes / 2;
        process->bounded_bytes += origin->bounded_bytes;
        process->garbage_bytes += origin->garbage_bytes;
        if (origin->may_go)
            process->fading_bytes += origin->fading_bytes;
        else
            process->bytes += origin->bytes - origin->bounded_bytes - origin->garbage_bytes;
    }
    join_garbage(process, origins);
    qsort(origins, process->origin_count, sizeof(*origins), origin_compare);
    process->origins = origins;
}

static bool is_kept(const struct stack_row *row, const struct overdue *overdue)
{
    return (overdue->reason == OVERDUE_YES || overdue->is_growing) &&
           !(row->traits & STACK_IS_IMPORT);
}

/* What the judging of a process needs; an entry for each of its rows. */
struct judging {
    struct survivor_stack *stacks; /* that are kept */
    struct survivor_ground *grounds;
    struct active_stack *active;
    bool *is_active;
    size_t stack_count;
};

static bool judging_init(struct survivor_reading *reading, struct judging *judging)
{
    size_t most = reading->rows.count - reading->first_row + 1;

    *judging = (struct judging){
        .stacks = arena_alloc(&reading->arena, most * sizeof(*judging->stacks)),
        .grounds = arena_alloc(&reading->arena, most * sizeof(*judging->grounds)),
        .active = malloc(most * sizeof(*judging->active)),
        .is_active = malloc(most * sizeof(*judging->is_active)),
    };
    return judging->stacks && judging->grounds && judging->active && judging->is_active;
}

static void judging_release(struct judging *judging)
{
    free(judging->active);
    free(judging->is_active);
}

/* Whether the row would be kept, were what the last collection freed not thought to be garbage. */
static void see_waiting(const struct survivor_reading *reading, struct survivor_process *process,
                        const struct stack_row *row, uint64_t *most_bytes)
{
    struct overdue overdue = overdue_judge(&row->stack, process->end, false);

    if (!reading->current.is_cleared || !is_kept(row, &overdue))
        return;
    process->waiting_bytes += overdue.bytes;
    if (overdue.bytes <= *most_bytes)
        return;
    *most_bytes = overdue.bytes;
    process->waiting_who = row->who;
}

/* Blocks of all who ask an interpreter's allocator, where nothing tells who: no block of it is the
 * one before made anew. */
static bool is_of_many(const struct stack_row *row)
{
    return row->traits & STACK_IS_POOLED && !(row->traits & STACK_IS_PYTHON);
}

static struct overdue judge_row(const struct survivor_reading *reading,
                                const struct survivor_process *process, const struct stack_row *row,
                                bool *is_garbage)
{
    const struct current *current = &reading->current;
    struct overdue overdue;

    *is_garbage = false;
    if (row->traits & STACK_IS_COLLECTED)
        return collector_judge(&current->collector, &row->stack, process->end, current->is_cleared,
                               is_garbage);
    overdue = overdue_judge(&row->stack, process->end, current->is_cleared);
    if (is_of_many(row))
        overdue.is_growing = false;
    return overdue;
}

/* It does not allocate to the end. */
static void see_stopped(const struct survivor_reading *reading, struct survivor_process *process,
                        const struct stack_row *row)
{
    const struct clock_times *times = &reading->current.times;
    const struct overdue_stack *stack = &row->stack;
    uint64_t last_ns = clock_times_at(times, stack->last);
    uint64_t end_ns = clock_times_at(times, process->end);
    struct overdue overdue;

    if (row->traits & (STACK_IS_IMPORT | STACK_IS_BOUNDED | STACK_IS_COLLECTED) ||
        stack->births < OVERDUE_NEEDED || stack->last >= process->end)
        return;
    overdue = overdue_judge(stack, stack->last + 1, reading->current.is_cleared);
    stopped_loop_see(&process->stopped, row->who, &overdue, stack->allocated_bytes,
                     last_ns - clock_times_at(times, stack->first),
                     end_ns > last_ns ? end_ns - last_ns : 0);
}

/* After whom has most of it. */
static const struct stack_row *row_named(struct survivor_reading *reading, size_t index)
{
    struct stack_row *row = table_at(&reading->rows, index);

    if (row->named_group != row->most_group)
        row_name(reading->question, row, row->most_group);
    return row;
}

static void judge_rows(struct survivor_reading *reading, struct survivor_process *process,
                       struct judging *judging)
{
    uint64_t most_waiting = 0;

    for (size_t i = reading->first_row; i < reading->rows.count; i++) {
        const struct stack_row *row = row_named(reading, i);
        bool is_garbage;
        struct overdue overdue = judge_row(reading, process, row, &is_garbage);

        judging->grounds[i - reading->first_row] =
            survivor_ground_of(row->name, row->heap, is_kept(row, &overdue), &overdue);
        judging->is_active[i - reading->first_row] = overdue.is_active;
        if (!overdue.is_active) {
            see_stopped(reading, process, row);
            continue;
        }
        process->loop_bytes += row->stack.allocated_bytes;
        judging->active[process->active_count++] =
            (struct active_stack){row->stack.births, row->stack.first};
        if (!is_kept(row, &overdue))
            see_waiting(reading, process, row, &most_waiting);
        else
            judging->stacks[judging->stack_count++] = (struct survivor_stack){
                .who = row->who,
                .name = row->name,
                .ledger = row->ledger,
                .heap = row->heap,
                .first = row->stack.first,
                .traits = row->traits,
                .keeps_all =
                    !overdue.is_growing && overdue.left_bytes == row->stack.allocated_bytes,
                .is_garbage = is_garbage,
                .overdue = overdue,
                .first_ns = row->first_ns,
                .last_ns = row->last_ns,
            };
    }
}

/* Left by stacks of the same line that stopped before the end: of those that matter beside it. */
static uint64_t stopped_bytes(const struct survivor_reading *reading, uint32_t end,
                              const struct survivor_stack *grown)
{
    struct symbols *symbols = reading->question->symbols;
    const char *label = symbols_label(symbols, grown->who.site);
    uint64_t bytes = 0;

    for (size_t i = reading->first_row; i < reading->rows.count; i++) {
        const struct stack_row *row = table_at(&reading->rows, i);
        struct overdue overdue;

        if (!row->who.site || row->ledger != grown->ledger || row->stack.births < OVERDUE_NEEDED)
            continue;
        overdue = overdue_judge(&row->stack, end, reading->current.is_cleared);
        if (!overdue.is_active && overdue.left_bytes >= grown->overdue.bytes / OVERDUE_NEEDED &&
            strcmp(symbols_label(symbols, row->who.site), label) == 0)
            bytes += overdue.left_bytes;
    }
    return bytes;
}

/*
 * A list is made anew ever more seldom, so it seems to grow when what was put in stopped long ago.
 * Where the line left more in stacks that stopped, these decide; where nearly all that was made
 * meanwhile is of stacks that stopped, nobody can say.
 */
static void drop_outgrown(const struct survivor_reading *reading,
                          const struct survivor_process *process, struct judging *judging)
{
    struct survivor_stack *stacks = judging->stacks;
    size_t kept = 0;

    for (size_t i = 0; i < judging->stack_count; i++)
        if (!stacks[i].overdue.is_growing || !stacks[i].who.site ||
            (process->is_judged &&
             stopped_bytes(reading, process->end, &stacks[i]) < stacks[i].overdue.bytes))
            stacks[kept++] = stacks[i];
    judging->stack_count = kept;
}

/* A quarter of what stays was never given back: no step has ended yet. */
static bool is_within_one_pass(const struct survivor_reading *reading, uint16_t ledger)
{
    enum { least_fall = 4 };
    const struct tide *tide = &reading->tides[ledger];

    return tally_ledger_at(reading->question->tally, ledger)->device >= 0 &&
           tide->fall_bytes < tide->stays_bytes / least_fall;
}

/*
 * The layers of a model are a loop as well, and keep what the backward pass will free. A window
 * that ends before, as where memory ran out, cannot tell these from a leak.
 */
static void drop_one_pass(const struct survivor_reading *reading, struct survivor_process *process,
                          struct judging *judging)
{
    struct survivor_stack *stacks = judging->stacks;
    size_t kept = 0;

    if (!model_process_at(tally_model(reading->question->tally), process->process)->is_window)
        return;
    for (size_t i = 0; i < judging->stack_count; i++)
        reading->tides[stacks[i].ledger].stays_bytes += stacks[i].overdue.bytes;
    for (size_t i = 0; i < judging->stack_count; i++) {
        uint64_t bytes = reading->tides[stacks[i].ledger].stays_bytes;

        if (!is_within_one_pass(reading, stacks[i].ledger)) {
            stacks[kept++] = stacks[i];
        } else if (bytes > process->pass_bytes) {
            process->pass_bytes = bytes;
            process->pass_ledger = stacks[i].ledger;
        }
    }
    judging->stack_count = kept;
}

/* Of the process that is read: how much of what was made in its loop could be judged. */
static void weigh_evidence(struct survivor_reading *reading, const struct judging *judging,
                           struct survivor_process *process)
{
    size_t ledger_count = tally_ledger_count(reading->question->tally);
    struct survivor_evidence all = {0};
    struct survivor_evidence *pools = calloc(ledger_count + 1, sizeof(*pools));

    reading->has_failed |= !pools;
    for (size_t i = reading->first_row; pools && i < reading->rows.count; i++) {
        const struct stack_row *row = table_at(&reading->rows, i);
        struct survivor_evidence evidence =
            survivor_evidence_of(overdue_between(&row->stack, process->begin, process->end),
                                 judging->is_active[i - reading->first_row]);

        survivor_evidence_add(&all, &evidence);
        survivor_evidence_add(&pools[row->ledger], &evidence);
    }
    process->is_judged = process->active_count && survivor_evidence_is_enough(&all);
    process->unjudged_pools = pools
                                  ? survivor_evidence_lacking(pools, ledger_count, &reading->arena,
                                                              &process->unjudged_pool_count)
                                  : NULL;
    reading->has_failed |= !process->unjudged_pools;
    free(pools);
}

/* The turns of the loop that leaks most, and best those in which it does; else of all that goes on.
 */
static void find_turns(struct survivor_process *process, struct active_stack *active)
{
    const struct survivor_stack *leak = process->origin_count ? process->origins->stacks : NULL;
    size_t count = process->active_count;

    process->turns_begin = leak ? leak->first : process->begin;
    if (leak)
        count = keep_loop(active, count, leak->first, process->end);
    turns_of(active, count, leak ? leak->overdue.births : 0, process);
}

static void process_judge(struct survivor_reading *reading, struct survivor_process *process)
{
    struct judging judging;

    if (judging_init(reading, &judging)) {
        judge_rows(reading, process, &judging);
        process->begin = middle_first(judging.active, process->active_count);
        weigh_evidence(reading, &judging, process);
        process->grounds = judging.grounds;
        process->ground_count =
            survivor_grounds_join(judging.grounds, reading->rows.count - reading->first_row);
        drop_outgrown(reading, process, &judging);
        drop_one_pass(reading, process, &judging);
        process_add(reading, process, judging.stacks, judging.stack_count);
        find_turns(process, judging.active);
    } else {
        reading->has_failed = true;
    }
    judging_release(&judging);
}

static int process_compare(const void *left, const void *right)
{
    const struct survivor_process *a = left, *b = right;

    if (a->is_errand != b->is_errand)
        return a->is_errand - b->is_errand;
    if (a->bytes != b->bytes)
        return compare_numbers(b->bytes, a->bytes);
    if (a->end != b->end)
        return compare_numbers(b->end, a->end);
    return compare_numbers(a->process, b->process);
}

/* Whether its interpreter made objects that are not recorded. */
static bool hides_objects(const struct survivor_reading *reading, uint16_t process)
{
    struct model *model = tally_model(reading->question->tally);

    return !reading->current.sees_objects &&
           (reading->current.hides_objects || model_process_at(model, process)->hides_objects);
}

static bool on_process_over(void *context, uint16_t process)
{
    struct survivor_reading *reading = context;
    const struct current *current = &reading->current;
    struct survivor_process row = {
        .process = process,
        .hides_objects = hides_objects(reading, process),
        .is_errand = model_process_at(tally_model(reading->question->tally), process)->is_errand,
        .is_cut = current->python_end && !current->is_cleared &&
                  !model_process_at(tally_model(reading->question->tally), process)->is_window,
        .peak_bytes = leak_process_bytes(reading->question->tally, process),
        .end = work_end(current),
        .unseen = unseen_watch_end(&reading->unseen, process, &reading->arena)};

    if (reading->result.process_count < reading->process_most) {
        if (model_process_at(tally_model(reading->question->tally), process)->is_window)
            settle_rows(reading);
        process_judge(reading, &row);
        reading->processes[reading->result.process_count++] = row;
        qsort(reading->processes, reading->result.process_count, sizeof(row), process_compare);
    }
    for (size_t i = reading->first_row; i < reading->rows.count; i++)
        overdue_release(&((struct stack_row *)table_at(&reading->rows, i))->stack);
    reading->first_row = reading->rows.count;
    reading->current = (struct current){.has_begun = false};
    return !reading->has_failed;
}

/* --- from outside ---------------------------------------------------------------------------- */

struct survivor_reading *survivor_reading_create(const struct question *question,
                                                 struct life_visitor *visitor)
{
    struct survivor_reading *reading = calloc(1, sizeof(*reading));

    if (!reading)
        return NULL;
    reading->question = question;
    arena_init(&reading->arena);
    table_init(&reading->rows, &reading->arena, sizeof(struct stack_row));
    hash_index_init(&reading->index);
    reading->group_count = tally_group_count(question->tally);
    reading->process_most = model_process_count(question->model);
    reading->groups = calloc(reading->group_count + 1, sizeof(*reading->groups));
    reading->processes = calloc(reading->process_most + 1, sizeof(*reading->processes));
    reading->tides = calloc(tally_ledger_count(question->tally) + 1, sizeof(*reading->tides));
    reading->result.processes = reading->processes;
    if (!reading->groups || !reading->processes || !reading->tides ||
        !unseen_watch_init(&reading->unseen, question->tally)) {
        survivor_reading_destroy(reading);
        return NULL;
    }
    *visitor = (struct life_visitor){
        .context = reading, .born = on_born, .over = on_over, .process_over = on_process_over};
    return reading;
}

const struct survivors *survivor_reading_result(const struct survivor_reading *reading)
{
    return reading->has_failed ? NULL : &reading->result;
}

struct survivor_reading *survivors_read(const struct question *question)
{
    struct life_visitor visitor;
    struct mt_error error;
    struct survivor_reading *reading = survivor_reading_create(question, &visitor);

    if (reading &&
        lives_read(question->events, tally_model(question->tally), &visitor, &error) == MT_OK)
        return reading;
    survivor_reading_destroy(reading);
    return NULL;
}

void survivor_reading_destroy(struct survivor_reading *reading)
{
    if (!reading)
        return;
    for (size_t i = reading->first_row; i < reading->rows.count; i++)
        overdue_release(&((struct stack_row *)table_at(&reading->rows, i))->stack);
    hash_index_release(&reading->index);
    arena_release(&reading->arena);
    unseen_watch_release(&reading->unseen);
    free(reading->groups);
    free(reading->processes);
    free(reading->tides);
    free(reading);
}
