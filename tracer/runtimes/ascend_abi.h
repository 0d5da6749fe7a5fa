/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we know of the binary interface of Ascend's driver, runtime and mstx: status codes, flag
 * bits and struct layouts, in our own words. No vendor header is needed, or used.
 *
 * Handles and enums are passed through as void * and int of the same size.
 */
#ifndef LEAKTIDE_TRACER_ASCEND_ABI_H
#define LEAKTIDE_TRACER_ASCEND_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What a wrapper answers when its real function is nowhere. */
enum {
    DRV_STATUS_NOT_SUPPORTED = 0xfffe,
    DRV_STATUS_INVALID_VALUE = 3,
    DRV_STATUS_OUT_OF_MEMORY = 6,
    RT_STATUS_NOT_SUPPORTED = 207000,
    RT_STATUS_OUT_OF_MEMORY = 207001,
    RT_STATUS_INVALID_PARAMETER = 107000,
    RT_STATUS_NO_CONTEXT = 107002,
};

/* halMemAlloc flag: bits 0-9 device, 10-13 kind, 17-18 page, 31 giant page, 56-63 module. */
enum {
    HAL_DEVICE_BITS = 10,
    HAL_KIND_SHIFT = 10,
    HAL_PAGE_SHIFT = 17,
    HAL_GIANT_SHIFT = 31,
    HAL_MODULE_SHIFT = 56,
};

enum hal_kind {
    HAL_KIND_SVM,
    HAL_KIND_DEVICE,
    HAL_KIND_HOST,
    HAL_KIND_DVPP,
    HAL_KIND_HOST_AGENT,
    HAL_KIND_RESERVE,
    HAL_KIND_HOST_UVA,
    HAL_KIND_UVM,
};

/* Of halMemCreate and rtMallocPhysical. */
struct hal_memory_property {
    uint32_t side; /* 1 = device, 0 = host */
    uint32_t device;
    uint32_t module;
    uint32_t page; /* enum hal_page; also bits 0-1 of the flag of halMemAddressReserve */
    uint32_t memory_type;
    uint64_t reserved;
};

enum hal_page { HAL_PAGE_NORMAL, HAL_PAGE_HUGE, HAL_PAGE_GIANT };

/* Of halMemGetInfo. A driver may know more fields than we do. */
struct hal_memory_info {
    unsigned long normal_total, normal_free;
    unsigned long huge_total, huge_free;
    unsigned long unknown[28];
};

enum hal_info_type { HAL_INFO_DDR = 1, HAL_INFO_HBM = 2 };

/* aclrtMemMallocPolicy and rtMallocPolicy, low byte. */
enum acl_policy {
    ACL_POLICY_HUGE_FIRST,
    ACL_POLICY_HUGE_ONLY,
    ACL_POLICY_NORMAL_ONLY,
    ACL_POLICY_HUGE_FIRST_P2P,
    ACL_POLICY_HUGE_ONLY_P2P,
    ACL_POLICY_NORMAL_ONLY_P2P,
    ACL_POLICY_GIANT_ONLY,
    ACL_POLICY_GIANT_ONLY_P2P,
};

/* aclrtMallocConfig and rtMallocConfig_t. */
enum acl_attribute { ACL_ATTRIBUTE_MODULE = 1, ACL_ATTRIBUTE_DEVICE = 2 };

struct acl_malloc_attribute {
    uint32_t attribute;
    union {
        uint16_t module;
        uint32_t device;
        uint32_t reserved[2];
    } value;
};

struct acl_malloc_config {
    const struct acl_malloc_attribute *attributes;
    size_t attribute_count;
};

/* aclrtPhysicalMemProp. */
struct acl_physical_property {
    uint32_t handle_type;
    uint32_t allocation_type;
    uint32_t memory_attribute; /* enum acl_memory_attribute */
    uint32_t location;
    uint32_t location_type; /* 0 host, 1 device */
    uint64_t reserved;
};

enum acl_memory_attribute {
    ACL_MEMORY_DDR = 0,
    ACL_MEMORY_HBM = 1,
    ACL_MEMORY_HBM_HUGE = 4,
    ACL_MEMORY_HBM_NORMAL = 5,
    ACL_MEMORY_ATTRIBUTES = 18,
};

/* aclrtMemcpyKind, and aclmdlRICaptureStatus. */
enum acl_copy {
    ACL_COPY_HOST_TO_HOST,
    ACL_COPY_HOST_TO_DEVICE,
    ACL_COPY_DEVICE_TO_HOST,
    ACL_COPY_DEVICE_TO_DEVICE,
};
enum { ACL_CAPTURE_ACTIVE = 1 };

/* rtMalloc type: these values are kinds, these bits say the page. */
enum {
    RT_TYPE_HOST = 0x81,
    RT_TYPE_SVM = 0x90,
    RT_TYPE_KIND_MASK = 0xff,
    RT_TYPE_HUGE_ONLY = 0x800 | 0x4000,
    RT_TYPE_NORMAL_ONLY = 0x1000 | 0x8000,
};

/* mstx. The table of a module is indexed from 1; `size` of the getter is its last index. */
enum mstx_module { MSTX_MODULE_CORE = 1, MSTX_MODULE_DOMAIN = 2, MSTX_MODULE_MEMORY = 3 };

typedef void (*mstx_function)(void);
typedef int (*mstx_table_getter)(int module, mstx_function ***table, unsigned *size);

enum { MSTX_TOOL_ID = 0x1003 }; /* of msleaks, whose place we take */

struct mstx_virtual_range { /* a region, and the memory of a heap */
    uint32_t device;
    const void *address;
    uint64_t size_bytes;
};

struct mstx_heap {
    int usage; /* 0 = sub-allocator */
    int type;  /* 0 = virtual range */
    const struct mstx_virtual_range *range;
};

struct mstx_regions {
    void *heap;
    int type; /* 0 = virtual range */
    size_t count;
    const struct mstx_virtual_range *ranges;
    void **handles; /* to be filled */
};

struct mstx_region_reference {
    int type; /* 0 = pointer, 1 = handle */
    union {
        const void *address;
        void *handle;
    };
};

struct mstx_region_references {
    size_t count;
    const struct mstx_region_reference *references;
};

#endif
