/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that are hard to walk. Each is compared with what the compiler's own unwinder sees: a
 * stack that says it is complete must be the same, frame by frame; any other must be the same as
 * far as it goes. Everything runs with the debug mode on, which walks each stack twice.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "unwinder.h"

#define NOINLINE __attribute__((noinline))
#define KEEP()   __asm__ volatile("" ::: "memory") /* no tail call, please */

enum { PEER_MAX = 1024, THREADS = 4 };

static struct unwinder unwinder;
static __thread struct unwind_thread *thread;
static const char *plugins[2];

/* What came of a capture. */
struct outcome {
    struct unwind_stack stack;
    uint64_t pcs[UNWIND_MAX_FRAMES]; /* innermost first */
    uint32_t peer_count, same_count;
    uint64_t peer[PEER_MAX]; /* the same, as far as known; starts at the same frame */
};

struct gathered {
    uint64_t *pcs;
    uint32_t count;
};

static _Unwind_Reason_Code gather(struct _Unwind_Context *context, void *data)
{
    struct gathered *gathered = data;

    if (gathered->count == PEER_MAX || !_Unwind_GetIP(context))
        return _URC_END_OF_STACK;
    gathered->pcs[gathered->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void *zeros(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* The stack from the caller of the function that calls this. */
static NOINLINE void look(struct unwind_registers start, struct outcome *outcome)
{
    struct gathered gathered = {outcome->peer, 0};
    uint32_t skipped = 0;

    if (!thread) {
        thread = zeros(sizeof(*thread));
        thread->last_serial = UINT32_MAX - 2 * UNWIND_MAX_FRAMES; /* they begin anew soon */
    }
    unwind_capture(&unwinder, thread, &start, &outcome->stack);
    for (uint32_t i = 0; i < outcome->stack.count; i++)
        outcome->pcs[i] = outcome->stack.pcs[outcome->stack.count - 1 - i];
    _Unwind_Backtrace(gather, &gathered);
    while (skipped < gathered.count && outcome->peer[skipped] != start.pc)
        skipped++;
    outcome->peer_count = gathered.count - skipped;
    memmove(outcome->peer, outcome->peer + skipped, outcome->peer_count * 8);
    outcome->same_count = 0;
    while (outcome->same_count < outcome->peer_count &&
           outcome->same_count < outcome->stack.count &&
           outcome->pcs[outcome->same_count] == outcome->peer[outcome->same_count])
        outcome->same_count++;
}

static NOINLINE void capture(void *outcome)
{
    look(unwind_caller(), outcome);
    KEEP();
}

/* Where the other unwinder would crash. */
static NOINLINE void capture_alone(void *outcome)
{
    unwind_capture(&unwinder, thread, UNWIND_CALLER, &((struct outcome *)outcome)->stack);
    KEEP();
}

static bool is_right(const struct outcome *outcome)
{
    return outcome->same_count == outcome->stack.count &&
           (!(outcome->stack.flags & UNWIND_COMPLETE) ||
            outcome->stack.count == outcome->peer_count);
}

static void expect_complete(const struct outcome *outcome)
{
    if (!is_right(outcome) || !(outcome->stack.flags & UNWIND_COMPLETE))
        for (uint32_t i = 0; i < outcome->stack.count || i < outcome->peer_count; i++)
            print_error("%2u %16llx %16llx\n", i,
                        i < outcome->stack.count ? (unsigned long long)outcome->pcs[i] : 0,
                        i < outcome->peer_count ? (unsigned long long)outcome->peer[i] : 0);
    assert_true(is_right(outcome));
    assert_true(outcome->stack.flags & UNWIND_COMPLETE);
}

static void expect_no_mismatch(void)
{
    assert_int_equal(unwinder.mismatch_count, 0);
}

/* --- frames of all kinds ---------------------------------------------------------------- */

static NOINLINE void frame_plain(int left, struct outcome *outcome);
static NOINLINE void frame_variable(int left, struct outcome *outcome);
static NOINLINE void frame_aligned(int left, struct outcome *outcome);
static NOINLINE void frame_large(int left, struct outcome *outcome);
static NOINLINE void frame_huge(int left, struct outcome *outcome);

static unsigned frame_seed;

static unsigned next_seed(void)
{
    frame_seed = frame_seed * 1103515245u + 12345u;
    return frame_seed >> 16;
}

static void go_on(int left, struct outcome *outcome)
{
    static void (*const frames[])(int, struct outcome *) = {frame_plain, frame_variable,
                                                            frame_aligned, frame_large, frame_huge};

    if (left == 0)
        capture(outcome);
    else
        frames[next_seed() % 5](left - 1, outcome);
    KEEP();
}

static NOINLINE void frame_plain(int left, struct outcome *outcome)
{
    go_on(left, outcome);
}

static NOINLINE void frame_variable(int left, struct outcome *outcome)
{
    volatile char *room = alloca((size_t)(left % 7 + 1) * 24);

    room[0] = 1;
    go_on(left, outcome);
    (void)room[0];
}

static NOINLINE void frame_aligned(int left, struct outcome *outcome)
{
    _Alignas(128) volatile char room[128];

    room[left % 128] = 1;
    go_on(left, outcome);
    (void)room[0];
}

static NOINLINE void frame_large(int left, struct outcome *outcome)
{
    volatile char room[40000];

    room[left] = 1;
    go_on(left, outcome);
    (void)room[0];
}

static NOINLINE void frame_huge(int left, struct outcome *outcome)
{
    volatile char room[400000]; /* its row does not fit into the table */

    room[left] = 1;
    go_on(left, outcome);
    (void)room[0];
}

static void frames_of_all_kinds_are_walked(void **state)
{
    static struct outcome outcome;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        frame_seed = (unsigned)i / 3; /* each stack a few times, then another */
        go_on(1 + i / 3 % 20, &outcome);
        expect_complete(&outcome);
    }
    expect_no_mismatch();
}

/* --- depth ------------------------------------------------------------------------------ */

static uint64_t deep_wrong, deep_truncated;

static NOINLINE void recurse(int left)
{
    static struct outcome outcome;

    if (left > 0)
        recurse(left - 1);
    if (left % 50 == 0) {
        if (left > 99000)
            capture(&outcome);
        else
            unwind_capture(&unwinder, thread, UNWIND_CALLER, &outcome.stack);
        deep_truncated += (outcome.stack.flags & UNWIND_TRUNCATED) != 0;
        deep_wrong += outcome.stack.flags & UNWIND_TRUNCATED ? outcome.stack.count != 512 : 0;
    }
    KEEP();
}

static NOINLINE void *recurse_deeply(void *argument)
{
    struct outcome *outcome = argument;

    capture(outcome);
    recurse(100000);
    capture(outcome);
    return NULL;
}

static void a_hundred_thousand_frames_are_cut_with_a_mark(void **state)
{
    static struct outcome outcome;
    pthread_attr_t attributes;
    pthread_t other;

    (void)state;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20);
    assert_int_equal(pthread_create(&other, &attributes, recurse_deeply, &outcome), 0);
    pthread_join(other, NULL);
    assert_int_equal(deep_wrong, 0);
    assert_in_range(deep_truncated, 1985, 2001);
    expect_complete(&outcome);
    expect_no_mismatch();
}

static void a_lower_limit_is_kept(void **state)
{
    static struct outcome outcome;

    (void)state;
    unwinder.frame_limit = 3;
    frame_seed = 1;
    go_on(10, &outcome);
    unwinder.frame_limit = 0;
    assert_int_equal(outcome.stack.count, 3);
    assert_int_equal(outcome.same_count, 3);
    assert_int_equal(outcome.stack.flags, UNWIND_TRUNCATED);
}

/* --- signals ---------------------------------------------------------------------------- */

static struct outcome signal_outcome;

static void on_signal(int number)
{
    (void)number;
    capture(&signal_outcome);
    KEEP();
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void a_handler_is_walked_through(void **state)
{
    static char other_stack[1 << 17];

    (void)state;
    for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
        stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};

        sigaltstack(&stack, NULL);
        handle(SIGUSR1, on_signal, flags);
        for (int i = 0; i < 3; i++) {
            raise(SIGUSR1);
            expect_complete(&signal_outcome);
            assert_true(signal_outcome.stack.flags & UNWIND_SIGNAL);
        }
    }
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    expect_no_mismatch();
}

