/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements cuda_places.h and the CUDA half of device_memory.h.
 *
 * Which device a thread uses is asked after a successful call, when it has a context: the answer
 * creates none. Free memory is asked in a primary context that is active already.
 */
#include "cuda_places.h"

#include <stdatomic.h>

#include "device_memory.h"
#include "hook.h"

POOL(pool_cuda, "cuda");
POOL(pool_cuda_host, "cuda_host");
POOL(pool_cuda_async, "cuda_async");
POOL(pool_cuda_virtual, "cuda_virtual");
POOL(pool_cuda_mapping, "cuda_mapping");
POOL(pool_cuda_import, "cuda_import");
POOL(pool_cuda_registered, "cuda_registered");
POOL(pool_cudart, "cudart");
POOL(pool_cudart_host, "cudart_host");
POOL(pool_cudart_async, "cudart_async");
POOL(pool_cudart_import, "cudart_import");
POOL(pool_cudart_registered, "cudart_registered");

static const char *const driver_libraries[] = {"libcuda.so.1", NULL};
static const char *const runtime_libraries[] = {"libcudart.so.13", "libcudart.so.12",
                                                "libcudart.so.11.0", NULL};

static struct hook_slot context_device = {"cuCtxGetDevice", driver_libraries, NULL};
static struct hook_slot runtime_device = {"cudaGetDevice", runtime_libraries, NULL};
static struct hook_slot primary_state = {"cuDevicePrimaryCtxGetState", driver_libraries, NULL};
static struct hook_slot primary_retain = {"cuDevicePrimaryCtxRetain", driver_libraries, NULL};
static struct hook_slot primary_release = {"cuDevicePrimaryCtxRelease_v2", driver_libraries, NULL};
static struct hook_slot context_push = {"cuCtxPushCurrent_v2", driver_libraries, NULL};
static struct hook_slot context_pop = {"cuCtxPopCurrent_v2", driver_libraries, NULL};
static struct hook_slot memory_info = {"cuMemGetInfo_v2", driver_libraries, NULL};

static _Atomic uint64_t devices_in_use;

/* A new device in use: what could not be asked before may be loaded now. */
static void device_is_used(int device)
{
    static struct hook_slot *const asked[] = {&primary_state, &primary_retain, &primary_release,
                                              &context_push,  &context_pop,    &memory_info};

    if (device < 0 || device >= DEVICES_MAX || devices_in_use >> device & 1)
        return;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        hook_ask_again(asked[i]);
    atomic_fetch_or_explicit(&devices_in_use, UINT64_C(1) << device, memory_order_relaxed);
}

static struct device_block origin_of(const struct text *pool, struct hook_slot *device_slot,
                                     enum mt_place_kind kind, uint16_t flags)
{
    int (*get)(int *) = hook_asked(device_slot);
    int device = -1;

    if (!get || get(&device) != 0)
        device = -1;
    device_is_used(device);
    return (struct device_block){
        .pool = pool,
        .place = mt_place_pack((struct mt_place){
            .device = device, .kind = (uint8_t)kind, .flags = flags, .module = -1})};
}

struct device_block cuda_origin(const struct text *pool, enum mt_place_kind kind, uint16_t flags)
{
    return origin_of(pool, &context_device, kind, flags);
}

struct device_block cudart_origin(const struct text *pool, enum mt_place_kind kind, uint16_t flags)
{
    return origin_of(pool, &runtime_device, kind, flags);
}

struct device_block cuda_host_origin(const struct text *pool, uint16_t flags)
{
    return (struct device_block){
        .pool = pool,
        .place = mt_place_pack(
            (struct mt_place){.device = -1, .kind = MT_KIND_HOST, .flags = flags, .module = -1})};
}

struct device_block cuda_property_origin(const struct cuda_memory_property *property)
{
    struct mt_place place = {
        .device = -1, .kind = MT_KIND_DEVICE, .flags = MT_PLACE_HANDLE, .module = -1};

    if (!property)
        return (struct device_block){.pool = &pool_cuda, .place = mt_place_pack(place)};
    if (property->location_type != 1)
        return cuda_host_origin(&pool_cuda_host, 0);
    place.device = (int16_t)property->location;
    device_is_used(place.device);
    return (struct device_block){.pool = &pool_cuda, .place = mt_place_pack(place)};
}

struct device_block cuda_map_origin(uint64_t handle)
{
    struct mt_place place = {.device = -1, .module = -1};
    struct device_block memory;

    if (device_block_find(SPACE_CUDA_HANDLE, handle, &memory))
        place = mt_place_unpack(memory.place);
    place.flags = (uint16_t)((place.flags & ~MT_PLACE_HANDLE) | MT_PLACE_MAPPING);
    return (struct device_block){.pool = &pool_cuda_mapping, .place = mt_place_pack(place)};
}

static uint64_t format_bytes(int format)
{
    switch (format) {
    case 0x01: /* unsigned 8 bits */
    case 0x08: /* signed 8 bits */
        return 1;
    case 0x02:
    case 0x09:
    case 0x10: /* half */
        return 2;
    case 0x03:
    case 0x0a:
    case 0x20: /* float */
        return 4;
    default:
        return 0;
    }
}

static uint64_t at_least_one(size_t count)
{
    return count ? count : 1;
}

uint64_t cuda_array_bytes(const struct cuda_array *array)
{
    return array ? array->width * at_least_one(array->height) * array->channel_count *
                       format_bytes(array->format)
                 : 0;
}

uint64_t cuda_array_3d_bytes(const struct cuda_array_3d *array)
{
    return array ? array->width * at_least_one(array->height) * at_least_one(array->depth) *
                       array->channel_count * format_bytes(array->format)
                 : 0;
}

uint64_t cuda_channels_bytes(const struct cuda_channels *channels, struct cuda_extent extent)
{
    uint64_t bits = channels ? (uint64_t)(unsigned)channels->x_bits + (unsigned)channels->y_bits +
                                   (unsigned)channels->z_bits + (unsigned)channels->w_bits
                             : 0;

    return bits / 8 * extent.width * at_least_one(extent.height) * at_least_one(extent.depth);
}

uint64_t cuda_devices_in_use(void)
{
    return atomic_load_explicit(&devices_in_use, memory_order_relaxed);
}

/* With that context current on this thread. */
static bool info_in_context(void *context, uint64_t *free_bytes, uint64_t *total_bytes)
{
    int (*push)(void *) = hook_asked(&context_push);
    int (*pop)(void **) = hook_asked(&context_pop);
    int (*get)(size_t *, size_t *) = hook_asked(&memory_info);
    size_t free_size = 0, total_size = 0;
    bool is_known;

    if (!push || !pop || !get || push(context) != 0)
        return false;
    is_known = get(&free_size, &total_size) == 0;
    pop(&context);
    if (is_known) {
        *free_bytes = free_size;
        *total_bytes = total_size;
    }
    return is_known;
}

bool cuda_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    int (*state)(int, unsigned *, int *) = hook_asked(&primary_state);
    int (*retain)(void **, int) = hook_asked(&primary_retain);
    int (*release)(int) = hook_asked(&primary_release);
    unsigned flags;
    int is_active = 0;
    void *context = NULL;
    bool is_known;

    if (device < 0 || device >= DEVICES_MAX || !(cuda_devices_in_use() >> device & 1) || !state ||
        !retain || !release || state(device, &flags, &is_active) != 0 || !is_active ||
        retain(&context, device) != 0)
        return false;
    is_known = info_in_context(context, free_bytes, total_bytes);
    release(device);
    return is_known;
}
