/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is recorded stays recorded, however the program ends: "recording_test LIBRARY PROGRAMS
 * [LEAKTIDE]". With the command, programs are started by it and their rings emptied by its
 * consumer.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "block_bytes.h"
#include "count_up.h"
#include "traced_run.h"

static const char *library, *programs;

enum { BLOCKS = 30001 };

static char *program_path(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", programs, name);
    return path;
}

struct ending {
    const char *way;
    int times; /* how often the blocks are allocated */
    int exit_status, signal;
};

static void an_ending_keeps_every_event(void **state)
{
    const struct ending *ending = *state;
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256], number[32];
    const char *argv[] = {program_path("alloc_then"), number, ending->way, NULL};
    int status;

    snprintf(number, sizeof(number), "%d", BLOCKS);
    folder_make(folder);
    status = traced_run(library, folder, "", argv);
    if (ending->signal)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ending->signal);
    else
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ending->exit_status);
    trace_count_size(folder, &count, &totals);
    assert_int_equal(count.alloc_count, ending->times * BLOCKS);
    assert_int_equal(count.free_count, ending->times * (BLOCKS / 2));
    assert_int_equal(totals.lost_count, 0);
    assert_int_equal(totals.note_count, 0);
    folder_remove(folder);
}

static const struct ending endings[] = {
    {"exit", 1, 0, 0},       {"_exit", 1, 0, 0},  {"abort", 1, 0, SIGABRT}, {"segv", 1, 0, SIGSEGV},
    {"kill", 1, 0, SIGKILL}, {"exec", 1, 0, 0},   {"thread", 2, 0, 0},      {"fork", 2, 0, 0},
    {"vfork", 1, 0, 0},      {"closed", 2, 0, 0}, {"dlclose", 1, 0, 0},
};

static uint64_t counters_read(const char *path)
{
    struct count_up_ledger ledger;
    uint64_t sum = 0;
    FILE *file = fopen(path, "rb");

    if (!file)
        return 0;
    if (fread(&ledger, 1, sizeof(ledger), file) == sizeof(ledger))
        for (size_t i = 0; i < COUNT_UP_LANES; i++)
            sum += ledger.lanes[i].event_count;
    fclose(file);
    return sum;
}

static void kill_at_some_moment(int round)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256], counters[300];
    const char *argv[] = {program_path("count_up"), "3", counters, NULL};
    uint64_t done;
    pid_t child;
    int status;

    folder_make(folder);
    snprintf(counters, sizeof(counters), "%s-counters", folder);
    child = traced_start(library, folder, "--ring-size=64k", argv);
    usleep((useconds_t)(2000 + round * 7919 % 40000));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    done = counters_read(counters);
    unlink(counters);
    if (done) {
        trace_count_size(folder, &count, &totals);
        /* An event may be recorded although its thread had not counted it yet. */
        if (count.alloc_count + count.free_count < done ||
            count.alloc_count + count.free_count > done + 6)
            fail_msg("round %d: %lu events done, %lu allocs and %lu frees read", round,
                     (unsigned long)done, (unsigned long)count.alloc_count,
                     (unsigned long)count.free_count);
        assert_int_equal(totals.lost_count, 0);
    }
    folder_remove(folder);
}

static void a_kill_at_any_moment_loses_nothing(void **state)
{
    const char *rounds = getenv("LEAKTIDE_TEST_KILLS");
    int count = rounds ? atoi(rounds) : 100;

    (void)state;
    for (int round = 0; round < count; round++)
        kill_at_some_moment(round);
}

static void a_fork_storm_gives_each_child_its_own_file(void **state)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256];
    const char *argv[] = {program_path("fork_storm"), "120", "700", NULL};
    int status;

    (void)state;
    folder_make(folder);
    status = traced_run(library, folder, "--ring-size=64k", argv);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    trace_count_size(folder, &count, &totals);
    assert_int_equal(totals.process_count, 1 + 120);
    assert_int_equal(count.alloc_count, 120 * 700);
    assert_int_equal(totals.lost_count, 0);
    folder_remove(folder);
}

