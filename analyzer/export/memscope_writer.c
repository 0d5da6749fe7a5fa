/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as msmemscope and msleaks write them.
 */
#include "memscope_writer.h"

#include <stdlib.h>
#include <string.h>

#include "database_writer.h"
#include "text_builder.h"

enum { column_count = 12, digits_most = 20, schema_most_bytes = 512 };

static const char *const columns[column_count] = {
    "ID",        "Event",     "Event Type", "Name", "Timestamp(ns)",      "Process Id",
    "Thread Id", "Device Id", "Ptr",        "Attr", "Call Stack(Python)", "Call Stack(C)",
};

static const char *const column_types[column_count] = {
    "INTEGER", "TEXT", "TEXT", "TEXT", "INTEGER", "INTEGER",
    "INTEGER", "TEXT", "TEXT", "TEXT", "TEXT",    "TEXT",
};

/* Cells of a database row that are no number and no text of the caller's. */
enum cell { CELL_NAME, CELL_DEVICE, CELL_POINTER, CELL_ATTR, CELL_PYTHON, CELL_NATIVE, CELL_COUNT };

struct memscope_writer {
    FILE *out; /* csv */
    struct database_writer *database;
    struct database_insert *insert;
    /* A line of csv, or the cells of a database that are built. */
    struct text_builder line, cells[CELL_COUNT];
};

/* --- values -------------------------------------------------------------------------------- */

