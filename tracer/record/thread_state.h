/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one thread knows about its own recording, and the few instructions that every event takes.
 *
 * It lives in the static thread-local block, so reading it calls nothing and it is there until the
 * thread's last instruction. A thread's state is valid while its generation is the process's: the
 * page with the process's generation is wiped by the kernel in a forked child, so a child sees at
 * its first event that the rings it remembers are its parent's.
 */
#ifndef LEAKTIDE_TRACER_THREAD_STATE_H
#define LEAKTIDE_TRACER_THREAD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "call_site.h"
#include "clock.h"
#include "guard.h"
#include "leaktide/format.h"
#include "leaktide/invariant.h"

struct call_stacks;
struct ring;

struct thread_state {
    uint64_t generation; /* of the process when the ring was taken */
    uint64_t *words;
    uint64_t mask;            /* capacity in words - 1 */
    uint64_t head;            /* position of the next word */
    uint64_t limit;           /* head may come to here before somebody has to look at the ring */
    uint64_t *published_head; /* in the ring's header */
    struct ring *ring;
    struct call_stacks *stacks;      /* of the ring; NULL: not needed yet */
    uint32_t inside;                 /* a bit per layer, and the two below */
    uint32_t commits;                /* how often a ring was taken */
    const char *frames[LAYER_COUNT]; /* where the stack was when the bit was set */
    struct call_site outer_site;     /* of the outermost device call */
};

enum {
    IS_OURS = 1 << LAYER_COUNT,         /* our own code: nothing of it is recorded */
    IS_PUSHING = 1 << (LAYER_COUNT + 1) /* a record is half written */
};

/* A page of its own; zero before the start, in a fresh child, and when recording has stopped. */
struct recording_page {
    _Atomic uint64_t generation;
    _Atomic uint32_t is_introduced; /* its modules were written down */
    _Atomic uint32_t is_settled;    /* its list of modules is its own, not one of a fork */
};

/* Somebody outside wants something: enum mt_rings_attention. Mostly 0. */
extern uint32_t *recorder_attention __attribute__((visibility("hidden")));

extern __thread struct thread_state thread_state __attribute__((tls_model("initial-exec")));
extern struct recording_page *recording_page __attribute__((visibility("hidden")));

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The slow ways; recorder.c. */
bool thread_attach(struct thread_state *thread);
bool thread_make_room(struct thread_state *thread, uint64_t word_count);
bool thread_take_stacks(struct thread_state *thread);

/* Room for word_count words at thread->head, at no cost. */
static inline bool thread_is_ready(const struct thread_state *thread, uint64_t word_count)
{
    return LIKELY(thread->generation ==
                  atomic_load_explicit(&recording_page->generation, memory_order_relaxed)) &&
           LIKELY(thread->head + word_count <= thread->limit);
}

/* It has a ring. False: nothing can be recorded. */
static inline bool thread_is_attached(struct thread_state *thread)
{
    return LIKELY(thread->generation ==
                  atomic_load_explicit(&recording_page->generation, memory_order_relaxed)) ||
           thread_attach(thread);
}

/* Room, after doing what is needed for it. False: this event is not recorded. */
static inline bool thread_has_room(struct thread_state *thread, uint64_t word_count)
{
    if (!thread_is_attached(thread))
        return false;
    return LIKELY(thread->head + word_count <= thread->limit) ||
           thread_make_room(thread, word_count);
}

/*
 * Around the writing of a record: an event that a signal handler causes in between must not be
 * written into its middle; it is counted as lost. Returns what push_end wants back.
 */
static inline uint32_t push_begin(struct thread_state *thread)
{
    uint32_t before = thread->inside;

    thread->inside = before | IS_PUSHING;
    atomic_signal_fence(memory_order_seq_cst);
    return before;
}

static inline void push_end(struct thread_state *thread, uint32_t before)
{
    atomic_signal_fence(memory_order_seq_cst);
    thread->inside = before;
}

/* Both: a handler that comes between them may take the room. False: this event is not recorded. */
static inline bool push_begin_with_room(struct thread_state *thread, uint64_t word_count,
                                        uint32_t *before)
{
    while (thread_has_room(thread, word_count)) {
        *before = push_begin(thread);
        if (LIKELY(thread->head + word_count <= thread->limit))
            return true;
        push_end(thread, *before);
    }
    return false;
}

/* What was put is a record now; the drainer may see it. */
static inline void thread_publish(struct thread_state *thread, uint64_t head)
{
    MT_ASSERT(thread->head <= head);
    MT_ASSERT(head <= thread->limit);
    thread->head = head;
    __atomic_store_n(thread->published_head, head, __ATOMIC_RELEASE);
}

static inline void thread_put(struct thread_state *thread, uint64_t offset, uint64_t word)
{
    thread->words[(thread->head + offset) & thread->mask] = word;
}

#endif
