/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of base, of the live set and the series of steps.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "death.h"
#include "hash_index.h"
#include "heap.h"
#include "list.h"
#include "live_set.h"
#include "ordered_set.h"
#include "range_set.h"
#include "step_series.h"
#include "stretch.h"
#include "table.h"
#include "text_builder.h"

/* --- ground ---------------------------------------------------------------------------------- */

static struct arena arena;
static struct table table;
static struct hash_index hash_index;
static struct ordered_set ordered;
static struct range_set ranges;
static struct stretch stretch;
static struct text_builder text;

static void make_ground(void)
{
    arena_init(&arena);
    arena_alloc(&arena, 64);
    table_init(&table, &arena, sizeof(uint64_t));
    table_add(&table);
    hash_index_init(&hash_index);
    ordered_set_init(&ordered);
    for (uint32_t i = 0; i < 8; i++) {
        hash_index_add(&hash_index, i, i); /* all have one home, so row i is in slot i */
        ordered_set_add(&ordered, (struct ordered_key){i, 0, 0}, i);
    }
    range_set_init(&ranges);
    range_set_add(&ranges, (struct range){10, 20});
    range_set_add(&ranges, (struct range){30, 40});
    stretch_init(&stretch, 1 << 20);
    stretch_extend(&stretch, 100);
    text_init(&text);
    text_add(&text, "abc");
}

static struct ordered_node *node_with(bool has_below, bool has_above)
{
    for (size_t i = 1; i <= ordered.made; i++)
        if (!ordered.nodes[i].below != has_below && !ordered.nodes[i].above != has_above)
            return &ordered.nodes[i];
    return &ordered.nodes[ordered.root];
}

/* A node that has a child on this side. */
static struct ordered_node *parent(bool of_below)
{
    for (size_t i = 1; i <= ordered.made; i++)
        if (of_below ? ordered.nodes[i].below : ordered.nodes[i].above)
            return &ordered.nodes[i];
    return node_with(true, true);
}

DAMAGE(make_ground, arena_without_chunk, arena_init(&arena); arena.used_bytes = 16;
       arena_alloc(&arena, 1);)
DAMAGE(make_ground, arena_overfull, arena.used_bytes = 1 << 20; arena_alloc(&arena, 1);)
DAMAGE(make_ground, arena_odd, arena.used_bytes = 7; arena_alloc(&arena, 1);)
DAMAGE(make_ground, arena_no_bytes, arena_text(&arena, NULL, 1);)
DAMAGE(make_ground, table_no_arena, table_init(&table, NULL, 8);)
DAMAGE(make_ground, table_no_rows, table_init(&table, &arena, 0);)
DAMAGE(make_ground, table_row_bytes, table.row_bytes = 0; table_add(&table);)
DAMAGE(make_ground, table_segments, table.segments[0] = NULL; table_add(&table);)
DAMAGE(make_ground, table_behind, (void)*(volatile uint64_t *)table_at(&table, 1);)
DAMAGE(make_ground, table_other_size, (void)*(volatile char *)table_at_sized(&table, 0, 4);)
DAMAGE(make_ground, index_power, hash_index.capacity = 48; hash_index_check(&hash_index);)
DAMAGE(make_ground, index_full, hash_index.count = 60; hash_index_check(&hash_index);)
DAMAGE(make_ground, index_no_slots, hash_index.slots = NULL; hash_index_check(&hash_index);)
DAMAGE(make_ground, index_gap, hash_index.slots[5] = 0; hash_index_check(&hash_index);)
DAMAGE(make_ground, index_no_row, hash_index.slots[2] = UINT64_C(1) << 32;
       hash_index_check(&hash_index);)
DAMAGE(make_ground, index_count, hash_index.count--; hash_index_check(&hash_index);)
DAMAGE(make_ground, index_row, hash_index_add(&hash_index, 1, UINT32_MAX);)
DAMAGE(make_ground, ordered_capacity, ordered.capacity = ordered.made; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_spare, ordered.spare = 1000; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_spare_ring, ordered.spare = 1; ordered.nodes[1].above = 1;
       ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_root, ordered.root = 20; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_rank_below, parent(true)->rank = 0; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_rank_above, parent(false)->rank = 0; parent(false)->below = 0;
       ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_key_below, struct ordered_node *node = parent(true);
       ordered.nodes[node->below].key.first = 100; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_key_above, struct ordered_node *node = parent(false); node->below = 0;
       ordered.nodes[node->above].key = (struct ordered_key){0, 0, 0}; node->key.first = 1;
       ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_count, ordered.count++; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_made, ordered.made++; ordered_set_check(&ordered);)
DAMAGE(make_ground, ordered_absent, ordered_set_remove(&ordered, (struct ordered_key){99, 0, 0});)
DAMAGE(make_ground, range_capacity, ranges.capacity = 1; range_set_check(&ranges);)
DAMAGE(make_ground, range_empty, ranges.rows[0].to = ranges.rows[0].from; range_set_check(&ranges);)
DAMAGE(make_ground, range_order, ranges.rows[1].from = 5; range_set_check(&ranges);)
DAMAGE(make_ground, range_sum, ranges.size_bytes++; range_set_check(&ranges);)
DAMAGE(make_ground, stretch_base, stretch.base = NULL; stretch_extend(&stretch, 1);)
DAMAGE(make_ground, stretch_usable, stretch.usable_bytes = stretch.reserved_bytes * 2;
       stretch_extend(&stretch, 1);)
