/* SPDX-License-Identifier: Apache-2.0 */
#include "cxx_name.h"

#include <stdbool.h>
#include <string.h>

size_t cxx_operator_end(const char *name, size_t start)
{
    size_t i = start + strlen("operator");

    if (name[i] == ' ')
        return i + 1;
    i += strspn(name + i, "<>=()-");
    return strncmp(name + i, " <", 2) == 0 ? i + 1 : i; /* its template arguments come next */
}

/* Rust's "<A as B>::f": no arguments, but what f belongs to. It begins the name, or such a part. */
static bool is_path_opened(const char *name, size_t i, int paths)
{
    return name[i] == '<' && (i == 0 || (paths && strchr("<( &", name[i - 1])));
}

/*
 * "a<b<c>>::d<e>" as "a<...>::d<...>"; what is no template, as in "operator<", stays, and so do the
 * outer brackets of "<a<b> as c>::d" and the arrow of a type.
 */
static void add_without_arguments(struct text_builder *text, const char *name)
{
    int depth = 0, paths = 0;

    for (size_t i = 0; name[i];) {
        bool is_operator = strncmp(name + i, "operator", 8) == 0;
        bool is_bracket = !is_operator && (name[i] == '<' || name[i] == '>') &&
                          !(name[i] == '>' && i && name[i - 1] == '-');
        size_t next = is_operator ? cxx_operator_end(name, i) : i + 1;

        if (is_bracket && !depth && is_path_opened(name, i, paths)) {
            paths++;
            is_bracket = false;
        } else if (is_bracket && !depth && name[i] == '>' && paths) {
            paths--;
            is_bracket = false;
        }
        if (is_bracket && name[i] == '<' && depth++ == 0)
            text_add(text, "<...>");
        else if (is_bracket && name[i] == '>' && depth)
            depth--;
        else if (!depth)
            text_add_bytes(text, name + i, next - i);
        i = next;
    }
}

void add_short_name(struct text_builder *text, const char *name, size_t most_bytes)
{
    struct text_builder shorter;
    size_t length = strlen(name);

    text_init(&shorter);
    if (length > most_bytes && strchr(name, '<')) {
        add_without_arguments(&shorter, name);
        name = text_get(&shorter);
        length = shorter.size_bytes;
    }
    if (length > most_bytes) {
        length = most_bytes;
        while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
    }
    text_add_bytes(text, name, length);
    text_add(text, name[length] ? "..." : "");
    text_release(&shorter);
}
