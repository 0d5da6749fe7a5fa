/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading operator_memory.csv: megabytes per second from the file to events, the largest memory
 * that takes, and the same file through the adding up. The file is made here, in the layout of
 * today's torch_npu: 15 columns, blocks that live for a while, a tail of cann:: rows.
 *
 * One thread reads, so its processor time tells what one core does, on a busy machine too.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "input.h"
#include "tally.h"

enum { name_count = 400, batch_events = 4096, life_max_us = 4000 };

static const char header[] =
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation "
    "Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total "
    "Active(MB),Stream Ptr,Device Type\r\n";

static void row_write(FILE *file, uint64_t row, const char *scheme)
{
    uint64_t seed = (row + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t life = 1 + (seed >> 20) % life_max_us;
    uint64_t start = UINT64_C(1764246877074330) + row;

    fprintf(file,
            "%s::operator_%u,%u.5,%" PRIu64 ".%03u\t,%" PRIu64 ".%03u\t,%" PRIu64 ".%03u\t,%" PRIu64
            ".000\t,%" PRIu64
            ".000\t,4304.95751953125,10372.0,4304.95751953125,4312.9580078125,10372.0,"
            "4312.9580078125,2,NPU:0\r\n",
            scheme, (unsigned)(seed >> 40) % name_count, 1 + (unsigned)(seed >> 50) % 4096, start,
            (unsigned)(row % 1000), start + life, (unsigned)(row % 1000), start + life,
            (unsigned)(row % 1000), life, life);
}

static uint64_t file_make(const char *path, uint64_t size_bytes)
{
    FILE *file = fopen(path, "wb");
    uint64_t row = 0;

    if (!file)
        exit(1);
    fputs(header, file);
    for (; (uint64_t)ftell(file) < size_bytes; row++)
        row_write(file, row, "aten");
    for (uint64_t i = 0; i < row / 10; i++)
        row_write(file, i * 10, "cann");
    if (fclose(file) != 0)
        exit(1);
    return row + row / 10;
}

static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * UINT64_C(1000000000) + (uint64_t)spent.tv_nsec;
}

/* Seconds of one core from the file to its last event; adds them up, too, if asked. */
static double read_once(const char *path, bool is_adding_up, uint64_t *allocs)
{
    static struct event events[batch_events];
    struct model *model;
    struct tally *tally = NULL;
    struct input *input;
    size_t count = 1;
    uint64_t start_ns = spent_ns();

    *allocs = 0;
    if (model_create(&model, NULL) != MT_OK || tally_create(model, &tally, NULL) != MT_OK ||
        input_open(path, model, &input, NULL) != MT_OK)
        exit(1);
    while (count) {
        if (input_next(input, events, batch_events, &count, NULL) != MT_OK)
            exit(1);
        for (size_t i = 0; i < count; i++)
            *allocs += events[i].kind == EVENT_ALLOC;
        if (is_adding_up && tally_feed(tally, events, count, NULL) != MT_OK)
            exit(1);
    }
    input_close(input);
    tally_destroy(tally);
    model_destroy(model);
    return (double)(spent_ns() - start_ns) / 1e9;
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t run_count = is_quick ? 1 : 5;
    char path[] = "/tmp/memtide-bench-XXXXXX.csv";
    int descriptor = mkstemps(path, 4);
    double rates[bench_max_runs], added[bench_max_runs], peak_mebibytes;
    struct rusage usage;
    struct stat status;
    uint64_t rows, allocs;

    if (descriptor < 0)
        return 1;
    rows = file_make(path, is_quick ? 4 << 20 : 1 << 30);
    if (fstat(descriptor, &status) != 0)
        return 1;
    for (size_t i = 0; i < run_count; i++) {
        rates[i] = (double)status.st_size / 1e6 / read_once(path, false, &allocs);
        if (allocs != rows)
            return 1;
    }
    getrusage(RUSAGE_SELF, &usage);
    peak_mebibytes = (double)usage.ru_maxrss / 1024;
    for (size_t i = 0; i < run_count; i++)
        added[i] = (double)status.st_size / 1e6 / read_once(path, true, &allocs);
    unlink(path);
    close(descriptor);
    bench_report("operator_memory.csv to events", "MB/s", rates, run_count);
    bench_report("operator_memory.csv to totals", "MB/s", added, run_count);
    bench_report("operator_memory.csv, largest memory", "MiB", &peak_mebibytes, 1);
    return 0;
}
