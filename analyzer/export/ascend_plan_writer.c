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

#include "list.h"
#include "outlet.h"

enum { kilobyte = 1024 };

bool plan_add(struct plan *plan, const struct plan_row *row)
{
    if (!list_has_room(&plan->rows, &plan->capacity, plan->count, sizeof(*plan->rows)))
        return false;
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
static void put_kilobytes(struct outlet *out, uint64_t bytes)
{
    uint64_t billionths = (bytes % kilobyte * UINT64_C(1000000000) + kilobyte / 2) / kilobyte;
    char digits[16];
    int length = snprintf(digits, sizeof(digits), "%09" PRIu64, billionths);

    while (length > 1 && digits[length - 1] == '0')
        length--;
    outlet_format(out, "%" PRIu64 ".", bytes / kilobyte);
    outlet_format(out, "%.*s", length, digits);
}

static void put_row(struct outlet *out, const struct plan_row *row)
{
    if (row->device >= 0)
        outlet_format(out, "%" PRId32 ",", row->device);
    else
        outlet_add(out, "host,");
    outlet_words(out, row->name);
    outlet_add(out, ",0,"); /* a model without a name: a static graph */
    outlet_words(out, row->graph);
    outlet_format(out, ",%" PRIu64 ",%" PRIu64 ",", row->first_node, row->last_node);
    put_kilobytes(out, row->size_bytes);
    outlet_add(out, "\n");
}

enum mt_result plan_write(struct plan *plan, const char *path, const char *name,
                          struct mt_error *error)
{
    FILE *file = fopen(path, "w");
    struct outlet *out;
    bool is_written;

    if (!file)
        return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno));
    if (plan->count)
        qsort(plan->rows, plan->count, sizeof(*plan->rows), compare_rows);
    out = outlet_create(FOR_CSV, file);
    outlet_add(out,
               "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n");
    for (size_t i = 0; i < plan->count; i++)
        put_row(out, &plan->rows[i]);
    is_written = outlet_destroy(out);
    if (fclose(file) != 0 || !is_written)
        return mt_error_set(error, MT_USAGE, "%s: %s", name, strerror(errno ? errno : EIO));
    return MT_OK;
}
