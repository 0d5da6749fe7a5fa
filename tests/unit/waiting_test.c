/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for more than a second at a terminal is told so. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cmocka.h>

#include "waiting.h"

enum { passed_on_ms = 300 };

/* What was written comes through a terminal a little later, and in pieces. */
static void read_all(int master, char *shown, size_t shown_bytes)
{
    struct pollfd ready = {.fd = master, .events = POLLIN};
    size_t count = 0;
    ssize_t length;

    while (count + 1 < shown_bytes && poll(&ready, 1, passed_on_ms) > 0 &&
           (length = read(master, shown + count, shown_bytes - 1 - count)) > 0)
        count += (size_t)length;
    shown[count] = 0;
}

/* What the terminal shows of a wait, into shown. */
static void wait_at_terminal(useconds_t microseconds, const struct mt_progress *progress,
                             char *shown, size_t shown_bytes)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), slave, old = dup(STDERR_FILENO);

    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    dup2(slave, STDERR_FILENO);
    waiting_begin();
    if (progress)
        waiting_note(NULL, progress);
    usleep(microseconds);
    waiting_end();
    waiting_end();
    dup2(old, STDERR_FILENO);
    read_all(master, shown, shown_bytes);
    close(slave);
    close(master);
    close(old);
}

/* From one second on; on a busy machine, 2 s too. */
static void a_long_wait_is_told_and_taken_back(void **state)
{
    static const char first[] = "\r\033[Kleaktide: reading, 1 s";
    char shown[2048];

    (void)state;
    wait_at_terminal(1200000, NULL, shown, sizeof(shown));
    assert_int_equal(strncmp(shown, first, sizeof(first) - 1), 0);
    assert_string_equal(shown + strlen(shown) - 4, "\r\033[K");
}

static void how_far_and_how_fast_is_told(void **state)
{
    static const struct mt_progress half = {
        .event_count = 500000, .expected_count = 1000000, .reading = 1};
    char shown[2048];

    (void)state;
    wait_at_terminal(1200000, &half, shown, sizeof(shown));
    assert_non_null(strstr(shown, ", 500,000 events, "));
    assert_non_null(strstr(shown, " a second, 50 %, "));
    assert_non_null(strstr(shown, " s left"));
}

static void a_short_wait_is_silent(void **state)
{
    char shown[2048];

    (void)state;
    wait_at_terminal(100000, NULL, shown, sizeof(shown));
    assert_string_equal(shown, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait_is_told_and_taken_back),
        cmocka_unit_test(how_far_and_how_fast_is_told),
        cmocka_unit_test(a_short_wait_is_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
