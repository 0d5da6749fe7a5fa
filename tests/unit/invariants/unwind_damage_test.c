/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of call stacks: the set of them, the walk, and what is known of the program's objects.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi_bytes.h"
#include "death.h"
#include "objects.c"
#include "stack_set.h"
#include "unwinder.c"

static struct unwinder unwinder;
static struct stack_set stacks;
static struct unwind_stack stack;
static struct stack_name name;
static struct unwind_thread *thread;
static struct object_list *list;
static struct row_table *rows;

static void make(void)
{
    static uint64_t memory[STACK_SET_MIN_BYTES / sizeof(uint64_t) * 2];
    static const uint64_t pcs[] = {1, 2, 3};

    stack = (struct unwind_stack){.pcs = pcs, .count = 3, .hash = 5, .number = 1};
    stack_set_init(&stacks, memory, sizeof(memory));
    stack_set_look_up(&stacks, &stack, &name);
    stack_set_check(&stacks);
    thread = aligned_alloc(_Alignof(struct unwind_thread), sizeof(*thread));
    memset(thread, 0, sizeof(*thread));
    forget(&unwinder, thread);
    capture_check(thread, &stack);
    list = calloc(1, sizeof(*list));
    list->objects[0] = (struct object){.start = 0x1000, .end = 0x2000};
    list->objects[1] = (struct object){.start = 0x3000, .end = 0x4000};
    list->count = 2;
    list_check(list);
    rows = calloc(1, sizeof(*rows));
}

/* The next capture of the thread: its stack begins as the last one did. */
static void capture_more(uint32_t count, uint32_t reused_count)
{
    stack.number++;
    stack.count = count;
    stack.reused_count = reused_count;
    stack_set_look_up(&stacks, &stack, &name);
}

#define STACKS(name, ...)  DAMAGE(make, name, __VA_ARGS__; stack_set_check(&stacks))
#define CAPTURE(name, ...) DAMAGE(make, name, __VA_ARGS__; capture_check(thread, &stack))
#define TOP(name, ...)     DAMAGE(make, name, struct unwind_top top = {__VA_ARGS__}; top_check(&top))
#define OBJECTS(name, ...) DAMAGE(make, name, __VA_ARGS__; list_check(list))

STACKS(stacks_power, stacks.slot_count = 3)
STACKS(stacks_slots, stacks.slot_max = 1)
STACKS(stacks_stacks, stacks.stack_max = 0)
STACKS(stacks_nodes, stacks.node_max = 1)
STACKS(stacks_crowded, stacks.slot_count = 1)
STACKS(stacks_outer, stacks.nodes[1].outer = 2)
STACKS(stacks_node, stacks.stacks[0].node = 0)
STACKS(stacks_slot_id, memset(stacks.ids, 77, stacks.slot_count * sizeof(*stacks.ids)))
STACKS(stacks_tag, stacks.stacks[0].hash ^= UINT32_C(1) << 31)
STACKS(stacks_filled, memset(stacks.tags, 0, stacks.slot_count * sizeof(*stacks.tags)))
STACKS(stacks_here, stacks.here[0] = 1)
STACKS(stacks_written, stacks.written_count = UNWIND_MAX_FRAMES + 1)
STACKS(stacks_last, stacks.last_count = UNWIND_MAX_FRAMES + 1)
STACKS(stacks_known, stacks.here_count = stacks.last_count + 1)
STACKS(stacks_hash, stacks.stacks[0].hash++)
DAMAGE(make, stacks_memory, uint64_t memory[2]; stack_set_init(&stacks, memory, sizeof(memory)))
DAMAGE(make, look_up_count, capture_more(UNWIND_MAX_FRAMES + 1, 0))
DAMAGE(make, look_up_reused, capture_more(2, 3))
DAMAGE(make, look_up_known, stacks.last_count = 1; capture_more(3, 2))
CAPTURE(capture_count, stack.count = UNWIND_MAX_FRAMES + 1)
CAPTURE(capture_reused, stack.reused_count = 4)
CAPTURE(capture_pcs, thread->pc_count = UNWIND_MAX_FRAMES + 1)
CAPTURE(capture_frames, thread->frame_count = UNWIND_MAX_FRAMES + 1)
CAPTURE(capture_guard, thread->frames[0].check_end = 0)
CAPTURE(capture_checks, thread->frame_count = 1; thread->frames[1].check_end = UINT16_MAX)
CAPTURE(capture_top, thread->tops.last = UNWIND_TOPS)
DAMAGE(make, lay_out_none, lay_out(thread, &stack))
TOP(top_base, .count = 1)
TOP(top_end, .base_count = UNWIND_MAX_FRAMES, .count = 1)
TOP(top_empty, .base_count = 1)
TOP(top_frames, .base_count = 1, .count = UNWIND_TOP_FRAMES + 1)
TOP(top_checks, .base_count = 1, .count = 1, .check_count = UNWIND_TOP_CHECKS + 1)
OBJECTS(objects_count, list->count = OBJECT_MAX + 1)
OBJECTS(objects_size, list->objects[0].end = 0x1000)
OBJECTS(objects_order, list->objects[1].start = 0x500)
DAMAGE(make, row_of_long_pc, row_table_put(rows, UINT64_C(1) << 48, 0, 1))
DAMAGE(make, row_too_large, row_table_put(rows, 16, 0, UINT32_MAX))
DAMAGE(make, bytes_beyond_end, uint8_t bytes[2]; struct cfi_bytes reader = {bytes + 2, bytes, true};
       cfi_has(&reader, 1))
DAMAGE(make, bytes_too_many, uint8_t bytes[16];
       struct cfi_bytes reader = cfi_bytes_between(bytes, bytes + 16); cfi_fixed(&reader, 9))

int main(void)
{
    return deaths_run();
}
