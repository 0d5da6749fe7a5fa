/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "account.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "account_rows.h"
#include "cgroup_memory.h"
#include "glibc_heap.h"
#include "java_heap.h"
#include "leaktide/invariant.h"
#include "leaktide/preload.h"
#include "leaktide/rings.h"
#include "mappings.h"
#include "object_image.h"
#include "other_heaps.h"
#include "process_files.h"
#include "process_memory.h"
#include "python_pools.h"
#include "thread_stacks.h"
#include "v8_heap.h"

enum { PAGES_LOOKED_AT_MOST = 1 << 18, SPREAD_MOST = 64, SPAN_SURE_BYTES_SHIFT = 32 };

struct taking {
    struct account *account;
    struct account_rows rows;
    struct mappings mappings;
    struct thread_stacks stacks;
    struct process_memory *memory; /* NULL: may not be read, or is not wanted */
    struct other_heaps others;
    struct java_heap java;
    uint64_t java_used_left_bytes;
    uint64_t counted_before, counted_after; /* bytes: before and after the mappings were read */
    uint64_t begin_ns;                      /* of processor time */
    uint64_t pages_looked_at;
    bool has_python;
    const struct account_own *own;
    const char *allocator; /* base name of a library whose mappings the plain ones may be; "" */
};

/* --- rows ---------------------------------------------------------------------------------- */

/* Of what is left of the mapping; its share of shared pages is that of the whole mapping. */
static void take(struct taking *taking, struct mapping *mapping, struct account_row row,
                 const char *name)
{
    uint64_t bytes =
        row.resident_bytes < mapping->left_bytes ? row.resident_bytes : mapping->left_bytes;

    MT_ASSERT(mapping->left_bytes <= mapping->resident_bytes);
    row.resident_bytes = bytes;
    if (mapping->resident_bytes)
        row.proportional_bytes = (uint64_t)((unsigned __int128)mapping->proportional_bytes * bytes /
                                            mapping->resident_bytes);
    mapping->left_bytes -= bytes;
    account_rows_add(&taking->rows, &row, name);
}

/* All that is left, and what the mapping itself is. */
static void take_rest(struct taking *taking, struct mapping *mapping, enum account_part part,
                      const char *name)
{
    struct account_row row = {
        .part = part,
        .size_bytes = mapping->end - mapping->start,
        .resident_bytes = mapping->left_bytes,
        .swapped_bytes = mapping->swapped_bytes,
        .count = part != ACCOUNT_BLOCKS,
    };

    if (part == ACCOUNT_SHARED) {
        row.device = mapping->device;
        row.inode = mapping->inode;
    }
    take(taking, mapping, row, name);
}

/* --- glibc's heaps ------------------------------------------------------------------------- */

/* used_bytes: resident, of everything in the heap. */
static void take_split(struct taking *taking, struct mapping *mapping, uint64_t used_bytes,
                       const struct heap_split *split, const char *name)
{
    uint64_t kept_bytes = split->free_bytes + split->cached_bytes;
    uint64_t other_bytes = kept_bytes + split->own_bytes;

    taking->account->figures[ACCOUNT_FIGURE_TRIM] += split->trim_bytes;
    taking->account->figures[ACCOUNT_FIGURE_CACHED] += split->cached_bytes;
    if (!split->is_fastbins_read)
        taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_FASTBINS_UNREAD;
    take(taking, mapping,
         (struct account_row){.part = ACCOUNT_KEPT, .resident_bytes = kept_bytes, .count = 1},
         name);
    take(taking, mapping,
         (struct account_row){
             .part = ACCOUNT_MALLOC_OWN, .resident_bytes = split->own_bytes, .count = 1},
         "");
    take(taking, mapping,
         (struct account_row){.part = ACCOUNT_BLOCKS,
                              .resident_bytes =
                                  used_bytes > other_bytes ? used_bytes - other_bytes : 0,
                              .count = split->block_count},
         name);
}

