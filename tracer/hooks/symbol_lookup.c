/* SPDX-License-Identifier: Apache-2.0 */
/* Implements symbol_lookup.h. Invariant: what is not in a library is not there for its user. */
#include "symbol_lookup.h"

#include <string.h>

#include "config.h"
#include "module_list.h"
#include "python_heap.h"
#include "torch_operators.h"

static const struct hook_entry *entry_find(const char *name)
{
    static const struct {
        const char *prefix;
        const struct hook_entries *entries;
    } tables[] = {
        {"hal", &hook_entries_hal}, {"acl", &hook_entries_acl},   {"acl", &hook_entries_launch},
        {"rt", &hook_entries_rt},   {"rt", &hook_entries_launch}, {"cuda", &hook_entries_cudart},
        {"cu", &hook_entries_cuda},
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (strncmp(name, tables[i].prefix, strlen(tables[i].prefix)) != 0)
            continue;
        for (size_t j = 0; j < tables[i].entries->count; j++)
            if (strcmp(tables[i].entries->list[j].name, name) == 0)
                return &tables[i].entries->list[j];
    }
    return NULL;
}

/* A wrapper has one real function: with two runtimes in a program, the second is left alone. */
static void *wrapper_for(const struct hook_entry *entry, void *real)
{
    void *expected = NULL;

    if (hook_is_ours(real))
        return real;
    if (!atomic_compare_exchange_strong(&entry->slot->real, &expected, real) && expected != real)
        return real;
    return entry->wrapper;
}

void *symbol_lookup(void *library, const char *name)
{
    const struct hook_entry *entry;
    void *real;

    modules_look_if_they_came(); /* first: it asks the loader, whose last error is the program's */
    python_heap_look();
    torch_operators_look();
    real = hook_symbol_in(library, name);
    entry = real ? entry_find(name) : NULL;
    if (!entry || !(config_get()->records_device || config_get()->records_launches))
        return real;
    return wrapper_for(entry, real);
}
