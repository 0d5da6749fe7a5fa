/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the evidence for each row of doubts.def. Of several processes the heaviest speaks; helpers
 * of a job never do.
 */
#include "doubt_finders.h"

#include "leak_weight.h"
#include "leak_words.h"
#include "missing.h"
#include "reserved_rise.h"
#include "sentence.h"
#include "survivor_answers.h"
#include "thresholds.h"

/* --- steps ------------------------------------------------------------------------------------ */

static uint32_t input_of(const struct question *question, uint16_t process)
{
    return model_process_at(tally_model(question->tally), process)->input;
}

/* Of the processes of one recording that is read. */
static struct judged_steps longest_steps(const struct question *question, uint32_t input)
{
    struct judged_steps longest = {0};

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        struct judged_steps steps;

        if (input_of(question, (uint16_t)i) != input)
            continue;
        steps = growth_steps_of(question, (uint16_t)i);
        if (steps.last > longest.last)
            longest = steps;
    }
    return longest;
}

static bool is_judged_by_stacks(const struct doubt_ground *ground, uint32_t input)
{
    return ground->is_by_stacks && survivors_can_judge(ground->question, ground->survivors, input);
}

/* Of the first recording that has too few; false: all have enough. One that has enough says nothing
 * of another. */
static bool find_few_steps(const struct doubt_ground *ground, struct doubt *doubt,
                           struct judged_steps *steps)
{
    const struct question *question = ground->question;
    uint32_t needed = growth_steps_needed(question), next = 0;

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        uint32_t input = input_of(question, (uint16_t)i);

        if (input < next)
            continue;
        next = input + 1;
        *steps = longest_steps(question, input);
        if (steps->last - steps->warm_up >= needed || is_judged_by_stacks(ground, input))
            continue;
        doubt->process = steps->last ? steps->process : (uint16_t)i;
        doubt->count = steps->last - steps->warm_up;
        doubt->needed = needed;
        return true;
    }
    *steps = (struct judged_steps){0};
    return false;
}

bool doubt_find_few_steps(const struct doubt_ground *ground, struct doubt *doubt)
{
    struct judged_steps steps;

    return growth_steps_are_marked(ground->question) && find_few_steps(ground, doubt, &steps) &&
           steps.last;
}

bool doubt_find_few_found_steps(const struct doubt_ground *ground, struct doubt *doubt)
{
    struct judged_steps steps;

    return !growth_steps_are_marked(ground->question) && find_few_steps(ground, doubt, &steps) &&
           steps.last;
}

bool doubt_find_no_steps(const struct doubt_ground *ground, struct doubt *doubt)
{
    struct judged_steps steps;

    return find_few_steps(ground, doubt, &steps) && !steps.last;
}

/* --- what was not recorded -------------------------------------------------------------------- */

enum { DEVICES_ROOM = 64 };

struct device_numbers {
    int32_t numbers[DEVICES_ROOM];
    size_t count;
};

static bool has_number(const struct device_numbers *devices, int32_t number)
{
    for (size_t i = 0; i < devices->count; i++)
        if (devices->numbers[i] == number)
            return true;
    return false;
}

static void add_number(struct device_numbers *devices, int32_t number)
{
    if (number >= 0 && devices->count < DEVICES_ROOM && !has_number(devices, number))
        devices->numbers[devices->count++] = number;
}

/* Of which memory was recorded, as blocks or as totals. */
static struct device_numbers recorded_devices(const struct tally *tally, uint16_t process)
{
    struct device_numbers devices = {.count = 0};

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->process == process)
            add_number(&devices, tally_ledger_at(tally, i)->device);
    for (size_t i = 0; i < tally_sample_count(tally); i++)
        if (tally_sample_at(tally, i)->process == process)
            add_number(&devices,
                       model_place_at(tally_model(tally), tally_sample_at(tally, i)->place).device);
    return devices;
}