static bool is_writable_data_of_libc(const struct mapping *mapping, bool is_static)
{
    const char *base = strrchr(mapping->name, '/');

    if (!base || mapping->permissions[1] != 'w' || mapping_is_shared(mapping))
        return false;
    base++;
    return is_static || strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-2.", 7) == 0;
}

static void find_main_fastbins(struct taking *taking, struct heap_split *split)
{
    for (int is_static = 0; is_static < 2 && !split->is_fastbins_read; is_static++)
        for (size_t i = 0; i < taking->mappings.count && !split->is_fastbins_read; i++) {
            const struct mapping *mapping = &taking->mappings.rows[i];

            if (is_writable_data_of_libc(mapping, is_static))
                glibc_main_fastbins(taking->memory, mapping->start, mapping->end, split);
        }
}

/* Of what is free, that comes first which was never touched. */
static uint64_t take_other_heap(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    struct heap_extent extent;
    struct other_heap *heap = other_heaps_extent(&taking->others, address, mapping->end, &extent);
    uint64_t resident, absent, kept, cached = 0;

    if (!heap)
        return address;
    resident = memory_resident_bytes(taking->memory, address, address + extent.size_bytes);
    absent = extent.size_bytes - resident;
    kept = extent.free_bytes > absent ? extent.free_bytes - absent : 0;
    kept = kept < resident ? kept : resident;
    if (!extent.is_own) /* nobody says which blocks those are */
        cached = heap->cached_bytes < resident - kept ? heap->cached_bytes : resident - kept;
    heap->cached_bytes -= cached;
    taking->account->figures[ACCOUNT_FIGURE_SPARE] += extent.is_spare ? kept : 0;
    taking->account->figures[ACCOUNT_FIGURE_CACHED] += cached;
    kept += cached;
    if (kept)
        take(taking, mapping,
             (struct account_row){.part = ACCOUNT_KEPT, .resident_bytes = kept, .count = 1},
             heap->name);
    if (resident > kept)
        take(taking, mapping,
             (struct account_row){.part = extent.is_own ? ACCOUNT_MALLOC_OWN : ACCOUNT_BLOCKS,
                                  .resident_bytes = resident - kept,
                                  .count = extent.block_count},
             heap->name);
    return address + extent.size_bytes;
}

/* Page by page, in the program's own heap, which another allocator may grow. False: it is nobody's
 * that is known. */
static bool look_for_other_heap(struct taking *taking, struct mapping *mapping)
{
    uint64_t address = mapping->start;
    bool is_found = false;

    if (!taking->others.count)
        return false;
    while ((address = memory_next_resident(taking->memory, address, mapping->end)) < mapping->end) {
        uint64_t after = take_other_heap(taking, mapping, address);

        is_found |= after != address;
        address = after != address ? after : address + taking->memory->page_bytes;
    }
    return is_found;
}

static void take_main_heap(struct taking *taking, struct mapping *mapping)
{
    struct heap_split split = {0};

    if (taking->memory && glibc_main_heap(taking->memory, mapping->start, mapping->end, &split)) {
        find_main_fastbins(taking, &split);
        take_split(taking, mapping, mapping->resident_bytes, &split, "main arena");
        take_rest(taking, mapping, ACCOUNT_BLOCKS, "main arena");
        taking->account->figures[ACCOUNT_FIGURE_ARENAS]++;
        return;
    }
    if (taking->memory && look_for_other_heap(taking, mapping)) {
        take_rest(taking, mapping, ACCOUNT_MALLOC_OWN, taking->allocator);
        return;
    }
    taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |= taking->memory ? ACCOUNT_HEAP_ODD : 0;
    take_rest(taking, mapping, ACCOUNT_HEAP, taking->allocator);
}

