/* SPDX-License-Identifier: Apache-2.0 */
#include "site_caller.h"

#include <inttypes.h>
#include <string.h>

#include "cxx_name.h"
#include "text_builder.h"

enum {
    CALLERS_MOST = 16,   /* that are looked at */
    NAME_MOST_BYTES = 40 /* of a caller */
};

/* Who called the frame that names a site, outward: what people are shown. */
struct callers {
    struct caller {
        const char *function, *file;
        uint32_t line;
    } rows[CALLERS_MOST];
    size_t count;
};

static struct callers callers_of(const struct question *question, uint32_t site)
{
    size_t count, at = 0;
    const struct symbol_frame *frames = symbols_frames(question->symbols, site, &count);
    struct callers callers = {.count = 0};

    while (at < count && !frames[at].is_telling)
        at++;
    for (at++; at < count && callers.count < CALLERS_MOST; at++)
        if (!frames[at].is_plumbing)
            callers.rows[callers.count++] =
                (struct caller){frames[at].function, frames[at].file, frames[at].line};
    return callers;
}

static bool is_same(const struct caller *a, const struct caller *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

/* How many they have in common, from the innermost on. */
static size_t common_count(const struct callers *a, const struct callers *b)
{
    size_t count = 0;

    while (count < a->count && count < b->count && is_same(&a->rows[count], &b->rows[count]))
        count++;
    return count;
}

static bool reads_alike(const struct question *question, uint32_t site, uint32_t other)
{
    return site != other && site && other &&
           strcmp(symbols_label(question->symbols, site),
                  symbols_label(question->symbols, other)) == 0;
}

static const char *caller_words(struct arena *arena, const struct caller *caller)
{
    struct text_builder text;
    const char *words;

    text_init(&text);
    text_add(&text, " < ");
    add_short_name(&text, caller->function, NAME_MOST_BYTES);
    if (caller->line)
        text_add_format(&text, ":%" PRIu32, caller->line);
    words = arena_copy(arena, text_get(&text));
    text_release(&text);
    return words ? words : "";
}

const char *site_caller(const struct question *question, struct arena *arena, uint32_t site,
                        const uint32_t *others, size_t count)
{
    struct callers callers = {.count = 0};
    size_t common = 0;
    bool is_alone = true;

    for (size_t i = 0; i < count; i++) {
        struct callers other;
        size_t same;

        if (!reads_alike(question, site, others[i]))
            continue;
        if (is_alone)
            callers = callers_of(question, site);
        is_alone = false;
        other = callers_of(question, others[i]);
        same = common_count(&callers, &other);
        common = same > common ? same : common;
    }
    return common < callers.count ? caller_words(arena, &callers.rows[common]) : "";
}
