/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where steps are found, and how they become rows.
 *
 * trace_view.json may have many GB and is searched for its few step events only. A step ends where
 * the next one begins, at the latest.
 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "ascend_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_table.h"
#include "leaktide/profiler_step.h"
#include "list.h"

enum { piece_bytes = 1 << 20, object_bytes_max = 4096, steps_max = 1 << 20 };

static const char step_word[] = MT_PROFILER_STEP;

bool ascend_step_add(struct ascend_steps *steps, struct ascend_step step)
{
    if (steps->count == steps_max ||
        !list_has_room(&steps->rows, &steps->capacity, steps->count, sizeof(*steps->rows)))
        return false;
    steps->rows[steps->count++] = step;
    return true;
}

void ascend_steps_release(struct ascend_steps *steps)
{
    free(steps->rows);
    *steps = (struct ascend_steps){.model = steps->model};
}

/* --- trace_view.json ----------------------------------------------------------------------- */

/* The value of "key" in the object's text: a number, or a number in quotes. */
static struct csv_field value_of(const char *object, size_t size_bytes, const char *key)
{
    const char *end = object + size_bytes;
    const char *at = memmem(object, size_bytes, key, strlen(key));
    struct csv_field value = {"", 0};

    if (!at)
        return value;
    at += strlen(key);
    while (at < end && (*at == ' ' || *at == ':' || *at == '"' || *at == '\t' || *at == '\n'))
        at++;
    value.bytes = at;
    while (at < end && strchr("0123456789.+-eE", *at) && *at)
        at++;
    value.size_bytes = (size_t)(at - value.bytes);
    return value;
}

/* The event around the word at `at`, which may be cut off by the piece. */
static bool read_step(const char *piece, const char *piece_end, const char *at,
                      struct ascend_step *step)
{
    const char *from = at - piece > object_bytes_max ? at - object_bytes_max : piece;
    const char *to = piece_end - at > object_bytes_max ? at + object_bytes_max : piece_end;
    const char *begin = memrchr(from, '{', (size_t)(at - from));
    const char *end = at;
    int depth = 1;
    struct csv_field number = {at + sizeof(step_word) - 1, 0};
    uint64_t duration_ns;

    for (; begin && end < to && depth; end++)
        depth += *end == '{' ? 1 : *end == '}' ? -1 : 0;
    if (!begin || depth)
        return false;
    while (number.bytes + number.size_bytes < end && number.bytes[number.size_bytes] >= '0' &&
           number.bytes[number.size_bytes] <= '9')
        number.size_bytes++;
    if (csv_size(number, 1, &step->number) != CSV_CELL_NUMBER ||
        csv_time(value_of(begin, (size_t)(end - begin), "\"ts\""), 1000, &step->begin_ns) !=
            CSV_CELL_NUMBER ||
        csv_time(value_of(begin, (size_t)(end - begin), "\"dur\""), 1000, &duration_ns) !=
            CSV_CELL_NUMBER)
        return false;
    step->end_ns = step->begin_ns + duration_ns;
    return step->end_ns >= step->begin_ns;
}

/* Words with less than object_bytes_max after them are left for the next piece. */
static bool search_piece(const char *piece, size_t size_bytes, bool is_last,
                         struct ascend_steps *steps, const char **searched)
{
    const char *end = piece + size_bytes;
    const char *at = *searched;

    while ((at = memmem(at, (size_t)(end - at), step_word, sizeof(step_word) - 1))) {
        struct ascend_step step;

        if (!is_last && end - at < object_bytes_max)
            break;
        if (read_step(piece, end, at, &step) && !ascend_step_add(steps, step))
            return false;
        at += sizeof(step_word) - 1;
    }
    *searched = at ? at
                   : end - ((size_t)(end - piece) < sizeof(step_word) ? (size_t)(end - piece)
                                                                      : sizeof(step_word) - 1);
    return true;
}

enum mt_result ascend_steps_from_trace_view(const char *path, struct ascend_steps *steps,
                                            struct mt_error *error)
{
    FILE *file = fopen(path, "rbe");
    char *piece = malloc(piece_bytes);
    size_t kept = 0, got;
    const char *searched = piece;
    bool is_ok = true;
    enum mt_result result = MT_OK;

    if (!file || !piece) {
        result = mt_error_set(error, file ? MT_NO_MEMORY : MT_IO, "%s: %s", path,
                              file ? "no memory to read it" : strerror(errno));
    } else {
        setvbuf(file, NULL, _IONBF, 0);
        do {
            size_t used;

            got = fread(piece + kept, 1, piece_bytes - kept, file);
            is_ok = search_piece(piece, kept + got, got < piece_bytes - kept, steps, &searched);
            used = (size_t)(searched - piece);
            used = used > object_bytes_max ? used - object_bytes_max : 0;
            memmove(piece, piece + used, kept + got - used);
            searched -= used;
            kept = kept + got - used;
        } while (got && is_ok);
        if (!is_ok)
            result = mt_error_set(error, MT_NO_MEMORY, "%s: too many steps", path);
    }
    if (file)
        fclose(file);
    free(piece);
    return result;
}

/* --- csv files ----------------------------------------------------------------------------- */

