/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast recordings of other tools are read: generated files, from the page cache, as events.
 *
 * The pickle is as Python writes it: words and stacks named once, then referred to. The csv has the
 * rows of today's msmemscope. What Python's own pickle and csv modules need for the same files,
 * which is before anything is made of the values, is told beside. --large: files of 1 GB.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "input.h"

enum {
    runs_full = 3,
    batch_events = 4096,
    pickle_events = 3000000,
    csv_rows = 3000000,
    quick = 100,
    large_pickle = 8, /* times as much */
    large_csv = 2
};

struct made {
    char path[64];
    uint64_t bytes, rows;
};

static FILE *make_file(struct made *made, const char *name)
{
    FILE *file;
    int descriptor;

    snprintf(made->path, sizeof(made->path), "/tmp/memtide-%s-XXXXXX", name);
    descriptor = mkstemp(made->path);
    file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file)
        exit(1);
    return file;
}

static void made_end(struct made *made, FILE *file)
{
    made->bytes = (uint64_t)ftell(file);
    if (fclose(file) != 0)
        exit(1);
}

/* --- a pickle ------------------------------------------------------------------------------ */

static void put_text(FILE *file, const char *text)
{
    fputc(0x8c, file);
    fputc((int)strlen(text), file);
    fputs(text, file);
    fputc(0x94, file); /* MEMOIZE */
}

/* The memo numbers are those of the texts that were put before, in this order. */
static const char *const words[] = {
    "device_traces",  "action",          "addr", "size", "stream",   "time_us", "frames", "alloc",
    "free_completed", "compile_context", "N/A",  "name", "filename", "line"};

enum {
    word_count = sizeof(words) / sizeof(words[0]),
    first_memo = 3, /* 0 is the dict of all, 1 its key, 2 the list of words and stacks */
    stack_count = 256,
    stack_depth = 24,
    stack_memos = 1 + stack_depth * 3, /* the list; of each frame itself, its name and its file */
    first_stack_memo = first_memo + word_count
};

static void put_word(FILE *file, unsigned word)
{
    fputc('h', file);
    fputc((int)(first_memo + word), file);
}

static void put_long(FILE *file, uint64_t number)
{
    fputc(0x8a, file);
    fputc(8, file);
    fwrite(&number, 8, 1, file);
}

static void put_event(FILE *file, uint64_t index)
{
    bool is_alloc = index % 2 == 0;

    fputs("}\x94(", file);
    put_word(file, 1);
    put_word(file, is_alloc ? 7 : 8);
    put_word(file, 2);
    put_long(file, UINT64_C(140000000000000) + index / 2 % 4096 * 512);
    put_word(file, 3);
    fputc('J', file);
    fwrite(&(uint32_t){(uint32_t)(1000 + index / 2 % 4096)}, 4, 1, file);
    put_word(file, 4);
    fwrite("K\0", 2, 1, file);
    put_word(file, 5);
    put_long(file, UINT64_C(1700000000000000) + index);
    put_word(file, 9);
    put_word(file, 10);
    put_word(file, 6);
    fputc('j', file);
    fwrite(&(uint32_t){(uint32_t)(first_stack_memo + index / 2 % stack_count * stack_memos)}, 4, 1,
           file);
    fputc('u', file);
}

/* A list of frames; every second one has a name of its own, as callers are shared. */
static void put_stack(FILE *file, unsigned index)
{
    fputs("]\x94(", file);
    for (unsigned i = 0; i < stack_depth; i++) {
        char text[64];

        fputs("}\x94(", file);
        put_word(file, 11);
        snprintf(text, sizeof(text), "function_%u", i % 2 ? i : index);
        put_text(file, text);
        put_word(file, 12);
        snprintf(text, sizeof(text), "/home/user/program/module_%u.py", i);
        put_text(file, text);
        put_word(file, 13);
        fputc('K', file);
        fputc((int)i, file);
        fputc('u', file);
    }
    fputc('e', file);
}

static struct made make_pickle(uint64_t count)
{
    struct made made;
    FILE *file = make_file(&made, "pickle");

    fputs("\x80\x04}\x94(", file);
    put_text(file, words[0]);
    fputs("]\x94", file); /* number 2: the list of words */
    fputc('(', file);
    for (unsigned i = 0; i < word_count; i++)
        put_text(file, words[i]);
    for (unsigned i = 0; i < stack_count; i++)
        put_stack(file, i);
    fputs("e0", file); /* forget it; the words stay known */
    fputs("](]\x94(", file);
    for (uint64_t i = 0; i < count; i++) {
        put_event(file, i);
        if (i % 1000 == 999)
            fputs("e(", file);
    }
    fputs("eeu.", file);
    made_end(&made, file);
    made.rows = count;
    return made;
}

