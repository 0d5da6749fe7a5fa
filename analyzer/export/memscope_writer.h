/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as msmemscope and msleaks write them: csv, and the database that MindStudio Insight opens.
 *
 *     struct memscope_writer *writer;
 *
 *     memscope_database_create(path, name, "memscope_dump", &writer, error);
 *     memscope_write(writer, &row, error);
 *     memscope_finish(writer, error);
 *     memscope_writer_destroy(writer);
 *
 * Column order, quoting and the text of the attributes are exactly the reference tool's: in csv
 * {key:value,key:value} without any quotes, in the database a JSON object whose values are all
 * texts. One thread at a time.
 */
#ifndef LEAKTIDE_MEMSCOPE_WRITER_H
#define LEAKTIDE_MEMSCOPE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "error_sentence.h"
#include "outlet.h"

enum { MEMSCOPE_ATTRIBUTES_MAX = 12, MEMSCOPE_DEVICE_NONE = -1, MEMSCOPE_DEVICE_CPU = -2 };

struct memscope_attribute {
    const char *key;
    const char *text;
    uint64_t number;
    uint8_t key_bytes;
    enum memscope_attribute_kind { MEMSCOPE_NUMBER, MEMSCOPE_ADDRESS, MEMSCOPE_TEXT } kind;
};

struct memscope_row {
    uint64_t id;
    const char *event, *type; /* "MALLOC", "PTA" */
    const char *name;         /* NULL: N/A */
    bool name_is_quoted;      /* of mstx: in quotes, in the database too */
    uint64_t time_ns;         /* since 1970 */
    uint64_t process_id, thread_id;
    int32_t device;
    bool has_pointer;
    uint64_t pointer;
    struct memscope_attribute attributes[MEMSCOPE_ATTRIBUTES_MAX];
    size_t attribute_count;
    const char *python_stack, *c_stack; /* lines, innermost first; "" for none */
};

/* The key is a literal. */
static inline struct memscope_attribute *
memscope_attribute_add(struct memscope_row *row, const char *key, enum memscope_attribute_kind kind)
{
    struct memscope_attribute *attribute = &row->attributes[row->attribute_count++];

    attribute->key = key;
    attribute->key_bytes = (uint8_t)strlen(key);
    attribute->kind = kind;
    return attribute;
}

static inline void memscope_number(struct memscope_row *row, const char *key, uint64_t number)
{
    memscope_attribute_add(row, key, MEMSCOPE_NUMBER)->number = number;
}

static inline void memscope_address(struct memscope_row *row, const char *key, uint64_t address)
{
    memscope_attribute_add(row, key, MEMSCOPE_ADDRESS)->number = address;
}

/* The text must stay until the row is written. */
static inline void memscope_text(struct memscope_row *row, const char *key, const char *text)
{
    memscope_attribute_add(row, key, MEMSCOPE_TEXT)->text = text;
}

struct memscope_writer;

/* Writes the header. out, made FOR_CSV, stays the caller's, who looks at its errors. */
enum mt_result memscope_csv_create(struct outlet *out, struct memscope_writer **writer,
                                   struct mt_error *error);
/* path must not exist; name is what sentences call it; table "memscope_dump" or "leaks_dump". */
enum mt_result memscope_database_create(const char *path, const char *name, const char *table,
                                        struct memscope_writer **writer, struct mt_error *error);
enum mt_result memscope_write(struct memscope_writer *writer, const struct memscope_row *row,
                              struct mt_error *error);
/* Everything is there; after it only destroying. */
enum mt_result memscope_finish(struct memscope_writer *writer, struct mt_error *error);
void memscope_writer_destroy(struct memscope_writer *writer);

#endif
