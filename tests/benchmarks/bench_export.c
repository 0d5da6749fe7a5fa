/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a recording is written for other programs, and in how much memory.
 *
 * The recording is an operator_memory.csv of blocks of which 1000 live at once. An event is an
 * alloc or a free; time is of one processor, of the export alone, which reads the recording once
 * more. As msmemscope, rows are chosen and completed besides; with all analyses in one reading
 * more.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "dump_write.h"
#include "leaktide/analyzer.h"

enum { live_blocks = 1000, quick_blocks = 5000, blocks = 300000, path_most = 256 };

static void die(const char *what)
{
    fprintf(stderr, "bench_export: %s\n", what);
    exit(1);
}

static void make_recording(const char *path, uint64_t count)
{
    FILE *out = fopen(path, "w");

    if (!out)
        die(path);
    fputs("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total "
          "Allocated(MB),Allocation Total Reserved(MB),Device Type\r\n",
          out);
    for (uint64_t i = 0; i < count; i++)
        fprintf(out,
                "aten::op%" PRIu64 ",%" PRIu64 ".5,%" PRIu64 ".000\t,%" PRIu64
                ".500\t,%d.500\t,4304.5,10372.0,NPU:0\r\n",
                i % 200, 1 + i % 64, UINT64_C(1700000000000000) + i,
                UINT64_C(1700000000000000) + i + live_blocks, live_blocks);
    if (fclose(out) != 0)
        die(path);
}

static double spent_s(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

static double export_once(struct mt_trace *trace, const char *exporter, const char *out)
{
    struct mt_error error;
    double start = spent_s();

    if (mt_trace_export(trace, exporter, out, &error) != MT_OK)
        die(error.message);
    return spent_s() - start;
}

static void remove_all(const char *folder)
{
    char command[path_most + 16];

    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    if (system(command) != 0)
        die(folder);
}

static void measure(struct mt_trace *trace, const char *exporter, const char *folder,
                    uint64_t event_count, size_t run_count)
{
    char name[64], out[path_most];
    double rates[bench_max_runs];

    for (size_t i = 0; i < run_count; i++) {
        snprintf(out, sizeof(out), "%s/%s-%zu", folder, exporter, i);
        rates[i] = (double)event_count / export_once(trace, exporter, out);
        remove_all(out);
    }
    snprintf(name, sizeof(name), "export to %s", exporter);
    bench_report(name, "events/s", rates, run_count);
}

static enum mt_result name_file(void *context, int32_t device, char *path, struct mt_error *error)
{
    (void)device;
    (void)error;
    snprintf(path, DUMP_PATH_BYTES, "%s/dump", (const char *)context);
    return MT_OK;
}

static void measure_dump(struct mt_trace *trace, bool is_database, char *folder, size_t run_count)
{
    const struct dump_write what = {
        .events = DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_LAUNCH,
        .collected_events = DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_LAUNCH | DUMP_BIT_ACCESS,
        .levels = DUMP_BIT_OP,
        .analyses = DUMP_BIT_LEAKS | DUMP_BIT_DECOMPOSE | DUMP_BIT_INEFFICIENT,
        .has_all_devices = true,
        .is_database = is_database,
        .table = "memscope_dump",
        .context = folder,
        .file_make = name_file,
    };
    double rates[bench_max_runs];
    char path[path_most];

    snprintf(path, sizeof(path), "%s/dump", folder);
    for (size_t i = 0; i < run_count; i++) {
        struct dump_facts facts;
        struct mt_error error;
        double start = spent_s();

        if (dump_write(trace, &what, NULL, &facts, &error) != MT_OK)
            die(error.message);
        rates[i] = (double)facts.row_count / (spent_s() - start);
        unlink(path);
    }
    bench_report(is_database ? "as msmemscope, all analyses, to db"
                             : "as msmemscope, all analyses, to csv",
                 "rows/s", rates, run_count);
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    uint64_t count = is_quick ? quick_blocks : blocks;
    char folder[] = "/tmp/leaktide-bench-XXXXXX", path[path_most];
    const char *paths[] = {path}, *exporter;
    struct mt_trace *trace;
    struct mt_error error;
    struct rusage usage;
    double peak_mebibytes;

    if (!mkdtemp(folder))
        die("no folder in /tmp");
    snprintf(path, sizeof(path), "%s/operator_memory.csv", folder);
    make_recording(path, count);
    if (mt_trace_open(paths, 1, &trace, &error) != MT_OK)
        die(error.message);
    for (size_t i = 0; (exporter = mt_exporter_at(i, NULL)); i++)
        measure(trace, exporter, folder, 2 * count, is_quick ? 1 : 3);
    for (int is_database = 0; is_database < 2; is_database++)
        measure_dump(trace, is_database, folder, is_quick ? 1 : 3);
    mt_trace_close(trace);
    remove_all(folder);
    getrusage(RUSAGE_SELF, &usage);
    peak_mebibytes = (double)usage.ru_maxrss / 1024;
    bench_report("all exports, largest memory", "MiB", &peak_mebibytes, 1);
    return 0;
}
