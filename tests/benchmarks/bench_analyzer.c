/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analyzer's accounting: events per second, from memory, with few and with many live blocks,
 * and the memory that the live set takes for a block at its largest. And a second reading of the
 * same events, in which each block is told with its whole life.
 *
 * Events come in batches as a reader makes them, and making them is not timed. Each pair of events
 * frees a random live block and makes one that is not alive.
 */
#include "bench.h"
#include "lives.h"
#include "model.h"
#include "tally.h"

enum { batch_events = 1 << 13, site_count = 3000 };

struct script {
    uint64_t *live;
    size_t live_count;
    uint64_t spare; /* a block that is not alive */
    uint64_t seed, time_ns;
    uint32_t first_site;
    struct event batch[batch_events];
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static uint64_t address_of(uint64_t block)
{
    return UINT64_C(0x7f0000000000) + block * 48;
}

static struct event make(struct script *script, enum event_kind kind, uint64_t block)
{
    return (struct event){.time_ns = script->time_ns += 30,
                          .kind = (uint8_t)kind,
                          .address = address_of(block),
                          .value = kind == EVENT_ALLOC ? 16 + block % 48 * 8 : 0,
                          .site =
                              script->first_site + (uint32_t)(block * 2654435761U % site_count)};
}

static void feed(struct tally *tally, const struct event *events, size_t count)
{
    struct mt_error error;

    if (tally_feed(tally, events, count, &error) != MT_OK)
        exit(1);
}

static void make_alive(struct script *script, struct tally *tally)
{
    for (size_t i = 0; i < script->live_count; i++) {
        struct event event = make(script, EVENT_ALLOC, i);

        script->live[i] = i;
        feed(tally, &event, 1);
    }
    script->spare = script->live_count;
}

/* One core's time, whatever else the machine does. */
static uint64_t processor_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

static void make_churn(struct script *script)
{
    for (size_t i = 0; i < batch_events; i += 2) {
        uint64_t *slot = &script->live[next_random(&script->seed) % script->live_count];
        uint64_t freed = *slot;

        *slot = script->spare;
        script->batch[i] = make(script, EVENT_FREE, freed);
        script->batch[i + 1] = make(script, EVENT_ALLOC, script->spare);
        script->spare = freed;
    }
}

/* Returns the nanoseconds that the accounting of one batch took. */
static uint64_t churn(struct script *script, struct tally *tally)
{
    uint64_t start_ns;

    make_churn(script);
    start_ns = processor_ns();
    feed(tally, script->batch, batch_events);
    return processor_ns() - start_ns;
}

/* The events of the same script, as a source. */
struct reading {
    struct script *script;
    size_t made_count;  /* blocks of the start */
    size_t given_count; /* of the newest churn; all given: batch_events */
    size_t batches_left;
    uint64_t started_ns;  /* after the start; 0: not yet */
    uint64_t making_ns;   /* of events since then */
    uint64_t over_count;  /* blocks that were told */
    uint64_t lifetime_ns; /* so that nothing of it is left out */
};

static enum mt_result reading_rewind(void *context, struct mt_error *error)
{
    (void)context;
    (void)error;
    return MT_OK;
}

static enum mt_result reading_next(void *context, struct event *batch, size_t capacity,
                                   size_t *count, struct mt_error *error)
{
    struct reading *reading = context;
    struct script *script = reading->script;
    uint64_t now_ns = processor_ns();

    (void)error;
    *count = 0;
    for (; reading->made_count < script->live_count && *count < capacity; reading->made_count++)
        batch[(*count)++] = make(script, EVENT_ALLOC, reading->made_count);
    if (*count)
        return MT_OK;
    if (!reading->started_ns)
        reading->started_ns = now_ns;
    if (reading->given_count == batch_events && reading->batches_left) {
        make_churn(script);
        reading->batches_left--;
        reading->given_count = 0;
    }
    while (reading->given_count < batch_events && *count < capacity)
        batch[(*count)++] = script->batch[reading->given_count++];
    reading->making_ns += processor_ns() - now_ns;
    return MT_OK;
}

static bool count_life(void *context, const struct life *life)
{
    struct reading *reading = context;

    reading->over_count++;
    reading->lifetime_ns += life->freed_ns - life->born_ns;
    return true;
}

/* Returns the nanoseconds that reading the lives in these batches took, their end included. */
static uint64_t read_lives(struct script *script, struct model *model, size_t batch_count)
{
    struct reading reading = {
        .script = script, .given_count = batch_events, .batches_left = batch_count};
    struct event_source events = {&reading, reading_rewind, reading_next, NULL};
    struct life_visitor visitor = {.context = &reading, .over = count_life};
    struct mt_error error;

    for (size_t i = 0; i < script->live_count; i++)
        script->live[i] = i;
    script->spare = script->live_count;
    if (lives_read(&events, model, &visitor, &error) != MT_OK ||
        reading.over_count != script->live_count + batch_count * batch_events / 2)
        exit(1);
    return processor_ns() - reading.started_ns - reading.making_ns;
}

static uint32_t model_fill(struct model *model)
{
    struct model_process process = {.process_id = 1};
    struct mt_place host = {.device = -1, .kind = MT_KIND_HOST, .module = -1};
    struct model_site site = {.process = model_process(model, &process)};
    struct model_thread thread = {.thread_id = 1};
    uint32_t first;

    model_pool(model, model_text(model, "host", 4));
    model_place(model, host);
    model_thread(model, thread);
    site.address = 0x400000;
    first = model_site(model, site);
    for (uint32_t i = 1; i < site_count; i++) {
        site.address = 0x400000 + i * 32;
        model_site(model, site);
    }
    return first;
}

static void bench(size_t live_count, size_t batch_count, size_t run_count)
{
    static struct script script;
    double rates[bench_max_runs], bytes[bench_max_runs], lives[bench_max_runs];
    char name[128];
    struct mt_error error;

    for (size_t run = 0; run < run_count; run++) {
        struct model *model;
        struct tally *tally;
        uint64_t spent_ns = 0;

        if (model_create(&model, &error) != MT_OK || tally_create(model, &tally, &error) != MT_OK)
            exit(1);
        script = (struct script){.live = malloc(live_count * sizeof(*script.live)),
                                 .live_count = live_count,
                                 .seed = 88172645463325252U,
                                 .first_site = model_fill(model)};
        if (!script.live)
            exit(1);
        make_alive(&script, tally);
        for (size_t i = 0; i < batch_count; i++)
            spent_ns += churn(&script, tally);
        rates[run] = (double)batch_count * batch_events * 1e3 / (double)spent_ns;
        bytes[run] = (double)tally_live_bytes(tally) / (double)live_count;
        tally_destroy(tally);
        lives[run] = (double)batch_count * batch_events * 1e3 /
                     (double)read_lives(&script, model, batch_count);
        model_destroy(model);
        free(script.live);
    }
    snprintf(name, sizeof(name), "accounting, %zu live blocks", live_count);
    bench_report(name, "million events/s", rates, run_count);
    snprintf(name, sizeof(name), "lives, %zu live blocks", live_count);
    bench_report(name, "million events/s", lives, run_count);
    snprintf(name, sizeof(name), "live set, %zu live blocks", live_count);
    bench_report(name, "bytes/block", bytes, run_count);
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t run_count = is_quick ? 1 : 5, batch_count = is_quick ? 10 : 2000;

    bench(10000, batch_count, run_count);
    bench(is_quick ? 20000 : 1000000, batch_count, run_count);
    return 0;
}
