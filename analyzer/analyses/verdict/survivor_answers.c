/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors say.
 */
#include "survivor_answers.h"

#include "growth.h"
#include "leak_weight.h"
#include "thresholds.h"

struct rate {
    double bytes, count;
};

/* turn_births: of the process, from one turn to the next. What is overdue was born in a part of
 * them. */
static struct rate rate_per_turn(const struct survivor_origin *origin, double turn_births)
{
    struct rate sum = {0, 0};

    if (turn_births <= 0)
        return sum;
    for (size_t i = 0; i < origin->stack_count; i++) {
        const struct overdue *overdue = &origin->stacks[i].overdue;
        double born_in = 1 + (double)(overdue->last - overdue->first) / turn_births;

        sum.bytes += (double)overdue->bytes / born_in;
        sum.count += (double)overdue->count / born_in;
    }
    return sum;
}

uint64_t survivors_per_turn(const struct survivor_process *process,
                            const struct survivor_origin *origin)
{
    return (uint64_t)rate_per_turn(origin, process->turn_births).bytes;
}

uint64_t survivors_blocks_per_1000_turns(const struct survivor_process *process,
                                         const struct survivor_origin *origin)
{
    return (uint64_t)(1000 * rate_per_turn(origin, process->turn_births).count);
}

const struct survivor_process *survivors_of_process(const struct survivors *survivors,
                                                    uint16_t process)
{
    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors->processes[i].process == process)
            return &survivors->processes[i];
    return NULL;
}

uint64_t survivors_per_step(const struct survivors *survivors, uint16_t process,
                            const struct survivor_origin *origin, uint32_t steps)
{
    const struct survivor_process *row = survivors_of_process(survivors, process);
    double loop = row ? (double)row->end - (double)row->turns_begin : 0;

    return row && steps > 1 ? (uint64_t)rate_per_turn(origin, loop / (steps - 1)).bytes : 0;
}

enum survivor_answer survivors_about(const struct survivors *survivors, uint16_t process,
                                     uint16_t heap, uint64_t name,
                                     const struct survivor_origin **origin)
{
    const struct survivor_process *row = survivors_of_process(survivors, process);
    const struct survivor_ground *ground =
        row ? survivor_ground_find(row->grounds, row->ground_count, heap, name) : NULL;

    *origin = NULL;
    if (!ground)
        return SURVIVORS_SILENT;
    if (survivor_ground_denies(ground))
        return SURVIVORS_GO;
    for (size_t i = 0; i < row->origin_count; i++) {
        if (row->origins[i].stacks->heap != heap || row->origins[i].stacks->name != name)
            continue;
        *origin = &row->origins[i];
        return row->origins[i].may_go ? SURVIVORS_MAY_GO : SURVIVORS_STAY;
    }
    /* A list that only seemed to grow is no origin any more. */
    return ground->has_survivors || (ground->has_stopped && !ground->is_active) ? SURVIVORS_STOPPED
                                                                                : SURVIVORS_SILENT;
}

static bool is_heavy(const struct survivor_process *process)
{
    return process->bytes > process->bounded_bytes &&
           !leak_is_light(process->bytes, process->loop_bytes, process->peak_bytes);
}

bool survivors_are_of_few_turns(const struct survivor_process *process)
{
    return is_heavy(process) && !process->is_errand && process->turns && process->turns < TURNS_MIN;
}

bool survivors_are_leak(const struct survivor_process *process)
{
    return is_heavy(process) && !process->is_errand && !process->has_rested &&
           !survivors_are_of_few_turns(process);
}

bool survivors_may_be_data(const struct survivor_process *process)
{
    return survivors_are_leak(process) && !process->turns &&
           process->bytes >= process->peak_bytes / LARGE_SHARE &&
           process->bytes >= process->asked_bytes / ASKED_SHARE;
}

bool survivors_are_of_errand(const struct survivor_process *process)
{
    return is_heavy(process) && process->is_errand;
}

bool survivors_wait(const struct survivor_process *process)
{
    return !leak_is_light(process->waiting_bytes, process->loop_bytes, process->peak_bytes);
}

bool survivors_are_let_go(const struct survivor_process *process)
{
    return !leak_is_light(process->let_go_bytes, process->loop_bytes, process->peak_bytes);
}

bool survivors_may_be_larger_work(const struct survivor_process *process)
{
    return !leak_is_light(process->larger.doubtful_bytes, process->loop_bytes, process->peak_bytes);
}

size_t survivors_leak_count(const struct survivor_process *process)
{
    size_t count = 0;

    while (survivors_are_leak(process) && count < process->origin_count &&
           !process->origins[count].may_go &&
           !leak_is_beside(process->origins[count].bytes, process->bytes))
        count++;
    return count;
}

bool survivors_may_be_garbage(const struct survivor_process *process)
{
    return !is_heavy(process) && !process->is_errand &&
           process->garbage_bytes > process->fading_bytes &&
           !leak_is_light(process->garbage_bytes, process->loop_bytes, process->peak_bytes);
}

bool survivors_are_undecided(const struct survivor_process *process)
{
    return survivors_may_be_garbage(process) ||
           (!is_heavy(process) && !process->is_errand && process->fading_bytes &&
            !leak_is_light(process->fading_bytes, process->loop_bytes, process->peak_bytes));
}

uint64_t survivors_unseen_per_turn(const struct survivor_process *process)
{
    if (!process->unseen.births)
        return 0;
    return (uint64_t)((double)process->unseen.bytes * process->turn_births /
                      (double)process->unseen.births);
}

static uint32_t input_of(const struct question *question, const struct survivor_process *process)
{
    return model_process_at(tally_model(question->tally), process->process)->input;
}

/* The process that did most. */
static const struct survivor_process *main_process(const struct survivors *survivors)
{
    const struct survivor_process *most = NULL;

    for (size_t i = 0; i < survivors->process_count; i++)
        if (!most || survivors->processes[i].end > most->end)
            most = &survivors->processes[i];
    return most;
}

size_t survivors_unjudged_processes(const struct survivors *survivors)
{
    const struct survivor_process *most = main_process(survivors);
    size_t count = 0;

    for (size_t i = 0; i < survivors->process_count; i++)
        count += !survivors->processes[i].is_judged && !survivors->processes[i].is_errand &&
                 survivors->processes[i].end >= most->end / SMALL_SHARE;
    return count;
}

/*
 * Whether its silence says something: a loop was seen to turn. Of blocks without call stacks nobody
 * knows whether the same operator, asked again, is the next turn; and one step or two that were
 * marked are no loop, however much repeats within them.
 */
static bool has_seen_turns(const struct question *question, const struct survivor_process *process)
{
    uint32_t marked = growth_marked_steps_of(question, process->process);

    return process->is_judged && process->has_stacks && (!marked || marked >= MARKED_STEPS_MIN);
}

bool survivors_can_judge(const struct question *question, const struct survivors *survivors,
                         uint32_t input)
{
    const struct survivor_process *most = NULL;

    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];

        if (input_of(question, process) != input)
            continue;
        if (survivors_are_leak(process) || survivors_are_undecided(process))
            return true;
        if (!most || process->end > most->end)
            most = process;
    }
    return most && has_seen_turns(question, most);
}

bool survivors_decide(const struct question *question, const struct survivors *survivors)
{
    for (size_t i = 0; survivors && i < survivors->process_count; i++)
        if (survivors_can_judge(question, survivors, input_of(question, &survivors->processes[i])))
            return true;
    return false;
}