/* Returns where to go on; the same address: there is no such heap. */
static uint64_t take_arena_heap(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    struct arena_heap heap;
    struct heap_split split = {0};
    uint64_t resident;
    char name[64];

    if (address % GLIBC_HEAP_ALIGN ||
        !glibc_arena_heap(taking->memory, address, mapping->end, &heap))
        return address;
    snprintf(name, sizeof(name), "arena %" PRIx64,
             heap.arena / GLIBC_HEAP_ALIGN * GLIBC_HEAP_ALIGN);
    resident = memory_resident_bytes(taking->memory, address, address + heap.size_bytes);
    if (glibc_arena_split(taking->memory, address, &heap, &split)) {
        take_split(taking, mapping, resident, &split, name);
    } else {
        taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_HEAP_ODD;
        take(taking, mapping,
             (struct account_row){.part = ACCOUNT_HEAP, .resident_bytes = resident, .count = 1},
             name);
    }
    taking->account->figures[ACCOUNT_FIGURE_ARENAS] +=
        heap.arena / GLIBC_HEAP_ALIGN * GLIBC_HEAP_ALIGN == address;
    return address + heap.size_bytes;
}

/* --- plain mappings ------------------------------------------------------------------------ */

static uint64_t take_mapped_block(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    uint64_t size_bytes = glibc_mapped_block(taking->memory, address, mapping->end);
    uint64_t resident = memory_resident_bytes(taking->memory, address, address + size_bytes);

    if (size_bytes)
        take(taking, mapping,
             (struct account_row){.part = ACCOUNT_BLOCKS, .resident_bytes = resident, .count = 1},
             "with mappings of their own");
    return address + size_bytes;
}

static uint64_t take_python_pool(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    struct python_pool pool = python_pool_at(taking->memory, address, mapping->end);
    uint64_t resident = memory_resident_bytes(taking->memory, address, address + pool.size_bytes);
    uint64_t used = pool.used_bytes < resident ? pool.used_bytes : resident;

    if (!pool.size_bytes)
        return address;
    take(taking, mapping,
         (struct account_row){
             .part = ACCOUNT_PYTHON_OBJECTS, .resident_bytes = used, .count = pool.object_count},
         "");
    take(taking, mapping,
         (struct account_row){
             .part = ACCOUNT_PYTHON_KEPT, .resident_bytes = resident - used, .count = 1},
         "");
    return address + pool.size_bytes;
}

static void take_of_v8(struct taking *taking, struct mapping *mapping, uint64_t bytes,
                       const char *name)
{
    if (bytes)
        take(taking, mapping,
             (struct account_row){.part = ACCOUNT_ANONYMOUS, .resident_bytes = bytes, .count = 1},
             name);
}

static uint64_t take_v8_chunk(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    struct v8_chunk chunk = v8_chunk_at(taking->memory, address, mapping->end);
    uint64_t resident = memory_resident_bytes(taking->memory, address, address + chunk.size_bytes);
    uint64_t used = chunk.object_bytes < resident ? chunk.object_bytes : resident;

    if (chunk.is_young) {
        take_of_v8(taking, mapping, resident, ACCOUNT_NAME_V8_YOUNG);
        return address + chunk.size_bytes;
    }
    take_of_v8(taking, mapping, used, ACCOUNT_NAME_V8_OBJECTS);
    take_of_v8(taking, mapping, resident - used, ACCOUNT_NAME_V8_KEPT);
    return address + chunk.size_bytes;
}

static uint64_t take_known(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    uint64_t after = take_other_heap(taking, mapping, address);

    if (after == address)
        after = take_arena_heap(taking, mapping, address);
    if (after == address)
        after = take_mapped_block(taking, mapping, address);
    if (after == address && taking->has_python)
        after = take_python_pool(taking, mapping, address);
    if (after == address)
        after = take_v8_chunk(taking, mapping, address);
    return after;
}

/* Page by page, as neighbours that several asked for are one mapping to the kernel. */
static void look_at_pages(struct taking *taking, struct mapping *mapping, uint64_t address)
{
    uint64_t span = mapping->end - mapping->start;

    if (span >> SPAN_SURE_BYTES_SHIFT && span / SPREAD_MOST > mapping->resident_bytes) {
        taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_SCAN_ENDED;
        return;
    }
    while ((address = memory_next_resident(taking->memory, address, mapping->end)) < mapping->end &&
           mapping->left_bytes) {
        uint64_t after = take_known(taking, mapping, address);

        if (after == address) {
            if (taking->pages_looked_at++ == PAGES_LOOKED_AT_MOST) {
                taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_SCAN_ENDED;
                return;
            }
            after += taking->memory->page_bytes;
        }
        address = after;
    }
}

