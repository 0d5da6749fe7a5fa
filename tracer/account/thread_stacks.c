/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "thread_stacks.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_files.h"

enum {
    CAPACITY_FIRST = 64,
    DESCRIPTOR_WITHIN_BYTES = 1 << 16, /* of the upper end: below it are variables of the thread */
    STACK_MOST = 64 << 20
};

static bool pointer_add(struct thread_stacks *stacks, uint64_t pointer)
{
    if (stacks->pointer_count == stacks->pointer_capacity) {
        size_t capacity = stacks->pointer_capacity ? stacks->pointer_capacity * 2 : CAPACITY_FIRST;
        uint64_t *pointers = realloc(stacks->pointers, capacity * sizeof(*pointers));

        if (!pointers)
            return false;
        stacks->pointers = pointers;
        stacks->pointer_capacity = capacity;
    }
    stacks->pointers[stacks->pointer_count++] = pointer;
    return true;
}

/* "number arguments... stack code", in hexadecimal, or "running". */
static uint64_t stack_pointer(int tasks, const char *task)
{
    char name[64], text[512], *last;

    snprintf(name, sizeof(name), "%.20s/syscall", task);
    if (!file_read(tasks, name, text, sizeof(text)))
        return 0;
    last = strrchr(text, ' ');
    if (!last)
        return 0;
    *last = 0;
    last = strrchr(text, ' ');
    return last ? strtoull(last + 1, NULL, 16) : 0;
}

static int pointer_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

bool thread_stacks_read(struct thread_stacks *stacks, int folder)
{
    int tasks = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = tasks >= 0 ? fdopendir(tasks) : NULL;
    const struct dirent *entry;
    bool has_memory = list || tasks < 0;

    memset(stacks, 0, sizeof(*stacks));
    while (list && has_memory && (entry = readdir(list))) {
        uint64_t pointer;

        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        stacks->thread_count++;
        pointer = stack_pointer(tasks, entry->d_name);
        has_memory = !pointer || pointer_add(stacks, pointer);
    }
    if (list)
        closedir(list);
    else if (tasks >= 0)
        close(tasks);
    if (stacks->pointer_count)
        qsort(stacks->pointers, stacks->pointer_count, sizeof(*stacks->pointers), pointer_compare);
    return has_memory;
}

void thread_stacks_release(struct thread_stacks *stacks)
{
    free(stacks->pointers);
    memset(stacks, 0, sizeof(*stacks));
}

/* The lowest in the mapping; 0: there is none. */
static uint64_t pointer_in(const struct thread_stacks *stacks, const struct mapping *mapping)
{
    size_t low = 0, high = stacks->pointer_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stacks->pointers[middle] < mapping->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->pointer_count && stacks->pointers[low] < mapping->end
               ? stacks->pointers[low]
               : 0;
}

/*
 * Above a stack the kernel may join what somebody else has mapped. The C library's descriptor of
 * the thread, a little below the stack's end, has three words that say where that is: where its
 * memory begins, how much it is, and how much of that guards it. 0: they are not there.
 */
static uint64_t end_by_descriptor(const struct mapping *mapping, uint64_t pointer,
                                  struct process_memory *memory)
{
    uint64_t last = mapping->end - pointer < STACK_MOST ? mapping->end : pointer + STACK_MOST;

    for (uint64_t at = (pointer + 7) & ~(uint64_t)7; at + 3 * sizeof(at) <= last;
         at += sizeof(at)) {
        uint64_t words[3], end;
        const void *bytes = memory_at(memory, at, sizeof(words));

        if (!bytes) {
            at = memory_next_resident(memory, at + sizeof(at), last) - sizeof(at);
            continue;
        }
        memcpy(words, bytes, sizeof(words));
        end = words[0] + words[1];
        if (words[0] + words[2] == mapping->start && words[2] < words[1] && end > at &&
            end <= mapping->end && end - at < DESCRIPTOR_WITHIN_BYTES)
            return end;
    }
    return 0;
}

/* On x86-64, the descriptor of a thread names itself in its first and its third word. */
static bool has_descriptor(const struct mapping *mapping, struct process_memory *memory)
{
    uint64_t size_bytes = mapping->end - mapping->start;
    uint64_t start = mapping->end -
                     (size_bytes < DESCRIPTOR_WITHIN_BYTES ? size_bytes : DESCRIPTOR_WITHIN_BYTES);

    for (uint64_t at = mapping->end - 64; at > start; at -= 64) {
        uint64_t words[3];
        const void *bytes = memory_at(memory, at, sizeof(words));

        if (!bytes)
            continue;
        memcpy(words, bytes, sizeof(words));
        if (words[0] == at && words[2] == at)
            return true;
    }
    return false;
}

uint64_t thread_stack_end(const struct thread_stacks *stacks, const struct mapping *mapping,
                          const struct mapping *before, struct process_memory *memory)
{
    uint64_t pointer = pointer_in(stacks, mapping), end = 0;
    bool is_guarded =
        before && before->end == mapping->start && strncmp(before->permissions, "---", 3) == 0;

    if (!mapping_is_plain(mapping) || !mapping_is_writable(mapping))
        return 0;
    if (pointer && memory)
        end = end_by_descriptor(mapping, pointer, memory);
    if (pointer && !end && mapping->end - mapping->start <= STACK_MOST)
        end = mapping->end;
    if (!end && is_guarded && memory && has_descriptor(mapping, memory))
        end = mapping->end;
    return end;
}
