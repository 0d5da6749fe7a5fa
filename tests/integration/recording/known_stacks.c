/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows its own stacks: "known_stacks WAY FILE [PLUGIN...]". Before it allocates, it
 * asks the compiler's unwinder who called, and writes that into FILE.<pid>.
 */
#define _GNU_SOURCE
#include "known_stacks.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define NOINLINE __attribute__((noinline))
#define KEEP()   __asm__ volatile("" ::: "memory")

enum { THREADS = 4, COROUTINES = 8, DEEP = 100000 };

static struct known_stack *known;
static _Atomic uint32_t block_count;
static const char *path;
static char *const *plugins;

/* --- what is known ---------------------------------------------------------------------- */

static _Unwind_Reason_Code gather(struct _Unwind_Context *context, void *data)
{
    struct known_stack *stack = data;

    if (stack->count == KNOWN_FRAMES || !_Unwind_GetIP(context))
        return _URC_END_OF_STACK;
    stack->pcs[stack->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void write_known(void)
{
    char name[512];
    int file;

    snprintf(name, sizeof(name), "%s.%d", path, (int)getpid());
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (uint32_t i = 0; i < block_count && i < KNOWN_BLOCKS_MAX; i++)
        if (known[i].count && write(file, &known[i], sizeof(known[i])) != sizeof(known[i]))
            _exit(9);
    close(file);
}

/* The first frame is the function that this is in, a little before its call of malloc. */
static NOINLINE void block_here(void)
{
    uint32_t index = atomic_fetch_add(&block_count, 1);
    struct known_stack *stack = &known[index];
    void *block;

    if (index >= KNOWN_BLOCKS_MAX)
        return;
    _Unwind_Backtrace(gather, stack);
    stack->size_bytes = KNOWN_SIZE_MIN + index;
    block = malloc(stack->size_bytes);
    KEEP();
    free(block);
}

/* --- ways ------------------------------------------------------------------------------- */

static NOINLINE void left(uint32_t path_bits, int depth);

static NOINLINE void right(uint32_t path_bits, int depth)
{
    volatile char room[40];

    room[0] = 1;
    if (depth == 0)
        block_here();
    else if (path_bits & 1)
        left(path_bits >> 1, depth - 1);
    else
        right(path_bits >> 1, depth - 1);
    room[1] = room[0];
}

static NOINLINE void left(uint32_t path_bits, int depth)
{
    volatile char *room = alloca(16 + path_bits % 64);

    room[0] = 1;
    if (depth % 3 == 0)
        block_here();
    if (depth == 0)
        return;
    if (path_bits & 2)
        left(path_bits >> 1, depth - 1);
    else
        right(path_bits >> 1, depth - 1);
    room[1] = room[0];
}

static void walk_paths(uint32_t count)
{
    uint32_t random = 7;

    for (uint32_t i = 0; i < count; i++) {
        random = random * 1103515245 + 12345;
        right(random >> 8, (int)(random >> 28));
    }
}

static void on_tick(int number)
{
    (void)number;
    block_here();
}

static void ticking(int flags)
{
    static char other_stack[1 << 16];
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = flags | SA_RESTART};
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};

    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    walk_paths(1500);
    setitimer(ITIMER_REAL, &never, NULL);
}

static void signals(void)
{
    ticking(0);
    ticking(SA_ONSTACK);
}

static jmp_buf back;

static void jump_back(void *unused)
{
    (void)unused;
    longjmp(back, 1);
}

/* The compiler need not know that they do not return. */
static void (*volatile leave_by_jump)(void *) = jump_back;
static void (*volatile leave_thread)(void *) = pthread_exit;

static NOINLINE void jump_from(int depth)
{
    volatile char room[100];

    room[0] = 1;
    block_here();
    if (depth)
        jump_from(depth - 1);
    else
        leave_by_jump(NULL);
    room[1] = room[0];
}

static void jumps(void)
{
    for (volatile int i = 0; i < 500; i++) {
        if (setjmp(back) == 0)
            jump_from(i % 23);
        right((uint32_t)i, i % 9);
    }
}

static ucontext_t main_context, contexts[COROUTINES];

static void coroutine(int number)
{
    for (int i = 0; i < 100; i++) {
        right((uint32_t)(number * 977 + i), i % 7);
        swapcontext(&contexts[number], &main_context);
    }
}

static void coroutines(void)
{
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp =
            mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        contexts[i].uc_stack.ss_size = 1 << 16;
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&main_context, &contexts[(i * 3 + round) % COROUTINES]);
}

static NOINLINE void go_deep(int depth)
{
    if (depth % 5000 == 0)
        block_here();
    if (depth)
        go_deep(depth - 1);
    KEEP();
}

static void *deep_thread(void *argument)
{
    (void)argument;
    go_deep(DEEP);
    return NULL;
}

static void deep(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20);
    pthread_create(&thread, &attributes, deep_thread, NULL);
    pthread_join(thread, NULL);
}

static void from_plugin(void *data)
{
    (void)data;
    block_here();
}

static void *plugin_thread(void *argument)
{
    const char *plugin = argument;

    for (int i = 0; i < 60; i++) {
        void *object = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        void (*call)(void (*)(void *), void *) = NULL;

        *(void **)&call = object ? dlsym(object, "plugin_call") : NULL;
        if (!call)
            _exit(8);
        call(from_plugin, NULL);
        right((uint32_t)i, 4);
        call(from_plugin, NULL);
        dlclose(object);
    }
    return NULL;
}

static void in_threads(void *(*function)(void *), void *const *arguments, int argument_count)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, function, arguments[i % argument_count]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void objects(void)
{
    void *const arguments[] = {plugins[0], plugins[1]};

    in_threads(plugin_thread, arguments, 2);
}

/* Unwound by force, through cleanups, as exceptions are. */
static NOINLINE void leave_from(int depth)
{
    block_here();
    if (depth)
        leave_from(depth - 1);
    else
        leave_thread(NULL);
    KEEP();
}

static void clean_up(void *argument)
{
    (void)argument;
    block_here();
}

static void *leaving_thread(void *argument)
{
    (void)argument;
    pthread_cleanup_push(clean_up, NULL);
    leave_from(12);
    pthread_cleanup_pop(1);
    return NULL;
}

static void exceptions(void)
{
    void *const nothing[] = {NULL};

    for (int i = 0; i < 20; i++)
        in_threads(leaving_thread, nothing, 1);
}

static void forks(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t child;

        walk_paths(100);
        child = fork();
        if (child == 0) {
            memset(known, 0, block_count * sizeof(*known));
            walk_paths(200);
            write_known();
            exit(0);
        }
        walk_paths(100);
        waitpid(child, NULL, 0);
    }
}

static void paths(void)
{
    walk_paths(8000);
}

static const struct way {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"paths", paths}, {"signals", signals}, {"jumps", jumps},           {"coroutines", coroutines},
    {"deep", deep},   {"objects", objects}, {"exceptions", exceptions}, {"forks", forks},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    path = argv[2];
    plugins = argv + 3;
    known = mmap(NULL, KNOWN_BLOCKS_MAX * sizeof(*known), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            ways[i].run();
    write_known();
    return 0;
}
