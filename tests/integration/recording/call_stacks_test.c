/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks in a recording are those that the program knows itself, or say where they end:
 * "call_stacks_test LIBRARY PROGRAMS HEAP PLUGIN PLUGIN".
 */
#define _GNU_SOURCE
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "event.h"
#include "known_stacks.h"
#include "leaktide/frames.h"
#include "model.h"
#include "traced_run.h"

enum { IN_FUNCTION_BYTES = 400, SIZES = KNOWN_BLOCKS_MAX, PROCESSES = 8 };

static const char *library, *programs, *heap, *plugins[2];

struct known_process {
    int process_id;
    const struct known_stack *stacks[SIZES]; /* by size */
    struct known_stack *rows;
};

struct comparison {
    struct known_process *processes;
    size_t process_count;
    uint64_t equal, incomplete, wrong, unknown, frees_named;
};

static size_t known_read(struct known_process *processes, const char *pattern)
{
    glob_t found;
    size_t process_count;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc <= PROCESSES);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct known_process *process = &processes[i];
        FILE *file = fopen(found.gl_pathv[i], "rb");
        size_t count;

        assert_non_null(file);
        process->process_id = atoi(strrchr(found.gl_pathv[i], '.') + 1);
        fseek(file, 0, SEEK_END);
        count = (size_t)ftell(file) / sizeof(*process->rows);
        rewind(file);
        process->rows = malloc(count * sizeof(*process->rows) + 1);
        assert_int_equal(fread(process->rows, sizeof(*process->rows), count, file), count);
        fclose(file);
        for (size_t row = 0; row < count; row++)
            process->stacks[process->rows[row].size_bytes - KNOWN_SIZE_MIN] = &process->rows[row];
    }
    process_count = found.gl_pathc;
    globfree(&found);
    return process_count;
}

static const struct known_stack *known_of(const struct comparison *comparison,
                                          const struct model *model, const struct event *event)
{
    uint64_t process_id = model_process_at((struct model *)model, event->process)->process_id;

    for (size_t i = 0; i < comparison->process_count; i++)
        if ((uint64_t)comparison->processes[i].process_id == process_id)
            return comparison->processes[i].stacks[event->value - KNOWN_SIZE_MIN];
    return NULL;
}

/* Innermost first. The last frame of a stack that is not whole has no address. */
static size_t frames_of(const struct model *model, uint32_t site, uint64_t *frames, bool *is_whole)
{
    uint32_t stack = model_site_at(model, site)->stack;
    size_t count = 0;

    *is_whole = stack != 0;
    for (; stack; stack = model_stack_at(model, stack)->outer) {
        uint64_t address = model_frame_at(model, model_stack_at(model, stack)->frame)->address;

        *is_whole = address != 0;
        if (address)
            frames[count++] = address;
    }
    return count;
}

static void show(const char *what, const struct known_stack *known, const uint64_t *frames,
                 size_t count)
{
    print_message("%s: %zu frames, %zu known\n", what, count, (size_t)known->count);
    for (size_t i = 0; i < 12; i++)
        print_message("  %llx  %llx\n", (unsigned long long)(i < count ? frames[i] : 0),
                      (unsigned long long)(i < known->count ? known->pcs[i] : 0));
}

static void compare(struct comparison *comparison, const struct known_stack *known,
                    const uint64_t *frames, size_t count, bool is_whole)
{
    size_t same = 1;

    if (count == 0) {
        comparison->incomplete++;
        return;
    }
    /* The program asked somewhat earlier in the same function. */
    if (frames[0] < known->pcs[0] || frames[0] - known->pcs[0] > IN_FUNCTION_BYTES)
        same = 0;
    while (same && same < count && same < known->count && frames[same] == known->pcs[same])
        same++;
    if (same == count && (is_whole ? same == known->count : same <= known->count))
        comparison->equal += is_whole, comparison->incomplete += !is_whole;
    else if (!comparison->wrong++)
        show("wrong", known, frames, count);
}

