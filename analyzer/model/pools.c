/* SPDX-License-Identifier: Apache-2.0 */
#include "pools.h"

#include <string.h>

#define CALL(function) "call %s for what it made in the step before", function
#define GIVE_BACK(function)                                                                        \
    "have the driver's memory given back: %s, or the free of what asks for it", function
#define FREE_IT           "free what it made in the step before"
#define FREE_AS_ALLOCATED "free it with the call that matches its allocation"
#define DROP_THE_REFERENCE                                                                         \
    "drop the last reference in the step that makes it: a list or cache that only grows, or an "   \
    "attribute"
#define DROP_THE_TENSOR                                                                            \
    "drop the last reference in the step that makes it: a list or cache that only grows, an "      \
    "attribute, or the graph of a loss that is kept (.item(), .detach())"

/* In the columns `lies in` and `peer`. */
enum { POOL_NOTHING = POOL_COUNT, POOL_SOMETHING = POOL_OTHER };

static const struct pool pools[POOL_COUNT] = {
    [POOL_OTHER] = {.name = "", .title = "", .release = FREE_AS_ALLOCATED},
#define POOL(id, name, family, role, lies_in, peer, allocator, title, owner, type, release)        \
    [POOL_##id] = {POOL_##id,                                                                      \
                   name,                                                                           \
                   FAMILY_##family,                                                                \
                   POOL_ROLE_##role,                                                               \
                   (int)POOL_##lies_in == (int)POOL_NOTHING ? POOL_##id                            \
                                                            : (enum pool_id)POOL_##lies_in,        \
                   (int)POOL_##peer == (int)POOL_NOTHING ? POOL_##id : (enum pool_id)POOL_##peer,  \
                   POOL_ALLOCATOR_##allocator,                                                     \
                   title,                                                                          \
                   owner,                                                                          \
                   type,                                                                           \
                   release},
#include "pools.def"
#undef POOL
};

static const char *const families[FAMILY_COUNT] = {
    [FAMILY_NONE] = "",
    [FAMILY_HOST] = "host",
#define FAMILY(id, name) [FAMILY_##id] = (name),
#include "leaktide/device_families.def"
#undef FAMILY
};

/* Does the row stand for all names that begin like it? */
static bool is_beginning(const struct pool *pool)
{
    size_t length = strlen(pool->name);

    return length && pool->name[length - 1] == '*';
}

size_t pool_stem_bytes(const struct pool *pool)
{
    return strlen(pool->name) - (size_t)is_beginning(pool);
}

const struct pool *pool_by_name(const char *name)
{
    for (size_t i = POOL_OTHER + 1; i < POOL_COUNT; i++)
        if (is_beginning(&pools[i]) ? strncmp(name, pools[i].name, pool_stem_bytes(&pools[i])) == 0
                                    : strcmp(name, pools[i].name) == 0)
            return &pools[i];
    return &pools[POOL_OTHER];
}

const struct pool *pool_by_id(enum pool_id id)
{
    return &pools[id];
}

const char *pool_rest(const struct pool *pool, const char *name)
{
    return is_beginning(pool) ? name + pool_stem_bytes(pool) : "";
}

bool pool_is_of_device(const struct pool *pool)
{
    return pool->role == POOL_ROLE_DRIVER || pool->role == POOL_ROLE_RUNTIME;
}

bool pool_lies_in(const struct pool *inner, const struct pool *outer)
{
    if (inner == outer)
        return false;
    while (inner->lies_in != inner->id && inner->lies_in != POOL_OTHER) {
        inner = &pools[inner->lies_in];
        if (inner == outer)
            return true;
    }
    if (inner->lies_in != POOL_OTHER)
        return false;
    return inner->family == FAMILY_HOST ? outer->role == POOL_ROLE_HOST : pool_is_of_device(outer);
}

size_t pools_between(const struct pool *inner, const struct pool *outer)
{
    size_t count = 0;

    for (int id = 0; id < POOL_COUNT; id++)
        count += pool_lies_in(inner, &pools[id]) && pool_lies_in(&pools[id], outer);
    return count;
}

bool pool_is_peer(const struct pool *a, const struct pool *b)
{
    return a->id != POOL_OTHER && a->family != b->family && a->peer == b->peer;
}

const char *device_family_name(enum device_family family)
{
    return families[family];
}

enum device_family device_family_of_used(const char *counter)
{
    for (size_t i = FAMILY_HOST + 1; i < FAMILY_COUNT; i++) {
        size_t length = strlen(families[i]);

        if (strncmp(counter, families[i], length) == 0 && strcmp(counter + length, " used") == 0)
            return (enum device_family)i;
    }
    return FAMILY_NONE;
}