/* --- objects ------------------------------------------------------------------------------- */

/* The rest of an object's variables is the beginning of a plain mapping after it. */
static uint64_t take_variables(struct taking *taking, const struct mapping *object, size_t count,
                               struct mapping *mapping)
{
    uint64_t end = taking->memory ? object_end(taking->memory, object->start) : 0;

    if (object[count - 1].end != mapping->start || !mapping_is_plain(mapping) ||
        !mapping_is_writable(mapping) || end <= mapping->start)
        return mapping->start;
    if (end > mapping->end)
        end = mapping->end;
    take(taking, mapping,
         (struct account_row){.part = ACCOUNT_CODE,
                              .resident_bytes =
                                  memory_resident_bytes(taking->memory, mapping->start, end)},
         object->name);
    return end;
}

/* --- which part a mapping is --------------------------------------------------------------- */

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static bool is_shared_memory(const struct mapping *mapping)
{
    return begins_with(mapping->name, "/dev/shm/") || begins_with(mapping->name, "/memfd:") ||
           begins_with(mapping->name, "/SYSV") || begins_with(mapping->name, "/dev/zero") ||
           begins_with(mapping->name, "[anon_shmem:");
}

static bool is_of_device(const struct mapping *mapping)
{
    return begins_with(mapping->name, "/dev/") || begins_with(mapping->name, "anon_inode:") ||
           begins_with(mapping->name, "/dmabuf:") || begins_with(mapping->name, "socket:");
}

static bool is_code_of_kernel(const struct mapping *mapping)
{
    return begins_with(mapping->name, "[vdso") || begins_with(mapping->name, "[vvar") ||
           begins_with(mapping->name, "[vsyscall") || begins_with(mapping->name, "[uprobes");
}

/* Mappings of one object stand together. */
static size_t object_mappings(const struct taking *taking, size_t first, bool *is_code)
{
    const struct mapping *rows = taking->mappings.rows;
    size_t i = first;

    *is_code = false;
    do
        *is_code |= rows[i].permissions[2] == 'x';
    while (++i < taking->mappings.count && rows[i].name == rows[first].name);
    return i - first;
}

/* 0: it does not begin with one. */
static uint64_t stack_end(struct taking *taking, size_t index)
{
    struct mapping *mapping = &taking->mappings.rows[index];

    return thread_stack_end(&taking->stacks, mapping, index ? mapping - 1 : NULL, taking->memory);
}

/* After a fork the kernel keeps old pages and new ones apart, in the middle of a heap. */
static bool goes_on(struct taking *taking, size_t index)
{
    const struct mapping *mapping = &taking->mappings.rows[index], *next = mapping + 1;

    return index + 1 < taking->mappings.count && next->start == mapping->end &&
           next->name == mapping->name && !next->is_own && !mapping->is_own &&
           strcmp(next->permissions, "rw-p") == 0 && strcmp(mapping->permissions, "rw-p") == 0 &&
           !next->inode && !mapping->inode && !stack_end(taking, index) &&
           !stack_end(taking, index + 1);
}

/* Makes one of them, up to the last; returns where that stands. */
static size_t join_following(struct taking *taking, size_t index)
{
    while (goes_on(taking, index)) {
        struct mapping *mapping = &taking->mappings.rows[index], *next = mapping + 1;

        next->start = mapping->start;
        next->resident_bytes += mapping->resident_bytes;
        next->proportional_bytes += mapping->proportional_bytes;
        next->swapped_bytes += mapping->swapped_bytes;
        next->left_bytes += mapping->left_bytes;
        index++;
    }
    return index;
}

