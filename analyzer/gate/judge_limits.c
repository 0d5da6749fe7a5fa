/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: absolute ones, and growth against the baseline.
 *
 * With several recordings the best of them must keep an absolute limit, as the noise of a peak
 * is mostly late frees; growth is judged by their median. A relative limit that is tighter than
 * twice the noise judges the noise, and is refused.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "labels.h"
#include "path_text.h"
#include "peak_causes.h"
#include "sentence.h"

/* --- which measures a rule is about --------------------------------------------------------------
 */

static bool glob_matches(const char *glob, const char *text)
{
    return fnmatch(glob, text, 0) == 0;
}

/* A site is known by its label, by its function, and by "file:function". */
static bool site_matches(const char *glob, const struct measure *measure)
{
    char text[512];

    if (glob_matches(glob, measure->name) || glob_matches(glob, measure->where.function))
        return true;
    if (!measure->where.file[0])
        return false;
    snprintf(text, sizeof(text), "%s:%s", path_base(measure->where.file), measure->where.function);
    return glob_matches(glob, text);
}

static bool rule_is_about(const struct policy_rule *rule, const struct measure *measure)
{
    if (rule->kind != measure->kind || !glob_matches(rule->device, measure->device) ||
        !glob_matches(rule->pool, measure->pool))
        return false;
    if (rule->kind == RULE_SITE)
        return site_matches(rule->name, measure);
    return strcmp(rule->name, "*") == 0 || glob_matches(rule->name, measure->name);
}

/* A limit for a pool replaces the one for all pools of its device. */
static bool is_replaced(const struct policy *policy, const struct policy_rule *rule,
                        const struct measure *measure)
{
    if (strcmp(rule->pool, "*") != 0)
        return false;
    for (const struct policy_rule *other = policy->rules; other; other = other->next)
        if (other != rule && strcmp(other->pool, "*") != 0 && other->kind == rule->kind &&
            other->kind <= RULE_FRAGMENTATION && rule_is_about(other, measure))
            return true;
    return false;
}

/* --- one measure, one rule
 * -------------------------------------------------------------------------- */

struct trial {
    const struct gate *gate;
    struct gate_verdict *verdict;
    const struct policy_rule *rule;
    const struct measure *measure;
    struct measure_spread spread;
    const struct baseline_row *base; /* NULL: none */
    uint64_t base_value;
};

/* "peak of pta on npu:0", "forward (net.py) of pta on npu:0, at the peak" */
static const char *subject(const struct trial *trial)
{
    struct arena *texts = &trial->verdict->arena;
    const struct measure *measure = trial->measure;
    const char *what = translated(kind_what(measure->kind));
    const char *pool = pool_words(texts, measure->pool, measure->device);

    switch (measure->kind) {
    case RULE_SITE:
    case RULE_OWNER:
        return sentence(texts, "%s in %s, %s", measure->name, pool, what);
    case RULE_PHASE:
        return sentence(texts, "%s %s of %s", what, measure->name, pool);
    case RULE_UNATTRIBUTED:
        return sentence(texts, "%s on %s", what, measure->device);
    case RULE_RESIDENT:
    case RULE_SHARED:
    case RULE_KEPT:
        return sentence(texts, "%s of a process", what);
    case RULE_RANKS:
        return sentence(texts, "%s in %s", what, measure->pool);
    default:
        return sentence(texts, "%s of %s", what, pool);
    }
}

static struct gate_case case_of(const struct trial *trial, enum case_outcome outcome)
{
    return (struct gate_case){
        .rule = kind_rule(trial->rule->kind),
        .key = trial->measure->key,
        .name = subject(trial),
        .outcome = outcome,
        .policy_line = trial->rule->line,
        .measure = trial->measure,
        .where = trial->measure->where,
        .unit = kind_is_share(trial->rule->kind) ? "hundredths_of_a_percent" : "bytes",
        .value = trial->spread.median,
    };
}

/* Sizes are named with their cause; what is one site is its own cause. */
static const char *cause_of(const struct trial *trial, struct place_in_code *where)
{
    uint64_t now = trial->spread.median;
    struct grown_peak peak = {
        .measure = trial->measure,
        .baseline = trial->base && now > trial->base_value ? trial->gate->baseline : NULL,
        .grown_bytes = trial->base && now > trial->base_value ? now - trial->base_value : 0,
    };

    if (trial->rule->kind != RULE_PEAK_LIVE && trial->rule->kind != RULE_PEAK_RESERVED)
        return "";
    return peak_causes(trial->verdict, &peak, where);
}

