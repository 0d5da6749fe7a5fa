/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_judging.h"

#include <stdlib.h>
#include <string.h>

#include "given_again.h"
#include "leak_weight.h"
#include "list.h"
#include "survivor_answers.h"
#include "survivor_origins.h"
#include "survivor_turns.h"
#include "thresholds.h"

struct judging {
    const struct survivor_rows *rows;
    struct survivor_process *process;
    struct survivor_stack *stacks; /* that keep something */
    size_t stack_count, stack_capacity;
    struct survivor_ground *grounds;
    size_t ground_count, ground_capacity;
    struct active_stack *active;
    size_t active_count, active_capacity;
    uint64_t most_waiting_bytes, most_let_go_bytes;
    struct brief_blocks brief; /* of stacks that go on to the end */
};

/* A sum of the process, and its largest part. */
struct waiting {
    uint64_t *bytes, *most_bytes;
    struct who *who;
};

static enum overdue_sweep sweep_of(const struct judging *judging)
{
    return interpreter_end_sweep(&judging->rows->current.interpreter_end,
                                 !judging->process->hides_objects);
}

static const struct tally *tally_of(const struct judging *judging)
{
    return question_ledgers(judging->rows->question);
}

static bool is_window(const struct judging *judging)
{
    return model_process_at(tally_model(tally_of(judging)), judging->process->process)->is_window;
}

/* --- row by row ------------------------------------------------------------------------------ */

/*
 * Until when a stack is judged. What follows its newest birth is no other work if it is imports, or
 * short. If the program took down what it kept, and nothing else, that is the end of its loop. Only
 * of lines of Python: a runtime that starts is a loop as well, as one over its certificates. And
 * not of imports: a program that does nothing else has no loop.
 */
static uint32_t end_of(const struct judging *judging, const struct survivor_row *row)
{
    const struct survivor_span lasted = survivor_row_lasted(row);
    const struct survivor_span rest = survivor_row_rest(judging->rows, row);
    bool is_given_back = survivor_row_is_given_back(judging->rows, row);
    uint32_t share = is_given_back ? LARGE_SHARE : SMALL_SHARE;

    if (is_window(judging) || row->stack.last >= judging->process->end ||
        !(row->traits & STACK_IS_PYTHON) || row->traits & STACK_IS_IMPORT ||
        rest.time_ns > lasted.time_ns || rest.births > lasted.births / share)
        return judging->process->end;
    if (is_given_back && row->alive_at_newest_bytes < row->stack.allocated_bytes / MOST_SHARE)
        return judging->process->end;
    return row->stack.last + 1;
}

static bool is_kept(const struct survivor_row *row, const struct overdue *overdue)
{
    return (overdue->reason == OVERDUE_YES || overdue->is_growing) &&
           !(row->traits & STACK_IS_IMPORT);
}

/* Of a row that is judged so: whether its block grows with the work. */
static enum work_kind work_of(const struct judging *judging, const struct survivor_row *row,
                              const struct overdue *overdue)
{
    return overdue->is_growing ? larger_work_kind(&row->stack, row->first_bytes, &judging->brief)
                               : WORK_IS_THE_SAME;
}

/* Adds what the row would keep, if so much of what was freed at the end were no garbage. */
static void add_waiting(const struct judging *judging, const struct survivor_row *row,
                        enum overdue_sweep sweep, struct waiting *waiting)
{
    struct overdue overdue = overdue_judge(&row->stack, end_of(judging, row), sweep);

    if (!is_kept(row, &overdue) || work_of(judging, row, &overdue) != WORK_IS_THE_SAME)
        return;
    *waiting->bytes += overdue.bytes;
    if (overdue.bytes <= *waiting->most_bytes)
        return;
    *waiting->most_bytes = overdue.bytes;
    *waiting->who = row->who;
}

