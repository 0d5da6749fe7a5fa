/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is read in a child process, so that the most memory it takes is its own; and what Python's
 * module for such a file needs, which is before anything is made of the values, is told beside.
 *
 * One thread reads, so its processor time tells what one core does, on a busy machine too.
 */
#ifndef LEAKTIDE_TESTS_BENCH_READING_H
#define LEAKTIDE_TESTS_BENCH_READING_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct bench_file {
    char path[64];
    uint64_t size_bytes, row_count;
};

static inline FILE *bench_file_begin(struct bench_file *made, const char *name)
{
    FILE *file;
    int descriptor;

    snprintf(made->path, sizeof(made->path), "/tmp/leaktide-%s-XXXXXX", name);
    descriptor = mkstemp(made->path);
    file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file)
        exit(1);
    return file;
}

static inline void bench_file_end(struct bench_file *made, FILE *file, uint64_t row_count)
{
    made->size_bytes = (uint64_t)ftell(file);
    made->row_count = row_count;
    if (fclose(file) != 0)
        exit(1);
}

/* Reads the file, or stops the program. */
typedef void bench_reader(const struct bench_file *file);

struct bench_reading {
    double seconds; /* of one core */
    double most_mebibytes;
};

static inline struct bench_reading bench_read(const struct bench_file *file, bench_reader *read)
{
    struct rusage usage;
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        read(file);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        unlink(file->path);
        exit(1);
    }
    return (struct bench_reading){(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) /
                                          1e6,
                                  (double)usage.ru_maxrss / 1024};
}

/* amount: of the file, in what the unit divides by seconds. */
static inline void bench_report_reading(const struct bench_file *file, bench_reader *read,
                                        const char *name, const char *unit, double amount,
                                        size_t run_count)
{
    double rates[bench_max_runs], most[bench_max_runs];
    char memory_name[96];

    for (size_t i = 0; i < run_count; i++) {
        struct bench_reading reading = bench_read(file, read);

        rates[i] = amount / reading.seconds;
        most[i] = reading.most_mebibytes;
    }
    bench_report(name, unit, rates, run_count);
    snprintf(memory_name, sizeof(memory_name), "%s: most memory, file of %llu MB", name,
             (unsigned long long)(file->size_bytes / 1000000));
    bench_report(memory_name, "MiB", most, run_count);
}

/* What Python needs for the same file, once; statement reads sys.argv[1] and prints nothing. */
static inline void bench_report_python(const struct bench_file *file, const char *module,
                                       const char *statement, const char *unit, double amount)
{
    char command[768], name[96];
    double seconds = 0, mebibytes = 0, rate;
    FILE *python;

    snprintf(command, sizeof(command),
             "python3 -c \"import %s, resource, sys; %s; u = "
             "resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss "
             "/ 1024)\" %s 2>/dev/null",
             module, statement, file->path);
    python = popen(command, "r");
    if (!python || fscanf(python, "%lf %lf", &seconds, &mebibytes) != 2 || seconds <= 0)
        fprintf(stderr, "no python3 to compare with\n");
    if (python)
        pclose(python);
    if (seconds <= 0)
        return;
    rate = amount / seconds;
    snprintf(name, sizeof(name), "Python's %s on the same file", module);
    bench_report(name, unit, &rate, 1);
    snprintf(name, sizeof(name), "Python's %s on the same file: most memory", module);
    bench_report(name, "MiB", &mebibytes, 1);
}

#endif
