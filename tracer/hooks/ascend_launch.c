/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel launches of Ascend, made from ascend_launch.def.
 *
 * A launch is recorded with the name of its kernel: the runtime is asked for that of a function
 * handle, that of a stub was told when the stub was registered. A kernel without a name goes by
 * that of the call.
 */
#include <errno.h>
#include <stdatomic.h>

#include "ascend_abi.h"
#include "ascend_device.h"
#include "config.h"
#include "guard.h"
#include "hook.h"
#include "recorder.h"
#include "symbol_lookup.h"

enum {
    STUBS_MAX = 4096, /* a power of two */
    STUB_NAME_MAX = 112,
    FUNCTION_NAME_MAX = 256,
};

enum stub_state { STUB_FREE, STUB_WRITING, STUB_KNOWN };

struct stub {
    _Atomic int state;
    const void *address;
    char name[STUB_NAME_MAX];
};

static const char *const acl_libraries[] = {"libacl_rt.so", "libascendcl.so", NULL};
static const char *const impl_libraries[] = {"libacl_rt_impl.so", "libascendcl_impl.so", NULL};
static const char *const rt_libraries[] = {"libruntime.so", NULL};

static struct hook_slot get_function_name = {"aclrtGetFunctionName", acl_libraries, NULL};

static struct stub stubs[STUBS_MAX];

#define LAUNCH(name, params, args, libraries, kernel) int name params;
#define OTHER(name, params, libraries)                int name params;
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER

static struct {
#define LAUNCH(name, params, args, libraries, kernel) struct hook_slot name;
#define OTHER(name, params, libraries)                struct hook_slot name;
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER
} slots = {
#define LAUNCH(name, params, args, libraries, kernel) .name = {#name, libraries, NULL},
#define OTHER(name, params, libraries)                .name = {#name, libraries, NULL},
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER
};

static struct stub *stub_at(const void *address, size_t probe)
{
    size_t hash = (uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40;

    return &stubs[(hash + probe) & (STUBS_MAX - 1)];
}

static struct text stub_name(const void *address)
{
    for (size_t probe = 0; probe < STUBS_MAX; probe++) {
        const struct stub *stub = stub_at(address, probe);
        int state = atomic_load_explicit(&stub->state, memory_order_acquire);

        if (state == STUB_FREE)
            break;
        if (state == STUB_KNOWN && stub->address == address)
            return text_of(stub->name);
    }
    return text_of(NULL);
}

/* When the table is full, kernels go by the names of their calls. */
static void stub_remember(const void *address, const char *name)
{
    if (!address || !name || stub_name(address).size_bytes)
        return;
    for (size_t probe = 0; probe < STUBS_MAX; probe++) {
        struct stub *stub = stub_at(address, probe);
        int expected = STUB_FREE;

        if (!atomic_compare_exchange_strong(&stub->state, &expected, STUB_WRITING))
            continue;
        stub->address = address;
        memcpy(stub->name, name, strnlen(name, STUB_NAME_MAX - 1));
        atomic_store_explicit(&stub->state, STUB_KNOWN, memory_order_release);
        return;
    }
}

static struct text function_name(void *function, char *buffer)
{
    int (*get)(void *, uint32_t, char *) = hook_asked(&get_function_name);

    buffer[0] = '\0';
    if (!get || get(function, FUNCTION_NAME_MAX, buffer) != 0)
        return text_of(NULL);
    return (struct text){buffer, strnlen(buffer, FUNCTION_NAME_MAX)};
}

static void launch_record(struct text kernel, const struct hook_slot *slot)
{
    struct mt_place place = {
        .device = ascend_current_device(), .kind = MT_KIND_DEVICE, .module = -1};

    record_launch(kernel.size_bytes ? kernel : text_of(slot->name), mt_place_pack(place));
}

#define LAUNCH(name, params, args, libraries, kernel)                                              \
    HOOK_EXPORT int name params                                                                    \
    {                                                                                              \
        int(*real) params = hook_real(&slots.name);                                                \
        if (!real)                                                                                 \
            return RT_STATUS_NOT_SUPPORTED;                                                        \
        bool is_outermost = config_get()->records_launches && guard_enter(LAYER_LAUNCH);           \
        int status = real args;                                                                    \
        if (is_outermost) {                                                                        \
            int saved_errno = errno;                                                               \
            char buffer[FUNCTION_NAME_MAX];                                                        \
            (void)buffer;                                                                          \
            if (status == 0)                                                                       \
                launch_record(kernel, &slots.name);                                                \
            guard_leave(LAYER_LAUNCH);                                                             \
            errno = saved_errno;                                                                   \
        }                                                                                          \
        return status;                                                                             \
    }
#define OTHER(name, params, libraries)
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER

#define LAUNCH(name, params, args, libraries, kernel)                                              \
    static int name##_wrapper params __attribute__((alias(#name)));
#define OTHER(name, params, libraries)                                                             \
    static int name##_wrapper params __attribute__((alias(#name)));
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER

static const struct hook_entry entries[] = {
#define LAUNCH(name, params, args, libraries, kernel) {#name, (void *)name##_wrapper, &slots.name},
#define OTHER(name, params, libraries)                {#name, (void *)name##_wrapper, &slots.name},
#include "ascend_launch.def"
#undef LAUNCH
#undef OTHER
};

const struct hook_entries hook_entries_launch = {entries, sizeof(entries) / sizeof(entries[0])};

HOOK_EXPORT int rtFunctionRegister(void *binary, const void *stub, const char *name,
                                   const void *extra, uint32_t mode)
{
    int (*real)(void *, const void *, const char *, const void *, uint32_t) =
        hook_real(&slots.rtFunctionRegister);
    int status = real ? real(binary, stub, name, extra, mode) : RT_STATUS_NOT_SUPPORTED;

    if (status == 0)
        stub_remember(stub, name);
    return status;
}
