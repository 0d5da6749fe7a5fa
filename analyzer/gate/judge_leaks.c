/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks: what grows from step to step, less what is suppressed.
 *
 * With several recordings, something leaks when it does in more than half of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "judge.h"
#include "labels.h"
#include "window_account.h"

/* --- finding them ------------------------------------------------------------------------------
 */

static bool is_over_the_limit(const struct policy *policy, const struct judged *row)
{
    if (row->judgement.verdict == VERDICT_LEAK)
        return row->judgement.trend.rise_chance <= policy->leak.chance_max &&
               row->judgement.growth_per_step >= policy->leak.slope_min;
    return row->judgement.verdict == VERDICT_CACHE && !policy->leak.allows_caches;
}

/* An earlier row is the same leak, seen in a layer above or below. */
static bool is_seen(const struct question *question, const struct judged_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (growth_is_same(question->symbols, &list->rows[i], &list->rows[index]))
            return true;
    return false;
}

static struct gate_leak *leak_for(struct gate_verdict *verdict, const char *key)
{
    struct gate_leak *row;

    for (size_t i = 0; i < verdict->leaks.count; i++) {
        row = table_at(&verdict->leaks, i);
        if (strcmp(row->key, key) == 0)
            return row;
    }
    row = table_add(&verdict->leaks);
    if (!row) {
        verdict->has_failed = true;
        return NULL;
    }
    row->key = key;
    return row;
}

static const struct suppression *suppression_of(const struct gate *gate,
                                                const struct question *question, uint32_t site,
                                                const char *label)
{
    size_t frame_count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, site, &frame_count);

    for (size_t i = 0; gate->suppressions && i < gate->suppressions->rows.count; i++) {
        struct suppression *row = table_at(&gate->suppressions->rows, i);

        if (suppression_matches(row, label, frames, frame_count)) {
            row->use_count++;
            return row;
        }
    }
    return NULL;
}

static void add_leak(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                     const struct judged *judged, const char *label)
{
    const struct question *question = &gate->recordings[repeat].question;
    const struct ledger *ledger = tally_ledger_at(question->tally, judged->origin->ledger);
    const char *device = device_name(&verdict->arena, question->model, ledger);
    const char *pool =
        model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));
    struct gate_leak *row = leak_for(verdict, gate_text(verdict, "%s/%s/leak/%016" PRIx64, device,
                                                        gate_spelled(verdict, pool),
                                                        origin_id(question, &judged->origin->who)));

    if (!row)
        return;
    if (!row->repeat_count || row->last_repeat != repeat)
        row->repeat_count++;
    row->last_repeat = repeat;
    row->device = device;
    row->pool = gate_text(verdict, "%s", pool);
    row->is_cache = judged->judgement.verdict == VERDICT_CACHE;
    if (!row->where.label || judged->judgement.growth_per_step > row->growth_per_step) {
        row->growth_per_step = judged->judgement.growth_per_step;
        row->where = place_of(&verdict->measures, question, judged->origin->who.site,
                              gate_text(verdict, "%s", label));
    }
    if (judged->alive.bytes > row->alive_bytes)
        row->alive_bytes = judged->alive.bytes;
    if (judged->judgement.trend.rise_chance > row->chance)
        row->chance = judged->judgement.trend.rise_chance;
    if (!row->suppression)
        row->suppression = suppression_of(gate, question, judged->origin->who.site, label);
}

/* How many origins were judged. */
static size_t find_leaks(const struct gate *gate, struct gate_verdict *verdict, size_t repeat)
{
    const struct question *question = &gate->recordings[repeat].question;
    struct judged_list list = {0};
    struct origins origins;
    struct report *labels = NULL;
    size_t judged_count;

    if (!origins_init(&origins, question, ORIGINS_BY_SIZE)) {
        verdict->has_failed = true;
        return 0;
    }
    if (report_create("gate", &labels, NULL) != MT_OK || !growth_judge(question, &origins, &list))
        verdict->has_failed = true;
    for (size_t i = 0; !verdict->has_failed && i < list.count; i++)
        if (is_over_the_limit(gate->policy, &list.rows[i]) && !is_seen(question, &list, i))
            add_leak(gate, verdict, repeat, &list.rows[i],
                     label_who(question, labels, list.rows[i].origin->who));
    judged_count = list.origin_count;
    growth_release(&list);
    report_destroy(labels);
    origins_release(&origins);
    return judged_count;
}

