/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer's own heap: what a block costs there, beside malloc of the C library.
 */
#include "bench.h"

void *mt_je_malloc(size_t size_bytes);
void mt_je_free(void *address);

enum { slot_count = 4096 };

struct heap {
    const char *name;
    void *(*allocate)(size_t size_bytes);
    void (*release)(void *address);
};

/* Random slots are filled and emptied; ns for one event, allocation or release. */
static double churn_ns(const struct heap *heap, size_t event_count)
{
    static void *slots[slot_count];
    uint32_t seed = 1;
    uint64_t start_ns = bench_now_ns();

    for (size_t i = 0; i < event_count; i++) {
        void **slot;

        seed = seed * 1664525U + 1013904223U;
        slot = &slots[(seed >> 16) % slot_count];
        if (*slot) {
            heap->release(*slot);
            *slot = NULL;
        } else {
            *slot = heap->allocate(16 + (seed >> 24) * 8);
        }
    }
    start_ns = bench_now_ns() - start_ns;
    for (size_t i = 0; i < slot_count; i++) {
        heap->release(slots[i]);
        slots[i] = NULL;
    }
    return (double)start_ns / (double)event_count;
}

int main(int argc, char **argv)
{
    static const struct heap heaps[] = {
        {"private heap", mt_je_malloc, mt_je_free},
        {"malloc of the C library", malloc, free},
    };
    bool is_quick = bench_is_quick(argc, argv);
    size_t run_count = is_quick ? 1 : 9, event_count = is_quick ? 100000 : 10000000;
    double runs[2][bench_max_runs];

    for (size_t run = 0; run < run_count; run++) /* in turn, so that both meet the same machine */
        for (size_t i = 0; i < 2; i++)
            runs[i][run] = churn_ns(&heaps[i], event_count);
    for (size_t i = 0; i < 2; i++)
        bench_report(heaps[i].name, "ns/event", runs[i], run_count);
    return 0;
}