/* Which of its pages are in use is not known, only how many. */
static void take_java_heap(struct taking *taking, struct mapping *mapping)
{
    uint64_t used_bytes = taking->java_used_left_bytes < mapping->left_bytes
                              ? taking->java_used_left_bytes
                              : mapping->left_bytes;

    taking->java_used_left_bytes -= used_bytes;
    take(taking, mapping,
         (struct account_row){.part = ACCOUNT_JAVA_OBJECTS, .resident_bytes = used_bytes}, "");
    take_rest(taking, mapping, ACCOUNT_JAVA_KEPT, "");
}

/* The beginning of a mapping; returns its end. */
static uint64_t take_stack(struct taking *taking, struct mapping *mapping, uint64_t end)
{
    take(taking, mapping,
         (struct account_row){.part = ACCOUNT_STACKS,
                              .resident_bytes =
                                  memory_resident_bytes(taking->memory, mapping->start, end),
                              .count = 1},
         "");
    return end;
}

static void take_plain(struct taking *taking, size_t index, uint64_t from)
{
    struct mapping *mapping = &taking->mappings.rows[index];
    uint64_t end;

    if (mapping->start >= taking->java.start && mapping->end <= taking->java.end) {
        take_java_heap(taking, mapping);
        return;
    }

    end = stack_end(taking, index);
    if (end == mapping->end) {
        take_rest(taking, mapping, ACCOUNT_STACKS, "");
        return;
    }
    if (end)
        from = take_stack(taking, mapping, end);
    if (taking->memory && mapping_is_writable(mapping) && mapping->left_bytes)
        look_at_pages(taking, mapping, from);
    take_rest(taking, mapping, ACCOUNT_ANONYMOUS,
              mapping_has_given_name(mapping) ? mapping->name : taking->allocator);
}

/* One that has a name of the kernel's or of a file. */
static void take_named(struct taking *taking, struct mapping *mapping, bool is_code)
{
    if (strcmp(mapping->name, "[heap]") == 0)
        take_main_heap(taking, mapping);
    else if (begins_with(mapping->name, "[stack"))
        take_rest(taking, mapping, ACCOUNT_STACKS, "");
    else if (is_code_of_kernel(mapping))
        take_rest(taking, mapping, ACCOUNT_CODE, "kernel");
    else if (is_shared_memory(mapping))
        take_rest(taking, mapping, ACCOUNT_SHARED, mapping->name);
    else if (is_of_device(mapping))
        take_rest(taking, mapping, ACCOUNT_DEVICES, mapping->name);
    else if (mapping->name[0] != '/')
        take_rest(taking, mapping, ACCOUNT_ANONYMOUS, mapping->name);
    else
        take_rest(taking, mapping, is_code ? ACCOUNT_CODE : ACCOUNT_FILES, mapping->name);
}

static void take_mappings(struct taking *taking)
{
    struct mapping *rows = taking->mappings.rows;

    for (size_t i = 0; i < taking->mappings.count;) {
        bool is_code;
        size_t count;

        if (rows[i].is_own) {
            i++;
            continue;
        }
        if (mapping_is_plain(&rows[i])) {
            i = join_following(taking, i);
            take_plain(taking, i, rows[i].start);
            i++;
            continue;
        }
        i = join_following(taking, i);
        count = object_mappings(taking, i, &is_code);
        for (size_t k = i; k < i + count; k++)
            take_named(taking, &rows[k], is_code);
        i += count;
        if (is_code && i < taking->mappings.count && mapping_is_plain(&rows[i])) {
            size_t last = join_following(taking, i);

            take_plain(taking, last, take_variables(taking, &rows[i - count], count, &rows[last]));
            i = last + 1;
        }
    }
}

