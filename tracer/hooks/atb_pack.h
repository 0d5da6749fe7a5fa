/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator of ATB is given: its tensors and its workspace.
 *
 * The layout of tensors and of their vector is ATB's public one (atb/types.h, atb/svector.h); that
 * of the pack around them is not, and may change. So the pack is copied by the kernel, which says
 * no where nothing is mapped, and is believed only when all of it makes sense: counts, types,
 * dimensions, and sizes that are the product of those.
 */
#ifndef LEAKTIDE_TRACER_ATB_PACK_H
#define LEAKTIDE_TRACER_ATB_PACK_H

#include <stdbool.h>
#include <stdint.h>

enum { ATB_TENSORS_MOST = 64, ATB_DIMENSIONS_MOST = 8 };

struct atb_tensor {
    uint64_t address, size_bytes;
    int32_t dtype; /* aclDataType */
    uint32_t dimension_count;
    int64_t dimensions[ATB_DIMENSIONS_MOST];
};

struct atb_pack {
    struct atb_tensor inputs[ATB_TENSORS_MOST], outputs[ATB_TENSORS_MOST];
    uint32_t input_count, output_count; /* of those that have memory */
    uint64_t workspace_address, workspace_bytes;
};

/* False: it is not what we know. errno may change. */
bool atb_pack_read(const void *pack, struct atb_pack *read);

/* "float16"; NULL: not known. */
const char *atb_dtype_name(int32_t dtype);

#endif
