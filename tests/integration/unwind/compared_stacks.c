/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To preload: at every allocation a stack is captured, its id is found, and now and then it is
 * compared with the stack that another unwinder sees.
 *
 *     COMPARED_STACKS_RESULT   file that gets one line of JSON when the process exits
 *     COMPARED_STACKS_EVERY    compare each n-th capture; default 16
 *     COMPARED_STACKS_MODE     "check": each capture is walked twice; "plain": no reuse
 *
 * The other unwinder is libunwind.so.8 where there is one, else that of the compiler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "stack_set.h"

enum { PEER_FRAMES = 1024, EARLY_BYTES = 1 << 16, SET_BYTES = 64 << 20, OWN_FRAMES = 8 };

static struct unwinder unwinder;
static int (*peer_backtrace)(void **pcs, int count); /* libunwind's */
static uint64_t compare_every = 16;
static _Atomic bool is_ready;

static struct {
    _Atomic uint64_t captured, compared, equal, incomplete, wrong, peer_short;
    _Atomic uint64_t frames, reused, new_stacks, wrong_ids, complete;
} counts;

struct thread {
    struct unwind_thread unwind;
    struct stack_set set;
    uint64_t count;
    uint64_t *defined; /* id -> where its pcs begin in `pcs`, with their number in front */
    uint64_t *pcs;
    uint64_t pcs_used;
    void *peer_pcs[PEER_FRAMES];
};

static __thread struct thread *this_thread __attribute__((tls_model("initial-exec")));
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static _Alignas(16) char early[EARLY_BYTES]; /* served until the real functions are known */
static _Atomic size_t early_used;

/* --- the other unwinder ----------------------------------------------------------------- */

struct gathered {
    void **pcs;
    int count;
};

static _Unwind_Reason_Code gather(struct _Unwind_Context *context, void *data)
{
    struct gathered *gathered = data;
    void *pc = (void *)_Unwind_GetIP(context);

    if (gathered->count == PEER_FRAMES || !pc)
        return _URC_END_OF_STACK;
    gathered->pcs[gathered->count++] = pc;
    return _URC_NO_REASON;
}

static int peer_stack(void **pcs)
{
    struct gathered gathered = {pcs, 0};

    if (peer_backtrace)
        return peer_backtrace(pcs, PEER_FRAMES);
    _Unwind_Backtrace(gather, &gathered);
    return gathered.count;
}

/* --- comparing -------------------------------------------------------------------------- */

