/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for blocks that are used badly, in one file.
 */
#include "dump_inefficient.h"

#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "dump_rewrite.h"
#include "dump_rows.h"
#include "inefficiency.h"
#include "outlet.h"

struct search {
    const struct dump_inefficient_search *what;
    struct dump_rows rows; /* by time */
    uint8_t *types;        /* by number of the row in the file */
    size_t type_count;
    struct dump_inefficient_counts *counts;
};

/* The tool takes the frees of its own exit for those of the program, and looks at all the file. */
static bool is_passed_over(const struct dump_inefficient_search *what, const struct dump_row *row)
{
    bool is_bound = row->event == DUMP_TRACE_BEGIN || row->event == DUMP_TRACE_END;

    return what->is_strict ? is_bound : row->is_shadow;
}

static bool rows_judge(struct search *search, struct inefficiency *judge)
{
    for (size_t i = 0; i < search->rows.count; i++) {
        const struct dump_row *row = &search->rows.rows[i];
        struct inefficiency_event event = {
            .event = (enum dump_event)row->event,
            .pool = (enum dump_pool)row->pool,
            .process_id = row->process_id,
            /* Identifiers and addresses cannot be mistaken: addresses are large. */
            .block = row->allocation_id ? row->allocation_id : row->address,
            .number = (uint32_t)i,
            .name = model_text_at(search->rows.model, row->name),
        };

        if (is_passed_over(search->what, row))
            continue;
        if (!inefficiency_take(judge, &event))
            return false;
    }
    return true;
}

static void keep(struct search *search, const struct dump_row *row, uint32_t types)
{
    struct dump_inefficient_counts *counts = search->counts;

    if (search->what->types)
        types &= search->what->types;
    if (!types || row->size_bytes < search->what->least_bytes)
        return;
    search->types[row->number] = (uint8_t)types;
    counts->early_count += (types & DUMP_EARLY) != 0;
    counts->late_count += (types & DUMP_LATE) != 0;
    counts->idle_count += (types & DUMP_IDLE) != 0;
    counts->block_count++;
    counts->block_bytes += row->size_bytes;
}

static bool search_rows(struct search *search)
{
    struct inefficiency *judge = inefficiency_create(search->what->idle_threshold);
    bool is_ok;

    for (size_t i = 0; i < search->rows.count; i++)
        if (search->rows.rows[i].number >= search->type_count)
            search->type_count = search->rows.rows[i].number + 1;
    search->types = calloc(search->type_count, 1);
    is_ok = judge && search->types && rows_judge(search, judge);
    for (size_t i = 0; is_ok && i < inefficiency_count(judge); i++) {
        uint32_t types, row = inefficiency_at(judge, i, &types);

        keep(search, &search->rows.rows[row], types);
    }
    inefficiency_destroy(judge);
    return is_ok;
}

static enum mt_result search_file(struct search *search, FILE *out, struct model *model,
                                  struct mt_error *error)
{
    const char *path = search->what->path;
    bool is_db = database_recognises(path);
    const char *kind = is_db ? "DB" : "CSV", *lower = is_db ? "db" : "csv";
    enum mt_result result = dump_rows_read(&search->rows, path, model, error);

    if (result != MT_OK)
        return result;
    outlet_print(out, "INFO: Connected to %s file\nINFO: %s file read successfully\n", kind, kind);
    dump_rows_by_time(&search->rows);
    if (!search_rows(search))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to look at %s", path);
    search->counts->bad_count = search->rows.bad_count;
    dump_rows_release(&search->rows);
    if (result != MT_OK)
        return result;
    outlet_print(out, "INFO: Connecting to %s %s to write results\n", lower, path);
    result = is_db ? dump_rewrite_db(path, search->types, search->type_count, error)
                   : dump_rewrite_csv(path, search->types, search->type_count,
                                      search->what->is_strict, error);
    if (result == MT_OK)
        outlet_print(out, "INFO: All results have been successfully written to %s %s\n", lower,
                     path);
    return result;
}

enum mt_result dump_inefficient_mark(const struct dump_inefficient_search *what, FILE *out,
                                     struct dump_inefficient_counts *counts, struct mt_error *error)
{
    struct search search = {.what = what, .counts = counts};
    struct model *model;
    enum mt_result result = model_create(&model, error);

    *counts = (struct dump_inefficient_counts){0};
    if (result != MT_OK)
        return result;
    result = search_file(&search, out, model, error);
    free(search.types);
    model_destroy(model);
    return result;
}
