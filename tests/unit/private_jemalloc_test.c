/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private jemalloc: works from threads and after fork, and keeps to itself.
 *
 * ctest runs this with MALLOC_CONF=narenas:3, as a traced program that uses jemalloc might have.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void *mt_je_malloc(size_t size_bytes);
void *mt_je_calloc(size_t count, size_t size_bytes);
void *mt_je_realloc(void *address, size_t size_bytes);
void mt_je_free(void *address);
int mt_je_mallctl(const char *name, void *old_value, size_t *old_size_bytes, void *new_value,
                  size_t new_size_bytes);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { space_can_be_short = 0 }; /* their runtime ends the program */
#else
enum { space_can_be_short = 1 };
#endif

enum { thread_count = 6, rounds = 20000, slot_count = 64 };

/* Slots are shared: a block is often freed by another thread than the one that made it. */
static struct {
    pthread_mutex_t lock;
    unsigned char *block;
} slots[slot_count];

static size_t size_of_round(unsigned round)
{
    return 16 + (round * 2654435761U) % 9000;
}

/* Allocates, fills, swaps into a slot, checks and frees what was there; answers what was wrong. */
static void *churn(void *argument)
{
    uintptr_t wrong = 0;
    unsigned seed = (unsigned)(uintptr_t)argument;

    for (unsigned round = 0; round < rounds; round++) {
        size_t size_bytes = size_of_round(round * 7 + seed);
        unsigned char *block = mt_je_malloc(size_bytes);
        unsigned char *previous;
        unsigned index = (round * 31 + seed) % slot_count;

        if (!block)
            return (void *)(uintptr_t)1;
        memcpy(block, &size_bytes, sizeof(size_bytes));
        block[size_bytes - 1] = (unsigned char)index;
        pthread_mutex_lock(&slots[index].lock);
        previous = slots[index].block;
        slots[index].block = block;
        pthread_mutex_unlock(&slots[index].lock);
        if (!previous)
            continue;
        memcpy(&size_bytes, previous, sizeof(size_bytes));
        wrong += previous[size_bytes - 1] != index;
        mt_je_free(previous);
    }
    return (void *)wrong;
}

static uintptr_t churn_in_threads(void)
{
    pthread_t threads[thread_count];
    uintptr_t wrong = 0;

    for (size_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)(i * 1000)) != 0)
            return 1;
    for (size_t i = 0; i < thread_count; i++) {
        void *answer = NULL;

        pthread_join(threads[i], &answer);
        wrong += (uintptr_t)answer;
    }
    return wrong;
}

static void blocks_stay_whole_when_threads_share_them(void **state)
{
    (void)state;
    assert_int_equal(churn_in_threads(), 0);
}

static void allocates_in_threads_of_a_forked_child(void **state)
{
    unsigned char *block = mt_je_calloc(1, 5000);
    int status = -1;
    pid_t child;

    (void)state;
    assert_non_null(block);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        block = mt_je_realloc(block, 50000);
        if (!block || block[4999] != 0 || churn_in_threads() != 0)
            _exit(1);
        mt_je_free(block);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    mt_je_free(block);
}

static size_t address_space_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;

    if (!file || fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A thread that starts when nothing is left must not be given an arena that could not be made. */
static void answers_null_where_address_space_is_short(void **state)
{
    (void)state;
    if (!space_can_be_short)
        skip();
    for (size_t left = 9; left <= 64; left += 5) {
        int status = -1;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            size_t bytes = address_space_bytes() + (left << 20);

            alarm(20);
            setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
            churn_in_threads();
            while (mt_je_malloc(1 << 16))
                ;
            _exit(mt_je_calloc(1, 1 << 20) || churn_in_threads() == 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static uint64_t bytes_of_this_thread(void)
{
    uint64_t bytes = 0;
    size_t size_bytes = sizeof(bytes);

    assert_int_equal(mt_je_mallctl("thread.allocated", &bytes, &size_bytes, NULL, 0), 0);
    return bytes;
}

static void leaves_malloc_of_the_program_alone(void **state)
{
    uint64_t before = bytes_of_this_thread();
    void *volatile theirs = malloc(4096);
    void *ours;

    (void)state;
    assert_int_equal(bytes_of_this_thread(), before);
    ours = mt_je_malloc(4096);
    assert_int_equal(bytes_of_this_thread(), before + 4096);
    mt_je_free(ours);
    free(theirs);
}

static void takes_its_own_settings_and_not_those_of_the_environment(void **state)
{
    unsigned arenas = 0;
    size_t size_bytes = sizeof(arenas);

    (void)state;
    assert_string_equal(getenv("MALLOC_CONF"), "narenas:3");
    assert_int_equal(mt_je_mallctl("opt.narenas", &arenas, &size_bytes, NULL, 0), 0);
    assert_int_equal(arenas, 1);
}

static int init_slots(void **state)
{
    (void)state;
    for (size_t i = 0; i < slot_count; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_stay_whole_when_threads_share_them),
        cmocka_unit_test(allocates_in_threads_of_a_forked_child),
        cmocka_unit_test(answers_null_where_address_space_is_short),
        cmocka_unit_test(leaves_malloc_of_the_program_alone),
        cmocka_unit_test(takes_its_own_settings_and_not_those_of_the_environment),
    };

    return cmocka_run_group_tests(tests, init_slots, NULL);
}
