/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is there and not used: allocated early, freed late, idle, never used, or beside a
 * block of its size that nobody needed any more.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "block_uses.h"
#include "idle_blocks.h"
#include "labels.h"
#include "waste_analyses.h"

static const char *const kind_words[WASTE_KINDS] = {
    [WASTE_EARLY] = "early allocation",  [WASTE_LATE] = "late deallocation",
    [WASTE_IDLE] = "temporary idleness", [WASTE_UNUSED] = "unused",
    [WASTE_REDUNDANT] = "redundant",
};

static const char *const kind_advice[WASTE_KINDS] = {
    [WASTE_EARLY] = "allocate it where it is first used",
    [WASTE_LATE] = "free it after its last use",
    [WASTE_IDLE] = "give it up in between, or compute it again",
    [WASTE_UNUSED] = "do not allocate it",
    [WASTE_REDUNDANT] = "use the older block again",
};

static uint64_t byte_ms(unsigned __int128 byte_ns)
{
    return (uint64_t)(byte_ns / 1000000);
}

struct row {
    const struct waste *waste;
    const struct origin *origin;
    enum waste_kind kind;
};

static int by_waste(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->waste->byte_ns != b->waste->byte_ns)
        return a->waste->byte_ns > b->waste->byte_ns ? -1 : 1;
    if (a->waste->size_bytes != b->waste->size_bytes)
        return a->waste->size_bytes > b->waste->size_bytes ? -1 : 1;
    return (a->waste > b->waste) - (a->waste < b->waste);
}

