/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the table of a device runtime into prototypes, slots and wrappers. No include guard: each
 * vendor's .c includes it once, after it has defined
 *
 *   HOOK_TABLE        the .def file
 *   HOOK_STATUS       the type that all its functions return; 0 is success
 *   HOOK_UNAVAILABLE  what the runtime answers when it cannot serve
 *   HOOK_LAYER        its layer in guard.h
 *   HOOK_LIBRARIES    array of sonames
 *   HOOK_ENTRIES      the name of its list of wrappers in symbol_lookup.h
 *
 * Lines of a table; `name, (parameters), (arguments)` and then
 *
 *   HOOK(alloc, ..., space, origin, address, size)   hands a block out; origin is a device_block
 *   HOOK(share, ..., space, origin, address, size)   as alloc, but the second time is a reference
 *   HOOK(map, ..., space, origin, address, size, held space, held)   as alloc, and holds another
 *   HOOK(hold, ..., space, address)                  one more reference to a block
 *   HOOK(free, ..., space, pool, address)            ends a reference
 *   HOOK(own)                                        a slot; the wrapper is written by hand
 *
 * Allocations are recorded after the real call, frees before it: afterwards another thread may
 * already own the address, and its alloc would come first in the trace.
 */
#include <errno.h>
#include <stdint.h>

#include "device_blocks.h"
#include "hook.h"
#include "symbol_lookup.h"

#define HOOK(kind, name, params, ...) HOOK_STATUS name params;
#include HOOK_TABLE
#undef HOOK

static struct {
#define HOOK(kind, name, ...) struct hook_slot name;
#include HOOK_TABLE
#undef HOOK
} slots = {
#define HOOK(kind, name, ...) .name = {#name, HOOK_LIBRARIES, NULL},
#include HOOK_TABLE
#undef HOOK
};

#define HOOK_SITE()           recorder_site(HOOK_LAYER, unwind_caller())
#define HOOK_ADDRESS(address) ((uint64_t)(uintptr_t)(address))

#define HOOK_alloc(name, params, args, space, origin, address, size)                               \
    HOOK_BEGINNING(name, params, args, device_block_begin, space, origin, address, size, 0, 0)
#define HOOK_share(name, params, args, space, origin, address, size)                               \
    HOOK_BEGINNING(name, params, args, device_block_share, space, origin, address, size, 0, 0)
#define HOOK_map(name, params, args, space, origin, address, size, holds, held)                    \
    HOOK_BEGINNING(name, params, args, device_block_begin, space, origin, address, size, holds,    \
                   held)

#define HOOK_BEGINNING(name, params, args, begin, space, origin, address, size, holds, holding)    \
    HOOK_EXPORT HOOK_STATUS name params                                                            \
    {                                                                                              \
        HOOK_STATUS(*real) params = hook_real(&slots.name);                                        \
        if (!real)                                                                                 \
            return HOOK_UNAVAILABLE;                                                               \
        bool is_outermost = device_hook_enter(HOOK_LAYER);                                         \
        struct call_site site = {NULL, 0, 0};                                                      \
        if (is_outermost)                                                                          \
            site = HOOK_SITE();                                                                    \
        HOOK_STATUS status = real args;                                                            \
        if (is_outermost) {                                                                        \
            int saved_errno = errno;                                                               \
            struct device_block block = origin;                                                    \
            block.size_bytes = (size);                                                             \
            block.site = site;                                                                     \
            block.held_space = (enum block_space)(holds);                                          \
            block.held = HOOK_ADDRESS(holding);                                                    \
            if (status == 0)                                                                       \
                begin(space, HOOK_ADDRESS(address), &block);                                       \
            else                                                                                   \
                device_block_failed(&block, (uint32_t)status);                                     \
            device_hook_leave(HOOK_LAYER, saved_errno);                                            \
        }                                                                                          \
        return status;                                                                             \
    }

#define HOOK_hold(name, params, args, space, address)                                              \
    HOOK_EXPORT HOOK_STATUS name params                                                            \
    {                                                                                              \
        HOOK_STATUS(*real) params = hook_real(&slots.name);                                        \
        if (!real)                                                                                 \
            return HOOK_UNAVAILABLE;                                                               \
        bool is_outermost = device_hook_enter(HOOK_LAYER);                                         \
        HOOK_STATUS status = real args;                                                            \
        if (is_outermost) {                                                                        \
            int saved_errno = errno;                                                               \
            if (status == 0)                                                                       \
                device_block_hold(space, HOOK_ADDRESS(address));                                   \
            device_hook_leave(HOOK_LAYER, saved_errno);                                            \
        }                                                                                          \
        return status;                                                                             \
    }

#define HOOK_free(name, params, args, space, pool, address)                                        \
    HOOK_EXPORT HOOK_STATUS name params                                                            \
    {                                                                                              \
        HOOK_STATUS(*real) params = hook_real(&slots.name);                                        \
        if (!real)                                                                                 \
            return HOOK_UNAVAILABLE;                                                               \
        bool is_outermost = device_hook_enter(HOOK_LAYER);                                         \
        struct block_ending ending;                                                                \
        if (is_outermost)                                                                          \
            device_block_end(space, HOOK_ADDRESS(address), pool, &ending);                         \
        HOOK_STATUS status = real args;                                                            \
        if (is_outermost) {                                                                        \
            int saved_errno = errno;                                                               \
            if (status != 0)                                                                       \
                device_block_resume(&ending);                                                      \
            device_hook_leave(HOOK_LAYER, saved_errno);                                            \
        }                                                                                          \
        return status;                                                                             \
    }

#define HOOK_own(name, params, ...)

#define HOOK(kind, name, params, ...) HOOK_##kind(name, params, __VA_ARGS__)
#include HOOK_TABLE
#undef HOOK
#undef HOOK_BEGINNING
#undef HOOK_alloc
#undef HOOK_share
#undef HOOK_map
#undef HOOK_hold
#undef HOOK_free
#undef HOOK_own

/* By a local name: a pointer to it is a wrapper, whatever else has the name. */
#define HOOK(kind, name, params, ...)                                                              \
    static HOOK_STATUS name##_wrapper params __attribute__((alias(#name)));
#include HOOK_TABLE
#undef HOOK

static const struct hook_entry entries[] = {
#define HOOK(kind, name, ...) {#name, (void *)name##_wrapper, &slots.name},
#include HOOK_TABLE
#undef HOOK
};

const struct hook_entries HOOK_ENTRIES = {entries, sizeof(entries) / sizeof(entries[0])};