static void add_number(struct text_builder *text, uint64_t number)
{
    char digits[digits_most];
    size_t i = sizeof(digits);

    do {
        digits[--i] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    text_add_bytes(text, digits + i, sizeof(digits) - i);
}

static void add_address(struct text_builder *text, uint64_t address)
{
    char digits[18] = "0x";

    for (int i = 0; i < 16; i++)
        digits[2 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
    text_add_bytes(text, digits, sizeof(digits));
}

static void add_device(struct text_builder *text, int32_t device)
{
    if (device == MEMSCOPE_DEVICE_CPU)
        text_add(text, "cpu");
    else if (device < 0)
        text_add(text, "N/A");
    else
        add_number(text, (uint64_t)device);
}

static void add_pointer(struct text_builder *text, const struct memscope_row *row)
{
    if (row->has_pointer)
        add_address(text, row->pointer);
    else
        text_add(text, "N/A");
}

static void add_value(struct text_builder *text, const struct memscope_attribute *attribute)
{
    if (attribute->kind == MEMSCOPE_NUMBER)
        add_number(text, attribute->number);
    else if (attribute->kind == MEMSCOPE_ADDRESS)
        add_address(text, attribute->number);
    else
        text_add(text, attribute->text);
}

static void add_in_quotes(struct text_builder *text, const char *bytes)
{
    text_add_char(text, '"', 1);
    for (const char *quote; (quote = strchr(bytes, '"')); bytes = quote + 1) {
        text_add_bytes(text, bytes, (size_t)(quote - bytes) + 1);
        text_add_char(text, '"', 1);
    }
    text_add(text, bytes);
    text_add_char(text, '"', 1);
}

/* The reference tool quotes no name but those of mstx; one that would break the line must be. */
static void add_name(struct text_builder *text, const struct memscope_row *row)
{
    const char *name = row->name ? row->name : "N/A";

    if (row->name_is_quoted || strpbrk(name, ",\"\r\n"))
        add_in_quotes(text, name);
    else
        text_add(text, name);
}

static void add_stack(struct text_builder *text, const char *stack)
{
    if (stack && *stack)
        add_in_quotes(text, stack);
}

/* --- csv ----------------------------------------------------------------------------------- */

static void add_csv_attributes(struct text_builder *line, const struct memscope_row *row)
{
    if (!row->attribute_count)
        return;
    text_add(line, "\"{");
    for (size_t i = 0; i < row->attribute_count; i++) {
        text_add(line, i ? "," : "");
        text_add(line, row->attributes[i].key);
        text_add_char(line, ':', 1);
        add_value(line, &row->attributes[i]);
    }
    text_add(line, "}\"");
}

static void add_line(struct text_builder *line, const struct memscope_row *row)
{
    add_number(line, row->id);
    text_add_char(line, ',', 1);
    text_add(line, row->event);
    text_add_char(line, ',', 1);
    text_add(line, row->type);
    text_add_char(line, ',', 1);
    add_name(line, row);
    text_add_char(line, ',', 1);
    add_number(line, row->time_ns);
    text_add_char(line, ',', 1);
    add_number(line, row->process_id);
    text_add_char(line, ',', 1);
    add_number(line, row->thread_id);
    text_add_char(line, ',', 1);
    add_device(line, row->device);
    text_add_char(line, ',', 1);
    add_pointer(line, row);
    text_add_char(line, ',', 1);
    add_csv_attributes(line, row);
    text_add_char(line, ',', 1);
    add_stack(line, row->python_stack);
    text_add_char(line, ',', 1);
    add_stack(line, row->c_stack);
    text_add_char(line, '\n', 1);
}

static enum mt_result write_line(struct memscope_writer *writer, const struct memscope_row *row,
                                 struct mt_error *error)
{
    text_clear(&writer->line);
    add_line(&writer->line, row);
    if (writer->line.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a row");
    fwrite(text_get(&writer->line), 1, writer->line.size_bytes, writer->out);
    return MT_OK;
}

/* --- database ------------------------------------------------------------------------------ */

static void add_json_text(struct text_builder *text, const char *bytes)
{
    static const char hex[] = "0123456789abcdef";

    for (; *bytes; bytes++) {
        size_t plain = strcspn(bytes, "\"\\\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f"
                                      "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
                                      "\x1e\x1f");
        unsigned char special = (unsigned char)bytes[plain];
        char escaped[] = {'\\', 'u', '0', '0', hex[special >> 4 & 15], hex[special & 15]};

        text_add_bytes(text, bytes, plain);
        bytes += plain;
        if (!special)
            return;
        if (special >= ' ') {
            escaped[1] = (char)special;
            text_add_bytes(text, escaped, 2);
        } else {
            text_add_bytes(text, escaped, sizeof(escaped));
        }
    }
}

/* Readers look for this very text: no blanks, each value in quotes. */
static void add_json_attributes(struct text_builder *text, const struct memscope_row *row)
{
    text_add_char(text, '{', 1);
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct memscope_attribute *attribute = &row->attributes[i];

        text_add(text, i ? ",\"" : "\"");
        text_add(text, attribute->key);
        text_add(text, "\":\"");
        if (attribute->kind == MEMSCOPE_TEXT)
            add_json_text(text, attribute->text);
        else
            add_value(text, attribute);
        text_add_char(text, '"', 1);
    }
    text_add_char(text, '}', 1);
}

static void insert_built(struct memscope_writer *writer, enum cell cell)
{
    const struct text_builder *text = &writer->cells[cell];

    insert_bytes(writer->insert, text_get(text), text->size_bytes);
}

static void build_cells(struct text_builder *cells, const struct memscope_row *row)
{
    for (size_t i = 0; i < CELL_COUNT; i++)
        text_clear(&cells[i]);
    if (row->name_is_quoted)
        add_in_quotes(&cells[CELL_NAME], row->name);
    else
        text_add(&cells[CELL_NAME], row->name ? row->name : "N/A");
    add_device(&cells[CELL_DEVICE], row->device);
    add_pointer(&cells[CELL_POINTER], row);
    add_json_attributes(&cells[CELL_ATTR], row);
    add_stack(&cells[CELL_PYTHON], row->python_stack);
    add_stack(&cells[CELL_NATIVE], row->c_stack);
}

static bool has_failed(const struct text_builder *cells)
{
    for (size_t i = 0; i < CELL_COUNT; i++)
        if (cells[i].has_failed)
            return true;
    return false;
}

static enum mt_result insert_row(struct memscope_writer *writer, const struct memscope_row *row,
                                 struct mt_error *error)
{
    struct database_insert *insert = writer->insert;

    build_cells(writer->cells, row);
    insert_number(insert, (int64_t)row->id);
    insert_text(insert, row->event);
    insert_text(insert, row->type);
    insert_built(writer, CELL_NAME);
    insert_number(insert, (int64_t)row->time_ns);
    insert_number(insert, (int64_t)row->process_id);
    insert_number(insert, (int64_t)row->thread_id);
    insert_built(writer, CELL_DEVICE);
    insert_built(writer, CELL_POINTER);
    insert_built(writer, CELL_ATTR);
    insert_built(writer, CELL_PYTHON);
    insert_built(writer, CELL_NATIVE);
    if (has_failed(writer->cells))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a row");
    return database_insert_row(insert, error);
}

/* --- both ---------------------------------------------------------------------------------- */

static struct memscope_writer *writer_new(void)
{
    struct memscope_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return NULL;
    text_init(&writer->line);
    for (size_t i = 0; i < CELL_COUNT; i++)
        text_init(&writer->cells[i]);
    return writer;
}

void memscope_writer_destroy(struct memscope_writer *writer)
{
    if (!writer)
        return;
    database_writer_destroy(writer->database);
    text_release(&writer->line);
    for (size_t i = 0; i < CELL_COUNT; i++)
        text_release(&writer->cells[i]);
    free(writer);
}

enum mt_result memscope_csv_create(FILE *out, struct memscope_writer **writer,
                                   struct mt_error *error)
{
    struct memscope_writer *made = writer_new();

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write csv");
    made->out = out;
    for (size_t i = 0; i < column_count; i++)
        fprintf(out, "%s%s", i ? "," : "", columns[i]);
    fputc('\n', out);
    *writer = made;
    return MT_OK;
}

enum mt_result memscope_database_create(const char *path, const char *name, const char *table,
                                        struct memscope_writer **writer, struct mt_error *error)
{
    struct memscope_writer *made = writer_new();
    char schema[schema_most_bytes];
    int length = snprintf(schema, sizeof(schema), "CREATE TABLE %s (", table);
    enum mt_result result;

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", name);
    for (size_t i = 0; i < column_count; i++)
        length += snprintf(schema + length, sizeof(schema) - (size_t)length, "%s\"%s\" %s",
                           i ? ", " : "", columns[i], column_types[i]);
    snprintf(schema + length, sizeof(schema) - (size_t)length, ")");
    result = database_create(path, name, schema, &made->database, error);
    if (result == MT_OK)
        result = database_insert_prepare(made->database, table, column_count, &made->insert, error);
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
    return writer->out ? write_line(writer, row, error) : insert_row(writer, row, error);
}

enum mt_result memscope_finish(struct memscope_writer *writer, struct mt_error *error)
{
    return writer->out ? MT_OK : database_finish(writer->database, "", error);
}
