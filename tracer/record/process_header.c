/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "process_header.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#else
#error "leaktide records on x86-64 and aarch64"
#endif

static size_t file_read(const char *path, char *out, size_t capacity)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = -1;

    if (descriptor >= 0) {
        count = read(descriptor, out, capacity - 1);
        close(descriptor);
    }
    out[count > 0 ? count : 0] = '\0';
    return count > 0 ? (size_t)count : 0;
}

static void describe_file(struct mt_file_header *header)
{
    ssize_t length = readlink("/proc/self/exe", header->executable, sizeof(header->executable) - 1);
    size_t count =
        file_read("/proc/self/cmdline", header->command_line, sizeof(header->command_line));

    header->executable[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i + 1 < count; i++)
        if (!header->command_line[i])
            header->command_line[i] = ' ';
}

static void describe_process(struct mt_file_header *header, const struct mt_file_header *of_parent)
{
    if (of_parent) {
        memcpy(header->executable, of_parent->executable, sizeof(header->executable));
        memcpy(header->command_line, of_parent->command_line, sizeof(header->command_line));
    } else {
        describe_file(header);
    }
    header->process_id = (uint32_t)getpid();
    header->parent_process_id = (uint32_t)getppid();
    header->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    header->machine = THIS_MACHINE;
}

/* Time units of about 20 ns: finer ones cost more bytes than they tell. */
static uint32_t time_shift_for(uint64_t ticks_per_second)
{
    uint32_t shift = 0;

    while (ticks_per_second >> (shift + 1) >= 40 * 1000 * 1000)
        shift++;
    return shift;
}

/* The counter's rate from two looks at two clocks; the reader refines it with later looks. */
static uint64_t frequency_measure(const struct mt_file_header *header)
{
    uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
    uint64_t ticks = clock_ticks() - header->start_ticks;
    uint64_t elapsed_ns = now_ns - header->start_monotonic_ns;

    return elapsed_ns ? (uint64_t)((unsigned __int128)ticks * UINT64_C(1000000000) / elapsed_ns)
                      : UINT64_C(1000000000);
}

static void header_start_clocks(struct mt_file_header *header)
{
    header->start_monotonic_ns = clock_now_ns(CLOCK_MONOTONIC);
    header->start_ticks = clock_ticks();
    header->start_realtime_ns = clock_now_ns(CLOCK_REALTIME);
    header->last_ticks = header->start_ticks;
    header->last_monotonic_ns = header->start_monotonic_ns;
}

void process_header_fill(struct mt_file_header *header, const struct mt_file_header *of_parent,
                         const struct recording_setup *setup)
{
    memset(header, 0, sizeof(*header));
    header_start_clocks(header);
    describe_process(header, of_parent);
    memcpy(header->magic, MT_FILE_MAGIC, sizeof(header->magic));
    header->major = MT_FORMAT_MAJOR;
    header->minor = MT_FORMAT_MINOR;
    header->header_bytes = MT_FILE_HEADER_BYTES;
    header->run_id = setup->run_id;
    snprintf(header->options, sizeof(header->options), "%s", setup->options);
    header->ticks_per_second = of_parent ? of_parent->ticks_per_second : clock_known_frequency();
    if (!header->ticks_per_second)
        header->ticks_per_second = frequency_measure(header);
    header->time_shift = time_shift_for(header->ticks_per_second);
    header->checksum = XXH64(header, offsetof(struct mt_file_header, checksum), 0);
    header->rank_number = setup->facts.rank >= 0 ? (uint64_t)setup->facts.rank + 1 : 0;
    header->world_size = setup->facts.world_size > 0 ? (uint64_t)setup->facts.world_size : 0;
    header->end_offset_bytes = MT_FILE_HEADER_BYTES;
    header->state = MT_FILE_RECORDING;
}
