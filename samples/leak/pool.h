/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool as frameworks have one: it takes memory from below in segments, cuts blocks from them,
 * and gives a segment back when its last block is free. For one thread.
 */
#ifndef LEAK_SAMPLE_POOL_H
#define LEAK_SAMPLE_POOL_H

#include <stddef.h>

#define POOL_NAME "sample_pool"

/* NULL when the system has no more. */
void *pool_take(size_t size_bytes);
void pool_give_back(void *block);

#endif
