/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions as people write them.
 */
#include "readable_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_name.h"
#include "demangle.h"
#include "rust_name.h"

struct stretch {
    size_t first, end;
};

/* The name itself: without the type that templates return, and without parameters. */
static struct stretch name_in(const char *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    struct stretch found = {0, strlen(name)};
    int templates = 0;

    for (size_t i = 0; name[i];) {
        if (strncmp(name + i, unnamed, sizeof(unnamed) - 1) == 0) {
            i += sizeof(unnamed) - 1;
        } else if (strncmp(name + i, "operator", 8) == 0) {
            i = cxx_operator_end(name, i);
        } else if (templates == 0 && i && (name[i] == '(' || strncmp(name + i, " [", 2) == 0)) {
            found.end = i;
            break;
        } else {
            templates += (name[i] == '<') - (name[i] == '>');
            if (name[i] == ' ' && templates == 0)
                found.first = i + 1;
            i++;
        }
    }
    return found;
}

/* "train.constprop.0" is a copy of train; a name that starts with a dot is one of its own. */
static size_t clone_suffix_of(const char *name, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (name[i] == '.' && isalpha((unsigned char)name[i + 1]) && name[i - 1] != '.')
            return i;
    return length;
}

bool is_readable(const char *name)
{
    return !strpbrk(name, "(. ") && strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 &&
           !name[length_without_rust_hash(name, strlen(name))];
}

static void add_other_name(struct text_builder *text, const char *name)
{
    char *readable = demangle(name);
    const char *shown = readable ? readable : name;
    struct stretch found = name_in(shown);

    found.end = length_without_rust_hash(shown, found.end);
    if (!strpbrk(shown, "(<:"))
        found.end = clone_suffix_of(shown, found.end);
    text_add_bytes(text, shown + found.first, found.end - found.first);
    free(readable);
}

void add_readable_name(struct text_builder *text, const char *name)
{
    if (!add_rust_name(text, name))
        add_other_name(text, name);
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static const char *last_parts(const char *path, unsigned count)
{
    const char *end = path + strlen(path);
    unsigned parts = 0;

    for (; end > path; end--)
        if (is_separator(end[-1]) && *end && ++parts == count)
            break;
    return end;
}

const char *short_path(const char *path)
{
    return last_parts(path, 2);
}

const char *base_of_path(const char *path)
{
    return last_parts(path, 1);
}
