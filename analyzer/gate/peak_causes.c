/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes of a peak. The parts are the sites of its pool, and what is older than the recording where
 * the pool counts that.
 */
#include "peak_causes.h"

#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "sentence.h"

/* How much of a sentence a number deserves, and of the growth. */
enum { NAMED_PARTS = 3, NAMED_SHARE = 20 };

struct part {
    const struct measure *site; /* NULL: what is older */
    uint64_t now, before;
    bool is_at_most; /* before: the baseline has no line of it */
};

struct parts {
    struct part *rows;
    size_t count;
};

static uint64_t growth_of(const struct part *part)
{
    return part->now > part->before ? part->now - part->before : 0;
}

static int part_compare(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    uint64_t grown_a = growth_of(a), grown_b = growth_of(b);

    if (grown_a != grown_b)
        return grown_a > grown_b ? -1 : 1;
    if (!a->site || !b->site)
        return (a->site != NULL) - (b->site != NULL);
    return strcmp(a->site->key, b->site->key);
}

static uint64_t value_of(const struct gate_verdict *verdict, const struct measure *measure)
{
    return measure ? measure_spread(&verdict->measures, measure).median : 0;
}

static uint64_t base_of(const struct baseline_file *baseline, const struct measure *measure)
{
    const struct baseline_row *row = baseline_find(baseline, measure->key);

    return row ? row->value : 0;
}

static struct part site_part(const struct gate_verdict *verdict, const struct grown_peak *peak,
                             const struct measure *site)
{
    struct part part = {.site = site, .now = value_of(verdict, site)};
    const struct baseline_row *base =
        peak->baseline ? baseline_find(peak->baseline, site->key) : NULL;

    if (base)
        part.before = base->value;
    else if (peak->baseline)
        part.before = baseline_site_most(peak->baseline, site);
    part.is_at_most = !base;
    return part;
}

/* What the pool counted, less what was seen being allocated. */
static void add_older(const struct gate_verdict *verdict, const struct grown_peak *peak,
                      struct parts *parts)
{
    const struct measures *measures = &verdict->measures;
    const struct measure *seen = measures_of_pool(measures, peak->measure, RULE_PEAK_SEEN);
    const struct measure *live = measures_of_pool(measures, peak->measure, RULE_PEAK_LIVE);
    struct part part = {.now = value_of(verdict, live) - value_of(verdict, seen)};

    if (!seen || (peak->baseline && !baseline_find(peak->baseline, seen->key)))
        return;
    if (peak->baseline)
        part.before = base_of(peak->baseline, live) - base_of(peak->baseline, seen);
    parts->rows[parts->count++] = part;
}

/* Those first that grew most; where nothing is compared, those that hold most. */
static struct parts parts_of(const struct gate_verdict *verdict, const struct grown_peak *peak)
{
    const struct measures *measures = &verdict->measures;
    struct parts parts = {malloc((measures_count(measures) + 1) * sizeof(*parts.rows)), 0};

    if (!parts.rows)
        return parts;
    for (size_t i = 0; i < measures_count(measures); i++) {
        const struct measure *site = measures_at(measures, i);

        if (site->kind == RULE_SITE && strcmp(site->device, peak->measure->device) == 0 &&
            strcmp(site->pool, peak->measure->pool) == 0)
            parts.rows[parts.count++] = site_part(verdict, peak, site);
    }
    add_older(verdict, peak, &parts);
    qsort(parts.rows, parts.count, sizeof(*parts.rows), part_compare);
    return parts;
}

static const char *part_text(struct gate_verdict *verdict, const struct part *part,
                             bool is_compared)
{
    struct arena *texts = &verdict->arena;
    const char *grown = label_size_change(texts, (int64_t)growth_of(part));
    const char *before = label_size(texts, part->before);

    if (!part->site)
        return is_compared
                   ? sentence(texts, "%s older than the recording (was %s)", grown, before)
                   : sentence(texts, "%s older than the recording", label_size(texts, part->now));
    if (!is_compared)
        return sentence(texts, "%s at %s", label_size(texts, part->now), part->site->name);
    if (!part->is_at_most)
        return sentence(texts, "%s at %s (was %s)", grown, part->site->name, before);
    return part->before
               ? sentence(texts, "%s at %s (was at most %s)", grown, part->site->name, before)
               : sentence(texts, "%s at %s (new)", grown, part->site->name);
}

/* Small parts beside the whole say nothing, and all of them together may be too little. */
static bool are_causes(const struct parts *parts, uint64_t grown_bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < parts->count; i++)
        sum += growth_of(&parts->rows[i]);
    return sum >= grown_bytes / 2;
}

const char *peak_causes(struct gate_verdict *verdict, const struct grown_peak *peak,
                        struct place_in_code *where)
{
    struct parts parts = parts_of(verdict, peak);
    const char *text = "";

    if (!are_causes(&parts, peak->grown_bytes)) {
        free(parts.rows);
        return translated(": no line that is known makes up half of it");
    }
    for (size_t i = 0; i < parts.count && i < NAMED_PARTS; i++) {
        const struct part *part = &parts.rows[i];

        if (!growth_of(part) || growth_of(part) < peak->grown_bytes / NAMED_SHARE)
            break;
        if (!i && part->site)
            *where = part->site->where;
        text = sentence(&verdict->arena, "%s%s%s", text, i ? ", " : ": ",
                        part_text(verdict, part, peak->baseline != NULL));
    }
    free(parts.rows);
    return text;
}
