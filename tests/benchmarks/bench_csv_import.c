/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading operator_memory.csv: megabytes per second from the file to events, the largest memory
 * that takes, and the same file through the adding up. The file is made here, in the layout of
 * today's torch_npu: 15 columns, blocks that live for a while, a tail of cann:: rows.
 */
#include <inttypes.h>

#include "bench_reading.h"
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

static struct bench_file make_file(uint64_t size_bytes)
{
    struct bench_file made;
    FILE *file = bench_file_begin(&made, "operators");
    uint64_t row = 0;

    fputs(header, file);
    for (; (uint64_t)ftell(file) < size_bytes; row++)
        row_write(file, row, "aten");
    for (uint64_t i = 0; i < row / 10; i++)
        row_write(file, i * 10, "cann");
    bench_file_end(&made, file, row + row / 10);
    return made;
}

/* From the file to its last event; adds them up, too, if asked. */
static void read_file(const struct bench_file *file, bool is_adding_up)
{
    static struct event events[batch_events];
    struct model *model;
    struct tally *tally = NULL;
    struct input *input;
    size_t count = 1;
    uint64_t allocs = 0;

    if (model_create(&model, NULL) != MT_OK || tally_create(model, &tally, NULL) != MT_OK ||
        input_open(file->path, model, &input, NULL) != MT_OK)
        _exit(1);
    while (count) {
        if (input_next(input, events, batch_events, &count, NULL) != MT_OK)
            _exit(1);
        for (size_t i = 0; i < count; i++)
            allocs += events[i].kind == EVENT_ALLOC;
        if (is_adding_up && tally_feed(tally, events, count, NULL) != MT_OK)
            _exit(1);
    }
    input_close(input);
    tally_destroy(tally);
    model_destroy(model);
    if (allocs != file->row_count)
        _exit(1);
}

static void read_events(const struct bench_file *file)
{
    read_file(file, false);
}

static void read_totals(const struct bench_file *file)
{
    read_file(file, true);
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t run_count = is_quick ? 1 : 5;
    struct bench_file made = make_file(is_quick ? 4 << 20 : 1 << 30);
    double amount = (double)made.size_bytes / 1e6;

    bench_report_reading(&made, read_events, "operator_memory.csv to events", "MB/s", amount,
                         run_count);
    bench_report_reading(&made, read_totals, "operator_memory.csv to totals", "MB/s", amount,
                         run_count);
    bench_report_python(&made, "csv", "sum(1 for r in csv.reader(open(sys.argv[1])))", "MB/s",
                        amount);
    unlink(made.path);
    return 0;
}