/* --- a csv --------------------------------------------------------------------------------- */

static struct made make_csv(uint64_t count)
{
    struct made made;
    FILE *file = make_file(&made, "csv");

    fputs("ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
          "Call Stack(Python),Call Stack(C)\n",
          file);
    for (uint64_t i = 0; i < count; i++)
        fprintf(file,
                "%" PRIu64 ",%s,PTA,N/A,%" PRIu64 ",3101864,3101864,0,0x%016" PRIx64
                ",\"{allocation_id:%" PRIu64 ",addr:0x%016" PRIx64
                ",size:16778240,total:20971520,used:16780288}\",,\n",
                i, i % 2 ? "FREE" : "MALLOC", UINT64_C(1764753084425691000) + (i ^ 6) * 1000,
                UINT64_C(0x12c041400000) + i / 2 * 512, i / 2,
                UINT64_C(0x12c041400000) + i / 2 * 512);
    made_end(&made, file);
    made.rows = count;
    return made;
}

/* --- reading ------------------------------------------------------------------------------- */

/* Of the processor: one thread reads, and other programs may run beside it. */
static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * UINT64_C(1000000000) + (uint64_t)spent.tv_nsec;
}

/* Stops the program if fewer events come out than rows went in. */
static double read_seconds(const char *path, uint64_t rows)
{
    static struct event batch[batch_events];
    uint64_t start_ns = spent_ns();
    struct mt_error error = {{0}};
    struct model *model;
    struct input *input;
    size_t count = 1;
    uint64_t events = 0;

    if (model_create(&model, &error) != MT_OK || input_open(path, model, &input, &error) != MT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    while (count) {
        if (input_next(input, batch, batch_events, &count, &error) != MT_OK)
            exit(1);
        events += count;
    }
    if (events < rows) {
        fprintf(stderr, "%s: %" PRIu64 " events of %" PRIu64 " rows\n", path, events, rows);
        exit(1);
    }
    input_close(input);
    model_destroy(model);
    return (double)(spent_ns() - start_ns) / 1e9;
}

/* What Python needs to read the file, once; it prints seconds. */
static void measure_peer(const struct made *made, const char *module, const char *unit,
                         double amount)
{
    char command[512], name[64];
    double seconds = 0, rate;
    FILE *python;

    snprintf(command, sizeof(command),
             "python3 -c \"import %s, sys, time; s = time.process_time();"
             "%s; print(time.process_time() - s)\" %s 2>/dev/null",
             module,
             strcmp(module, "pickle") == 0 ? "pickle.load(open(sys.argv[1], 'rb'))"
                                           : "sum(1 for r in csv.reader(open(sys.argv[1])))",
             made->path);
    python = popen(command, "r");
    if (!python || fscanf(python, "%lf", &seconds) != 1 || seconds <= 0)
        fprintf(stderr, "no python3 to compare with\n");
    if (python)
        pclose(python);
    if (seconds <= 0)
        return;
    rate = amount / seconds;
    snprintf(name, sizeof(name), "Python's %s on the same file", module);
    bench_report(name, unit, &rate, 1);
}

static void measure(struct made made, const char *name, const char *unit, const char *module,
                    double amount, size_t count)
{
    double runs[runs_full];
    struct rusage usage;

    for (size_t i = 0; i < count; i++)
        runs[i] = amount / read_seconds(made.path, made.rows);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "%s: file of %" PRIu64 " MB, at most %ld MiB of memory so far\n", name,
            made.bytes / 1000000, usage.ru_maxrss / 1024);
    bench_report(name, unit, runs, count);
    measure_peer(&made, module, unit, amount);
    unlink(made.path);
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    bool is_large = argc > 1 && strcmp(argv[1], "--large") == 0;
    size_t count = is_quick ? 1 : runs_full;
    uint64_t events = (uint64_t)pickle_events * (is_large ? large_pickle : 1);
    uint64_t rows = (uint64_t)csv_rows * (is_large ? large_csv : 1);
    struct made made = make_pickle(events / (is_quick ? quick : 1));

    measure(made, "read a snapshot pickle", "MB/s", "pickle", (double)made.bytes / 1e6, count);
    made = make_csv(rows / (is_quick ? quick : 1));
    measure(made, "read a memscope csv", "rows/s", "csv", (double)made.rows, count);
    return 0;
}
