/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call stack costs: at three depths, walked whole and with reuse of the one before, when
 * nothing changed, when the innermost five frames are new, and when nearly all is new each time;
 * then with its id.
 */
#include "bench.h"

#include <sys/mman.h>

#include "stack_set.h"

#define NOINLINE __attribute__((noinline))

enum { CAPTURES_PER_STACK = 256, SET_BYTES = 16 << 20 };

enum change { SAME, NEW_TOP, NEW_ALL };

static struct unwinder unwinder;
static struct unwind_thread thread;
static struct stack_set set;

struct job {
    uint32_t depth;
    enum change change;
    bool has_set, is_idle;
    uint64_t capture_count; /* wanted */
    uint64_t done_count, frame_count;
    uint64_t spent_ns;
    uint32_t seed;
};

/* The thread's own time: other load on the machine does not count. */
static uint64_t spent_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static NOINLINE void capture(struct job *job)
{
    struct unwind_stack stack = {.count = 0};
    struct stack_name name;

    if (!job->is_idle)
        unwind_capture(&unwinder, &thread, UNWIND_CALLER, &stack);
    if (job->has_set)
        stack_set_find(&set, &stack, &name);
    job->done_count++;
    job->frame_count = stack.count;
    __asm__ volatile("" ::: "memory");
}

static void measure(struct job *job)
{
    uint64_t start_ns = spent_ns();

    for (int i = 0; i < CAPTURES_PER_STACK; i++)
        capture(job);
    job->spent_ns += spent_ns() - start_ns;
}

static NOINLINE void go_down_left(struct job *job, uint32_t left);
static NOINLINE void go_down_right(struct job *job, uint32_t left);

/* Five frames that differ from call to call. */
static void top_work(struct job *job, uint32_t left)
{
    if (left == 0)
        capture(job);
    else if ((job->seed = job->seed * 1664525u + 1013904223u) >> 31)
        go_down_left(job, left - 1);
    else
        go_down_right(job, left - 1);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void go_down_left(struct job *job, uint32_t left)
{
    char room[48];

    __asm__ volatile("" ::"r"(room) : "memory");
    top_work(job, left);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static NOINLINE void go_down_right(struct job *job, uint32_t left)
{
    char room[80];

    __asm__ volatile("" ::"r"(room) : "memory");
    top_work(job, left);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static void measure_changing(struct job *job, uint32_t new_frames)
{
    uint64_t start_ns = spent_ns();

    for (int i = 0; i < CAPTURES_PER_STACK; i++)
        top_work(job, new_frames);
    job->spent_ns += spent_ns() - start_ns;
}

static NOINLINE void descend(struct job *job, uint32_t left)
{
    if (left > 0)
        descend(job, left - 1);
    else if (job->change == SAME)
        measure(job);
    else
        measure_changing(job, job->change == NEW_TOP ? 5 : job->depth);
    __asm__ volatile("" ::: "memory");
}

static double calls_ns(struct job job)
{
    uint32_t steady = job.change == NEW_ALL ? 0 : job.change == NEW_TOP ? 5 : 0;

    job.seed = 1;
    while (job.done_count < job.capture_count)
        descend(&job, job.depth > steady ? job.depth - steady : 0);
    return (double)job.spent_ns / (double)job.done_count;
}

/* Without what the calls cost that change the stack. */
static double capture_ns(struct job job)
{
    double with_capture_ns = calls_ns(job);

    job.is_idle = true;
    job.has_set = false;
    return with_capture_ns - calls_ns(job);
}

struct kind {
    const char *name;
    bool is_plain, has_set;
    enum change change;
};

static const struct kind kinds[] = {
    {"whole, same stack", true, false, SAME},
    {"reused, same stack", false, false, SAME},
    {"whole, 5 new frames", true, false, NEW_TOP},
    {"reused, 5 new frames", false, false, NEW_TOP},
    {"whole, all new", true, false, NEW_ALL},
    {"reused, all new", false, false, NEW_ALL},
    {"reused, 5 new frames, with id", false, true, NEW_TOP},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), DEPTHS = 3, RUNS = 9 };
enum { WHOLE_ALL_NEW = 4, REUSED_ALL_NEW = 5 };

/* The adversary: a stack that has little in common with the one before costs no more than a walk.
 */
static void report_adversary(uint32_t depth, const double *reused, const double *whole,
                             uint32_t run_count)
{
    double ratios[bench_max_runs];
    char name[80];

    for (uint32_t run = 0; run < run_count; run++)
        ratios[run] = reused[run] / whole[run];
    snprintf(name, sizeof(name), "stack of depth %u, all new: reuse to a whole walk", depth);
    bench_report(name, "ratio", ratios, run_count);
}

int main(int argc, char **argv)
{
    static const uint32_t depths[DEPTHS] = {5, 20, 50};
    bool is_quick = bench_is_quick(argc, argv);
    uint32_t run_count = is_quick ? 1 : RUNS;
    static double runs[KINDS][DEPTHS][bench_max_runs];
    void *memory = mmap(NULL, SET_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return 1;
    unwinder_prepare(&unwinder);
    stack_set_init(&set, memory, SET_BYTES);
    for (uint32_t run = 0; run < run_count; run++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int depth = 0; depth < DEPTHS; depth++) {
                unwinder.is_plain = kinds[kind].is_plain;
                runs[kind][depth][run] = capture_ns((struct job){
                    .depth = depths[depth],
                    .change = kinds[kind].change,
                    .has_set = kinds[kind].has_set,
                    .capture_count = is_quick ? 2000 : 400000,
                });
            }
    for (int kind = 0; kind < KINDS; kind++)
        for (int depth = 0; depth < DEPTHS; depth++) {
            char name[80];

            snprintf(name, sizeof(name), "stack of depth %u, %s", depths[depth], kinds[kind].name);
            bench_report(name, "ns/stack", runs[kind][depth], run_count);
        }
    for (int depth = 0; depth < DEPTHS; depth++)
        report_adversary(depths[depth], runs[REUSED_ALL_NEW][depth], runs[WHOLE_ALL_NEW][depth],
                         run_count);
    return 0;
}
