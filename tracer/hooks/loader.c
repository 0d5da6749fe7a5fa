/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that come and go while the program runs.
 *
 * dlclose: writes down which objects are loaded before one of them leaves, and that it left; what
 * was known of its stack frames is forgotten. dlopen looks at who calls it, so it is entered by a
 * jump (dlopen_<processor>.c) and nothing of ours runs after it: what it loaded is written down at
 * the next dlsym, dlopen, dlclose or mark of the program, or at its end. Only there, as this takes
 * the loader's lock: a thread that allocates may hold another one, for which the loader waits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "guard.h"
#include "hook.h"
#include "loader.h"
#include "module_list.h"
#include "python_heap.h"
#include "torch_operators.h"

HOOK_EXPORT int dlclose(void *handle);

static const char *const no_libraries[] = {NULL};
static struct hook_slot real_dlclose = {.name = "dlclose", .libraries = no_libraries};
static struct hook_slot real_dlopen = {.name = "dlopen", .libraries = no_libraries};
static struct hook_slot real_dlmopen = {.name = "dlmopen", .libraries = no_libraries};

static void look(void)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    modules_record_changes();
    python_heap_look();
    torch_operators_look();
    guard_leave(LAYER_MARKS);
}

void *loader_before_dlopen(void)
{
    look();
    modules_may_come();
    python_heap_may_come();
    torch_operators_may_come();
    return hook_real(&real_dlopen);
}

void *loader_before_dlmopen(void)
{
    look();
    modules_may_come();
    return hook_real(&real_dlmopen);
}

int dlclose(void *handle)
{
    int (*real)(void *) = (int (*)(void *))hook_real(&real_dlclose);
    bool is_outermost = guard_enter(LAYER_MARKS);
    int result;

    if (is_outermost) {
        modules_record_changes();
        modules_may_leave();
    }
    result = real ? real(handle) : -1;
    if (is_outermost) {
        modules_may_leave();
        if (result == 0) /* else the program has an error to read */
            modules_record_changes();
        guard_leave(LAYER_MARKS);
    }
    return result;
}
