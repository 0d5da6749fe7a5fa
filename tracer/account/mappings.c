/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024, CAPACITY_FIRST = 256 };

static struct mapping *row_add(struct mappings *mappings)
{
    if (mappings->count == mappings->capacity) {
        size_t capacity = mappings->capacity ? mappings->capacity * 2 : CAPACITY_FIRST;
        struct mapping *rows = realloc(mappings->rows, capacity * sizeof(*rows));

        if (!rows)
            return NULL;
        mappings->rows = rows;
        mappings->capacity = capacity;
    }
    return memset(&mappings->rows[mappings->count++], 0, sizeof(*mappings->rows));
}

/* Linux 6.18 says a mapping once more, whole, if it grew where a read of smaps ended: the newest
 * row of an address holds. What they called it goes with them; no later row has it yet. */
static void rows_drop_from(struct mappings *mappings, uint64_t start)
{
    while (mappings->count && mappings->rows[mappings->count - 1].end > start) {
        const struct mapping *row = &mappings->rows[--mappings->count];

        if (row->begins_name)
            free((char *)row->name);
    }
}

/* Neighbours of one file share its name. */
static bool name_set(struct mappings *mappings, struct mapping *row, const char *name)
{
    const struct mapping *before = mappings->count > 1 ? row - 1 : NULL;

    if (before && strcmp(before->name, name) == 0) {
        row->name = before->name;
        return true;
    }
    row->name = name[0] ? strdup(name) : "";
    row->begins_name = row->name && name[0];
    return row->name != NULL;
}

/* "7f00-7f10 rw-p 00000000 08:01 1234   /a name"; false: it is none. */
static bool head_parse(char *line, struct mapping *row, const char **name)
{
    unsigned major = 0, minor = 0;
    int length = 0;

    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 "%n", &row->start, &row->end,
               row->permissions, &major, &minor, &row->inode, &length) < 6 ||
        row->end <= row->start || strlen(row->permissions) != 4)
        return false;
    row->device = (uint64_t)major << 32 | minor;
    *name = line + length + strspn(line + length, " \t");
    return true;
}

static void figure_take(struct mapping *row, const char *line)
{
    static const struct {
        const char *key;
        size_t offset;
    } figures[] = {
        {"Rss:", offsetof(struct mapping, resident_bytes)},
        {"Pss:", offsetof(struct mapping, proportional_bytes)},
        {"Swap:", offsetof(struct mapping, swapped_bytes)},
        {"AnonHugePages:", offsetof(struct mapping, huge_bytes)},
    };

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        size_t length = strlen(figures[i].key);

        if (strncmp(line, figures[i].key, length) == 0) {
            uint64_t bytes = strtoull(line + length, NULL, 10) * KIB;

            memcpy((char *)row + figures[i].offset, &bytes, sizeof(bytes));
            return;
        }
    }
}

/* Heads begin with a digit of an address, figures with a capital letter. */
static int lines_read(struct mappings *mappings, FILE *file)
{
    struct mapping *row = NULL;
    char *line = NULL;
    size_t line_bytes = 0;
    int result = 0;

    while (!result && getline(&line, &line_bytes, file) > 0) {
        struct mapping head = {0};
        const char *name;

        if (line[0] >= 'A' && line[0] <= 'Z') {
            if (row)
                figure_take(row, line);
            continue;
        }
        if (!head_parse(line, &head, &name))
            continue;
        rows_drop_from(mappings, head.start);
        row = row_add(mappings);
        if (!row) {
            result = ENOMEM;
            break;
        }
        *row = head;
        if (!name_set(mappings, row, name)) {
            row->name = "";
            result = ENOMEM;
        }
    }
    if (!result && ferror(file))
        result = errno ? errno : EIO;
    free(line);
    return result;
}

int mappings_read(struct mappings *mappings, int folder)
{
    int descriptor = openat(folder, "smaps", O_RDONLY | O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    int result;

    memset(mappings, 0, sizeof(*mappings));
    if (!file) {
        result = errno;
        if (descriptor >= 0)
            close(descriptor);
        return result ? result : EIO;
    }
    errno = 0;
    result = lines_read(mappings, file);
    fclose(file);
    if (!result && !mappings->count)
        result = ESRCH;
    for (size_t i = 0; i < mappings->count; i++)
        mappings->rows[i].left_bytes = mappings->rows[i].resident_bytes;
    if (result)
        mappings_release(mappings);
    return result;
}

void mappings_release(struct mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->rows[i].begins_name)
            free((char *)mappings->rows[i].name);
    free(mappings->rows);
    memset(mappings, 0, sizeof(*mappings));
}

const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address)
{
    size_t low = 0, high = mappings->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mapping *row = &mappings->rows[middle];

        if (address < row->start)
            high = middle;
        else if (address >= row->end)
            low = middle + 1;
        else
            return row;
    }
    return NULL;
}
