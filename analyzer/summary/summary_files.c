/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a summary to files of Parquet and back.
 */
#include "summary_files.h"

#include <stdlib.h>
#include <string.h>

#include "parquet.h"
#include "summary_folder.h"
#include "text_builder.h"

#define VERSION_PROPERTY "leaktide.summary_version"
#define TABLE_PROPERTY   "leaktide.table"

struct summary_reader {
    struct parquet_reader *parquet;
    struct text_builder path;
};

/* --- writing --------------------------------------------------------------------------------- */

static const char *text_at(void *context, int64_t number)
{
    return summary_text(context, number);
}

static enum mt_result write_table(const struct summary *summary, enum summary_table table,
                                  const char *path, struct mt_error *error)
{
    struct parquet_column columns[SUMMARY_COLUMN_COUNT];
    const struct parquet_property properties[] = {
        {VERSION_PROPERTY, SUMMARY_VERSION},
        {TABLE_PROPERTY, summary_table_names[table]},
    };
    size_t count = 0;

    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT; i++) {
        const struct summary_column_info *info = &summary_columns[i];

        if (info->table != table)
            continue;
        columns[count++] = (struct parquet_column){
            .name = info->name,
            .kind = info->kind == SUMMARY_INTEGER ? PARQUET_INTEGER : PARQUET_TEXT,
            .is_optional = info->is_optional,
            .numbers = summary->values[i].numbers,
            .known = info->is_optional ? summary->values[i].known : NULL,
        };
    }
    return parquet_write(path,
                         &(struct parquet_table){
                             .columns = columns,
                             .column_count = count,
                             .row_count = summary->row_counts[table],
                             .text_at = text_at,
                             .context = (void *)(uintptr_t)summary,
                             .properties = properties,
                             .property_count = sizeof(properties) / sizeof(properties[0]),
                         },
                         error);
}

static void table_path(struct text_builder *path, const char *folder, enum summary_table table)
{
    text_clear(path);
    text_add_format(path, "%s/%s.parquet", folder, summary_table_names[table]);
}

static enum mt_result write_tables(const struct summary *summary, const char *folder,
                                   struct mt_error *error)
{
    struct text_builder path;
    enum mt_result result = MT_OK;

    text_init(&path);
    for (size_t i = 0; result == MT_OK && i < SUMMARY_TABLE_COUNT; i++) {
        table_path(&path, folder, (enum summary_table)i);
        result = path.has_failed
                     ? mt_error_set(error, MT_NO_MEMORY, "no memory for a summary")
                     : write_table(summary, (enum summary_table)i, text_get(&path), error);
    }
    text_release(&path);
    return result == MT_IO ? MT_USAGE : result;
}

enum mt_result summary_write(const struct summary *summary, const char *folder,
                             struct mt_error *error)
{
    struct summary_place place;
    enum mt_result result = summary_status(summary, error);

    if (MT_ASSERTS)
        summary_check(summary);
    if (result == MT_OK)
        result = summary_place_begin(&place, folder, error);
    if (result != MT_OK)
        return result;
    return summary_place_end(&place, write_tables(summary, summary_place_path(&place), error),
                             error);
}

/* --- reading --------------------------------------------------------------------------------- */

enum mt_result summary_reader_create(struct summary_reader **out, struct mt_error *error)
{
    struct summary_reader *reader = calloc(1, sizeof(*reader));
    enum mt_result result;

    if (!reader)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read summaries");
    text_init(&reader->path);
    result = parquet_reader_create(&reader->parquet, error);
    if (result == MT_OK)
        *out = reader;
    else
        free(reader);
    return result;
}

void summary_reader_destroy(struct summary_reader *reader)
{
    if (!reader)
        return;
    parquet_reader_destroy(reader->parquet);
    text_release(&reader->path);
    free(reader);
}

static enum mt_result check_version(const struct summary_reader *reader, enum summary_table table,
                                    struct mt_error *error)
{
    const char *version = parquet_reader_property(reader->parquet, VERSION_PROPERTY);
    const char *name = parquet_reader_property(reader->parquet, TABLE_PROPERTY);

    /* Who writes the files again, as an engine does, may leave out what is said about them. */
    if (version && strcmp(version, SUMMARY_VERSION) != 0)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "%s: summaries of version %s; this leaktide reads version %s",
                            text_get(&reader->path), version, SUMMARY_VERSION);
    if (name && strcmp(name, summary_table_names[table]) != 0)
        return mt_error_set(error, MT_CORRUPT, "%s: holds the table %s", text_get(&reader->path),
                            name);
    return MT_OK;
}

