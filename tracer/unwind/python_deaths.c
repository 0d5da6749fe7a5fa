/* SPDX-License-Identifier: Apache-2.0 */
#include "python_deaths.h"

#include <stddef.h>

typedef void destroy_function(void *object);
typedef _Atomic(destroy_function *) destroy_slot;

/* One that dies in this thread; while it tells its end, others may die as well. */
struct dying {
    const char *code;
    uint32_t generation;
    const struct dying *outer;
};

_Atomic uint32_t python_generations[PYTHON_GENERATIONS];
_Atomic uint64_t python_death_count;
static destroy_function *real_destroy;
static _Atomic(destroy_slot *) watched;
static __thread const struct dying *dying __attribute__((tls_model("initial-exec")));

static void count_death(const char *code)
{
    atomic_fetch_add_explicit(python_generation_slot(code), 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&python_death_count, 1, memory_order_release);
}

/* Counted at its end, too: a frame that was read meanwhile may be remembered with the dead code. */
static void code_dies(void *code)
{
    struct dying here = {code, python_generation(code), dying};

    count_death(code);
    dying = &here;
    real_destroy(code);
    dying = here.outer;
    count_death(code);
}

/* A destructor that is there already stays the one that destroys. */
void python_deaths_watch(const char *code_type, uint32_t dealloc)
{
    destroy_slot *slot = (destroy_slot *)(uintptr_t)(code_type + dealloc);

    if (!dealloc)
        return;
    real_destroy = atomic_load(slot);
    atomic_store(slot, code_dies);
    atomic_store_explicit(&watched, slot, memory_order_release);
}

bool python_deaths_are_seen(void)
{
    destroy_slot *slot = atomic_load_explicit(&watched, memory_order_acquire);

    if (slot && atomic_load_explicit(slot, memory_order_relaxed) == code_dies)
        return true;
    if (slot)
        atomic_store(&watched, NULL);
    return false;
}

bool python_is_dying(const char *code, uint32_t *generation)
{
    const struct dying *here = dying;

    while (here && here->code != code)
        here = here->outer;
    if (here)
        *generation = here->generation;
    return here != NULL;
}