static size_t worked_count(const struct model *model, uint16_t process)
{
    size_t count = 0;

    for (size_t i = 0; i < model_worked_device_count(model); i++)
        count += model_worked_device_at(model, i)->process == process;
    return count;
}

/* Not all drivers number devices as the framework does: on AMD's, kernels of device 0 run on 2. So
 * a number that is not there says nothing where memory of as many devices is. */
static bool is_unrecorded(const struct tally *tally, const struct model_worked_device *worked)
{
    struct device_numbers recorded = recorded_devices(tally, worked->process);

    return !has_number(&recorded, worked->device) &&
           worked_count(tally_model(tally), worked->process) > recorded.count;
}

/* The one that worked most. */
bool doubt_find_device_unrecorded(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct tally *tally = ground->question->tally;
    const struct model *model = tally_model(tally);

    for (size_t i = 0; i < model_worked_device_count(model); i++) {
        const struct model_worked_device *worked = model_worked_device_at(model, i);

        if (worked->kernel_count <= doubt->count || !is_unrecorded(tally, worked))
            continue;
        doubt->process = worked->process;
        doubt->count = worked->kernel_count;
        doubt->needed = (uint64_t)worked->device;
    }
    return doubt->count > 0;
}

bool doubt_find_state(const struct doubt_ground *ground, struct doubt *doubt)
{
    (void)doubt;
    return tally_is_state(ground->question->tally);
}

static bool has_blocks(const struct tally *tally)
{
    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->alloc_count)
            return true;
    return false;
}

/* With steps: in one of them. */
bool doubt_find_no_blocks(const struct doubt_ground *ground, struct doubt *doubt)
{
    bool has_steps = growth_longest_steps(ground->question).last > 0;

    if (ground->is_by_stacks ||
        (has_steps ? growth_has_blocks(ground->question) : has_blocks(ground->question->tally)))
        return false;
    doubt->detail = has_blocks(ground->question->tally)
                        ? translated("no block of the program's own was made in steps that could "
                                     "be judged. Mark steps, or name what begins one.")
                        : no_blocks_sentence(ground->question, ground->arena);
    return true;
}

bool doubt_find_hidden(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivors *survivors = ground->survivors;

    if (growth_steps_decide(ground->question) && growth_has_device_memory(ground->question))
        return false;
    for (size_t i = 0; survivors && i < survivors->process_count; i++) {
        doubt->process = survivors->processes[i].process;
        if (survivors->processes[i].hides_objects)
            return true;
    }
    return false;
}

bool doubt_find_missing(const struct doubt_ground *ground, struct doubt *doubt)
{
    (void)doubt;
    return missing_is_much(tally_model(ground->question->tally));
}

/* --- of the heaviest process ------------------------------------------------------------------ */

/* How much of a process is doubtful; 0: nothing. */
typedef uint64_t doubtful_bytes(const struct survivor_process *process);

static const struct survivor_process *heaviest(const struct doubt_ground *ground,
                                               doubtful_bytes *bytes_of, struct doubt *doubt)
{
    const struct survivors *survivors = ground->survivors;
    const struct survivor_process *most = NULL;

    for (size_t i = 0; survivors && i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];
        uint64_t bytes = bytes_of(process);

        if (bytes <= doubt->bytes ||
            model_process_at(tally_model(ground->question->tally), process->process)->is_helper)
            continue;
        most = process;
        doubt->process = process->process;
        doubt->bytes = bytes;
    }
    if (most)
        doubt->turns = most->turns;
    return most;
}

static uint64_t garbage_bytes(const struct survivor_process *process)
{
    return survivors_may_be_garbage(process) && !process->lacks_names ? process->garbage_bytes : 0;
}

/* The rules that would excuse it look for names that are not there. */
static uint64_t unnamed_bytes(const struct survivor_process *process)
{
    return survivors_may_be_garbage(process) && process->lacks_names ? process->garbage_bytes : 0;
}

