/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of static_op_mem.csv.
 */
#include "ascend_plan_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_text.h"

enum { kilobyte = 1024 };

bool plan_add(struct plan *plan, const struct plan_row *row)
{
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity ? plan->capacity * 2 : 256;
        struct plan_row *larger = realloc(plan->rows, capacity * sizeof(*larger));

        if (!larger)
            return false;
        plan->rows = larger;
        plan->capacity = capacity;
    }
    plan->rows[plan->count++] = *row;
    return true;
}

void plan_release(struct plan *plan)
{
    free(plan->rows);
    *plan = (struct plan){0};
}

/* Numbers of graphs in order, so 9 comes before 10. */
static int compare_graphs(const char *left, const char *right)
{
    size_t left_length = strlen(left), right_length = strlen(right);

    if (left_length != right_length)
        return left_length < right_length ? -1 : 1;
    return strcmp(left, right);
}

static int compare_rows(const void *left, const void *right)
{
    const struct plan_row *a = left, *b = right;
    int order = compare_graphs(a->graph, b->graph);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* Nine decimals, the last rounded half up, without zeros at the end. */
static void put_kilobytes(FILE *out, uint64_t bytes)
{
    uint64_t billionths = (bytes % kilobyte * UINT64_C(1000000000) + kilobyte / 2) / kilobyte;
    char digits[16];
    int length = snprintf(digits, sizeof(digits), "%09" PRIu64, billionths);

    while (length > 1 && digits[length - 1] == '0')
        length--;
    fprintf(out, "%" PRIu64 ".%.*s", bytes / kilobyte, length, digits);
}

static void put_row(FILE *out, const struct plan_row *row)
{
    if (row->device >= 0)
        fprintf(out, "%" PRId32 ",", row->device);
    else
        fputs("host,", out);
    csv_put_text(out, row->name);
    fputs(",0,", out); /* a model without a name: a static graph */
    csv_put_text(out, row->graph);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",", row->first_node, row->last_node);
    put_kilobytes(out, row->size_bytes);
    fputc('\n', out);
}

enum mt_result plan_write(struct plan *plan, const char *path, const char *name,
                          struct mt_error *error)
{
    FILE *out = fopen(path, "w");
    bool is_written;

    if (!out)
        return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno));
    if (plan->count)
        qsort(plan->rows, plan->count, sizeof(*plan->rows), compare_rows);
    fputs("Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n", out);
    for (size_t i = 0; i < plan->count; i++)
        put_row(out, &plan->rows[i]);
    is_written = !ferror(out);
    if (fclose(out) != 0 || !is_written)
        return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno ? errno : EIO));
    return MT_OK;
}
