/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each assertion of a structure fires when the field that it looks at is damaged.
 *
 * A row makes the structure, damages it, and looks at it, in a forked child; what that child writes
 * before it aborts names the condition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "arena.h"
#include "caching_allocator.h"
#include "chunk_encoder.h"
#include "hash_index.h"
#include "leaktide/invariant.h"
#include "live_set.h"
#include "ordered_set.h"
#include "range_set.h"
#include "stack_set.h"
#include "step_series.h"
#include "stretch.h"
#include "table.h"
#include "tally_state.h"
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
        hash_index_add(&hash_index, i, i); /* neighbours: home i is slot i */
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

#define STORY(name, ...)                                                                           \
    static void name(void)                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

STORY(arena_without_chunk, arena_init(&arena); arena.used_bytes = 16; arena_alloc(&arena, 1);)
STORY(arena_overfull, arena.used_bytes = 1 << 20; arena_alloc(&arena, 1);)
STORY(arena_odd, arena.used_bytes = 7; arena_alloc(&arena, 1);)
STORY(arena_no_bytes, arena_text(&arena, NULL, 1);)
STORY(table_no_arena, table_init(&table, NULL, 8);)
STORY(table_no_rows, table_init(&table, &arena, 0);)
STORY(table_row_bytes, table.row_bytes = 0; table_add(&table);)
STORY(table_segments, table.segments[0] = NULL; table_add(&table);)
STORY(table_behind, (void)*(volatile uint64_t *)table_at(&table, 1);)
STORY(table_other_size, (void)*(volatile char *)table_at_sized(&table, 0, 4);)
STORY(index_power, hash_index.capacity = 48; hash_index_check(&hash_index);)
STORY(index_full, hash_index.count = 60; hash_index_check(&hash_index);)
STORY(index_no_slots, hash_index.slots = NULL; hash_index_check(&hash_index);)
STORY(index_gap, ((uint32_t *)(hash_index.slots + hash_index.capacity))[7] = 3;
      hash_index.slots[5] = 0; hash_index_check(&hash_index);)
STORY(index_no_row, hash_index.slots[2] = UINT64_C(1) << 32; hash_index_check(&hash_index);)
STORY(index_count, hash_index.count--; hash_index_check(&hash_index);)
STORY(index_row, hash_index_add(&hash_index, 1, UINT32_MAX);)
STORY(ordered_capacity, ordered.capacity = ordered.made; ordered_set_check(&ordered);)
STORY(ordered_spare, ordered.spare = 1000; ordered_set_check(&ordered);)
STORY(ordered_spare_ring, ordered.spare = 1; ordered.nodes[1].above = 1;
      ordered_set_check(&ordered);)
STORY(ordered_root, ordered.root = 20; ordered_set_check(&ordered);)
STORY(ordered_rank_below, parent(true)->rank = 0; ordered_set_check(&ordered);)
STORY(ordered_rank_above, parent(false)->rank = 0; parent(false)->below = 0;
      ordered_set_check(&ordered);)
STORY(ordered_key_below, struct ordered_node *node = parent(true);
      ordered.nodes[node->below].key.first = 100; ordered_set_check(&ordered);)
STORY(ordered_key_above, struct ordered_node *node = parent(false); node->below = 0;
      ordered.nodes[node->above].key = (struct ordered_key){0, 0, 0}; node->key.first = 1;
      ordered_set_check(&ordered);)
STORY(ordered_count, ordered.count++; ordered_set_check(&ordered);)
STORY(ordered_made, ordered.made++; ordered_set_check(&ordered);)
STORY(ordered_absent, ordered_set_remove(&ordered, (struct ordered_key){99, 0, 0});)
STORY(range_capacity, ranges.capacity = 1; range_set_check(&ranges);)
STORY(range_empty, ranges.rows[0].to = ranges.rows[0].from; range_set_check(&ranges);)
STORY(range_order, ranges.rows[1].from = 5; range_set_check(&ranges);)
STORY(range_sum, ranges.size_bytes++; range_set_check(&ranges);)
STORY(stretch_base, stretch.base = NULL; stretch_extend(&stretch, 1);)
STORY(stretch_usable, stretch.usable_bytes = stretch.reserved_bytes * 2;
      stretch_extend(&stretch, 1);)
STORY(stretch_page, stretch.usable_bytes = 5; stretch_extend(&stretch, 1);)
STORY(stretch_none, stretch_init(&stretch, 0);)
STORY(text_no_bytes, text.bytes = NULL; text_make_room(&text, 1);)
STORY(text_overfull, text.size_bytes = text.capacity_bytes; text_make_room(&text, 1);)
STORY(text_open, text.bytes[text.size_bytes] = 'x'; text_make_room(&text, 1);)

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