static void compare_event(void *argument, const struct model *model, const struct event *event)
{
    static uint64_t frames[MT_STACK_FRAMES_MAX + 1];
    struct comparison *comparison = argument;
    const struct known_stack *known;
    size_t count;
    bool is_whole;

    if (!event)
        return;
    if (event->kind == EVENT_FREE)
        comparison->frees_named += event->site != 0;
    if (event->kind != EVENT_ALLOC || event->value < KNOWN_SIZE_MIN ||
        event->value >= KNOWN_SIZE_MIN + SIZES)
        return;
    known = known_of(comparison, model, event);
    if (!known) {
        comparison->unknown++;
        return;
    }
    count = frames_of(model, event->site, frames, &is_whole);
    compare(comparison, known, frames, count, is_whole);
}

struct way {
    const char *name;
    const char *options;
    uint64_t equal_least; /* stacks that are the known ones, down to the thread's start */
    uint64_t incomplete_most;
    bool has_signals; /* handlers may interrupt the recorder: what they do then is lost */
};

static void a_recorded_stack_is_the_known_one(void **state)
{
    static struct known_process processes[PROCESSES];
    const struct way *way = *state;
    struct comparison comparison = {.processes = processes};
    struct trace_totals totals;
    char preload[1024], folder[256], program[512], known[300], pattern[310];
    const char *argv[] = {program, way->name, known, plugins[0], plugins[1], NULL};
    int status;

    memset(processes, 0, sizeof(processes));
    folder_make(folder);
    snprintf(program, sizeof(program), "%s/known_stacks", programs);
    snprintf(known, sizeof(known), "%s/known", folder);
    snprintf(pattern, sizeof(pattern), "%s.*", known);
    snprintf(preload, sizeof(preload), "%s:%s", library, heap);
    status = traced_run(way->has_signals ? preload : library, folder, way->options, argv);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    comparison.process_count = known_read(processes, pattern);
    trace_walk(folder, compare_event, &comparison, &totals);
    print_message("%s: %llu equal, %llu incomplete, %llu wrong\n", way->name,
                  (unsigned long long)comparison.equal, (unsigned long long)comparison.incomplete,
                  (unsigned long long)comparison.wrong);
    assert_int_equal(comparison.wrong, 0);
    assert_true(comparison.equal >= way->equal_least);
    assert_true(comparison.incomplete <= way->incomplete_most);
    if (!way->has_signals)
        assert_int_equal(totals.lost_count, 0);
    if (strstr(way->options, "free"))
        assert_true(comparison.frees_named >= way->equal_least);
    else
        assert_int_equal(comparison.frees_named, 0);
    for (size_t i = 0; i < comparison.process_count; i++)
        free(processes[i].rows);
    folder_remove(folder);
}

static const struct way ways[] = {
    {"paths", "--call-stack=c", 14000, 0, false},
    {"paths", "--call-stack=c,free", 14000, 0, false},
    {"paths", "--call-stack=c:7", 100, 40000, false},
    {"paths", "--call-stack=c:14,free", 1000, 40000, false},
    {"paths", "--call-stack=c --stack-memory=1m", 14000, 0, false},
    {"signals", "--call-stack=c,free", 3000, 3000, true},
    {"jumps", "--call-stack=c", 5000, 0, false},
    {"coroutines", "--call-stack=c", 900, 0, false},
    {"deep", "--call-stack=c", 1, 20, false},
    {"objects", "--call-stack=c", 800, 0, false},
    {"exceptions", "--call-stack=c", 1100, 0, false},
    {"forks", "--call-stack=c", 2000, 0, false},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

int main(int argc, char **argv)
{
    struct CMUnitTest tests[WAYS];
    static char names[WAYS][100];

    if (argc != 6)
        return 2;
    library = argv[1];
    programs = argv[2];
    heap = argv[3];
    plugins[0] = argv[4];
    plugins[1] = argv[5];
    for (size_t i = 0; i < WAYS; i++) {
        snprintf(names[i], sizeof(names[i]), "a_recorded_stack_is_the_known_one: %s %s",
                 ways[i].name, ways[i].options);
        tests[i] = (struct CMUnitTest){names[i], a_recorded_stack_is_the_known_one, NULL, NULL,
                                       (void *)&ways[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
