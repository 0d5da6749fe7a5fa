/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a row by their keys.
 */
#include "dump_attributes.h"

const struct memscope_attribute *dump_attribute_find(const struct memscope_row *row,
                                                     const char *key)
{
    size_t key_bytes = strlen(key);

    for (size_t i = 0; i < row->attribute_count; i++)
        if (row->attributes[i].key_bytes == key_bytes &&
            memcmp(row->attributes[i].key, key, key_bytes) == 0)
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

/* To be changed; NULL as above. */
static struct memscope_attribute *find_own(struct memscope_row *row, const char *key)
{
    const struct memscope_attribute *found = dump_attribute_find(row, key);

    return found ? &row->attributes[found - row->attributes] : NULL;
}

void dump_attribute_set_text(struct memscope_row *row, const char *key, const char *text)
{
    struct memscope_attribute *attribute = find_own(row, key);

    if (attribute)
        attribute->text = text;
}

void dump_attribute_set_number(struct memscope_row *row, const char *key, uint64_t number)
{
    struct memscope_attribute *attribute = find_own(row, key);

    if (attribute)
        attribute->number = number;
}
