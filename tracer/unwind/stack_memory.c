/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stack_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread_stack.h"

enum {
    PAGE_BYTES = 4096,
    REACH_PAGES = 1 << 14,
    GAP_PAGES = 256 /* the kernel's, below a stack */
};

/* Set where the kernel does not look at the eight bytes: then "mapped" has to do. */
static bool knows_only_mapped;
static atomic_bool avoids_calls;

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE_BYTES - 1);
}

/* The kernel copies the signal set before it sees that there is no such way of using it. */
static bool can_be_copied(uint64_t address)
{
    int before = errno;
    bool is_readable =
        syscall(SYS_rt_sigprocmask, -1, address & ~UINT64_C(7), NULL, 8) == -1 && errno == EINVAL;

    errno = before;
    return is_readable;
}

static bool is_mapped(uint64_t address)
{
    int before = errno;
    unsigned char state;
    bool is_there =
        syscall(SYS_mincore, address & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1), 1, &state) == 0;

    errno = before;
    return is_there;
}

/* It looks at what is handed to the kernel, and takes our question for the program's mistake. */
static bool is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "/vgpreload_");
}

void stack_memory_prepare(void)
{
    if (is_under_valgrind()) {
        knows_only_mapped = true;
        thread_stack_prepare();
        return;
    }
    knows_only_mapped = can_be_copied(PAGE_BYTES / 2); /* nobody has anything there */
    thread_stack_prepare();
}

void stack_memory_avoid_calls(void)
{
    atomic_store_explicit(&avoids_calls, true, memory_order_relaxed);
}

bool stack_memory_avoids_calls(void)
{
    return atomic_load_explicit(&avoids_calls, memory_order_relaxed);
}

bool memory_is_readable(uint64_t address)
{
    if (stack_memory_avoids_calls())
        return false;
    return knows_only_mapped ? is_mapped(address) : can_be_copied(address);
}

/*
 * From sp up to what is known already, or to the top, without a gap? Only asked for the first
 * thread's stack. The kernel keeps all mappings a MiB away from below it, so what is connected
 * is that stack.
 */
static bool is_connected(struct stack_knowledge *knowledge, uint64_t sp)
{
    uint64_t end = knowledge->low ? knowledge->low : page_of(knowledge->top) + PAGE_BYTES;
    uint64_t page = page_of(sp);

    if (sp >= knowledge->top || (end - page) / PAGE_BYTES > REACH_PAGES)
        return false;
    if (sp >= knowledge->foreign_low && sp < knowledge->foreign_high)
        return false;
    if (stack_memory_avoids_calls())
        return knowledge->low && (end - page) / PAGE_BYTES <= GAP_PAGES;
    while (page < end && memory_is_readable(page))
        page += PAGE_BYTES;
    if (page >= end)
        return true;
    knowledge->foreign_low = page_of(sp);
    knowledge->foreign_high = page;
    return false;
}

static void bounds_find(struct stack_knowledge *knowledge)
{
    struct thread_stack own = thread_stack_own();

    knowledge->top = own.top;
    knowledge->low = own.low;
    knowledge->grows = own.low == 0;
}

struct stack_memory stack_memory_around(struct stack_knowledge *knowledge, uint64_t sp)
{
    struct stack_memory foreign = {page_of(sp), page_of(sp), false};

    if (knowledge->top == 0)
        bounds_find(knowledge);
    if (knowledge->grows && (knowledge->low == 0 || sp < knowledge->low) &&
        is_connected(knowledge, sp))
        knowledge->low = page_of(sp);
    if (stack_is_own(knowledge, sp))
        return stack_memory_of_own(knowledge, sp);
    stack_memory_reach(&foreign, sp);
    return foreign;
}

bool stack_memory_reach(struct stack_memory *memory, uint64_t address)
{
    uint64_t last = address + 7;

    if (memory->is_own || address < memory->low || last < address ||
        (last - memory->low) / PAGE_BYTES > REACH_PAGES)
        return stack_memory_has(memory, address);
    while (memory->high <= last) {
        if (!memory_is_readable(memory->high))
            return false;
        memory->high += PAGE_BYTES;
    }
    return true;
}
