/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the program a site is.
 */
#include "place.h"

#include <string.h>

#include "path_text.h"

const char *place_file(struct arena *arena, const char *file)
{
    char *copy = arena_text(arena, file, strlen(file));

    if (copy)
        path_shorten(copy);
    return copy ? copy : "";
}

struct place_in_code place_none(void)
{
    return (struct place_in_code){.label = "", .function = "", .file = ""};
}

struct place_in_code place_of(const struct question *question, struct arena *arena, struct who who)
{
    const char *label = label_who(question, arena, who);
    size_t count, telling = 0;
    const struct symbol_frame *frames = symbols_frames(question->symbols, who.site, &count);

    while (telling < count && !frames[telling].is_telling)
        telling++;
    if (telling == count)
        return (struct place_in_code){.label = label, .function = label, .file = ""};
    return (struct place_in_code){
        .label = label,
        .function = arena_copy(arena, frames[telling].function),
        .file = place_file(arena, frames[telling].file),
        .line = frames[telling].line,
        .question = question,
        .site = who.site,
    };
}

const struct symbol_frame *place_frames(const struct place_in_code *place, size_t *count)
{
    *count = 0;
    return place->site ? symbols_frames(place->question->symbols, place->site, count) : NULL;
}

struct value value_place_text(const char *text)
{
    return *text ? value_text(text) : value_none();
}

struct value value_place_line(const struct place_in_code *place)
{
    return place_has_line(place) ? value_count(place->line) : value_none();
}
