/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that are written once and then named by number. Text 0 is "".
 */
#ifndef LEAKTIDE_ANALYSES_NAME_LIST_H
#define LEAKTIDE_ANALYSES_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"

struct name_list {
    struct arena arena;
    struct hash_index index;
    const char **texts;
    size_t count, capacity;
    bool has_failed; /* from then on every new text is 0 */
};

void names_init(struct name_list *names);
uint32_t names_put(struct name_list *names, const char *text);
void names_release(struct name_list *names);

#endif
