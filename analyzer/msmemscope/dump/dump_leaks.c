/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver blocks left behind between marks.
 */
#include "dump_leaks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump_rows.h"
#include "hash.h"
#include "hash_index.h"
#include "list.h"
#include "outlet.h"
#include "python_number.h"

/* The marks of one device, by the ids of their rows. */
struct marks {
    uint64_t *ids;
    size_t count, capacity;
};

struct search {
    const struct dump_leaks *what;
    struct dump_rows rows; /* by id */
    struct outlet *out;
    struct dump_leaks_counts *counts;
    uint32_t *devices; /* texts, in the order of the file */
    struct marks *marks;
    size_t device_count;
    bool has_results; /* their heading was written */
};

static bool is_mark(const struct search *search, const struct dump_row *row)
{
    return row->event == DUMP_MARK &&
           strcmp(model_text_at(search->rows.model, row->name), search->what->mark) == 0;
}

static bool is_device(const struct search *search, const struct dump_row *row)
{
    const char *name = model_text_at(search->rows.model, row->device);

    return *name && strcmp(name, "N/A") != 0;
}

/* In the order of the file; before the rows are sorted. False when there is no memory. */
static bool devices_find(struct search *search)
{
    size_t texts = model_text_count(search->rows.model);
    bool *is_known = calloc(texts + 1, sizeof(*is_known));

    search->devices = malloc((texts + 1) * sizeof(*search->devices));
    search->marks = calloc(texts + 1, sizeof(*search->marks));
    if (!is_known || !search->devices || !search->marks) {
        free(is_known);
        return false;
    }
    for (size_t i = 0; i < search->rows.count; i++) {
        const struct dump_row *row = &search->rows.rows[i];

        if (is_known[row->device] || !is_device(search, row))
            continue;
        is_known[row->device] = true;
        search->devices[search->device_count++] = row->device;
    }
    free(is_known);
    return true;
}

static bool marks_find(struct search *search, size_t device)
{
    struct marks *marks = &search->marks[device];

    for (size_t i = 0; i < search->rows.count; i++) {
        const struct dump_row *row = &search->rows.rows[i];

        if (row->device != search->devices[device] || !is_mark(search, row))
            continue;
        if (!list_has_room(&marks->ids, &marks->capacity, marks->count, sizeof(*marks->ids)))
            return false;
        marks->ids[marks->count++] = row->id;
    }
    return true;
}

/* Says why a device is not judged, as the tool does. */
static bool has_marks(const struct search *search, size_t device)
{
    const struct marks *marks = &search->marks[device];
    const char *name = model_text_at(search->rows.model, search->devices[device]);

    outlet_format(search->out, "INFO: Starting to analyze data for device %s...\n", name);
    if (marks->count < 3) {
        outlet_format(search->out,
                      "ERROR: Device %s has fewer than 3 data points. Please re-collect the data "
                      "points.\n",
                      name);
        return false;
    }
    if (search->what->start_index + 2 < marks->count)
        return true;
    outlet_format(
        search->out,
        "INFO: Start index %u is out of bounds. Device %s has a total of %zu MSTX events.\n",
        search->what->start_index, name, marks->count);
    return false;
}

/* Rows that are alive at C, by address; a freed one is marked in `is_gone`. */
struct live {
    struct hash_index index;
    const struct dump_row **rows;
    bool *is_gone;
    size_t count;
};

static void free_block(struct live *live, const struct dump_row *row)
{
    size_t probe = 0;
    uint32_t at;

    while (hash_index_next(&live->index, hash_u64(row->address), &probe, &at))
        if (!live->is_gone[at] && live->rows[at]->address == row->address) {
            live->is_gone[at] = true;
            return;
        }
}

