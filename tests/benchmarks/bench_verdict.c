/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From file to verdict: events a second of one core's time, and memory for each live block.
 *
 *     bench_verdict [--quick]
 *
 * Recordings of 1e8 events are made: a set of live blocks, of which one is freed and one made at a
 * time, from sites of one size each, in 100 steps, with one site that leaks. In "brief" nine of
 * ten blocks live for a few dozen others only, as in most programs, and an allocator hands out what
 * was freed last; in "random" any live block may be the next, which nothing can foresee. Then the
 * question "leaks", or "report" for all verdicts, is asked through the public interface, which
 * reads, decodes, matches and judges; the verdict is checked. The reader runs in a child, so that
 * its memory is its own.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "memtide/analyzer.h"
#include "trace_builder.h"

enum {
    RUNS = 3,
    BRIEF_BLOCKS = 64, /* alive at a time */
    SIZES = 5,
    STEPS = 100,
    LEAKED_PER_STEP = 3,
    TICKS_PER_EVENT = 97,
    SITE_BASE = 0x401000
};

struct block {
    uint64_t address;
    uint32_t size_index;
};

/* Freed blocks of one size; the last one is handed out first. */
struct free_list {
    uint64_t *addresses;
    size_t count;
};

struct making {
    struct trace_builder *builder;
    uint64_t random, ticks;
    uint64_t fresh_address;
    struct free_list free_lists[SIZES];
    struct block *kept, brief[BRIEF_BLOCKS];
    size_t kept_count;
    uint32_t brief_share; /* of 256 */
    uint32_t site_count;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_verdict: %s: %s\n", what, why);
    exit(1);
}

static uint32_t random_next(struct making *making)
{
    making->random = making->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(making->random >> 33);
}

static uint64_t next_tick(struct making *making)
{
    making->ticks += TICKS_PER_EVENT + random_next(making) % 32;
    return making->ticks;
}

static struct block make_block(struct making *making, uint32_t site)
{
    struct block block = {.size_index = site % SIZES};
    uint64_t size = 16 + block.size_index * 16;
    struct free_list *list = &making->free_lists[block.size_index];

    if (list->count) {
        block.address = list->addresses[--list->count];
    } else {
        block.address = making->fresh_address;
        making->fresh_address += size + 16;
    }
    trace_builder_host_alloc(making->builder, 0, next_tick(making),
                             (struct built_block){.address = block.address,
                                                  .size = size,
                                                  .site = SITE_BASE + site * 16});
    return block;
}

static void free_block(struct making *making, struct block block)
{
    struct free_list *list = &making->free_lists[block.size_index];

    trace_builder_host_free(making->builder, 0, next_tick(making), block.address);
    list->addresses[list->count++] = block.address;
}

/* A hot site makes most blocks, as in programs; the others share the rest. */
static uint32_t some_site(struct making *making)
{
    uint32_t draw = random_next(making);

    return draw % 4 ? draw / 4 % 8 : draw / 4 % (making->site_count - 1);
}

/* One block goes, one comes: a brief one or one of those that are kept. */
static void replace_block(struct making *making)
{
    bool is_brief = random_next(making) % 256 < making->brief_share;
    struct block *block = is_brief ? &making->brief[random_next(making) % BRIEF_BLOCKS]
                                   : &making->kept[random_next(making) % making->kept_count];

    free_block(making, *block);
    *block = make_block(making, some_site(making));
}

static void make_step(struct making *making, uint64_t step, size_t event_count)
{
    uint64_t begin[] = {step, 0};

    trace_builder_push(making->builder, 0, MT_RECORD_step_begin, next_tick(making), begin);
    for (size_t i = 0; i < event_count / 2; i++)
        replace_block(making);
    for (int i = 0; i < LEAKED_PER_STEP; i++)
        make_block(making, making->site_count - 1);
    trace_builder_push(making->builder, 0, MT_RECORD_step_end, next_tick(making), &step);
}

struct stream {
    const char *name;
    uint32_t brief_share;
    size_t live_count;
    uint32_t site_count;
    const char *question;
};

