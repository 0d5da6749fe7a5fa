/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a run's rings (leaktide/rings.h): made, opened, and mapped.
 *
 * Only the part before the rings is mapped as a whole. Of the rings each user maps those that it
 * needs: the consumer by its descriptor; a traced process without one, from the mapping that it
 * has.
 */
#ifndef LEAKTIDE_TRACER_RINGS_FILE_H
#define LEAKTIDE_TRACER_RINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/rings.h"

struct rings_file {
    struct mt_rings_header *header;
    struct mt_rings_slot *slots;
    struct mt_rings_process *processes;
    /* What was checked when it was opened: what stands in the file may change. */
    uint64_t capacity_words, slot_bytes, rings_offset_bytes;
    uint64_t mapped_bytes; /* at header */
    uint32_t slot_max, process_max;
};

/*
 * Makes the file at path, with room for the header and the slots. Returns its descriptor, or -1:
 * errno tells. Where the file system may refuse a later store into room that it gave, or
 * LEAKTIDE_RINGS=memory says so, the descriptor is of memory, and the file has the header alone.
 *
 * file  mapped
 */
int rings_file_create(struct rings_file *file, const char *path, uint64_t ring_bytes,
                      uint64_t run_id);

/* Its descriptor is of memory: who wants it has to ask for it (rings_socket.h). */
bool rings_file_is_memory(int descriptor);

/* Maps the file of the run. False: it is none, another's, or its consumer has ended. */
bool rings_file_map(struct rings_file *file, int descriptor, uint64_t run_id);

/*
 * At the end of a run: the header alone stands in the file's place. What is mapped of the old file
 * stays whole. False: the disk gives no room, and the old file is still there.
 */
bool rings_file_replace(const char *path, const struct mt_rings_header *header);
void rings_file_unmap(struct rings_file *file);

static inline uint64_t rings_file_offset(const struct rings_file *file, uint32_t slot)
{
    return file->rings_offset_bytes + slot * file->slot_bytes;
}

/* One ring, at its slot_bytes; NULL: no address space. The first needs no descriptor. */
struct mt_ring_header *rings_file_map_ring(const struct rings_file *file, uint32_t slot);
struct mt_ring_header *rings_file_map_ring_of(const struct rings_file *file, uint32_t slot,
                                              int descriptor);

/* The words of a ring. */
static inline uint64_t *ring_header_words(struct mt_ring_header *header)
{
    return (uint64_t *)((char *)header + MT_RING_HEADER_BYTES);
}

/* Processes that have a place, or take one just now. */
uint32_t rings_file_live_count(const struct rings_file *file);

/* The number of a name space of processes: path is that of its file in /proc. 0: not to be had. */
uint64_t pid_name_space(const char *path);
#define OWN_PID_NAME_SPACE "/proc/self/ns/pid"

#define MILLISECOND_NS     UINT64_C(1000000)

/* Words that processes share. */
static inline uint32_t shared_load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void shared_store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Waits on, and wakes at, a word that processes share; at most timeout_ns. */
void shared_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns);
void shared_wake(const uint32_t *word);

/* Wakes the consumer if it sleeps. */
void rings_file_wake_consumer(struct rings_file *file);

/*
 * The consumer's sleep: until it is woken, and not at all if it was since wake_count was `seen`; at
 * most timeout_ns. By one thread at a time.
 */
void rings_file_sleep(struct rings_file *file, uint32_t seen, uint64_t timeout_ns);

#endif