static bool is_over_max(const struct trial *trial)
{
    return trial->spread.low > trial->rule->max;
}

static void try_max(const struct trial *trial)
{
    struct arena *texts = &trial->verdict->arena;
    bool is_over = is_over_max(trial);
    struct gate_case row = case_of(trial, is_over ? CASE_FAILED : CASE_PASSED);
    const char *value = amount_label(texts, trial->rule->kind, trial->spread.low);
    const char *limit = amount_label(texts, trial->rule->kind, trial->rule->max);

    row.value = trial->spread.low;
    row.has_limit = true;
    row.limit = trial->rule->max;
    if (is_over)
        row.sentence =
            sentence(texts, "%s: %s, %s over the limit of %s%s", subject(trial), value,
                     amount_label(texts, trial->rule->kind, trial->spread.low - trial->rule->max),
                     limit, cause_of(trial, &row.where));
    else
        row.sentence = sentence(texts, "%s: %s, limit %s", subject(trial), value, limit);
    gate_add(trial->verdict, &row);
}

static int64_t noise_of(const struct trial *trial)
{
    int64_t now = spread_share(trial->spread);
    int64_t before = trial->base ? spread_share(trial->base->spread) : 0;

    return now > before ? now : before;
}

static void say_noise(const struct trial *trial, int64_t noise)
{
    struct arena *texts = &trial->verdict->arena;
    struct gate_case row = case_of(trial, CASE_UNSURE);

    row.key = arena_format(texts, "%s/growth", trial->measure->key);
    row.name = sentence(texts, "%s, against the baseline", row.name);
    row.sentence = sentence(
        texts,
        "%s: the tolerance of %s is tighter than twice the noise of %s between recordings: raise "
        "rel, record more evenly, or write force = true",
        subject(trial), label_share_change(texts, trial->rule->relative),
        label_share_change(texts, noise));
    gate_add(trial->verdict, &row);
}

/* value * (1 + share), rounded down; what does not fit is as much as there can be. */
static uint64_t grown_by(uint64_t value, int64_t hundredths)
{
    __extension__ __int128 grown = (__extension__(__int128) value) * (10000 + hundredths) / 10000;

    if (grown < 0)
        return 0;
    return grown > UINT64_MAX ? UINT64_MAX : (uint64_t)grown;
}

static const char *grown_share(const struct trial *trial)
{
    struct arena *texts = &trial->verdict->arena;
    uint64_t now = trial->spread.median, before = trial->base_value;

    if (!before)
        return "";
    return sentence(texts, " (%s, allowed %s)",
                    now < before
                        ? label_share_change(texts, -(int64_t)share_of(before - now, before))
                        : label_share_change(texts, (int64_t)share_of(now - before, before)),
                    label_share_change(texts, trial->rule->relative));
}

static bool has_grown_too_much(const struct trial *trial)
{
    uint64_t now = trial->spread.median, before = trial->base_value;

    return now > grown_by(before, trial->rule->relative) &&
           (now <= before || now - before > trial->rule->floor);
}

static void try_growth(const struct trial *trial)
{
    struct arena *texts = &trial->verdict->arena;
    uint64_t now = trial->spread.median, before = trial->base_value;
    bool is_over = has_grown_too_much(trial);
    struct gate_case row = case_of(trial, is_over ? CASE_FAILED : CASE_PASSED);
    bool is_share = kind_is_share(trial->rule->kind);

    row.key = arena_format(texts, "%s/growth", trial->measure->key);
    row.name = sentence(texts, "%s, against the baseline", row.name);
    row.has_limit = row.has_base = true;
    row.limit = grown_by(before, trial->rule->relative);
    row.base = before;
    row.sentence = sentence(
        texts, "%s: %s%s%s, baseline %s%s", subject(trial),
        is_share ? amount_label(texts, trial->rule->kind, now)
                 : label_size_change(texts, (int64_t)(now - before)),
        grown_share(trial), is_share ? "" : sentence(texts, ", now %s", label_size(texts, now)),
        amount_label(texts, trial->rule->kind, before), is_over ? cause_of(trial, &row.where) : "");
    gate_add(trial->verdict, &row);
}

/* A site or an owner that the baseline does not have held nothing worth a line then. */
static bool may_be_new(enum rule_kind kind)
{
    return kind == RULE_SITE || kind == RULE_OWNER;
}

