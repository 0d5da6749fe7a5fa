/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "rings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file_room.h"
#include "leaktide/invariant.h"

static uint64_t align(uint64_t bytes)
{
    return (bytes + MT_RINGS_ALIGNMENT - 1) / MT_RINGS_ALIGNMENT * MT_RINGS_ALIGNMENT;
}

/* A file may not be larger than the limit of the launcher's files says. */
static uint32_t slots_that_fit(const struct mt_rings_header *header)
{
    struct rlimit limit;
    uint64_t count;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return MT_RINGS_SLOTS;
    count = limit.rlim_cur < header->rings_offset_bytes
                ? 0
                : (limit.rlim_cur - header->rings_offset_bytes) / header->slot_bytes;
    return count < MT_RINGS_SLOTS ? (uint32_t)count : MT_RINGS_SLOTS;
}

static void header_fill(struct mt_rings_header *header, uint64_t ring_bytes, uint64_t run_id)
{
    *header = (struct mt_rings_header){
        .magic = MT_RINGS_MAGIC,
        .major = MT_RINGS_MAJOR,
        .header_bytes = sizeof(*header),
        .run_id = run_id,
        .capacity_words = ring_bytes / sizeof(uint64_t),
        .slot_bytes = MT_RING_HEADER_BYTES + ring_bytes,
        .process_max = MT_RINGS_PROCESSES,
        .slots_offset_bytes = MT_FILE_HEADER_BYTES,
        .service = MT_RINGS_SERVED,
    };
    header->processes_offset_bytes =
        align(header->slots_offset_bytes + MT_RINGS_SLOTS * sizeof(struct mt_rings_slot));
    header->rings_offset_bytes =
        align(header->processes_offset_bytes + MT_RINGS_PROCESSES * MT_RINGS_PROCESS_BYTES);
    header->slot_max = slots_that_fit(header);
}

/*
 * By calls of the kernel, past the hooks that our own library has on the C library's. Nothing of
 * these files is to be read ahead: of pages that were never written, that took 2 ms at the first
 * touch.
 */
static void *map_shared(uint64_t size_bytes, int descriptor, uint64_t offset_bytes)
{
    long address = syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           descriptor, offset_bytes);

    if (address == -1)
        return NULL;
    syscall(SYS_madvise, address, size_bytes, MADV_RANDOM);
    return (void *)address;
}

static void file_check(const struct rings_file *file)
{
    MT_ASSERT(file->capacity_words && !(file->capacity_words & (file->capacity_words - 1)));
    MT_ASSERT(file->slot_bytes == MT_RING_HEADER_BYTES + file->capacity_words * sizeof(uint64_t));
    MT_ASSERT(file->slot_max <= MT_RINGS_SLOTS);
    MT_ASSERT(file->process_max <= MT_RINGS_PROCESSES);
    MT_ASSERT((char *)(file->slots + file->slot_max) <= (char *)file->processes);
    MT_ASSERT((char *)(file->processes + file->process_max) <=
              (char *)file->header + file->rings_offset_bytes);
}

static void map_use(struct rings_file *file, const struct mt_rings_header *checked, char *base)
{
    file->header = (struct mt_rings_header *)base;
    file->slots = (struct mt_rings_slot *)(base + checked->slots_offset_bytes);
    file->processes = (struct mt_rings_process *)(base + checked->processes_offset_bytes);
    file->capacity_words = checked->capacity_words;
    file->slot_bytes = checked->slot_bytes;
    file->rings_offset_bytes = file->mapped_bytes = checked->rings_offset_bytes;
    file->slot_max = checked->slot_max;
    file->process_max = checked->process_max;
    file_check(file);
}

/* Where a standard descriptor is closed, it is the lowest: what is printed there would go into the
 * file, and whoever closes or replaces those would lose it. */
static int lift(int descriptor)
{
    int lifted = descriptor;

    if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
        lifted = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(descriptor);
    }
    return lifted;
}

/* --- in memory -------------------------------------------------------------------------------- */

static uint64_t file_bytes(const struct mt_rings_header *header)
{
    return header->rings_offset_bytes + header->slot_max * header->slot_bytes;
}

/* What the header says of itself where there is nothing after it. */
static struct mt_rings_header alone_of(const struct mt_rings_header *header)
{
    struct mt_rings_header alone = *header;

    alone.slots_offset_bytes = alone.processes_offset_bytes = alone.rings_offset_bytes =
        MT_FILE_HEADER_BYTES;
    alone.slot_max = alone.process_max = alone.slots_end = alone.processes_end = 0;
    return alone;
}

/* The header alone, in a file of one page, which has room for it from then on. */
static bool header_write(int descriptor, const struct mt_rings_header *header)
{
    struct mt_rings_header alone = alone_of(header);
    char page[MT_FILE_HEADER_BYTES] = {0};

    memcpy(page, &alone, sizeof(alone));
    return posix_fallocate(descriptor, 0, sizeof(page)) == 0 &&
           pwrite(descriptor, page, sizeof(page), 0) == (ssize_t)sizeof(page);
}

static bool memory_is_wanted(void)
{
    const char *wanted = getenv("LEAKTIDE_RINGS");

    return wanted && strcmp(wanted, "memory") == 0;
}

