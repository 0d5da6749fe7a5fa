/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of CUDA's runtime, made from cuda_runtime.def. */
#include "cuda_entry_points.h"
#include "cuda_places.h"

static const char *const runtime_libraries[] = {"libcudart.so.13", "libcudart.so.12",
                                                "libcudart.so.11.0", NULL};

#define HOOK_TABLE       "cuda_runtime.def"
#define HOOK_STATUS      int
#define HOOK_UNAVAILABLE CUDA_STATUS_NOT_INITIALISED
#define HOOK_LAYER       LAYER_CUDA_RUNTIME
#define HOOK_LIBRARIES   runtime_libraries
#define HOOK_ENTRIES     hook_entries_cudart
#include "device_hook_table.h"

/* default_flags: what the call means by flags of 0. */
static int entry_point_get(struct hook_slot *slot, const char *symbol, void **function,
                           unsigned long long flags, int *result, uint64_t default_flags)
{
    int (*real)(const char *, void **, unsigned long long, int *) = hook_real(slot);
    int status = real ? real(symbol, function, flags, result) : CUDA_STATUS_NOT_INITIALISED;

    if (status == 0)
        cuda_entry_point_replace(symbol, 0, flags ? flags : default_flags, function);
    return status;
}

HOOK_EXPORT int cudaGetDriverEntryPoint(const char *symbol, void **function,
                                        unsigned long long flags, int *result)
{
    return entry_point_get(&slots.cudaGetDriverEntryPoint, symbol, function, flags, result, 0);
}

/* For programs whose default stream is one a thread. */
HOOK_EXPORT int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                                             unsigned long long flags, int *result)
{
    return entry_point_get(&slots.cudaGetDriverEntryPoint_ptsz, symbol, function, flags, result,
                           CUDA_PER_THREAD_STREAM);
}

HOOK_EXPORT int cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                                 unsigned version, unsigned long long flags,
                                                 int *result)
{
    int (*real)(const char *, void **, unsigned, unsigned long long, int *) =
        hook_real(&slots.cudaGetDriverEntryPointByVersion);
    int status =
        real ? real(symbol, function, version, flags, result) : CUDA_STATUS_NOT_INITIALISED;

    if (status == 0)
        cuda_entry_point_replace(symbol, (int)version, flags, function);
    return status;
}
