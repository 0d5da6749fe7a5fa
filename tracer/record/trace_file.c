/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "trace_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "private_heap.h"

/* Programs number their descriptors from below and expect theirs to be small. */
enum { DESCRIPTOR_FLOOR = 500, CHUNK_ALIGNMENT = 8 };

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#else
#error "memtide records on x86-64 and aarch64"
#endif

static int descriptor_lift(int low)
{
    int high = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR);

    if (high < 0)
        return low;
    close(low);
    return high;
}

static bool file_create(struct trace_file *file)
{
    struct stat status;
    int descriptor = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);

    file->descriptor = -1;
    if (descriptor < 0)
        return false;
    file->descriptor = descriptor_lift(descriptor);
    if (fstat(file->descriptor, &status) != 0)
        return false;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return true;
}

static void file_remove(struct trace_file *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
        unlink(file->path);
    }
    file->descriptor = -1;
}

static bool is_our_file(const struct trace_file *file, int descriptor)
{
    struct stat status;

    return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->inode;
}

int trace_file_descriptor(struct trace_file *file)
{
    int descriptor = __atomic_load_n(&file->descriptor, __ATOMIC_RELAXED);

    if (is_our_file(file, descriptor))
        return descriptor;
    descriptor = open(file->path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    descriptor = descriptor_lift(descriptor);
    if (!is_our_file(file, descriptor)) {
        close(descriptor);
        return -1;
    }
    __atomic_store_n(&file->descriptor, descriptor, __ATOMIC_RELAXED);
    return descriptor;
}

/* mkdir -p */
static void folder_make(const char *path)
{
    char part[1024];
    size_t length = strlen(path);

    if (length >= sizeof(part))
        return;
    memcpy(part, path, length + 1);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(part, 0750);
        *slash = '/';
    }
    mkdir(part, 0750);
}

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