static bool blocks_walk(struct search *search, size_t device, struct live *live)
{
    const uint64_t *mark = search->marks[device].ids + search->what->start_index;

    for (size_t i = 0; i < search->rows.count; i++) {
        const struct dump_row *row = &search->rows.rows[i];

        if (row->device != search->devices[device] || row->pool != DUMP_POOL_HAL ||
            row->id < mark[0] || row->id > mark[2])
            continue;
        if (row->event == DUMP_FREE)
            free_block(live, row);
        if (row->event != DUMP_MALLOC || row->id > mark[1])
            continue;
        live->rows[live->count] = row;
        if (!hash_index_add(&live->index, hash_u64(row->address), (uint32_t)live->count++))
            return false;
    }
    return true;
}

static void write_leaks(struct search *search, size_t device, const struct live *live)
{
    const char *name = model_text_at(search->rows.model, search->devices[device]);
    bool has_any = false;

    if (!search->has_results)
        outlet_format(search->out, "\nLeak Analysis Results for the Custom Range:\n");
    search->has_results = true;
    for (size_t i = 0; i < live->count; i++) {
        char mebibytes[PYTHON_NUMBER_BYTES];

        if (live->is_gone[i])
            continue;
        if (!has_any)
            outlet_format(search->out, "====== ERROR: Detected memory leaks on device %s ======\n",
                          name);
        has_any = true;
        search->counts->leak_count++;
        python_number((double)live->rows[i]->size_bytes / (1 << 20), mebibytes);
        outlet_format(search->out,
                      "Direct Hal memory leak of %s Mb(s) at 0x%016" PRIx64 " in Index %" PRIu64
                      ".\n",
                      mebibytes, live->rows[i]->address, live->rows[i]->id);
    }
    if (!has_any)
        outlet_format(search->out, "No hal memory leaks detected on device %s.\n", name);
}

static bool device_judge(struct search *search, size_t device)
{
    struct live live = {.rows = malloc((search->rows.count + 1) * sizeof(*live.rows)),
                        .is_gone = calloc(search->rows.count + 1, sizeof(*live.is_gone))};
    bool is_ok;

    hash_index_init(&live.index);
    is_ok = live.rows && live.is_gone && blocks_walk(search, device, &live);
    if (is_ok)
        write_leaks(search, device, &live);
    hash_index_release(&live.index);
    free(live.rows);
    free(live.is_gone);
    return is_ok;
}

static bool devices_judge(struct search *search)
{
    bool is_ok = true, *is_judged = calloc(search->device_count + 1, sizeof(*is_judged));

    for (size_t i = 0; is_ok && is_judged && i < search->device_count; i++) {
        is_ok = marks_find(search, i);
        is_judged[i] = is_ok && has_marks(search, i);
        search->counts->judged_device_count += is_judged[i];
    }
    for (size_t i = 0; is_ok && is_judged && i < search->device_count; i++)
        if (is_judged[i])
            is_ok = device_judge(search, i);
    is_ok = is_ok && is_judged;
    free(is_judged);
    return is_ok;
}

static enum mt_result search_file(struct search *search, struct model *model,
                                  struct mt_error *error)
{
    enum mt_result result = dump_rows_read(&search->rows, search->what->path, model, error);

    if (result != MT_OK)
        return result;
    if (devices_find(search)) {
        dump_rows_by_id(&search->rows);
        if (!devices_judge(search))
            result =
                mt_error_set(error, MT_NO_MEMORY, "no memory to look at %s", search->what->path);
    } else {
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to look at %s", search->what->path);
    }
    search->counts->bad_count = search->rows.bad_count;
    for (size_t i = 0; search->marks && i < search->device_count; i++)
        free(search->marks[i].ids);
    free(search->marks);
    free(search->devices);
    dump_rows_release(&search->rows);
    return result;
}

enum mt_result dump_leaks_write(const struct dump_leaks *leaks, FILE *file,
                                struct dump_leaks_counts *counts, struct mt_error *error)
{
    struct search search = {.what = leaks, .counts = counts};
    struct model *model;
    enum mt_result result = model_create(&model, error);

    *counts = (struct dump_leaks_counts){0};
    if (result != MT_OK)
        return result;
    search.out = outlet_create(FOR_TERMINAL, file);
    result = search_file(&search, model, error);
    outlet_destroy(search.out);
    model_destroy(model);
    return result;
}
