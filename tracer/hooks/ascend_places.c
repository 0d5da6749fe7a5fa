/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ascend_places.h. */
#include "ascend_places.h"

#include "ascend_device.h"

POOL(pool_hal, "hal");
POOL(pool_hal_host, "hal_host");
POOL(pool_hal_virtual, "hal_virtual");
POOL(pool_hal_mapping, "hal_mapping");
POOL(pool_hal_import, "hal_import");
POOL(pool_hal_registered, "hal_registered");
POOL(pool_hal_buff, "hal_buff");
POOL(pool_acl, "acl");
POOL(pool_acl_host, "acl_host");
POOL(pool_acl_virtual, "acl_virtual");
POOL(pool_acl_mapping, "acl_mapping");
POOL(pool_acl_import, "acl_import");
POOL(pool_acl_registered, "acl_registered");
POOL(pool_acl_async, "acl_async");

enum { CONFIG_ATTRIBUTES_MAX = 16 }; /* a longer list is taken for garbage */

static struct device_block block_of(const struct text *pool, struct mt_place place)
{
    return (struct device_block){.pool = pool, .place = mt_place_pack(place)};
}

static struct device_block unknown_of(const struct text *pool)
{
    return block_of(pool, (struct mt_place){.device = -1, .module = -1});
}

static uint8_t page_of(uint32_t hal_page)
{
    static const uint8_t pages[] = {MT_PAGE_NORMAL, MT_PAGE_HUGE, MT_PAGE_GIANT};

    return hal_page < sizeof(pages) ? pages[hal_page] : MT_PAGE_UNKNOWN;
}

struct device_block hal_origin(uint64_t flag)
{
    static const uint8_t kinds[16] = {
        [HAL_KIND_SVM] = MT_KIND_SHARED,      [HAL_KIND_DEVICE] = MT_KIND_DEVICE,
        [HAL_KIND_HOST] = MT_KIND_HOST,       [HAL_KIND_DVPP] = MT_KIND_DVPP,
        [HAL_KIND_HOST_AGENT] = MT_KIND_HOST, [HAL_KIND_RESERVE] = MT_KIND_DEVICE,
        [HAL_KIND_HOST_UVA] = MT_KIND_HOST,   [HAL_KIND_UVM] = MT_KIND_SHARED,
    };
    unsigned kind = (unsigned)(flag >> HAL_KIND_SHIFT & 15);
    struct mt_place place = {
        .device = (int32_t)(flag & ((1u << HAL_DEVICE_BITS) - 1)),
        .kind = kinds[kind],
        .page = flag >> HAL_GIANT_SHIFT & 1 ? MT_PAGE_GIANT
                                            : page_of((uint32_t)(flag >> HAL_PAGE_SHIFT & 3)),
        .module = (int32_t)(flag >> HAL_MODULE_SHIFT),
    };

    if (place.kind == MT_KIND_HOST) {
        place.device = -1;
        return block_of(&pool_hal_host, place);
    }
    if (kind == HAL_KIND_RESERVE) {
        place.flags = MT_PLACE_VIRTUAL;
        return block_of(&pool_hal_virtual, place);
    }
    return block_of(&pool_hal, place);
}

static struct device_block property_origin(const struct hal_memory_property *property,
                                           const struct text *device_pool,
                                           const struct text *host_pool)
{
    struct mt_place place = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    if (!property)
        return unknown_of(device_pool);
    place.page = page_of(property->page);
    place.module = (uint16_t)property->module;
    place.flags = MT_PLACE_HANDLE;
    if (property->side != 1)
        return block_of(host_pool, place);
    place.device = (int16_t)property->device;
    place.kind = MT_KIND_DEVICE;
    return block_of(device_pool, place);
}

struct device_block hal_property_origin(const struct hal_memory_property *property)
{
    return property_origin(property, &pool_hal, &pool_hal_host);
}