static void *map(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static struct thread *thread_here(void)
{
    if (!this_thread) {
        struct thread *thread = map(sizeof(*thread));
        void *memory = map(SET_BYTES);

        if (!thread || !memory)
            _exit(99);
        stack_set_init(&thread->set, memory, SET_BYTES);
        thread->defined = map((size_t)1 << 26);
        thread->pcs = map((size_t)1 << 30);
        if (!thread->defined || !thread->pcs)
            _exit(99);
        this_thread = thread;
    }
    return this_thread;
}

/* A stack that is known by its id alone gets the pcs that the id was given for. */
static void look_up(struct thread *thread, struct unwind_stack *stack)
{
    uint32_t id = *stack->name;
    const uint64_t *at = thread->pcs + thread->defined[id];

    stack->pcs = at + 1;
    counts.reused += stack->count;
    counts.wrong_ids += at[0] != stack->count;
}

/* The id must stand for just these pcs, whenever it is given. */
static void check_name(struct thread *thread, const struct unwind_stack *stack)
{
    struct stack_name name;

    stack_set_find(&thread->set, stack, &name);
    if (name.id == 0 || name.id >= ((size_t)1 << 26) / 8)
        return;
    if (name.is_new) {
        uint64_t *at = thread->pcs + thread->pcs_used;

        counts.new_stacks++;
        if (thread->pcs_used + stack->count + 1 > ((size_t)1 << 30) / 8)
            _exit(98);
        at[0] = stack->count;
        memcpy(at + 1, stack->pcs, stack->count * sizeof(*at));
        thread->defined[name.id] = thread->pcs_used;
        thread->pcs_used += stack->count + 1;
    } else {
        const uint64_t *at = thread->pcs + thread->defined[name.id];

        if (at[0] != stack->count || memcmp(at + 1, stack->pcs, stack->count * sizeof(*at)) != 0)
            counts.wrong_ids++;
    }
}

static void show(const char *what, const struct unwind_stack *stack, void **peer, int count)
{
    char line[200];
    int size;

    if (!getenv("COMPARED_STACKS_SHOW"))
        return;
    size = snprintf(line, sizeof(line), "%s flags %x\n", what, stack->flags);
    size = (int)write(2, line, (size_t)size);
    for (int i = 0; i < count || i < (int)stack->count; i++) {
        size = snprintf(line, sizeof(line), "  %llx  %llx\n",
                        i < (int)stack->count
                            ? (unsigned long long)stack->pcs[stack->count - 1 - (uint32_t)i]
                            : 0,
                        i < count ? (unsigned long long)peer[i] : 0);
        size = (int)write(2, line, (size_t)size);
    }
}

/* The peer sees our own frames too, innermost first. */
static void compare(struct thread *thread, const struct unwind_stack *stack)
{
    int count = peer_stack(thread->peer_pcs), skipped = 0, same = 0, rest;
    void **peer = thread->peer_pcs;

    counts.compared++;
    while (skipped < count && skipped < OWN_FRAMES &&
           (uint64_t)peer[skipped] != stack->pcs[stack->count - 1])
        skipped++;
    rest = count - skipped;
    while (same < rest && same < (int)stack->count &&
           (uint64_t)peer[skipped + same] == stack->pcs[(int)stack->count - 1 - same])
        same++;
    if (same == rest && same == (int)stack->count) {
        counts.equal++;
    } else if (!(stack->flags & UNWIND_COMPLETE) && same == (int)stack->count) {
        counts.incomplete++;
        show("incomplete", stack, peer + skipped, rest);
    } else if (same == rest && same > 0 && (stack->flags & UNWIND_COMPLETE)) {
        counts.peer_short++;
        show("peer short", stack, peer + skipped, rest);
    } else {
        counts.wrong++;
        show("wrong", stack, peer + skipped, rest);
    }
}

static __attribute__((noinline)) void look(struct unwind_registers start)
{
    struct thread *thread = thread_here();
    struct unwind_stack stack;

    unwind_recall(&unwinder, &thread->unwind, &start, &stack);
    counts.captured++;
    counts.frames += stack.count;
    counts.complete += (stack.flags & UNWIND_COMPLETE) != 0;
    if (!stack.pcs && stack_set_knows(&thread->set, &stack) &&
        *stack.name < ((size_t)1 << 26) / 8) {
        look_up(thread, &stack);
    } else {
        unwind_lay_out(&thread->unwind, &stack);
        counts.reused += stack.reused_count;
        check_name(thread, &stack);
    }
    if (++thread->count % compare_every == 0 && stack.count)
        compare(thread, &stack);
}

/* --- the hooks -------------------------------------------------------------------------- */

static void prepare(void)
{
    static _Atomic int has_begun;

    if (has_begun++)
        return;
    is_inside = true;
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    is_inside = false;
}

static void *early_alloc(size_t size_bytes)
{
    size_t at = atomic_fetch_add(&early_used, (size_bytes + 31) & ~(size_t)15);

    if (at + size_bytes + 16 > EARLY_BYTES)
        _exit(97);
    *(size_t *)(early + at) = size_bytes;
    return early + at + 16;
}

static bool is_early(const void *address)
{
    return (const char *)address >= early && (const char *)address < early + EARLY_BYTES;
}

#define LOOK()                                                                                     \
    do {                                                                                           \
        if (is_ready && !is_inside) {                                                              \
            is_inside = true;                                                                      \
            look(unwind_caller());                                                                 \
            is_inside = false;                                                                     \
        }                                                                                          \
    } while (0)

#define EXPORT           __attribute__((visibility("default")))
#define REALLY(function) (real_##function ? true : (prepare(), real_##function != NULL))

EXPORT void *malloc(size_t size_bytes)
{
    LOOK();
    return REALLY(malloc) ? real_malloc(size_bytes) : early_alloc(size_bytes);
}

EXPORT void *calloc(size_t count, size_t size_bytes)
{
    LOOK();
    return REALLY(calloc) ? real_calloc(count, size_bytes) : early_alloc(count * size_bytes);
}

EXPORT void *realloc(void *address, size_t size_bytes)
{
    LOOK();
    if (!is_early(address) && REALLY(realloc))
        return real_realloc(address, size_bytes);
    void *moved = REALLY(malloc) ? real_malloc(size_bytes) : early_alloc(size_bytes);

    if (moved && address) {
        size_t old_bytes = *(size_t *)((char *)address - 16);

        memcpy(moved, address, old_bytes < size_bytes ? old_bytes : size_bytes);
    }
    return moved;
}

EXPORT void free(void *address)
{
    if (!address || is_early(address))
        return;
    if (REALLY(free))
        real_free(address);
}

static __attribute__((constructor)) void begin(void)
{
    const char *every = getenv("COMPARED_STACKS_EVERY"), *mode = getenv("COMPARED_STACKS_MODE");
    void *library = NULL;

    prepare();
    if (!getenv("COMPARED_STACKS_RESULT"))
        return;
    is_inside = true;
    if (!getenv("COMPARED_STACKS_LIBGCC"))
        library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library)
        peer_backtrace = (int (*)(void **, int))dlsym(library, "unw_backtrace");
    peer_stack((void *[PEER_FRAMES]){NULL});
    if (every)
        compare_every = strtoull(every, NULL, 10);
    unwinder.is_checking = mode && strcmp(mode, "check") == 0;
    unwinder.is_plain = mode && strcmp(mode, "plain") == 0;
    unwinder_prepare(&unwinder);
    is_inside = false;
    is_ready = true;
}

static __attribute__((destructor)) void end(void)
{
    const char *path = getenv("COMPARED_STACKS_RESULT");
    FILE *file;

    if (!path || !is_ready)
        return;
    is_inside = true;
    is_ready = false;
    file = fopen(path, "a");
    if (!file)
        return;
    fprintf(file,
            "{\"peer\": \"%s\", \"captured\": %llu, \"compared\": %llu, \"equal\": %llu, "
            "\"incomplete\": %llu, \"wrong\": %llu, \"peer_short\": %llu, \"complete\": %llu, "
            "\"frames\": %llu, \"reused\": %llu, \"new_stacks\": %llu, \"wrong_ids\": %llu, "
            "\"mismatches\": %llu, \"rows\": %llu, \"nodes\": %u, \"restarts\": %u}\n",
            peer_backtrace ? "libunwind" : "libgcc", (unsigned long long)counts.captured,
            (unsigned long long)counts.compared, (unsigned long long)counts.equal,
            (unsigned long long)counts.incomplete, (unsigned long long)counts.wrong,
            (unsigned long long)counts.peer_short, (unsigned long long)counts.complete,
            (unsigned long long)counts.frames, (unsigned long long)counts.reused,
            (unsigned long long)counts.new_stacks, (unsigned long long)counts.wrong_ids,
            (unsigned long long)unwinder.mismatch_count,
            (unsigned long long)unwinder.compiled_count,
            this_thread ? this_thread->set.node_count : 0,
            this_thread ? this_thread->set.restart_count : 0);
    fclose(file);
}
