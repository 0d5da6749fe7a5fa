/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "thread_stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "row_arch.h"
#include "stack_memory.h"

#define READS_DESCRIPTOR __attribute__((no_sanitize("address", "thread", "undefined")))

/*
 * Of glibc's thread descriptor; all versions have these four side by side. The first thread's block
 * is NULL, and its size is the address of its stack's end: by that they are found.
 */
struct stack_fields {
    uint64_t block, size_bytes, guard_bytes, reported_guard_bytes;
};

enum { DESCRIPTOR_MAX_BYTES = 4096 };

/* Where the program's first instruction found its stack; of the dynamic linker. */
extern void *__libc_stack_end __attribute__((weak));

static size_t fields_offset; /* in the descriptor; 0: this C library has them elsewhere */

static uint64_t first_top(void)
{
    return &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;
}

static bool is_first_thread(void)
{
    return !stack_memory_avoids_calls() && syscall(SYS_gettid) == getpid();
}

static const struct stack_fields *fields_at(size_t offset)
{
    return (const void *)((const char *)(uintptr_t)pthread_self() + offset);
}

READS_DESCRIPTOR void thread_stack_prepare(void)
{
    uint64_t top = first_top();

    if (!top || !is_first_thread())
        return;
    for (size_t at = 0; at < DESCRIPTOR_MAX_BYTES; at += sizeof(uint64_t)) {
        const struct stack_fields *fields = fields_at(at);

        if (!memory_is_readable((uintptr_t)(fields + 1) - 1))
            return;
        if (fields->block == 0 && fields->size_bytes == top) {
            fields_offset = at;
            return;
        }
    }
}

/* The descriptor itself lies at the top of a thread's stack, also of one that the program gave. */
READS_DESCRIPTOR struct thread_stack thread_stack_own(void)
{
    uint64_t descriptor = (uint64_t)(uintptr_t)pthread_self();
    const struct stack_fields *fields = fields_at(fields_offset);
    struct thread_stack first = {0, first_top()}, unknown = {0, 0};

    if (!fields_offset)
        return is_first_thread() ? first : unknown;
    if (!fields->block)
        return first;
    if (descriptor - fields->block >= fields->size_bytes ||
        fields->guard_bytes >= descriptor - fields->block)
        return unknown;
    return (struct thread_stack){fields->block + fields->guard_bytes, thread_pointer()};
}