struct device_block hal_reserve_origin(uint64_t flag)
{
    return block_of(&pool_hal_virtual, (struct mt_place){.device = -1,
                                                         .kind = MT_KIND_DEVICE,
                                                         .page = page_of((uint32_t)(flag & 3)),
                                                         .flags = MT_PLACE_VIRTUAL,
                                                         .module = -1});
}

/* A mapping is where its memory is. */
static struct device_block map_origin(const struct text *pool, enum block_space space,
                                      const void *handle)
{
    struct mt_place place = {.device = -1, .module = -1};
    struct device_block memory;

    if (device_block_find(space, (uintptr_t)handle, &memory))
        place = mt_place_unpack(memory.place);
    place.flags = (uint16_t)((place.flags & ~MT_PLACE_HANDLE) | MT_PLACE_MAPPING);
    return block_of(pool, place);
}

struct device_block hal_map_origin(const void *handle)
{
    return map_origin(&pool_hal_mapping, SPACE_HAL_HANDLE, handle);
}

static struct device_block import_origin(const struct text *pool, int32_t device)
{
    return block_of(pool, (struct mt_place){.device = device,
                                            .kind = MT_KIND_DEVICE,
                                            .flags = MT_PLACE_IMPORTED,
                                            .module = -1});
}

struct device_block hal_import_origin(int32_t device)
{
    return import_origin(&pool_hal_import, device);
}

static struct device_block register_origin(const struct text *pool, int32_t device)
{
    return block_of(pool, (struct mt_place){.device = device,
                                            .kind = MT_KIND_HOST,
                                            .flags = MT_PLACE_REGISTERED,
                                            .module = -1});
}

struct device_block hal_register_origin(int32_t device)
{
    return register_origin(&pool_hal_registered, device);
}

struct device_block hal_buffer_origin(void)
{
    return block_of(&pool_hal_buff,
                    (struct mt_place){.device = -1, .kind = MT_KIND_HOST, .module = -1});
}

/* What the policy asks for. "Huge first" leaves it to the runtime, so the page is not known. */
static uint8_t policy_page(uint32_t policy)
{
    static const uint8_t pages[] = {
        [ACL_POLICY_HUGE_ONLY] = MT_PAGE_HUGE,     [ACL_POLICY_HUGE_ONLY_P2P] = MT_PAGE_HUGE,
        [ACL_POLICY_NORMAL_ONLY] = MT_PAGE_NORMAL, [ACL_POLICY_NORMAL_ONLY_P2P] = MT_PAGE_NORMAL,
        [ACL_POLICY_GIANT_ONLY] = MT_PAGE_GIANT,   [ACL_POLICY_GIANT_ONLY_P2P] = MT_PAGE_GIANT,
    };
    uint32_t index = policy & 0xff;

    return index < sizeof(pages) ? pages[index] : MT_PAGE_UNKNOWN;
}

static void config_apply(const struct acl_malloc_config *config, struct mt_place *place)
{
    if (!config || !config->attributes || config->attribute_count > CONFIG_ATTRIBUTES_MAX)
        return;
    for (size_t i = 0; i < config->attribute_count; i++) {
        const struct acl_malloc_attribute *attribute = &config->attributes[i];

        if (attribute->attribute == ACL_ATTRIBUTE_MODULE)
            place->module = attribute->value.module;
        else if (attribute->attribute == ACL_ATTRIBUTE_DEVICE)
            place->device = ascend_physical_device((int32_t)attribute->value.device);
    }
}

struct device_block acl_origin(uint32_t policy, const struct acl_malloc_config *config,
                               int32_t device)
{
    struct mt_place place = {
        .device = device, .kind = MT_KIND_DEVICE, .page = policy_page(policy), .module = -1};

    config_apply(config, &place);
    return block_of(&pool_acl, place);
}

struct device_block acl_host_origin(const struct acl_malloc_config *config)
{
    struct mt_place place = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    config_apply(config, &place);
    place.device = -1;
    return block_of(&pool_acl_host, place);
}

