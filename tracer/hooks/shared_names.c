/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that hands over batches makes thousands of names in a second, each for some
 * microseconds. So a name is written into the trace only when UNTOLD_MOST newer ones are there, and
 * if it is still there then; or at the end.
 */
#define _GNU_SOURCE
#include "shared_names.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapped_regions.h"
#include "private_heap.h"
#include "recorder.h"
#include "recording.h"

enum { UNTOLD_MOST = 64, NAMES_MOST = 1 << 16, STAT_BLOCK_BYTES = 512 };

#define SEGMENT_BIT (UINT64_C(1) << 62)

struct shared_name {
    uint64_t address, size_bytes;
    char *name;
    struct call_site site;
};

/* The oldest first; those before told_count have their note. Under the lock of the regions. */
static struct shared_name *names;
static size_t name_count, name_capacity, told_count;
static pid_t maker; /* whose names these are: not those of a forked child, which inherits them */

static POOL(pool, "shared_name");

uint64_t shared_name_of_file(const struct stat *status)
{
    return (uint64_t)status->st_ino & (SEGMENT_BIT - 1);
}

uint64_t shared_name_of_segment(int segment)
{
    return (uint64_t)segment | SEGMENT_BIT;
}

/* A child may have been forked while they were changed. */
static void disown(void)
{
    if (maker == getpid())
        return;
    maker = getpid();
    names = NULL;
    name_count = name_capacity = told_count = 0;
}

/* The newest with this address; name_count: there is none. */
static size_t name_find(uint64_t address)
{
    for (size_t i = name_count; i > 0; i--)
        if (names[i - 1].address == address)
            return i - 1;
    return name_count;
}

static void name_record(const struct shared_name *name)
{
    uint64_t place =
        mt_place_pack((struct mt_place){.device = -1, .module = -1, .flags = MT_PLACE_VIRTUAL});

    record_alloc(pool, place, name->address, name->size_bytes, name->site);
}

static void name_remove(size_t index)
{
    mt_je_free(names[index].name);
    name_count--;
    told_count -= index < told_count;
    memmove(&names[index], &names[index + 1], (name_count - index) * sizeof(*names));
}

static void name_resize(struct shared_name *name, uint64_t size_bytes)
{
    if (size_bytes == name->size_bytes)
        return;
    record_free(pool, name->address);
    name->size_bytes = size_bytes;
    name_record(name);
}

static bool segment_look(struct shared_name *name)
{
    struct shmid_ds status;

    if (syscall(SYS_shmctl, (int)(name->address & (SEGMENT_BIT - 1)), IPC_STAT, &status) != 0)
        return false;
    name_resize(name, status.shm_segsz);
    return true;
}

/* Whether it is still there; its size is what it has of memory. */
static bool name_look(struct shared_name *name)
{
    struct stat status;

    if (name->address & SEGMENT_BIT)
        return segment_look(name);
    if (fstatat(AT_FDCWD, name->name, &status, 0) != 0 ||
        shared_name_of_file(&status) != name->address)
        return false;
    name_resize(name, (uint64_t)status.st_blocks * STAT_BLOCK_BYTES);
    return true;
}

/* Says what the oldest one is that nobody was told of, or that it has gone meanwhile. */
static void tell_one(void)
{
    struct shared_name *name = &names[told_count];

    if (!name_look(name)) {
        record_free(pool, name->address);
        name_remove(told_count);
        return;
    }
    if (name->name[0])
        record_note(&(struct note){.subject = text_of("shared memory named"),
                                   .text = text_of(name->name),
                                   .first = name->address});
    told_count++;
}

static bool has_room(void)
{
    size_t capacity = name_capacity ? 2 * name_capacity : UNTOLD_MOST;
    struct shared_name *more;

    if (name_count < name_capacity)
        return true;
    if (capacity > NAMES_MOST)
        return false;
    more = mt_je_realloc(names, capacity * sizeof(*names));
    if (!more)
        return false;
    names = more;
    name_capacity = capacity;
    return true;
}

void shared_name_made(uint64_t address, const char *name, uint64_t size_bytes,
                      struct call_site site)
{
    size_t bytes = strlen(name) + 1;
    char *copy;

    disown();
    copy = has_room() ? mt_je_malloc(bytes) : NULL;
    if (!copy)
        return;
    memcpy(copy, name, bytes);
    names[name_count] = (struct shared_name){address, size_bytes, copy, site};
    name_record(&names[name_count++]);
    if (name_count - told_count > UNTOLD_MOST && !recording_makes_no_calls())
        tell_one();
}

void shared_name_unlinked(uint64_t address)
{
    size_t index;

    disown();
    index = name_find(address);
    if (index == name_count) {
        record_note(&(struct note){.subject = text_of("shared memory unlinked"), .first = address});
        return;
    }
    record_free(pool, address);
    name_remove(index);
}

void shared_name_sized(const struct stat *status)
{
    size_t index;

    disown();
    index = name_find(shared_name_of_file(status));
    if (index < name_count)
        name_resize(&names[index], (uint64_t)status->st_size);
}

bool shared_names_is_empty(void)
{
    return !name_count;
}

void shared_names_end(void)
{
    if (!name_count || maker != getpid() || recording_makes_no_calls() || !regions_enter())
        return;
    for (size_t i = told_count; i > 0; i--) {
        if (name_look(&names[i - 1]))
            continue;
        record_free(pool, names[i - 1].address);
        name_remove(i - 1);
    }
    while (told_count < name_count)
        tell_one();
    regions_leave();
}
