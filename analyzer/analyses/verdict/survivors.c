/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overdue survivors of all stacks of a recording.
 *
 *   lives -> rows (survivor_rows.h), one for each shape of stack
 *              |  when their process is over: judged one by one (survivor_judging.h)
 *              v
 *            stacks that keep something -> origins (survivor_origins.h) -> process
 */
#include "survivors.h"

#include <stdlib.h>

#include "compare.h"
#include "leak_weight.h"
#include "survivor_judging.h"
#include "survivor_rows.h"

struct survivor_reading {
    struct survivor_rows rows;          /* of the process that is read */
    struct arena arena;                 /* of what is found */
    struct survivor_process *processes; /* that are over; heaviest first */
    size_t process_most;
    struct survivors result;
    bool has_rows, has_failed;
};

/* --- reading --------------------------------------------------------------------------------- */

static bool on_born(void *context, const struct life *life)
{
    return survivor_rows_born(&((struct survivor_reading *)context)->rows, life);
}

static bool on_over(void *context, const struct life *life)
{
    return survivor_rows_over(&((struct survivor_reading *)context)->rows, life);
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
static bool hides_objects(const struct survivor_current *current,
                          const struct model_process *process)
{
    return !current->sees_objects && (current->hides_objects || process->hides_objects);
}

static struct survivor_process process_read(struct survivor_reading *reading, uint16_t number)
{
    const struct tally *tally = question_ledgers(reading->rows.question);
    const struct survivor_current *current = &reading->rows.current;
    const struct model_process *process = model_process_at(tally_model(tally), number);

    return (struct survivor_process){
        .process = number,
        .lacks_names = current->lacks_names,
        .hides_objects = hides_objects(current, process),
        .is_errand = process->is_errand,
        .is_cut = current->ends.python.births && !current->interpreter_end.is_cleared &&
                  !process->is_window,
        .peak_bytes = leak_process_bytes(tally, number),
        .end = (uint32_t)current->work_end.births,
        .unseen = unseen_watch_end(&reading->rows.unseen, number, &reading->arena),
    };
}

static bool on_event(void *context, const struct event *event)
{
    return survivor_rows_refused(&((struct survivor_reading *)context)->rows, event);
}

static bool on_process_over(void *context, uint16_t number)
{
    struct survivor_reading *reading = context;
    struct survivor_process process;
    struct model *model = tally_model(reading->rows.question->tally);

    survivor_rows_catch_up(&reading->rows);
    survivor_rows_end_work(&reading->rows, number);
    process = process_read(reading, number);

    if (reading->result.process_count < reading->process_most) {
        if (model_process_at(model, number)->is_window)
            survivor_rows_settle(&reading->rows);
        reading->has_failed |= !survivor_process_judge(&reading->rows, &reading->arena, &process);
        reading->processes[reading->result.process_count++] = process;
        qsort(reading->processes, reading->result.process_count, sizeof(process), process_compare);
    }
    survivor_rows_next_process(&reading->rows);
    return !reading->has_failed;
}

/* --- from outside ---------------------------------------------------------------------------- */

struct survivor_reading *survivor_reading_create(const struct question *question,
                                                 struct life_visitor *visitor)
{
    struct survivor_reading *reading = calloc(1, sizeof(*reading));

    if (!reading)
        return NULL;
    arena_init(&reading->arena);
    reading->process_most = model_process_count(question->model);
    reading->processes = calloc(reading->process_most + 1, sizeof(*reading->processes));
    reading->result.processes = reading->processes;
    if (!reading->processes || !survivor_rows_init(&reading->rows, question)) {
        arena_release(&reading->arena);
        free(reading->processes);
        free(reading);
        return NULL;
    }
    reading->has_rows = true;
    *visitor = (struct life_visitor){.context = reading,
                                     .born = on_born,
                                     .over = on_over,
                                     .event = on_event,
                                     .process_over = on_process_over,
                                     .event_kinds = 1u << EVENT_ALLOC_FAILED};
    return reading;
}

const struct survivors *survivor_reading_finish(struct survivor_reading *reading)
{
    bool has_failed = reading->has_failed || reading->rows.has_failed;

    survivor_rows_release(&reading->rows);
    reading->has_rows = false;
    return has_failed ? NULL : &reading->result;
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
    if (reading->has_rows)
        survivor_rows_release(&reading->rows);
    arena_release(&reading->arena);
    free(reading->processes);
    free(reading);
}
