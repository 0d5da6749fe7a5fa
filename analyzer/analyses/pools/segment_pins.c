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

    return (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
}

/* The site of the largest block in it. */
const char *pin_site(const struct question *question, struct report *report,
                     const struct fragment_moment *moment, const struct segment *segment)
{
    const struct fragment_block *largest = &moment->blocks[segment->first_block];

    for (size_t i = 0; i < segment->block_count; i++)
        if (moment->blocks[segment->first_block + i].size_bytes > largest->size_bytes)
            largest = &moment->blocks[segment->first_block + i];
    return label_who(question, report_arena(report), pin_who(question, largest->group));
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
    const char *label = label_ledger(question, report_arena(report), ledger);
    struct report_table *table = report_ledger_table(
        report, "pinned_segments", label,
        report_text(report, "Segments of %s that few blocks keep, cheapest first, %s", label, when),
        NULL);
    size_t shown = rows_shown(question, pins->count);

    for (size_t i = 0; i < shown; i++) {
        const struct field fields[] = {
            {"segment_bytes", "segment", value_bytes(size_of(pins->rows[i]))},
            {"live_bytes", "pinned by", value_bytes(pins->rows[i]->live_bytes)},
            {"block_count", "blocks", value_count(pins->rows[i]->block_count)},
            {"hole_bytes", "in holes", value_bytes(pins->rows[i]->hole_bytes)},
            {"hole_count", "holes", value_count(pins->rows[i]->hole_count)},
            {"largest_hole_bytes", "largest", value_bytes(pins->rows[i]->largest_hole_bytes)},
            {"site", "largest block of",
             value_site(pin_site(question, report, pins->moment, pins->rows[i]))},
            {"address", "address",
             value_text(report_text(report, "0x%" PRIx64, pins->rows[i]->from))},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < pins->count)
        report_table_remark(report, table, "... and %zu more segments.", pins->count - shown);
}

/* --- by site -------------------------------------------------------------------------------- */

/* Sites are the same when people know them by one name. */
static bool is_same(const struct question *question, struct who a, struct who b)
{
    if (a.site || b.site)
        return symbols_site_id(question->symbols, a.site) ==
               symbols_site_id(question->symbols, b.site);
    return a.operator_text == b.operator_text && a.owner_text == b.owner_text;
}

static bool has_one_site(const struct question *question, const struct fragment_moment *moment,
                         const struct segment *segment, struct who *who)
{
    *who = pin_who(question, moment->blocks[segment->first_block].group);
    for (size_t i = 1; i < segment->block_count; i++)
        if (!is_same(question, *who,
                     pin_who(question, moment->blocks[segment->first_block + i].group)))
            return false;
    return true;
}

static int by_holes(const void *left, const void *right)
{
    const struct site_pin *a = left, *b = right;

    if (a->hole_bytes != b->hole_bytes)
        return a->hole_bytes > b->hole_bytes ? -1 : 1;
    return (a->who.site > b->who.site) - (a->who.site < b->who.site);
}

bool site_pins_init(struct site_pins *pins, const struct question *question,
                    const struct fragment_moment *moment)
{
    *pins = (struct site_pins){.rows = calloc(moment->segment_count + 1, sizeof(*pins->rows))};
    for (size_t i = 0; pins->rows && i < moment->segment_count; i++) {
        const struct segment *segment = &moment->segments[i];
        struct who who;
        size_t k = 0;

        if (!segment->block_count || !segment->hole_bytes ||
            !has_one_site(question, moment, segment, &who))
            continue;
        while (k < pins->count && !is_same(question, pins->rows[k].who, who))
            k++;
        if (k == pins->count)
            pins->rows[pins->count++] = (struct site_pin){.who = who};
        pins->rows[k].hole_bytes += segment->hole_bytes;
        pins->rows[k].live_bytes += segment->live_bytes;
        pins->rows[k].segment_count++;
    }
    if (pins->count)
        qsort(pins->rows, pins->count, sizeof(*pins->rows), by_holes);
    return pins->rows != NULL;
}

void site_pins_release(struct site_pins *pins)
{
    free(pins->rows);
}
