/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caching allocator of PyTorch and torch_npu, as far as it decides how much is reserved: its
 * rounding, pools, segments, best fit and splitting, on a device without a limit.
 *
 *   native      segments of 2 MiB (requests up to 1 MiB), 20 MiB (below 10 MiB), or the request
 *               rounded to 2 MiB; given back only when a whole one is free
 *   expandable  one line of addresses for each stream and pool, mapped in pages of 2 or 20 MiB;
 *               each page is given back for itself
 *
 * It gives nothing back by itself: caching_allocator_empty() is told when. Not modelled: private
 * pools of graphs, garbage_collection_threshold (it depends on the device's size).
 *
 * Source: documentation of PyTorch on PYTORCH_CUDA_ALLOC_CONF, and real allocators: fed with the
 * requests of a snapshot it reserves what the snapshot says (docs/fragmentation.md).
 */
#ifndef LEAKTIDE_ANALYSES_CACHING_ALLOCATOR_H
#define LEAKTIDE_ANALYSES_CACHING_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "error_sentence.h"

#define ALLOCATOR_SPLITS_ALL UINT64_MAX

struct allocator_settings {
    uint64_t pad_bytes;         /* added to each request: 32 on Ascend */
    uint64_t max_split_bytes;   /* larger blocks are not split; ALLOCATOR_SPLITS_ALL */
    uint32_t roundup_divisions; /* of each power of two; 0, 1: requests are rounded to 512 B */
    bool is_expandable;
};

/* Blocks as rounded. */
struct allocator_totals {
    uint64_t reserved_bytes, taken_bytes;
    uint64_t reserved_peak_bytes;
    uint64_t taken_at_peak_bytes; /* when most was reserved, most of all such times */
};

struct caching_allocator;

/* The segment that a block of this size is taken from, where none has room. */
uint64_t caching_allocator_segment(uint64_t block_bytes);

/*
 * Reads settings as PyTorch takes them, "expandable_segments:True,max_split_size_mb:128", over
 * what *settings has. Those that do not decide how much is reserved are passed over. MT_USAGE
 * names what is wrong, or not modelled; *settings is then as before.
 */
enum mt_result allocator_settings_read(const char *text, struct allocator_settings *settings,
                                       struct mt_error *error);

enum mt_result caching_allocator_create(const struct allocator_settings *settings,
                                        struct caching_allocator **out, struct mt_error *error);
void caching_allocator_destroy(struct caching_allocator *allocator);

/* A block for a request; 0 when there is no memory for the model. */
uint32_t caching_allocator_take(struct caching_allocator *allocator, uint32_t stream,
                                uint64_t request_bytes);
/* False when there is no memory for the model. */
bool caching_allocator_give(struct caching_allocator *allocator, uint32_t block);
/* empty_cache(), or what happens when the device is full: all that is free goes back. */
bool caching_allocator_empty(struct caching_allocator *allocator);
/* Asserts that chunks are linked in order, that all free ones are known, and that sums are right.
 */
void caching_allocator_check(const struct caching_allocator *allocator);
struct allocator_totals caching_allocator_totals(const struct caching_allocator *allocator);

#endif