static void header_describe_process(struct mt_file_header *header)
{
    ssize_t length = readlink("/proc/self/exe", header->executable, sizeof(header->executable) - 1);
    size_t count =
        file_read("/proc/self/cmdline", header->command_line, sizeof(header->command_line));

    header->executable[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i + 1 < count; i++)
        if (!header->command_line[i])
            header->command_line[i] = ' ';
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

static void header_fill(struct mt_file_header *header, uint64_t run_id, const char *options)
{
    header_describe_process(header);
    memcpy(header->magic, MT_FILE_MAGIC, sizeof(header->magic));
    header->major = MT_FORMAT_MAJOR;
    header->minor = MT_FORMAT_MINOR;
    header->header_bytes = MT_FILE_HEADER_BYTES;
    header->run_id = run_id;
    snprintf(header->options, sizeof(header->options), "%s", options);
    header->ticks_per_second = clock_known_frequency();
    if (!header->ticks_per_second)
        header->ticks_per_second = frequency_measure(header);
    header->time_shift = time_shift_for(header->ticks_per_second);
    header->checksum = XXH64(header, offsetof(struct mt_file_header, checksum), 0);
    header->end_offset_bytes = MT_FILE_HEADER_BYTES;
    header->state = MT_FILE_RECORDING;
}

static struct mt_file_header *header_map(int descriptor)
{
    if (posix_fallocate(descriptor, 0, MT_FILE_HEADER_BYTES) != 0)
        return MAP_FAILED;
    return mmap(NULL, MT_FILE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
}

static uint64_t size_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

bool trace_files_open(struct trace_files *files, const char *output_path, uint64_t run_id,
                      const char *options)
{
    struct mt_file_header clocks = {.magic = ""};
    struct mt_file_header *header;

    files->trace.descriptor = files->rings.descriptor = -1;
    files->size_limit_bytes = size_limit();
    if (files->size_limit_bytes < MT_FILE_HEADER_BYTES)
        return false;
    header_start_clocks(&clocks);
    folder_make(output_path);
    snprintf(files->trace.path, sizeof(files->trace.path), "%s/%d-%llx.mtt", output_path,
             (int)getpid(), (unsigned long long)clocks.start_realtime_ns);
    snprintf(files->rings.path, sizeof(files->rings.path), "%s/%d-%llx.rings", output_path,
             (int)getpid(), (unsigned long long)clocks.start_realtime_ns);
    if (!file_create(&files->trace))
        return false;
    header = header_map(files->trace.descriptor);
    if (header == MAP_FAILED) {
        file_remove(&files->trace);
        return false;
    }
    memcpy(header, &clocks, sizeof(clocks));
    header_fill(header, run_id, options);
    files->header = header;
    if (!file_create(&files->rings))
        file_remove(&files->rings); /* rings in private memory, then */
    return true;
}

static bool write_all(int descriptor, const char *bytes, size_t size_bytes, uint64_t offset)
{
    while (size_bytes) {
        ssize_t count = pwrite(descriptor, bytes, size_bytes, (off_t)offset);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size_bytes -= (size_t)count;
        offset += (uint64_t)count;
    }
    return true;
}

uint64_t trace_files_append(struct trace_files *files, const void *bytes, size_t size_bytes)
{
    static const char nothing[CHUNK_ALIGNMENT];
    size_t padded_bytes = (size_bytes + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
    uint64_t offset;
    int descriptor = trace_file_descriptor(&files->trace);

    if (descriptor < 0)
        return 0;
    offset = __atomic_fetch_add(&files->header->end_offset_bytes, padded_bytes, __ATOMIC_RELAXED);
    if (offset + padded_bytes <= files->size_limit_bytes &&
        write_all(descriptor, bytes, size_bytes, offset))
        return offset;
    /* Half a chunk is no chunk: take its name away if it has one already. */
    if (offset + sizeof(nothing) <= files->size_limit_bytes)
        (void)!pwrite(descriptor, nothing, sizeof(nothing), (off_t)offset);
    return 0;
}

/* The headers of all chunks, read back from the file: nothing had to be remembered. */
static struct mt_index_entry *index_read(int descriptor, uint64_t end, size_t *count)
{
    struct mt_index_entry *entries = NULL;
    size_t capacity = 0;
    uint64_t offset = MT_FILE_HEADER_BYTES;

    *count = 0;
    while (offset + MT_CHUNK_HEADER_BYTES <= end) {
        struct mt_index_entry entry = {.offset_bytes = offset};

        if (pread(descriptor, &entry.header, sizeof(entry.header), (off_t)offset) !=
                (ssize_t)sizeof(entry.header) ||
            entry.header.magic != MT_CHUNK_MAGIC)
            break; /* a chunk that could not be written: readers scan */
        if (*count == capacity) {
            struct mt_index_entry *more;

            capacity = capacity ? 2 * capacity : 64;
            more = mt_je_realloc(entries, capacity * sizeof(*entries));
            if (!more)
                break;
            entries = more;
        }
        entries[(*count)++] = entry;
        offset += (entry.header.header_bytes + (uint64_t)entry.header.payload_bytes +
                   CHUNK_ALIGNMENT - 1) /
                  CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
    }
    if (offset != end) {
        mt_je_free(entries);
        return NULL;
    }
    return entries;
}

static void index_write(struct trace_files *files, const struct mt_index_entry *entries,
                        size_t count)
{
    size_t payload_bytes = count * sizeof(*entries);
    size_t size_bytes = sizeof(struct mt_chunk_header) + payload_bytes;
    struct mt_chunk_header *header = mt_je_calloc(1, size_bytes);
    XXH64_state_t state;

    if (!header)
        return;
    header->magic = MT_CHUNK_MAGIC;
    header->kind = MT_CHUNK_INDEX;
    header->header_bytes = MT_CHUNK_HEADER_BYTES;
    header->payload_bytes = header->raw_bytes = (uint32_t)payload_bytes;
    memcpy(header + 1, entries, payload_bytes);
    XXH64_reset(&state, 0);
    XXH64_update(&state, header, offsetof(struct mt_chunk_header, checksum));
    XXH64_update(&state, header + 1, payload_bytes);
    header->checksum = XXH64_digest(&state);
    files->header->index_offset_bytes = trace_files_append(files, header, size_bytes);
    mt_je_free(header);
}

void trace_files_close(struct trace_files *files)
{
    int descriptor = trace_file_descriptor(&files->trace);
    size_t count = 0;

    if (descriptor >= 0 && files->header->end_offset_bytes <= UINT32_MAX * UINT64_C(256)) {
        struct mt_index_entry *entries =
            index_read(descriptor, files->header->end_offset_bytes, &count);

        if (entries && count)
            index_write(files, entries, count);
        mt_je_free(entries);
    }
    __atomic_store_n(&files->header->state, MT_FILE_CLOSED, __ATOMIC_RELEASE);
}

void trace_files_forget(struct trace_files *files)
{
    struct trace_file *both[] = {&files->trace, &files->rings};

    for (size_t i = 0; i < 2; i++) {
        if (is_our_file(both[i], both[i]->descriptor))
            close(both[i]->descriptor);
        both[i]->descriptor = -1;
    }
}
