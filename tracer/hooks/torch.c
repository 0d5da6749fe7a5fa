/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of PyTorch's own pools, made from torch.def.
 *
 * On a device the caching allocator reports each block under its own lock, so the order of records
 * is the order of events. It reports with each what it has reserved; the segments themselves are
 * seen below, in the runtime's hooks.
 *
 * On the host it reports only while a profiler of its own runs, and then keeps a table under a
 * lock. So the pair below is taken instead, which each block of the default allocator passes. What
 * else is reported for the host are mapped and shared storages: those are remembered, so that the
 * reports of a running profiler are not counted a second time.
 *
 * alloc_cpu leaves by an exception when there is no memory; guard.h says what becomes of the mark.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ascend_abi.h"
#include "ascend_device.h"
#include "config.h"
#include "device_blocks.h"
#include "device_memory.h"
#include "hook.h"
#include "torch_host.h"
#include "torch_refusal.h"

/* c10::Device, which is passed by value in one register. */
struct torch_device {
    int8_t type;
    int8_t index;
};

/* c10::SourceLocation */
struct torch_source_location {
    const char *function, *file;
    uint32_t line;
};

/* std::string begins like this. It is passed by its address. */
struct cxx_string {
    const char *text;
    size_t length_bytes;
};

enum {
    TORCH_CPU = 0,          /* c10::DeviceType::CPU */
    TORCH_OUT_OF_MEMORY = 2 /* as the CUDA runtime says it */
};

static const char *const torch_libraries[] = {"libc10.so", NULL};

static POOL(pool_torch, "torch");
static POOL(pool_torch_cpu, "torch_cpu");
static POOL(pool_pta, "pta");
static POOL(pool_pta_workspace, "pta_workspace");

#define TORCH_USAGE(name)                                                                          \
    HOOK_EXPORT void name(void *, int64_t, size_t, size_t, struct torch_device);
#define TORCH_FAILURE(name) HOOK_EXPORT void name(int64_t, size_t, size_t, struct torch_device);
#define TORCH_ERROR(name)                                                                          \
    HOOK_EXPORT void name(void *, struct torch_source_location, struct cxx_string *);
#define TORCH_ALLOC(name) HOOK_EXPORT void *name(size_t);
#define TORCH_FREE(name)  HOOK_EXPORT void name(void *);
#include "torch.def"
#undef TORCH_USAGE
#undef TORCH_FAILURE
#undef TORCH_ERROR
#undef TORCH_ALLOC
#undef TORCH_FREE

/* The newest block of this thread: a profiler that runs reports it once more. */
static __thread uintptr_t newest_cpu_block __attribute__((tls_model("initial-exec")));

static bool is_wanted(struct torch_device device)
{
    const struct config *config = config_get();

    return device.type == TORCH_CPU ? config->records_host : config->records_device;
}

static uint64_t place_of(struct torch_device device)
{
    bool is_host = device.type == TORCH_CPU;
    int32_t index = device.index < 0 ? 0 : device.index;

    return mt_place_pack((struct mt_place){.device = is_host ? -1 : index,
                                           .kind = is_host ? MT_KIND_HOST : MT_KIND_DEVICE,
                                           .module = -1});
}

/* It is said with every block, mostly the same: that is news only once. */
static void reserved_report(uint64_t place, uint64_t reserved_bytes)
{
    static _Atomic uint64_t newest[DEVICES_MAX];
    size_t device = (size_t)mt_place_unpack(place).device;

    if (device >= DEVICES_MAX || atomic_exchange(&newest[device], reserved_bytes) == reserved_bytes)
        return;
    record_pool_reserved(pool_torch, place, reserved_bytes);
}

static void device_usage(uint64_t address, int64_t size, uint64_t reserved_bytes, uint64_t place,
                         struct call_site site)
{
    if (size > 0)
        record_alloc(pool_torch, place, address, (uint64_t)size, site);
    else
        record_free(pool_torch, address);
    reserved_report(place, reserved_bytes);
}

static void mapped_usage(uint64_t address, int64_t size, uint64_t place, struct call_site site)
{
    struct device_block block = {
        .pool = &pool_torch_cpu, .place = place, .size_bytes = (uint64_t)size, .site = site};
    struct block_ending ending;

    if (size <= 0)
        device_block_end(SPACE_TORCH_MAPPED, address, NULL, &ending);
    else if (address != newest_cpu_block)
        device_block_begin(SPACE_TORCH_MAPPED, address, &block);
}

/* from: of the wrapper. The report changes nothing, so it may be recorded before it goes on. */
static void usage_record(void *address, int64_t size, uint64_t reserved_bytes,
                         struct torch_device device, struct unwind_registers from)
{
    int saved_errno = errno;

    if (!address || !size || !is_wanted(device) || !guard_enter(LAYER_TORCH))
        return;
    if (device.type == TORCH_CPU)
        mapped_usage((uintptr_t)address, size, place_of(device), recorder_site(LAYER_TORCH, from));
    else
        device_usage((uintptr_t)address, size, reserved_bytes, place_of(device),
                     recorder_site(LAYER_TORCH, from));
    device_hook_leave(LAYER_TORCH, saved_errno);
}

static void failure_record(int64_t size, struct torch_device device, struct unwind_registers from)
{
    int saved_errno = errno;

    if (size <= 0 || !is_wanted(device) || !guard_enter(LAYER_TORCH))
        return;
    record_alloc_failed(device.type == TORCH_CPU ? pool_torch_cpu : pool_torch, place_of(device),
                        (uint64_t)size, TORCH_OUT_OF_MEMORY, recorder_site(LAYER_TORCH, from));
    device_hook_leave(LAYER_TORCH, saved_errno);
}