/* Baselines of before know of a pool that counts itself only what was seen being made. */
static bool is_of_other_count(const struct trial *trial)
{
    const struct measure *measure = trial->measure, *seen;

    if (measure->kind != RULE_PEAK_LIVE && measure->kind != RULE_FRAGMENTATION)
        return false;
    seen = measures_of_pool(&trial->verdict->measures, measure, RULE_PEAK_SEEN);
    return trial->base && seen && !baseline_find(trial->gate->baseline, seen->key);
}

static void try_relative(const struct trial *trial)
{
    struct arena *texts = &trial->verdict->arena;
    struct gate_case row = case_of(trial, CASE_UNSURE);
    int64_t noise = noise_of(trial);

    row.key = arena_format(texts, "%s/growth", trial->measure->key);
    row.name = sentence(texts, "%s, against the baseline", row.name);

    if (is_of_other_count(trial)) {
        row.sentence = sentence(texts,
                                "%s: the baseline %s was written when only what was seen being "
                                "allocated counted: renew it with leaktide bless",
                                subject(trial), trial->gate->baseline->path);
        gate_add(trial->verdict, &row);
    } else if (!trial->base && !may_be_new(trial->rule->kind)) {
        row.sentence = sentence(texts,
                                "%s: the baseline %s has no %s to compare with: renew it with "
                                "leaktide bless",
                                subject(trial), trial->gate->baseline->path, trial->measure->key);
        gate_add(trial->verdict, &row);
    } else if (!trial->rule->is_forced && trial->base && llabs(trial->rule->relative) < 2 * noise) {
        say_noise(trial, noise);
    } else {
        try_growth(trial);
    }
}

static struct trial trial_of(const struct gate *gate, struct gate_verdict *verdict,
                             const struct policy_rule *rule, const struct measure *measure)
{
    const struct baseline_row *base =
        gate->baseline ? baseline_find(gate->baseline, measure->key) : NULL;

    return (struct trial){
        .gate = gate,
        .verdict = verdict,
        .rule = rule,
        .measure = measure,
        .spread = measure_spread(&verdict->measures, measure),
        .base = base,
        .base_value = base ? base->value
                      : gate->baseline && measure->kind == RULE_SITE
                          ? baseline_site_floor(gate->baseline, measure)
                          : 0,
    };
}

static void try_measure(const struct trial *trial)
{
    if (trial->rule->has_max)
        try_max(trial);
    if (trial->rule->has_relative && trial->gate->baseline)
        try_relative(trial);
}

/* A program has thousands of sites: those within their budget are one case together. */
struct budget {
    size_t kept_count;
    struct trial largest;
};

static void try_budget(struct budget *budget, const struct trial *trial)
{
    bool is_kept =
        (!trial->rule->has_max || !is_over_max(trial)) &&
        (!trial->rule->has_relative || !trial->gate->baseline || !has_grown_too_much(trial));

    if (!is_kept) {
        try_measure(trial);
        return;
    }
    if (!budget->kept_count || trial->spread.median > budget->largest.spread.median)
        budget->largest = *trial;
    budget->kept_count++;
}

static const char *counted_rule(enum rule_kind kind, size_t count)
{
    if (kind == RULE_SITE)
        return translated(count == 1 ? "site" : "sites");
    return translated(count == 1 ? "owner" : "owners");
}

static void say_budget(const struct budget *budget, struct gate_verdict *verdict,
                       const struct policy_rule *rule)
{
    struct arena *texts = &verdict->arena;
    const struct trial *largest = &budget->largest;
    struct gate_case row = case_of(largest, CASE_PASSED);

    row.key = arena_format(texts, "%s/%s", kind_rule(rule->kind), rule->name);
    row.name = arena_format(texts, "%s %s", kind_rule(rule->kind), rule->name);
    row.measure = NULL;
    row.has_limit = rule->has_max;
    row.limit = rule->max;
    row.sentence = sentence(texts, "%zu %s like %s within budget%s%s; the largest: %s with %s",
                            budget->kept_count, counted_rule(rule->kind, budget->kept_count),
                            rule->name, rule->has_max ? translated(" of ") : "",
                            rule->has_max ? label_size(texts, rule->max) : "",
                            largest->measure->name, label_size(texts, largest->spread.median));
    gate_add(verdict, &row);
}

/* --- rules that cannot be judged
 * ---------------------------------------------------------------------- */

