/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading ahead changes nothing about what is read: order, end and errors are those of the source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "error_sentence.h"
#include "read_ahead.h"

enum { event_count = 200000, changes_process_at = 77777, batch_events = 4096 };

/* Events that count from 0, in batches of any size. */
struct counting {
    uint64_t given;
    uint64_t fails_at; /* 0: never */
    size_t calls, rewinds;
};

static enum mt_result counting_rewind(void *context, struct mt_error *error)
{
    struct counting *counting = context;

    if (counting->fails_at == 1)
        return mt_error_set(error, MT_IO, "no way back");
    counting->given = 0;
    counting->rewinds++;
    return MT_OK;
}

static uint16_t process_of(uint64_t number)
{
    return number >= changes_process_at;
}

static enum mt_result counting_next(void *context, struct event *batch, size_t capacity,
                                    size_t *count, struct mt_error *error)
{
    struct counting *counting = context;
    size_t most = 1 + counting->calls++ * 7919 % 3000;
    uint16_t process = process_of(counting->given);

    if (most > capacity)
        most = capacity;
    for (*count = 0; *count < most && counting->given < event_count; (*count)++) {
        if (process_of(counting->given) != process)
            break;
        if (counting->fails_at && counting->given == counting->fails_at)
            return *count ? MT_OK : mt_error_set(error, MT_CORRUPT, "bad at %d", (int)*count);
        batch[*count] = (struct event){.time_ns = counting->given++, .process = process};
    }
    return MT_OK;
}

struct fixture {
    struct counting counting;
    struct read_ahead *ahead;
    struct event_source events;
    uint64_t seen;
};

static void begin(struct fixture *f, uint64_t alone_events)
{
    struct event_source inner = {&f->counting, counting_rewind, counting_next, NULL};

    *f = (struct fixture){.ahead = NULL};
    f->ahead = read_ahead_create(&inner, alone_events);
    assert_non_null(f->ahead);
    f->events = read_ahead_events(f->ahead);
}

/* Reads until the end, an error, or more than `enough` events. */
static enum mt_result read_on(struct fixture *f, size_t capacity, uint64_t enough,
                              struct mt_error *error)
{
    static struct event batch[batch_events];
    enum mt_result result = MT_OK;
    size_t count = 1;

    while (result == MT_OK && count && f->seen < enough) {
        result = f->events.next(f->events.context, batch, capacity, &count, error);
        assert_in_range(count, 0, capacity);
        for (size_t i = 0; result == MT_OK && i < count; i++) {
            assert_int_equal(batch[i].time_ns, f->seen++);
            assert_int_equal(batch[i].process, batch[0].process);
        }
    }
    return result;
}

static void events_come_in_the_order_of_the_source(void **state)
{
    static const size_t capacities[] = {1, 100, 2048, 2049, batch_events};
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        begin(&f, i * 5000);
        assert_int_equal(read_on(&f, capacities[i], UINT64_MAX, NULL), MT_OK);
        assert_int_equal(f.seen, event_count);
        read_ahead_destroy(f.ahead);
    }
}

static void lent_events_are_the_same_and_stay_until_the_next_call(void **state)
{
    static struct event batch[100];
    const struct event *lent;
    struct fixture f;
    size_t count = 1;

    (void)state;
    begin(&f, 9000);
    while (count) {
        assert_int_equal(f.events.lend(f.events.context, &lent, &count, NULL), MT_OK);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lent[i].time_ns, f.seen++);
            assert_int_equal(lent[i].process, lent[0].process);
        }
        if (f.seen / 5000 % 2 || !count) /* now and then a copy in between */
            continue;
        assert_int_equal(f.events.next(f.events.context, batch, 100, &count, NULL), MT_OK);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(batch[i].time_ns, f.seen++);
    }
    assert_int_equal(f.seen, event_count);
    assert_int_equal(f.events.lend(f.events.context, &lent, &count, NULL), MT_OK);
    assert_int_equal(count, 0);
    read_ahead_destroy(f.ahead);
}

static void a_short_source_is_read_by_the_caller_alone(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, UINT64_MAX);
    assert_int_equal(read_on(&f, 1000, 1000, NULL), MT_OK);
    assert_int_equal(f.counting.given, f.seen); /* nothing was read ahead */
    read_ahead_destroy(f.ahead);
}

static void the_end_and_an_error_stay_what_they_are(void **state)
{
    struct mt_error error = {.message = ""};
    struct fixture f;

    (void)state;
    begin(&f, 0);
    f.counting.fails_at = 123456;
    assert_int_equal(read_on(&f, 3000, UINT64_MAX, &error), MT_CORRUPT);
    assert_int_equal(f.seen, 123456);
    for (int again = 0; again < 2; again++) {
        assert_string_equal(error.message, "bad at 0");
        memset(&error, 0, sizeof(error));
        assert_int_equal(read_on(&f, 3000, UINT64_MAX, &error), MT_CORRUPT);
    }
    f.counting.fails_at = f.seen = 0;
    assert_int_equal(f.events.rewind(f.events.context, NULL), MT_OK);
    for (int again = 0; again < 2; again++)
        assert_int_equal(read_on(&f, 3000, UINT64_MAX, NULL), MT_OK);
    assert_int_equal(f.seen, event_count);
    read_ahead_destroy(f.ahead);
}

static void a_rewind_in_the_middle_begins_anew(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    for (uint64_t enough = 1; enough < event_count; enough = enough * 3 + 1000) {
        assert_int_equal(read_on(&f, 500, enough, NULL), MT_OK);
        f.seen = 0;
        assert_int_equal(f.events.rewind(f.events.context, NULL), MT_OK);
    }
    assert_int_equal(read_on(&f, 500, UINT64_MAX, NULL), MT_OK);
    assert_int_equal(f.seen, event_count);
    f.counting.fails_at = 1;
    assert_int_equal(f.events.rewind(f.events.context, NULL), MT_IO);
    read_ahead_destroy(f.ahead);
}

static void it_may_be_left_at_any_time(void **state)
{
    struct fixture f;

    (void)state;
    for (uint64_t enough = 0; enough < 60000; enough = enough * 2 + 1) {
        begin(&f, 0);
        assert_int_equal(read_on(&f, 3000, enough, NULL), MT_OK);
        read_ahead_destroy(f.ahead);
    }
    read_ahead_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_the_order_of_the_source),
        cmocka_unit_test(lent_events_are_the_same_and_stay_until_the_next_call),
        cmocka_unit_test(a_short_source_is_read_by_the_caller_alone),
        cmocka_unit_test(the_end_and_an_error_stay_what_they_are),
        cmocka_unit_test(a_rewind_in_the_middle_begins_anew),
        cmocka_unit_test(it_may_be_left_at_any_time),
    };

    return cmocka_run_group_tests_name("read_ahead", tests, NULL, NULL);
}
