/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a benchmark measures and says what it measured.
 *
 * Each result is one line of JSON on standard output:
 *
 *     {"name": "malloc pair", "unit": "ns/event", "median": 9.1, "min": 8.7, "runs": [9.1, ...]}
 *
 * Lower is better unless the unit ends in "/s". Everything else goes to standard error.
 */
#ifndef LEAKTIDE_TESTS_BENCH_H
#define LEAKTIDE_TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { bench_max_runs = 64 };

/* --quick: one small run of everything, to see that it works. */
static inline bool bench_is_quick(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "--quick") == 0;
}

static inline uint64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline int bench_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* runs: count values of one thing, 1 <= count <= bench_max_runs. */
static inline void bench_report(const char *name, const char *unit, const double *runs,
                                size_t count)
{
    double sorted[bench_max_runs];
    double median;

    memcpy(sorted, runs, count * sizeof(*runs));
    qsort(sorted, count, sizeof(*sorted), bench_compare);
    median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    printf("{\"name\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"runs\": [",
           name, unit, median, sorted[0]);
    for (size_t i = 0; i < count; i++)
        printf("%s%.6g", i ? ", " : "", runs[i]);
    printf("]}\n");
    fflush(stdout);
}

#endif