/* Of a row that is not kept. */
static void see_waiting(struct judging *judging, const struct survivor_row *row)
{
    const struct interpreter_end *end = &judging->rows->current.interpreter_end;
    struct survivor_process *process = judging->process;
    struct waiting all = {&process->waiting_bytes, &judging->most_waiting_bytes,
                          &process->waiting_who};
    struct waiting let_go = {&process->let_go_bytes, &judging->most_let_go_bytes,
                             &process->let_go_who};

    if (!end->is_cleared)
        return;
    add_waiting(judging, row, OVERDUE_SWEEP_UNKNOWN, &all);
    if (interpreter_end_doubted(end) != sweep_of(judging))
        add_waiting(judging, row, interpreter_end_doubted(end), &let_go);
}

/* Blocks of all who ask an interpreter's allocator, where nothing tells who: no block of it is the
 * one before made anew. */
static bool is_of_many(const struct survivor_row *row)
{
    return row->traits & STACK_IS_POOLED && !(row->traits & STACK_IS_PYTHON);
}

/* Nothing there is made anew by realloc, which gives a block back before it has the next: what is
 * all given back in each turn is work that grows, as of longer and longer sequences. */
static bool is_of_tensors(const struct judging *judging, const struct survivor_row *row)
{
    const struct ledger *ledger = tally_ledger_at(tally_of(judging), row->ledger);

    return ledger->device >= 0 ||
           model_pool_at(tally_model(tally_of(judging)), ledger->pool)->role == POOL_ROLE_FRAMEWORK;
}

/*
 * What no rule can tell without the names of the interpreter's functions: whether a cache holds it
 * that is bounded, and whether what went after the newest birth was garbage.
 */
static bool may_be_excused(const struct judging *judging, const struct survivor_row *row,
                           const struct overdue *overdue)
{
    const struct survivor_process *process = judging->process;
    bool went_late = row->stack.alive_bytes < overdue->bytes / MOST_SHARE;

    return (row->traits & STACK_IS_UNNAMED && !(row->traits & STACK_IS_BOUNDED)) ||
           (process->lacks_names && process->is_cut && row->traits & STACK_IS_PYTHON && went_late);
}

/* *work: if it is the reason why what grows is no leak. */
static struct overdue judge_row(const struct judging *judging, const struct survivor_row *row,
                                bool *is_garbage, enum work_kind *work)
{
    const struct survivor_current *current = &judging->rows->current;
    uint32_t end = end_of(judging, row);
    struct overdue overdue;

    *is_garbage = false;
    *work = WORK_IS_THE_SAME;
    if (row->traits & STACK_IS_COLLECTED)
        return collector_judge(&current->collector, &row->stack, end, sweep_of(judging),
                               is_garbage);
    overdue = overdue_judge(&row->stack, end, sweep_of(judging));
    if (is_of_many(row))
        overdue.is_growing = false;
    *work = work_of(judging, row, &overdue);
    if (overdue.is_given_back && is_of_tensors(judging, row)) {
        overdue.is_growing = false;
        *work = *work == WORK_MAY_GROW ? WORK_GROWS : *work;
    }
    if (*work != WORK_IS_THE_SAME)
        overdue.is_growing = false;
    *is_garbage = may_be_excused(judging, row, &overdue);
    return overdue;
}

/* When the program began to take itself down; else its end. */
static uint64_t ending_of(const struct judging *judging)
{
    uint64_t ending_ns = judging->rows->current.ending_ns;

    return ending_ns ? ending_ns
                     : model_process_at(tally_model(tally_of(judging)), judging->process->process)
                           ->end_ns;
}

/* It does not allocate to the end. What the program gave back was data. */
static void see_stopped(struct judging *judging, const struct survivor_row *row)
{
    struct survivor_process *process = judging->process;
    const struct overdue_stack *stack = &row->stack;
    struct overdue overdue;

    if (row->traits & (STACK_IS_IMPORT | STACK_IS_BOUNDED | STACK_IS_COLLECTED) ||
        stack->last >= process->end ||
        (row->went_last.births && row->went_last.time_ns <= ending_of(judging)))
        return;
    overdue = overdue_judge(stack, stack->last + 1, sweep_of(judging));
    stopped_loop_see(&process->stopped, row->who, &overdue, stack->allocated_bytes,
                     survivor_row_lasted(row).time_ns,
                     survivor_row_rest(judging->rows, row).time_ns);
}

