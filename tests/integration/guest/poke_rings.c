/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into the run.rings of a run that lasts, as a process of it could: "poke_rings FILE WAY".
 *
 *   take      every place is taken, up to the last that there can be
 *   take_few  every place that is ready; the consumer may make more
 *   give      they are ready again
 *   end_run   for two seconds, as if all were over: nobody lives, something was lost
 *   hostile   for two seconds, anything into every word that is not the layout or the recording
 * itself
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "leaktide/rings.h"

enum { OURS = 0x7ffffff0, SECONDS = 2, PLACES_POKED = 4, RINGS_POKED = 4 };

static struct mt_rings_header *header;

static struct mt_rings_process *place_at(uint32_t i)
{
    return (struct mt_rings_process *)((char *)header + header->processes_offset_bytes) + i;
}

static void take_up_to(uint32_t end)
{
    for (uint32_t i = 0; i < end && i < header->process_max; i++) {
        struct mt_rings_process *place = place_at(i);
        uint32_t ready = MT_RINGS_READY, empty = MT_RINGS_EMPTY;

        if (__atomic_compare_exchange_n(&place->state, &ready, MT_RINGS_TAKEN, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            __atomic_compare_exchange_n(&place->state, &empty, MT_RINGS_TAKEN, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            place->process_id = OURS;
    }
}

static void take(void)
{
    header->processes_end = header->process_max;
    take_up_to(header->process_max);
}

static void take_few(void)
{
    take_up_to(header->processes_end);
}

static void give(void)
{
    for (uint32_t i = 0; i < header->process_max; i++)
        if (place_at(i)->process_id == OURS) {
            place_at(i)->process_id = 0;
            __atomic_store_n(&place_at(i)->state, MT_RINGS_READY, __ATOMIC_SEQ_CST);
        }
}

static uint32_t seed = 1;

static uint32_t anything(void)
{
    seed = seed * 1103515245 + 12345;
    switch (seed >> 28) {
    case 0:
        return UINT32_MAX;
    case 1:
        return seed >> 16 & 1;
    default:
        return seed >> 4 | 0x01000000; /* no process and no thread has such a number */
    }
}

static void poke(void *from, void *to)
{
    uint32_t *word = from;
    size_t count = (size_t)((char *)to - (char *)from) / sizeof(*word);

    __atomic_store_n(&word[anything() % count], anything(), __ATOMIC_SEQ_CST);
}

static void poke_ring(uint32_t i)
{
    struct mt_ring_header *ring =
        (struct mt_ring_header *)((char *)header + header->rings_offset_bytes +
                                  i * header->slot_bytes);

    poke(&ring->capacity_words, ring + 1);
}

/* Also the state of places that nobody has: what is live there says nothing that makes sense. */
static void hostile(void)
{
    time_t end = time(NULL) + SECONDS;

    while (time(NULL) < end) {
        struct mt_rings_process *place = place_at(anything() % PLACES_POKED);
        struct mt_rings_slot *slot =
            (struct mt_rings_slot *)((char *)header + header->slots_offset_bytes) + anything() % 16;

        poke(&header->heartbeat, &header->flush_wanted);
        poke(&header->slots_end, &header->lost_count);
        poke(&slot->process, slot->reserved);
        poke(&place->stream_count, place + 1);
        poke(&place->header.state, &place->header_reserved);
        poke_ring(anything() % RINGS_POKED);
        if (place->process_id == 0)
            place->state = anything() % 4;
        usleep(100);
    }
}

static void end_run(void)
{
    time_t end = time(NULL) + SECONDS;

    while (time(NULL) < end) {
        header->lost_count = 1;
        header->is_launcher_done = 1;
        for (uint32_t i = 0; i < header->process_max && i < header->processes_end; i++)
            place_at(i)->state = MT_RINGS_READY;
        usleep(500);
    }
}

static const struct way {
    const char *name;
    void (*go)(void);
} ways[] = {{"take", take},
            {"take_few", take_few},
            {"give", give},
            {"end_run", end_run},
            {"hostile", hostile}};

int main(int argc, char **argv)
{
    int file = argc > 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
    struct mt_rings_header read_header;
    size_t size_bytes;
    void *base;

    if (file < 0 ||
        pread(file, &read_header, sizeof(read_header), 0) != (ssize_t)sizeof(read_header))
        return 2;
    size_bytes = read_header.rings_offset_bytes + RINGS_POKED * read_header.slot_bytes;
    base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        return 2;
    header = base;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[2], ways[i].name) == 0) {
            ways[i].go();
            return 0;
        }
    return 2;
}
