/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of Ascend's runtime API, made from ascend_acl.def, and what it tells about devices.
 *
 * aclrt* may reach rt*; both are LAYER_RUNTIME and fill the same pools, so a call counts once.
 * User allocators (aclrtAllocatorRegister) are left alone: what they hand out they took from here.
 */
#include "ascend_device.h"
#include "ascend_device_call.h"
#include "ascend_places.h"

static const char *const acl_libraries[] = {"libacl_rt.so", "libascendcl.so", NULL};

/* FNV-1a, in the bits that an address may have. */
static uint64_t key_hash(const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; key && *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    return (hash >> 16) | 1;
}

#define HOOK_TABLE       "ascend_acl.def"
#define HOOK_STATUS      int
#define HOOK_UNAVAILABLE RT_STATUS_NOT_SUPPORTED
#define HOOK_LAYER       LAYER_RUNTIME
#define HOOK_LIBRARIES   acl_libraries
#define HOOK_ENTRIES     hook_entries_acl
#include "device_hook_table.h"

/* The key keeps the block alive, so that closing the key ends the block. */
static void import_begin(uint64_t key, uint64_t address, struct call_site site)
{
    struct device_block memory = acl_import_origin(ascend_current_device());
    struct device_block name = {.held_space = SPACE_ACL_IMPORT, .held = address};

    memory.site = site;
    if (device_block_find(SPACE_ACL_KEY, key, &name)) {
        device_block_hold(SPACE_ACL_KEY, key);
        return;
    }
    device_block_begin(SPACE_ACL_KEY, key, &name);
    device_block_begin(SPACE_ACL_IMPORT, address, &memory);
}

HOOK_EXPORT int aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags)
{
    int (*real)(void **, const char *, uint64_t) = hook_real(&slots.aclrtIpcMemImportByKey);

    if (!real)
        return RT_STATUS_NOT_SUPPORTED;
    bool is_outermost = device_hook_enter(LAYER_RUNTIME);
    int status = real(address, key, flags);

    if (is_outermost) {
        int saved_errno = errno;

        if (status == 0)
            import_begin(key_hash(key), (uintptr_t)*address,
                         recorder_site(LAYER_RUNTIME, unwind_caller()));
        device_hook_leave(LAYER_RUNTIME, saved_errno);
    }
    return status;
}

static uint64_t device_place(int32_t device)
{
    return mt_place_pack((struct mt_place){.device = device, .module = -1});
}

HOOK_EXPORT int aclInit(const char *config_path)
{
    int (*real)(const char *) = hook_real(&slots.aclInit);

    if (!real)
        return RT_STATUS_NOT_SUPPORTED;
    bool is_outermost = device_hook_enter(LAYER_RUNTIME);
    int status = real(config_path);

    if (is_outermost) {
        int saved_errno = errno;

        record_device_event(text_of("aclInit"), device_place(-1), (uint32_t)status);
        device_hook_leave(LAYER_RUNTIME, saved_errno);
    }
    return status;
}

HOOK_EXPORT int aclFinalize(void)
{
    int (*real)(void) = hook_real(&slots.aclFinalize);

    if (!real)
        return RT_STATUS_NOT_SUPPORTED;
    bool is_outermost = device_hook_enter(LAYER_RUNTIME);
    int status = real();

    if (is_outermost) {
        int saved_errno = errno;

        record_device_event(text_of("aclFinalize"), device_place(-1), (uint32_t)status);
        device_hook_leave(LAYER_RUNTIME, saved_errno);
    }
    return status;
}

HOOK_EXPORT int aclrtSetDevice(int32_t device)
{
    return ascend_device_call(&slots.aclrtSetDevice, device, true);
}

HOOK_EXPORT int aclrtResetDevice(int32_t device)
{
    return ascend_device_call(&slots.aclrtResetDevice, device, false);
}

HOOK_EXPORT int aclrtResetDeviceForce(int32_t device)
{
    return ascend_device_call(&slots.aclrtResetDeviceForce, device, false);
}
