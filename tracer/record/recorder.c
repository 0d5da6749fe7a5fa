/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements recorder.h and guard.h: the calling thread's side of recording.
 *
 * Invariant: a record is whole in the ring before the ring's head passes it, so whoever reads a
 * ring, even after a kill, reads whole records only.
 */
#define _GNU_SOURCE
#include "recorder.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "alone.h"
#include "call_stacks.h"
#include "guard.h"
#include "host_records.h"
#include "module_list.h"
#include "own_memory.h"
#include "recording.h"
#include "recording_state.h"
#include "ring.h"
#include "served.h"
#include "stamp.h"
#include "thread_state.h"

static struct recording_page idle_page = {.is_settled = 1};
struct recording_page *recording_page = &idle_page;
bool clock_has_counter;

__thread struct thread_state thread_state
    __attribute__((tls_model("initial-exec"))) = {.generation = UINT64_MAX}; /* of no process */

static _Atomic uint64_t step_number;
static _Atomic uint64_t first_step, last_step; /* to be recorded; 0: all */
static _Atomic uint64_t range_number;
static _Atomic bool keeps_history;
static _Atomic bool is_pause_told;        /* the recording says that it is paused */
static _Atomic uint64_t devices_left_out; /* bit n: device n */

/* --- layers ----------------------------------------------------------------------------- */

/*
 * The bit is set: are we really inside that call, or was it left by longjmp? A call further in
 * stands lower on the stack. (On another stack, of a signal or a coroutine, the answer may be
 * wrong; then one event is recorded twice or not at all, and nothing breaks.)
 */
static bool is_left_over(const struct thread_state *thread, int bit, const char *frame)
{
    return frame > thread->frames[bit];
}

/* Layers of one vendor: a hook of any of them reads the counters of its devices. */
enum {
    NPU_LAYERS = 1 << LAYER_DRIVER | 1 << LAYER_RUNTIME | 1 << LAYER_LAUNCH | 1 << LAYER_MSTX,
    GPU_LAYERS = 1 << LAYER_CUDA_RUNTIME | 1 << LAYER_CUDA_DRIVER
};

static uint32_t no_counters;
static uint32_t *counters_wanted = &no_counters; /* layers; somebody outside says so */

/*
 * The vendor's counters need the program's context, so a thread of it reads them on its way into a
 * hook, before that changes them, or out of it. What the runtime does for that is not the
 * program's.
 */
static __attribute__((noinline)) void counters_take(enum layer layer)
{
    struct thread_state *thread = &thread_state;
    uint32_t layers = 1u << layer & NPU_LAYERS ? NPU_LAYERS : GPU_LAYERS, inside = thread->inside;
    int error = errno;

    if (!recording_header() ||
        !(__atomic_fetch_and(counters_wanted, ~layers, __ATOMIC_RELAXED) & layers) ||
        recorder_is_paused())
        return;
    thread->inside |= IS_OURS;
    recording_setup()->counters(layers == NPU_LAYERS ? COUNTERS_NPU : COUNTERS_GPU);
    thread->inside = inside;
    errno = error;
}

/* Nobody outside says when: a process that is alone looks at a clock, some ms behind, on the way
 * in. */
static void counters_are_due(void)
{
    static _Atomic uint64_t next_ns;
    uint64_t period_ns = recording_setup()->facts.sample_ms * UINT64_C(1000000);
    uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC_COARSE), due_ns = atomic_load(&next_ns);

    if (period_ns && now_ns >= due_ns &&
        atomic_compare_exchange_strong(&next_ns, &due_ns, now_ns + period_ns))
        __atomic_store_n(counters_wanted, UINT32_MAX, __ATOMIC_RELAXED);
}

static inline void counters_look(enum layer layer)
{
    uint32_t bit = 1u << layer & (NPU_LAYERS | GPU_LAYERS);

    if (UNLIKELY(__atomic_load_n(counters_wanted, __ATOMIC_RELAXED) & bit))
        counters_take(layer);
}

