/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To preload into CPython: at every allocation and every free a stack with frames of Python is
 * made as the recorder makes it, and each fifth compared with one that is made from nothing that
 * was remembered: all frames read anew, names and lines from the code objects, merged from the
 * outside to the inside. A program can ask for its own frames, to compare them with sys._getframe.
 *
 * Exported: compared_read, compared_text, compared_counts, compared_lose, compared_start,
 * compared_look_for_switch, compared_watch_objects.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "python_deaths.h"
#include "python_stacks.h"
#include "python_switch.h"
#include "recorder.h"

enum {
    STORE_BYTES = 1 << 30, /* of address space */
    CODES = 1 << 24,
    CODE_BYTES = 1 << 22,
    FEW_FRAMES = 9,
    NAMED_MAX = 512,
    COMPARED_EVERY = 5
};

#define EXPORT __attribute__((visibility("default")))

int compared_read(uint64_t (*frames)[3], int most);
const char *compared_text(uint64_t id);
void compared_counts(uint64_t *out);
void compared_lose(void);
void compared_look_for_switch(void);
void compared_start(int event_every, int dealloc_at);
void compared_watch_objects(void);

/* glibc's own, which no preloaded library stands before. */
void *__libc_malloc(size_t size_bytes);
void *__libc_calloc(size_t count, size_t size_bytes);
void *__libc_realloc(void *address, size_t size_bytes);
void __libc_free(void *address);

static struct unwinder unwinder;
static uint32_t every = 1;
static _Atomic bool is_ready;
static struct {
    _Atomic uint64_t stacks, frames, wrong, resumed, dying, named;
} counts;

/* What the recorder was told. A text is its length, in two bytes, and its bytes. */
static char *store;
static _Atomic uint64_t store_used = 2; /* text 0 is empty */
static struct {
    uint64_t function, file;
} * codes;

struct thread {
    struct unwind_thread unwind;
    struct python_stacks stacks;
    struct python_frames truth;
    uint64_t events;
    uint64_t last[MT_STACK_FRAMES_MAX];
    uint32_t last_count;
    uint32_t last_name; /* of merged stacks; the last NAMED_MAX of them are kept */
    struct named {
        uint32_t count, flags;
        uint64_t pcs[MT_STACK_FRAMES_MAX];
    } named[NAMED_MAX];
    uint64_t codes[CODE_BYTES / 8];
};

static __thread struct thread *this_thread __attribute__((tls_model("initial-exec")));
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static void *map(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        _exit(99);
    return memory;
}

/* --- the recorder ----------------------------------------------------------------------- */

uint64_t recorder_text(struct text text)
{
    uint64_t at = atomic_fetch_add(&store_used, text.size_bytes + 2);
    uint16_t size = (uint16_t)text.size_bytes;

    if (at + text.size_bytes + 2 > STORE_BYTES)
        _exit(98);
    memcpy(store + at, &size, 2);
    memcpy(store + at + 2, text.bytes, size);
    return at;
}

void recorder_push(enum mt_record_code code, const uint64_t *fields)
{
    if (code != MT_RECORD_code || fields[0] >= CODES)
        _exit(97);
    codes[fields[0]].function = fields[1];
    codes[fields[0]].file = fields[2];
}

static bool is_text(uint64_t id, const char *text, size_t size_bytes)
{
    uint16_t size;

    memcpy(&size, store + id, 2);
    return size == size_bytes && memcmp(store + id + 2, text, size_bytes) == 0;
}

/* --- what is true ----------------------------------------------------------------------- */

/* Does the word say what the frame's code says? */
static bool is_word_of(uint64_t word, const struct python_frame *frame)
{
    uint64_t id = (word & ~MT_FRAME_IS_CODE) >> MT_FRAME_LINE_BITS;
    uint64_t line = word & ((1 << MT_FRAME_LINE_BITS) - 1);
    static __thread char text[PYTHON_TEXT_MAX] __attribute__((tls_model("initial-exec")));
    struct python_line_place start = {0, 0, 0};
    uint32_t generation;

    if (!(word & MT_FRAME_IS_CODE) || id >= CODES)
        return false;
    if (python_is_dying(frame->code, &generation)) { /* its texts may be gone */
        counts.dying++;
        return true;
    }
    return is_text(codes[id].function, text, python_function(frame->code, text, sizeof(text))) &&
           is_text(codes[id].file, text, python_file(frame->code, text, sizeof(text))) &&
           line == python_line(frame->code, python_frame_offset(frame), &start);
}

