/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings under a model checker: every order in which two writers and the consumer can see each
 * other's reads and writes.
 *
 * Each writer takes a slot, has a ring of one record there, and writes RECORDS of them: by
 * thread_put and thread_publish, waiting for room in served_wait_for_room. The consumer empties
 * both by ring_drain, and sleeps in rings_file_sleep when there is nothing. All of these are the
 * real functions. What the checker cannot run is replaced below: the encoder (which looks at the
 * words instead), the file of the trace, the clock (which stands still: nobody gives up), and the
 * kernel's futex (without a timeout: a wake that is lost leaves somebody asleep for good).
 *
 * Shown: each writer gets a slot of its own; the consumer sees each record whole, once, in its
 * order; nothing counts as lost; nobody sleeps for ever.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#undef open /* a macro of three arguments, with the checker's own headers */
typedef unsigned long ino_t;
int open(const char *path, int flags, ...);
#define LEAKTIDE_INVARIANT_H
#define MT_ASSERT(condition) assert(condition)

#include "consumer_sleep.c"
#include "owner.c"
#include "patience.c"
#include "ring_drain.c"
#include "served.c"
#include "thread_state.h"

#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
enum { RECORD_WORDS = 2, CAPACITY_WORDS = RECORD_WORDS };

/* --- replaced ------------------------------------------------------------------------------ */

/* As the kernel does it: the word is looked at under the lock that the waker takes. */
static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static uint32_t wakes;

void shared_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    uint32_t before;
    bool has_changed;

    (void)timeout_ns;
    pthread_mutex_lock(&kernel);
    has_changed = __atomic_load_n(word, __ATOMIC_SEQ_CST) != seen;
    before = __atomic_load_n(&wakes, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&kernel);
    if (has_changed)
        return;
    while (__atomic_load_n(&wakes, __ATOMIC_ACQUIRE) == before)
        ;
}

/* Whoever waits anywhere is woken: a futex may return for no reason. */
void shared_wake(const uint32_t *word)
{
    (void)word;
    pthread_mutex_lock(&kernel);
    __atomic_fetch_add(&wakes, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&kernel);
}

uint64_t clock_now_ns(clockid_t clock)
{
    (void)clock;
    return 0;
}

void chunk_encoder_init(struct chunk_encoder *encoder, unsigned time_shift, uint64_t start_ticks)
{
    (void)encoder, (void)time_shift, (void)start_ticks;
}

size_t chunk_pack(struct mt_chunk_header *header, const uint8_t *raw, size_t raw_bytes,
                  enum chunk_effort effort, struct ZSTD_CCtx_s *zstd, uint8_t *out,
                  size_t out_bytes)
{
    (void)header, (void)raw, (void)raw_bytes, (void)effort, (void)zstd, (void)out, (void)out_bytes;
    return 1;
}

uint64_t trace_file_append(struct trace_file *trace, const void *bytes, size_t size_bytes)
{
    (void)trace, (void)bytes;
    return size_bytes;
}

/* The word at a position: that of no other record, writer or moment. */
static uint64_t word_of(const uint64_t *words, uint64_t position)
{
    return (uint64_t)(uintptr_t)words + 1 + position;
}

size_t chunk_encode(struct chunk_encoder *encoder, const uint64_t *words, uint64_t capacity_words,
                    uint64_t begin, uint64_t end, struct chunk_raw *out)
{
    (void)encoder;
    assert(capacity_words == CAPACITY_WORDS);
    assert(begin % RECORD_WORDS == 0 && end % RECORD_WORDS == 0);
    for (uint64_t position = begin; position < end; position++)
        assert(words[position & (CAPACITY_WORDS - 1)] == word_of(words, position));
    out->size_bytes = 1;
    out->end_position = end;
    out->event_count = (uint32_t)((end - begin) / RECORD_WORDS);
    out->malformed_count = 0;
    out->bytes = NULL;
    out->first_time = out->last_time = 0;
    return out->event_count;
}

/* --- the run ------------------------------------------------------------------------------- */

static struct mt_rings_header run;
static struct mt_rings_slot slots[WRITERS];
static struct mt_rings_process place;
static struct mt_file_header trace_header;
static ZSTD_CCtx *drainer_of_consumer; /* of its 3 MiB only the first field is looked at */

static struct trace_file trace;

/* Filled field by field: the checker cannot clear structures of arrays. */
static struct modelled_ring {
    struct mt_ring_header header;
    uint64_t words[CAPACITY_WORDS];
    struct ring ring;
    struct thread_state thread;
    struct drain drain;
    uint32_t takers;
} rings[WRITERS];

static void record_write(struct thread_state *thread, struct ring *ring)
{
    uint64_t end = thread->head + RECORD_WORDS;

    if (end > ring_tail(ring) + CAPACITY_WORDS)
        assert(served_wait_for_room(ring, end - CAPACITY_WORDS));
    thread->limit = ring_tail(ring) + CAPACITY_WORDS;
    for (uint64_t i = 0; i < RECORD_WORDS; i++)
        thread_put(thread, i, word_of(thread->words, thread->head + i));
    thread_publish(thread, end);
}

static void *writer(void *unused)
{
    int64_t slot = claim(take_slot, &run.slots_end, WRITERS);
    struct modelled_ring *own = &rings[slot];

    (void)unused;
    assert(slot >= 0);
    assert(own->takers++ == 0); /* and a race, if two had it */
    for (int record = 0; record < RECORDS; record++)
        record_write(&own->thread, &own->ring);
    served_wake(); /* the consumer would look by itself, after a while */
    return NULL;
}

static void *consumer(void *unused)
{
    uint64_t taken = 0;

    (void)unused;
    while (taken < WRITERS * RECORDS * RECORD_WORDS) {
        uint32_t seen = shared_load(&run.wake_count);

        taken = 0;
        for (int i = 0; i < WRITERS; i++) {
            ring_drain((struct drainer *)&drainer_of_consumer, &rings[i].drain);
            taken += ring_header_tail(&rings[i].header);
        }
        if (taken < WRITERS * RECORDS * RECORD_WORDS)
            rings_file_sleep(&file, seen, 0);
    }
    return NULL;
}

static void ring_make(struct modelled_ring *made)
{
    made->ring.header = &made->header;
    made->thread.words = made->words;
    made->thread.mask = CAPACITY_WORDS - 1;
    made->thread.published_head = &made->header.head;
    made->drain.header = &made->header;
    made->drain.words = made->words;
    made->drain.capacity_words = CAPACITY_WORDS;
    made->drain.trace = &trace;
    made->drain.lost_counts = place.consumer_lost_counts;
}

int main(void)
{
    pthread_t threads[WRITERS + 1];

    file.header = &run;
    file.slots = slots;
    file.slot_max = WRITERS;
    run.service = MT_RINGS_SERVED;
    run.slots_end = WRITERS;
    trace.header = &trace_header;
    process = &place;
    for (int i = 0; i < WRITERS; i++) {
        slots[i].state = MT_RINGS_READY;
        ring_make(&rings[i]);
    }
    pthread_create(&threads[WRITERS], NULL, consumer, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert(trace_header.event_count == WRITERS * RECORDS);
    for (int reason = 0; reason < MT_LOST_KINDS; reason++)
        assert(place.consumer_lost_counts[reason] == 0);
    return 0;
}