bool guard_enter(enum layer layer)
{
    struct thread_state *thread = &thread_state;
    const char *frame = __builtin_frame_address(0);
    uint32_t bit = 1u << layer;

    if (UNLIKELY(thread->inside & (bit | IS_OURS | IS_PUSHING))) {
        if (thread->inside & IS_PUSHING)
            recording_count_lost(MT_LOST_NESTED, 1);
        if (thread->inside & (IS_OURS | IS_PUSHING))
            return false;
        if (!is_left_over(thread, (int)layer, frame))
            return false;
    }
    if (UNLIKELY(__atomic_load_n(recorder_attention, __ATOMIC_RELAXED) & MT_ATTENTION_CHANGES))
        recorder_attend();
    thread->inside |= bit;
    thread->frames[layer] = frame;
    if (UNLIKELY(counters_wanted == &no_counters) && layer != LAYER_HOST)
        counters_are_due();
    counters_look(layer);
    return true;
}

void guard_leave(enum layer layer)
{
    counters_look(layer);
    thread_state.inside &= ~(1u << layer);
}

/* --- room in the ring ------------------------------------------------------------------- */

/*
 * A process that is alone writes to files here: no signal handler runs meanwhile, so none of its
 * events is lost.
 */
struct slow_way {
    uint64_t signals; /* the mask before */
    uint32_t inside;
    int error;
};

static uint64_t signals_set(uint64_t mask)
{
    uint64_t before = 0;

    syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, &before, sizeof(mask));
    return before;
}

static struct slow_way slow_begin(struct thread_state *thread)
{
    struct slow_way way = {.error = errno, .inside = thread->inside};

    thread->inside |= IS_OURS;
    way.signals = signals_set(UINT64_MAX);
    return way;
}

static void slow_end(struct thread_state *thread, struct slow_way way)
{
    signals_set(way.signals);
    thread->inside = way.inside;
    errno = way.error;
}

void recorder_drain_alone(void)
{
    struct slow_way way;

    recording_setup()->look();
    way = slow_begin(&thread_state);
    alone_drain_all();
    slow_end(&thread_state, way);
}

/* Looks at the ring again after half of it: then the consumer is told. */
static void limit_renew(struct thread_state *thread)
{
    const struct ring *ring = thread->ring;
    uint64_t end = ring_tail(ring) + ring->capacity_words;
    uint64_t half = thread->head + ring->capacity_words / 2;

    thread->limit = half < end ? half : end;
}

static void thread_introduce(uint32_t thread_id)
{
    uint64_t fields[2] = {thread_id, 0};
    char name[32] = "";

    if (!recording_makes_no_calls())
        syscall(SYS_prctl, 16 /* PR_GET_NAME */, name, 0, 0, 0);
    fields[1] = recorder_text(text_of(name));
    recorder_push(MT_RECORD_thread, fields);
}

/*
 * A handler that comes in between takes a ring of its own and records in that. Then all fields are
 * written again, so that they belong together.
 */
