/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the verdict "leak" is right where no steps are marked: made-up programs of an
 * interpreter whose leaks are known. Each wrong answer is printed with the seed that makes it:
 *     loop_verdict_benchmark_test SEED    prints the answer to that program
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis.h"
#include "labelled_loop.h"
#include "leak_analyses.h"
#include "report_writers.h"

enum { PROGRAMS = 400 };

struct set {
    const char *name;
    uint64_t first_seed;
};

static const struct set sets[] = {
    {"known loops: precision and recall of leak are at least 0.99", 1},
    {"held out loops: precision and recall of leak are at least 0.99", 1000000},
};

struct score {
    size_t right, false_leaks, missed, harmless;
};

static struct report *answer_of(uint64_t seed, struct labelled_loop *loop)
{
    static const struct analysis analyses[] = {{.of_blocks = &leaks_analysis}, {NULL, NULL}};
    struct event_list list;
    struct report *report;

    event_list_init(&list);
    assert_int_equal(report_create("leaks", &report, NULL), MT_OK);
    labelled_loop_run(seed, &list, loop);
    analyses_run(analyses, NULL, event_list_question(&list), report);
    assert_int_equal(report_status(report, NULL), MT_OK);
    event_list_release(&list);
    return report;
}

static uint64_t line_of(const struct finding *finding)
{
    for (size_t i = 0; i < finding->fact_count; i++)
        if (strcmp(finding->facts[i].key, "line") == 0)
            return finding->facts[i].value.number;
    return 0;
}

static bool is_called(const struct report *report, uint32_t line)
{
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        if (strcmp(finding->kind, "leak") == 0 && line_of(finding) == line)
            return true;
    }
    return false;
}

static bool has_leak(const struct labelled_loop *loop)
{
    for (size_t i = 0; i < loop->label_count; i++)
        if (loop->labels[i].is_leak)
            return true;
    return false;
}

static void print_wrong(uint64_t seed, const struct labelled_loop *loop,
                        const struct loop_label *label)
{
    print_message("  wrong: seed %zu, %u turns after %u blocks%s: line %u, \"%s\", %s\n",
                  (size_t)seed, loop->turns, loop->imported_blocks,
                  loop->is_killed ? ", killed" : "", label->line, label->actor,
                  label->is_leak ? "is a leak" : "is no leak");
}

static void add_to_score(uint64_t seed, const struct labelled_loop *loop,
                         const struct report *report, struct score *score)
{
    size_t leaks = 0, explained = 0;

    for (size_t i = 0; i < loop->label_count; i++) {
        const struct loop_label *label = &loop->labels[i];
        bool is_leak = is_called(report, label->line);

        explained += is_leak;
        if (label->is_light && has_leak(loop))
            continue;
        score->right += label->is_leak && is_leak;
        score->missed += label->is_leak && !is_leak;
        score->false_leaks += !label->is_leak && is_leak;
        score->harmless += !label->is_leak && !is_leak;
        if (label->is_leak != is_leak)
            print_wrong(seed, loop, label);
    }
    for (size_t i = 0; i < report_finding_count(report); i++)
        leaks += strcmp(report_finding_at(report, i)->kind, "leak") == 0;
    /* Whatever else is called a leak: imports, teardown. */
    score->false_leaks += leaks - explained;
}

static void leaks_of_unmarked_loops_are_told_from_the_rest(void **state)
{
    const struct set *set = *state;
    struct score score = {0};
    double precision, recall;

    for (uint64_t seed = set->first_seed; seed < set->first_seed + PROGRAMS; seed++) {
        struct labelled_loop loop;
        struct report *report = answer_of(seed, &loop);

        add_to_score(seed, &loop, report, &score);
        report_destroy(report);
    }
    precision = (double)score.right / (double)(score.right + score.false_leaks);
    recall = (double)score.right / (double)(score.right + score.missed);
    print_message("%d programs: %zu leaks found, %zu missed, %zu false; %zu harmless lines; "
                  "precision %.4f, recall %.4f\n",
                  PROGRAMS, score.right, score.missed, score.false_leaks, score.harmless, precision,
                  recall);
    assert_true(score.right > 200);
    assert_true(precision >= 0.99);
    assert_true(recall >= 0.99);
}

static int print_answer(uint64_t seed)
{
    struct labelled_loop loop;
    struct report *report = answer_of(seed, &loop);

    for (size_t i = 0; i < loop.label_count; i++)
        printf("line %u: %s%s\n", loop.labels[i].line, loop.labels[i].actor,
               loop.labels[i].is_leak ? ": leak" : "");
    report_write(report_writer_find("text"), report, NULL, stdout);
    report_destroy(report);
    return 0;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[sizeof(sets) / sizeof(sets[0])];

    if (argc > 1)
        return print_answer(strtoull(argv[1], NULL, 10));
    memset(tests, 0, sizeof(tests));
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        tests[i].name = sets[i].name;
        tests[i].test_func = leaks_of_unmarked_loops_are_told_from_the_rest;
        tests[i].initial_state = (void *)&sets[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