enum mt_result
ascend_steps_from_csv(const char *path, const struct csv_column *columns, size_t column_count,
                      bool (*add)(struct ascend_steps *steps, const struct csv_table *table,
                                  const struct csv_row *row),
                      struct ascend_steps *steps, struct mt_error *error)
{
    struct csv_table table;
    struct csv_reader reader;
    struct csv_row row;
    bool has_row = true;
    enum mt_result result = csv_table_open(&table, path, columns, column_count, error);

    if (result != MT_OK)
        return result;
    result = csv_reader_init(&reader, table.descriptor, piece_bytes, error);
    csv_reader_seek(&reader, table.first_row_offset_bytes, table.size_bytes, 2);
    while (result == MT_OK && has_row) {
        result = csv_reader_next(&reader, table.wanted, &row, &has_row, error);
        if (result == MT_OK && has_row && row.column_count == table.column_count &&
            !add(steps, &table, &row))
            result = mt_error_set(error, MT_NO_MEMORY, "%s: too many steps", path);
    }
    csv_reader_release(&reader);
    csv_table_close(&table);
    return result;
}

/* --- kernel_details.csv -------------------------------------------------------------------- */

enum kernel_column { STEP_ID, START_TIME, DURATION, KERNEL_COLUMNS };

static const struct csv_column kernel_columns[KERNEL_COLUMNS] = {
    [STEP_ID] = {"Step Id", true},
    [START_TIME] = {"Start Time", true},
    [DURATION] = {"Duration", true},
};

/* Kernels of one step mostly come one after the other. */
static bool kernel_add(struct ascend_steps *steps, struct ascend_step kernel)
{
    for (size_t i = steps->count; i-- > 0;) {
        struct ascend_step *step = &steps->rows[i];

        if (step->number != kernel.number)
            continue;
        if (kernel.begin_ns < step->begin_ns)
            step->begin_ns = kernel.begin_ns;
        if (kernel.end_ns > step->end_ns)
            step->end_ns = kernel.end_ns;
        return true;
    }
    return ascend_step_add(steps, kernel);
}

static bool add_kernel_row(struct ascend_steps *steps, const struct csv_table *table,
                           const struct csv_row *row)
{
    struct ascend_step kernel;
    uint64_t duration_ns;

    if (csv_size(csv_at(table, row, STEP_ID), 1, &kernel.number) != CSV_CELL_NUMBER ||
        csv_time(csv_at(table, row, START_TIME), table->columns[START_TIME].unit,
                 &kernel.begin_ns) != CSV_CELL_NUMBER ||
        csv_time(csv_at(table, row, DURATION), table->columns[DURATION].unit, &duration_ns) !=
            CSV_CELL_NUMBER)
        return true;
    kernel.end_ns = kernel.begin_ns + duration_ns;
    return kernel.end_ns < kernel.begin_ns || kernel_add(steps, kernel);
}

enum mt_result ascend_steps_from_kernels(const char *path, struct ascend_steps *steps,
                                         struct mt_error *error)
{
    return ascend_steps_from_csv(path, kernel_columns, KERNEL_COLUMNS, add_kernel_row, steps,
                                 error);
}

/* --- as a stream --------------------------------------------------------------------------- */

struct step_stream {
    struct ascend_steps steps;
    size_t next; /* even: begin of a step; odd: its end */
};

static enum mt_result step_next(void *state, struct ascend_row *row, bool *has_row,
                                struct mt_error *error)
{
    struct step_stream *stream = state;
    const struct ascend_step *step;
    bool is_end = stream->next % 2;

    (void)error;
    *has_row = stream->next / 2 < stream->steps.count;
    if (!*has_row)
        return MT_OK;
    step = &stream->steps.rows[stream->next++ / 2];
    *row = (struct ascend_row){.kind = is_end ? ASCEND_STEP_END : ASCEND_STEP_BEGIN,
                               .time_ns = is_end ? step->end_ns : step->begin_ns,
                               .id = step->number};
    return MT_OK;
}

static void step_close(void *state)
{
    struct step_stream *stream = state;

    ascend_steps_release(&stream->steps);
    free(stream);
}

static int compare_steps(const void *left, const void *right)
{
    const struct ascend_step *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* One of each number; none reaches into the next. */
static void tidy(struct model *model, struct ascend_steps *steps)
{
    size_t count = 0;

    qsort(steps->rows, steps->count, sizeof(*steps->rows), compare_steps);
    for (size_t i = 0; i < steps->count; i++) {
        if (count && steps->rows[count - 1].number == steps->rows[i].number)
            continue;
        if (count && steps->rows[count - 1].end_ns > steps->rows[i].begin_ns) {
            model_note(model, 1, "steps that reach into the next: they end where it begins");
            steps->rows[count - 1].end_ns = steps->rows[i].begin_ns;
        }
        steps->rows[count++] = steps->rows[i];
    }
    steps->count = count;
}

enum mt_result ascend_steps_stream(struct model *model, struct ascend_steps *steps,
                                   struct ascend_stream *stream, struct mt_error *error)
{
    struct step_stream *state = calloc(1, sizeof(*state));

    if (!state)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for steps");
    tidy(model, steps);
    state->steps = *steps;
    *steps = (struct ascend_steps){0};
    *stream = (struct ascend_stream){
        .state = state,
        .next = step_next,
        .close = step_close,
        .first_ns = state->steps.count ? state->steps.rows[0].begin_ns : UINT64_MAX,
        .last_ns = state->steps.count ? state->steps.rows[state->steps.count - 1].end_ns : 0};
    return MT_OK;
}
