/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for a consumer that does nothing: for how long, and that each wait has an end. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "owner.h"
#include "patience.h"

enum { SLICE_MS = 100, NEVER_MS = 2 * PATIENCE_MAX_MS };

static uint64_t now_ms;

uint64_t clock_now_ns(clockid_t clock)
{
    (void)clock;
    return now_ms * UINT64_C(1000000);
}

static struct mt_rings_header header;

/* What another process has in its hands: its number in the first word, or that it died. */
static void own(struct mt_rings_owner *owner, uint32_t word)
{
    memcpy(owner->mutex, &word, sizeof(word));
}

enum { LIVES = 4711, DIED = 0x40000000 };

static void begin(enum mt_rings_consumer state)
{
    header = (struct mt_rings_header){
        .consumer_state = state,
        .patience_ms = {[MT_CONSUMER_READY] = 500000,
                        [MT_CONSUMER_WAITS] = 60000,
                        [MT_CONSUMER_STOPPED] = 30000,
                        [MT_CONSUMER_DEAD] = 20000},
    };
    own(&header.launcher, LIVES);
    own(&header.consumer, LIVES);
    now_ms = 1000;
}

/* In how many ms a wait ends; the launcher looks each time. */
static uint64_t wait_ms(bool launcher_looks, void (*each)(uint64_t waited_ms))
{
    struct patience patience = {0};
    uint64_t begin_ms = now_ms;

    while (patience_lasts(&patience, &header) && now_ms - begin_ms < NEVER_MS) {
        now_ms += SLICE_MS;
        header.launcher_beat += launcher_looks;
        if (each)
            each(now_ms - begin_ms);
    }
    return now_ms - begin_ms;
}

static void each_state_has_its_patience(void **unused)
{
    static const struct {
        enum mt_rings_consumer state;
        uint64_t ms;
    } rows[] = {
        {MT_CONSUMER_UNWATCHED, PATIENCE_UNWATCHED_MS},
        {MT_CONSUMER_READY, 500000},
        {MT_CONSUMER_WAITS, 60000},
        {MT_CONSUMER_STOPPED, 30000},
        {MT_CONSUMER_DEAD, 20000},
        {MT_CONSUMER_GONE, 0},
        {MT_CONSUMER_STATES, 0},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(rows[i].state);
        assert_int_equal(wait_ms(true, NULL), rows[i].ms);
    }
}

static void a_dead_consumer_is_seen_before_its_launcher_says_so(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_READY);
    own(&header.consumer, DIED);
    assert_int_equal(wait_ms(true, NULL), 20000);
}

/* The program may be killed next. */
static void it_is_a_second_when_both_are_dead(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_READY);
    own(&header.consumer, DIED);
    own(&header.launcher, DIED);
    assert_int_equal(wait_ms(false, NULL), PATIENCE_UNWATCHED_MS);
}

static void without_a_launcher_it_is_a_second(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_READY);
    own(&header.launcher, DIED);
    assert_int_equal(wait_ms(false, NULL), PATIENCE_UNWATCHED_MS);
    begin(MT_CONSUMER_READY);
    header.is_launcher_done = 1;
    assert_int_equal(wait_ms(false, NULL), PATIENCE_UNWATCHED_MS);
    begin(MT_CONSUMER_READY);
    own(&header.launcher, 0); /* of a launcher that does not watch */
    assert_int_equal(wait_ms(false, NULL), PATIENCE_UNWATCHED_MS);
}

static void a_launcher_that_lives_and_says_nothing_is_waited_for(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_READY);
    assert_int_equal(wait_ms(false, NULL), PATIENCE_LAUNCHER_MS);
}

static void hostile_words_make_no_endless_wait(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_READY);
    header.patience_ms[MT_CONSUMER_READY] = UINT32_MAX;
    assert_int_equal(wait_ms(true, NULL), PATIENCE_MAX_MS);
}

static void beat_until(uint64_t waited_ms)
{
    if (waited_ms <= 100000)
        header.heartbeat++;
}

static void what_the_consumer_does_begins_the_time_anew(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_STOPPED);
    assert_int_equal(wait_ms(true, beat_until), 100000 + 30000);
}

static void sleep_once(uint64_t waited_ms)
{
    if (waited_ms == 1000)
        now_ms += 600000;
}

static void time_in_which_nobody_could_run_does_not_count(void **unused)
{
    (void)unused;
    begin(MT_CONSUMER_STOPPED);
    assert_true(wait_ms(true, sleep_once) >= 600000 + 29000);
}

/* In a child that ends in each way. */
static void the_end_of_an_owner_is_seen(void **unused)
{
    struct mt_rings_owner *owner =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    (void)unused;
    assert_ptr_not_equal(owner, MAP_FAILED);
    assert_int_equal(owner_look(owner), OWNER_NONE);
    child = fork();
    if (!child) {
        owner_lock((pthread_mutex_t *)owner);
        if (owner_look(owner) != OWNER_LIVES)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(owner_look(owner), OWNER_DIED);
    munmap(owner, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_has_its_patience),
        cmocka_unit_test(a_dead_consumer_is_seen_before_its_launcher_says_so),
        cmocka_unit_test(it_is_a_second_when_both_are_dead),
        cmocka_unit_test(without_a_launcher_it_is_a_second),
        cmocka_unit_test(a_launcher_that_lives_and_says_nothing_is_waited_for),
        cmocka_unit_test(hostile_words_make_no_endless_wait),
        cmocka_unit_test(what_the_consumer_does_begins_the_time_anew),
        cmocka_unit_test(time_in_which_nobody_could_run_does_not_count),
        cmocka_unit_test(the_end_of_an_owner_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
