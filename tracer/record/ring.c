/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "private_heap.h"

/*
 * The slot's pages, allocated on disk first: a store to a page that the file system cannot hold
 * would kill the program with SIGBUS.
 */
static void *slot_map(int descriptor, uint64_t offset_bytes, uint64_t size_bytes, uint64_t limit)
{
    void *slot;

    if (descriptor < 0 || offset_bytes + size_bytes > limit ||
        posix_fallocate(descriptor, (off_t)offset_bytes, (off_t)size_bytes) != 0)
        return MAP_FAILED;
    slot =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)offset_bytes);
    return slot;
}

struct ring *ring_create(int rings_descriptor, uint32_t stream, uint64_t capacity_words,
                         uint32_t thread_id, uint64_t file_size_limit)
{
    uint64_t slot_bytes = MT_RING_HEADER_BYTES + capacity_words * sizeof(uint64_t);
    struct ring *ring = mt_je_calloc(1, sizeof(*ring));
    void *slot;

    if (!ring)
        return NULL;
    slot = slot_map(rings_descriptor, stream * slot_bytes, slot_bytes, file_size_limit);
    if (slot == MAP_FAILED)
        slot = mmap(NULL, slot_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slot == MAP_FAILED) {
        mt_je_free(ring);
        return NULL;
    }
    ring->header = slot;
    ring->words = (uint64_t *)((char *)slot + MT_RING_HEADER_BYTES);
    ring->capacity_words = capacity_words;
    ring->header->capacity_words = capacity_words;
    ring->header->stream = stream;
    ring->header->thread_id = thread_id;
    ring->header->slot_bytes = slot_bytes;
    atomic_store_explicit(&ring->thread_id, thread_id, memory_order_relaxed);
    atomic_flag_clear(&ring->is_draining);
    /* Last, so that a reader never takes a half-made header for a ring. */
    __atomic_store_n(&ring->header->magic, MT_RING_MAGIC, __ATOMIC_RELEASE);
    return ring;
}

/*
 * A thread that has this thread's own id is gone, or the id would not be ours. The kernel knows
 * about the others; a ring is asked only when a thread without one looks for one.
 */
static bool thread_is_gone(uint32_t thread_id, uint32_t own_id)
{
    int error = errno;
    bool is_gone =
        thread_id == own_id || (syscall(SYS_tgkill, getpid(), thread_id, 0) != 0 && errno == ESRCH);

    errno = error;
    return is_gone;
}

bool ring_adopt(struct ring *ring, uint32_t thread_id)
{
    uint32_t owner = atomic_load_explicit(&ring->thread_id, memory_order_relaxed);

    if (!thread_is_gone(owner, thread_id))
        return false;
    if (!atomic_compare_exchange_strong(&ring->thread_id, &owner, thread_id))
        return false;
    ring->header->thread_id = thread_id;
    return true;
}