STORY(live_buckets, live.buckets++; live_set_check(&live);)
STORY(live_usable, live.stretch.usable_bytes = 0; live_set_check(&live);)
STORY(live_limit, live.block_limit++; live_set_check(&live);)
STORY(live_large_capacity, live.large_capacity = 0; live_set_check(&live);)
STORY(live_before_home, block_at(address_with_home(200, 210), 100);)
STORY(live_far_from_home, block_at(address_with_home(100, 110), 400);)
STORY(live_nobody_passed, block_at(address_with_home(100, 110), 120);)
STORY(live_count, live.block_count++; live_set_check(&live);)
STORY(live_large_count, live.large_count = 0; live_set_check(&live);)
STORY(live_passed, live.buckets[0].passed++; live_set_check(&live);)
STORY(live_no_group, live_set_put(&live, 0, &(struct live_block){.address = 1});)
STORY(live_take_none, struct live_place place = place_of(0x1000);
      place.bucket->group[place.slot] = 0; take(place);)
STORY(live_take_of_none, live.block_count = 0; take(place_of(0x1000));)
STORY(live_take_before_home, live_set_take(&live, UINT64_MAX, place_of(0x1000));)
STORY(live_take_not_passed, live_set_take(&live, 0, place_of(0x1000));)
STORY(live_slot, live_set_at(&live, (struct live_place){live.buckets, 3});)
STORY(live_bucket, live_set_at(&live, (struct live_place){NULL, 0});)
STORY(series_count, series.count = 100; step_series_check(&series);)
STORY(series_capacity, series.capacity = 1000; step_series_check(&series);)
STORY(series_stride, series.stride = 3; step_series_check(&series);)
STORY(series_order, series.samples[1].step = 0; step_series_check(&series);)
STORY(series_kept, series.stride = 2; step_series_check(&series);)
STORY(cohorts_count, cohorts.count = 100; cohorts_check(&cohorts);)
STORY(cohorts_capacity, cohorts.capacity = 1000; cohorts_check(&cohorts);)
STORY(cohorts_stride, cohorts.stride = 3; cohorts_check(&cohorts);)
STORY(cohorts_order, cohorts.rows[1].birth = 0; cohorts_check(&cohorts);)
STORY(cohorts_kept, cohorts.stride = 2; cohorts_check(&cohorts);)
STORY(cohorts_empty, cohorts.rows[1].count = 0; cohorts_check(&cohorts);)

/* --- tally ----------------------------------------------------------------------------------- */

static struct tally *tally;

static void make_tally(void)
{
    struct model *model;
    struct event events[2];

    if (model_create(&model, NULL) != MT_OK || tally_create(model, &tally, NULL) != MT_OK)
        _exit(1);
    model_thread(model, (struct model_thread){.thread_id = 1});
    for (uint64_t i = 0; i < 2; i++)
        events[i] = (struct event){.kind = EVENT_ALLOC,
                                   .address = 0x1000 * (i + 1),
                                   .value = 100,
                                   .site = model_site(model, (struct model_site){.address = 16})};
    tally_feed(tally, events, 2, NULL);
    tally_check(tally);
}

#define DAMAGE(name, ...) STORY(name, __VA_ARGS__; tally_check(tally);)

DAMAGE(tally_group_ledger_index, tally->groups[1].ledger = 9)
DAMAGE(tally_group_ledgers, tally->group_ledgers[1] = 7)
DAMAGE(tally_born_bytes, tally->groups[1].born_bytes = 1000)
DAMAGE(tally_born_count, tally->groups[1].born_count = 1000)
DAMAGE(tally_no_blocks, tally->groups[1].live_count = tally->groups[1].born_count = 0)
DAMAGE(tally_sum, tally->ledgers[tally->groups[1].ledger].live_bytes++)
DAMAGE(tally_peak, tally->ledgers[tally->groups[1].ledger].peak_bytes = 0)
DAMAGE(tally_reserved, tally->ledgers[tally->groups[1].ledger].reserved_bytes = 1)
DAMAGE(tally_spent, tally->spent_count = SPENT_MAX + 1)
DAMAGE(tally_touched, tally->touched_count = tally->touched_capacity + 1)
DAMAGE(tally_details, tally->details.count--)
STORY(tally_no_group, tally_group_at(tally, 1000);)
STORY(tally_no_ledger, tally_ledger_at(tally, 1000);)

/* --- the tracer's ---------------------------------------------------------------------------- */

static struct chunk_encoder *encoder;
static struct stack_set stacks;