/* A merged stack on its way, compared as it goes. */
struct truth {
    const struct python_frame *frames; /* of Python alone, outermost first */
    uint32_t count, next;
    const struct unwind_stack *merged;
    uint32_t left_out, at;
    bool is_right;
};

static void expect(struct truth *truth, bool is_frame_of_python, uint64_t pc)
{
    const struct python_frame *frame = is_frame_of_python ? &truth->frames[truth->next++] : NULL;
    uint64_t word;

    if (truth->left_out) {
        truth->left_out--;
        return;
    }
    if (truth->at == truth->merged->count) {
        truth->is_right = false;
        return;
    }
    word = truth->merged->pcs[truth->at++];
    truth->is_right &= frame ? is_word_of(word, frame) : word == pc;
}

static void expect_group(struct truth *truth)
{
    do
        expect(truth, true, 0);
    while (truth->next < truth->count && !truth->frames[truth->next].is_entry);
}

static uint32_t count_groups(const struct truth *truth)
{
    uint32_t groups = truth->count && !truth->frames[0].is_entry;

    for (uint32_t i = 0; i < truth->count; i++)
        groups += truth->frames[i].is_entry;
    return groups;
}

static bool is_merged(struct truth *truth, const uint64_t *pcs, uint32_t count)
{
    uint32_t groups = count_groups(truth), loops = 0;

    truth->is_right = true;
    truth->left_out =
        truth->count + count > MT_STACK_FRAMES_MAX ? truth->count + count - MT_STACK_FRAMES_MAX : 0;
    for (uint32_t i = 0; i < count; i++)
        loops += python_runs_at(pcs[i]);
    for (; groups > loops; groups--)
        expect_group(truth);
    for (uint32_t i = 0; i < count; i++) {
        if (python_runs_at(pcs[i])) {
            if (groups == loops && groups) {
                expect_group(truth);
                groups--;
            }
            loops--;
        }
        expect(truth, false, pcs[i]);
    }
    return truth->is_right && truth->at == truth->merged->count && truth->next == truth->count;
}

/* Its hash, and what it says that it shares with the stack before. */
static bool is_in_order(struct thread *thread, const struct unwind_stack *merged)
{
    uint64_t hash = 0;
    uint32_t shared = merged->reused_count;
    bool is_right = shared <= merged->count && shared <= thread->last_count &&
                    memcmp(thread->last, merged->pcs, shared * sizeof(*thread->last)) == 0;

    for (uint32_t i = 0; i < merged->count; i++)
        hash = unwind_hash(hash, merged->pcs[i]);
    memcpy(thread->last, merged->pcs, merged->count * sizeof(*thread->last));
    thread->last_count = merged->count;
    return is_right && merged->hash == unwind_hash_end(hash);
}

static void compare(struct thread *thread, const uint64_t *pcs, uint32_t count, uint32_t most,
                    bool is_named, const struct unwind_stack *merged)
{
    struct python_frames *all = &thread->truth;
    struct truth truth = {.merged = merged};
    uint32_t cut;

    python_frames_forget(all);
    python_frames_read(all);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->frames[i].is_python)
            all->fresh[truth.count++] = all->frames[i];
    cut = truth.count > most ? truth.count - most : 0;
    truth.frames = all->fresh + cut;
    truth.count -= cut;
    counts.stacks++;
    counts.frames += truth.count;
    counts.resumed += is_named ? 0 : merged->reused_count;
    counts.wrong += !is_merged(&truth, pcs, count);
}

/* --- stacks ----------------------------------------------------------------------------- */

