/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills at random moments, through the launcher: "kills_test LEAKTIDE PROGRAMS". The rings are
 * small, so they are full all the time. What was recorded is compared with the program's own
 * ledger.
 *
 * LEAKTIDE_TEST_KILLS says how many of each kind (8).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "block_bytes.h"
#include "count_up.h"
#include "traced_run.h"

enum { CHILDREN_MOST = 64, PATIENCE_MS = 60000, WORST_MOMENT_US = 120000 };

static const char *leaktide, *programs;
static unsigned seed;

/* Who is killed beside the program, and when. */
enum others {
    NOBODY,
    CONSUMERS, /* again and again while the program runs */
    EVERYBODY  /* the consumer and the launcher, at the same moment as the program */
};

static const struct kill_case {
    const char *name;
    const char *threads, *forks;
    enum others others;
    const char *consumer_threads; /* NULL: as the machine has processors */
} kill_cases[] = {
    {"a_program_of_2_threads", "2", "0", NOBODY, NULL},
    {"a_program_of_8_threads", "8", "0", NOBODY, NULL},
    {"a_program_of_8_threads_and_a_consumer_of_4", "8", "0", NOBODY, "4"},
    {"a_program_and_its_forks", "2", "3", NOBODY, NULL},
    {"the_consumer_again_and_again", "2", "0", CONSUMERS, NULL},
    {"the_consumer_of_forks", "2", "3", CONSUMERS, NULL},
    {"a_consumer_of_4_threads_again_and_again", "8", "1", CONSUMERS, "4"},
    {"program_consumer_and_launcher_at_once", "2", "0", EVERYBODY, NULL},
    {"forks_consumer_and_launcher_at_once", "2", "3", EVERYBODY, NULL},
};

struct run {
    char folder[256], recording[300], ledger_path[300];
    pid_t launcher;
    struct count_up_ledger ledger;
};

static void run_start(struct run *run, const struct kill_case *c)
{
    char program[512];

    memset(run, 0, sizeof(*run));
    folder_make(run->folder);
    snprintf(run->recording, sizeof(run->recording), "%s/run", run->folder);
    snprintf(run->ledger_path, sizeof(run->ledger_path), "%s/ledger", run->folder);
    snprintf(program, sizeof(program), "%s/count_up", programs);
    run->launcher = fork();
    if (run->launcher == 0) {
        if (c->consumer_threads)
            setenv("LEAKTIDE_CONSUMER_THREADS", c->consumer_threads, 1);
        execl(leaktide, leaktide, "run", "-q", "--device=cpu", "--ring-size=64k", "-o",
              run->recording, "--", program, c->threads, run->ledger_path, c->forks, NULL);
        _exit(127);
    }
}

static bool ledger_read(struct run *run)
{
    int file = open(run->ledger_path, O_RDONLY | O_CLOEXEC);
    bool is_read =
        file >= 0 && read(file, &run->ledger, sizeof(run->ledger)) == (ssize_t)sizeof(run->ledger);

    if (file >= 0)
        close(file);
    return is_read;
}

/* Until every process of the program has said who it is. */
static void run_await(struct run *run, int process_count)
{
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms++) {
        if (ledger_read(run)) {
            int begun = 0;

            while (begun < process_count && run->ledger.process_ids[begun])
                begun++;
            if (begun == process_count)
                return;
        }
        usleep(1000);
    }
    fail_msg("the program did not begin");
}

/* A child of the launcher that is no process of the program; 0: there is none just now. */
static pid_t consumer_of(const struct run *run)
{
    char path[64];
    FILE *list;
    int child, found = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", run->launcher, run->launcher);
    list = fopen(path, "r");
    while (list && !found && fscanf(list, "%d", &child) == 1)
        if (child != run->ledger.process_ids[0])
            found = child;
    if (list)
        fclose(list);
    return found;
}

static void consumer_kill(const struct run *run)
{
    pid_t consumer = consumer_of(run);

    if (consumer > 0)
        kill(consumer, SIGKILL);
}

static void program_kill(const struct run *run, int process_count)
{
    for (int i = process_count - 1; i >= 0; i--)
        kill(run->ledger.process_ids[i], SIGKILL);
}

static void random_moment(void)
{
    usleep((useconds_t)(rand_r(&seed) % WORST_MOMENT_US));
}

static void kill_all(struct run *run, const struct kill_case *c, int process_count)
{
    if (c->others == CONSUMERS)
        for (int i = 0; i < 5; i++) {
            usleep((useconds_t)(rand_r(&seed) % 30000));
            consumer_kill(run);
        }
    random_moment();
    if (c->others == EVERYBODY) {
        pid_t consumer = consumer_of(run);

        if (consumer > 0)
            kill(consumer, SIGSTOP); /* so that it does not finish its work after the kill */
        kill(run->launcher, SIGKILL);
        if (consumer > 0)
            kill(consumer, SIGKILL);
    }
    program_kill(run, process_count);
}

static void ledger_compare(struct run *run, int lanes)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    uint64_t done = 0, recorded;

    assert_true(ledger_read(run));
    for (int i = 0; i < lanes; i++)
        done += run->ledger.lanes[i].event_count;
    trace_count_size(run->recording, &count, &totals);
    recorded = count.alloc_count + count.free_count;
    if (recorded < done || recorded > done + (uint64_t)(lanes * COUNT_UP_IN_FLIGHT))
        fail_msg("%s: %lu events done, %lu allocs and %lu frees read", run->recording,
                 (unsigned long)done, (unsigned long)count.alloc_count,
                 (unsigned long)count.free_count);
    assert_int_equal(totals.lost_count, 0);
}

static void one_kill(const struct kill_case *c)
{
    int process_count = 1 + atoi(c->forks);
    struct run run;
    int status;

    run_start(&run, c);
    run_await(&run, process_count);
    kill_all(&run, c, process_count);
    assert_int_equal(waitpid(run.launcher, &status, 0), run.launcher);
    if (c->others != EVERYBODY)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
    else
        usleep(20000); /* the last of them is gone */
    ledger_compare(&run, process_count * atoi(c->threads));
    folder_remove(run.folder);
}

static void every_event_is_there_after_the_kill_of(void **state)
{
    const char *kills = getenv("LEAKTIDE_TEST_KILLS");
    int count = kills ? atoi(kills) : 8;

    for (int i = 0; i < count; i++)
        one_kill(*state);
}

int main(int argc, char **argv)
{
    enum { case_count = sizeof(kill_cases) / sizeof(kill_cases[0]) };
    struct CMUnitTest tests[case_count];

    if (argc < 3)
        return 2;
    leaktide = argv[1];
    programs = argv[2];
    seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    for (size_t i = 0; i < case_count; i++)
        tests[i] = (struct CMUnitTest){.name = kill_cases[i].name,
                                       .test_func = every_event_is_there_after_the_kill_of,
                                       .initial_state = (void *)&kill_cases[i]};
    return _cmocka_run_group_tests("kills", tests, case_count, NULL, NULL);
}
