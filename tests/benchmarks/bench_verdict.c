/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From file to verdict: events a second, by the clock and by the time of all cores, and memory.
 *
 *     bench_verdict [--quick] [STREAM]
 *
 * Recordings of 1e8 events are made: a set of live blocks, of which one is freed and one made at a
 * time, from sites of one size each, in 100 steps, with one site that leaks. In "brief" nine of
 * ten blocks live for a few dozen others only, as in most programs, and an allocator hands out what
 * was freed last; in "random" any live block may be the next, which nothing can foresee. In "deep"
 * each site is a call stack of 60 frames. Then the question "leaks", or "report" for all verdicts,
 * is asked through the public interface, which reads, decodes, matches and judges; the verdict is
 * checked. The reader runs in a child, so that its memory is its own. STREAM: only these.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "leaktide/analyzer.h"
#include "trace_builder.h"

enum {
    RUNS = 3,
    BRIEF_BLOCKS = 64, /* alive at a time */
    SIZES = 5,
    STEPS = 100,
    LEAKED_PER_STEP = 60, /* heavy enough for a leak of a large process: 93 KiB in all */
    TICKS_PER_EVENT = 97,
    SITE_BASE = 0x401000,
    STACK_DEPTH = 60,
    FUNCTIONS = 20000
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

/* Call stacks in place of sites; each is defined, and gets its number, when it is first used. */
struct making_stacks {
    uint32_t *ids; /* by site; 0: not defined; NULL: sites are addresses */
    uint32_t count;
    uint64_t newest[STACK_DEPTH];
};

struct making {
    struct trace_builder *builder;
    struct making_stacks stacks;
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

/* A tree: stacks whose numbers begin alike have their outer frames in common. */
static uint64_t frame_of(uint32_t site, unsigned depth)
{
    uint64_t callers = site >> (STACK_DEPTH - 1 - depth) / 3;
    uint64_t mixed = (callers * STACK_DEPTH + depth + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return SITE_BASE + (mixed >> 33) % FUNCTIONS * 16;
}

static void define_stack(struct making *making, uint32_t site)
{
    uint64_t *newest = making->stacks.newest;
    struct built_stack stack = {.id = ++making->stacks.count, .flags = MT_STACK_COMPLETE};

    while (stack.shared_count < STACK_DEPTH - 1 &&
           newest[stack.shared_count] == frame_of(site, (unsigned)stack.shared_count))
        stack.shared_count++;
    for (unsigned i = (unsigned)stack.shared_count; i < STACK_DEPTH; i++)
        newest[i] = frame_of(site, i);
    stack.before = stack.shared_count ? newest[stack.shared_count - 1] : 0;
    stack.frames = newest + stack.shared_count;
    stack.count = STACK_DEPTH - stack.shared_count;
    trace_builder_stack(making->builder, 0, making->ticks, &stack);
    making->stacks.ids[site] = making->stacks.count;
}

/* What a record calls it. */
static uint64_t name_site(struct making *making, uint32_t site)
{
    if (!making->stacks.ids)
        return SITE_BASE + site * 16;
    if (!making->stacks.ids[site])
        define_stack(making, site);
    return MT_SITE_IS_STACK | making->stacks.ids[site];
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
                                                  .site = name_site(making, site)});
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
    bool has_stacks;
};

static void make_trace(const char *folder, const struct stream *stream, size_t event_count)
{
    struct making making = {.random = 42,
                            .fresh_address = UINT64_C(0x555555000000),
                            .brief_share = stream->brief_share,
                            .site_count = stream->site_count};

    if (stream->has_stacks)
        making.stacks.ids = calloc(stream->site_count, sizeof(uint32_t));
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
    struct mt_error error = {.message = ""};
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

/* What one run took. */
struct judged {
    double events;
    double wall_s, core_s;
    double rss_bytes;
};

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct judged judge_in_child(const char *folder, const char *question)
{
    struct rusage usage;
    int ends[2], status;
    uint64_t facts[2]; /* events, nanoseconds */
    pid_t child;

    if (pipe(ends) != 0)
        die("pipe", "cannot be made");
    child = fork();
    if (child == 0) {
        uint64_t start_ns = bench_now_ns();

        facts[0] = judge(folder, question);
        facts[1] = bench_now_ns() - start_ns;
        _exit(write(ends[1], facts, sizeof(facts)) != sizeof(facts));
    }
    close(ends[1]);
    if (read(ends[0], facts, sizeof(facts)) != sizeof(facts))
        die("child", "no verdict");
    close(ends[0]);
    wait4(child, &status, 0, &usage);
    return (struct judged){
        .events = (double)facts[0],
        .wall_s = (double)facts[1] / 1e9,
        .core_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
        .rss_bytes = (double)usage.ru_maxrss * 1024,
    };
}

static double clock_rate(const struct judged *judged)
{
    return judged->events / judged->wall_s / 1e6;
}

static double core_rate(const struct judged *judged)
{
    return judged->events / judged->core_s / 1e6;
}

static double clock_time(const struct judged *judged)
{
    return judged->wall_s;
}

static double core_time(const struct judged *judged)
{
    return judged->core_s;
}

static double memory(const struct judged *judged)
{
    return judged->rss_bytes / 1048576;
}

/* Of a run; its name is what stands before and behind the question. */
static const struct {
    const char *before, *behind, *unit;
    double (*of)(const struct judged *judged);
} figures[] = {
    {"file to ", "", "million events/s", clock_rate},
    {"file to ", ", of core time", "million events/s", core_rate},
    {"time of ", "", "s", clock_time},
    {"core time of ", "", "s", core_time},
    {"memory of ", "", "MiB", memory},
};

static void report(const struct stream *stream, size_t event_count, const struct judged *judged,
                   size_t runs)
{
    char name[192];
    double values[RUNS];

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        for (size_t run = 0; run < runs; run++)
            values[run] = figures[i].of(&judged[run]);
        snprintf(name, sizeof(name), "%s%s%s, %s, %zu events, %zu live blocks, %u sites",
                 figures[i].before, stream->question, figures[i].behind, stream->name, event_count,
                 stream->live_count, stream->site_count);
        bench_report(name, figures[i].unit, values, runs);
    }
}

static void measure(const struct stream *stream, size_t event_count, size_t runs)
{
    char folder[] = "/var/tmp/leaktide-bench-XXXXXX", command[128];
    struct judged judged[RUNS];
    pid_t maker;

    if (!mkdtemp(folder))
        die(folder, "cannot be made");
    maker = fork(); /* its memory must not be counted as the reader's */
    if (maker == 0) {
        make_trace(folder, stream, event_count);
        _exit(0);
    }
    waitpid(maker, NULL, 0);
    for (size_t i = 0; i < runs; i++)
        judged[i] = judge_in_child(folder, stream->question);
    report(stream, event_count, judged, runs);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0)
        die(folder, "cannot be removed");
}

int main(int argc, char **argv)
{
    static const struct stream streams[] = {
        {"brief", 230, 10000, 256, "leaks", false},
        {"brief", 230, 1000000, 256, "leaks", false},
        {"random", 0, 10000, 256, "leaks", false},
        {"random", 0, 1000000, 256, "leaks", false},
        {"brief", 230, 1000000, 100000, "report", false}, /* all verdicts in one run */
        {"deep", 230, 1000000, 1000000, "report", true},
    };
    bool is_quick = bench_is_quick(argc, argv);
    const char *wanted = argc > 1 + is_quick ? argv[argc - 1] : NULL;
    size_t count = is_quick && !wanted ? 1 : sizeof(streams) / sizeof(streams[0]);

    for (size_t i = 0; i < count; i++)
        if (!wanted || strcmp(streams[i].name, wanted) == 0)
            measure(&streams[i], is_quick ? 400000 : 100000000, is_quick ? 1 : RUNS);
    return 0;
}