#ifdef __x86_64__
/* As compilers write it: the frame pointer is the caller's again, the rows still name its slot. */
void traps_as_it_returns(void);
__asm__(".text\n"
        ".globl traps_as_it_returns\n"
        "traps_as_it_returns:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n    .cfi_def_cfa_offset 16\n    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n    .cfi_def_cfa_register %rbp\n"
        "    pop %rbp\n    .cfi_def_cfa %rsp, 8\n"
        "    int3\n    ret\n    .cfi_endproc\n");

static NOINLINE void call_what_traps(size_t room_bytes)
{
    volatile char *room = alloca(room_bytes); /* so the frame pointer is what gives the CFA */

    room[0] = 1;
    traps_as_it_returns();
    (void)room[0];
}

static void a_function_interrupted_as_it_returns_has_its_callers(void **state)
{
    (void)state;
    handle(SIGTRAP, on_signal, 0);
    for (size_t i = 1; i < 4; i++) {
        call_what_traps(i * 40);
        expect_complete(&signal_outcome);
        assert_true(signal_outcome.stack.flags & UNWIND_SIGNAL);
    }
    expect_no_mismatch();
}
#endif

static volatile uint64_t tick_count, tick_complete, tick_nested, tick_wrong;

static void on_tick(int number)
{
    static struct outcome outcome;

    (void)number;
    capture(&outcome);
    tick_count++;
    if (outcome.stack.flags & UNWIND_NESTED)
        tick_nested++;
    else if (!is_right(&outcome))
        tick_wrong++;
    else if (outcome.stack.flags & UNWIND_COMPLETE)
        tick_complete++;
}

