/* SPDX-License-Identifier: Apache-2.0 */
#include "site_callers.h"

#include <inttypes.h>
#include <string.h>

#include "cxx_name.h"

enum { NAME_MOST_BYTES = 40 };

bool site_callers_add(struct site_callers *callers, struct site_caller caller)
{
    if (callers->count == SITE_CALLERS_MOST)
        return false;
    callers->rows[callers->count++] = caller;
    return true;
}

/* "base/list.h" and "base/list.c". */
static bool are_of_one_unit(const char *a, const char *b)
{
    const char *end = strrchr(a, '.');
    size_t length = end ? (size_t)(end - a) : 0;

    return length && strncmp(a, b, length) == 0 && b[length] == '.';
}

void site_callers_leave_helpers(struct site_callers *callers, const char *site_file)
{
    size_t helpers = 0;

    while (helpers < callers->count && are_of_one_unit(callers->rows[helpers].file, site_file))
        helpers++;
    if (helpers == callers->count)
        return;
    callers->count -= helpers;
    memmove(callers->rows, callers->rows + helpers, callers->count * sizeof(callers->rows[0]));
}

static bool is_same(const struct site_caller *a, const struct site_caller *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0 && strcmp(a->module, b->module) == 0;
}

/* How many two sites have in common, outward. */
static size_t common_count(const struct site_callers *a, const struct site_callers *b)
{
    size_t count = 0;

    while (count < a->count && count < b->count && is_same(&a->rows[count], &b->rows[count]))
        count++;
    return count;
}

const struct site_caller *site_callers_own(const struct site_callers *sites, size_t count,
                                           size_t site)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        size_t common = i == site ? 0 : common_count(&sites[i], &sites[site]);

        most = common > most ? common : most;
    }
    return most < sites[site].count ? &sites[site].rows[most] : NULL;
}

void site_caller_add_words(struct text_builder *text, const struct site_caller *caller)
{
    add_short_name(text, caller->function, NAME_MOST_BYTES);
    if (caller->line)
        text_add_format(text, ":%" PRIu32, caller->line);
}
