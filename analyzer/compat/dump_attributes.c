/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a row by their keys.
 */
#include "dump_attributes.h"

#include <string.h>

const struct memscope_attribute *dump_attribute_find(const struct memscope_row *row,
                                                     const char *key)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            return &row->attributes[i];
    return NULL;
}

bool dump_attribute_is_there(const struct memscope_row *row, const char *key)
{
    return dump_attribute_find(row, key) != NULL;
}

uint64_t dump_attribute_number(const struct memscope_row *row, const char *key)
{
    const struct memscope_attribute *found = dump_attribute_find(row, key);

    return found ? found->number : 0;
}

void dump_attribute_set_text(struct memscope_row *row, const char *key, const char *text)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            row->attributes[i].text = text;
}

void dump_attribute_set_number(struct memscope_row *row, const char *key, uint64_t number)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            row->attributes[i].number = number;
}
