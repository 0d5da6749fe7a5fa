/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads hand a million blocks each to each other: no event is lost and no free is matched
 * with the wrong block. The program writes down in which order each address lived which lives;
 * the trace must tell the same.
 */
#define _GNU_SOURCE
#include "hand_over.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "model.h"
#include "tally.h"
#include "traced_run.h"

static const char *library, *programs;

enum { THREADS = 8 };

struct lives {
    struct life *items;
    size_t count, capacity;
    struct tally *tally;
    uint64_t unmatched_count; /* blocks that were overwritten, frees of what was not there */
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
    print_message("%lu events, %lu late frees, %lu early frees, %lu overwritten, %lu unknown\n",
                  (unsigned long)counts->events, (unsigned long)counts->late_frees,
                  (unsigned long)counts->early_frees, (unsigned long)counts->overwritten,
                  (unsigned long)counts->unknown_frees);
    lives->unmatched_count = counts->overwritten + counts->unknown_frees;
    tally_destroy(lives->tally);
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

static void addresses_that_wander_are_matched_rightly(void **state)
{
    const char *count = getenv("MEMTIDE_TEST_HAND_OVERS");
    struct lives truth = {.items = NULL}, trace = {.items = NULL};
    struct trace_totals totals;
    char folder[256], log[300], program[512], threads[16];
    const char *argv[] = {program, threads, count ? count : "1000000", log, NULL};
    int status;

    (void)state;
    snprintf(program, sizeof(program), "%s/hand_over", programs);
    snprintf(threads, sizeof(threads), "%d", THREADS);
    folder_make(folder);
    snprintf(log, sizeof(log), "%s-log", folder);
    status = traced_run(library, folder, "", argv);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    trace_walk(folder, on_event, &trace, &totals);
    lives_read(log, &truth);
    unlink(log);
    folder_remove(folder);
    assert_int_equal(totals.lost_count, 0);
    assert_int_equal(trace.unmatched_count, 0);
    qsort(truth.items, truth.count, sizeof(struct life), by_address_then_number);
    qsort(trace.items, trace.count, sizeof(struct life), by_address_then_number);
    same_lives(&truth, &trace);
    free(truth.items);
    free(trace.items);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_that_wander_are_matched_rightly),
    };

    if (argc < 3)
        return 2;
    library = argv[1];
    programs = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
