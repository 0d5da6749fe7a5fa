/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor under the cost of an event: each is stamped with the processor's counter, and no hook
 * can be cheaper than reading it. Virtual machines make it dear.
 */
#include "bench.h"
#include "clock.h"

bool clock_has_counter; /* clock.h leaves it to its user */

enum { ring_words = 1 << 17 };

static uint64_t ring[ring_words];

/* Three words for an event, as an allocation writes. */
static double stamped_ns(size_t event_count)
{
    uint64_t start_ns = bench_now_ns();
    volatile uint64_t *words = ring;

    for (size_t i = 0; i < event_count; i++) {
        words[3 * i % ring_words] = clock_ticks();
        words[(3 * i + 1) % ring_words] = i;
        words[(3 * i + 2) % ring_words] = i;
    }
    return (double)(bench_now_ns() - start_ns) / (double)event_count;
}

static double read_ns(size_t event_count)
{
    uint64_t start_ns = bench_now_ns(), sum = 0;

    for (size_t i = 0; i < event_count; i++)
        sum += clock_ticks();
    ring[0] = sum;
    return (double)(bench_now_ns() - start_ns) / (double)event_count;
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t run_count = is_quick ? 1 : 15, event_count = is_quick ? 10000 : 2000000;
    double reads[bench_max_runs], stamps[bench_max_runs];

    clock_init();
    for (size_t run = 0; run < run_count; run++) {
        reads[run] = read_ns(event_count);
        stamps[run] = stamped_ns(event_count);
    }
    bench_report("floor: reading the counter", "ns/event", reads, run_count);
    bench_report("floor: the counter and three stores", "ns/event", stamps, run_count);
    return 0;
}