DAMAGE(make_ground, stretch_page, stretch.usable_bytes = 5; stretch_extend(&stretch, 1);)
DAMAGE(make_ground, stretch_none, stretch_init(&stretch, 0);)
DAMAGE(make_ground, text_no_bytes, text.bytes = NULL; text_make_room(&text, 1);)
DAMAGE(make_ground, text_overfull, text.size_bytes = text.capacity_bytes; text_make_room(&text, 1);)
DAMAGE(make_ground, text_open, text.bytes[text.size_bytes] = 'x'; text_make_room(&text, 1);)

/* --- model ----------------------------------------------------------------------------------- */

static struct live_set live;
static struct step_series series;
static struct cohorts cohorts;

static void put(uint64_t address, uint64_t size_bytes)
{
    struct live_block block = {.address = address, .size_bytes = size_bytes, .group = 1};

    live_set_put(&live, live_hash(address), &block);
}

static struct live_place place_of(uint64_t address)
{
    return live_set_find(&live, live_hash(address), address);
}

static void take(struct live_place place)
{
    live_set_take(&live, live_hash(0x1000), place);
}

static void make_model(void)
{
    live_set_init(&live);
    put(0x1000, 8);
    put(0x2000, UINT64_C(1) << 33);
    for (uint32_t i = 0; i < 4; i++) {
        step_series_put(&series, (struct step_sample){.step = i, .count = 1, .bytes = i + 1});
        cohorts_put(&cohorts, i, 1, 8);
    }
}

/* Homes of blocks are found by trying. */
static uint64_t address_with_home(size_t least, size_t most)
{
    uint64_t address = 0x9000;

    for (;; address += 16) {
        size_t home = (size_t)(live_home(&live, live_hash(address)) - live.buckets);

        if (home >= least && home <= most)
            return address;
    }
}

static void block_at(uint64_t address, size_t bucket)
{
    live.buckets[bucket].address[2] = address;
    live.buckets[bucket].group[2] = 1;
    live_set_check(&live);
}

static bool is_first(const void *row, const void *other)
{
    (void)row, (void)other;
    return false;
}

/* Not known to the compiler, which would warn of them. */
static volatile size_t too_many = 1000;

static unsigned char rows[2 * 1000];

DAMAGE(make_model, heap_row, heap_sift_up(rows, too_many, 0, is_first);)
DAMAGE(make_model, heap_row_down, heap_sift_down(rows, 1, too_many, 0, is_first);)
DAMAGE(make_model, heap_index, heap_sift_down(rows, 1, 1, too_many, is_first);)
DAMAGE(make_model, list_count, void *list = NULL; size_t capacity = 0;
       list_has_room(&list, &capacity, too_many, 1);)
DAMAGE(make_model, live_buckets, live.buckets++; live_set_check(&live);)
DAMAGE(make_model, live_usable, live.stretch.usable_bytes = 0; live_set_check(&live);)
DAMAGE(make_model, live_limit, live.block_limit++; live_set_check(&live);)
DAMAGE(make_model, live_large_capacity, live.large_capacity = 0; live_set_check(&live);)
DAMAGE(make_model, live_before_home, block_at(address_with_home(200, 210), 100);)
DAMAGE(make_model, live_far_from_home, block_at(address_with_home(100, 110), 400);)
DAMAGE(make_model, live_nobody_passed, block_at(address_with_home(100, 110), 120);)
DAMAGE(make_model, live_count, live.block_count++; live_set_check(&live);)
DAMAGE(make_model, live_large_count, live.large_count = 0; live_set_check(&live);)
DAMAGE(make_model, live_passed, live.buckets[0].passed++; live_set_check(&live);)
DAMAGE(make_model, live_no_group, live_set_put(&live, 0, &(struct live_block){.address = 1});)
DAMAGE(make_model, live_take_none, struct live_place place = place_of(0x1000);
       place.bucket->group[place.slot] = 0; take(place);)
DAMAGE(make_model, live_take_of_none, live.block_count = 0; take(place_of(0x1000));)
DAMAGE(make_model, live_take_before_home, live_set_take(&live, UINT64_MAX, place_of(0x1000));)
DAMAGE(make_model, live_take_not_passed, live_set_take(&live, 0, place_of(0x1000));)
DAMAGE(make_model, live_slot, live_set_at(&live, (struct live_place){live.buckets, 3});)
DAMAGE(make_model, live_bucket, live_set_at(&live, (struct live_place){NULL, 0});)
DAMAGE(make_model, series_count, series.count = 100; step_series_check(&series);)
DAMAGE(make_model, series_capacity, series.capacity = 1000; step_series_check(&series);)
DAMAGE(make_model, series_stride, series.stride = 3; step_series_check(&series);)
DAMAGE(make_model, series_order, series.samples[1].step = 0; step_series_check(&series);)
DAMAGE(make_model, series_kept, series.stride = 2; step_series_check(&series);)
DAMAGE(make_model, cohorts_count, cohorts.count = 100; cohorts_check(&cohorts);)
DAMAGE(make_model, cohorts_capacity, cohorts.capacity = 1000; cohorts_check(&cohorts);)
DAMAGE(make_model, cohorts_stride, cohorts.stride = 3; cohorts_check(&cohorts);)
DAMAGE(make_model, cohorts_order, cohorts.rows[1].birth = 0; cohorts_check(&cohorts);)
DAMAGE(make_model, cohorts_kept, cohorts.stride = 2; cohorts_check(&cohorts);)
DAMAGE(make_model, cohorts_empty, cohorts.rows[1].count = 0; cohorts_check(&cohorts);)

int main(void)
{
    return deaths_run();
}
