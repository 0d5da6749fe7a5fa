/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mstx as a program has it in its headers: a table of functions that do nothing until an injection
 * library fills it, found as mstx finds it. Written from the description of the interface.
 *
 * mstx_start() is what the first call of a library does. A table can be made older, with fewer
 * entries, to test an injection library.
 */
#ifndef LEAKTIDE_MSTX_CLIENT_H
#define LEAKTIDE_MSTX_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ascend_abi.h"

struct mstx_api {
    void (*mark)(const char *message, void *stream);
    uint64_t (*range_start)(const char *message, void *stream);
    void (*range_end)(uint64_t range);
    void (*tool_id)(uint64_t *id);
    void *(*domain_create)(const char *name);
    void (*domain_destroy)(void *domain);
    void (*domain_mark)(void *domain, const char *message, void *stream);
    uint64_t (*domain_range_start)(void *domain, const char *message, void *stream);
    void (*domain_range_end)(void *domain, uint64_t range);
    void *(*heap_register)(void *domain, const struct mstx_heap *heap);
    void (*heap_unregister)(void *domain, void *heap);
    void (*regions_register)(void *domain, const struct mstx_regions *regions);
    void (*regions_unregister)(void *domain, const struct mstx_region_references *references);
};

/* The table of this program. Entries that nobody injected are NULL. */
extern struct mstx_api mstx;

/* True if an injection library was found and has answered success. */
bool mstx_start(void);

/* The table as InitInjectionMstx is given it. */
int mstx_table_get(int module, mstx_function ***table, unsigned *last_index);

#endif