/* --- telling them ------------------------------------------------------------------------------
 */

static struct gate_case case_of(const struct gate *gate, const struct gate_leak *leak,
                                enum case_outcome outcome)
{
    return (struct gate_case){
        .rule = "leak",
        .key = leak->key,
        .outcome = outcome,
        .policy_line = gate->policy->leak.line,
        .where = leak->where,
        .unit = "bytes_per_step",
        .value = leak->growth_per_step,
        .has_limit = true,
        .limit = gate->policy->leak.slope_min,
    };
}

static const char *leak_text(const struct gate *gate, struct gate_verdict *verdict,
                             const struct gate_leak *leak)
{
    const char *several = gate->recording_count > 1
                              ? gate_text(verdict, "; in %zu of %zu recordings", leak->repeat_count,
                                          gate->recording_count)
                              : "";

    if (leak->is_cache)
        return gate_text(verdict,
                         "growing cache at %s: %s of %s on %s at the end, and [leak] "
                         "allow_cache_growth is false%s",
                         leak->where.label, gate_size(verdict, leak->alive_bytes), leak->pool,
                         leak->device, several);
    return gate_text(verdict,
                     "leak of %s per step at %s: %s of %s on %s at the end; by chance with p = "
                     "%.1g%s",
                     gate_size(verdict, leak->growth_per_step), leak->where.label,
                     gate_size(verdict, leak->alive_bytes), leak->pool, leak->device, leak->chance,
                     several);
}

/* Why a suppression does not help, or NULL when it does. */
static const char *refusal(const struct gate *gate, struct gate_verdict *verdict,
                           const struct gate_leak *leak)
{
    const struct suppression *row = leak->suppression;

    if (row->until && row->until < date_today())
        return gate_text(verdict,
                         "its suppression at %s:%u ended on %04" PRIu32 "-%02" PRIu32 "-%02" PRIu32,
                         gate->suppressions->path, row->line, row->until / 10000,
                         row->until / 100 % 100, row->until % 100);
    if (row->has_max && leak->alive_bytes > row->max_bytes)
        return gate_text(verdict, "it holds more than the %s that %s:%u allows",
                         gate_size(verdict, row->max_bytes), gate->suppressions->path, row->line);
    return NULL;
}

static void tell_leak(const struct gate *gate, struct gate_verdict *verdict,
                      const struct gate_leak *leak)
{
    const char *refused = leak->suppression ? refusal(gate, verdict, leak) : NULL;
    bool is_suppressed = leak->suppression && !refused;
    struct gate_case row = case_of(gate, leak, is_suppressed ? CASE_SUPPRESSED : CASE_FAILED);

    row.sentence = leak_text(gate, verdict, leak);
    if (is_suppressed)
        row.sentence =
            gate_text(verdict, "%s; suppressed by %s:%u%s%s", row.sentence,
                      gate->suppressions->path, leak->suppression->line,
                      leak->suppression->reason[0] ? ": " : "", leak->suppression->reason);
    else if (refused)
        row.sentence = gate_text(verdict, "%s; %s", row.sentence, refused);
    gate_add(verdict, &row);
}

static void tell_no_leak(const struct gate *gate, struct gate_verdict *verdict, size_t judged_count)
{
    struct judged_steps steps = growth_longest_steps(&gate->recordings[0].question);
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .outcome = CASE_PASSED,
                            .policy_line = gate->policy->leak.line};

    row.sentence =
        gate_text(verdict, "no leak in steps %" PRIu32 " to %" PRIu32 ": %zu sites judged",
                  steps.warm_up + 1, steps.last, judged_count);
    gate_add(verdict, &row);
}