/* At any instruction, of the C library, of its jump tables and of a walk. */
static void handlers_at_any_time_are_right_or_say_so(void **state)
{
    static struct outcome outcome;
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    char text[64];

    (void)state;
    handle(SIGPROF, on_tick, SA_RESTART);
    setitimer(ITIMER_PROF, &often, NULL);
    for (int i = 0; i < 2000000 && tick_count < 300; i++) {
        snprintf(text, sizeof(text), "%d %s", i, getenv("HOME") ? "home" : "none");
        free(malloc((size_t)i % 3000));
        if (i % 8 == 0) {
            frame_seed = (unsigned)i;
            go_on(i % 5, &outcome);
        }
    }
    setitimer(ITIMER_PROF, &never, NULL);
    print_message("%llu ticks, %llu complete, %llu while walking\n", (unsigned long long)tick_count,
                  (unsigned long long)tick_complete, (unsigned long long)tick_nested);
    assert_true(tick_count > 50);
    assert_int_equal(tick_wrong, 0);
    assert_true(tick_complete + tick_nested > tick_count * 9 / 10);
    capture(&outcome);
    expect_complete(&outcome);
    expect_no_mismatch();
}

/* --- jumps, coroutines ------------------------------------------------------------------ */

static jmp_buf target;

static NOINLINE void jump_from(int left, struct outcome *outcome)
{
    volatile char room[64];

    room[0] = 1;
    if (left > 0)
        jump_from(left - 1, outcome);
    capture(outcome);
    if (left == 0 || left % 3 == 0)
        longjmp(target, 1);
    (void)room[0];
}

static void longjmp_leaves_no_frames_behind(void **state)
{
    static struct outcome outcome;

    (void)state;
    for (volatile int i = 0; i < 1000; i++) {
        if (setjmp(target) == 0)
            jump_from(i % 40, &outcome);
        expect_complete(&outcome);
        frame_seed = (unsigned)i;
        go_on(i % 13, &outcome);
        expect_complete(&outcome);
    }
    expect_no_mismatch();
}

enum { COROUTINES = 3, ROUNDS = 40, PAGE = 4096 };

static __thread ucontext_t scheduler, coroutines[COROUTINES];
static __thread int running;

static NOINLINE void yield_from(int left, struct outcome *outcome)
{
    volatile char room[80];

    room[0] = (char)left;
    if (left > 0)
        yield_from(left - 1, outcome);
    else
        capture(outcome);
    swapcontext(&coroutines[running], &scheduler);
    (void)room[0];
}

static void coroutine(int low, int high)
{
    struct outcome *outcome =
        (struct outcome *)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);

    for (int i = 0;; i++)
        yield_from(i % 7, outcome);
}