static uint64_t fading_bytes(const struct survivor_process *process)
{
    return survivors_are_undecided(process) && !survivors_may_be_garbage(process)
               ? process->fading_bytes
               : 0;
}

static uint64_t few_turns_bytes(const struct survivor_process *process)
{
    return survivors_are_of_few_turns(process) ? process->bytes : 0;
}

static uint64_t origin_garbage(const struct survivor_origin *origin)
{
    return origin->garbage_bytes;
}

static uint64_t origin_fading(const struct survivor_origin *origin)
{
    return origin->fading_bytes;
}

/* Where most of these bytes are. */
static struct who who_has_most(const struct survivor_process *process,
                               uint64_t (*bytes_of)(const struct survivor_origin *))
{
    const struct survivor_origin *most = &process->origins[0];

    for (size_t i = 1; i < process->origin_count; i++)
        if (bytes_of(&process->origins[i]) > bytes_of(most))
            most = &process->origins[i];
    return most->stacks[0].who;
}

bool doubt_find_garbage(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, garbage_bytes, doubt);

    if (process)
        doubt->who = who_has_most(process, origin_garbage);
    return process != NULL;
}

bool doubt_find_unnamed(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, unnamed_bytes, doubt);

    if (process)
        doubt->who = who_has_most(process, origin_garbage);
    return process != NULL;
}

bool doubt_find_fading(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, fading_bytes, doubt);

    if (process)
        doubt->who = who_has_most(process, origin_fading);
    return process != NULL;
}

static uint64_t larger_work_bytes(const struct survivor_process *process)
{
    return survivors_may_be_larger_work(process) ? process->larger.doubtful_bytes : 0;
}

bool doubt_find_larger_work(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, larger_work_bytes, doubt);

    if (process)
        doubt->who = process->larger.who;
    return process != NULL;
}

bool doubt_find_few_turns(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, few_turns_bytes, doubt);

    if (!process)
        return false;
    doubt->who = process->origins[0].stacks[0].who;
    doubt->needed = TURNS_MIN;
    doubt->detail =
        survivor_sentence(ground->question, ground->arena, process, &process->origins[0],
                          leak_who(ground->question, ground->arena, doubt->who));
    return true;
}

static uint64_t unseen_bytes(const struct survivor_process *process)
{
    return process->unseen.bytes;
}

/* Resident memory that grows is no "No leak", whatever the blocks do. */
bool doubt_find_unseen(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, unseen_bytes, doubt);
    const struct resident_cause *cause;

    if (!process)
        return false;
    cause = resident_cause_of(&process->unseen.part);
    doubt->lasted_ns = process->unseen.duration_ns;
    doubt->turn_bytes = survivors_unseen_per_turn(process);
    doubt->detail = translated(cause->meaning);
    doubt->to_do = translated(cause->what_to_do);
    return true;
}

/* The pool that reserved most without need, in steps that are judged. */
bool doubt_find_fragments(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct question *question = ground->question;

    for (uint16_t i = 0; i < tally_ledger_count(question->tally); i++) {
        struct judged_steps steps =
            growth_steps_of(question, tally_ledger_at(question->tally, i)->process);
        struct reserved_rise rise = {.bytes = 0};

        if (steps.last - steps.warm_up >= growth_steps_needed(question))
            rise = reserved_rise_of(question, i, steps.warm_up + 1, steps.last);
        if (rise.bytes <= doubt->bytes)
            continue;
        doubt->process = steps.process;
        doubt->ledger = i;
        doubt->bytes = rise.bytes;
        doubt->count = rise.steps;
    }
    return doubt->bytes > 0;
}

/* Most of the time was a loop that ended before the process did, and much of it stays. */
static uint64_t stopped_bytes(const struct survivor_process *process)
{
    return stopped_loop_is_heavy(&process->stopped, process->peak_bytes) ? process->stopped.bytes
                                                                         : 0;
}

