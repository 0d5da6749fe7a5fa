/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a row by their keys.
 */
#ifndef LEAKTIDE_DUMP_ATTRIBUTES_H
#define LEAKTIDE_DUMP_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "memscope_writer.h"

/* The key is a literal. */
static inline bool dump_attribute_is(const struct memscope_attribute *attribute, const char *key)
{
    return attribute->key_bytes == strlen(key) && memcmp(attribute->key, key, strlen(key)) == 0;
}

/* NULL where the row has none of that name. */
const struct memscope_attribute *dump_attribute_find(const struct memscope_row *row,
                                                     const char *key);
bool dump_attribute_is_there(const struct memscope_row *row, const char *key);
/* 0 where it is not there. */
uint64_t dump_attribute_number(const struct memscope_row *row, const char *key);

/* Of an attribute that is there; else nothing happens. The text is borrowed. */
void dump_attribute_set_text(struct memscope_row *row, const char *key, const char *text);
void dump_attribute_set_number(struct memscope_row *row, const char *key, uint64_t number);

#endif