static bool note_ground(struct judging *judging, struct survivor_row *row,
                        const struct overdue *overdue)
{
    struct survivor_ground ground = survivor_ground_of(row->heap, is_kept(row, overdue), overdue);

    if (!survivor_ground_tells(&ground))
        return true;
    ground.name = survivor_row_name(judging->rows, row);
    if (!list_has_room(&judging->grounds, &judging->ground_capacity, judging->ground_count,
                       sizeof(*judging->grounds)))
        return false;
    judging->grounds[judging->ground_count++] = ground;
    return true;
}

static bool note_active(struct judging *judging, const struct survivor_row *row)
{
    if (!list_has_room(&judging->active, &judging->active_capacity, judging->active_count,
                       sizeof(*judging->active)))
        return false;
    judging->active[judging->active_count++] =
        (struct active_stack){row->stack.births, row->stack.first, row->stack.last};
    judging->process->loop_bytes += row->stack.allocated_bytes;
    return true;
}

static bool note_stack(struct judging *judging, struct survivor_row *row,
                       const struct overdue *overdue, bool is_garbage)
{
    const struct survivor_moment *end = &judging->rows->current.work_end;

    if (!list_has_room(&judging->stacks, &judging->stack_capacity, judging->stack_count,
                       sizeof(*judging->stacks)))
        return false;
    judging->stacks[judging->stack_count++] = (struct survivor_stack){
        .who = row->who,
        .name = survivor_row_name(judging->rows, row),
        .ledger = row->ledger,
        .heap = row->heap,
        .first = row->stack.first,
        .traits = row->traits,
        .keeps_all = !overdue->is_growing && overdue->left_bytes == row->stack.allocated_bytes,
        .is_garbage = is_garbage,
        .overdue = *overdue,
        .first_ns = row->first_ns,
        .last_ns = row->newest.time_ns,
        .imports_ns =
            end->import_ns > row->newest.import_ns ? end->import_ns - row->newest.import_ns : 0,
    };
    return true;
}

static struct why why_of_row(const struct survivor_row *row, const struct overdue *overdue,
                             enum work_kind work)
{
    return work == WORK_IS_THE_SAME ? why_of_stack(overdue, row->traits & STACK_IS_IMPORT)
                                    : (struct why){.rule = WHY_WORK, .measured = overdue->bytes};
}

static void note_why(struct judging *judging, const struct survivor_row *row, size_t number,
                     struct why why)
{
    why.who = row->who;
    why.process = judging->process->process;
    why.ledger = row->ledger;
    why.row = number;
    why_add(&judging->process->whys, &why);
}

/* Before others are judged. */
static void see_brief_blocks(struct judging *judging)
{
    for (size_t i = 0; i < survivor_row_count(judging->rows); i++) {
        const struct survivor_row *row = survivor_row_at(judging->rows, i);

        if (brief_blocks_are(&row->stack) && !survivor_row_settled(judging->rows, i)->is_reserved &&
            overdue_judge(&row->stack, end_of(judging, row), sweep_of(judging)).is_active)
            brief_blocks_add(&judging->brief, &row->stack);
    }
}

static bool judge_rows(struct judging *judging)
{
    see_brief_blocks(judging);
    for (size_t i = 0; i < survivor_row_count(judging->rows); i++) {
        struct survivor_row *row = survivor_row_settled(judging->rows, i);
        bool is_garbage;
        enum work_kind work;
        struct overdue overdue;

        if (row->is_reserved) {
            note_why(judging, row, i, (struct why){.rule = WHY_RESERVED});
            continue;
        }
        overdue = judge_row(judging, row, &is_garbage, &work);
        row->is_active = overdue.is_active;
        note_why(judging, row, i, why_of_row(row, &overdue, work));
        if (!note_ground(judging, row, &overdue))
            return false;
        if (!overdue.is_active) {
            /* Freed while the program worked on: not because it ended. */
            if (row->stack.gone < judging->process->end)
                overdue_settle(&row->stack);
            see_stopped(judging, row);
            continue;
        }
        if (!note_active(judging, row))
            return false;
        if (!is_kept(row, &overdue)) {
            see_waiting(judging, row);
            larger_loop_see(&judging->process->larger, row->who, work, &row->stack, overdue.bytes);
        } else if (!note_stack(judging, row, &overdue, is_garbage)) {
            return false;
        }
    }
    return true;
}