/* The stacks differ in size, and go in between; what was above one is then no longer there. */
static NOINLINE void *run_coroutines(void *argument)
{
    struct outcome *outcome = zeros(sizeof(*outcome));
    uint64_t address = (uint64_t)(uintptr_t)outcome;
    volatile uint64_t wrong_count = 0;

    for (volatile int round = 0; round < ROUNDS; round++) {
        size_t size_bytes = (size_t)(8 + round % 5) * PAGE;
        char *stacks[COROUTINES];

        for (int i = 0; i < COROUTINES; i++) {
            stacks[i] = zeros(size_bytes + 2 * PAGE);
            mprotect(stacks[i], PAGE, PROT_NONE);
            mprotect(stacks[i] + size_bytes + PAGE, PAGE, PROT_NONE);
            getcontext(&coroutines[i]);
            coroutines[i].uc_stack.ss_sp = stacks[i] + PAGE;
            coroutines[i].uc_stack.ss_size = size_bytes;
            makecontext(&coroutines[i], (void (*)(void))coroutine, 2, (int)(uint32_t)address,
                        (int)(uint32_t)(address >> 32));
        }
        for (int i = 0; i < 10 * COROUTINES; i++) {
            running = i % COROUTINES;
            swapcontext(&scheduler, &coroutines[running]);
            wrong_count += !is_right(outcome) || !(outcome->stack.flags & UNWIND_COMPLETE);
            if (i % 2) {
                capture(outcome);
                wrong_count += !is_right(outcome) || !(outcome->stack.flags & UNWIND_COMPLETE);
            }
        }
        for (int i = 0; i < COROUTINES; i++)
            munmap(stacks[i], size_bytes + 2 * PAGE);
    }
    *(uint64_t *)argument = wrong_count;
    munmap(outcome, sizeof(*outcome));
    return NULL;
}

static void in_threads(void *(*function)(void *), void *arguments, size_t argument_bytes)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, function, (char *)arguments + i * argument_bytes), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void coroutines_are_walked_to_their_start(void **state)
{
    uint64_t wrong_counts[THREADS] = {1, 1, 1, 1};

    (void)state;
    in_threads(run_coroutines, wrong_counts, sizeof(wrong_counts[0]));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(wrong_counts[i], 0);
    run_coroutines(wrong_counts);
    assert_int_equal(wrong_counts[0], 0);
    expect_no_mismatch();
}

/*
 * Stacks of coroutines right below a thread's, with nothing in between: they look like the rest of
 * that one. The upper goes; the lower goes on.
 */
enum { BELOW = 2, BELOW_BYTES = 16 * PAGE, THREAD_BYTES = 64 * PAGE };

static void begin_below(int i, char *stack, struct outcome *outcome)
{
    uint64_t address = (uint64_t)(uintptr_t)outcome;

    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = stack;
    coroutines[i].uc_stack.ss_size = BELOW_BYTES;
    makecontext(&coroutines[i], (void (*)(void))coroutine, 2, (int)(uint32_t)address,
                (int)(uint32_t)(address >> 32));
}

static NOINLINE uint64_t run_often(int i, const struct outcome *outcome)
{
    uint64_t wrong_count = 0;

    running = i;
    for (volatile int k = 0; k < 200; k++) {
        swapcontext(&scheduler, &coroutines[i]);
        wrong_count += !is_right(outcome) || !(outcome->stack.flags & UNWIND_COMPLETE);
    }
    return wrong_count;
}

static NOINLINE void *run_below(void *argument)
{
    char *stacks = argument;
    struct outcome *outcome = zeros(sizeof(*outcome));
    uint64_t wrong_count = 0;

    capture(outcome);
    for (int i = 0; i < BELOW; i++)
        begin_below(i, stacks + (BELOW - 1 - i) * BELOW_BYTES, outcome);
    wrong_count += run_often(0, outcome);
    wrong_count += run_often(1, outcome);
    wrong_count += run_often(0, outcome);
    munmap(stacks + (BELOW - 1) * BELOW_BYTES, BELOW_BYTES);
    wrong_count += run_often(1, outcome);
    munmap(outcome, sizeof(*outcome));
    return (void *)(uintptr_t)wrong_count;
}

/* The function unmaps the upper of the stacks that it is given. */
static void in_a_thread_above(void *(*function)(void *))
{
    char *stacks = zeros(BELOW * BELOW_BYTES + THREAD_BYTES);
    pthread_attr_t attributes;
    pthread_t other;
    void *wrong_count = NULL;

    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks + BELOW * BELOW_BYTES, THREAD_BYTES);
    assert_int_equal(pthread_create(&other, &attributes, function, stacks), 0);
    pthread_join(other, &wrong_count);
    pthread_attr_destroy(&attributes);
    assert_null(wrong_count);
    munmap(stacks + BELOW * BELOW_BYTES, THREAD_BYTES);
    munmap(stacks, (BELOW - 1) * BELOW_BYTES);
    expect_no_mismatch();
}

