/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would lower the peak? For the largest sites of each ledger, how far it would fall without
 * them: no further than to the next point of the curve that is as high. And what the blocks at the
 * peak are like.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "category.h"
#include "driver_modules.h"
#include "labels.h"
#include "ledger_figures.h"
#include "peak_analyses.h"
#include "peak_rules.h"
#include "peak_trial.h"

enum {
    spoken_most = 2,          /* of advice */
    spoken_least_percent = 5, /* of the peak: less is in the table alone */
};

/* --- what would lower it -------------------------------------------------------------------- */

static uint64_t fall(uint64_t peak_bytes, uint64_t bytes)
{
    return bytes < peak_bytes ? peak_bytes - bytes : 0;
}

static uint64_t percent_bytes(uint64_t bytes, unsigned percent)
{
    return (uint64_t)((unsigned __int128)bytes * percent / 100);
}

static bool is_worth_words(uint64_t peak_bytes, uint64_t lower_bytes)
{
    uint64_t falls_by = fall(peak_bytes, lower_bytes);

    return falls_by && falls_by >= percent_bytes(peak_bytes, spoken_least_percent);
}

static int by_effect(const void *left, const void *right)
{
    const struct trial *a = *(const struct trial *const *)left;
    const struct trial *b = *(const struct trial *const *)right;
    uint64_t least_a = a->used_bytes < a->without_bytes ? a->used_bytes : a->without_bytes;
    uint64_t least_b = b->used_bytes < b->without_bytes ? b->used_bytes : b->without_bytes;

    if (least_a != least_b)
        return least_a < least_b ? -1 : 1;
    return (a > b) - (a < b);
}

