/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling the lists of memscope_compare.h. False without memory.
 */
#ifndef LEAKTIDE_COMPARE_COMPARE_LIST_H
#define LEAKTIDE_COMPARE_COMPARE_LIST_H

#include "memscope_compare.h"

bool compare_list_add(struct compare_list *list, struct compare_element element);
/* A device, unless it is known; the order is that of the calls. */
bool compare_list_device(struct compare_list *list, int32_t device);

#endif