static void add_rows(const struct question *question, struct report *report, const struct row *rows,
                     size_t count)
{
    struct arena *texts = report_arena(report);
    struct report_table *table =
        report_table(report, "inefficient", "Memory that is there and not used, by site",
                     "Every block is used as soon as it is there, until it is freed.");
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct waste *waste = rows[i].waste;
        const struct who who = rows[i].origin->who;
        const struct field fields[] = {
            {"kind", "what", value_word(kind_words[rows[i].kind])},
            {"waste_byte_ms", "size x ms", value_bytes(byte_ms(waste->byte_ns))},
            {"peak_waste_bytes", "of it at the peak", value_bytes(waste->peak_bytes)},
            {"block_count", "blocks", value_count(waste->count)},
            {"size_bytes", "size in all", value_bytes(waste->size_bytes)},
            {"longest_ns", "longest", value_number(VALUE_DURATION_NS, waste->longest_ns)},
            {"site", "site", value_who(question, texts, who)},
            {"operator", "operator", value_name(question, who.operator_text)},
            {"ledger", "ledger", value_text(label_ledger(question, texts, rows[i].origin->ledger))},
            {"worst_address", "worst block",
             value_text(report_text(report, "0x%" PRIx64, waste->worst_address))},
            {"worst_bytes", "its size", value_bytes(waste->worst_size_bytes)},
            {"worst_from_ns", "not used from", value_time(waste->worst_from_ns)},
            {"worst_to_ns", "to", value_time(waste->worst_to_ns)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
}

static void add_kinds(struct report *report, const struct row *rows, size_t count)
{
    struct report_table *table =
        report_table(report, "inefficient_kinds", "The same, by what it is", NULL);

    for (int kind = 0; kind < WASTE_KINDS; kind++) {
        unsigned __int128 byte_ns = 0;
        uint64_t peak_bytes = 0, blocks = 0, sites = 0;

        for (size_t i = 0; i < count; i++) {
            if ((int)rows[i].kind != kind)
                continue;
            byte_ns += rows[i].waste->byte_ns;
            peak_bytes += rows[i].waste->peak_bytes;
            blocks += rows[i].waste->count;
            sites++;
        }
        const struct field fields[] = {
            {"kind", "what", value_word(kind_words[kind])},
            {"waste_byte_ms", "size x ms", value_bytes(byte_ms(byte_ns))},
            {"peak_waste_bytes", "at the peaks", value_bytes(peak_bytes)},
            {"block_count", "blocks", value_count(blocks)},
            {"site_count", "sites", value_count(sites)},
        };

        if (sites)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

static void say_row(const struct question *question, struct report *report, const char *word,
                    const struct row *row, const char *amount)
{
    struct arena *texts = report_arena(report);
    const char *sentence = report_text(
        report, "%s: %s of %s in %s: %s; %s.", word, kind_words[row->kind],
        label_who(question, texts, row->origin->who),
        label_ledger(question, texts, row->origin->ledger), amount, kind_advice[row->kind]);
    const struct field facts[] = {
        {"waste_kind", NULL, value_word(kind_words[row->kind])},
        {"site", NULL, value_who(question, texts, row->origin->who)},
        {"ledger", NULL, value_text(label_ledger(question, texts, row->origin->ledger))},
        {"waste_byte_ms", NULL, value_bytes(byte_ms(row->waste->byte_ns))},
        {"peak_waste_bytes", NULL, value_bytes(row->waste->peak_bytes)},
    };

    report_verdict(report, RANK_PEAK, "%s", sentence);
    report_finding(report, "inefficient", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

/* The worst by time, and, if it is another, the one that counts most at a peak. */
static void say_worst(const struct question *question, struct report *report,
                      const struct row *rows, size_t count)
{
    struct arena *texts = report_arena(report);
    const struct row *at_peak = &rows[0];

    for (size_t i = 1; i < count; i++)
        if (rows[i].waste->peak_bytes > at_peak->waste->peak_bytes)
            at_peak = &rows[i];
    if (at_peak->waste->peak_bytes)
        say_row(question, report, "AT THE PEAK", at_peak,
                report_text(report, "%s were there and not used",
                            label_size(texts, at_peak->waste->peak_bytes)));
    if (at_peak != &rows[0] || !at_peak->waste->peak_bytes)
        say_row(question, report, "OVER TIME", &rows[0],
                report_text(report, "%s in all, up to %" PRIu64 " us each",
                            label_counted(texts, rows[0].waste->count, "block"),
                            rows[0].waste->longest_ns / 1000));
}

static void show(const struct question *question, struct report *report,
                 const struct idle_blocks *idle)
{
    size_t count = 0;
    struct row *rows = malloc((idle->origins.count * WASTE_KINDS + 1) * sizeof(*rows));

    for (size_t i = 0; rows && i < idle->origins.count; i++)
        for (int kind = 0; kind < WASTE_KINDS; kind++) {
            const struct waste *waste = waste_of(idle, i, (enum waste_kind)kind);

            if (waste->count)
                rows[count++] = (struct row){waste, &idle->origins.rows[i], (enum waste_kind)kind};
        }
    if (!rows) {
        report_note(report, 0, "inefficient: not enough memory to list sites");
        return;
    }
    qsort(rows, count, sizeof(*rows), by_waste);
    if (count)
        say_worst(question, report, rows, count);
    else
        report_verdict(report, RANK_PEAK,
                       "Every block is used as soon as it is there, until it is freed.");
    add_rows(question, report, rows, count);
    add_kinds(report, rows, count);
    free(rows);
}

void analyse_inefficient(const struct question *question, struct report *report)
{
    struct idle_blocks idle;
    struct mt_error error;
    enum mt_result result;

    if (!uses_are_known(question->tally)) {
        report_verdict(report, RANK_PEAK,
                       "No accesses were recorded, so nobody can say which memory is not used.");
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    result = idle_blocks_read(question, &idle, &error);
    if (result == MT_OK)
        show(question, report, &idle);
    else
        report_note(report, 0, report_text(report, "inefficient: %s", error.message));
    if (result == MT_OK && !idle.has_reuse)
        report_note(report, 0, "redundant blocks were not looked for: too many blocks");
    if (result == MT_OK && idle.missed_count)
        report_note(report, idle.missed_count, "accesses that lie in no block that was alive");
    idle_blocks_release(&idle);
}