static void refusal_record(const struct torch_refusal *refusal, struct unwind_registers from)
{
    uint64_t place = mt_place_pack((struct mt_place){
        .device = ascend_physical_device(refusal->device), .kind = MT_KIND_DEVICE, .module = -1});
    int saved_errno = errno;

    if (!refusal->size_bytes || !config_get()->records_device || !guard_enter(LAYER_TORCH))
        return;
    record_alloc_failed(refusal->is_workspace ? pool_pta_workspace : pool_pta, place,
                        refusal->size_bytes, RT_STATUS_OUT_OF_MEMORY,
                        recorder_site(LAYER_TORCH, from));
    device_hook_leave(LAYER_TORCH, saved_errno);
}

static bool cpu_enter(void)
{
    return config_get()->records_host && guard_enter(LAYER_TORCH);
}

/* What this thread asks c10::alloc_cpu for; 0: nothing. */
static __thread struct {
    size_t size_bytes;
    struct call_site site;
} cpu_request __attribute__((tls_model("initial-exec")));

void torch_cpu_refused(size_t size_bytes)
{
    uint64_t place = place_of((struct torch_device){TORCH_CPU, -1});

    if (cpu_request.size_bytes == size_bytes)
        record_alloc_failed(pool_torch_cpu, place, size_bytes, ENOMEM, cpu_request.site);
    cpu_request.size_bytes = 0;
}

static void cpu_alloc_record(void *block, size_t size, struct call_site site)
{
    cpu_request.size_bytes = 0;
    if (!block || !size)
        return;
    newest_cpu_block = (uintptr_t)block;
    record_alloc(pool_torch_cpu, place_of((struct torch_device){TORCH_CPU, -1}), (uintptr_t)block,
                 size, site);
}

#define TORCH_SLOT(name) static struct hook_slot slot_##name = {#name, torch_libraries, NULL};

#define TORCH_USAGE(name)                                                                          \
    TORCH_SLOT(name)                                                                               \
    void name(void *address, int64_t size, size_t used, size_t reserved,                           \
              struct torch_device device)                                                          \
    {                                                                                              \
        void (*real)(void *, int64_t, size_t, size_t, struct torch_device) =                       \
            hook_real(&slot_##name);                                                               \
        usage_record(address, size, reserved, device, unwind_caller());                            \
        if (real)                                                                                  \
            real(address, size, used, reserved, device);                                           \
    }

#define TORCH_FAILURE(name)                                                                        \
    TORCH_SLOT(name)                                                                               \
    void name(int64_t size, size_t used, size_t reserved, struct torch_device device)              \
    {                                                                                              \
        void (*real)(int64_t, size_t, size_t, struct torch_device) = hook_real(&slot_##name);      \
        failure_record(size, device, unwind_caller());                                             \
        if (real)                                                                                  \
            real(size, used, reserved, device);                                                    \
    }

#define TORCH_ERROR(name)                                                                          \
    TORCH_SLOT(name)                                                                               \
    void name(void *error, struct torch_source_location location, struct cxx_string *message)      \
    {                                                                                              \
        void (*real)(void *, struct torch_source_location, struct cxx_string *) =                  \
            hook_real(&slot_##name);                                                               \
        struct torch_refusal refusal;                                                              \
        if (torch_refusal_read(message->text, message->length_bytes, &refusal))                    \
            refusal_record(&refusal, unwind_caller());                                             \
        if (real)                                                                                  \
            real(error, location, message);                                                        \
    }

/* Without the real one: the same as it does, for a library that has it under another file name. */
static void *alloc_without_torch(size_t size)
{
    enum { TENSOR_ALIGNMENT = 64 };
    void *block = NULL;

    return posix_memalign(&block, TENSOR_ALIGNMENT, size) == 0 ? block : NULL;
}

#define TORCH_ALLOC(name)                                                                          \
    TORCH_SLOT(name)                                                                               \
    void *name(size_t size)                                                                        \
    {                                                                                              \
        void *(*real)(size_t) = hook_real(&slot_##name);                                           \
        bool is_outermost = cpu_enter();                                                           \
        struct call_site site = {NULL, 0, 0};                                                      \
        void *block;                                                                               \
        if (is_outermost) {                                                                        \
            site = recorder_site(LAYER_TORCH, unwind_caller());                                    \
            cpu_request.site = site;                                                               \
            cpu_request.size_bytes = size;                                                         \
        }                                                                                          \
        block = real ? real(size) : alloc_without_torch(size);                                     \
        if (is_outermost) {                                                                        \
            int saved_errno = errno;                                                               \
            cpu_alloc_record(block, size, site);                                                   \
            device_hook_leave(LAYER_TORCH, saved_errno);                                           \
        }                                                                                          \
        return block;                                                                              \
    }

#define TORCH_FREE(name)                                                                           \
    TORCH_SLOT(name)                                                                               \
    void name(void *address)                                                                       \
    {                                                                                              \
        void (*real)(void *) = hook_real(&slot_##name);                                            \
        bool is_outermost = address && cpu_enter();                                                \
        if (is_outermost)                                                                          \
            record_free(pool_torch_cpu, (uintptr_t)address);                                       \
        if (real)                                                                                  \
            real(address);                                                                         \
        else                                                                                       \
            free(address);                                                                         \
        if (is_outermost)                                                                          \
            device_hook_leave(LAYER_TORCH, errno);                                                 \
    }

#include "torch.def"
