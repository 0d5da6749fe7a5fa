/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of processes that end: only of those that wait until they were read.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_taker.h"

static uint32_t waits, is_read;
static const struct account_waiter waiter = {&waits, &is_read};

/* Of this process. Returns the errno; 0: there was an account, and it is released. */
static int take(const struct account_waiter *who)
{
    struct account account;
    int error = 0;

    assert_true(account_taker_ask(getpid(), ACCOUNT_ROUGH, who));
    while (!account_taker_poll(&account, &error))
        usleep(100);
    if (!error) {
        assert_true(account.figures[ACCOUNT_FIGURE_RESIDENT] > 0);
        account_release(&account);
    }
    return error;
}

static void who_waits_is_read_and_woken(void **state)
{
    (void)state;
    waits = 1;
    is_read = 0;
    assert_int_equal(take(&waiter), 0);
    assert_int_equal(is_read, 1);
}

/* What it had may be given back already. Its words may be another process's by now. */
static void who_went_on_has_no_account(void **state)
{
    (void)state;
    waits = is_read = 0;
    assert_int_equal(take(&waiter), ECANCELED);
    assert_int_equal(is_read, 0);
}

static void of_others_nobody_asks(void **state)
{
    (void)state;
    waits = is_read = 0;
    assert_int_equal(take(NULL), 0);
    assert_int_equal(is_read, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_read_and_woken),
        cmocka_unit_test(who_went_on_has_no_account),
        cmocka_unit_test(of_others_nobody_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
