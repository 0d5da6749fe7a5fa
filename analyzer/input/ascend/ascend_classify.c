/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers tell csv files apart, tables tell databases apart.
 */
#include "ascend_classify.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ascend_database.h"
#include "csv_table.h"

enum { look_bytes = 4096, signature_columns = 5 };

/* A file is of the first kind whose columns it has. */
static const struct signature {
    enum ascend_file kind;
    struct csv_column columns[signature_columns];
} signatures[] = {
    {ASCEND_OPERATOR_MEMORY, {{"Name", true}, {"Size", true}, {"Allocation Time", true}}},
    {ASCEND_MEMORY_RECORD,
     {{"Timestamp", true}, {"Total Allocated", true}, {"Total Reserved", true}}},
    {ASCEND_MODULE_MEM, {{"Component", true}, {"Timestamp", true}, {"Total Reserved", true}}},
    {ASCEND_NPU_MEM, {{"event", true}, {"ddr", true}, {"hbm", true}, {"timestamp", true}}},
    {ASCEND_STATIC_OP_MEM,
     {{"Op Name", true},
      {"Graph ID", true},
      {"Node Index Start", true},
      {"Node Index End", true},
      {"Size", true}}},
    {ASCEND_MEMORY_BLOCK,
     {{"start_time_stamp", true},
      {"end_time_stamp", true},
      {"device_addr", true},
      {"size", true},
      {"python_stack", true}}},
};

/* A line of text at the start, so that no reader has to go far for a header. */
static bool begins_like_csv(const char *path)
{
    char bytes[look_bytes];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = descriptor >= 0 ? read(descriptor, bytes, sizeof(bytes)) : -1;
    size_t blank = 0, length;
    const char *line_end;

    if (descriptor >= 0)
        close(descriptor);
    while (got > 0 && blank < (size_t)got && strchr("\r\n \t", bytes[blank]) && bytes[blank])
        blank++;
    line_end = got > 0 ? memchr(bytes + blank, '\n', (size_t)got - blank) : NULL;
    length = line_end ? (size_t)(line_end - bytes) : 0;
    return length && memchr(bytes, ',', length) && !memchr(bytes, '\0', length);
}

static size_t column_count(const struct signature *signature)
{
    size_t count = 0;

    while (count < signature_columns && signature->columns[count].names)
        count++;
    return count;
}

bool ascend_classify(const char *path, enum ascend_file *kind)
{
    if (ascend_database_recognises(path)) {
        *kind = ASCEND_DATABASE;
        return true;
    }
    if (!begins_like_csv(path))
        return false;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
        struct csv_table table;

        if (csv_table_open(&table, path, signatures[i].columns, column_count(&signatures[i]),
                           NULL) != MT_OK)
            continue;
        csv_table_close(&table);
        *kind = signatures[i].kind;
        return true;
    }
    return false;
}
