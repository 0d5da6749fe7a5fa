/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_growth COMPLAINT MENDED SECONDS: a process that grows in one of the ways that people
 * report, or, with MENDED 1, its twin that does not. ACCOUNT_GROWTH_NAME, in its environment,
 * stands in the names of files that "left" leaves behind.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaktide/tracer.h"

enum { TURN_MS = 100, TURN_BYTES = 1 << 20, BLOCK_BYTES = 4000 };

static int is_mended;

/* The recording of a process begins with its first event. */
static void be_recorded(void)
{
    void *volatile block = malloc(1);

    free(block);
}

/* Less than the others: an account walks all small blocks, and may not cost more than its budget.
 */
static void blocks_turn(int turn)
{
    enum { COUNT = TURN_BYTES / 4 / BLOCK_BYTES };

    (void)turn;
    for (int i = 0; i < COUNT; i++) {
        char *block = malloc(BLOCK_BYTES);

        memset(block, 1, BLOCK_BYTES);
        if (is_mended)
            free(block);
    }
}

/* Shrunk to a small block each, with a hole after it; the next ones are larger than the holes. */
static void kept_turn(int turn)
{
    enum { LARGE_BYTES = 20000, SMALL_BYTES = 100, COUNT = TURN_BYTES / LARGE_BYTES };
    static char *blocks[COUNT];
    size_t bytes = LARGE_BYTES + (size_t)turn * 64;

    for (size_t i = 0; i < COUNT; i++)
        memset(blocks[i] = malloc(bytes), 1, bytes);
    for (size_t i = 0; i < COUNT; i++) {
        if (is_mended)
            free(blocks[i]);
        else
            blocks[i] = realloc(blocks[i], SMALL_BYTES);
    }
}

static void shared_turn(int turn)
{
    char name[64];
    void *segment;
    int file;

    snprintf(name, sizeof(name), "/account-%d-%d", (int)getpid(), turn);
    file = shm_open(name, O_CREAT | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, TURN_BYTES) != 0)
        exit(1);
    segment = mmap(NULL, TURN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    memset(segment, 1, TURN_BYTES);
    close(file);
    shm_unlink(name);
    if (is_mended)
        munmap(segment, TURN_BYTES);
}

/* Past the C library, so no hook sees it; beside blocks that come and go. */
static void unseen_turn(int turn)
{
    void *mapped = (void *)syscall(SYS_mmap, NULL, TURN_BYTES, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

    (void)turn;
    memset(mapped, 1, TURN_BYTES);
    if (is_mended)
        syscall(SYS_munmap, mapped, TURN_BYTES);
    for (int i = 0; i < 16; i++)
        be_recorded();
}

static void files_turn(int turn)
{
    static int file = -1;
    char path[] = "/tmp/account.XXXXXX", *mapped;
    volatile char sum = 0;

    if (file < 0) {
        file = mkstemp(path);
        unlink(path);
    }
    if (posix_fallocate(file, (off_t)turn * TURN_BYTES, TURN_BYTES) != 0)
        exit(1);
    mapped = mmap(NULL, TURN_BYTES, PROT_READ, MAP_SHARED, file, (off_t)turn * TURN_BYTES);
    for (int i = 0; i < TURN_BYTES; i += 4096)
        sum += mapped[i];
    if (is_mended)
        munmap(mapped, TURN_BYTES);
}

/* Its stack is used, as by a library with large frames. */
static void *thread_run(void *nothing)
{
    char frame[TURN_BYTES / 2];

    memset(frame, 1, sizeof(frame));
    __asm__ volatile("" : : "r"(frame) : "memory");
    if (!is_mended)
        pause();
    return nothing;
}

static void threads_turn(int turn)
{
    pthread_t thread;

    (void)turn;
    if (pthread_create(&thread, NULL, thread_run, NULL) != 0)
        exit(1);
    if (is_mended)
        pthread_join(thread, NULL);
}

static void processes_turn(int turn)
{
    pid_t worker;

    if (turn % 5)
        return;
    worker = fork();
    if (!worker) {
        char *own = malloc(4 * TURN_BYTES);

        memset(own, 1, 4 * TURN_BYTES);
        be_recorded();
        usleep(300000);
        if (is_mended)
            _exit(0);
        pause();
    }
}

/* Segments that nobody maps any more, and whose names stay. */
/* Who started it unlinks these: while the program did, an account would see them go. */
static void left_turn(int turn)
{
    char path[64], bytes[4096] = {1};
    int file;

    snprintf(path, sizeof(path), "/dev/shm/account-%s-%d", getenv("ACCOUNT_GROWTH_NAME"), turn);
    file = open(path, O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < TURN_BYTES; i += (int)sizeof(bytes))
        if (write(file, bytes, sizeof(bytes)) < 0)
            exit(1);
    close(file);
    if (is_mended)
        unlink(path);
}

static void cache_turn(int turn)
{
    static int file = -1;
    char path[] = "/tmp/account.XXXXXX", bytes[4096] = {1};

    if (file < 0) {
        file = mkstemp(path);
        unlink(path);
    }
    if (is_mended)
        lseek(file, 0, SEEK_SET);
    (void)turn;
    for (int i = 0; i < TURN_BYTES; i += (int)sizeof(bytes))
        if (write(file, bytes, sizeof(bytes)) < 0)
            exit(1);
}

/* What a step holds is gone at its end; between them nothing is. */
static void steps_turn(int turn)
{
    enum { OF_STEP_BYTES = 24 << 20 };
    char *held;

    (void)turn;
    mt_step_begin();
    held = mmap(NULL, OF_STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(held, 1, OF_STEP_BYTES);
    nanosleep(&(struct timespec){.tv_nsec = TURN_MS * 3000000L}, NULL);
    munmap(held, OF_STEP_BYTES);
    mt_step_end();
}

static const struct {
    const char *name;
    void (*turn)(int turn);
} complaints[] = {
    {"blocks", blocks_turn}, {"kept", kept_turn},           {"shared", shared_turn},
    {"files", files_turn},   {"threads", threads_turn},     {"left", left_turn},
    {"cache", cache_turn},   {"processes", processes_turn}, {"unseen", unseen_turn},
    {"steps", steps_turn},
};

static void leave_no_segments(int turns)
{
    char path[64];

    for (int i = 0; i < turns; i++) {
        snprintf(path, sizeof(path), "/dev/shm/account-%d-%d", (int)getpid(), i);
        unlink(path);
    }
}

int main(int count, char **words)
{
    void (*turn)(int turn) = NULL;
    int turns = count > 3 ? atoi(words[3]) * 1000 / TURN_MS : 0;

    for (size_t i = 0; count > 3 && i < sizeof(complaints) / sizeof(complaints[0]); i++)
        if (strcmp(complaints[i].name, words[1]) == 0)
            turn = complaints[i].turn;
    if (!turn)
        return 2;
    is_mended = atoi(words[2]);
    setpgid(0, 0); /* who started it goes on when the workers are ended */
    signal(SIGCHLD, SIG_IGN);
    be_recorded();
    for (int i = 0; i < turns; i++) {
        turn(i);
        nanosleep(&(struct timespec){.tv_nsec = TURN_MS * 1000000}, NULL);
    }
    leave_no_segments(turns);
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM); /* workers that are left */
    return 0;
}