static void take_texts(struct summary *summary, struct summary_values *values, size_t first,
                       const struct parquet_values *read)
{
    struct parquet_text last = {0, 0};
    int64_t last_number = 0;

    for (size_t i = 0; i < read->count; i++) {
        struct parquet_text text = read->texts[i];

        /* Mostly the one of the row before. */
        if (text.size_bytes != last.size_bytes ||
            memcmp(read->bytes + text.offset, read->bytes + last.offset, text.size_bytes) != 0)
            last_number = summary_text_number(summary, read->bytes + text.offset, text.size_bytes);
        last = text;
        values->numbers[first + i] = last_number;
    }
}

static enum mt_result read_column(struct summary_reader *reader, size_t group,
                                  enum summary_column column, size_t first, struct summary *summary,
                                  struct mt_error *error)
{
    const struct summary_column_info *info = &summary_columns[column];
    enum parquet_kind kind;
    size_t index = parquet_reader_column(reader->parquet, info->name, &kind);
    struct summary_values *values = &summary->values[column];
    struct parquet_values read;
    enum mt_result result;

    if (index == SIZE_MAX && info->is_optional)
        return MT_OK; /* of an older writer */
    if (index == SIZE_MAX || (kind == PARQUET_TEXT) != (info->kind == SUMMARY_TEXT))
        return mt_error_set(error, MT_CORRUPT, "%s: the column %s is missing, or of another kind",
                            text_get(&reader->path), info->name);
    result = parquet_reader_read(reader->parquet, group, index, &read, error);
    if (result != MT_OK)
        return result;
    if (!info->is_optional && memchr(read.known, 0, read.count))
        return mt_error_set(error, MT_CORRUPT, "%s: values of %s are missing",
                            text_get(&reader->path), info->name);
    memcpy(&values->known[first], read.known, read.count);
    if (kind == PARQUET_TEXT)
        take_texts(summary, values, first, &read);
    else
        memcpy(&values->numbers[first], read.numbers, read.count * sizeof(*read.numbers));
    return MT_OK;
}

static enum mt_result read_group(struct summary_reader *reader, size_t group,
                                 enum summary_table table, struct summary *summary,
                                 struct mt_error *error)
{
    size_t rows = parquet_reader_group_rows(reader->parquet, group);
    size_t first = summary_add_rows(summary, table, rows);
    enum mt_result result = summary_status(summary, error);

    for (size_t i = 0; result == MT_OK && i < SUMMARY_COLUMN_COUNT; i++)
        if (summary_columns[i].table == table && !summary->is_left_out[i] && rows)
            result = read_column(reader, group, (enum summary_column)i, first, summary, error);
    return result;
}

static bool is_table_wanted(const struct summary *summary, enum summary_table table)
{
    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT; i++)
        if (summary_columns[i].table == table && !summary->is_left_out[i])
            return true;
    return false;
}

static enum mt_result read_table(struct summary_reader *reader, const char *folder,
                                 enum summary_table table, struct summary *summary,
                                 struct mt_error *error)
{
    enum mt_result result;

    table_path(&reader->path, folder, table);
    if (reader->path.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read summaries");
    result = parquet_reader_open(reader->parquet, text_get(&reader->path), error);
    if (result == MT_OK)
        result = check_version(reader, table, error);
    for (size_t i = 0; result == MT_OK && i < parquet_reader_group_count(reader->parquet); i++)
        result = read_group(reader, i, table, summary, error);
    return result;
}

enum mt_result summary_read(struct summary_reader *reader, const char *folder,
                            struct summary *summary, struct mt_error *error)
{
    size_t row_counts[SUMMARY_TABLE_COUNT];
    enum mt_result result = MT_OK;

    memcpy(row_counts, summary->row_counts, sizeof(row_counts));
    for (size_t i = 0; result == MT_OK && i < SUMMARY_TABLE_COUNT; i++)
        if (is_table_wanted(summary, (enum summary_table)i))
            result = read_table(reader, folder, (enum summary_table)i, summary, error);
    if (result == MT_OK)
        result = summary_status(summary, error);
    if (result != MT_OK)
        memcpy(summary->row_counts, row_counts, sizeof(row_counts));
    return result;
}