/* --- the whole ----------------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whose mappings the plain ones may be, as far as a library tells. */
static void look_at_names(struct taking *taking)
{
    static const char *const allocators[] = {"libjemalloc", "libtcmalloc", "libmimalloc",
                                             "libjvm",      "libasan",     "libtsan"};

    taking->allocator = "";
    for (size_t i = 0; i < taking->mappings.count; i++) {
        const char *base = base_of(taking->mappings.rows[i].name);

        if (begins_with(base, "libpython") || begins_with(base, "python"))
            taking->has_python = true;
        for (size_t k = 0; k < sizeof(allocators) / sizeof(allocators[0]); k++)
            if (begins_with(base, allocators[k]))
                taking->allocator = base;
    }
}

/* --- what is the recorder's ------------------------------------------------------------------ */

static bool is_own_file(const char *name)
{
    const char *base = base_of(name);

    return begins_with(base, MT_TRACER_FILE_NAME) || mt_is_name_of_rings(base);
}

static uint64_t overlap(const struct mapping *mapping, const struct account_range *range,
                        struct account_range *both)
{
    both->start = mapping->start > range->start ? mapping->start : range->start;
    both->end = mapping->end < range->end ? mapping->end : range->end;
    return both->start < both->end ? both->end - both->start : 0;
}

/* The kernel may have made one mapping of ours and of the program's; where its pages may not be
 * looked at, they are taken to be resident alike. */
static uint64_t own_bytes_in(const struct taking *taking, const struct mapping *mapping)
{
    uint64_t size_bytes = mapping->end - mapping->start, bytes = 0, resident_bytes = 0;

    for (size_t i = 0; taking->own && i < taking->own->count; i++) {
        struct account_range both;
        uint64_t shared_bytes = overlap(mapping, &taking->own->ranges[i], &both);

        bytes += shared_bytes;
        if (shared_bytes && shared_bytes < size_bytes && taking->memory)
            resident_bytes += memory_resident_bytes(taking->memory, both.start, both.end);
    }
    if (bytes >= size_bytes)
        return mapping->resident_bytes;
    if (!taking->memory)
        resident_bytes =
            (uint64_t)((unsigned __int128)mapping->resident_bytes * bytes / size_bytes);
    return resident_bytes < mapping->resident_bytes ? resident_bytes : mapping->resident_bytes;
}

static uint64_t share(uint64_t whole, uint64_t part_bytes, uint64_t whole_bytes)
{
    return whole_bytes ? (uint64_t)((unsigned __int128)whole * part_bytes / whole_bytes) : whole;
}

/* Before anything is summed up. */
static void leave_out_own(struct taking *taking)
{
    for (size_t i = 0; i < taking->mappings.count; i++) {
        struct mapping *mapping = &taking->mappings.rows[i];
        uint64_t resident_bytes = mapping->resident_bytes;
        uint64_t own_bytes = is_own_file(mapping->name)  ? resident_bytes
                             : mapping_is_plain(mapping) ? own_bytes_in(taking, mapping)
                                                         : 0;

        mapping->is_own = is_own_file(mapping->name) || (own_bytes && own_bytes == resident_bytes);
        if (!own_bytes)
            continue;
        taking->account->figures[ACCOUNT_FIGURE_RECORDER] += own_bytes;
        mapping->resident_bytes -= own_bytes;
        mapping->left_bytes = mapping->resident_bytes;
        mapping->proportional_bytes =
            share(mapping->proportional_bytes, mapping->resident_bytes, resident_bytes);
        mapping->swapped_bytes =
            share(mapping->swapped_bytes, mapping->resident_bytes, resident_bytes);
        mapping->huge_bytes = share(mapping->huge_bytes, mapping->resident_bytes, resident_bytes);
    }
}

/* Before any of them are joined. */
static void sum_mappings(struct taking *taking)
{
    uint64_t *figures = taking->account->figures;

    for (size_t i = 0; i < taking->mappings.count; i++) {
        const struct mapping *mapping = &taking->mappings.rows[i];

        figures[ACCOUNT_FIGURE_RESIDENT] += mapping->resident_bytes;
        figures[ACCOUNT_FIGURE_PROPORTIONAL] += mapping->proportional_bytes;
        figures[ACCOUNT_FIGURE_SWAPPED] += mapping->swapped_bytes;
        figures[ACCOUNT_FIGURE_HUGE] += mapping->huge_bytes;
    }
}

