/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as msmemscope counts them: rows of a device in order of time, and for each element the
 * size in the first row of a pool that follows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare_list.h"
#include "list.h"
#include "memscope_files.h"

enum row_kind { ROW_ELEMENT, ROW_POOL };

struct row {
    uint64_t time;
    uint64_t number; /* in the file: the order of rows of one time */
    int64_t bytes;
    uint32_t name; /* text */
    int32_t device;
    enum row_kind kind;
};

struct reading {
    enum compare_level level;
    struct model *texts;
    struct compare_list *list;
    struct row *rows;
    size_t count, capacity;
    uint64_t number;
    bool has_failed;
};

static bool is_element(const struct reading *reading, const struct attr_text *cells)
{
    if (reading->level == COMPARE_OPERATORS)
        return attr_is(cells[COLUMN_EVENT], "OP_LAUNCH") &&
               attr_ends_with(cells[COLUMN_TYPE], "_END");
    return attr_is(cells[COLUMN_EVENT], "KERNEL_LAUNCH") &&
           attr_is(cells[COLUMN_TYPE], "KERNEL_LAUNCH");
}

static bool is_pool(const struct attr_text *cells)
{
    return (attr_is(cells[COLUMN_EVENT], "MALLOC") || attr_is(cells[COLUMN_EVENT], "FREE")) &&
           (attr_is(cells[COLUMN_TYPE], "PTA") || attr_is(cells[COLUMN_TYPE], "MINDSPORE"));
}

/* "size:-512" counts as it is. */
static int64_t size_of(struct attr_text attr)
{
    struct memscope_attr read;
    const char *end = attr.bytes + attr.size_bytes;
    bool is_negative = false;

    memscope_attr_read(&read, attr.bytes, attr.size_bytes, NULL);
    for (const char *at = attr.bytes; at && end - at > 6;
         at = memchr(at + 1, 's', (size_t)(end - at - 1)))
        if (memcmp(at, "size:-", 6) == 0 && at > attr.bytes && (at[-1] == ',' || at[-1] == '{'))
            is_negative = true;
    return is_negative ? -(int64_t)read.size_bytes : (int64_t)read.size_bytes;
}

static bool row_add(struct reading *reading, struct row row)
{
    if (!list_has_room(&reading->rows, &reading->capacity, reading->count, sizeof(*reading->rows)))
        return false;
    reading->rows[reading->count++] = row;
    return true;
}

static bool take_row(void *context, const struct attr_text *cells)
{
    struct reading *reading = context;
    struct row row = {.number = reading->number++};
    uint64_t device;

    if (!memscope_number(cells[COLUMN_TIME].bytes, cells[COLUMN_TIME].size_bytes, &row.time))
        return false;
    /* Rows of the host, and of no device, are left out. */
    if (!memscope_number(cells[COLUMN_DEVICE].bytes, cells[COLUMN_DEVICE].size_bytes, &device) ||
        device > INT16_MAX)
        return true;
    row.device = (int32_t)device;
    reading->has_failed |= !compare_list_device(reading->list, row.device);
    if (is_element(reading, cells)) {
        row.name =
            model_text(reading->texts, cells[COLUMN_NAME].bytes, cells[COLUMN_NAME].size_bytes);
    } else if (is_pool(cells)) {
        row.kind = ROW_POOL;
        row.bytes = size_of(cells[COLUMN_ATTR]);
    } else {
        return true;
    }
    reading->has_failed |= !row_add(reading, row);
    return true;
}

static int row_compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->device != b->device)
        return a->device > b->device ? 1 : -1;
    if (a->time != b->time)
        return a->time > b->time ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* From the last row to the first, the newest pool row is the one that follows. */
static bool put_elements(struct reading *reading)
{
    int64_t follows = 0;

    for (size_t i = reading->count; i-- > 0;) {
        struct row *row = &reading->rows[i];

        if (i + 1 == reading->count || reading->rows[i + 1].device != row->device)
            follows = 0;
        if (row->kind == ROW_POOL)
            follows = row->bytes;
        else
            row->bytes = follows;
    }
    for (size_t i = 0; i < reading->count; i++) {
        const struct row *row = &reading->rows[i];

        if (row->kind == ROW_ELEMENT &&
            !compare_list_add(reading->list,
                              (struct compare_element){model_text_at(reading->texts, row->name),
                                                       row->device, row->bytes}))
            return false;
    }
    return true;
}

/* The tool's table of devices hands out the newest first. */
static void turn_devices(struct compare_list *list)
{
    for (size_t i = 0; i < list->device_count / 2; i++) {
        int32_t device = list->devices[i];

        list->devices[i] = list->devices[list->device_count - 1 - i];
        list->devices[list->device_count - 1 - i] = device;
    }
}

enum mt_result compare_read_strict(const char *path, enum compare_level level, struct model *texts,
                                   struct compare_list *list, struct mt_error *error)
{
    struct reading reading = {.level = level, .texts = texts, .list = list};
    struct memscope_row_visitor visitor = {&reading, take_row};
    struct memscope_csv_facts facts;
    enum mt_result result;

    memset(list, 0, sizeof(*list));
    result = memscope_csv_visit(path, &visitor, &facts, error);
    if (result == MT_OK && facts.bad_count)
        result = mt_error_set(error, MT_CORRUPT, "%s: line %" PRIu64 ": this row makes no sense",
                              path, facts.bad_line);
    if (result == MT_OK) {
        qsort(reading.rows, reading.count, sizeof(*reading.rows), row_compare);
        turn_devices(list);
        if (reading.has_failed || !put_elements(&reading))
            result = mt_error_set(error, MT_NO_MEMORY, "no memory for the rows of %s", path);
    }
    if (result == MT_OK && !list->count)
        result = mt_error_set(error, MT_NO_DATA, "%s: no %s to compare", path,
                              level == COMPARE_OPERATORS ? "operators" : "kernels");
    free(reading.rows);
    return result;
}