static void make_trace(const char *folder, const struct stream *stream, size_t event_count)
{
    struct making making = {.random = 42,
                            .fresh_address = UINT64_C(0x555555000000),
                            .brief_share = stream->brief_share,
                            .site_count = stream->site_count};

    making.kept_count = stream->live_count - BRIEF_BLOCKS;
    making.kept = calloc(making.kept_count, sizeof(*making.kept));
    for (size_t i = 0; i < SIZES; i++)
        making.free_lists[i].addresses = calloc(stream->live_count + 1, sizeof(uint64_t));
    making.builder = trace_builder_create(&(struct trace_builder_setup){.time_shift = 4});
    trace_builder_thread(making.builder, 0, next_tick(&making), 1, "main");
    for (size_t i = 0; i < making.kept_count; i++)
        making.kept[i] = make_block(&making, some_site(&making));
    for (size_t i = 0; i < BRIEF_BLOCKS; i++)
        making.brief[i] = make_block(&making, some_site(&making));
    for (uint64_t step = 1; step <= STEPS; step++)
        make_step(&making, step, event_count / STEPS);
    trace_builder_close(making.builder);
    trace_builder_write(making.builder, folder);
    trace_builder_destroy(making.builder);
}

/* Reads and judges; the answer must be the leak that was made. Returns the events read. */
static uint64_t judge(const char *folder, const char *question)
{
    struct mt_error error = {""};
    struct mt_answer *answer;
    struct mt_trace *trace;
    uint64_t events;

    if (mt_trace_open(&folder, 1, &trace, &error) != MT_OK ||
        mt_trace_ask(trace, question, NULL, &answer, &error) != MT_OK)
        die(folder, error.message);
    if (mt_answer_outcome(answer) != MT_OUTCOME_FOUND)
        die(folder, "the leak was not found");
    events = mt_trace_event_count(trace);
    mt_answer_close(answer);
    mt_trace_close(trace);
    return events;
}

struct judged {
    double events_per_us;
    double rss_bytes;
};

/* Of this process so far: one core's time, whatever else the machine does. */
static uint64_t processor_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

static struct judged judge_in_child(const char *folder, const char *question)
{
    struct judged judged = {0, 0};
    struct rusage usage;
    int ends[2], status;
    uint64_t facts[2];
    pid_t child;

    if (pipe(ends) != 0)
        die("pipe", "cannot be made");
    child = fork();
    if (child == 0) {
        facts[0] = judge(folder, question);
        facts[1] = processor_ns();
        _exit(write(ends[1], facts, sizeof(facts)) != sizeof(facts));
    }
    close(ends[1]);
    if (read(ends[0], facts, sizeof(facts)) != sizeof(facts))
        die("child", "no verdict");
    close(ends[0]);
    wait4(child, &status, 0, &usage);
    judged.events_per_us = (double)facts[0] * 1e3 / (double)facts[1];
    judged.rss_bytes = (double)usage.ru_maxrss * 1024;
    return judged;
}

static void measure(const struct stream *stream, size_t event_count, size_t runs)
{
    char folder[] = "/var/tmp/memtide-bench-XXXXXX", name[160], command[128];
    double speeds[RUNS], memory[RUNS];
    pid_t maker;

    if (!mkdtemp(folder))
        die(folder, "cannot be made");
    maker = fork(); /* its memory must not be counted as the reader's */
    if (maker == 0) {
        make_trace(folder, stream, event_count);
        _exit(0);
    }
    waitpid(maker, NULL, 0);
    for (size_t i = 0; i < runs; i++) {
        struct judged judged = judge_in_child(folder, stream->question);

        speeds[i] = judged.events_per_us;
        memory[i] = judged.rss_bytes / 1048576;
    }
    snprintf(name, sizeof(name), "file to %s, %s, %zu events, %zu live blocks, %u sites",
             stream->question, stream->name, event_count, stream->live_count, stream->site_count);
    bench_report(name, "million events/s", speeds, runs);
    snprintf(name, sizeof(name), "memory of %s, %s, %zu events, %zu live blocks, %u sites",
             stream->question, stream->name, event_count, stream->live_count, stream->site_count);
    bench_report(name, "MiB", memory, runs);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0)
        die(folder, "cannot be removed");
}

int main(int argc, char **argv)
{
    static const struct stream streams[] = {
        {"brief", 230, 10000, 256, "leaks"},       {"brief", 230, 1000000, 256, "leaks"},
        {"random", 0, 10000, 256, "leaks"},        {"random", 0, 1000000, 256, "leaks"},
        {"brief", 230, 1000000, 100000, "report"}, /* all verdicts in one run */
    };
    bool is_quick = bench_is_quick(argc, argv);

    for (size_t i = 0; i < (is_quick ? 1 : sizeof(streams) / sizeof(streams[0])); i++)
        measure(&streams[i], is_quick ? 400000 : 100000000, is_quick ? 1 : RUNS);
    return 0;
}
