/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files: wanted ones are sorted, so that each file is read once.
 */
#define _GNU_SOURCE
#include "source_lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "payload.h"

enum { FILE_BYTES_MAX = 16 << 20 };

struct source_line {
    const char *file;
    uint64_t line;
    const char *text; /* NULL: not read */
};

/* A file's content; bytes is NULL where it is not to be read. */
struct source_file {
    char *bytes;
    size_t size_bytes;
    bool is_younger; /* than the recording */
};

void source_lines_init(struct source_lines *sources, uint64_t recorded_ns)
{
    arena_init(&sources->arena);
    table_init(&sources->wanted, &sources->arena, sizeof(struct source_line));
    sources->recorded_ns = recorded_ns;
}

void source_lines_release(struct source_lines *sources)
{
    arena_release(&sources->arena);
}

/* By the ending of its name. */
static bool is_called_as_source(const char *file)
{
    static const char *const endings[] = {
        "py",  "pyx", "pxd", "pxi", "c",  "h",   "cc",    "cpp", "cxx",  "hh",
        "hpp", "hxx", "inl", "inc", "cu", "cuh", "rs",    "go",  "java", "kt",
        "js",  "mjs", "cjs", "ts",  "f",  "f90", "swift", "zig",
    };
    const char *name = strrchr(file, '/'), *ending = strrchr(name ? name : file, '.');

    for (size_t i = 0; ending && i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcmp(ending + 1, endings[i]) == 0)
            return true;
    return false;
}

void source_lines_want(struct source_lines *sources, const char *file, uint64_t line)
{
    struct source_line *row;

    if (!line || !is_called_as_source(file))
        return;
    row = table_add(&sources->wanted);
    if (row)
        *row = (struct source_line){.file = file, .line = line};
}

static int by_file_and_line(const void *left, const void *right)
{
    const struct source_line *a = left, *b = right;
    int order = strcmp(a->file, b->file);

    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Each place once; the caller frees. */
static struct source_line *sorted(const struct source_lines *sources, size_t *count)
{
    size_t all = sources->wanted.count, kept = 0;
    struct source_line *lines = malloc((all + 1) * sizeof(*lines));

    *count = 0;
    if (!lines)
        return NULL;
    for (size_t i = 0; i < all; i++)
        lines[i] = *(const struct source_line *)table_at(&sources->wanted, i);
    qsort(lines, all, sizeof(*lines), by_file_and_line);
    for (size_t i = 0; i < all; i++)
        if (!kept || by_file_and_line(&lines[kept - 1], &lines[i]) != 0)
            lines[kept++] = lines[i];
    *count = kept < SOURCE_LINES_MAX ? kept : SOURCE_LINES_MAX;
    return lines;
}

static bool is_after(struct timespec time, uint64_t moment_ns)
{
    return moment_ns && (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec > moment_ns;
}

static size_t read_whole(int descriptor, char *bytes, size_t size_bytes)
{
    size_t used = 0;
    ssize_t got;

    while (used < size_bytes && (got = read(descriptor, bytes + used, size_bytes - used)) > 0)
        used += (size_t)got;
    return used;
}

/* What is no file, like a pipe or a device, is not waited for. */
static struct source_file file_open(const char *path, uint64_t recorded_ns)
{
    struct source_file file = {.bytes = NULL};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat facts;

    if (descriptor < 0)
        return file;
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
        facts.st_size <= FILE_BYTES_MAX) {
        file.is_younger = is_after(facts.st_mtim, recorded_ns);
        file.bytes = file.is_younger ? NULL : malloc((size_t)facts.st_size + 1);
        if (file.bytes)
            file.size_bytes = read_whole(descriptor, file.bytes, (size_t)facts.st_size);
    }
    close(descriptor);
    return file;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f';
}

/* Without the blanks around it, and not cut within a letter of UTF-8. */
static const char *line_text(struct arena *arena, const char *start, const char *end)
{
    while (start < end && is_blank(*start))
        start++;
    while (start < end && is_blank(end[-1]))
        end--;
    if (end - start > SOURCE_LINE_BYTES_MAX) {
        end = start + SOURCE_LINE_BYTES_MAX;
        while (end > start && (*end & 0xc0) == 0x80)
            end--;
    }
    return arena_text(arena, start, (size_t)(end - start));
}

/* lines: count ones of the file, in their order */
static void take_lines(struct arena *arena, const struct source_file *file,
                       struct source_line *lines, size_t count)
{
    const char *at = file->bytes, *behind = file->bytes + file->size_bytes;
    uint64_t number = 1;

    for (size_t i = 0; i < count && at < behind; number++) {
        const char *feed = memchr(at, '\n', (size_t)(behind - at)), *end = feed ? feed : behind;

        if (lines[i].line == number)
            lines[i++].text = line_text(arena, at, end);
        at = feed ? feed + 1 : behind;
    }
}

/* Those of one file; a younger one becomes one row, of line 0. */
static void read_lines(struct source_lines *sources, struct source_line *lines, size_t count)
{
    struct source_file file = file_open(lines->file, sources->recorded_ns);

    if (file.is_younger)
        *lines = (struct source_line){.file = lines->file, .line = 0, .text = ""};
    else if (file.bytes)
        take_lines(&sources->arena, &file, lines, count);
    free(file.bytes);
}

static void write_columns(const struct source_line *lines, size_t count, struct outlet *out)
{
    const char **texts = calloc(2 * count + 1, sizeof(*texts));
    uint64_t *numbers = calloc(count + 1, sizeof(*numbers));
    size_t used = 0;

    for (size_t i = 0; texts && numbers && i < count; i++) {
        if (!lines[i].text)
            continue;
        texts[used] = lines[i].file;
        texts[count + used] = lines[i].text;
        numbers[used++] = lines[i].line;
    }
    if (texts && numbers)
        payload_write_columns("source-lines",
                              (const struct report_dataset_column[]){
                                  {"file", NULL, texts, used},
                                  {"line", numbers, NULL, used},
                                  {"text", NULL, texts + count, used},
                              },
                              3, out);
    else
        outlet_fail(out);
    free(texts);
    free(numbers);
}

void source_lines_write(struct source_lines *sources, struct outlet *out)
{
    size_t count, behind;
    struct source_line *lines = sorted(sources, &count);

    for (size_t i = 0; i < count; i = behind) {
        for (behind = i + 1; behind < count && strcmp(lines[behind].file, lines[i].file) == 0;)
            behind++;
        read_lines(sources, &lines[i], behind - i);
    }
    write_columns(lines, count, out);
    if (!lines || sources->arena.has_failed)
        outlet_fail(out);
    free(lines);
}