/* What a rule is about, for people: "fragmentation of npu:9", "site train.py*". */
static const char *rule_name(struct arena *texts, const struct policy_rule *rule)
{
    if (may_be_new(rule->kind))
        return arena_format(texts, "%s %s", kind_rule(rule->kind), rule->name);
    if (strcmp(rule->device, "*") == 0)
        return translated(kind_what(rule->kind));
    return sentence(texts, "%s of %s", translated(kind_what(rule->kind)), rule->device);
}

static void say_no_baseline(const struct gate *gate, struct gate_verdict *verdict,
                            const struct policy_rule *rule)
{
    struct arena *texts = &verdict->arena;
    struct gate_case row = {
        .rule = kind_rule(rule->kind),
        .key = arena_format(texts, "%s/line-%u/baseline", kind_rule(rule->kind), rule->line),
        .name = rule_name(texts, rule),
        .outcome = CASE_UNSURE,
        .policy_line = rule->line,
    };

    row.sentence = sentence(
        texts,
        "%s:%u: rel needs a baseline, and there is none%s%s: write it with leaktide "
        "bless, and name it here in [baseline] or beside the policy",
        gate->policy->path, rule->line, gate->policy->baseline_path ? translated(" at ") : "",
        gate->policy->baseline_path ? gate->policy->baseline_path : "");
    gate_add(verdict, &row);
}

/* "npu:0/pta, host/host": what a rule could have been about. */
static const char *pools_there(struct gate_verdict *verdict)
{
    const char *text = "";

    for (size_t i = 0; i < measures_count(&verdict->measures); i++) {
        const struct measure *measure = measures_at(&verdict->measures, i);

        if (measure->kind == RULE_PEAK_LIVE)
            text = sentence(&verdict->arena, "%s%s%s of %s", text, *text ? ", " : "", measure->pool,
                            measure->device);
    }
    return *text ? text : translated("no pool");
}

static void say_unmatched(const struct gate *gate, struct gate_verdict *verdict,
                          const struct policy_rule *rule)
{
    struct arena *texts = &verdict->arena;
    bool is_zero = may_be_new(rule->kind) && measures_count(&verdict->measures) > 0;
    struct gate_case row = {
        .rule = kind_rule(rule->kind),
        .key = arena_format(texts, "%s/line-%u/%s", kind_rule(rule->kind), rule->line,
                            may_be_new(rule->kind) ? rule->name : rule->device),
        .name = rule_name(texts, rule),
        .outcome = is_zero ? CASE_REMARK : CASE_UNSURE,
        .policy_line = rule->line,
    };

    if (is_zero)
        row.sentence = sentence(texts, "%s:%u: nothing at the peak matches %s: it holds 0 B",
                                gate->policy->path, rule->line, rule->name);
    else
        row.sentence = sentence(
            texts,
            "%s:%u: this recording cannot tell %s of device %s, pool %s%s%s; it "
            "has %s",
            gate->policy->path, rule->line, translated(kind_what(rule->kind)), rule->device,
            rule->pool, rule->kind == RULE_PHASE ? translated(", phase ") : "",
            rule->kind == RULE_PHASE ? rule->name : "", pools_there(verdict));
    gate_add(verdict, &row);
}

/* How many measures the rule is about. */
static size_t judge_rule(const struct gate *gate, struct gate_verdict *verdict,
                         const struct policy_rule *rule)
{
    size_t matched = 0, measure_count = measures_count(&verdict->measures);
    struct budget budget = {0};

    for (size_t i = 0; i < measure_count; i++) {
        const struct measure *measure = measures_at(&verdict->measures, i);
        struct trial trial;

        if (!rule_is_about(rule, measure))
            continue;
        matched++;
        if (is_replaced(gate->policy, rule, measure))
            continue;
        trial = trial_of(gate, verdict, rule, measure);
        if (may_be_new(rule->kind))
            try_budget(&budget, &trial);
        else
            try_measure(&trial);
    }
    if (budget.kept_count)
        say_budget(&budget, verdict, rule);
    return matched;
}

void judge_limits(const struct gate *gate, struct gate_verdict *verdict)
{
    for (const struct policy_rule *rule = gate->policy->rules; rule; rule = rule->next) {
        if (!judge_rule(gate, verdict, rule))
            say_unmatched(gate, verdict, rule);
        else if (rule->has_relative && !gate->baseline)
            say_no_baseline(gate, verdict, rule);
    }
}
