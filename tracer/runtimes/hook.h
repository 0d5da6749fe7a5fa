/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every hook needs: an exported name, and the real function behind it.
 *
 * A hook table (<vendor>.def) lists functions; its .c file turns the table into slots and
 * wrappers. The real function is found at the first call, in this order: the next object that
 * defines the name (RTLD_NEXT); a loaded library of one of the given names, even if it was loaded
 * RTLD_LOCAL; that library, loaded by us. If there is none, hook_real returns NULL and the wrapper
 * answers what the runtime itself answers when it is absent. It never crashes.
 */
#ifndef LEAKTIDE_TRACER_HOOK_H
#define LEAKTIDE_TRACER_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define HOOK_EXPORT __attribute__((visibility("default")))

struct hook_slot {
    const char *name;
    const char *const *libraries; /* sonames, newest first; NULL-terminated */
    _Atomic(void *) real;
};

/* The slow way of hook_real; remembers what it finds. Safe from any thread. */
void *hook_resolve(struct hook_slot *slot);

static inline void *hook_real(struct hook_slot *slot)
{
    void *real = atomic_load_explicit(&slot->real, memory_order_acquire);

    return real ? real : hook_resolve(slot);
}

/*
 * For functions that we only call, never export: a query of free memory, say. They never load a
 * library: NULL when none of those that are loaded has the function.
 */
void *hook_find(const char *name, const char *const *libraries);

/* What dlsym answers when nobody stands before it: not a wrapper of ours. */
void *hook_symbol_in(void *library, const char *name);

/* The dlsym of the C library. */
void *hook_dlsym(void);

/* True for an address in our own object. */
bool hook_is_ours(const void *address);

/* The same as hook_find, looked for once; hook_ask_again() forgets that it was not there. */
void *hook_asked(struct hook_slot *slot);
void hook_ask_again(struct hook_slot *slot);

#endif
