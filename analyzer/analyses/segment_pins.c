/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks keep a segment from being given back.
 */
#include "segment_pins.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t size_of(const struct segment *segment)
{
    return segment->to - segment->from;
}

/* Most to gain for the least that has to go. */
static int cheapest_first(const void *left, const void *right)
{
    const struct segment *a = *(const struct segment *const *)left;
    const struct segment *b = *(const struct segment *const *)right;
    unsigned __int128 cost_a = (unsigned __int128)a->live_bytes * size_of(b);
    unsigned __int128 cost_b = (unsigned __int128)b->live_bytes * size_of(a);

    if (cost_a != cost_b)
        return cost_a < cost_b ? -1 : 1;
    if (size_of(a) != size_of(b))
        return size_of(a) > size_of(b) ? -1 : 1;
    return (a > b) - (a < b);
}

struct who pin_who(const struct question *question, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    return (struct who){detail->site, detail->operator_text, detail->owner_text};
}

/* The site of the largest block in it. */
const char *pin_site(const struct question *question, struct report *report,
                     const struct fragment_moment *moment, const struct segment *segment)
{
    const struct fragment_block *largest = &moment->blocks[segment->first_block];

    for (size_t i = 0; i < segment->block_count; i++)
        if (moment->blocks[segment->first_block + i].size_bytes > largest->size_bytes)
            largest = &moment->blocks[segment->first_block + i];
    return label_who(question, report, pin_who(question, largest->group));
}

bool segment_pins_init(struct segment_pins *pins, const struct fragment_moment *moment)
{
    *pins = (struct segment_pins){.moment = moment};
    pins->rows = malloc((moment->segment_count + 1) * sizeof(*pins->rows));
    for (size_t i = 0; pins->rows && i < moment->segment_count; i++)
        if (moment->segments[i].block_count && moment->segments[i].hole_bytes)
            pins->rows[pins->count++] = &moment->segments[i];
    if (pins->count)
        qsort((void *)pins->rows, pins->count, sizeof(*pins->rows), cheapest_first);
    return pins->rows != NULL;
}

void segment_pins_release(struct segment_pins *pins)
{
    free((void *)pins->rows);
}

void segment_pins_show(const struct segment_pins *pins, const struct question *question,
                       struct report *report, uint16_t ledger, const char *when)
{
    static const struct report_column columns[] = {
        {"segment_bytes", "segment"}, {"live_bytes", "pinned by"},
        {"block_count", "blocks"},    {"hole_bytes", "in holes"},
        {"hole_count", "holes"},      {"largest_hole_bytes", "largest"},
        {"site", "largest block of"}, {"address", "address"},
        {"ledger", "ledger"},
    };
    const char *label = label_ledger(question, report, ledger);
    struct report_table *table = report_table(
        report, report_text(report, "pinned segments of %s", label),
        report_text(report, "Segments of %s that few blocks keep, cheapest first, %s", label, when),
        NULL, columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = rows_shown(question, pins->count);

    for (size_t i = 0; i < shown; i++) {
        const struct value values[] = {
            value_bytes(size_of(pins->rows[i])),
            value_bytes(pins->rows[i]->live_bytes),
            value_count(pins->rows[i]->block_count),
            value_bytes(pins->rows[i]->hole_bytes),
            value_count(pins->rows[i]->hole_count),
            value_bytes(pins->rows[i]->largest_hole_bytes),
            value_text(pin_site(question, report, pins->moment, pins->rows[i])),
            value_text(report_text(report, "0x%" PRIx64, pins->rows[i]->from)),
            value_text(label),
        };

        report_row(report, table, values);
    }
    if (shown < pins->count)
        report_table_remark(report, table, "... and %zu more segments.", pins->count - shown);
}