static void add_effects(const struct question *question, struct report *report,
                        const struct peak_trials *ledger)
{
    struct arena *texts = report_arena(report);
    const char *label = label_ledger(question, texts, ledger->ledger);
    struct report_table *table =
        report_ledger_table(report, "lowering_peak", label,
                            report_text(report, "What would lower the peak of %s", label), NULL);
    uint64_t peak_bytes = ledger_figures_of(question, ledger->ledger).peak_bytes;
    const struct trial *order[TRIALS_MOST];
    size_t shown = rows_shown(question, ledger->count);

    for (size_t i = 0; i < ledger->count; i++)
        order[i] = &ledger->trials[i];
    qsort(order, ledger->count, sizeof(order[0]), by_effect);
    for (size_t i = 0; i < shown; i++) {
        const struct trial *trial = order[i];
        const struct field fields[] = {
            {"lowers_bytes", "lowers it by", value_bytes(fall(peak_bytes, trial->without_bytes))},
            {"peak_without_bytes", "to", value_bytes(trial->without_bytes)},
            {"used_only_lowers_bytes", "if alive only while used",
             ledger->has_uses ? value_bytes(fall(peak_bytes, trial->used_bytes)) : value_none()},
            {"held_bytes", "held", value_bytes(trial->held.bytes)},
            {"block_count", "blocks", value_count(trial->held.count)},
            {"site", "without", value_origin(question, texts, trial->origin)},
            {"operator", "operator", value_name(question, trial->origin->who.operator_text)},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* "to lower the peak by so much": the largest holders, as few as will do. */
static void add_targets(const struct question *question, struct report *report,
                        const struct peak_trials *ledger)
{
    struct arena *texts = report_arena(report);
    static const unsigned targets[] = {5, 10, 25, 50};
    const size_t target_count = sizeof(targets) / sizeof(targets[0]);
    const char *label = label_ledger(question, texts, ledger->ledger);
    struct report_table *table = report_ledger_table(
        report, "sites_to_lower_peak", label,
        report_text(report, "Sites to lower the peak of %s, largest holders first", label),
        "Even without its 16 largest sites the peak would not fall by 5 %.");
    uint64_t peak_bytes = ledger_figures_of(question, ledger->ledger).peak_bytes;
    const char *sites = "";
    size_t count = 0;

    for (size_t i = 0; i < target_count; i++) {
        uint64_t target_bytes = percent_bytes(peak_bytes, targets[i]);

        while (count < ledger->count &&
               (!count ||
                fall(peak_bytes, ledger->trials[count - 1].without_all_bytes) < target_bytes)) {
            sites = report_text(report, "%s%s%s", sites, count ? ", " : "",
                                label_who(question, texts, ledger->trials[count].origin->who));
            count++;
        }
        if (!count || fall(peak_bytes, ledger->trials[count - 1].without_all_bytes) < target_bytes)
            break;
        if (i + 1 < target_count && fall(peak_bytes, ledger->trials[count - 1].without_all_bytes) >=
                                        percent_bytes(peak_bytes, targets[i + 1]))
            continue; /* the next row says it */

        const struct field fields[] = {
            {"target_percent", "to lower it by", value_number(VALUE_PERCENT, targets[i])},
            {"target_bytes", "that is", value_bytes(target_bytes)},
            {"site_count", "sites", value_count(count)},
            {"lowers_bytes", "lower it by",
             value_bytes(fall(peak_bytes, ledger->trials[count - 1].without_all_bytes))},
            {"sites", "these", value_text(sites)},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* Made once and there to the end, as weights and tables are: there is nothing to do about it. */
static bool is_permanent(const struct question *question, uint32_t group)
{
    const struct group *sums = tally_group_at(question->tally, group);

    switch (category_of(question, group).category) {
    case CATEGORY_WEIGHTS:
    case CATEGORY_THROUGHOUT:
    case CATEGORY_OLDER:
        return true;
    default:
        return sums->live_bytes == sums->alloc_bytes;
    }
}

/* Whether somebody could do without the site: it has a name, is no import and no top level of a
 * script, and most of what it held is not there for good. */
static bool is_lever(const struct question *question, const struct trial *trial)
{
    static const char top_level[] = "<module>";
    struct who who = trial->origin->who;
    uint64_t permanent_bytes = 0;

    if (!who_is_known(who) ||
        (who.site && (symbols_shape_of(question->symbols, who.site).traits & STACK_IS_IMPORT ||
                      strncmp(symbols_label(question->symbols, who.site), top_level,
                              sizeof(top_level) - 1) == 0)))
        return false;
    for (size_t i = 0; i < trial->origin->group_count; i++)
        if (is_permanent(question, trial->origin->groups[i]))
            permanent_bytes += group_at_peak(question->tally, trial->origin->groups[i]).bytes;
    return permanent_bytes <= trial->held.bytes / 2;
}

static void say_effect(const struct question *question, struct report *report,
                       const struct peak_trials *ledger)
{
    struct arena *texts = report_arena(report);
    uint64_t peak_bytes = ledger_figures_of(question, ledger->ledger).peak_bytes;
    const struct trial *best = NULL, *used = NULL;

    for (size_t i = 0; i < ledger->count; i++) {
        const struct trial *trial = &ledger->trials[i];

        if (ledger->has_uses && who_is_known(trial->origin->who) &&
            (!used || trial->used_bytes < used->used_bytes))
            used = trial;
        if ((!best || trial->without_bytes < best->without_bytes) && is_lever(question, trial))
            best = trial;
    }
    if (best && is_worth_words(peak_bytes, best->without_bytes))
        report_verdict(report, RANK_PEAK, "LOWER IT: without %s it would be %s, %s less.",
                       label_who(question, texts, best->origin->who),
                       label_size(texts, best->without_bytes),
                       label_size(texts, fall(peak_bytes, best->without_bytes)));
    if (used && is_worth_words(peak_bytes, used->used_bytes))
        report_verdict(report, RANK_PEAK,
                       "LOWER IT: if blocks of %s were alive only from their first use to their "
                       "last, it would be %s, %s less.",
                       label_who(question, texts, used->origin->who),
                       label_size(texts, used->used_bytes),
                       label_size(texts, fall(peak_bytes, used->used_bytes)));
}

/* --- what the blocks are like --------------------------------------------------------------- */

static const char no_name[] = "(none)";

struct share {
    const char *name;
    struct step_sample held;
};

static void add_shares(const struct question *question, struct report *report, uint16_t index,
                       const char *by, const struct share *shares, size_t count)
{
    const char *label = label_ledger(question, report_arena(report), index);
    struct report_table *table =
        report_ledger_table(report, report_text(report, "peak_by_%s", by), label,
                            report_text(report, "The peak of %s, by %s", label, by), NULL);
    uint64_t peak_bytes = ledger_figures_of(question, index).peak_bytes;
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const char *name = shares[i].name;
        const struct field fields[] = {
            {"held_bytes", "held", value_bytes(shares[i].held.bytes)},
            {"share_percent", "share",
             value_number(VALUE_PERCENT, percent_of(shares[i].held.bytes, peak_bytes))},
            {"block_count", "blocks", value_count(shares[i].held.count)},
            {by, by, name == no_name ? value_unknown(name) : value_text(name)},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
}

enum share_key { SHARE_OPERATOR, SHARE_OWNER, SHARE_MODULE };

/* 0: none */
static uint32_t key_of(const struct question *question, size_t group, enum share_key key)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    switch (key) {
    case SHARE_OPERATOR:
        return detail->operator_text;
    case SHARE_OWNER:
        return detail->owner_text;
    default:
        return (uint32_t)(model_place_at(question->model, detail->place).module + 1);
    }
}

struct keyed {
    uint32_t key;
    struct step_sample held;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return (a->key > b->key) - (a->key < b->key);
}

static int by_size(const void *left, const void *right)
{
    const struct share *a = left, *b = right;

    if (a->held.bytes != b->held.bytes)
        return a->held.bytes > b->held.bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

static const char *name_of(const struct question *question, struct report *report, uint32_t key,
                           enum share_key kind)
{
    const char *name;

    if (!key)
        return no_name;
    if (kind != SHARE_MODULE)
        return model_text_at(question->model, key);
    name = driver_module_name(key - 1);
    return name ? name : report_text(report, "module %" PRIu32, key - 1);
}

/* Groups of a ledger at its peak, by key; nothing when no group has one. */
static void add_keyed(const struct question *question, struct report *report, uint16_t ledger,
                      const char *by, enum share_key kind)
{
    size_t group_count = tally_group_count(question->tally), count = 0, share_count = 0;
    struct keyed *rows = malloc((group_count + 1) * sizeof(*rows));
    struct share *shares = malloc((group_count + 1) * sizeof(*shares));
    bool is_in_order = true; /* as a rule all have one key */

    for (size_t i = 1; rows && shares && i < group_count; i++) {
        if (tally_group_at(question->tally, i)->ledger != ledger)
            continue;
        rows[count] = (struct keyed){key_of(question, i, kind), group_at_peak(question->tally, i)};
        if (!rows[count].held.count)
            continue;
        is_in_order &= !count || rows[count - 1].key <= rows[count].key;
        count++;
    }
    if (!is_in_order)
        qsort(rows, count, sizeof(*rows), by_key);
    for (size_t i = 0; i < count; i++) {
        if (!i || rows[i].key != rows[i - 1].key)
            shares[share_count++] =
                (struct share){.name = name_of(question, report, rows[i].key, kind)};
        shares[share_count - 1].held.bytes += rows[i].held.bytes;
        shares[share_count - 1].held.count += rows[i].held.count;
    }
    if (share_count > 1 || (share_count && rows[0].key)) {
        qsort(shares, share_count, sizeof(*shares), by_size);
        add_shares(question, report, ledger, by, shares, share_count);
    }
    free(rows);
    free(shares);
}

static void add_sizes(const struct question *question, struct report *report,
                      const struct peak_trials *ledger)
{
    struct share shares[SIZE_CLASSES];
    size_t count = 0;

    for (unsigned i = SIZE_CLASSES; i-- > 0;)
        if (ledger->sizes[i].count)
            shares[count++] = (struct share){
                i < 10 ? "up to 512 B" /* the smallest that is handed out as a rule */
                       : report_text(report, "up to %s",
                                     label_size(report_arena(report), UINT64_C(1) << i)),
                ledger->sizes[i]};
    /* The classes below are one. */
    for (size_t i = 1; i < count; i++)
        if (strcmp(shares[i].name, shares[i - 1].name) == 0) {
            shares[i - 1].held.bytes += shares[i].held.bytes;
            shares[i - 1].held.count += shares[i].held.count;
            memmove(&shares[i], &shares[i + 1], (count - i - 1) * sizeof(shares[0]));
            count--;
            i--;
        }
    add_shares(question, report, ledger->ledger, "size", shares, count);
}

static void add_ages(const struct question *question, struct report *report,
                     const struct peak_trials *ledger)
{
    static const char *const step_words[AGE_CLASSES] = {
        "made in this step",  "in the step before",    "2 to 9 steps ago",
        "10 to 99 steps ago", "100 steps ago or more", "before the first step",
    };
    static const char *const time_words[AGE_CLASSES] = {
        "below 1 ms", "1 to 10 ms", "10 to 100 ms", "100 ms to 1 s", "1 to 10 s", "10 s or more",
    };
    struct share shares[AGE_CLASSES];
    size_t count = 0;

    for (unsigned i = 0; i < AGE_CLASSES; i++)
        if (ledger->ages[i].count)
            shares[count++] = (struct share){ledger->counts_steps ? step_words[i] : time_words[i],
                                             ledger->ages[i]};
    add_shares(question, report, ledger->ledger, "age", shares, count);
}

static void add_all_shares(const struct question *question, struct report *report,
                           const struct peak_trials *ledger)
{
    add_keyed(question, report, ledger->ledger, "operator", SHARE_OPERATOR);
    add_keyed(question, report, ledger->ledger, "owner", SHARE_OWNER);
    add_keyed(question, report, ledger->ledger, "module", SHARE_MODULE);
    add_sizes(question, report, ledger);
    add_ages(question, report, ledger);
}

/* --- the whole ------------------------------------------------------------------------------ */

struct effect {
    const struct question *question;
    struct trials trials;
    enum mt_result result;
    struct mt_error error;
};

static void *effect_begin(const struct question *question, struct life_visitor *visitor)
{
    struct effect *effect = calloc(1, sizeof(*effect));

    if (!effect)
        return NULL;
    effect->question = question;
    effect->result = trials_begin(&effect->trials, question, visitor, &effect->error);
    return effect;
}

static void advise(const struct question *question, struct report *report,
                   const struct trials *trials)
{
    static const struct rule *const tables[] = {peak_rules, workspace_rules, communication_rules,
                                                NULL};
    const struct evidence evidence = {.question = question, .report = report, .trials = trials};
    struct advices advices;

    advices_collect(&evidence, tables, &advices);
    advices_show(&advices, report, RANK_PEAK, spoken_most);
}

static void effect_write(void *state, struct report *report)
{
    struct effect *effect = state;
    const struct question *question = effect->question;
    const struct trials *trials = &effect->trials;

    if (effect->result == MT_OK)
        effect->result = trials_finish(&effect->trials, &effect->error);
    if (effect->result != MT_OK) {
        report_note(report, 0,
                    report_text(report, "what would lower the peak: %s", effect->error.message));
        return;
    }
    if (trials->count)
        say_effect(question, report, &trials->ledgers[0]);
    advise(question, report, trials);
    for (size_t i = 0; i < trials->count; i++) {
        add_effects(question, report, &trials->ledgers[i]);
        add_targets(question, report, &trials->ledgers[i]);
        add_all_shares(question, report, &trials->ledgers[i]);
    }
    if (trials->missed_count)
        report_note(report, trials->missed_count, "accesses that lie in no block that was alive");
}

static void effect_release(void *state)
{
    struct effect *effect = state;

    trials_release(&effect->trials);
    free(effect);
}

const struct block_analysis peak_effect_analysis = {
    .name = "what would lower the peak",
    .begin = effect_begin,
    .write = effect_write,
    .release = effect_release,
};
