/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives of blocks against a plain list of what was handed out, and against the tally.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lives.h"
#include "model.h"

enum { event_most = 40000, address_count = 3000, process_count = 2, site_count = 500 };

struct expected {
    uint64_t address, size_bytes, born_ns, freed_ns;
    uint16_t process, pool;
    uint32_t born_step;
};

struct fixture {
    struct model *model;
    struct event events[event_most];
    size_t event_count, given;
    struct expected expected[event_most];
    size_t expected_count;
    size_t born_count, over_count, event_seen, process_over_count;
    size_t stop_after;
    uint64_t survivor_next; /* that survivors come oldest first */
    uint16_t pools[2];
};

static enum mt_result rewind_events(void *context, struct mt_error *error)
{
    struct fixture *f = context;

    (void)error;
    f->given = 0;
    return MT_OK;
}

static enum mt_result next_events(void *context, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct fixture *f = context;

    (void)error;
    *count = 0;
    while (f->given < f->event_count && *count < capacity &&
           (!*count || f->events[f->given].process == batch[0].process))
        batch[(*count)++] = f->events[f->given++];
    return MT_OK;
}

static const struct expected *expected_at(struct fixture *f, const struct life *life)
{
    const struct expected *row = &f->expected[life->index];

    assert_in_range(life->index, 0, f->expected_count - 1);
    assert_int_equal(life->address, row->address);
    assert_int_equal(life->size_bytes, row->size_bytes);
    assert_int_equal(life->born_ns, row->born_ns);
    assert_int_equal(life->born_step, row->born_step);
    return row;
}

static bool on_born(void *context, const struct life *life)
{
    struct fixture *f = context;

    expected_at(f, life);
    assert_int_equal(life->index, f->born_count);
    f->born_count++;
    return !f->stop_after || f->born_count < f->stop_after;
}

static bool on_over(void *context, const struct life *life)
{
    struct fixture *f = context;

    assert_int_equal(life->freed_ns, expected_at(f, life)->freed_ns);
    if (life->freed_ns == UINT64_MAX) {
        assert_true(life->index >= f->survivor_next);
        f->survivor_next = life->index + 1;
    }
    f->over_count++;
    return true;
}

static bool on_event(void *context, const struct event *event)
{
    struct fixture *f = context;

    assert_memory_equal(event, &f->events[f->event_seen], sizeof(*event));
    f->event_seen++;
    return true;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct fixture *f = context;

    assert_int_equal(process, f->process_over_count);
    f->process_over_count++;
    return true;
}

static void add(struct fixture *f, struct event event)
{
    event.time_ns = 1000000 * (f->event_count + 1);
    f->events[f->event_count++] = event;
}