static void thread_use_ring(struct thread_state *thread, struct ring *ring)
{
    uint32_t commits;

    ring->header->writer_waits = 0; /* a handler may have left a wait by longjmp */
    do {
        commits = *(volatile uint32_t *)&thread->commits;
        *(volatile uint64_t *)&thread->generation = UINT64_MAX; /* of no process, meanwhile */
        atomic_signal_fence(memory_order_seq_cst);
        thread->ring = ring;
        thread->words = ring->words;
        thread->mask = ring->capacity_words - 1;
        thread->published_head = &ring->header->head;
        thread->stacks = ring->stacks;
        thread->head = ring_head(ring);
        limit_renew(thread);
        atomic_signal_fence(memory_order_seq_cst);
        thread->generation =
            atomic_load_explicit(&recording_page->generation, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    } while (commits != *(volatile uint32_t *)&thread->commits);
    thread->commits = commits + 1;
}

static struct ring *ring_create(struct thread_state *thread)
{
    struct ring *ring;
    struct slow_way way;

    if (!recording_is_alone()) {
        ring = served_ring_create();
    } else {
        way = slow_begin(thread);
        ring = alone_ring_create();
        slow_end(thread, way);
    }
    if (!ring)
        return NULL;
    ring->next = atomic_load(&recording_state.rings);
    while (!atomic_compare_exchange_weak(&recording_state.rings, &ring->next, ring))
        ;
    return ring;
}

/* One whose thread is gone, or a new one. */
static struct ring *ring_take(struct thread_state *thread)
{
    struct ring *ring;

    for (ring = atomic_load(&recording_state.rings); ring; ring = ring->next)
        if (ring_adopt(ring)) {
            if (ring->stacks)
                call_stacks_hand_over(ring->stacks);
            return ring;
        }
    return ring_create(thread);
}

bool thread_attach(struct thread_state *thread)
{
    struct ring *ring = NULL;
    int error = errno;
    bool is_attached = false;

    if (thread->inside & IS_OURS || recording_is_impossible())
        return false;
    if (recording_start())
        ring = ring_take(thread);
    if (ring) {
        uint32_t thread_id = ring_owner_id(ring);

        ring->header->thread_id = thread_id;
        thread_use_ring(thread, ring);
        thread_introduce(thread_id);
        modules_introduce();
        is_attached = true;
    }
    errno = error;
    return is_attached;
}

bool thread_make_room(struct thread_state *thread, uint64_t word_count)
{
    struct ring *ring = thread->ring;
    bool is_full = thread->head + word_count > ring_tail(ring) + ring->capacity_words;
    uint64_t position = thread->head + word_count - ring->capacity_words;
    struct slow_way way;
    int error = errno;
    bool has_room = true;

    if (recording_is_alone()) {
        way = slow_begin(thread);
        if (is_full)
            alone_drain_until(ring, position);
        limit_renew(thread);
        if (!(way.inside & IS_OURS)) /* what it records may need room, too */
            recording_setup()->look();
        slow_end(thread, way);
    } else if (is_full) {
        has_room = served_wait_for_room(ring, position);
    } else {
        served_wake();
    }
    errno = error;
    limit_renew(thread);
    /* A handler may have used the room that there was: then the caller comes again. */
    if (has_room && thread->limit < thread->head + word_count &&
        thread->head + word_count <= ring_tail(ring) + ring->capacity_words)
        thread->limit = thread->head + word_count;
    return has_room;
}

bool thread_take_stacks(struct thread_state *thread)
{
    struct ring *ring = thread->ring;
    struct call_stacks *stacks;
    int error = errno;

    if (ring->has_no_stacks || !call_stacks_are_on())
        return false;
    stacks = call_stacks_create();
    if (stacks && ring->stacks) /* a handler was here before */
        call_stacks_destroy(stacks);
    else
        ring->stacks = stacks;
    thread->stacks = ring->stacks;
    ring->has_no_stacks = !ring->stacks;
    errno = error;
    return ring->stacks != NULL;
}

/* --- what somebody outside wants ---------------------------------------------------------- */

static uint32_t no_attention;
uint32_t *recorder_attention = &no_attention;

void recorder_attend_to(struct mt_rings_process *place)
{
    uint32_t before = __atomic_load_n(recorder_attention, __ATOMIC_RELAXED) & MT_ATTENTION_PAUSED;

    own_memory_show(place);
    if (!place) { /* nobody is outside, or not yet: words of our own, in a child with its pause */
        atomic_store_explicit(&is_pause_told, false, memory_order_relaxed);
        no_attention = before;
        recorder_attention = &no_attention;
        counters_wanted = &no_counters;
        return;
    }
    if (recorder_attention == &no_attention) /* said before there was a place */
        __atomic_fetch_or(&place->attention, before, __ATOMIC_RELAXED);
    recorder_attention = &place->attention;
    counters_wanted = &place->counters_wanted;
}

/* The word is not the parent's, or whose place that is by now: of a child without fork handlers. */
static bool is_own_attention(void)
{
    return recorder_attention == &no_attention ||
           atomic_load_explicit(&recording_page->generation, memory_order_relaxed) != 0;
}

static void changes_take(void)
{
    struct mt_rings_process *place = served_process();
    struct mt_rings_change change;
    uint32_t taken, most = MT_RINGS_CHANGES; /* others may write there: never more than fit */

    __atomic_fetch_and(recorder_attention, ~(uint32_t)MT_ATTENTION_CHANGES, __ATOMIC_ACQ_REL);
    if (!place)
        return;
    taken = __atomic_load_n(&place->changes_taken, __ATOMIC_ACQUIRE);
    while (most-- && taken != __atomic_load_n(&place->changes_posted, __ATOMIC_ACQUIRE)) {
        change = place->changes[taken % MT_RINGS_CHANGES];
        /* Each is taken by one thread; who comes second goes on with the next. */
        if (__atomic_compare_exchange_n(&place->changes_taken, &taken, taken + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            recording_setup()->obey(&change);
            taken++;
        }
    }
}

void recorder_attend(void)
{
    if (is_own_attention())
        changes_take();
}

void recorder_pause(bool is_paused)
{
    if (is_paused)
        __atomic_fetch_or(recorder_attention, MT_ATTENTION_PAUSED, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(recorder_attention, ~(uint32_t)MT_ATTENTION_PAUSED, __ATOMIC_RELAXED);
}

bool recorder_is_paused(void)
{
    uint32_t attention = __atomic_load_n(recorder_attention, __ATOMIC_RELAXED);

    if (LIKELY(!attention))
        return false;
    if (!is_own_attention())
        thread_attach(&thread_state);
    if (attention & MT_ATTENTION_CHANGES)
        recorder_attend();
    return __atomic_load_n(recorder_attention, __ATOMIC_RELAXED) & MT_ATTENTION_PAUSED;
}

void recorder_keep_history(bool is_kept)
{
    atomic_store(&keeps_history, is_kept);
}

/* --- records ---------------------------------------------------------------------------- */

struct record_shape {
    uint8_t field_count; /* without a BYTES field */
    bool has_bytes;
};

#define SITE                  1
#define SIZE_AT_SITE          1
#define NEW_ADDRESS           1
#define OLD_ADDRESS           1
#define DICTIONARY            1
#define DELTA                 1
#define PLAIN                 1
#define BYTES                 100
#define FIELD(name, encoding) +encoding
#define RECORD(code, name, fields, meaning)                                                        \
    [code] = {.field_count = (0 fields) % 100, .has_bytes = (0 fields) >= 100},
static const struct record_shape shapes[MT_RECORD_CODE_END] = {
#include "leaktide/records.def"
};
#undef RECORD
#undef FIELD
#undef BYTES
#undef PLAIN
#undef DELTA
#undef DICTIONARY
#undef OLD_ADDRESS
#undef NEW_ADDRESS
#undef SIZE_AT_SITE
#undef SITE

uint64_t recorder_ticks(void)
{
    return stamp_now(&thread_state);
}

/* An event that could not be recorded; before and after a recording there are none. */
static void thread_count_lost(void)
{
    bool has_ring = thread_state.generation ==
                    atomic_load_explicit(&recording_page->generation, memory_order_relaxed);

    if (recording_is_impossible() || thread_state.inside & IS_OURS)
        return;
    recording_count_lost(!has_ring                   ? MT_LOST_MEMORY
                         : recording_state.is_served ? served_lost_reason()
                                                     : MT_LOST_RECORDER,
                         1);
}

static uint64_t record_start(enum mt_record_code code, uint64_t ticks)
{
    return (uint64_t)code | ticks << MT_RING_TIME_SHIFT;
}

void recorder_push_at(enum mt_record_code code, uint64_t ticks, const uint64_t *fields)
{
    struct thread_state *thread = &thread_state;
    uint64_t count = shapes[code].field_count;
    uint64_t *words, mask, head;
    uint32_t before;

    if (!push_begin_with_room(thread, 1 + count, &before)) {
        thread_count_lost();
        return;
    }
    words = thread->words; /* locals: the words could be anything for all the compiler knows */
    mask = thread->mask;
    head = thread->head;
    words[head++ & mask] = record_start(code, ticks);
    for (uint64_t i = 0; i < count; i++)
        words[head++ & mask] = fields[i];
    thread_publish(thread, head);
    push_end(thread, before);
}

void recorder_push(enum mt_record_code code, const uint64_t *fields)
{
    recorder_push_at(code, recorder_ticks(), fields);
}

/* One at a time: those that were written a moment ago cannot be loaded as one word without waiting.
 */
static uint64_t word_of(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;

    while (count--)
        word = word << 8 | bytes[count];
    return word;
}

bool recorder_push_bytes(enum mt_record_code code, const uint64_t *fields, const void *bytes,
                         size_t size_bytes)
{
    struct thread_state *thread = &thread_state;
    uint64_t count = shapes[code].field_count;
    uint64_t word_count = (size_bytes + 7) / 8;
    uint32_t before;

    if (!push_begin_with_room(thread, 2 + count + word_count, &before))
        return false;
    thread_put(thread, 0, record_start(code, recorder_ticks()));
    for (uint64_t i = 0; i < count; i++)
        thread_put(thread, 1 + i, fields[i]);
    thread_put(thread, 1 + count, size_bytes);
    for (uint64_t i = 0; i < word_count; i++) {
        size_t rest = size_bytes - i * 8;

        thread_put(thread, 2 + count + i,
                   word_of((const unsigned char *)bytes + i * 8, rest < 8 ? rest : 8));
    }
    thread_publish(thread, thread->head + 2 + count + word_count);
    push_end(thread, before);
    return true;
}

/* The longest start of a UTF-8 text that fits. */
static size_t text_cut(struct text text)
{
    size_t size = text.size_bytes;

    if (size <= MT_TEXT_MAX)
        return size;
    size = MT_TEXT_MAX;
    while (size && ((unsigned char)text.bytes[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static uint64_t text_id(struct text text)
{
    uint64_t id = XXH64(text.bytes, text.size_bytes, 0);

    return id ? id : 1;
}

/* The bytes of a text of 1 to 8. */
static uint64_t text_word(struct text text)
{
    uint32_t first, last;
    uint64_t word = 0;

    if (LIKELY(text.size_bytes < 4)) {
        word = (unsigned char)text.bytes[0];
        word |= (uint64_t)(unsigned char)text.bytes[text.size_bytes / 2] << 8;
        return word | (uint64_t)(unsigned char)text.bytes[text.size_bytes - 1] << 16;
    }
    memcpy(&first, text.bytes, sizeof(first));
    memcpy(&last, text.bytes + text.size_bytes - sizeof(last), sizeof(last));
    return first | (uint64_t)last << 32;
}

/*
 * As names of pools are: known again without a hash of the text. A handler may come between any
 * two words that are read or written here: then the three do not belong together, and are not used.
 */
static uint64_t short_text_id(struct ring *ring, struct text text)
{
    uint64_t word = text_word(text);
    volatile struct short_text *slot =
        &ring->short_texts[(word ^ word >> 8 ^ text.size_bytes) % RING_SHORT_TEXTS];
    uint64_t known_word = slot->word, id = slot->id, check = slot->check;

    if (LIKELY(known_word == word && (word ^ id ^ check) == text.size_bytes))
        return id;
    id = text_id(text);
    slot->word = word;
    slot->id = id;
    slot->check = word ^ id ^ text.size_bytes;
    return id;
}

uint64_t recorder_text(struct text text)
{
    struct thread_state *thread = &thread_state;
    uint64_t id, *known;

    text.size_bytes = text_cut(text);
    if (!text.size_bytes || !thread_is_attached(thread))
        return 0;
    if (text.size_bytes <= 8)
        id = short_text_id(thread->ring, text);
    else
        id = text_id(text);
    known = &thread->ring->known_texts[id % RING_TEXTS];
    if (UNLIKELY(*known != id) &&
        recorder_push_bytes(MT_RECORD_text, &id, text.bytes, text.size_bytes))
        *known = id;
    return id;
}

/* --- sites ------------------------------------------------------------------------------ */

struct call_site recorder_caller(const struct unwind_registers *from)
{
    struct thread_state *thread = &thread_state;
    uint32_t stack = call_stacks_are_on() ? call_stacks_capture(thread, from) : 0;

    return call_stacks_site(thread, stack, from->pc);
}

struct call_site recorder_site(enum layer layer, struct unwind_registers from)
{
    struct thread_state *thread = &thread_state;
    uint32_t other_layers = ((1u << LAYER_COUNT) - 1) & ~(1u << layer | 1u << LAYER_HOST);

    if (!(thread->inside & other_layers))
        thread->outer_site = recorder_caller(&from);
    return thread->outer_site;
}

/* As it stands in a record of the calling thread. */
static uint64_t site_value(struct call_site site)
{
    const struct call_stacks *stacks = thread_state.stacks;

    if (site.stack && stacks && call_stacks_number(stacks) == site.stacks)
        return MT_SITE_IS_STACK | site.stack;
    return (uintptr_t)site.caller;
}

void record_unseen_python(void)
{
    struct mt_file_header *header = recording_header();

    if (header)
        __atomic_store_n(&header->unseen_python, 1, __ATOMIC_RELAXED);
}

void record_free_site(struct call_site site)
{
    uint64_t value = site_value(site);

    recorder_push(MT_RECORD_free_site, &value);
}

/* What does not fit the packed record: a block of more than 4 GiB, say. */
static void record_host_alloc_wide(const void *address, uint64_t size_bytes, struct call_site site)
{
    static POOL(pool, "host");
    uint64_t place = mt_place_pack((struct mt_place){.device = -1, .module = -1});

    record_alloc(pool, place, (uintptr_t)address, size_bytes, site);
}

void record_host_alloc_slowly(uint32_t inside, const void *address, uint64_t size_bytes,
                              struct call_site site)
{
    struct thread_state *thread = &thread_state;

    if (((uintptr_t)address | (uintptr_t)site.caller) >> MT_RING_PACKED_BITS ||
        size_bytes > UINT32_MAX || site.stack)
        record_host_alloc_wide(address, size_bytes, site);
    else if (!thread_has_room(thread, 3))
        thread_count_lost();
    else if (!recorder_is_paused())
        record_host_alloc(thread, inside, address, size_bytes, site.caller);
    thread->inside = inside;
}

void record_host_free_slowly(uint32_t inside, const void *address, uint64_t ticks)
{
    struct thread_state *thread = &thread_state;

    if (thread_has_room(thread, 2))
        record_host_free(thread, inside, address, ticks);
    else
        thread_count_lost();
    thread->inside = inside;
}

static bool is_left_out(uint64_t place)
{
    uint64_t left_out = atomic_load_explicit(&devices_left_out, memory_order_relaxed);
    int32_t device = left_out ? mt_place_unpack(place).device : -1;

    return UNLIKELY(device >= 0 && device < 64 && (left_out >> device & 1));
}

/* A block that is handed out there now. */
static bool is_passed_over(uint64_t place)
{
    return is_left_out(place) || (recorder_is_paused() && !(atomic_load(&keeps_history) &&
                                                            mt_place_unpack(place).device >= 0));
}

void record_alloc(struct text pool, uint64_t place, uint64_t address, uint64_t size_bytes,
                  struct call_site site)
{
    if (is_passed_over(place))
        return;
    uint64_t fields[] = {site_value(site), size_bytes, address, recorder_text(pool), place};

    recorder_push(MT_RECORD_alloc, fields);
}

void record_free(struct text pool, uint64_t address)
{
    record_free_at(pool, address, recorder_ticks());
}

void record_free_at(struct text pool, uint64_t address, uint64_t ticks)
{
    uint64_t fields[] = {address, recorder_text(pool)};

    recorder_push_at(MT_RECORD_free, ticks, fields);
}

void record_alloc_failed(struct text pool, uint64_t place, uint64_t size_bytes, uint64_t status,
                         struct call_site site)
{
    if (recorder_is_paused() || is_left_out(place))
        return;
    uint64_t fields[] = {site_value(site), size_bytes, recorder_text(pool), place, status};

    recorder_push(MT_RECORD_alloc_failed, fields);
}

/* Another one each time: a program may change them. 0 is infinity, as nobody can ask for less. */
static uint64_t limit_of(int what)
{
    struct rlimit limit;

    return getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

static void note_limits(struct mt_file_header *header)
{
    struct sysinfo machine;

    __atomic_store_n(&header->address_limit_bytes, limit_of(RLIMIT_AS), __ATOMIC_RELAXED);
    __atomic_store_n(&header->data_limit_bytes, limit_of(RLIMIT_DATA), __ATOMIC_RELAXED);
    if (!__atomic_load_n(&header->machine_bytes, __ATOMIC_RELAXED) && sysinfo(&machine) == 0)
        __atomic_store_n(&header->machine_bytes,
                         (uint64_t)(machine.totalram + machine.totalswap) * machine.mem_unit,
                         __ATOMIC_RELAXED);
}

void record_host_refused(struct text pool, uint64_t place, uint64_t size_bytes,
                         struct call_site site)
{
    struct mt_file_header *header = recording_header();

    record_alloc_failed(pool, place, size_bytes, ENOMEM, site);
    if (header && !recorder_is_paused() && !recording_makes_no_calls())
        note_limits(header);
}

void record_pool_reserved(struct text pool, uint64_t place, uint64_t size_bytes)
{
    if (is_left_out(place))
        return;
    uint64_t fields[] = {recorder_text(pool), place, size_bytes};

    recorder_push(MT_RECORD_pool_reserved, fields);
}

void record_operator_begin(struct text name)
{
    if (recorder_is_paused())
        return;
    recorder_push(MT_RECORD_operator_begin, (uint64_t[]){recorder_text(name)});
}

void record_operator_end(struct text name)
{
    if (recorder_is_paused())
        return;
    recorder_push(MT_RECORD_operator_end, (uint64_t[]){recorder_text(name)});
}

void record_range_begin(uint64_t range, struct text name, struct text domain)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {range, recorder_text(name), recorder_text(domain)};

    recorder_push(MT_RECORD_range_begin, fields);
}

void record_range_end(uint64_t range)
{
    recorder_push(MT_RECORD_range_end, &range);
}

void record_mark(struct text name, struct text domain)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {recorder_text(name), recorder_text(domain)};

    recorder_push(MT_RECORD_mark, fields);
}

/* A reader has to know of each step whether it was recorded whole. */
void recorder_tell_pause(void)
{
    bool is_paused = recorder_is_paused();
    uint64_t fields[] = {recorder_text(text_of(MT_NOTE_PAUSE)), 0, 0, is_paused, 0};

    if (atomic_exchange_explicit(&is_pause_told, is_paused, memory_order_relaxed) != is_paused)
        recorder_push(MT_RECORD_note, fields);
}

/* A step that was not chosen is passed over; both sides of the border are exact. */
static void step_choose(uint64_t step)
{
    uint64_t first = atomic_load_explicit(&first_step, memory_order_relaxed);

    if (first)
        recorder_pause(step < first ||
                       step > atomic_load_explicit(&last_step, memory_order_relaxed));
    recorder_tell_pause();
}

static void step_push_begin(uint64_t step, uint64_t range)
{
    uint64_t fields[] = {step, range};

    step_choose(step);
    recorder_push(MT_RECORD_step_begin, fields);
}

static struct mt_file_header *step_count(uint64_t step)
{
    struct mt_file_header *header = recording_header();

    if (header)
        __atomic_store_n(&header->step_count, step, __ATOMIC_RELAXED);
    return header;
}

static _Atomic bool is_marked; /* by the program itself */

uint64_t record_step_begin(uint64_t range)
{
    uint64_t step = atomic_fetch_add_explicit(&step_number, 1, memory_order_relaxed) + 1;

    atomic_store_explicit(&is_marked, true, memory_order_relaxed);
    step_push_begin(step, range);
    step_count(step);
    return step;
}

static uint64_t told_step_begin(uint64_t range)
{
    uint64_t step = recorder_newest_step() + 1;

    step_push_begin(step, range);
    return step;
}

uint64_t record_told_step_begin(void)
{
    atomic_store_explicit(&is_marked, true, memory_order_relaxed);
    return told_step_begin(MT_RANGE_TOLD);
}

void record_profiler_step(uint64_t number)
{
    static _Atomic uint64_t open_step;
    uint64_t before = atomic_load(&open_step);

    if (atomic_load_explicit(&is_marked, memory_order_relaxed) || (before && !number))
        return;
    if (before)
        record_told_step_end(before);
    atomic_store(&open_step, told_step_begin(MT_RANGE_PROFILER));
}

void record_told_step_end(uint64_t step)
{
    struct mt_file_header *header;

    atomic_store_explicit(&step_number, step, memory_order_relaxed);
    record_step_end(step);
    header = step_count(step);
    if (header)
        __atomic_store_n(&header->told_steps, step, __ATOMIC_RELAXED);
}

void record_step_end(uint64_t step)
{
    int error = errno;

    recorder_push(MT_RECORD_step_end, &step);
    if (recording_state.is_served)
        served_step_ended(step);
    errno = error;
}

void record_tag_begin(struct text owner)
{
    recorder_push(MT_RECORD_tag_begin, (uint64_t[]){recorder_text(owner)});
}

void record_tag_end(struct text owner)
{
    recorder_push(MT_RECORD_tag_end, (uint64_t[]){recorder_text(owner)});
}

void record_launch(struct text name, uint64_t place)
{
    if (recorder_is_paused() || is_left_out(place))
        return;
    uint64_t fields[] = {recorder_text(name), place};

    recorder_push(MT_RECORD_launch, fields);
}

void record_access(uint64_t address, uint64_t size_bytes, struct text pool, uint64_t flags)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {address, size_bytes, recorder_text(pool), flags};

    recorder_push(MT_RECORD_access, fields);
}

void record_tensor_access(struct text pool, const struct tensor_use *use)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {use->address,
                         use->size_bytes,
                         recorder_text(pool),
                         use->flags,
                         recorder_text(use->operator_name),
                         recorder_text(use->dtype),
                         recorder_text(use->shape)};

    recorder_push(MT_RECORD_tensor_access, fields);
}

void record_note(const struct note *note)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {recorder_text(note->subject), recorder_text(note->text), note->place,
                         note->first, note->second};

    recorder_push(MT_RECORD_note, fields);
}

void record_sample(struct text counter, uint64_t place, uint64_t value_bytes)
{
    if (recorder_is_paused())
        return;
    uint64_t fields[] = {recorder_text(counter), place, value_bytes};

    recorder_push(MT_RECORD_sample, fields);
}

void record_device_event(struct text name, uint64_t place, uint64_t status)
{
    uint64_t fields[] = {recorder_text(name), place, status};

    recorder_push(MT_RECORD_device_event, fields);
}

void recorder_choose_devices(uint64_t devices)
{
    atomic_store_explicit(&devices_left_out, ~devices, memory_order_relaxed);
}

void recorder_choose_steps(uint64_t first, uint64_t last)
{
    atomic_store_explicit(&last_step, last, memory_order_relaxed);
    atomic_store_explicit(&first_step, first, memory_order_relaxed);
}

uint64_t recorder_newest_step(void)
{
    return atomic_load_explicit(&step_number, memory_order_relaxed);
}

uint64_t recorder_new_range(void)
{
    return atomic_fetch_add_explicit(&range_number, 1, memory_order_relaxed) + 1;
}