static void a_coroutine_is_not_the_rest_of_its_threads_stack(void **state)
{
    (void)state;
    in_a_thread_above(run_below);
}

/*
 * Coroutines of a program that switches by itself: no context tells where their stack ends, so a
 * walk goes on beyond it. Right above is what was another coroutine's stack, and above that the
 * thread's.
 */
static NOINLINE void call_on(char *stack_end, void (*function)(void *), void *argument)
{
    volatile char room[600]; /* the caller's frame, as a walk sees it, reaches beyond the end */

    room[0] = 1;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
                     : "+r"(stack_end), "+r"(function), "+D"(argument)::"rbx", "rax", "rcx", "rdx",
                       "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
    __asm__ volatile("mov x19, sp\n\tmov sp, %0\n\tmov x0, %2\n\tblr %1\n\tmov sp, x19"
                     : "+r"(stack_end), "+r"(function), "+r"(argument)::"x0", "x1", "x2", "x3",
                       "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x18", "x19", "x30", "memory", "cc");
#endif
    (void)room[0];
}

static NOINLINE void *run_switched(void *argument)
{
    char *stacks = argument, *lower_end = stacks + BELOW_BYTES,
         *upper_end = lower_end + BELOW_BYTES;
    struct outcome *outcome = zeros(sizeof(*outcome));
    uint64_t wrong_count = 0;

    thread = zeros(sizeof(*thread));
    capture_alone(outcome);
    wrong_count += !(outcome->stack.flags & UNWIND_COMPLETE);
    call_on(upper_end, capture_alone, outcome);
    call_on(lower_end, capture_alone, outcome);
    munmap(lower_end, BELOW_BYTES);
    for (int i = 0; i < 3; i++) {
        call_on(lower_end, capture_alone, outcome);
        wrong_count += outcome->stack.flags != UNWIND_UNREADABLE || outcome->stack.count == 0;
        capture_alone(outcome);
        wrong_count += !(outcome->stack.flags & UNWIND_COMPLETE);
    }
    munmap(outcome, sizeof(*outcome));
    return (void *)(uintptr_t)wrong_count;
}

static void a_stack_that_was_unmapped_is_not_read(void **state)
{
    (void)state;
    in_a_thread_above(run_switched);
}

/* --- objects that come and go ------------------------------------------------------------ */

struct loader {
    uint64_t wrong_count, done_count;
};

static NOINLINE void *load_and_unload(void *argument)
{
    struct loader *loader = argument;
    struct outcome *outcome = zeros(sizeof(*outcome));

    for (int i = 0; i < 300; i++) {
        void (*call)(void (*)(void *), void *);
        void *library;

        library =
            dlopen(plugins[((uintptr_t)i / 3 + (uintptr_t)loader / sizeof(*loader)) % 2], RTLD_NOW);
        *(void **)&call = library ? dlsym(library, "plugin_call") : NULL;
        if (!call)
            abort();
        unwinder_objects_came(&unwinder);
        for (int repeat = 0; repeat < 3; repeat++) {
            call(capture, outcome);
            loader->wrong_count += !is_right(outcome) || !(outcome->stack.flags & UNWIND_COMPLETE);
            loader->done_count++;
        }
        unwinder_objects_left(&unwinder);
        dlclose(library);
        unwinder_objects_left(&unwinder);
    }
    munmap(outcome, sizeof(*outcome));
    return NULL;
}

static void objects_come_and_go_in_four_threads(void **state)
{
    static struct loader loaders[THREADS];

    (void)state;
    memset(loaders, 0, sizeof(loaders));
    in_threads(load_and_unload, loaders, sizeof(loaders[0]));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(loaders[i].done_count, 900);
        assert_int_equal(loaders[i].wrong_count, 0);
    }
    expect_no_mismatch();
}

