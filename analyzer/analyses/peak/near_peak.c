/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around the highest point of a ledger: how long it stays within a margin of it, what is alive in
 * all of that time, and the largest blocks at the point itself.
 *
 *   peak       . . . . . . . /\ . . . . . . .
 *   threshold  . . . . /\/\/  \_/\ . . . . .     peak less the margin
 *               ______/           \______
 *                     |<- region ->|
 *
 * Only a second reading tells: until the first is over, nobody knows which high was the highest.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "block_list.h"
#include "holders.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_order.h"
#include "list.h"
#include "origins.h"
#include "peak_analyses.h"

enum { detailed_ledgers = 3 };

struct region {
    uint16_t ledger;
    uint64_t peak_bytes, threshold_bytes, live_bytes; /* in blocks, as the curve has it */
    uint64_t unseen_bytes;                            /* beside them: of no block */
    bool is_above;                                    /* the threshold */
    bool is_peak_behind;                              /* was seen */
    bool is_over;
    uint64_t from_ns, to_ns;
    uint64_t from_index, peak_index; /* the newest block then, as in struct life */
    struct block_list at_peak;
    uint64_t throughout_bytes, throughout_count;
};

struct search {
    const struct question *question;
    struct region regions[detailed_ledgers];
    size_t count;
    struct step_sample *throughout; /* by group: alive in all of the region of its ledger */
    size_t throughout_count;
    bool has_failed;
};

static struct region *region_of(struct search *search, uint16_t ledger)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->regions[i].ledger == ledger)
            return &search->regions[i];
    return NULL;
}

static bool on_born(void *context, const struct life *life)
{
    struct search *search = context;
    struct region *region = region_of(search, life->ledger);
    const struct ledger *ledger;

    if (!region || region->is_over)
        return true;
    ledger = tally_ledger_at(question_ledgers(search->question), life->ledger);
    region->live_bytes += life->size_bytes;
    if (!region->is_above && region->live_bytes >= region->threshold_bytes) {
        region->is_above = true;
        region->from_ns = life->born_ns;
        region->from_index = life->index;
    }
    /* Steps that were not asked for may have been as high before. */
    if (!region->is_peak_behind && region->live_bytes == region->peak_bytes &&
        life->born_ns >= ledger->peak_time_ns) {
        region->is_peak_behind = true;
        region->peak_index = life->index;
    }
    return true;
}

static void region_end(struct region *region, uint64_t time_ns)
{
    region->is_above = false;
    region->is_over = region->is_peak_behind;
    if (region->is_over)
        region->to_ns = time_ns;
}

static bool on_over(void *context, const struct life *life)
{
    struct search *search = context;
    struct region *region = region_of(search, life->ledger);

    if (!region)
        return true;
    if (!region->is_over && life->freed_ns != UINT64_MAX) {
        region->live_bytes -= life->size_bytes;
        if (region->is_above && region->live_bytes < region->threshold_bytes)
            region_end(region, life->freed_ns);
    }
    if (!region->is_peak_behind || life->index > region->peak_index)
        return true;
    if (!block_list_put(&region->at_peak, life))
        search->has_failed = true;
    if (region->is_over && life->index <= region->from_index) {
        if (!list_reach(&search->throughout, &search->throughout_count, life->group,
                        sizeof(*search->throughout))) {
            search->has_failed = true;
            return false;
        }
        search->throughout[life->group].bytes += life->size_bytes;
        search->throughout[life->group].count++;
        region->throughout_bytes += life->size_bytes;
        region->throughout_count++;
    }
    return !search->has_failed;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct search *search = context;
    const struct tally *ledgers = question_ledgers(search->question);
    struct model *model = tally_model(ledgers);

    for (size_t i = 0; i < search->count; i++) {
        struct region *region = &search->regions[i];

        if (tally_ledger_at(ledgers, region->ledger)->process == process && region->is_above)
            region_end(region, model_process_at(model, process)->end_ns);
    }
    return true;
}

static bool search_init(struct search *search)
{
    const struct question *question = search->question;
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    for (size_t i = 0; order && i < count && search->count < detailed_ledgers; i++) {
        struct ledger_figures figures = ledger_figures_of(question, order[i]);
        unsigned __int128 part =
            (unsigned __int128)figures.seen_peak_bytes * (100 - question->margin_percent);
        struct region *region = &search->regions[search->count];

        if (!figures.seen_peak_bytes || !ledger_is_detailed(question->tally, order[0], order[i]))
            continue;
        region->ledger = order[i];
        region->peak_bytes = figures.seen_peak_bytes;
        region->unseen_bytes = figures.unseen_peak_bytes;
        region->threshold_bytes = (uint64_t)((part + 99) / 100);
        block_list_init(&region->at_peak, question->top);
        search->count++;
    }
    free(order);
    return order != NULL;
}