/* --- what is no leak after all ---------------------------------------------------------------- */

/* Left by stacks of the same line that stopped before the end: of those that matter beside it. */
static uint64_t stopped_bytes(const struct judging *judging, const struct survivor_stack *grown)
{
    struct symbols *symbols = judging->rows->question->symbols;
    const char *label = symbols_label(symbols, grown->who.site);
    uint64_t bytes = 0;

    for (size_t i = 0; i < survivor_row_count(judging->rows); i++) {
        const struct survivor_row *row = survivor_row_at(judging->rows, i);
        struct overdue overdue;

        if (!row->who.site || row->ledger != grown->ledger || row->stack.births < SURVIVORS_MIN)
            continue;
        overdue = overdue_judge(&row->stack, end_of(judging, row), sweep_of(judging));
        if (!overdue.is_active && overdue.left_bytes >= grown->overdue.bytes / SURVIVORS_MIN &&
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
static void drop_outgrown(struct judging *judging)
{
    struct survivor_stack *stacks = judging->stacks;
    size_t kept = 0;

    for (size_t i = 0; i < judging->stack_count; i++)
        if (!stacks[i].overdue.is_growing || !stacks[i].who.site ||
            (judging->process->is_judged &&
             stopped_bytes(judging, &stacks[i]) < stacks[i].overdue.bytes))
            stacks[kept++] = stacks[i];
    judging->stack_count = kept;
}

/* A quarter of what stays was never given back: no step has ended yet. */
static bool is_within_one_pass(const struct judging *judging, uint16_t ledger, uint64_t stays_bytes)
{
    return tally_ledger_at(tally_of(judging), ledger)->device >= 0 &&
           judging->rows->tides[ledger].fall_bytes < stays_bytes / LARGE_SHARE;
}

/*
 * The layers of a model are a loop as well, and keep what the backward pass will free. A window
 * that ends before, as where memory ran out, cannot tell these from a leak.
 */
static bool drop_one_pass(struct judging *judging)
{
    struct survivor_process *process = judging->process;
    struct survivor_stack *stacks = judging->stacks;
    uint64_t *stays = calloc(tally_ledger_count(tally_of(judging)) + 1, sizeof(*stays));
    size_t kept = 0;

    for (size_t i = 0; stays && i < judging->stack_count; i++)
        stays[stacks[i].ledger] += stacks[i].overdue.bytes;
    for (size_t i = 0; stays && i < judging->stack_count; i++) {
        uint64_t bytes = stays[stacks[i].ledger];

        if (!is_within_one_pass(judging, stacks[i].ledger, bytes)) {
            stacks[kept++] = stacks[i];
        } else if (bytes > process->pass_bytes) {
            process->pass_bytes = bytes;
            process->pass_ledger = stacks[i].ledger;
        }
    }
    judging->stack_count = kept;
    free(stays);
    return stays != NULL;
}

/* At least what stays: samples are some births apart. */
static void see_asked(struct survivor_process *process, const struct clock_samples *asked)
{
    uint32_t first = process->origin_count ? process->origins->stacks->first : process->begin;
    uint64_t bytes = clock_samples_at(asked, process->end) - clock_samples_at(asked, first);

    process->asked_bytes = bytes > process->bytes ? bytes : process->bytes;
}

static void see_rise(struct judging *judging)
{
    const struct survivor_current *current = &judging->rows->current;
    struct survivor_process *process = judging->process;

    process->risen =
        block_rise_between(&current->rise, clock_samples_at(&current->times, process->begin),
                           clock_samples_at(&current->times, process->end));
}

/* Its stacks that were followed by a rest. */
static void add_rested(const struct judging *judging, const struct survivor_origin *origin,
                       struct stopped_loop *loop)
{
    uint64_t end_ns = ending_of(judging);

    for (size_t i = 0; i < origin->stack_count; i++) {
        const struct survivor_stack *stack = &origin->stacks[i];
        uint64_t lasted_ns = stack->last_ns - stack->first_ns;
        uint64_t work_ns = stack->last_ns + stack->imports_ns;
        uint64_t after_ns = end_ns > work_ns ? end_ns - work_ns : 0;

        if (stopped_loop_is_before_rest(lasted_ns, after_ns))
            stopped_loop_add(loop, stack->who, &stack->overdue, stack->overdue.bytes, lasted_ns,
                             after_ns, true);
    }
}

/*
 * The clock of births stands still while a program asks for nothing: one that builds its data and
 * then works for a long time seems to build to its end. Time tells, where it may be data at all.
 */
static void see_rest(struct judging *judging)
{
    struct survivor_process *process = judging->process;
    struct stopped_loop loop = process->stopped;

    if (is_window(judging) || !survivors_may_be_data(process))
        return;
    for (size_t i = 0; i < process->origin_count && !process->origins[i].may_go; i++)
        add_rested(judging, &process->origins[i], &loop);
    if (loop.bytes - process->stopped.bytes < process->bytes / MOST_SHARE)
        return;
    process->has_rested = true;
    process->stopped = loop;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* --- why ------------------------------------------------------------------------------------- */

/* NULL: it was dropped. */
static const struct survivor_origin *origin_of(const struct survivor_process *process,
                                               uint16_t heap, uint64_t name)
{
    for (size_t i = 0; i < process->origin_count; i++)
        if (process->origins[i].stacks->heap == heap && process->origins[i].stacks->name == name)
            return &process->origins[i];
    return NULL;
}

static void decide(struct why *why, enum why_rule rule, uint64_t measured, uint64_t needed)
{
    why->rule = rule;
    why->measured = measured;
    why->needed = needed;
}

/* What may go: the largest part says as what. */
static void decide_may_go(struct why *why, const struct survivor_origin *origin)
{
    if (origin->bounded_bytes >= origin->garbage_bytes &&
        origin->bounded_bytes >= origin->fading_bytes)
        decide(why, WHY_BOUNDED, origin->bounded_bytes, origin->bytes);
    else if (origin->garbage_bytes >= origin->fading_bytes)
        decide(why, WHY_GARBAGE, origin->garbage_bytes, origin->bytes);
    else
        decide(why, WHY_FADING, origin->fading_bytes, origin->bytes);
}

/* Of a stack that left overdue survivors: why they are no leak, if so. */
static void settle_why(const struct survivor_process *process, const struct survivor_origin *origin,
                       struct why *why)
{
    size_t leak_count = survivors_leak_count(process);

    if (!origin)
        decide(why,
               why->ledger == process->pass_ledger && process->pass_bytes ? WHY_ONE_PASS
                                                                          : WHY_DROPPED,
               process->pass_bytes, 0);
    else if (origin->may_go)
        decide_may_go(why, origin);
    else if (process->is_errand)
        decide(why, WHY_ERRAND, 0, 0);
    else if (process->has_rested)
        decide(why, WHY_RESTED, 0, 0);
    else if (survivors_are_of_few_turns(process))
        decide(why, WHY_FEW_TURNS, process->turns, TURNS_MIN);
    else if (!leak_count)
        decide(why, WHY_LIGHT, process->bytes,
               leak_least_bytes(process->loop_bytes, process->peak_bytes));
    else if (origin >= process->origins + leak_count)
        decide(why, WHY_BESIDE, origin->bytes, process->bytes);
}

static void settle_whys(struct judging *judging)
{
    struct survivor_process *process = judging->process;

    for (size_t i = 0; i < process->whys.count; i++) {
        struct why *why = &process->whys.rows[i];
        struct survivor_row *row = survivor_row_at(judging->rows, why->row);

        if (why->rule == WHY_LEAK || why->rule == WHY_GROWS)
            settle_why(process,
                       origin_of(process, row->heap, survivor_row_name(judging->rows, row)), why);
    }
    why_sort(&process->whys);
}

/* How much of what was made in its loop could be judged. */
static bool weigh_evidence(struct judging *judging, struct arena *arena)
{
    struct survivor_process *process = judging->process;
    size_t ledger_count = tally_ledger_count(tally_of(judging));
    struct survivor_evidence all = {0}, with_stacks = {0};
    struct survivor_evidence *pools = calloc(ledger_count + 1, sizeof(*pools));

    if (!pools)
        return false;
    for (size_t i = 0; i < survivor_row_count(judging->rows); i++) {
        const struct survivor_row *row = survivor_row_at(judging->rows, i);
        struct survivor_evidence evidence;

        if (row->is_reserved)
            continue;
        evidence = survivor_evidence_of(overdue_between(&row->stack, process->begin, process->end),
                                        row->is_active);
        survivor_evidence_add(&all, &evidence);
        if (row->who.site)
            survivor_evidence_add(&with_stacks, &evidence);
        survivor_evidence_add(&pools[row->ledger], &evidence);
    }
    process->is_judged = process->active_count && survivor_evidence_is_enough(&all);
    process->has_stacks =
        with_stacks.judged_births >= all.judged_births / MOST_SHARE &&
        !model_process_at(tally_model(tally_of(judging)), process->process)->has_function_stacks;
    process->unjudged_pools =
        survivor_evidence_lacking(pools, ledger_count, arena, &process->unjudged_pool_count);
    free(pools);
    return process->unjudged_pools != NULL;
}

/* As long as the arena lives. */
static void *rows_kept(struct arena *arena, const void *rows, size_t count, size_t row_bytes)
{
    void *copy = arena_alloc(arena, (count + 1) * row_bytes);

    if (copy && count)
        memcpy(copy, rows, count * row_bytes);
    return copy;
}

static bool keep_grounds(struct judging *judging, struct arena *arena)
{
    struct survivor_process *process = judging->process;

    process->ground_count = survivor_grounds_join(judging->grounds, judging->ground_count);
    process->grounds =
        rows_kept(arena, judging->grounds, process->ground_count, sizeof(*judging->grounds));
    return process->grounds != NULL;
}

static bool keep_stacks(struct judging *judging, struct arena *arena)
{
    struct survivor_stack *stacks =
        rows_kept(arena, judging->stacks, judging->stack_count, sizeof(*stacks));

    return stacks && survivor_origins_make(arena, stacks, judging->stack_count, judging->process);
}

static bool judge(struct judging *judging, struct arena *arena)
{
    struct survivor_process *process = judging->process;

    process->whys.rows = arena_alloc(arena, WHY_ROWS_MOST * sizeof(*process->whys.rows));
    if (!process->whys.rows || !judge_rows(judging))
        return false;
    process->active_count = (uint32_t)judging->active_count;
    process->begin = survivor_turns_begin(judging->active, judging->active_count);
    if (!weigh_evidence(judging, arena) || !keep_grounds(judging, arena))
        return false;
    drop_outgrown(judging);
    if (is_window(judging) && !drop_one_pass(judging))
        return false;
    if (!keep_stacks(judging, arena))
        return false;
    see_rise(judging);
    see_asked(process, &judging->rows->current.asked);
    survivor_turns_find(process, judging->active);
    survivor_turns_by_steps(judging->rows->question, process);
    see_rest(judging);
    process->given_again = given_again_settle(judging->rows->question->symbols, process->origins,
                                              survivors_leak_count(process));
    settle_whys(judging);
    return true;
}

bool survivor_process_judge(const struct survivor_rows *rows, struct arena *arena,
                            struct survivor_process *process)
{
    struct judging judging = {.rows = rows, .process = process};
    bool is_done = judge(&judging, arena);

    free(judging.stacks);
    free(judging.grounds);
    free(judging.active);
    return is_done;
}
