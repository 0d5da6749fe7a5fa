/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "atb_pack.h"

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TYPES = 42, LARGEST_ENUM = 64 };

/* As ATB has them. */
struct tensor {
    int32_t dtype, format;
    int64_t dimensions[ATB_DIMENSIONS_MOST];
    uint64_t dimension_count;
    uint64_t device_data, host_data;
    uint64_t size_bytes;
};

struct tensor_vector {
    uint64_t capacity, size;
    struct tensor rows[ATB_TENSORS_MOST + 1];
    uint64_t heap;
};

struct flag_vector {
    uint64_t capacity, size;
    uint8_t rows[ATB_TENSORS_MOST + 1];
    uint64_t heap;
};

struct pack {
    struct tensor_vector inputs, outputs;
    struct flag_vector may_free, must_alloc;
    uint64_t host_tiling, tiling, tiling_bytes;
    uint64_t workspace, workspace_bytes;
    uint64_t intermediate, intermediate_bytes;
};

_Static_assert(sizeof(struct tensor) == 104, "atb::Tensor");
_Static_assert(offsetof(struct pack, outputs) == 6784, "atb::SVector of 64 tensors");

static const struct type {
    const char *name;
    uint8_t bytes; /* 0: less than one, or not known */
} types[TYPES] = {
    [0] = {"float32", 4},        [1] = {"float16", 2},      [2] = {"int8", 1},
    [3] = {"int32", 4},          [4] = {"uint8", 1},        [6] = {"int16", 2},
    [7] = {"uint16", 2},         [8] = {"uint32", 4},       [9] = {"int64", 8},
    [10] = {"uint64", 8},        [11] = {"float64", 8},     [12] = {"bool", 1},
    [13] = {"string", 0},        [16] = {"complex64", 8},   [17] = {"complex128", 16},
    [27] = {"bfloat16", 2},      [29] = {"int4", 0},        [30] = {"uint1", 0},
    [33] = {"complex32", 4},     [34] = {"hifloat8", 1},    [35] = {"float8_e5m2", 1},
    [36] = {"float8_e4m3fn", 1}, [37] = {"float8_e8m0", 1}, [38] = {"float6_e3m2", 0},
    [39] = {"float6_e2m3", 0},   [40] = {"float4_e2m1", 0}, [41] = {"float4_e1m2", 0},
};

const char *atb_dtype_name(int32_t dtype)
{
    return dtype >= 0 && dtype < TYPES ? types[dtype].name : NULL;
}

/* The kernel copies, so what is not there is an answer and no fault. */
static bool memory_read(const void *address, void *copy, size_t size_bytes)
{
    struct iovec to = {copy, size_bytes}, from = {(void *)(uintptr_t)address, size_bytes};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size_bytes;
}

static bool is_enum(int32_t value)
{
    return value >= -1 && value <= LARGEST_ENUM;
}

/* Elements of a tensor; false: no such dimensions. */
static bool element_count(const struct tensor *tensor, uint64_t *count)
{
    *count = 1;
    for (uint64_t i = 0; i < tensor->dimension_count; i++)
        if (tensor->dimensions[i] < 0 ||
            __builtin_mul_overflow(*count, (uint64_t)tensor->dimensions[i], count))
            return false;
    return true;
}

static bool tensor_makes_sense(const struct tensor *tensor)
{
    const char *name = atb_dtype_name(tensor->dtype);
    uint64_t count, bytes;

    if (!is_enum(tensor->dtype) || !is_enum(tensor->format) ||
        tensor->dimension_count > ATB_DIMENSIONS_MOST || !element_count(tensor, &count) ||
        !tensor->size_bytes != !(tensor->device_data | tensor->host_data))
        return false;
    if (!name || !types[tensor->dtype].bytes || !tensor->size_bytes)
        return true;
    return !__builtin_mul_overflow(count, (uint64_t)types[tensor->dtype].bytes, &bytes) &&
           bytes == tensor->size_bytes;
}

/* One without memory on a device is no access. */
static bool tensors_take(const struct tensor_vector *vector, struct atb_tensor *taken,
                         uint32_t *count)
{
    *count = 0;
    if (vector->heap || vector->size > ATB_TENSORS_MOST)
        return false;
    for (uint64_t i = 0; i < vector->size; i++) {
        const struct tensor *tensor = &vector->rows[i];
        struct atb_tensor *next = &taken[*count];

        if (!tensor_makes_sense(tensor))
            return false;
        if (!tensor->device_data || !tensor->size_bytes)
            continue;
        next->address = tensor->device_data;
        next->size_bytes = tensor->size_bytes;
        next->dtype = tensor->dtype;
        next->dimension_count = (uint32_t)tensor->dimension_count;
        memcpy(next->dimensions, tensor->dimensions, sizeof(next->dimensions));
        ++*count;
    }
    return true;
}

bool atb_pack_read(const void *pack, struct atb_pack *read)
{
    struct pack copy;

    if (!pack || !memory_read(pack, &copy, sizeof(copy)) ||
        !tensors_take(&copy.inputs, read->inputs, &read->input_count) ||
        !tensors_take(&copy.outputs, read->outputs, &read->output_count) ||
        copy.may_free.size > ATB_TENSORS_MOST || copy.must_alloc.size > ATB_TENSORS_MOST ||
        (copy.workspace_bytes && !copy.workspace))
        return false;
    read->workspace_address = copy.workspace;
    read->workspace_bytes = copy.workspace_bytes + copy.intermediate_bytes;
    return read->input_count + read->output_count > 0;
}
