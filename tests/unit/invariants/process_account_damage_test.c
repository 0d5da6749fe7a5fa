/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what takes accounts of processes, with its insides.
 */
#include <stdlib.h>
#include <unistd.h>

#include "account.c"
#include "account_notes.c"
#include "account_rows.c"
#include "account_taker.c"
#include "death.h"
#include "process_memory.c"

static struct account account;
static struct taking taking;
static struct mapping mapping;
static struct process_memory memory;

static struct mt_rings_process place;

static void make(void)
{
    int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);

    if (account_take("/proc/self", ACCOUNT_WHOLE, NULL, &account) != 0 || !account.row_count ||
        !process_memory_open(&memory, folder))
        _exit(1);
    mapping = (struct mapping){.start = 0, .end = 8192, .resident_bytes = 4096, .left_bytes = 4096};
}

DAMAGE(make, a_byte_more, account.rows[0].resident_bytes++; account_check(&account))
DAMAGE(make, more_left_than_there_is, mapping.left_bytes = 8192;
       take_rest(&taking, &mapping, ACCOUNT_FILES, "a"))
DAMAGE(make, no_such_note, account_note_at(&account, account_note_count(&account)))
DAMAGE(make, more_than_a_page, memory_at(&memory, 0, 1 << 20))
DAMAGE(make, window_turned, memory.start = 1; memory_at(&memory, 0, 8))
DAMAGE(make, pages_most, memory.page_count = PAGES_WINDOW + 1; page_is_resident(&memory, 0))
DAMAGE(make, rows_most, taking.rows.count = 1; account_rows_join(&taking.rows))

DAMAGE(make, asked_twice, account_taker_ask(getpid(), &place, ACCOUNT_ROUGH, NULL);
       account_taker_ask(getpid(), &place, ACCOUNT_ROUGH, NULL))

int main(void)
{
    return deaths_run();
}
