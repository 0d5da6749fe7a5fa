/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose block it is, of operators that call each other.
 *
 *   npu::npu_rms_norm > aten::empty_strided > empty_tensor > a block
 *
 * Profilers name the innermost range, but for empty_tensor, which torch_npu puts around each
 * request: aten::empty_strided. People ask who needs the memory: npu::npu_rms_norm, as what only
 * allocates for others is left out.
 */
#ifndef LEAKTIDE_MODEL_OPERATOR_VIEW_H
#define LEAKTIDE_MODEL_OPERATOR_VIEW_H

#include <stdbool.h>

enum operator_view { OPERATORS_OF_CALLERS, OPERATORS_OF_PROFILERS };

/* Whether blocks of that operator are of the one around it. */
bool operator_is_passed(enum operator_view view, const char *name);

#endif
