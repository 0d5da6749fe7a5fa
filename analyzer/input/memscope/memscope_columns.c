/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of columns are compared by their letters alone: versions write "Process Id" and processId.
 */
#include "memscope_columns.h"

#include <stdint.h>
#include <string.h>

enum { letters_max = 32 };

static const struct {
    const char *letters; /* of the name, small */
    enum memscope_input_column column;
} columns[] = {
    {"id", COLUMN_ID},
    {"recordindex", COLUMN_ID},
    {"event", COLUMN_EVENT},
    {"eventtype", COLUMN_TYPE},
    {"name", COLUMN_NAME},
    {"timestampns", COLUMN_TIME},
    {"timestampus", COLUMN_TIME},
    {"timestamp", COLUMN_TIME},
    {"processid", COLUMN_PROCESS},
    {"pid", COLUMN_PROCESS},
    {"threadid", COLUMN_THREAD},
    {"tid", COLUMN_THREAD},
    {"deviceid", COLUMN_DEVICE},
    {"ptr", COLUMN_POINTER},
    {"addr", COLUMN_POINTER},
    {"attr", COLUMN_ATTR},
    {"callstackpython", COLUMN_PYTHON_STACK},
    {"callstackc", COLUMN_C_STACK},
    {"sizebyte", COLUMN_SIZE},
    {"totalreservedbyte", COLUMN_RESERVED},
};

/* False: too long to be one of them. */
static bool letters_of(const char *name, size_t size_bytes, char *letters)
{
    size_t count = 0;

    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char letter = (unsigned char)name[i] | 32u;

        if (letter < 'a' || letter > 'z')
            continue;
        if (count + 1 == letters_max)
            return false;
        letters[count++] = (char)letter;
    }
    letters[count] = 0;
    return true;
}

enum memscope_input_column memscope_column_of(const char *name, size_t size_bytes)
{
    char letters[letters_max];

    if (!letters_of(name, size_bytes, letters))
        return MEMSCOPE_COLUMNS;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strcmp(columns[i].letters, letters) == 0)
            return columns[i].column;
    return MEMSCOPE_COLUMNS;
}

bool memscope_header_is_ours(const struct memscope_header *header)
{
    return header->has[COLUMN_EVENT] + header->has[COLUMN_TYPE] + header->has[COLUMN_THREAD] +
               header->has[COLUMN_PROCESS] + header->has[COLUMN_DEVICE] >=
           4;
}

const char *memscope_header_lacks(const struct memscope_header *header)
{
    static const struct {
        enum memscope_input_column column;
        const char *name;
    } needed[] = {
        {COLUMN_EVENT, "Event"},        {COLUMN_TYPE, "Event Type"},
        {COLUMN_TIME, "Timestamp(ns)"}, {COLUMN_PROCESS, "Process Id"},
        {COLUMN_THREAD, "Thread Id"},   {COLUMN_DEVICE, "Device Id"},
    };

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!header->has[needed[i].column])
            return needed[i].name;
    if (!header->has[COLUMN_ATTR] && !header->has[COLUMN_SIZE])
        return "Attr";
    return header->has[COLUMN_ATTR] && !header->has[COLUMN_NAME] ? "Name" : NULL;
}

const char *memscope_header_misses(const struct memscope_header *header)
{
    if (header->has[COLUMN_PYTHON_STACK] != header->has[COLUMN_C_STACK])
        return header->has[COLUMN_C_STACK] ? "Call Stack(Python)" : "Call Stack(C)";
    if (!header->has[COLUMN_ATTR] && !header->has[COLUMN_RESERVED])
        return "Total Reserved(byte)";
    return NULL;
}