/* Resident, as the kernel counts it beside the mappings; 0: it cannot be read. */
static uint64_t counted_bytes(int folder)
{
    char text[256], *at = text;

    if (!file_read(folder, "statm", text, sizeof(text)))
        return 0;
    strtoull(at, &at, 10);
    return strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Until Linux 6.2, what the kernel counts is late by up to 64 pages of each thread. */
static uint64_t late_bytes(const struct taking *taking)
{
    enum { LATE_PAGES = 64 };

    return (uint64_t)sysconf(_SC_PAGESIZE) * LATE_PAGES * taking->stacks.thread_count;
}

/* What it counted before the mappings were read and after is more than they are. What it counted
 * only before, or after, came or went while they were read. */
static void sum_up(struct taking *taking)
{
    uint64_t *figures = taking->account->figures;
    uint64_t sum_bytes = figures[ACCOUNT_FIGURE_RESIDENT] + figures[ACCOUNT_FIGURE_RECORDER];
    uint64_t before = taking->counted_before, after = taking->counted_after;
    uint64_t least = before < after ? before : after, most = before < after ? after : before;
    uint64_t most_to_see = most + late_bytes(taking);

    figures[ACCOUNT_FIGURE_MAPPINGS] = taking->mappings.count;
    figures[ACCOUNT_FIGURE_THREADS] = taking->stacks.thread_count;
    if (least > sum_bytes) {
        uint64_t rest_bytes = least - sum_bytes;

        account_rows_add(&taking->rows,
                         &(struct account_row){.part = ACCOUNT_UNEXPLAINED,
                                               .resident_bytes = rest_bytes,
                                               .proportional_bytes = rest_bytes},
                         "");
        figures[ACCOUNT_FIGURE_RESIDENT] += rest_bytes;
        figures[ACCOUNT_FIGURE_PROPORTIONAL] += rest_bytes;
    }
    if (after > before && after - before > after / 100)
        figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_MORE;
    else if (before - after > sum_bytes / 100 ||
             (most && sum_bytes > most_to_see + sum_bytes / 100))
        figures[ACCOUNT_FIGURE_DOUBTS] |= ACCOUNT_LESS;
}

/* The identity: every resident byte is in one row. */
static void account_check(const struct account *account)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].resident_bytes;
    MT_ASSERT(sum == account->figures[ACCOUNT_FIGURE_RESIDENT]);
}