static void tell_unused(const struct gate *gate, struct gate_verdict *verdict)
{
    for (size_t i = 0; gate->suppressions && i < gate->suppressions->rows.count; i++) {
        const struct suppression *row = table_at(&gate->suppressions->rows, i);
        struct gate_case remark = {
            .rule = "suppression",
            .key = gate_text(verdict, "suppression/line-%u", row->line),
            .outcome = CASE_REMARK,
        };

        if (row->use_count)
            continue;
        remark.sentence =
            gate_text(verdict, "%s:%u: leak:%s suppresses nothing any more: delete it",
                      gate->suppressions->path, row->line, row->pattern);
        gate_add(verdict, &remark);
    }
}

/* --- without steps ------------------------------------------------------------------------------
 */

static void judge_window(const struct gate *gate, struct gate_verdict *verdict)
{
    const struct question *question = &gate->recordings[0].question;
    uint64_t allowed = gate->policy->leak.window_growth;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        struct window_account account = window_account_of(question->tally, (uint16_t)i);
        int64_t growth = window_growth_bytes(&account);
        const char *device = device_name(&verdict->arena, question->model, ledger);
        const char *pool = gate_text(
            verdict, "%s",
            model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
        bool is_over = growth > 0 && (uint64_t)growth > allowed;
        struct gate_case row = {
            .rule = "window_growth",
            .key = gate_text(verdict, "%s/%s/window_growth", device, gate_spelled(verdict, pool)),
            .policy_line = gate->policy->leak.window_line,
            .unit = "bytes",
            .value = growth > 0 ? (uint64_t)growth : 0,
            .has_limit = true,
            .limit = allowed,
        };

        if (ledger->kind != LEDGER_MEMORY && ledger->kind != LEDGER_HOST)
            continue;
        row.outcome = !account.is_released_known ? CASE_UNSURE
                      : is_over                  ? CASE_FAILED
                                                 : CASE_PASSED;
        row.sentence =
            account.is_released_known
                ? gate_text(verdict, "%s on %s kept %s%s of the recorded time, limit %s", pool,
                            device, growth < 0 ? "-" : "",
                            gate_size(verdict, (uint64_t)(growth < 0 ? -growth : growth)),
                            gate_size(verdict, allowed))
                : gate_text(
                      verdict,
                      "%s on %s: older blocks of unknown size were released, so its growth is "
                      "not known",
                      pool, device);
        gate_add(verdict, &row);
    }
}

static void say_too_few_steps(const struct gate *gate, struct gate_verdict *verdict)
{
    struct judged_steps steps = growth_longest_steps(&gate->recordings[0].question);
    uint32_t judged = steps.last - steps.warm_up;
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .outcome = CASE_UNSURE,
                            .policy_line = gate->policy->leak.line};

    row.sentence = verdict->step_count
                       ? gate_text(verdict,
                                   "leaks cannot be judged: %" PRIu32
                                   " judged steps, %d are needed: run the job longer",
                                   judged, STEPS_NEEDED)
                       : "leaks cannot be judged: the recording has no steps; mark them, or limit "
                         "[leak] window_growth";
    gate_add(verdict, &row);
}

static bool has_enough_steps(const struct gate *gate)
{
    for (size_t i = 0; i < gate->recording_count; i++) {
        struct judged_steps steps = growth_longest_steps(&gate->recordings[i].question);

        if (steps.last - steps.warm_up < STEPS_NEEDED)
            return false;
    }
    return true;
}

void judge_leaks(const struct gate *gate, struct gate_verdict *verdict)
{
    size_t judged_count = 0,
           told_before = verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED];

    if (!gate->policy->leak.is_asked)
        return;
    if (!verdict->step_count && gate->policy->leak.window_line) {
        judge_window(gate, verdict);
        return;
    }
    if (!has_enough_steps(gate)) {
        say_too_few_steps(gate, verdict);
        return;
    }
    for (size_t i = 0; i < gate->recording_count; i++)
        judged_count = find_leaks(gate, verdict, i);
    for (size_t i = 0; i < verdict->leaks.count; i++) {
        const struct gate_leak *leak = table_at(&verdict->leaks, i);

        if (leak->repeat_count * 2 > gate->recording_count)
            tell_leak(gate, verdict, leak);
    }
    if (verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED] == told_before)
        tell_no_leak(gate, verdict, judged_count);
    tell_unused(gate, verdict);
}