static void rows_are_made_again_after_an_object_left_only(void **state)
{
    enum { AT_FIRST, AFTER_ONE_CAME, AFTER_IT_LEFT, TURNS };
    static struct outcome outcome;
    uint64_t made[TURNS];
    void *library = NULL;

    (void)state;
    /* Volatile, so not unrolled: all captures are from one place, and need the same rows. */
    for (volatile int turn = AT_FIRST; turn < TURNS; turn++) {
        if (turn == AFTER_ONE_CAME) {
            library = dlopen(plugins[0], RTLD_NOW);
            assert_non_null(library);
            unwinder_objects_came(&unwinder);
        } else if (turn == AFTER_IT_LEFT) {
            unwinder_objects_left(&unwinder);
            assert_int_equal(dlclose(library), 0);
            unwinder_objects_left(&unwinder);
        }
        made[turn] = unwinder.compiled_count;
        capture(&outcome);
        made[turn] = unwinder.compiled_count - made[turn];
        expect_complete(&outcome);
    }
    assert_int_equal(made[AFTER_ONE_CAME], 0);
    assert_true(made[AFTER_IT_LEFT] > 0);
    expect_no_mismatch();
}

/* With the list of objects that older C libraries need. */
static void objects_are_found_in_a_list_too(void **state)
{
    (void)state;
    objects_prepare(&unwinder.objects, false);
    assert_null(unwinder.objects.find);
    objects_come_and_go_in_four_threads(state);
    frames_of_all_kinds_are_walked(state);
    assert_int_equal(unwinder.objects.left_out_count, 0);
    objects_prepare(&unwinder.objects, true);
}

/* --- code without rows ------------------------------------------------------------------ */

void bare_with_record(void (*callback)(void *), void *data);
void bare_without_record(void (*callback)(void *), void *data);
void bare_that_lies(void (*callback)(void *), void *data);

#ifdef __x86_64__
__asm__(".text\n"
        ".globl bare_with_record, bare_without_record, bare_that_lies\n"
        "bare_with_record:\n"
        "    push %rbp\n    mov %rsp, %rbp\n    push $0\n    push $0\n    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n    call *%rax\n    leave\n    ret\n"
        "bare_without_record:\n"
        "    sub $24, %rsp\n    mov %rdi, %rax\n    mov %rsi, %rdi\n    call *%rax\n"
        "    add $24, %rsp\n    ret\n"
        "bare_that_lies:\n"
        "    .cfi_startproc\n    .cfi_def_cfa_offset 0x7ffffff8\n"
        "    sub $8, %rsp\n    mov %rdi, %rax\n    mov %rsi, %rdi\n    call *%rax\n"
        "    add $8, %rsp\n    ret\n    .cfi_endproc\n");
static const uint8_t made_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                    0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
#else
__asm__(".text\n"
        ".globl bare_with_record, bare_without_record, bare_that_lies\n"
        "bare_with_record:\n"
        "    stp x29, x30, [sp, #-32]!\n    mov x29, sp\n    mov x2, x0\n    mov x0, x1\n"
        "    blr x2\n    ldp x29, x30, [sp], #32\n    ret\n"
        "bare_without_record:\n"
        "    str x30, [sp, #-32]!\n    mov x2, x0\n    mov x0, x1\n    blr x2\n"
        "    ldr x30, [sp], #32\n    ret\n"
        "bare_that_lies:\n"
        "    .cfi_startproc\n    .cfi_def_cfa_offset 0x7ffffff0\n    .cfi_offset 30, -16\n"
        "    str x30, [sp, #-16]!\n    mov x2, x0\n    mov x0, x1\n    blr x2\n"
        "    ldr x30, [sp], #16\n    ret\n    .cfi_endproc\n");
