/* SPDX-License-Identifier: Apache-2.0 */
#include "module_map.h"

#include <stddef.h>

#include "leaktide/invariant.h"

void module_map_init(struct module_map *map)
{
    ordered_set_init(&map->stretches);
}

void module_map_release(struct module_map *map)
{
    ordered_set_release(&map->stretches);
}

static struct ordered_key key_of(struct module_stretch stretch)
{
    return (struct ordered_key){stretch.process, stretch.last, stretch.first};
}

static struct module_stretch stretch_of(const struct ordered_node *node)
{
    return (struct module_stretch){(uint16_t)node->key.first, node->key.third, node->key.second};
}

/* The first stretch of the process that ends at the address or after it. */
static const struct ordered_node *node_at_least(const struct module_map *map, uint16_t process,
                                                uint64_t address)
{
    const struct ordered_node *node =
        ordered_set_at_least(&map->stretches, (struct ordered_key){process, address, 0});

    return node && node->key.first == process ? node : NULL;
}

static bool add(struct module_map *map, struct module_stretch stretch, uint32_t module_next)
{
    return ordered_set_add(&map->stretches, key_of(stretch), module_next);
}

/* Takes the node out, and puts back what of it is on both sides of the stretch. */
static bool cut(struct module_map *map, struct ordered_node node, struct module_stretch stretch)
{
    struct module_stretch before = stretch_of(&node), behind = before;
    bool is_good = true;

    MT_ASSERT(before.first <= stretch.last && stretch.first <= before.last);
    ordered_set_remove(&map->stretches, node.key);
    if (before.first < stretch.first) {
        before.last = stretch.first - 1;
        is_good = add(map, before, node.row);
    }
    if (behind.last > stretch.last) {
        behind.first = stretch.last + 1;
        is_good = add(map, behind, node.row) && is_good;
    }
    return is_good;
}

enum module_map_change module_map_put(struct module_map *map, struct module_stretch stretch,
                                      uint32_t module_next)
{
    enum module_map_change change = MODULE_MAP_NEW;
    const struct ordered_node *node;

    MT_ASSERT(stretch.first <= stretch.last);
    MT_ASSERT(module_next);
    while ((node = node_at_least(map, stretch.process, stretch.first)) &&
           node->key.third <= stretch.last) {
        if (node->row == module_next && node->key.third == stretch.first &&
            node->key.second == stretch.last)
            return MODULE_MAP_SAME;
        if (node->row != module_next)
            change = MODULE_MAP_OTHER;
        if (!cut(map, *node, stretch))
            return MODULE_MAP_NO_MEMORY;
    }
    return add(map, stretch, module_next) ? change : MODULE_MAP_NO_MEMORY;
}

uint32_t module_map_at(const struct module_map *map, uint16_t process, uint64_t address)
{
    const struct ordered_node *node = node_at_least(map, process, address);

    return node && node->key.third <= address ? node->row : 0;
}