/* Random blocks of two pools that use the same addresses; a step begins and ends now and then. */
static void make_process(struct fixture *f, uint16_t process, size_t count)
{
    static size_t alive[2][address_count]; /* expected row + 1 */
    uint64_t step = 0;

    memset(alive, 0, sizeof(alive));
    for (size_t i = 0; i < count; i++) {
        size_t pool = (size_t)rand() % 2, slot = (size_t)rand() % address_count;
        struct event event = {.address = 0x1000 + slot * 16,
                              .pool = f->pools[pool],
                              .process = process,
                              .kind = EVENT_FREE};

        if (i % 5000 == 1000)
            add(f, (struct event){.process = process, .kind = EVENT_STEP_BEGIN, .value = ++step});
        if (alive[pool][slot]) {
            add(f, event);
            f->expected[alive[pool][slot] - 1].freed_ns = f->events[f->event_count - 1].time_ns;
            alive[pool][slot] = 0;
            continue;
        }
        event.kind = EVENT_ALLOC;
        event.value = 1 + (uint64_t)rand() % 5000;
        event.site = (uint32_t)rand() % site_count; /* of both processes, and none */
        add(f, event);
        f->expected[f->expected_count++] =
            (struct expected){.address = event.address,
                              .size_bytes = event.value,
                              .born_ns = f->events[f->event_count - 1].time_ns,
                              .freed_ns = UINT64_MAX,
                              .process = process,
                              .pool = event.pool,
                              .born_step = (uint32_t)step};
        alive[pool][slot] = f->expected_count;
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_int_equal(model_create(&f->model, NULL), MT_OK);
    f->pools[0] = model_pool(f->model, model_text(f->model, "host", 4));
    f->pools[1] = model_pool(f->model, model_text(f->model, "hal", 3));
    srand(7);
    for (uint16_t i = 0; i < process_count; i++) {
        struct model_process process = {.process_id = 10u + i};

        model_process(f->model, &process);
        make_process(f, i, event_most / process_count - 10);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    model_destroy(f->model);
    free(f);
    return 0;
}

static enum mt_result read_lives(struct fixture *f)
{
    const struct event_source events = {f, rewind_events, next_events, NULL};
    const struct life_visitor visitor = {.context = f,
                                         .born = on_born,
                                         .over = on_over,
                                         .event = on_event,
                                         .process_over = on_process_over};

    return lives_read(&events, f->model, &visitor, NULL);
}

static void every_block_is_given_once_with_its_whole_life(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(read_lives(f), MT_OK);
    assert_int_equal(f->event_seen, f->event_count);
    assert_int_equal(f->born_count, f->expected_count);
    assert_int_equal(f->over_count, f->expected_count);
    assert_int_equal(f->process_over_count, process_count);
}

static void a_visitor_can_stop_the_reading(void **state)
{
    struct fixture *f = *state;

    f->stop_after = 100;
    assert_int_equal(read_lives(f), MT_OK);
    assert_int_equal(f->born_count, 100);
    assert_int_equal(f->process_over_count, 0);
}

static bool on_step(void *context, const struct event *event)
{
    size_t *count = context;

    assert_true(event->kind == EVENT_STEP_BEGIN || event->kind == EVENT_ALLOC_FAILED);
    ++*count;
    return true;
}

static void several_visitors_share_a_reading(void **state)
{
    enum { seen_most = 100 };
    struct fixture *f = *state;
    struct fixture *impatient = calloc(1, sizeof(*impatient));
    const struct event_source events = {f, rewind_events, next_events, NULL};
    size_t step_count = 0, expected_steps = 0;
    const struct life_visitor visitors[] = {
        {.context = impatient, .born = on_born, .process_over = on_process_over},
        {.context = f, .born = on_born, .over = on_over, .process_over = on_process_over},
        {.context = &step_count,
         .event = on_step,
         .event_kinds = 1u << EVENT_STEP_BEGIN | 1u << EVENT_ALLOC_FAILED},
    };

    assert_non_null(impatient);
    memcpy(impatient->expected, f->expected, sizeof(f->expected));
    impatient->expected_count = f->expected_count;
    impatient->stop_after = seen_most;
    for (size_t i = 0; i < f->event_count; i++)
        expected_steps += f->events[i].kind == EVENT_STEP_BEGIN;

    assert_int_equal(lives_read_together(&events, f->model, NULL, visitors, 3, NULL), MT_OK);
    assert_int_equal(impatient->born_count, seen_most);
    assert_int_equal(impatient->process_over_count, 0);
    assert_int_equal(f->born_count, f->expected_count);
    assert_int_equal(f->over_count, f->expected_count);
    assert_int_equal(f->process_over_count, process_count);
    assert_int_equal(step_count, expected_steps);
    assert_true(step_count > 0);
    free(impatient);
}

/* Groups and ledgers of all lives. */
struct owners {
    uint64_t sum;
    size_t count;
};

static bool on_owner(void *context, const struct life *life)
{
    struct owners *owners = context;

    owners->sum = owners->sum * 31 + ((uint64_t)life->group << 16 | life->ledger);
    owners->count++;
    return true;
}

static struct tally *tally_of(struct fixture *f, size_t event_count)
{
    struct tally *tally;

    assert_int_equal(tally_create(f->model, &tally, NULL), MT_OK);
    for (size_t i = 0; i < event_count; i++)
        assert_int_equal(tally_feed(tally, &f->events[i], 1, NULL), MT_OK);
    tally_finish(tally);
    return tally;
}

static struct owners owners_of(struct fixture *f, const struct tally *first)
{
    const struct event_source events = {f, rewind_events, next_events, NULL};
    struct owners owners = {0, 0};
    const struct life_visitor visitor = {.context = &owners, .over = on_owner};

    assert_int_equal(lives_read_together(&events, f->model, first, &visitor, 1, NULL), MT_OK);
    assert_int_equal(owners.count, f->expected_count);
    return owners;
}

static void groups_of_the_first_reading_keep_their_numbers(void **state)
{
    struct fixture *f = *state;
    struct tally *first = tally_of(f, f->event_count);

    assert_true(tally_group_count(first) > site_count);
    assert_true(owners_of(f, first).sum == owners_of(f, NULL).sum);
    tally_destroy(first);
}

/* The recording has grown since: what is new is numbered behind what is known. */
static void groups_that_came_later_are_added(void **state)
{
    struct fixture *f = *state;

    for (size_t part = 0; part < f->event_count; part += f->event_count / 7) {
        struct tally *first = tally_of(f, part);

        assert_true(owners_of(f, first).sum == owners_of(f, NULL).sum);
        tally_destroy(first);
    }
}

static void assert_same_sums(const struct tally *a, const struct tally *b)
{
    assert_int_equal(tally_group_count(a), tally_group_count(b));
    for (size_t i = 1; i < tally_group_count(a); i++)
        assert_memory_equal(tally_group_at(a, i), tally_group_at(b, i), sizeof(struct group));
    assert_int_equal(tally_ledger_count(a), tally_ledger_count(b));
    for (size_t i = 0; i < tally_ledger_count(a); i++)
        assert_memory_equal(tally_ledger_at(a, i), tally_ledger_at(b, i), sizeof(struct ledger));
    assert_int_equal(tally_step_count(a), tally_step_count(b));
    assert_true(tally_step_count(a) > process_count);
    for (size_t i = 0; i < tally_step_count(a); i++)
        assert_memory_equal(tally_step_at(a, i), tally_step_at(b, i), sizeof(struct step));
    for (size_t i = 1; i < tally_group_count(a); i++) {
        const struct group_past *past = tally_past_at(a, i), *other = tally_past_at(b, i);

        assert_int_equal(past->left_bytes, other->left_bytes);
        assert_int_equal(past->freed_age, other->freed_age);
        assert_int_equal(past->example_birth, other->example_birth);
        assert_int_equal(past->example_address, other->example_address);
        assert_int_equal(past->series.count, other->series.count);
    }
}

/* A visitor that has seen enough does not end it. */
static void sums_and_lives_come_from_one_reading(void **state)
{
    struct fixture *f = *state;
    struct fixture *impatient = calloc(1, sizeof(*impatient));
    struct tally *alone = tally_of(f, f->event_count), *sums;
    const struct event_source events = {f, rewind_events, next_events, NULL};
    struct owners owners = {0, 0};
    const struct life_visitor visitors[] = {
        {.context = impatient, .born = on_born},
        {.context = &owners, .over = on_owner},
        {.context = f, .born = on_born, .over = on_over, .process_over = on_process_over}};

    assert_non_null(impatient);
    memcpy(impatient->expected, f->expected, sizeof(f->expected));
    impatient->expected_count = f->expected_count;
    impatient->stop_after = 10;
    for (size_t i = 0; i < 2; i++) {
        size_t count = i ? 1 : 3; /* the last time, with the impatient one alone */

        assert_int_equal(tally_create(f->model, &sums, NULL), MT_OK);
        assert_int_equal(lives_add_up(&events, sums, visitors, count, NULL), MT_OK);
        assert_same_sums(alone, sums);
        tally_destroy(sums);
        impatient->born_count = 0;
    }
    assert_int_equal(f->born_count, f->expected_count);
    assert_int_equal(f->over_count, f->expected_count);
    assert_int_equal(f->process_over_count, process_count);
    assert_true(owners.sum == owners_of(f, NULL).sum);
    tally_destroy(alone);
    free(impatient);
}

/* Phases as they are told: a letter and the number of the event. */
static bool on_phase(void *context, enum step_phase phase, uint64_t event)
{
    static const char letters[PHASE_COUNT] = "-fbo";
    char *out = context;

    sprintf(out + strlen(out), "%c%d ", letters[phase], (int)event);
    return true;
}

static void phases_are_told_with_the_event_that_begins_them(void **state)
{
    struct fixture *f = *state;
    uint32_t backward = model_text(f->model, "backward", 8), mm = model_text(f->model, "mm", 2);
    char told[128] = "";
    const struct life_visitor visitor = {.context = told, .phase = on_phase};
    const struct event_source source = {f, rewind_events, next_events, NULL};

    f->event_count = 0;
    add(f, (struct event){.kind = EVENT_OPERATOR_BEGIN, .text = mm}); /* 1: in no step */
    add(f, (struct event){.kind = EVENT_OPERATOR_END});
    add(f, (struct event){.kind = EVENT_STEP_BEGIN, .value = 1});
    add(f, (struct event){.kind = EVENT_ALLOC, .address = 1, .value = 8});
    add(f, (struct event){.kind = EVENT_OPERATOR_BEGIN, .text = mm}); /* 5 */
    add(f, (struct event){.kind = EVENT_OPERATOR_END});
    add(f, (struct event){.kind = EVENT_ALLOC, .address = 2, .value = 8});
    add(f, (struct event){.kind = EVENT_RANGE_BEGIN, .text = backward, .address = 3}); /* 8 */
    add(f, (struct event){.kind = EVENT_STEP_END, .value = 1});
    add(f, (struct event){.kind = EVENT_STEP_BEGIN, .value = 2}); /* 10: the range goes on */
    assert_int_equal(lives_read(&source, f->model, &visitor, NULL), MT_OK);
    assert_string_equal(told, "f5 b8 -9 b10 ");
}

static void rewinding_a_model_gives_the_same_rows(void **state)
{
    struct fixture *f = *state;
    struct model_process process = {.process_id = 10, .event_count = 5};
    struct model_module module = {.base = 0x5000, .size_bytes = 0x1000, .unloaded_ns = UINT64_MAX};
    struct model_module other = {.base = 0x5000, .size_bytes = 0x800, .unloaded_ns = UINT64_MAX};
    struct model_site early = {.address = 0x5100, .time_ns = 10}, late = early;
    uint64_t count;
    uint32_t first, second, frame = model_frame(f->model, (struct model_frame){.address = 0x5100}),
                            stack = model_stack(f->model, 0, frame);

    late.time_ns = 30;
    assert_false(model_module(f->model, &module));
    first = model_site(f->model, early);
    model_module_gone(f->model, 0, 0x5000, 20);
    assert_true(model_module(f->model, &other));
    second = model_site(f->model, late);
    assert_int_not_equal(first, second);
    model_note(f->model, 2, "twice");

    model_rewind(f->model);
    assert_int_equal(model_process(f->model, &process), 0);
    assert_int_equal(model_process_fill(f->model, 0)->event_count, 5);
    assert_int_equal(model_process_at(f->model, 0)->event_count, 0);
    process.process_id = 11;
    assert_int_equal(model_process(f->model, &process), 1);
    assert_false(model_module(f->model, &module));
    assert_int_equal(model_site(f->model, early), first);
    model_module_gone(f->model, 0, 0x5000, 20);
    assert_true(model_module(f->model, &other));
    assert_int_equal(model_site(f->model, late), second);
    model_note(f->model, 2, "twice");

    assert_int_equal(model_module_count(f->model), 2);
    assert_int_equal(model_process_count(f->model), process_count);
    assert_int_equal(model_frame(f->model, (struct model_frame){.address = 0x5100}), frame);
    assert_int_equal(model_stack(f->model, 0, frame), stack);
    model_note(f->model, 0, "found only now");

    assert_int_equal(model_note_count(f->model), 2);
    assert_string_equal(model_note_at(f->model, 0, &count), "twice");
    assert_int_equal(count, 2);
    assert_string_equal(model_note_at(f->model, 1, &count), "found only now");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_block_is_given_once_with_its_whole_life, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_visitor_can_stop_the_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(several_visitors_share_a_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_of_the_first_reading_keep_their_numbers, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(groups_that_came_later_are_added, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_and_lives_come_from_one_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(phases_are_told_with_the_event_that_begins_them, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(rewinding_a_model_gives_the_same_rows, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