static void children_can_be_left_alone(void **state)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256];
    const char *argv[] = {program_path("fork_storm"), "30", "10", NULL};
    int status;

    (void)state;
    folder_make(folder);
    status = traced_run(library, folder, "--follow-children=no", argv);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    trace_count_size(folder, &count, &totals);
    assert_int_equal(totals.process_count, 1);
    assert_int_equal(count.alloc_count, 0);
    folder_remove(folder);
}

/* Runs alloc_then where only so many bytes fit; it must not notice. */
static void run_in_little_room(const char *folder)
{
    const char *argv[] = {program_path("alloc_then"), "2000000", "exit", NULL};
    int status = traced_run(library, folder, "", argv);

    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_full_disk_is_told_and_harms_nobody(void **state)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256];

    (void)state;
    folder_make(folder);
    if (mount("none", folder, "tmpfs", 0, "size=2500k,mode=700") != 0) {
        folder_remove(folder);
        print_message("SKIPPED: a small tmpfs needs the right to mount\n");
        skip();
    }
    run_in_little_room(folder);
    trace_count_size(folder, &count, &totals);
    assert_true(totals.lost_count > 0);
    assert_int_equal(totals.lost_count + totals.alloc_count + totals.free_count >= 3000000, 1);
    umount(folder);
    folder_remove(folder);
}

static void no_room_at_all_harms_nobody(void **state)
{
    char folder[256];

    (void)state;
    folder_make(folder);
    if (mount("none", folder, "tmpfs", 0, "size=4k,mode=700") != 0) {
        folder_remove(folder);
        skip();
    }
    run_in_little_room(folder);
    umount(folder);
    folder_remove(folder);
}

static void a_limit_of_file_size_is_kept(void **state)
{
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct rlimit limit = {100 * 1024, RLIM_INFINITY}, before;
    struct trace_totals totals;
    char folder[256];

    (void)state;
    folder_make(folder);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &limit);
    run_in_little_room(folder);
    setrlimit(RLIMIT_FSIZE, &before);
    trace_count_size(folder, &count, &totals);
    assert_true(totals.lost_count > 0);
    folder_remove(folder);
}

static void a_folder_that_cannot_be_written_harms_nobody(void **state)
{
    (void)state;
    run_in_little_room("/proc/leaktide-cannot-be-here");
}

static int output_of(const char *command, char *out, size_t size)
{
    FILE *pipe = popen(command, "r");
    size_t count = pipe ? fread(out, 1, size - 1, pipe) : 0;

    out[count] = '\0';
    return pipe ? pclose(pipe) : -1;
}

/* The same command with and without us: output and status must not differ. */
static void a_real_program_does_not_notice(void **state)
{
    const char *command = *state;
    static char plain[1 << 16], traced[1 << 16];
    struct size_count count = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256], options[512];
    int plain_status = output_of(command, plain, sizeof(plain)), traced_status;

    if (WEXITSTATUS(plain_status) == 127)
        skip();
    folder_make(folder);
    snprintf(options, sizeof(options), "--device=cpu --output-path=%s", folder);
    setenv("LEAKTIDE_OPTIONS", options, 1);
    setenv("LD_PRELOAD", library, 1);
    traced_status = output_of(command, traced, sizeof(traced));
    unsetenv("LD_PRELOAD");
    unsetenv("LEAKTIDE_OPTIONS");
    assert_int_equal(traced_status, plain_status);
    assert_string_equal(traced, plain);
    trace_count_size(folder, &count, &totals);
    assert_true(totals.alloc_count > 10);
    assert_true(totals.alloc_count >= totals.free_count - totals.free_count / 20);
    assert_int_equal(totals.lost_count, 0);
    assert_int_equal(totals.note_count, 0);
    folder_remove(folder);
}