static void search_release(void *state)
{
    struct search *search = state;

    for (size_t i = 0; i < search->count; i++)
        block_list_release(&search->regions[i].at_peak);
    free(search->throughout);
    free(search);
}

static void *search_begin(const struct question *question, struct life_visitor *visitor)
{
    struct search *search = calloc(1, sizeof(*search));

    if (!search)
        return NULL;
    search->question = question;
    if (!search_init(search)) {
        search_release(search);
        return NULL;
    }
    if (search->count)
        *visitor = (struct life_visitor){
            .context = search, .born = on_born, .over = on_over, .process_over = on_process_over};
    return search;
}

/* --- what is said about it ----------------------------------------------------------------- */

static void add_regions(const struct search *search, struct report *report)
{
    struct report_table *table = report_table(
        report, "near_peak",
        report_text(report, "Within %u %% of the peak", search->question->margin_percent), NULL);

    for (size_t i = 0; i < search->count; i++) {
        const struct region *region = &search->regions[i];
        const struct field fields[] = {
            {"ledger", "ledger",
             value_text(label_ledger(search->question, report_arena(report), region->ledger))},
            {"peak_bytes", "peak", value_bytes(region->peak_bytes)},
            {"threshold_bytes", "at least", value_bytes(region->threshold_bytes)},
            {"from_ns", "from", value_time(region->from_ns)},
            {"to_ns", "to", value_time(region->to_ns)},
            {"duration_ns", "for",
             value_number(VALUE_DURATION_NS, region->to_ns - region->from_ns)},
            {"throughout_bytes", "alive all the time", value_bytes(region->throughout_bytes)},
            {"throughout_count", "blocks", value_count(region->throughout_count)},
        };

        if (region->is_over)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

static struct step_sample held_throughout(const void *context, const struct origin *origin)
{
    const struct search *search = context;
    struct step_sample held = {0};

    for (size_t i = 0; i < origin->group_count; i++) {
        if (origin->groups[i] >= search->throughout_count)
            continue;
        held.bytes += search->throughout[origin->groups[i]].bytes;
        held.count += search->throughout[origin->groups[i]].count;
    }
    return held;
}

static void add_holders(const struct search *search, struct report *report,
                        const struct region *region, const struct holder *holders, size_t count)
{
    struct arena *texts = report_arena(report);
    const struct question *question = search->question;
    const char *label = label_ledger(question, texts, region->ledger);
    struct report_table *table = report_ledger_table(
        report, "held_throughout_peak", label,
        report_text(report, "Alive in %s as long as it is near its peak", label), NULL);
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct who who = holders[i].origin->who;
        const struct field fields[] = {
            {"held_bytes", "held", value_bytes(holders[i].held.bytes)},
            {"share_percent", "share",
             value_number(VALUE_PERCENT,
                          percent_of(holders[i].held.bytes,
                                     region->throughout_bytes + region->unseen_bytes))},
            {"block_count", "blocks", value_count(holders[i].held.count)},
            {"site", "site", value_who(question, texts, who)},
            {"operator", "operator", value_name(question, who.operator_text)},
            {"ledger", "ledger", value_text(label)},
        };

        if (region->throughout_bytes)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
}

static void add_blocks(const struct search *search, struct report *report, struct region *region)
{
    const char *label = label_ledger(search->question, report_arena(report), region->ledger);
    struct report_table *table =
        report_ledger_table(report, "blocks_at_peak", label,
                            report_text(report, "Largest blocks of %s at its peak", label), NULL);

    block_list_show(&region->at_peak, search->question, report, table,
                    region->peak_bytes + region->unseen_bytes);
}

static void add_details(struct search *search, struct report *report)
{
    struct origins origins;
    struct holder *holders;

    if (!origins_init_of(&origins, search->question, ORIGINS_BY_OPERATOR, group_is_in_peak)) {
        report_note(report, 0, "peak: not enough memory to list sites");
        return;
    }
    holders = malloc((origins.count + 1) * sizeof(*holders));
    for (size_t i = 0; holders && i < search->count; i++) {
        struct region *region = &search->regions[i];

        add_holders(search, report, region, holders,
                    holders_of(&origins, region->ledger, held_throughout, search, holders));
        add_blocks(search, report, region);
    }
    free(holders);
    origins_release(&origins);
}

static void search_write(void *state, struct report *report)
{
    struct search *search = state;

    if (search->has_failed)
        report_note(report, 0, "near the peak: not enough memory");
    else if (search->count) {
        add_regions(search, report);
        add_details(search, report);
    }
}

const struct block_analysis near_peak_analysis = {
    .name = "near the peak",
    .is_early = true,
    .begin = search_begin,
    .write = search_write,
    .release = search_release,
};
