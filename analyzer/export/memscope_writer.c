/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as msmemscope and msleaks write them, column by column.
 *
 * A cell of the database that is as in the row before stays bound: of most rows, half the cells.
 */
#include "memscope_writer.h"

#include <stdlib.h>
#include <string.h>

#include "database_writer.h"
#include "memscope_columns.h"

/* Of the row before. */
struct bound_cell {
    struct text_builder text;
    uint64_t number;
    bool is_bound;
};

struct memscope_writer {
    struct outlet *out; /* csv */
    struct database_writer *database;
    struct database_insert *insert;
    struct bound_cell bound[MEMSCOPE_COLUMNS_MOST];
    struct text_builder cell;
};

/* --- csv ----------------------------------------------------------------------------------- */

static void put_cell(struct outlet *out, const struct memscope_column *column,
                     const struct memscope_row *row)
{
    if (column->number)
        outlet_number(out, column->number(row));
    else if (column->text)
        outlet_words(out, column->text(row));
    else
        column->put_csv(out, row);
}

static void write_line(struct memscope_writer *writer, const struct memscope_row *row)
{
    for (size_t i = 0; i < memscope_column_count; i++) {
        put_cell(writer->out, &memscope_columns[i], row);
        outlet_add_either(writer->out, i + 1 < memscope_column_count, ",", "\n");
    }
}

/* --- database ------------------------------------------------------------------------------ */

static void bind_number(struct database_insert *insert, struct bound_cell *bound, uint64_t number)
{
    if (bound->is_bound && bound->number == number)
        insert_same(insert);
    else
        insert_number(insert, (int64_t)number);
    bound->number = number;
}

static bool is_ascii(const char *bytes, size_t size_bytes)
{
    uint64_t word = 0, seen = 0;
    size_t i = 0;

    for (; i + sizeof(word) <= size_bytes; i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        seen |= word;
    }
    for (; i < size_bytes; i++)
        seen |= (unsigned char)bytes[i];
    return !(seen & UINT64_C(0x8080808080808080));
}

static void bind_text(struct database_insert *insert, struct bound_cell *bound, const char *bytes,
                      size_t size_bytes)
{
    if (bound->is_bound && bound->text.size_bytes == size_bytes &&
        memcmp(bytes, text_get(&bound->text), size_bytes) == 0) {
        insert_same(insert);
        return;
    }
    text_clear(&bound->text);
    text_add_bytes(&bound->text, bytes, size_bytes);
    if (is_ascii(bytes, size_bytes))
        insert_bytes(insert, text_get(&bound->text), size_bytes);
    else
        insert_text(insert, text_get(&bound->text));
}

static void bind_cell(struct memscope_writer *writer, size_t index, const struct memscope_row *row)
{
    const struct memscope_column *column = &memscope_columns[index];
    struct bound_cell *bound = &writer->bound[index];

    if (column->number) {
        bind_number(writer->insert, bound, column->number(row));
    } else if (column->text) {
        const char *text = column->text(row);

        bind_text(writer->insert, bound, text, strlen(text));
    } else {
        text_clear(&writer->cell);
        column->add_db(&writer->cell, row);
        bind_text(writer->insert, bound, text_get(&writer->cell), writer->cell.size_bytes);
    }
    bound->is_bound = true;
}

static bool has_failed(const struct memscope_writer *writer)
{
    for (size_t i = 0; i < memscope_column_count; i++)
        if (writer->bound[i].text.has_failed)
            return true;
    return writer->cell.has_failed;
}

static enum mt_result insert_row(struct memscope_writer *writer, const struct memscope_row *row,
                                 struct mt_error *error)
{
    for (size_t i = 0; i < memscope_column_count; i++)
        bind_cell(writer, i, row);
    if (has_failed(writer))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a row");
    return database_insert_row(writer->insert, error);
}

/* --- both ---------------------------------------------------------------------------------- */

static struct memscope_writer *writer_new(void)
{
    return calloc(1, sizeof(struct memscope_writer));
}

void memscope_writer_destroy(struct memscope_writer *writer)
{
    if (!writer)
        return;
    database_writer_destroy(writer->database);
    text_release(&writer->cell);
    for (size_t i = 0; i < MEMSCOPE_COLUMNS_MOST; i++)
        text_release(&writer->bound[i].text);
    free(writer);
}

enum mt_result memscope_csv_create(struct outlet *out, struct memscope_writer **writer,
                                   struct mt_error *error)
{
    struct memscope_writer *made = writer_new();

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write csv");
    made->out = out;
    for (size_t i = 0; i < memscope_column_count; i++) {
        outlet_words(out, memscope_columns[i].name);
        outlet_add_either(out, i + 1 < memscope_column_count, ",", "\n");
    }
    *writer = made;
    return MT_OK;
}

static void add_schema(struct text_builder *schema, const char *table)
{
    text_add_format(schema, "CREATE TABLE %s (", table);
    for (size_t i = 0; i < memscope_column_count; i++)
        text_add_format(schema, "%s\"%s\" %s", i ? ", " : "", memscope_columns[i].name,
                        memscope_columns[i].type);
    text_add(schema, ")");
}

enum mt_result memscope_database_create(const char *path, const char *name, const char *table,
                                        struct memscope_writer **writer, struct mt_error *error)
{
    struct memscope_writer *made = writer_new();
    struct text_builder schema;
    enum mt_result result;

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", name);
    text_init(&schema);
    add_schema(&schema, table);
    result = database_create(path, name, text_get(&schema), &made->database, error);
    text_release(&schema);
    if (result == MT_OK)
        result = database_insert_prepare(made->database, table, (unsigned)memscope_column_count,
                                         &made->insert, error);
    if (result != MT_OK) {
        memscope_writer_destroy(made);
        return result;
    }
    *writer = made;
    return MT_OK;
}

enum mt_result memscope_write(struct memscope_writer *writer, const struct memscope_row *row,
                              struct mt_error *error)
{
    if (writer->database)
        return insert_row(writer, row, error);
    write_line(writer, row);
    return MT_OK;
}

enum mt_result memscope_finish(struct memscope_writer *writer, struct mt_error *error)
{
    if (writer->database)
        return database_finish(writer->database, "", error);
    return MT_OK;
}