static const uint32_t made_code[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2, 0xaa0103e0,
                                     0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#endif

static uint64_t called_from; /* the return address of the function under test */

static NOINLINE void call_bare(void (*bare)(void (*)(void *), void *), struct outcome *outcome)
{
    called_from = (uint64_t)(uintptr_t)__builtin_return_address(0);
    bare(capture, outcome);
    KEEP();
}

/* The compiler's unwinder ends in the bare frame; the frames after it are known from the code. */
static void a_frame_record_stands_in_for_a_row(void **state)
{
    static struct outcome outcome;

    (void)state;
    for (int i = 0; i < 3; i++) {
        call_bare(bare_with_record, &outcome);
        assert_true(outcome.stack.flags & UNWIND_GUESSED);
        assert_true(outcome.pcs[0] - (uintptr_t)bare_with_record < 40);
        assert_in_range(outcome.pcs[1], (uintptr_t)call_bare, (uintptr_t)call_bare + 200);
        if (RECORD_GIVES_SP) {
            assert_true(outcome.stack.count > 3);
            assert_int_equal(outcome.pcs[2], called_from);
        } else if (outcome.stack.count == 2) { /* the next row may need the sp that is not known */
            assert_true(outcome.stack.flags & UNWIND_NO_ROWS);
        }
    }
    expect_no_mismatch();
}

/* The frame pointer is that of call_bare: following it would leave call_bare out. */
static void without_a_record_the_walk_ends(void **state)
{
    static struct outcome outcome;

    (void)state;
    for (int i = 0; i < 3; i++) {
        call_bare(bare_without_record, &outcome);
        assert_int_equal(outcome.stack.count, 1);
        assert_int_equal(outcome.stack.flags, UNWIND_NO_ROWS);
        assert_true(outcome.pcs[0] - (uintptr_t)bare_without_record < 40);
    }
    expect_no_mismatch();
}

static void a_frame_beyond_the_stack_ends_the_walk(void **state)
{
    static struct outcome outcome;
    struct unwind_registers start = unwind_caller();

    (void)state;
    start.sp = start.fp = 0x10;
    unwind_capture(&unwinder, thread, &start, &outcome.stack);
    assert_int_equal(outcome.stack.count, 1);
    assert_int_equal(outcome.stack.flags, UNWIND_UNREADABLE);
    expect_no_mismatch();
}

static void a_row_that_lies_ends_the_walk(void **state)
{
    static struct outcome outcome;

    (void)state;
    bare_that_lies(capture_alone, &outcome);
    assert_int_equal(outcome.stack.count, 1);
    assert_int_equal(outcome.stack.flags, UNWIND_UNREADABLE);
    expect_no_mismatch();
}

static void code_made_at_run_time_ends_the_walk_with_a_mark(void **state)
{
    static struct outcome outcome;
    char *code =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (code == MAP_FAILED)
        skip();
    memcpy(code, made_code, sizeof(made_code));
    __builtin___clear_cache(code, code + sizeof(made_code));
    for (int i = 0; i < 3; i++) {
        void (*made)(void (*)(void *), void *);

        *(void **)&made = code;
        made(capture_alone, &outcome);
        assert_int_equal(outcome.stack.flags, UNWIND_JIT);
        assert_int_equal(outcome.stack.count, 1);
        assert_in_range(outcome.stack.pcs[0], (uintptr_t)code, (uintptr_t)code + PAGE);
    }
    munmap(code, PAGE);
    expect_no_mismatch();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_kinds_are_walked),
        cmocka_unit_test(a_lower_limit_is_kept),
        cmocka_unit_test(a_hundred_thousand_frames_are_cut_with_a_mark),
        cmocka_unit_test(a_handler_is_walked_through),
#ifdef __x86_64__
        cmocka_unit_test(a_function_interrupted_as_it_returns_has_its_callers),
#endif
        cmocka_unit_test(handlers_at_any_time_are_right_or_say_so),
        cmocka_unit_test(longjmp_leaves_no_frames_behind),
        cmocka_unit_test(coroutines_are_walked_to_their_start),
        cmocka_unit_test(a_coroutine_is_not_the_rest_of_its_threads_stack),
        cmocka_unit_test(a_stack_that_was_unmapped_is_not_read),
        cmocka_unit_test(objects_come_and_go_in_four_threads),
        cmocka_unit_test(rows_are_made_again_after_an_object_left_only),
        cmocka_unit_test(objects_are_found_in_a_list_too),
        cmocka_unit_test(a_frame_record_stands_in_for_a_row),
        cmocka_unit_test(without_a_record_the_walk_ends),
        cmocka_unit_test(a_frame_beyond_the_stack_ends_the_walk),
        cmocka_unit_test(a_row_that_lies_ends_the_walk),
        cmocka_unit_test(code_made_at_run_time_ends_the_walk_with_a_mark),
    };

    if (argc != 3)
        return 2;
    plugins[0] = argv[1];
    plugins[1] = argv[2];
    thread = zeros(sizeof(*thread));
    unwinder.is_checking = true;
    unwinder_prepare(&unwinder);
    return cmocka_run_group_tests_name("hard stacks", tests, NULL, NULL);
}
