/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads hand blocks to each other: no event is lost, no free is matched with the wrong block, and
 * none is stamped before its alloc, nor an alloc before the free that made room for it.
 *
 * hand_over writes down in which order each address lived which lives; the trace must tell the
 * same. In the file, time has units: two events within one may come in either order, and the tally
 * puts them right. A pair further apart was stamped in the wrong order.
 *
 * LEAKTIDE_TEST_HAND_OVER_RUNS: that many times, beside busy loops.
 */
#define _GNU_SOURCE
#include "hand_over.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "model.h"
#include "tally.h"
#include "traced_run.h"

static const char *library, *programs;

enum { NEWEST_SLOTS = 1 << 16 };

/* When something last happened at an address. */
struct newest {
    uint64_t address, time_ns;
};

struct lives {
    struct life *items;
    size_t count, capacity;
    struct tally *tally;
    uint64_t unmatched_count; /* blocks that were overwritten, frees of what was not there */
    uint64_t repaired_count, wrong_count; /* pairs: put in order; of these, not of one time unit */
    struct newest newest[NEWEST_SLOTS];   /* direct-mapped */
};

static void lives_add(struct lives *lives, struct life life)
{
    if (lives->count == lives->capacity) {
        lives->capacity = lives->capacity ? 2 * lives->capacity : 1 << 16;
        lives->items = realloc(lives->items, lives->capacity * sizeof(life));
        assert_non_null(lives->items);
    }
    lives->items[lives->count++] = life;
}

static int by_address_then_number(const void *left, const void *right)
{
    const struct life *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void tally_over(struct lives *lives)
{
    const struct tally_counts *counts = tally_counts_of(lives->tally);

    tally_finish(lives->tally);
    print_message("%lu events, %lu late frees, %lu early frees, %lu stamped in the wrong order, "
                  "%lu overwritten, %lu unknown\n",
                  (unsigned long)counts->events, (unsigned long)counts->late_frees,
                  (unsigned long)counts->early_frees, (unsigned long)lives->wrong_count,
                  (unsigned long)counts->overwritten, (unsigned long)counts->unknown_frees);
    lives->unmatched_count = counts->overwritten + counts->unknown_frees;
    tally_destroy(lives->tally);
}

/* After each event of a block. A pair is put in order when its second event is there. */
static void order_look(struct lives *lives, const struct event *event)
{
    const struct tally_counts *counts = tally_counts_of(lives->tally);
    struct newest *newest = &lives->newest[(event->address >> 4) % NEWEST_SLOTS];
    uint64_t repaired_count = counts->late_frees + counts->early_frees;

    if (repaired_count != lives->repaired_count && newest->address == event->address)
        lives->wrong_count += event->time_ns != newest->time_ns;
    lives->repaired_count = repaired_count;
    *newest = (struct newest){event->address, event->time_ns};
}

static void on_event(void *argument, const struct model *model, const struct event *event)
{
    struct lives *lives = argument;
    struct mt_error error;

    if (!event) {
        tally_over(lives);
        return;
    }
    if (!lives->tally)
        assert_int_equal(tally_create((struct model *)model, &lives->tally, &error), MT_OK);
    assert_int_equal(tally_feed(lives->tally, event, 1, &error), MT_OK);
    if (event->kind == EVENT_ALLOC || event->kind == EVENT_FREE)
        order_look(lives, event);
    if (event->kind == EVENT_ALLOC && event->value - HAND_OVER_BYTES < HAND_OVER_SIZES)
        lives_add(lives, (struct life){event->address, event->value, lives->count});
}

static void lives_read(const char *path, struct lives *lives)
{
    FILE *log = fopen(path, "rb");
    struct life life;

    assert_non_null(log);
    while (fread(&life, sizeof(life), 1, log) == 1)
        lives_add(lives, life);
    fclose(log);
}

static void same_lives(const struct lives *truth, const struct lives *trace)
{
    assert_int_equal(trace->count, truth->count);
    for (size_t i = 0; i < truth->count; i++)
        if (truth->items[i].address != trace->items[i].address ||
            truth->items[i].size_bytes != trace->items[i].size_bytes)
            fail_msg(
                "life %zu: the program had %lx of %lu bytes, the trace %lx of %lu", i,
                (unsigned long)truth->items[i].address, (unsigned long)truth->items[i].size_bytes,
                (unsigned long)trace->items[i].address, (unsigned long)trace->items[i].size_bytes);
}

/* Runs a program under the tracer and reads what it recorded. */
static void trace_run(const char *const argv[], struct lives *trace)
{
    struct trace_totals totals;
    char folder[256];
    int status;

    folder_make(folder);
    status = traced_run(library, folder, "", argv);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    trace_walk(folder, on_event, trace, &totals);
    folder_remove(folder);
    assert_int_equal(totals.lost_count, 0);
    assert_int_equal(trace->unmatched_count, 0);
    assert_int_equal(trace->wrong_count, 0);
}

static void addresses_that_wander_are_matched_rightly(void **state)
{
    const char *count = getenv("LEAKTIDE_TEST_HAND_OVERS");
    struct lives truth = {.items = NULL}, trace = {.items = NULL};
    char folder[256], log[300], program[512];
    const char *argv[] = {program, "8", count ? count : "1000000", log, NULL};

    (void)state;
    snprintf(program, sizeof(program), "%s/hand_over", programs);
    folder_make(folder);
    snprintf(log, sizeof(log), "%s/log", folder);
    trace_run(argv, &trace);
    lives_read(log, &truth);
    folder_remove(folder);
    qsort(truth.items, truth.count, sizeof(struct life), by_address_then_number);
    qsort(trace.items, trace.count, sizeof(struct life), by_address_then_number);
    same_lives(&truth, &trace);
    free(truth.items);
    free(trace.items);
}

static void a_free_is_stamped_after_the_alloc_of_another_thread(void **state)
{
    struct lives trace = {.items = NULL};
    char program[512];
    const char *argv[] = {program, "4", "500000", NULL};

    (void)state;
    snprintf(program, sizeof(program), "%s/pass_on", programs);
    trace_run(argv, &trace);
}

/* A loop that keeps a processor busy, for as long as this program lives. */
static void busy_begin(void)
{
    volatile uint64_t turns = 0;

    if (fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        turns = turns + 1;
}

int main(int argc, char **argv)
{
    const char *runs_wanted = getenv("LEAKTIDE_TEST_HAND_OVER_RUNS");
    long runs = runs_wanted ? atol(runs_wanted) : 1;
    int failed = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_that_wander_are_matched_rightly),
        cmocka_unit_test(a_free_is_stamped_after_the_alloc_of_another_thread),
    };

    if (argc < 3)
        return 2;
    library = argv[1];
    programs = argv[2];
    for (long i = 0; runs_wanted && i < sysconf(_SC_NPROCESSORS_ONLN); i++)
        busy_begin();
    for (long i = 0; i < runs; i++)
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed != 0;
}
