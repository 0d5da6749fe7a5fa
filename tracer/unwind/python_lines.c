/* SPDX-License-Identifier: Apache-2.0 */
#include "python_lines.h"

#include "python_objects.h"

enum {
    UNIT_BYTES = 2, /* of instructions */
    /* How an entry tells its line; the columns after it are passed over. */
    SAME_LINE_MAX = 9,
    ONE_LINE_FIRST = 10,
    ONE_LINE_MAX = 12,
    NO_COLUMNS = 13,
    WHOLE = 14,
    NO_LOCATION = 15
};

struct table {
    const uint8_t *next, *end;
};

static READS_OBJECTS uint8_t byte_take(struct table *table)
{
    return table->next < table->end ? *table->next++ : 0;
}

/* Six bits a byte, the lowest first; the seventh is set where another byte follows. */
static uint32_t number_take(struct table *table)
{
    uint32_t number = 0, shift = 0;
    uint8_t byte;

    do {
        byte = byte_take(table);
        if (shift < 32)
            number |= (uint32_t)(byte & 0x3f) << shift;
        shift += 6;
    } while (byte & 0x40);
    return number;
}

static int64_t signed_take(struct table *table)
{
    uint32_t number = number_take(table);

    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* By how many lines the entry is further on. */
static int64_t line_step(struct table *table, unsigned form)
{
    int64_t step = 0;

    if (form >= ONE_LINE_FIRST && form <= ONE_LINE_MAX)
        step = (int64_t)form - ONE_LINE_FIRST;
    else if (form == NO_COLUMNS || form == WHOLE)
        step = signed_take(table);
    return step;
}

static void columns_skip(struct table *table, unsigned form)
{
    unsigned bytes = form <= SAME_LINE_MAX ? 1 : form <= ONE_LINE_MAX ? 2 : 0;
    unsigned numbers = form == WHOLE ? 3 : 0;

    while (bytes--)
        byte_take(table);
    while (numbers--)
        number_take(table);
}

uint32_t python_lines_find(const uint8_t *table, size_t size_bytes, int32_t first_line,
                           int32_t offset_bytes, struct python_line_place *place)
{
    if (offset_bytes < 0)
        return first_line > 0 ? (uint32_t)first_line : 0;
    if (offset_bytes < place->instructions_bytes)
        *place = (struct python_line_place){0, 0, 0};
    while (place->table_bytes < size_bytes) {
        struct table rest = {table + place->table_bytes, table + size_bytes};
        uint8_t head = byte_take(&rest);
        unsigned form = head >> 3 & 15;
        int64_t line = place->line + line_step(&rest, form);
        int64_t end = place->instructions_bytes + ((head & 7) + 1) * UNIT_BYTES;

        if (offset_bytes < end) {
            line += first_line;
            return form == NO_LOCATION || line <= 0 ? 0 : (uint32_t)line;
        }
        columns_skip(&rest, form);
        *place = (struct python_line_place){(size_t)(rest.next - table), end, line};
    }
    return 0;
}
