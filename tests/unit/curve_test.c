/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A curve in bounded memory against the plain list of its changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "curve.h"

enum { change_count = 20000, span_ns = 1000000 };

static const struct curve_limits limits = {
    .start_ns = 500, .end_ns = 500 + span_ns, .change_most = 1000, .stretch_most = 400};

struct changes {
    uint64_t times[change_count], values[change_count];
};

static void make_changes(struct changes *changes, size_t count)
{
    uint64_t random = 12345;

    for (size_t i = 0; i < count; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        changes->times[i] = limits.start_ns + i * span_ns / count;
        changes->values[i] = random >> 44 | 1;
        if (i && changes->values[i] == changes->values[i - 1])
            changes->values[i]++;
    }
}

static void put_all(struct curve *curve, const struct changes *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(curve_put(curve, &limits, changes->times[i], changes->values[i]));
}

static void every_change_stays_while_they_are_few(void **state)
{
    struct changes *changes = *state;
    struct curve curve = {0};

    make_changes(changes, limits.change_most);
    put_all(&curve, changes, limits.change_most);
    assert_int_equal(curve.stretch_ns, 0);
    assert_int_equal(curve.count, limits.change_most);
    for (size_t i = 0; i < curve.count; i++) {
        assert_int_equal(curve.points[i].time_ns, changes->times[i]);
        assert_int_equal(curve.points[i].last, changes->values[i]);
        assert_int_equal(curve.points[i].high, changes->values[i]);
    }
    curve_release(&curve);
}

/* Lowest, highest and last of each stretch are those of the changes in it. */
static void stretches_keep_lowest_highest_and_last(void **state)
{
    struct changes *changes = *state;
    struct curve curve = {0};
    size_t at = 0;

    make_changes(changes, change_count);
    put_all(&curve, changes, change_count);
    assert_true(curve.stretch_ns > 0);
    assert_true(curve.count <= limits.stretch_most + 1);
    for (size_t i = 0; i < curve.count; i++) {
        const struct curve_point *point = &curve.points[i];
        uint64_t stretch = (point->time_ns - limits.start_ns) / curve.stretch_ns;
        uint64_t low = UINT64_MAX, high = 0, last = 0;

        assert_int_equal(point->time_ns, changes->times[at]);
        while (at < change_count &&
               (changes->times[at] - limits.start_ns) / curve.stretch_ns == stretch) {
            last = changes->values[at++];
            low = last < low ? last : low;
            high = last > high ? last : high;
        }
        assert_int_equal(point->low, low);
        assert_int_equal(point->high, high);
        assert_int_equal(point->last, last);
    }
    assert_int_equal(at, change_count);
    curve_release(&curve);
}

static void times_outside_or_going_back_are_moved_inside(void **state)
{
    struct curve curve = {0};

    (void)state;
    assert_true(curve_put(&curve, &limits, 0, 1));
    assert_true(curve_put(&curve, &limits, 9000, 2));
    assert_true(curve_put(&curve, &limits, 8000, 3));
    assert_true(curve_put(&curve, &limits, UINT64_MAX, 4));
    assert_int_equal(curve.points[0].time_ns, limits.start_ns);
    assert_int_equal(curve.points[2].time_ns, 9000);
    assert_int_equal(curve.points[3].time_ns, limits.end_ns);
    curve_release(&curve);
}

static void a_detail_keeps_what_is_next_to_its_moment(void **state)
{
    struct changes *changes = *state;
    struct curve_detail detail;
    const size_t moment = change_count / 3, capacity = 50;

    make_changes(changes, change_count);
    assert_true(curve_detail_init(&detail, changes->times[moment], capacity));
    for (size_t i = 0; i < change_count; i++)
        curve_detail_put(&detail, changes->times[i], changes->values[i]);
    assert_int_equal(curve_detail_count(&detail), 2 * capacity);
    for (size_t i = 0; i < 2 * capacity; i++) {
        assert_int_equal(curve_detail_at(&detail, i)->time_ns,
                         changes->times[moment + 1 - capacity + i]);
        assert_int_equal(curve_detail_at(&detail, i)->last,
                         changes->values[moment + 1 - capacity + i]);
    }
    curve_detail_release(&detail);
}

static void a_detail_of_few_changes_has_them_all(void **state)
{
    struct curve_detail detail;

    (void)state;
    assert_true(curve_detail_init(&detail, 5, 8));
    for (uint64_t time_ns = 4; time_ns < 8; time_ns++)
        curve_detail_put(&detail, time_ns, time_ns * 10);
    assert_int_equal(curve_detail_count(&detail), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(curve_detail_at(&detail, i)->last, (i + 4) * 10);
    curve_detail_release(&detail);
}

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct changes));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_change_stays_while_they_are_few, setup, teardown),
        cmocka_unit_test_setup_teardown(stretches_keep_lowest_highest_and_last, setup, teardown),
        cmocka_unit_test(times_outside_or_going_back_are_moved_inside),
        cmocka_unit_test_setup_teardown(a_detail_keeps_what_is_next_to_its_moment, setup, teardown),
        cmocka_unit_test(a_detail_of_few_changes_has_them_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