static struct thread *thread_here(void)
{
    if (!this_thread) {
        struct thread *thread = map(sizeof(*thread));

        python_stacks_init(&thread->stacks, thread->codes, sizeof(thread->codes));
        this_thread = thread;
    }
    return this_thread;
}

/* The stack that has this name; or it gets one, as the set of stacks would give it. */
static void name(struct thread *thread, bool is_named, struct unwind_stack *stack)
{
    struct named *named;

    if (is_named) {
        named = &thread->named[*stack->name % NAMED_MAX];
        stack->pcs = named->pcs;
        stack->count = named->count;
        stack->flags = named->flags;
        counts.named++;
    } else if (stack->name) {
        *stack->name = ++thread->last_name;
        named = &thread->named[thread->last_name % NAMED_MAX];
        memcpy(named->pcs, stack->pcs, stack->count * sizeof(*named->pcs));
        named->count = stack->count;
        named->flags = stack->flags;
    }
}

/* Now and then a few frames only, and none of C. */
static void look(const struct unwind_registers *start, bool is_whole, struct unwind_stack *stack)
{
    struct thread *thread = thread_here();
    uint32_t most = is_whole || thread->events % 64 ? MT_STACK_FRAMES_MAX : FEW_FRAMES, count;
    bool has_native = is_whole || thread->events / 256 % 4, is_named;
    uint32_t first_name;
    struct unwind_stack unlaid;
    static __thread uint64_t native[UNWIND_MAX_FRAMES] __attribute__((tls_model("initial-exec")));

    thread->events++;
    if (has_native) {
        unwind_recall(&unwinder, &thread->unwind, start, stack);
    } else {
        native[0] = start->pc;
        *stack = (struct unwind_stack){.pcs = native, .count = 1, .hash = start->pc};
    }
    count = stack->count;
    unlaid = *stack;
    if (stack->pcs)
        memcpy(native, stack->pcs, count * sizeof(*native));
    first_name = thread->last_name < NAMED_MAX ? 1 : thread->last_name - NAMED_MAX + 1;
    is_named = python_stacks_merge(&thread->stacks, &thread->unwind, most, first_name, stack);
    counts.wrong += !is_named && !is_in_order(thread, stack);
    name(thread, is_named, stack);
    if (!is_whole && thread->events % COMPARED_EVERY)
        return;
    if (!unlaid.pcs) {
        if (is_named)
            unwind_lay_out(&thread->unwind, &unlaid);
        memcpy(native, thread->unwind.pcs, count * sizeof(*native));
    }
    compare(thread, native, count, most, is_named, stack);
}

/* greenlet frees a copy of a stack before the thread has its other state. */
static bool is_switching(const struct unwind_registers *start)
{
    struct unwind_stack stack;

    if (!python_switch_is_here())
        return false;
    unwind_capture(&unwinder, &thread_here()->unwind, start, &stack);
    return python_switch_is_under_way(&stack);
}

static void event(struct unwind_registers start, bool is_free)
{
    static __thread uint32_t skipped __attribute__((tls_model("initial-exec")));
    struct unwind_stack stack;
    int error = errno;

    if (!is_ready || is_inside || !python_is_here() || ++skipped < every)
        return;
    skipped = 0;
    is_inside = true;
    if (!is_free || !is_switching(&start))
        look(&start, false, &stack);
    is_inside = false;
    errno = error;
}

EXPORT void *malloc(size_t size_bytes)
{
    event(unwind_caller(), false);
    return __libc_malloc(size_bytes);
}

EXPORT void *calloc(size_t count, size_t size_bytes)
{
    event(unwind_caller(), false);
    return __libc_calloc(count, size_bytes);
}

EXPORT void *realloc(void *address, size_t size_bytes)
{
    event(unwind_caller(), false);
    return __libc_realloc(address, size_bytes);
}

EXPORT void free(void *address)
{
    event(unwind_caller(), true);
    __libc_free(address);
}

/* --- for the program -------------------------------------------------------------------- */

