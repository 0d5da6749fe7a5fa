/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that are open, in the order in which they began.
 */
#include "open_operators.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

bool open_operators_begin(struct open_operators *operators, const struct event *begin)
{
    if (!list_has_room(&operators->rows, &operators->capacity, operators->count,
                       sizeof(*operators->rows)))
        return false;
    operators->rows[operators->count++] =
        (struct open_operator){begin->thread, begin->text, begin->time_ns};
    return true;
}

bool open_operators_end(struct open_operators *operators, uint32_t thread,
                        struct open_operator *ended)
{
    size_t i = operators->count;

    while (i > 0 && operators->rows[i - 1].thread != thread)
        i--;
    if (!i)
        return false;
    *ended = operators->rows[i - 1];
    memmove(&operators->rows[i - 1], &operators->rows[i],
            (operators->count - i) * sizeof(*operators->rows));
    operators->count--;
    return true;
}

void open_operators_clear(struct open_operators *operators)
{
    operators->count = 0;
}

void open_operators_release(struct open_operators *operators)
{
    free(operators->rows);
    *operators = (struct open_operators){0};
}
