/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose: writes down which objects are loaded before one of them leaves, and that it left; what
 * was known of its stack frames is forgotten.
 *
 * dlopen is not hooked: it looks at who calls it, and would see us. The drain thread notices new
 * objects by itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "call_stacks.h"
#include "guard.h"
#include "hook.h"
#include "module_list.h"
#include "recording.h"

HOOK_EXPORT int dlclose(void *handle);

static const char *const no_libraries[] = {NULL};
static struct hook_slot real_dlclose = {.name = "dlclose", .libraries = no_libraries};

int dlclose(void *handle)
{
    int (*real)(void *) = (int (*)(void *))hook_real(&real_dlclose);
    bool is_recording = recording_header() && guard_enter(LAYER_MARKS);
    int result;

    if (is_recording) {
        modules_record_changes();
        call_stacks_objects_changed();
    }
    result = real ? real(handle) : -1;
    if (is_recording) {
        call_stacks_objects_changed();
        modules_record_changes();
        guard_leave(LAYER_MARKS);
    }
    return result;
}