static void make_tracer(void)
{
    static uint64_t memory[STACK_SET_MIN_BYTES / sizeof(uint64_t) * 2];
    const uint64_t pcs[] = {1, 2, 3};
    struct unwind_stack stack = {.pcs = pcs, .count = 3, .hash = 5, .number = 1};
    struct chunk_raw raw;
    uint64_t words[8] = {0};

    encoder = calloc(1, sizeof(*encoder));
    chunk_encoder_init(encoder, 0, 0);
    chunk_encode(encoder, words, 8, 0, 0, &raw);
    encoder->columns_used[0] = 5;
    encoder->column_count = 1;
    encoder->blocks_used = 2;
    encoder->columns[5] = (struct column){encoder->blocks[1], encoder->blocks[1] + 1024, 0, 1, 0};
    chunk_encoder_check(encoder);
    stack_set_init(&stacks, memory, sizeof(memory));
    stack_set_look_up(&stacks, &stack);
    stack_set_check(&stacks);
}

#define ENCODER(name, ...) STORY(name, __VA_ARGS__; chunk_encoder_check(encoder);)
#define STACKS(name, ...)  STORY(name, __VA_ARGS__; stack_set_check(&stacks);)

ENCODER(encoder_blocks, encoder->blocks_used = COLUMN_BLOCKS + 1)
ENCODER(encoder_columns, encoder->column_count = MT_COLUMN_END + 1)
ENCODER(encoder_sites, encoder->predictor.site_count = MT_SITE_END)
ENCODER(encoder_made, encoder->predictor.made_count = MT_CHUNK_EVENTS_MAX + 1)
ENCODER(encoder_host_before, encoder->host_at[2] = encoder->host_bytes[2] - 1)
ENCODER(encoder_host_behind, encoder->host_at[2] = encoder->host_bytes[2] + HOST_COLUMN_BYTES + 1)
ENCODER(encoder_last_block, encoder->columns[5].last_block = 2)
ENCODER(encoder_first_block, encoder->columns[5].first_block = 2)
ENCODER(encoder_end, encoder->columns[5].end++)
ENCODER(encoder_at_before, encoder->columns[5].at--)
ENCODER(encoder_at_behind, encoder->columns[5].at += 1025)
STORY(encoder_capacity, struct chunk_raw raw; uint64_t word = 0;
      chunk_encode(encoder, &word, 3, 0, 0, &raw);)
STACKS(stacks_power, stacks.slot_count = 3)
STACKS(stacks_slots, stacks.slot_max = 1)
STACKS(stacks_stacks, stacks.stack_max = 0)
STACKS(stacks_nodes, stacks.node_max = 1)
STACKS(stacks_crowded, stacks.slot_count = 1)
STACKS(stacks_outer, stacks.nodes[1].outer = 2)
STACKS(stacks_node, stacks.stacks[0].node = 0)
STACKS(stacks_slot_id, stacks.slots[0].id = stacks.slots[1].id = 77)
STACKS(stacks_filled, memset(stacks.slots, 0, stacks.slot_count * sizeof(*stacks.slots)))
STORY(stacks_memory, uint64_t memory[2]; stack_set_init(&stacks, memory, sizeof(memory));)

/* --- allocator ------------------------------------------------------------------------------- */

static struct caching_allocator *allocator;
static uint32_t taken;

static void make_allocator(void)
{
    struct allocator_settings settings = {.max_split_bytes = ALLOCATOR_SPLITS_ALL};

    if (caching_allocator_create(&settings, &allocator, NULL) != MT_OK)
        _exit(1);
    taken = caching_allocator_take(allocator, 0, 1000);
    caching_allocator_check(allocator);
}

STORY(allocator_twice, caching_allocator_give(allocator, taken);
      caching_allocator_give(allocator, taken);)
STORY(allocator_unknown, caching_allocator_give(allocator, 1000);)

#undef STORY
#undef DAMAGE
#undef ENCODER
#undef STACKS

/* --- deaths ---------------------------------------------------------------------------------- */

struct death {
    const char *name;
    void (*make)(void);
    void (*damage)(void);
};

/* What the child says, and 0, or the status with which it went on. */
static int die(const struct death *death, char *said, size_t size)
{
    int ends[2], status = 0;
    ssize_t length;
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(ends[1], STDERR_FILENO);
        death->make();
        death->damage();
        _exit(0);
    }
    close(ends[1]);
    length = read(ends[0], said, size - 1);
    said[length > 0 ? length : 0] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : status ? status : -1;
}

static void fires(void **state)
{
    char said[512];
    int status = die(*state, said, sizeof(said));

    assert_int_equal(status, 0);
    assert_non_null(strstr(said, ": not so: "));
    printf("fired %s", said);
}

#define DEATH(make, name)                                                                          \
    {                                                                                              \
#name, make, name                                                                          \
    }

