/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what is judged stack by stack, and of what all blocks hold.
 */
#include <stdint.h>

#include "block_rise.h"
#include "death.h"
#include "overdue.h"

static struct overdue_stack stack;
static struct block_rise rise;

static void make(void)
{
    for (uint32_t i = 0; i < 10; i++)
        overdue_born(&stack, 10 * i, 100);
    overdue_gone(&stack, 0, 95, 100, false);
    block_rise_born(&rise, 1, 100);
}

static void judge(void)
{
    overdue_judge(&stack, 91, OVERDUE_SWEEP_ALL);
}

DAMAGE(make, born_before, overdue_born(&stack, 80, 100))
DAMAGE(make, gone_before, overdue_gone(&stack, 90, 80, 100, false))
DAMAGE(make, gone_too_much, overdue_gone(&stack, 90, 95, 1000, false))
DAMAGE(make, gone_twice, overdue_gone(&stack, 90, 95, 100, false);
       overdue_gone(&stack, 90, 95, 100, false))
DAMAGE(make, rows, stack.row_capacity = stack.row_count - 1; judge())
DAMAGE(make, empty_before, stack.first = 50; judge())
DAMAGE(make, empty_behind, stack.empty = stack.last + 1; judge())
DAMAGE(make, no_rows, stack.row_count = 0; overdue_rise_of(&stack))
DAMAGE(make, risen, block_rise_gone(&rise, 2, 200))

int main(void)
{
    return deaths_run();
}
