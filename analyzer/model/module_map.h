/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which module is at an address: the one that was loaded there last, also when it is gone.
 *
 * Stretches of addresses that do not overlap; what is put over others takes their place. Putting
 * and looking up take logarithmic time.
 */
#ifndef LEAKTIDE_MODEL_MODULE_MAP_H
#define LEAKTIDE_MODEL_MODULE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ordered_set.h"

struct module_map {
    struct ordered_set stretches; /* by process, last address, first address; row: module + 1 */
};

struct module_stretch {
    uint16_t process;
    uint64_t first, last; /* addresses */
};

enum module_map_change {
    MODULE_MAP_SAME,  /* it was there already */
    MODULE_MAP_NEW,   /* nothing was known there */
    MODULE_MAP_OTHER, /* something else was there, or in a part of it */
    MODULE_MAP_NO_MEMORY
};

void module_map_init(struct module_map *map);
void module_map_release(struct module_map *map);

/* module_next: one more than the row of the module. */
enum module_map_change module_map_put(struct module_map *map, struct module_stretch stretch,
                                      uint32_t module_next);
/* 0: none was ever there. */
uint32_t module_map_at(const struct module_map *map, uint16_t process, uint64_t address);

#endif