/* What a program says it asked for, what the trace says, and what valgrind says. */
static void every_allocation_is_counted(void **state)
{
    struct size_count unused = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256], line[2048], output[4096];
    unsigned long allocs, frees, bytes;

    (void)state;
    folder_make(folder);
    snprintf(line, sizeof(line),
             "LEAKTIDE_OPTIONS='--device=cpu --output-path=%s' LD_PRELOAD='%s' %s", folder, library,
             program_path("every_allocator"));
    /* popen starts a shell under the tracer's eyes too, unless it becomes the program. */
    memmove(line + 5, line, strlen(line) + 1);
    memcpy(line, "true;", 5);
    assert_int_equal(output_of(line, output, sizeof(output)), 0);
    assert_int_equal(sscanf(output, "%lu %lu %lu", &allocs, &frees, &bytes), 3);
    trace_count_size(folder, &unused, &totals);
    assert_int_equal(totals.process_count, 1);
    assert_int_equal(totals.alloc_count, allocs);
    assert_int_equal(totals.free_count, frees);
    assert_int_equal(totals.alloc_bytes, bytes);
    folder_remove(folder);
}

/* The same program on an allocator of its own choice, behind ours. */
static void a_program_with_its_own_jemalloc_is_counted_too(void **state)
{
    struct size_count unused = {.size_bytes = BLOCK_BYTES};
    struct trace_totals totals;
    char folder[256], line[2048], output[4096];
    unsigned long allocs, frees, bytes;

    (void)state;
    folder_make(folder);
    snprintf(line, sizeof(line),
             "true; LEAKTIDE_OPTIONS='--device=cpu --output-path=%s' LD_PRELOAD='%s' %s plain",
             folder, library, program_path("every_allocator_jemalloc"));
    assert_int_equal(output_of(line, output, sizeof(output)), 0);
    assert_int_equal(sscanf(output, "%lu %lu %lu", &allocs, &frees, &bytes), 3);
    trace_count_size(folder, &unused, &totals);
    assert_int_equal(totals.lost_count, 0);
    /* jemalloc starts before main and may allocate for itself then. */
    assert_in_range(totals.alloc_count, allocs, allocs + 8);
    assert_in_range(totals.free_count, frees, frees + 8);
    folder_remove(folder);
}

/* jemalloc inside the program: its malloc comes first, so there is nothing for us to see. */
static void a_program_that_is_its_own_allocator_runs_as_ever(void **state)
{
    char folder[256], line[2048], plain[4096], traced[4096];

    (void)state;
    folder_make(folder);
    snprintf(line, sizeof(line), "%s plain", program_path("every_allocator_own"));
    assert_int_equal(output_of(line, plain, sizeof(plain)), 0);
    snprintf(line, sizeof(line),
             "true; LEAKTIDE_OPTIONS='--device=cpu --output-path=%s' LD_PRELOAD='%s' %s plain",
             folder, library, program_path("every_allocator_own"));
    assert_int_equal(output_of(line, traced, sizeof(traced)), 0);
    assert_string_equal(traced, plain);
    folder_remove(folder);
}

static void a_setuid_program_is_left_alone(void **state)
{
    char folder[256], program[300], line[4096], output[4096];

    (void)state;
    folder_make(folder);
    snprintf(program, sizeof(program), "%s/setuid", folder);
    snprintf(line, sizeof(line),
             "cp '%s' '%s' && chown 65534 '%s' && chmod 4755 '%s' && chmod 755 '%s'",
             program_path("every_allocator"), program, program, program, folder);
    if (getuid() != 0 || output_of(line, output, sizeof(output)) != 0) {
        folder_remove(folder);
        print_message("SKIPPED: only root can make a setuid program of somebody else\n");
        skip();
    }
    snprintf(line, sizeof(line),
             "true; LEAKTIDE_OPTIONS='--device=cpu --output-path=%s/run' LD_PRELOAD='%s' '%s' 2>&1",
             folder, library, program);
    assert_int_equal(output_of(line, output, sizeof(output)), 0);
    snprintf(line, sizeof(line), "%s/run", folder);
    assert_int_equal(access(line, F_OK), -1);
    folder_remove(folder);
}