static void count_rows(struct taking *taking)
{
    uint64_t *figures = taking->account->figures;

    for (size_t i = 0; i < taking->rows.count; i++) {
        const struct account_row *row = &taking->rows.rows[i];

        if (row->part == ACCOUNT_BLOCKS)
            figures[ACCOUNT_FIGURE_BLOCK_COUNT] += row->count;
        else if (row->part == ACCOUNT_PYTHON_OBJECTS)
            figures[ACCOUNT_FIGURE_OBJECT_COUNT] += row->count;
    }
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t processor_ns(void)
{
    return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int take_all(struct taking *taking, int folder, enum account_depth depth)
{
    struct process_memory memory;
    int result;

    taking->counted_before = counted_bytes(folder);
    result = mappings_read(&taking->mappings, folder);
    if (result)
        return result;
    taking->counted_after = counted_bytes(folder);
    if (!thread_stacks_read(&taking->stacks, folder)) {
        result = ENOMEM;
    } else {
        look_at_names(taking);
        if (depth == ACCOUNT_WHOLE && process_memory_open(&memory, folder)) {
            taking->memory = &memory;
            other_heaps_find(&taking->others, folder, &taking->mappings);
            java_heap_find(&taking->java, &memory, &taking->mappings);
            taking->java_used_left_bytes = taking->java.used_bytes;
        }
        if (!taking->memory)
            taking->account->figures[ACCOUNT_FIGURE_DOUBTS] |=
                depth == ACCOUNT_WHOLE ? ACCOUNT_NO_MEMORY_READ : ACCOUNT_IS_ROUGH;
        leave_out_own(taking);
        sum_mappings(taking);
        taking->account->rough_cost_ns = processor_ns() - taking->begin_ns;
        take_mappings(taking);
        sum_up(taking);
        if (!cgroup_memory_read(&taking->account->cgroup, folder))
            result = ENOMEM;
        if (taking->memory) {
            other_heaps_release(&taking->others);
            process_memory_close(&memory);
        }
    }
    thread_stacks_release(&taking->stacks);
    mappings_release(&taking->mappings);
    return result;
}

/* Its memory goes while the kernel ends it: what was read is of a moment that never was. state: its
 * file "stat", open since before, of which a process that is gone shows nothing; less than 0: there
 * is none, as in a copy. */
static bool is_ending(int state)
{
    enum { FIELDS_BEFORE_FLAGS = 7, FLAG_IS_EXITING = 4 };
    char text[1024], *field;
    ssize_t size;

    if (state < 0)
        return false;
    size = pread(state, text, sizeof(text) - 1, 0);
    if (size <= 0)
        return true;
    text[size] = 0;
    field = strrchr(text, ')');
    for (int i = 0; field && i < FIELDS_BEFORE_FLAGS; i++)
        field = strchr(field + 1, ' ');
    return field && strtoul(field, NULL, 10) & FLAG_IS_EXITING;
}

int account_take(const char *folder, enum account_depth depth, const struct account_own *own,
                 struct account *account)
{
    struct taking taking = {.account = account, .own = own, .begin_ns = processor_ns()};
    int process = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int state, result;

    if (process < 0)
        return errno;
    state = openat(process, "stat", O_RDONLY | O_CLOEXEC);
    memset(account, 0, sizeof(*account));
    account->begin_ns = now_ns(CLOCK_MONOTONIC);
    result = take_all(&taking, process, depth);
    if (!result && is_ending(state))
        result = ESRCH;
    if (state >= 0)
        close(state);
    close(process);
    account_rows_join(&taking.rows);
    if (!result && taking.rows.has_failed)
        result = ENOMEM;
    if (result) {
        account_rows_release(&taking.rows);
        return result;
    }
    count_rows(&taking);
    account->rows = taking.rows.rows;
    account->row_count = taking.rows.count;
    account_check(account);
    account->figures[ACCOUNT_FIGURE_COST_NS] = processor_ns() - taking.begin_ns;
    return 0;
}

uint64_t account_recorder_bytes(const char *folder, const struct account_own *own)
{
    struct account account = {0};
    struct taking taking = {.account = &account, .own = own};
    int process = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (process < 0)
        return 0;
    if (mappings_read(&taking.mappings, process) == 0)
        leave_out_own(&taking);
    mappings_release(&taking.mappings);
    close(process);
    return account.figures[ACCOUNT_FIGURE_RECORDER];
}

void account_release(struct account *account)
{
    struct account_rows rows = {.rows = account->rows, .count = account->row_count};

    account_rows_release(&rows);
    memset(account, 0, sizeof(*account));
}

/* --- fewer rows ---------------------------------------------------------------------------- */

static int larger_first(const void *left, const void *right)
{
    const struct account_row *a = left, *b = right;

    return (a->resident_bytes < b->resident_bytes) - (a->resident_bytes > b->resident_bytes);
}

void account_fold(struct account *account, size_t row_most)
{
    struct account_rows rows = {
        .rows = account->rows, .count = account->row_count, .capacity = account->row_count};

    if (account->row_count <= row_most)
        return;
    qsort(rows.rows, rows.count, sizeof(*rows.rows), larger_first);
    for (size_t i = row_most; i < rows.count; i++) {
        rows.rows[i].name[0] = 0;
        rows.rows[i].device = rows.rows[i].inode = 0;
    }
    account_rows_join(&rows);
    account->rows = rows.rows;
    account->row_count = rows.count;
}
