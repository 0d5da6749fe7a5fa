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
static void put_csv_name(struct outlet *out, const struct memscope_row *row)
{
    outlet_words_for(out, row->name_is_quoted ? FOR_CSV_LINES : FOR_CSV,
                     row->name ? row->name : "N/A");
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

static void put_csv_value(struct outlet *out, const struct memscope_attribute *attribute)
{
    if (attribute->kind == MEMSCOPE_NUMBER)
        outlet_number(out, attribute->number);
    else if (attribute->kind == MEMSCOPE_ADDRESS)
        outlet_amount(out, add_address, attribute->number);
    else
        outlet_words_for(out, FOR_CSV_INSIDE, attribute->text);
}

static void put_csv_attributes(struct outlet *out, const struct memscope_row *row)
{
    if (!row->attribute_count)
        return;
    outlet_add(out, "\"");
    for (size_t i = 0; i < row->attribute_count; i++) {
        outlet_add_either(out, i, ",", "{");
        outlet_words_for(out, FOR_CSV_INSIDE, row->attributes[i].key);
        outlet_add(out, ":");
        put_csv_value(out, &row->attributes[i]);
    }
    outlet_add(out, "}\"");
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

static void put_csv_stack(struct outlet *out, const char *stack)
{
    if (*stack)
        outlet_words_for(out, FOR_CSV_LINES, stack);
}

static void put_csv_python_stack(struct outlet *out, const struct memscope_row *row)
{
    put_csv_stack(out, row->python_stack);
}

static void put_csv_c_stack(struct outlet *out, const struct memscope_row *row)
{
    put_csv_stack(out, row->c_stack);
}

static void put_csv_device(struct outlet *out, const struct memscope_row *row)
{
    if (row->device == MEMSCOPE_DEVICE_CPU)
        outlet_add(out, "cpu");
    else if (row->device < 0)
        outlet_add(out, "N/A");
    else
        outlet_number(out, (uint64_t)row->device);
}

static void put_csv_pointer(struct outlet *out, const struct memscope_row *row)
{
    if (row->has_pointer)
        outlet_amount(out, add_address, row->pointer);
    else
        outlet_add(out, "N/A");
}

const struct memscope_column memscope_columns[] = {
    {"ID", "INTEGER", .number = id_of},
    {"Event", "TEXT", .text = event_of},
    {"Event Type", "TEXT", .text = type_of},
    {"Name", "TEXT", .put_csv = put_csv_name, .add_db = add_db_name},
    {"Timestamp(ns)", "INTEGER", .number = time_of},
    {"Process Id", "INTEGER", .number = process_of},
    {"Thread Id", "INTEGER", .number = thread_of},
    {"Device Id", "TEXT", .put_csv = put_csv_device, .add_db = add_device},
    {"Ptr", "TEXT", .put_csv = put_csv_pointer, .add_db = add_pointer},
    {"Attr", "TEXT", .put_csv = put_csv_attributes, .add_db = add_db_attributes},
    {"Call Stack(Python)", "TEXT", .put_csv = put_csv_python_stack, .add_db = add_python_stack},
    {"Call Stack(C)", "TEXT", .put_csv = put_csv_c_stack, .add_db = add_c_stack},
};

const size_t memscope_column_count = sizeof(memscope_columns) / sizeof(memscope_columns[0]);

_Static_assert(sizeof(memscope_columns) / sizeof(memscope_columns[0]) <= MEMSCOPE_COLUMNS_MOST,
               "a writer has room for a cell of each");
