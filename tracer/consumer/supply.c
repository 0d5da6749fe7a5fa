/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "supply.h"

#include <fcntl.h>
#include <string.h>

enum { SLOTS_AHEAD = 4, PROCESSES_AHEAD = 4, SHARE_AHEAD = 4 /* one for four that are in use */ };

/* It stands in a file that others write: never more than there can be. */
static uint32_t end_of(const uint32_t *word, uint32_t max)
{
    uint32_t end = shared_load(word);

    return end < max ? end : max;
}

/* How many there should be, when so many are in use. */
static uint32_t wanted_ahead(uint32_t least, uint32_t used)
{
    return least + used / SHARE_AHEAD;
}

static bool has_room(const struct rings_file *file, int descriptor, uint64_t offset_bytes,
                     uint64_t size_bytes)
{
    bool is_given = posix_fallocate(descriptor, (off_t)offset_bytes, (off_t)size_bytes) == 0;

    shared_store(&file->header->has_no_room, !is_given);
    return is_given;
}

static bool slots_look(const struct rings_file *file, int descriptor)
{
    uint32_t end = end_of(&file->header->slots_end, file->slot_max), ready = 0, before = end;

    for (uint32_t i = 0; i < end; i++)
        ready += shared_load(&file->slots[i].state) == MT_RINGS_READY;
    for (uint32_t ahead = wanted_ahead(SLOTS_AHEAD, end - ready);
         ready < ahead && end < file->slot_max; ready++, end++) {
        if (!has_room(file, descriptor, rings_file_offset(file, end), file->slot_bytes))
            break;
        shared_store(&file->slots[end].state, MT_RINGS_READY);
        shared_store(&file->header->slots_end, end + 1);
    }
    return end != before;
}

static bool processes_look(const struct rings_file *file, int descriptor)
{
    uint64_t offset_bytes = (uint64_t)((char *)file->processes - (char *)file->header);
    uint32_t end = end_of(&file->header->processes_end, file->process_max), ready = 0;
    uint32_t before = end;

    for (uint32_t i = 0; i < end; i++)
        ready += shared_load(&file->processes[i].state) == MT_RINGS_READY;
    for (uint32_t ahead = wanted_ahead(PROCESSES_AHEAD, end - ready);
         ready < ahead && end < file->process_max; ready++, end++) {
        if (!has_room(file, descriptor, offset_bytes + end * (uint64_t)MT_RINGS_PROCESS_BYTES,
                      MT_RINGS_PROCESS_BYTES))
            break;
        shared_store(&file->processes[end].state, MT_RINGS_READY);
        shared_store(&file->header->processes_end, end + 1);
    }
    return end != before;
}

static void tell(const struct rings_file *file)
{
    __atomic_fetch_add(&file->header->supply_count, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&file->header->claimers, __ATOMIC_SEQ_CST))
        shared_wake(&file->header->supply_count);
}

void supply_look(const struct rings_file *file, int descriptor)
{
    bool has_more = processes_look(file, descriptor);

    has_more |= slots_look(file, descriptor);
    if (has_more || shared_load(&file->header->has_no_room))
        tell(file);
}

void supply_take_back_process(const struct rings_file *file, uint32_t number)
{
    struct mt_rings_process *place = &file->processes[number];
    uint32_t state = place->state;

    memset(place, 0, sizeof(*place));
    place->state = state; /* nobody else's meanwhile */
    shared_store(&place->state, MT_RINGS_READY);
    tell(file);
}

void supply_take_back_slot(const struct rings_file *file, uint32_t slot,
                           struct mt_ring_header *header)
{
    header->magic = 0;
    header->head = header->tail = 0;
    header->thread_id = 0;
    header->writer_waits = 0;
    shared_store(&file->slots[slot].process, 0);
    shared_store(&file->slots[slot].state, MT_RINGS_READY);
    tell(file);
}
