/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions on the way from a thread's ring to a trace: both sides of it.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"
#include "drain_workers.c"
#include "own_stream.c"
#include "ring.c"
#include "ring_drain.c"
#include "rings_file.c"
#include "thread_state.h"
#include "trace_file.h"

enum { WORDS = 64 };

static struct ring *ring;
static struct own_stream *stream;
static struct rings_file file;
static struct mt_file_header trace_header;
static struct trace_file trace;
static struct drain drain;
static struct recorded recorded;
static struct known_ring known;
static struct thread_state thread;
static struct recording_page page;
static uint64_t words[WORDS], published, lost_counts[MT_LOST_KINDS];

__thread struct thread_state thread_state;
struct recording_page *recording_page = &page;

static void make(void)
{
    static _Alignas(64) char slot[MT_RING_HEADER_BYTES + WORDS * sizeof(uint64_t)];
    static char base[1 << 16];

    ring = ring_begin((struct mt_ring_header *)slot, WORDS, 1);
    ring_check(ring);
    stream = calloc(1, sizeof(*stream));
    stream_check(stream);
    file = (struct rings_file){
        .header = (struct mt_rings_header *)base,
        .slots = (struct mt_rings_slot *)(base + 4096),
        .processes = (struct mt_rings_process *)(base + 8192),
        .capacity_words = WORDS,
        .slot_bytes = MT_RING_HEADER_BYTES + WORDS * sizeof(uint64_t),
        .rings_offset_bytes = sizeof(base),
        .slot_max = 2,
        .process_max = 2,
    };
    file_check(&file);
    trace = (struct trace_file){.file = OWN_FILE_CLOSED, .header = &trace_header};
    drain = (struct drain){.header = ring->header,
                           .words = ring->words,
                           .capacity_words = WORDS,
                           .trace = &trace,
                           .lost_counts = lost_counts};
    known = (struct known_ring){.header = ring->header, .recorded = &recorded};
    ring_lock(&known);
    thread = (struct thread_state){.words = words,
                                   .mask = WORDS - 1,
                                   .head = 10,
                                   .limit = WORDS,
                                   .published_head = &published};
}

#define RING(name, ...)          DAMAGE(make, name, __VA_ARGS__; ring_check(ring))
#define STREAM(name, ...)        DAMAGE(make, name, __VA_ARGS__; stream_check(stream))
#define FILE_OF_RINGS(name, ...) DAMAGE(make, name, __VA_ARGS__; file_check(&file))

RING(ring_header, ring->header++)
RING(ring_words, ring->words++)
RING(ring_capacity, ring->capacity_words *= 2)
RING(ring_stacks, ring->stacks = (struct call_stacks *)words; ring->has_no_stacks = true)
RING(ring_next, ring->next = ring)
DAMAGE(make, ring_of_odd_size, ring_begin(ring->header, 3, 1))
DAMAGE(make, ring_at_odd_place, ring_begin((struct mt_ring_header *)((char *)words + 1), 8, 1))
STREAM(stream_tail, stream->header.tail = 1)
STREAM(stream_overfull, stream->header.head = OWN_STREAM_WORDS + 1)
STREAM(stream_texts, stream->known_count = OWN_STREAM_TEXTS + 1)
FILE_OF_RINGS(file_capacity, file.capacity_words = 3)
FILE_OF_RINGS(file_slot_bytes, file.slot_bytes++)
FILE_OF_RINGS(file_slots_most, file.slot_max = MT_RINGS_SLOTS + 1)
FILE_OF_RINGS(file_processes_most, file.process_max = MT_RINGS_PROCESSES + 1)
FILE_OF_RINGS(file_slots_room, file.processes = (struct mt_rings_process *)file.slots)
FILE_OF_RINGS(file_processes_room, file.rings_offset_bytes = 8192)
DAMAGE(make, file_slot, rings_file_map_ring(&file, 2))
DAMAGE(make, drain_without_trace, trace.header = NULL; ring->header->head = 2;
       ring_drain(drainer_create(), &drain))
DAMAGE(make, drain_of_torn_ring, drain_check(&drain, 9, 2))
DAMAGE(make, drain_that_stands, position_check(5, 5, 9))
DAMAGE(make, append_nothing, trace_file_append(&trace, words, 0))
DAMAGE(make, empty_unknown, known.recorded = NULL; ring_empty(&known, NULL))
DAMAGE(make, empty_not_held, ring_unlock(&known); ring_empty(&known, NULL))
DAMAGE(make, empty_quickly, known.quick_chunks = QUICK_CHUNKS + 1; ring_empty(&known, NULL))
DAMAGE(make, remember_beyond, recorded.number = MT_RINGS_PROCESSES; drain_remember(&recorded))
DAMAGE(make, remember_twice, drain_remember(&recorded); drain_remember(&recorded))
DAMAGE(make, publish_back, thread_publish(&thread, 9))
DAMAGE(make, publish_beyond, thread_publish(&thread, WORDS + 1))

int main(void)
{
    return deaths_run();
}
