/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that are written once and then named by number.
 */
#include "name_list.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

void names_init(struct name_list *names)
{
    *names = (struct name_list){0};
    arena_init(&names->arena);
    hash_index_init(&names->index);
    names_put(names, "");
}

uint32_t names_put(struct name_list *names, const char *text)
{
    uint64_t hash = hash_bytes(text, strlen(text));
    size_t probe = 0;
    uint32_t found;
    const char *copy;

    while (hash_index_next(&names->index, hash, &probe, &found))
        if (strcmp(names->texts[found], text) == 0)
            return found;
    copy = arena_text(&names->arena, text, strlen(text));
    if (!copy ||
        !list_has_room(&names->texts, &names->capacity, names->count, sizeof(*names->texts)) ||
        !hash_index_add(&names->index, hash, (uint32_t)names->count)) {
        names->has_failed = true;
        return 0;
    }
    names->texts[names->count] = copy;
    return (uint32_t)names->count++;
}

void names_release(struct name_list *names)
{
    free(names->texts);
    hash_index_release(&names->index);
    arena_release(&names->arena);
    *names = (struct name_list){0};
}