static const char *when_it_stopped(struct arena *arena, const struct stopped_loop *loop)
{
    if (!loop->after_ns) /* times of births are known about */
        return translated("ended just before the program did");
    return sentence(arena, "ended %s before the program did",
                    label_duration(arena, loop->after_ns));
}

/* What goes on to the end may leak nothing: most of the work was before. */
bool doubt_find_stopped_loop(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, stopped_bytes, doubt);

    if (!process)
        return false;
    doubt->who = process->stopped.who;
    doubt->count = process->stopped.count;
    doubt->lasted_ns = process->stopped.lasted_ns;
    doubt->detail = when_it_stopped(ground->arena, &process->stopped);
    return true;
}

/* --- what an interpreter lets go at its end --------------------------------------------------- */

static uint64_t let_go_bytes(const struct survivor_process *process)
{
    return survivors_are_let_go(process) ? process->waiting_bytes : 0;
}

/* Before the last collection could begin. What went with it is often of the same objects. */
bool doubt_find_let_go(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, let_go_bytes, doubt);

    if (!process)
        return false;
    doubt->who = process->waiting_who;
    doubt->other_bytes = process->let_go_bytes;
    doubt->other_who = process->let_go_who;
    return true;
}

/* Much of all that the process held: so much that it may be the leak. */
static uint64_t waiting_bytes(const struct survivor_process *process)
{
    return !survivors_are_let_go(process) && survivors_wait(process) &&
                   process->waiting_bytes >= process->peak_bytes / SMALL_SHARE
               ? process->waiting_bytes
               : 0;
}

bool doubt_find_waiting(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, waiting_bytes, doubt);

    if (process)
        doubt->who = process->waiting_who;
    return process != NULL;
}

/* --- what no stack tells ---------------------------------------------------------------------- */

static bool is_large_part(const struct survivor_process *process, uint64_t bytes)
{
    return bytes >= GROWN_BYTES_MIN && bytes >= process->peak_bytes / LARGE_SHARE;
}

/* Without what is known to be bounded. Its stacks were judged one by one. */
static uint64_t rise_bytes(const struct survivor_process *process)
{
    return !survivors_are_leak(process) &&
                   is_large_part(process, risen_bytes(process->bounded_bytes, process->risen.bytes))
               ? process->risen.bytes
               : 0;
}

bool doubt_find_rise(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, rise_bytes, doubt);

    if (process)
        doubt->lasted_ns = process->risen.duration_ns;
    return process != NULL;
}

static uint64_t pass_bytes(const struct survivor_process *process)
{
    return process->pass_bytes;
}

bool doubt_find_one_pass(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivor_process *process = heaviest(ground, pass_bytes, doubt);

    if (process)
        doubt->ledger = process->pass_ledger;
    return process != NULL;
}

/* On a device, or so much that it may be a leak: an arena within the program that doubles has a few
 * blocks, of which the last was made long before the end. */
static bool is_doubtful(const struct survivor_process *process, const struct survivor_pool *pool,
                        const struct tally *tally)
{
    return tally_ledger_at(tally, pool->ledger)->device >= 0 ||
           (pool->unjudged_births >= UNJUDGED_BIRTHS_MIN &&
            is_large_part(process, pool->unjudged_bytes));
}

/* Of a process that is judged, memory of a device stays that is not, or a large part of its own. */
bool doubt_find_unjudged_pool(const struct doubt_ground *ground, struct doubt *doubt)
{
    const struct survivors *survivors = ground->survivors;

    for (size_t i = 0; survivors && i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];

        for (size_t k = 0; process->is_judged && k < process->unjudged_pool_count; k++) {
            const struct survivor_pool *pool = &process->unjudged_pools[k];

            if (!is_doubtful(process, pool, ground->question->tally))
                continue;
            doubt->process = process->process;
            doubt->ledger = pool->ledger;
            doubt->bytes = pool->unjudged_bytes;
            return true;
        }
    }
    return false;
}