static void valgrind_counts_the_same(void **state)
{
    unsigned long allocs, frees, bytes, said_allocs, said_frees, said_bytes;
    char line[2048], output[8192], *total;

    (void)state;
    snprintf(line, sizeof(line), "valgrind %s plain 2>&1 | tr -d ,",
             program_path("every_allocator"));
    output_of(line, output, sizeof(output));
    total = strstr(output, "total heap usage: ");
    if (!total) {
        print_message("SKIPPED: no valgrind\n");
        skip();
    }
    assert_int_equal(
        sscanf(total, "total heap usage: %lu allocs %lu frees %lu bytes", &allocs, &frees, &bytes),
        3);
    snprintf(line, sizeof(line), "%s plain", program_path("every_allocator"));
    assert_int_equal(output_of(line, output, sizeof(output)), 0);
    assert_int_equal(sscanf(output, "%lu %lu %lu", &said_allocs, &said_frees, &said_bytes), 3);
    assert_int_equal(allocs, said_allocs);
    assert_int_equal(frees, said_frees);
    assert_int_equal(bytes, said_bytes);
}

static const char *const commands[] = {
    "python3 -c 'import json; print(json.dumps({str(i): i for i in range(2000)})[:100])' 2>&1",
    "git log --oneline -1 --format=%H -- no-such-file 2>&1 || git --version",
    "sqlite3 :memory: 'create table t(a); insert into t values(1),(2); select sum(a) from t' 2>&1",
    "node -e 'console.log([...Array(1000).keys()].map(x=>({x})).length); process.exit(3)' 2>&1",
    "sh -c 'echo a b c | tr a-z A-Z | sort | uniq -c; exit 7' 2>&1",
    "perl -e 'my %h; $h{$_}=$_ for 1..1000; print scalar(keys %h)' 2>&1",
    "command -v clang >/dev/null || exit 127; printf '#include <map>\\n#include <string>\\n"
    "int main() { std::map<std::string, int> m; return m[\"a\"]++; }' | "
    "clang -x c++ -O2 -c - -o - 2>&1 | cksum",
};

/* What differs between a process that is alone and one with a consumer. */
static const struct CMUnitTest with_both[] = {
    cmocka_unit_test(a_fork_storm_gives_each_child_its_own_file),
    cmocka_unit_test(children_can_be_left_alone),
    cmocka_unit_test(a_full_disk_is_told_and_harms_nobody),
    cmocka_unit_test(no_room_at_all_harms_nobody),
    cmocka_unit_test(a_limit_of_file_size_is_kept),
};

static const struct CMUnitTest alone[] = {
    cmocka_unit_test(every_allocation_is_counted),
    cmocka_unit_test(a_program_with_its_own_jemalloc_is_counted_too),
    cmocka_unit_test(a_program_that_is_its_own_allocator_runs_as_ever),
    cmocka_unit_test(a_setuid_program_is_left_alone),
    cmocka_unit_test(valgrind_counts_the_same),
    cmocka_unit_test(a_folder_that_cannot_be_written_harms_nobody),
    cmocka_unit_test(a_kill_at_any_moment_loses_nothing),
};

static void add_all(struct CMUnitTest *tests, size_t *count, const struct CMUnitTest *more,
                    size_t more_count)
{
    memcpy(tests + *count, more, more_count * sizeof(*more));
    *count += more_count;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[64];
    size_t count = 0;

    if (argc < 3)
        return 2;
    library = argv[1];
    programs = argv[2];
    traced_launcher = argc > 3 ? argv[3] : NULL;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        tests[count++] = (struct CMUnitTest){endings[i].way, an_ending_keeps_every_event, NULL,
                                             NULL, (void *)&endings[i]};
    add_all(tests, &count, with_both, sizeof(with_both) / sizeof(with_both[0]));
    if (!traced_launcher) {
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
            tests[count++] = (struct CMUnitTest){commands[i], a_real_program_does_not_notice, NULL,
                                                 NULL, (void *)commands[i]};
        add_all(tests, &count, alone, sizeof(alone) / sizeof(alone[0]));
    }
    return _cmocka_run_group_tests("recording", tests, count, NULL, NULL);
}
