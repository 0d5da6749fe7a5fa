/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the accounts of processes in a recording, with their insides.
 */
#include <stdlib.h>
#include <unistd.h>

#include "death.h"
#include "memory_accounts.c"
#include "resident_rise.c"

static struct memory_accounts accounts;
static struct memory_row row;

/* Two of one process. */
static void make(void)
{
    for (uint64_t i = 0; i < 2; i++) {
        account_begin(&accounts, &(struct event){.time_ns = i});
        account_close(&accounts);
    }
    if (accounts.has_failed || accounts.count != 2)
        _exit(1);
}

DAMAGE(make, no_part, account_part_name(ACCOUNT_PART_COUNT))
DAMAGE(make, no_key, account_cgroup_key(ACCOUNT_CGROUP_COUNT))
DAMAGE(make, no_title, account_cgroup_title(ACCOUNT_CGROUP_COUNT))
DAMAGE(make, highest_of_none, memory_accounts_highest(&accounts, 0, 0))
DAMAGE(make, highest_beyond, memory_accounts_highest(&accounts, 1, 2))
DAMAGE(make, too_few_to_thin, thin_out(&accounts, 0))
DAMAGE(make, accounts_most, accounts.capacity = 1; accounts_check(&accounts))
DAMAGE(make, rows_most, accounts.rows[1].row_count = 1; accounts_check(&accounts))
DAMAGE(make, rows_missing, accounts.rows[1].row_count = accounts.rows[1].row_capacity = 1;
       accounts_check(&accounts))
DAMAGE(make, time_back, accounts.rows[1].time_ns = 0; accounts.rows[0].time_ns = 1;
       accounts_check(&accounts))
DAMAGE(make, part_of_too_many, accounts.rows[0].rows = &row; accounts.rows[0].row_count = 1;
       memory_account_part(&accounts.rows[0], ACCOUNT_BLOCKS))

DAMAGE(make, grows_from_the_newest, resident_rise_parts(accounts.rows, 2, 1, NULL))
DAMAGE(make, cause_of_no_part,
       resident_cause_of(&(struct resident_part){.part = ACCOUNT_PART_COUNT}))
DAMAGE(make, did_not_grow, resident_rise_parts(accounts.rows, 2, 0, NULL))

int main(void)
{
    return deaths_run();
}
