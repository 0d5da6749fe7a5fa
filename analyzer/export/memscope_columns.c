/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of msmemscope, exactly as it writes them.
 */
#include "memscope_columns.h"

#include "json_text.h"

/* --- values -------------------------------------------------------------------------------- */

static void add_address(struct text_builder *text, uint64_t address)
{
    char digits[18] = "0x";

    for (int i = 0; i < 16; i++)
        digits[2 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
    text_add_bytes(text, digits, sizeof(digits));
}

static void add_value(struct text_builder *text, const struct memscope_attribute *attribute)
{
    if (attribute->kind == MEMSCOPE_NUMBER)
        text_add_number(text, attribute->number);
    else if (attribute->kind == MEMSCOPE_ADDRESS)
        add_address(text, attribute->number);
    else
        text_add(text, attribute->text);
}

static void add_in_quotes(struct text_builder *text, const char *bytes)
{
    text_add(text, "\"");
    for (const char *quote; (quote = strchr(bytes, '"')); bytes = quote + 1) {
        text_add_bytes(text, bytes, (size_t)(quote - bytes) + 1);
        text_add(text, "\"");
    }
    text_add(text, bytes);
    text_add(text, "\"");
}

/* --- cells --------------------------------------------------------------------------------- */

static uint64_t id_of(const struct memscope_row *row)
{
    return row->id;
}

static uint64_t time_of(const struct memscope_row *row)
{
    return row->time_ns;
}

static uint64_t process_of(const struct memscope_row *row)
{
    return row->process_id;
}

static uint64_t thread_of(const struct memscope_row *row)
{
    return row->thread_id;
}

static const char *event_of(const struct memscope_row *row)
{
    return row->event;
}

static const char *type_of(const struct memscope_row *row)
{
    return row->type;
}

/* The reference tool quotes no name but those of mstx; one that would break the line must be. */
static void add_csv_name(struct text_builder *cell, const struct memscope_row *row)
{
    if (!row->name)
        text_add(cell, "N/A");
    else if (row->name_is_quoted || strpbrk(row->name, ",\"\r\n"))
        add_in_quotes(cell, row->name);
    else
        text_add(cell, row->name);
}

static void add_db_name(struct text_builder *cell, const struct memscope_row *row)
{
    if (row->name_is_quoted)
        add_in_quotes(cell, row->name);
    else
        text_add(cell, row->name ? row->name : "N/A");
}

static void add_device(struct text_builder *cell, const struct memscope_row *row)
{
    if (row->device == MEMSCOPE_DEVICE_CPU)
        text_add(cell, "cpu");
    else if (row->device < 0)
        text_add(cell, "N/A");
    else
        text_add_number(cell, (uint64_t)row->device);
}

static void add_pointer(struct text_builder *cell, const struct memscope_row *row)
{
    if (row->has_pointer)
        add_address(cell, row->pointer);
    else
        text_add(cell, "N/A");
}

static void add_csv_attributes(struct text_builder *cell, const struct memscope_row *row)
{
    if (!row->attribute_count)
        return;
    text_add(cell, "\"");
    for (size_t i = 0; i < row->attribute_count; i++) {
        text_add_bytes(cell, i ? "," : "{", 1);
        text_add_bytes(cell, row->attributes[i].key, row->attributes[i].key_bytes);
        text_add(cell, ":");
        add_value(cell, &row->attributes[i]);
    }
    text_add(cell, "}\"");
}

/* Readers look for this very text: no blanks, each value in quotes. */
static void add_db_attributes(struct text_builder *cell, const struct memscope_row *row)
{
    text_add(cell, "{");
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct memscope_attribute *attribute = &row->attributes[i];

        text_add(cell, i ? ",\"" : "\"");
        text_add_bytes(cell, attribute->key, attribute->key_bytes);
        text_add(cell, "\":");
        if (attribute->kind == MEMSCOPE_TEXT) {
            text_add_json(cell, attribute->text);
            continue;
        }
        text_add(cell, "\"");
        add_value(cell, attribute);
        text_add(cell, "\"");
    }
    text_add(cell, "}");
}

static void add_stack(struct text_builder *cell, const char *stack)
{
    if (*stack)
        add_in_quotes(cell, stack);
}

static void add_python_stack(struct text_builder *cell, const struct memscope_row *row)
{
    add_stack(cell, row->python_stack);
}

static void add_c_stack(struct text_builder *cell, const struct memscope_row *row)
{
    add_stack(cell, row->c_stack);
}

const struct memscope_column memscope_columns[] = {
    {"ID", "INTEGER", .number = id_of},
    {"Event", "TEXT", .text = event_of},
    {"Event Type", "TEXT", .text = type_of},
    {"Name", "TEXT", .add_csv = add_csv_name, .add_db = add_db_name},
    {"Timestamp(ns)", "INTEGER", .number = time_of},
    {"Process Id", "INTEGER", .number = process_of},
    {"Thread Id", "INTEGER", .number = thread_of},
    {"Device Id", "TEXT", .add_csv = add_device, .add_db = add_device},
    {"Ptr", "TEXT", .add_csv = add_pointer, .add_db = add_pointer},
    {"Attr", "TEXT", .add_csv = add_csv_attributes, .add_db = add_db_attributes},
    {"Call Stack(Python)", "TEXT", .add_csv = add_python_stack, .add_db = add_python_stack},
    {"Call Stack(C)", "TEXT", .add_csv = add_c_stack, .add_db = add_c_stack},
};

const size_t memscope_column_count = sizeof(memscope_columns) / sizeof(memscope_columns[0]);

_Static_assert(sizeof(memscope_columns) / sizeof(memscope_columns[0]) <= MEMSCOPE_COLUMNS_MOST,
               "a writer has room for a cell of each");