/* Memory that nobody can cut, as a file without a name. */
static int memory_create(uint64_t size_bytes)
{
    int memory = memfd_create(MT_RINGS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (memory >= 0 && (ftruncate(memory, (off_t)size_bytes) != 0 ||
                        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
        close(memory);
        memory = -1;
    }
    return lift(memory);
}

/*
 * Where a store into the mapped file may fail, the rings are in memory, and the file has the header
 * alone: for the reader, and for what is to be told at the end. Returns what is to be mapped.
 */
static int file_or_memory(int file, const struct mt_rings_header *header)
{
    bool is_kept = file_room_is_kept(file);
    int memory;

    if (is_kept && !memory_is_wanted())
        return file;
    memory = memory_create(file_bytes(header));
    if (memory < 0)
        return file;
    if (!header_write(file, header)) {
        close(memory);
        return file;
    }
    close(file);
    return memory;
}

int rings_file_create(struct rings_file *file, const char *path, uint64_t ring_bytes,
                      uint64_t run_id)
{
    struct mt_rings_header header;
    void *base = NULL;
    int error, descriptor;

    header_fill(&header, ring_bytes, run_id);
    if (!header.slot_max) {
        errno = EFBIG;
        return -1;
    }
    descriptor = lift(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (descriptor < 0)
        return -1;
    descriptor = file_or_memory(descriptor, &header);
    error = ftruncate(descriptor, (off_t)file_bytes(&header)) == 0 ? 0 : errno;
    if (!error)
        error = posix_fallocate(descriptor, 0, (off_t)header.processes_offset_bytes);
    if (!error)
        base = map_shared(header.rings_offset_bytes, descriptor, 0);
    if (!base) {
        error = error ? error : errno;
        close(descriptor);
        unlink(path);
        errno = error;
        return -1;
    }
    memcpy(base, &header, sizeof(header));
    map_use(file, &header, base);
    return descriptor;
}

bool rings_file_is_memory(int descriptor)
{
    int seals = fcntl(descriptor, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

bool rings_file_map(struct rings_file *file, int descriptor, uint64_t run_id)
{
    struct mt_rings_header header;
    struct stat status;
    char *base;

    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        pread(descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        !mt_rings_header_is_right(&header, (uint64_t)status.st_size) || header.run_id != run_id ||
        header.service != MT_RINGS_SERVED || !header.slot_max ||
        file_bytes(&header) > (uint64_t)status.st_size)
        return false;
    base = map_shared(header.rings_offset_bytes, descriptor, 0);
    if (!base)
        return false;
    map_use(file, &header, base);
    return true;
}

/* Where rings are in memory, the file that is there already has its room. */
static bool header_overwrite(const char *path, const struct mt_rings_header *header)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    bool is_written = descriptor >= 0 && fstat(descriptor, &status) == 0 &&
                      status.st_size == MT_FILE_HEADER_BYTES && header_write(descriptor, header);

    if (descriptor >= 0)
        close(descriptor);
    return is_written;
}

bool rings_file_replace(const char *path, const struct mt_rings_header *header)
{
    char beside[1300];
    int descriptor;
    bool is_written;

    if (header_overwrite(path, header))
        return true;
    snprintf(beside, sizeof(beside), "%s.ended", path);
    descriptor = open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return false;
    is_written = header_write(descriptor, header);
    close(descriptor);
    if (is_written && rename(beside, path) == 0)
        return true;
    unlink(beside);
    return false;
}

void rings_file_unmap(struct rings_file *file)
{
    if (file->header)
        syscall(SYS_munmap, file->header, file->mapped_bytes);
    *file = (struct rings_file){0};
}

struct mt_ring_header *rings_file_map_ring_of(const struct rings_file *file, uint32_t slot,
                                              int descriptor)
{
    return map_shared(file->slot_bytes, descriptor, rings_file_offset(file, slot));
}

/*
 * A mapping of 0 bytes that is moved leaves the old one where it is and maps the same file again,
 * as far as is wanted: mremap(2). It begins in the last part of what is mapped, which is nearest to
 * the rings; what lies before the ring is given back. Where a program keeps all its memory from
 * being paged out (mlockall), the copy would be read in whole: so the part that the copy takes
 * after is let go.
 */
struct mt_ring_header *rings_file_map_ring(const struct rings_file *file, uint32_t slot)
{
    uint64_t skipped_bytes = file->mapped_bytes - MT_RINGS_ALIGNMENT;
    uint64_t before_bytes = rings_file_offset(file, slot) - skipped_bytes;
    char *last = (char *)file->header + skipped_bytes;
    long copy;

    MT_ASSERT(slot < file->slot_max);
    syscall(SYS_munlock, last, MT_RINGS_ALIGNMENT);
    copy = syscall(SYS_mremap, last, 0, before_bytes + file->slot_bytes, MREMAP_MAYMOVE);
    if (copy == -1)
        return NULL;
    syscall(SYS_munmap, copy, before_bytes);
    return (struct mt_ring_header *)((char *)copy + before_bytes);
}

uint32_t rings_file_live_count(const struct rings_file *file)
{
    uint32_t end = shared_load(&file->header->processes_end), count = 0;

    for (uint32_t i = 0; i < end && i < file->process_max; i++) {
        uint32_t state = shared_load(&file->processes[i].state);

        count += state == MT_RINGS_LIVE || state == MT_RINGS_TAKEN;
    }
    return count;
}

uint64_t pid_name_space(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_ino : 0;
}