/* The caller's frames of Python, innermost first: text of the function, of the file, line. */
EXPORT int compared_read(uint64_t (*frames)[3], int most)
{
    struct unwind_registers start = unwind_caller();
    struct unwind_stack stack;
    int count = 0;

    is_inside = true;
    look(&start, true, &stack);
    for (uint32_t i = stack.count; i-- > 0 && count < most;) {
        uint64_t word = stack.pcs[i], id = (word & ~MT_FRAME_IS_CODE) >> MT_FRAME_LINE_BITS;

        if (!(word & MT_FRAME_IS_CODE))
            continue;
        frames[count][0] = codes[id].function;
        frames[count][1] = codes[id].file;
        frames[count++][2] = word & ((1 << MT_FRAME_LINE_BITS) - 1);
    }
    is_inside = false;
    return stack.flags & UNWIND_TRUNCATED ? -count : count;
}

EXPORT const char *compared_text(uint64_t id)
{
    return store + id;
}

EXPORT void compared_counts(uint64_t *out)
{
    const uint64_t all[] = {counts.stacks, counts.frames,      counts.wrong, counts.resumed,
                            counts.dying,  python_death_count, counts.named};

    memcpy(out, all, sizeof(all));
}

/* Somebody else has put a destructor into the type of codes, and ours is not called. */
static void (**destroy_slot)(void *code);
static void (*first_destroy)(void *code);

static void other_destroy(void *code)
{
    first_destroy(code);
}

EXPORT void compared_lose(void)
{
    *destroy_slot = other_destroy;
}

/* PyMemAllocatorEx */
struct allocator {
    void *context; /* ours: the real one */
    void *(*malloc)(void *context, size_t size_bytes);
    void *(*calloc)(void *context, size_t count, size_t size_bytes);
    void *(*realloc)(void *context, void *address, size_t size_bytes);
    void (*free)(void *context, void *address);
};

static void *object_malloc(void *real, size_t size_bytes)
{
    const struct allocator *allocator = real;

    event(unwind_caller(), false);
    return allocator->malloc(allocator->context, size_bytes);
}

static void *object_calloc(void *real, size_t count, size_t size_bytes)
{
    const struct allocator *allocator = real;

    event(unwind_caller(), false);
    return allocator->calloc(allocator->context, count, size_bytes);
}

static void *object_realloc(void *real, void *address, size_t size_bytes)
{
    const struct allocator *allocator = real;

    event(unwind_caller(), false);
    return allocator->realloc(allocator->context, address, size_bytes);
}

static void object_free(void *real, void *address)
{
    const struct allocator *allocator = real;

    event(unwind_caller(), true);
    allocator->free(allocator->context, address);
}

/* An interpreter whose objects cannot come from malloc: its own allocators are looked at. */
EXPORT void compared_watch_objects(void)
{
    void (*get)(int, void *) = (void (*)(int, void *))dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    void (*set)(int, void *) = (void (*)(int, void *))dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    enum { OF_MEMORY = 1, OF_OBJECTS, DOMAINS };
    static struct allocator real[DOMAINS];

    for (int domain = OF_MEMORY; domain <= OF_OBJECTS; domain++) {
        struct allocator ours = {&real[domain], object_malloc, object_calloc, object_realloc,
                                 object_free};

        get(domain, &real[domain]);
        set(domain, &ours);
    }
}

/* Call after greenlet was imported. */
EXPORT void compared_look_for_switch(void)
{
    is_inside = true;
    python_switch_look();
    is_inside = false;
}

/*
 * Looks at each event_every-th allocation or free; at what the program asks, always. dealloc_at:
 * where a type has its destructor, in bytes.
 */
EXPORT void compared_start(int event_every, int dealloc_at)
{
    is_inside = true;
    every = (uint32_t)event_every;
    destroy_slot = (void (**)(void *))((char *)dlsym(RTLD_DEFAULT, "PyCode_Type") + dealloc_at);
    first_destroy = *destroy_slot;
    python_find(true);
    unwinder_objects_came(&unwinder);
    is_inside = false;
    is_ready = true;
}

static __attribute__((constructor)) void begin(void)
{
    is_inside = true;
    store = map(STORE_BYTES);
    codes = map(CODES * sizeof(*codes));
    unwinder_prepare(&unwinder);
    is_inside = false;
}
