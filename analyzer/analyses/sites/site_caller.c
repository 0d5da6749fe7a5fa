/* SPDX-License-Identifier: Apache-2.0 */
#include "site_caller.h"

#include <string.h>

static struct site_callers callers_of(const struct question *question, uint32_t site)
{
    size_t count, named = 0;
    const struct symbol_frame *frames = symbols_frames(question->symbols, site, &count);
    struct site_callers callers = {.count = 0};

    while (named < count && !frames[named].is_telling)
        named++;
    for (size_t i = named + 1; i < count; i++)
        if (!frames[i].is_plumbing &&
            !site_callers_add(&callers, (struct site_caller){frames[i].function, frames[i].file,
                                                             frames[i].module, frames[i].line}))
            break;
    if (named < count && !frames[named].is_python)
        site_callers_leave_helpers(&callers, frames[named].file);
    return callers;
}

static bool reads_alike(const struct question *question, uint32_t site, uint32_t other)
{
    return site != other && site && other &&
           strcmp(symbols_label(question->symbols, site),
                  symbols_label(question->symbols, other)) == 0;
}

const char *site_caller(const struct question *question, struct arena *arena, uint32_t site,
                        const uint32_t *others, size_t count)
{
    struct site_callers callers[SITES_ALIKE_MOST];
    const struct site_caller *own;
    struct text_builder words;
    const char *copy;
    size_t alike = 1; /* the site itself is the first */

    for (size_t i = 0; i < count; i++) {
        if (!reads_alike(question, site, others[i]))
            continue;
        if (alike == SITES_ALIKE_MOST)
            return "";
        callers[alike++] = callers_of(question, others[i]);
    }
    if (alike == 1)
        return "";
    callers[0] = callers_of(question, site);
    own = site_callers_own(callers, alike, 0);
    if (!own)
        return "";
    text_init(&words);
    text_add(&words, " < ");
    site_caller_add_words(&words, own);
    copy = arena_copy(arena, text_get(&words));
    text_release(&words);
    return copy ? copy : "";
}
