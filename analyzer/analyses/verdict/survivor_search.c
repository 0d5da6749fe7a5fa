/* SPDX-License-Identifier: Apache-2.0 */
#include "survivor_search.h"

#include <stdlib.h>

#include "growth.h"

void *survivor_search_begin(const struct question *question, struct life_visitor *visitor)
{
    struct survivor_search *search = calloc(1, sizeof(*search));

    if (!search)
        return NULL;
    search->question = question;
    if (!growth_needs_survivors(question))
        return search;
    search->reading = survivor_reading_create(question, visitor);
    if (search->reading)
        return search;
    free(search);
    return NULL;
}

const struct survivors *survivor_search_result(const struct survivor_search *search)
{
    return search->reading ? survivor_reading_result(search->reading) : NULL;
}

void survivor_search_release(void *state)
{
    struct survivor_search *search = state;

    survivor_reading_destroy(search->reading);
    free(search);
}
