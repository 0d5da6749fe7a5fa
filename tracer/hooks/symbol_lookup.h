/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that look the functions of a device runtime up by dlsym on the library's handle: ctypes
 * does, torch_npu does, CUDA's static runtime does. What they find passes by every wrapper, so
 * they are given the wrapper.
 *
 * dlsym looks at its caller when it is asked for RTLD_NEXT or RTLD_DEFAULT. So our dlsym
 * (dlsym_<machine>.c) is a few instructions: these two go on to the C library by a jump, and it
 * sees the caller as if we were not there. Only real handles come here.
 */
#ifndef LEAKTIDE_TRACER_SYMBOL_LOOKUP_H
#define LEAKTIDE_TRACER_SYMBOL_LOOKUP_H

#include <stddef.h>

#include "hook.h"

struct hook_entry {
    const char *name;
    void *wrapper;
    struct hook_slot *slot;
};

struct hook_entries {
    const struct hook_entry *list;
    size_t count;
};

/* One for each table. */
extern const struct hook_entries hook_entries_hal, hook_entries_acl, hook_entries_rt,
    hook_entries_launch, hook_entries_cuda, hook_entries_cudart;

/* dlsym for a real handle. Called by our dlsym only. */
void *symbol_lookup(void *library, const char *name);

#endif