struct device_block acl_managed_origin(int32_t module, int32_t device)
{
    return block_of(&pool_acl,
                    (struct mt_place){.device = device, .kind = MT_KIND_SHARED, .module = module});
}

struct device_block acl_physical_origin(const struct acl_physical_property *property)
{
    static const uint8_t pages[ACL_MEMORY_ATTRIBUTES] = {
        [2] = MT_PAGE_HUGE,   [3] = MT_PAGE_NORMAL,  [4] = MT_PAGE_HUGE,    [5] = MT_PAGE_NORMAL,
        [6] = MT_PAGE_HUGE,   [7] = MT_PAGE_NORMAL,  [8] = MT_PAGE_HUGE,    [9] = MT_PAGE_NORMAL,
        [10] = MT_PAGE_GIANT, [11] = MT_PAGE_GIANT,  [12] = MT_PAGE_NORMAL, [13] = MT_PAGE_HUGE,
        [14] = MT_PAGE_GIANT, [15] = MT_PAGE_NORMAL, [16] = MT_PAGE_HUGE,   [17] = MT_PAGE_GIANT,
    };
    struct mt_place place = {.device = -1, .kind = MT_KIND_HOST, .module = -1};

    if (!property)
        return unknown_of(&pool_acl);
    if (property->memory_attribute < ACL_MEMORY_ATTRIBUTES)
        place.page = pages[property->memory_attribute];
    if (property->location_type != 1)
        return block_of(&pool_acl_host, place);
    place.device = ascend_physical_device((int32_t)property->location);
    place.kind = MT_KIND_DEVICE;
    place.flags = MT_PLACE_HANDLE;
    return block_of(&pool_acl, place);
}

struct device_block acl_async_origin(int32_t device)
{
    return block_of(&pool_acl_async,
                    (struct mt_place){.device = device, .kind = MT_KIND_DEVICE, .module = -1});
}

struct device_block acl_virtual_origin(int32_t device)
{
    return block_of(&pool_acl_virtual, (struct mt_place){.device = device,
                                                         .kind = MT_KIND_DEVICE,
                                                         .flags = MT_PLACE_VIRTUAL,
                                                         .module = -1});
}

struct device_block acl_map_origin(const void *handle)
{
    return map_origin(&pool_acl_mapping, SPACE_ACL_HANDLE, handle);
}

struct device_block acl_import_origin(int32_t device)
{
    return import_origin(&pool_acl_import, device);
}

struct device_block acl_register_origin(int32_t device)
{
    return register_origin(&pool_acl_registered, device);
}

struct device_block rt_origin(uint32_t type, uint16_t module, int32_t device)
{
    struct mt_place place = {.device = device, .kind = MT_KIND_DEVICE, .module = module};

    if (type & RT_TYPE_HUGE_ONLY)
        place.page = MT_PAGE_HUGE;
    else if (type & RT_TYPE_NORMAL_ONLY)
        place.page = MT_PAGE_NORMAL;
    if ((type & RT_TYPE_KIND_MASK) == RT_TYPE_HOST) {
        place.kind = MT_KIND_HOST;
        place.device = -1;
        return block_of(&pool_acl_host, place);
    }
    if ((type & RT_TYPE_KIND_MASK) == RT_TYPE_SVM)
        place.kind = MT_KIND_SHARED;
    return block_of(&pool_acl, place);
}

struct device_block rt_host_origin(uint16_t module)
{
    return block_of(&pool_acl_host,
                    (struct mt_place){.device = -1, .kind = MT_KIND_HOST, .module = module});
}

struct device_block rt_dvpp_origin(uint16_t module, int32_t device)
{
    return block_of(&pool_acl,
                    (struct mt_place){.device = device, .kind = MT_KIND_DVPP, .module = module});
}

struct device_block rt_physical_origin(const struct hal_memory_property *property)
{
    struct device_block block = property_origin(property, &pool_acl, &pool_acl_host);
    struct mt_place place = mt_place_unpack(block.place);

    place.device = ascend_physical_device(place.device);
    block.place = mt_place_pack(place);
    return block;
}