static struct death deaths[] = {
    DEATH(make_ground, arena_without_chunk),
    DEATH(make_ground, arena_overfull),
    DEATH(make_ground, arena_odd),
    DEATH(make_ground, arena_no_bytes),
    DEATH(make_ground, table_no_arena),
    DEATH(make_ground, table_no_rows),
    DEATH(make_ground, table_row_bytes),
    DEATH(make_ground, table_segments),
    DEATH(make_ground, table_behind),
    DEATH(make_ground, table_other_size),
    DEATH(make_ground, index_power),
    DEATH(make_ground, index_full),
    DEATH(make_ground, index_no_slots),
    DEATH(make_ground, index_gap),
    DEATH(make_ground, index_no_row),
    DEATH(make_ground, index_count),
    DEATH(make_ground, index_row),
    DEATH(make_ground, ordered_capacity),
    DEATH(make_ground, ordered_spare),
    DEATH(make_ground, ordered_spare_ring),
    DEATH(make_ground, ordered_root),
    DEATH(make_ground, ordered_rank_below),
    DEATH(make_ground, ordered_rank_above),
    DEATH(make_ground, ordered_key_below),
    DEATH(make_ground, ordered_key_above),
    DEATH(make_ground, ordered_count),
    DEATH(make_ground, ordered_made),
    DEATH(make_ground, ordered_absent),
    DEATH(make_ground, range_capacity),
    DEATH(make_ground, range_empty),
    DEATH(make_ground, range_order),
    DEATH(make_ground, range_sum),
    DEATH(make_ground, stretch_base),
    DEATH(make_ground, stretch_usable),
    DEATH(make_ground, stretch_page),
    DEATH(make_ground, stretch_none),
    DEATH(make_ground, text_no_bytes),
    DEATH(make_ground, text_overfull),
    DEATH(make_ground, text_open),
    DEATH(make_model, live_buckets),
    DEATH(make_model, live_usable),
    DEATH(make_model, live_limit),
    DEATH(make_model, live_large_capacity),
    DEATH(make_model, live_before_home),
    DEATH(make_model, live_far_from_home),
    DEATH(make_model, live_nobody_passed),
    DEATH(make_model, live_count),
    DEATH(make_model, live_large_count),
    DEATH(make_model, live_passed),
    DEATH(make_model, live_no_group),
    DEATH(make_model, live_take_none),
    DEATH(make_model, live_take_of_none),
    DEATH(make_model, live_take_before_home),
    DEATH(make_model, live_take_not_passed),
    DEATH(make_model, live_slot),
    DEATH(make_model, live_bucket),
    DEATH(make_model, series_count),
    DEATH(make_model, series_capacity),
    DEATH(make_model, series_stride),
    DEATH(make_model, series_order),
    DEATH(make_model, series_kept),
    DEATH(make_model, cohorts_count),
    DEATH(make_model, cohorts_capacity),
    DEATH(make_model, cohorts_stride),
    DEATH(make_model, cohorts_order),
    DEATH(make_model, cohorts_kept),
    DEATH(make_model, cohorts_empty),
    DEATH(make_tally, tally_group_ledger_index),
    DEATH(make_tally, tally_group_ledgers),
    DEATH(make_tally, tally_born_bytes),
    DEATH(make_tally, tally_born_count),
    DEATH(make_tally, tally_no_blocks),
    DEATH(make_tally, tally_sum),
    DEATH(make_tally, tally_peak),
    DEATH(make_tally, tally_reserved),
    DEATH(make_tally, tally_spent),
    DEATH(make_tally, tally_touched),
    DEATH(make_tally, tally_details),
    DEATH(make_tally, tally_no_group),
    DEATH(make_tally, tally_no_ledger),
    DEATH(make_tracer, encoder_blocks),
    DEATH(make_tracer, encoder_columns),
    DEATH(make_tracer, encoder_sites),
    DEATH(make_tracer, encoder_made),
    DEATH(make_tracer, encoder_host_before),
    DEATH(make_tracer, encoder_host_behind),
    DEATH(make_tracer, encoder_last_block),
    DEATH(make_tracer, encoder_first_block),
    DEATH(make_tracer, encoder_end),
    DEATH(make_tracer, encoder_at_before),
    DEATH(make_tracer, encoder_at_behind),
    DEATH(make_tracer, encoder_capacity),
    DEATH(make_tracer, stacks_power),
    DEATH(make_tracer, stacks_slots),
    DEATH(make_tracer, stacks_stacks),
    DEATH(make_tracer, stacks_nodes),
    DEATH(make_tracer, stacks_crowded),
    DEATH(make_tracer, stacks_outer),
    DEATH(make_tracer, stacks_node),
    DEATH(make_tracer, stacks_slot_id),
    DEATH(make_tracer, stacks_filled),
    DEATH(make_tracer, stacks_memory),
    DEATH(make_allocator, allocator_twice),
    DEATH(make_allocator, allocator_unknown),
};

int main(void)
{
    struct CMUnitTest tests[sizeof(deaths) / sizeof(deaths[0])];

    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
        tests[i] = (struct CMUnitTest){
            .name = deaths[i].name, .test_func = fires, .initial_state = &deaths[i]};
    return MT_ASSERTS ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
