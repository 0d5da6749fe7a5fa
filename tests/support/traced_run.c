/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "traced_run.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "input.h"
#include "model.h"

enum { BATCH = 1024 };

void folder_make(char path[256])
{
    const char *base = getenv("TMPDIR");

    snprintf(path, 256, "%s/leaktide-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *traced_launcher;

static void launch(const char *folder, const char *const argv[])
{
    const char *all[32] = {traced_launcher, "run", "-q", "-o", folder, "--"};
    size_t count = 6;

    while (*argv && count + 1 < sizeof(all) / sizeof(all[0]))
        all[count++] = *argv++;
    execv(traced_launcher, (char *const *)all);
}

pid_t traced_start(const char *library, const char *folder, const char *options,
                   const char *const argv[])
{
    char text[1024];
    pid_t child;

    snprintf(text, sizeof(text), "--device=npu,cpu --output-path=%s %s", folder, options);
    child = fork();
    if (child == 0) {
        setenv("LEAKTIDE_OPTIONS", text, 1);
        setenv(traced_launcher ? "LEAKTIDE_TRACER" : "LD_PRELOAD", library, 1);
        if (traced_launcher)
            launch(folder, argv);
        else
            execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return child;
}

int traced_run(const char *library, const char *folder, const char *options,
               const char *const argv[])
{
    int status = -1;
    pid_t child = traced_start(library, folder, options, argv);

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (traced_launcher && WIFEXITED(status) && WEXITSTATUS(status) > 128)
        return WEXITSTATUS(status) - 128; /* a signal's number is its status */
    return status;
}

static void totals_finish(struct model *model, struct trace_totals *totals)
{
    totals->note_count = model_note_count(model);
    totals->process_count = model_process_count(model);
    for (size_t i = 0; i < totals->process_count; i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        totals->complete_count += process->is_complete;
        for (size_t reason = 0; reason < MT_LOST_KINDS; reason++)
            totals->lost_count += process->lost_counts[reason];
    }
}

void trace_walk(const char *path, event_visitor visit, void *argument, struct trace_totals *totals)
{
    static struct event batch[BATCH];
    struct mt_error error = {.message = ""};
    struct model *model = NULL;
    struct input *input = NULL;
    size_t count = 1;

    memset(totals, 0, sizeof(*totals));
    assert_int_equal(model_create(&model, &error), MT_OK);
    if (input_open(path, model, &input, &error) != MT_OK)
        fail_msg("%s: %s", path, error.message);
    while (count) {
        if (input_next(input, batch, BATCH, &count, &error) != MT_OK)
            fail_msg("%s: %s", path, error.message);
        for (size_t i = 0; i < count; i++) {
            totals->alloc_count += batch[i].kind == EVENT_ALLOC;
            totals->free_count += batch[i].kind == EVENT_FREE;
            totals->alloc_bytes += batch[i].kind == EVENT_ALLOC ? batch[i].value : 0;
            visit(argument, model, &batch[i]);
        }
    }
    visit(argument, model, NULL);
    totals_finish(model, totals);
    input_close(input);
    model_destroy(model);
}

/* Addresses of live blocks of the size; such tests have few, so a plain table does. */
struct size_counter {
    struct size_count *count;
    uint64_t *alive;
    size_t alive_count, capacity;
};

static void count_event(void *argument, const struct model *model, const struct event *event)
{
    struct size_counter *counter = argument;

    (void)model;
    if (!event)
        return;
    if (event->kind == EVENT_ALLOC && event->value == counter->count->size_bytes) {
        counter->count->alloc_count++;
        if (counter->alive_count == counter->capacity) {
            counter->capacity = counter->capacity ? 2 * counter->capacity : 1024;
            counter->alive = realloc(counter->alive, counter->capacity * sizeof(uint64_t));
            assert_non_null(counter->alive);
        }
        counter->alive[counter->alive_count++] = event->address;
    }
    if (event->kind != EVENT_FREE)
        return;
    for (size_t i = counter->alive_count; i-- > 0 && i + 64 > counter->alive_count;)
        if (counter->alive[i] == event->address) {
            counter->alive[i] = counter->alive[--counter->alive_count];
            counter->count->free_count++;
            return;
        }
}

void trace_count_size(const char *path, struct size_count *count, struct trace_totals *totals)
{
    struct size_counter counter = {.count = count};

    count->alloc_count = count->free_count = 0;
    trace_walk(path, count_event, &counter, totals);
    free(counter.alive);
}
