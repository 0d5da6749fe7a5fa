/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast recordings of other tools are read: generated files, from the page cache, as events.
 *
 * The pickle is as Python writes it: words and stacks named once, then referred to. The csv has the
 * rows of today's msmemscope. --large: files of 1.3 and 2 GB.
 */
#include <inttypes.h>

#include "bench_reading.h"
#include "input.h"

enum {
    runs_full = 3,
    batch_events = 4096,
    pickle_events = 3000000,
    csv_rows = 3000000,
    quick = 100,
    large_pickle = 8, /* times as much */
    large_csv = 4
};

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

static struct bench_file make_pickle(uint64_t count)
{
    struct bench_file made;
    FILE *file = bench_file_begin(&made, "pickle");

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
    bench_file_end(&made, file, count);
    return made;
}

/* --- a csv --------------------------------------------------------------------------------- */

static struct bench_file make_csv(uint64_t count)
{
    struct bench_file made;
    FILE *file = bench_file_begin(&made, "csv");

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
    bench_file_end(&made, file, count);
    return made;
}

/* --- reading ------------------------------------------------------------------------------- */

/* Fewer events than rows are a failure. */
static void read_events(const struct bench_file *file)
{
    static struct event batch[batch_events];
    struct mt_error error = {.message = ""};
    struct model *model;
    struct input *input;
    size_t count = 1;
    uint64_t events = 0;

    if (model_create(&model, &error) != MT_OK ||
        input_open(file->path, model, &input, &error) != MT_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(1);
    }
    while (count) {
        if (input_next(input, batch, batch_events, &count, &error) != MT_OK)
            _exit(1);
        events += count;
    }
    if (events < file->row_count) {
        fprintf(stderr, "%s: %" PRIu64 " events of %" PRIu64 " rows\n", file->path, events,
                file->row_count);
        _exit(1);
    }
    input_close(input);
    model_destroy(model);
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    bool is_large = argc > 1 && strcmp(argv[1], "--large") == 0;
    size_t count = is_quick ? 1 : runs_full;
    uint64_t events = (uint64_t)pickle_events * (is_large ? large_pickle : 1);
    uint64_t rows = (uint64_t)csv_rows * (is_large ? large_csv : 1);
    struct bench_file made = make_pickle(events / (is_quick ? quick : 1));
    double amount = (double)made.size_bytes / 1e6;

    bench_report_reading(&made, read_events, "read a snapshot pickle", "MB/s", amount, count);
    bench_report_python(&made, "pickle", "pickle.load(open(sys.argv[1], 'rb'))", "MB/s", amount);
    unlink(made.path);
    made = make_csv(rows / (is_quick ? quick : 1));
    amount = (double)made.row_count;
    bench_report_reading(&made, read_events, "read a memscope csv", "rows/s", amount, count);
    bench_report_python(&made, "csv", "sum(1 for r in csv.reader(open(sys.argv[1])))", "rows/s",
                        amount);
    unlink(made.path);
    return 0;
}
