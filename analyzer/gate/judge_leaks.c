/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks: what grows from step to step, less what is suppressed.
 *
 * With several recordings, something leaks when it does in more than half of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "labels.h"
#include "leak_words.h"
#include "leaktide/invariant.h"
#include "sentence.h"
#include "window_account.h"

/* --- finding them ------------------------------------------------------------------------------
 */

struct gate_leak *gate_leak_for(struct gate_verdict *verdict, const char *key)
{
    struct gate_leak *row;

    for (size_t i = 0; i < verdict->leaks.count; i++) {
        row = table_at(&verdict->leaks, i);
        if (strcmp(row->key, key) == 0)
            return row;
    }
    row = table_add(&verdict->leaks);
    if (row)
        row->key = key;
    return row;
}

const struct suppression *gate_suppression_of(const struct gate *gate, const char *label,
                                              const struct symbol_frame *frames, size_t frame_count)
{
    for (size_t i = 0; gate->suppressions && i < gate->suppressions->rows.count; i++) {
        struct suppression *row = table_at(&gate->suppressions->rows, i);

        if (suppression_matches(row, label, frames, frame_count)) {
            row->use_count++;
            return row;
        }
    }
    return NULL;
}

static const struct suppression *suppression_of(const struct gate *gate,
                                                const struct question *question, struct who who)
{
    size_t frame_count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, who.site, &frame_count);
    struct arena texts;
    const struct suppression *found;

    arena_init(&texts);
    found = gate_suppression_of(gate, label_who(question, &texts, who), frames, frame_count);
    arena_release(&texts);
    return found;
}

static const char *pool_of(struct arena *texts, const struct question *question,
                           const struct ledger *ledger)
{
    return arena_copy(
        texts, model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
}

/* A leak, or a cache that grows where none may, of one recording. */
static void add_leak(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                     const struct leak *leak, const char *words)
{
    struct arena *texts = &verdict->arena;
    const struct question *question = &gate->recordings[repeat].question;
    const struct ledger *ledger = tally_ledger_at(question->tally, leak->ledger);
    const char *device = device_name(texts, question->model, ledger);
    const char *pool = pool_of(texts, question, ledger);
    struct gate_leak *row =
        gate_leak_for(verdict, arena_format(texts, "%s/%s/leak/%016" PRIx64, device,
                                            key_name(texts, pool), leak->key));

    if (!row)
        return;
    if (!row->repeat_count || row->last_repeat != repeat)
        row->repeat_count++;
    row->last_repeat = repeat;
    row->device = device;
    row->pool = pool;
    row->is_cache = leak->row && leak->row->judgement.verdict == VERDICT_CACHE;
    row->is_by_turn = leak->is_by_turn;
    if (!row->where.label || leak->rate_bytes > row->growth_per_step) {
        row->growth_per_step = leak->rate_bytes;
        row->sentence = words;
        row->where = place_of(question, texts, leak->who);
        row->where.label = leak->name;
    }
    if (leak->alive_bytes > row->alive_bytes)
        row->alive_bytes = leak->alive_bytes;
    if (!row->suppression)
        row->suppression = suppression_of(gate, question, leak->who);
}

/* Of one whose turns are not known, nobody knows the rate: it is over where it would be so however
 * its loop turned. */
static enum leak_standing standing_of(const struct policy *policy, const struct leak *leak)
{
    if (leak->row && leak->row->judgement.trend.rise_chance > policy->leak.chance_max)
        return LEAK_WITHIN;
    return leak_standing_of(policy, leak->rate_bytes, leak->least_rate_bytes);
}

enum leak_standing leak_standing_of(const struct policy *policy, uint64_t rate_bytes,
                                    uint64_t least_rate_bytes)
{
    if (rate_bytes)
        return rate_bytes >= policy->leak.slope_min ? LEAK_OVER : LEAK_WITHIN;
    return least_rate_bytes >= policy->leak.slope_min ? LEAK_OVER : LEAK_UNRATED;
}

void leaks_found_note(struct leaks_found *found, enum leak_standing standing, const char *words)
{
    MT_ASSERT(standing != LEAK_OVER);
    if (standing == LEAK_WITHIN && !found->within_count++)
        found->within = words;
    else if (standing == LEAK_UNRATED && !found->unrated_count++)
        found->unrated = words;
}

static void find_caches(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                        const struct verdict *judged)
{
    const struct question *question = &gate->recordings[repeat].question;

    for (size_t i = 0; !judged->is_by_stacks && i < judged->sites->count; i++) {
        const struct judged *row = &judged->sites->rows[i];

        if (row->judgement.verdict == VERDICT_CACHE)
            add_leak(gate, verdict, repeat,
                     &(struct leak){.ledger = row->origin->ledger,
                                    .who = row->origin->who,
                                    .name = row->name,
                                    .key = row->key,
                                    .rate_bytes = row->judgement.growth_per_step,
                                    .alive_bytes = row->alive.bytes,
                                    .row = row},
                     growth_sentence(question, &verdict->arena, row));
    }
}

static void find_leaks(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                       const struct verdict *judged, struct leaks_found *found)
{
    const struct question *question = &gate->recordings[repeat].question;

    found->judged_count = judged->judged_count;
    found->is_by_stacks |= judged->is_by_stacks;
    for (size_t i = 0; i < judged->leak_count; i++) {
        const struct leak *leak = &judged->leaks[i];
        const char *words = leak_sentence(question, &verdict->arena, leak);
        enum leak_standing standing = standing_of(gate->policy, leak);

        if (standing == LEAK_OVER)
            add_leak(gate, verdict, repeat, leak, words);
        else
            leaks_found_note(found, standing, words);
    }
    if (!gate->policy->leak.allows_caches)
        find_caches(gate, verdict, repeat, judged);
}

/* --- telling them ------------------------------------------------------------------------------
 */

static struct gate_case case_of(const struct gate *gate, struct gate_verdict *verdict,
                                const struct gate_leak *leak, enum case_outcome outcome)
{
    bool has_rate = leak->growth_per_step > 0;

    return (struct gate_case){
        .rule = "leak",
        .key = leak->key,
        .name = leak->is_cache ? sentence(&verdict->arena, "growing cache at %s", leak->where.label)
                               : sentence(&verdict->arena, "leak at %s", leak->where.label),
        .outcome = outcome,
        .policy_line = gate->policy->leak.line,
        .where = leak->where,
        .unit = !has_rate          ? NULL
                : leak->is_by_turn ? "bytes_per_turn"
                                   : "bytes_per_step",
        .value = leak->growth_per_step,
        .has_limit = has_rate,
        .limit = gate->policy->leak.slope_min,
    };
}

static const char *leak_text(const struct gate *gate, struct gate_verdict *verdict,
                             const struct gate_leak *leak)
{
    struct arena *texts = &verdict->arena;
    const char *several = gate->recording_count > 1
                              ? sentence(texts, "; in %zu of %zu recordings", leak->repeat_count,
                                         gate->recording_count)
                              : "";

    if (leak->is_cache)
        return sentence(texts, "growing cache at %s; [leak] allow_cache_growth is false%s",
                        leak->sentence, several);
    return sentence(texts, "leak: %s%s", leak->sentence, several);
}

/* Why a suppression does not help, or NULL when it does. */
static const char *refusal(const struct gate *gate, struct gate_verdict *verdict,
                           const struct gate_leak *leak)
{
    struct arena *texts = &verdict->arena;
    const struct suppression *row = leak->suppression;

    if (row->until && row->until < date_today())
        return sentence(texts,
                        "its suppression at %s:%u ended on %04" PRIu32 "-%02" PRIu32 "-%02" PRIu32,
                        gate->suppressions->path, row->line, row->until / 10000,
                        row->until / 100 % 100, row->until % 100);
    if (row->has_max && leak->alive_bytes > row->max_bytes)
        return sentence(texts, "it holds more than the %s that %s:%u allows",
                        label_size(texts, row->max_bytes), gate->suppressions->path, row->line);
    return NULL;
}

static void tell_leak(const struct gate *gate, struct gate_verdict *verdict,
                      const struct gate_leak *leak)
{
    struct arena *texts = &verdict->arena;
    const char *refused = leak->suppression ? refusal(gate, verdict, leak) : NULL;
    bool is_suppressed = leak->suppression && !refused;
    struct gate_case row =
        case_of(gate, verdict, leak, is_suppressed ? CASE_SUPPRESSED : CASE_FAILED);

    row.sentence = leak_text(gate, verdict, leak);
    if (is_suppressed)
        row.sentence =
            sentence(texts, "%s; suppressed by %s:%u%s%s", row.sentence, gate->suppressions->path,
                     leak->suppression->line, leak->suppression->reason[0] ? ": " : "",
                     leak->suppression->reason);
    else if (refused)
        row.sentence = sentence(texts, "%s; %s", row.sentence, refused);
    gate_add(verdict, &row);
}

static void tell_leaks(const struct gate *gate, struct gate_verdict *verdict)
{
    for (size_t i = 0; i < verdict->leaks.count; i++) {
        const struct gate_leak *leak = table_at(&verdict->leaks, i);

        if (leak->repeat_count * 2 > gate->recording_count)
            tell_leak(gate, verdict, leak);
    }
}

/* The sentence is in the language of who reads it. */
static void tell_unsure(const struct gate *gate, struct gate_verdict *verdict, const char *sentence)
{
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_UNSURE,
                            .policy_line = gate->policy->leak.line,
                            .sentence = sentence};

    gate_add(verdict, &row);
}

static void tell_passed(const struct gate *gate, struct gate_verdict *verdict, const char *words)
{
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_PASSED,
                            .policy_line = gate->policy->leak.line,
                            .sentence = words};

    gate_add(verdict, &row);
}

/* no_leak: what is said where there is none. */
static void tell_no_failure(const struct gate *gate, struct gate_verdict *verdict,
                            const struct leaks_found *found, const char *no_leak)
{
    struct arena *texts = &verdict->arena;

    if (found->unrated_count)
        tell_unsure(gate, verdict,
                    sentence(texts,
                             "the rate of a leak is not known, as no turns of its loop are: mark "
                             "steps to hold it against [leak] min_slope; %s",
                             found->unrated));
    else if (found->within_count)
        tell_passed(gate, verdict,
                    sentence(texts, "%s, within the limits of [leak]; the first: %s",
                             label_counted(texts, found->within_count, "leak"), found->within));
    else
        tell_passed(gate, verdict, no_leak);
}

static const char *no_leak_words(const struct gate *gate, struct arena *texts,
                                 const struct leaks_found *found)
{
    struct judged_steps steps = growth_longest_steps(&gate->recordings[0].question);

    if (found->is_by_stacks)
        return sentence(texts,
                        "no leak: %zu stacks that allocate to the end judged, none leaves much",
                        found->judged_count);
    return sentence(texts, "no leak in steps %" PRIu32 " to %" PRIu32 ": %zu sites judged",
                    steps.warm_up + 1, steps.last, found->judged_count);
}

static void tell_unused(const struct gate *gate, struct gate_verdict *verdict)
{
    struct arena *texts = &verdict->arena;

    for (size_t i = 0; gate->suppressions && i < gate->suppressions->rows.count; i++) {
        const struct suppression *row = table_at(&gate->suppressions->rows, i);
        struct gate_case remark = {
            .rule = "suppression",
            .key = arena_format(texts, "suppression/line-%u", row->line),
            .name = sentence(texts, "suppression of %s", row->pattern),
            .outcome = CASE_REMARK,
        };

        if (row->use_count)
            continue;
        remark.sentence = sentence(texts, "%s:%u: leak:%s suppresses nothing any more: delete it",
                                   gate->suppressions->path, row->line, row->pattern);
        gate_add(verdict, &remark);
    }
}

/* --- without steps ------------------------------------------------------------------------------
 */

/* What has no block cannot have kept one. */
static void say_no_blocks(const struct gate *gate, struct gate_verdict *verdict,
                          const struct recording *recording)
{
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_UNSURE,
                            .policy_line = gate->policy->leak.line};

    row.sentence =
        sentence(&verdict->arena, "leaks cannot be judged: no allocation of a block is in %s",
                 recording->path);
    gate_add(verdict, &row);
}

/* A pool, in the recordings that have it. */
struct pool_growth {
    const char *key, *pool, *device;
    int64_t *bytes; /* one for each of these: of the process where it grew most */
    size_t count, last_repeat;
    bool is_unknown; /* in one of them */
};

static int growth_compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* NULL without memory. */
static struct pool_growth *pool_growth_for(const struct gate *gate, struct gate_verdict *verdict,
                                           struct table *pools, const struct question *question,
                                           const struct ledger *ledger)
{
    struct arena *texts = &verdict->arena;
    const char *device = device_name(texts, question->model, ledger);
    const char *pool = arena_copy(
        texts, model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
    const char *key = arena_format(texts, "%s/%s/window_growth", device, key_name(texts, pool));
    struct pool_growth *row;

    for (size_t i = 0; i < pools->count; i++) {
        row = table_at(pools, i);
        if (strcmp(row->key, key) == 0)
            return row;
    }
    row = table_add(pools);
    if (row)
        *row = (struct pool_growth){
            .key = key,
            .pool = pool,
            .device = device,
            .bytes = arena_alloc(texts, gate->recording_count * sizeof(*row->bytes)),
        };
    return row && row->bytes ? row : NULL;
}

static void add_window(const struct gate *gate, struct gate_verdict *verdict, struct table *pools,
                       size_t repeat)
{
    const struct question *question = &gate->recordings[repeat].question;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        struct window_account account = window_account_of(question->tally, (uint16_t)i);
        int64_t growth = window_growth_bytes(&account);
        struct pool_growth *row;

        if (ledger->kind != LEDGER_MEMORY && ledger->kind != LEDGER_HOST)
            continue;
        row = pool_growth_for(gate, verdict, pools, question, ledger);
        if (!row) {
            verdict->arena.has_failed = true;
            return;
        }
        row->is_unknown |= !account.is_released_known;
        if (!row->count || row->last_repeat != repeat)
            row->bytes[row->count++] = growth;
        else if (growth > row->bytes[row->count - 1])
            row->bytes[row->count - 1] = growth;
        row->last_repeat = repeat;
    }
}

/* It is over the limit where it is in more than half of the recordings. */
static void tell_window(const struct gate *gate, struct gate_verdict *verdict,
                        const struct pool_growth *pool)
{
    struct arena *texts = &verdict->arena;
    uint64_t allowed = gate->policy->leak.window_growth;
    int64_t growth = pool->bytes[(pool->count - 1) / 2];
    const char *several =
        pool->count > 1 ? sentence(texts, " (the middle one of %zu recordings)", pool->count) : "";
    struct gate_case row = {
        .rule = "window_growth",
        .key = pool->key,
        .name = sentence(texts, "growth of %s", pool_words(texts, pool->pool, pool->device)),
        .outcome = growth > 0 && (uint64_t)growth > allowed ? CASE_FAILED : CASE_PASSED,
        .policy_line = gate->policy->leak.window_line,
        .unit = "bytes",
        .value = growth > 0 ? (uint64_t)growth : 0,
        .has_limit = true,
        .limit = allowed,
    };

    if (pool->is_unknown) {
        row.outcome = CASE_UNSURE;
        row.sentence = sentence(texts,
                                "%s: older blocks of unknown size were released, so its "
                                "growth is not known",
                                pool_words(texts, pool->pool, pool->device));
    } else {
        row.sentence = sentence(texts, "%s kept %s%s of the recorded time%s, limit %s",
                                pool_words(texts, pool->pool, pool->device), growth < 0 ? "-" : "",
                                label_size(texts, (uint64_t)(growth < 0 ? -growth : growth)),
                                several, label_size(texts, allowed));
    }
    gate_add(verdict, &row);
}

static void judge_window(const struct gate *gate, struct gate_verdict *verdict)
{
    struct table pools; /* struct pool_growth */

    table_init(&pools, &verdict->arena, sizeof(struct pool_growth));
    for (size_t i = 0; i < gate->recording_count; i++)
        add_window(gate, verdict, &pools, i);
    for (size_t i = 0; i < pools.count && !verdict->arena.has_failed; i++) {
        struct pool_growth *pool = table_at(&pools, i);

        qsort(pool->bytes, pool->count, sizeof(*pool->bytes), growth_compare);
        tell_window(gate, verdict, pool);
    }
    if (!pools.count)
        say_no_blocks(gate, verdict, &gate->recordings[0]);
}

/* The first doubt of any recording; NULL: none. */
static const char *doubt_of(const struct gate *gate, struct gate_verdict *verdict,
                            const struct verdict *const *judged)
{
    for (size_t i = 0; i < gate->recording_count; i++)
        if (judged[i]->doubt_count)
            return doubt_sentence(&gate->recordings[i].question, &verdict->arena,
                                  &judged[i]->doubts[0]);
    return NULL;
}

static size_t told_count(const struct gate_verdict *verdict)
{
    return verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED];
}

/* Without steps a limit of the window judges what no leak can be found of. */
static bool is_by_window(const struct gate *gate, const struct gate_verdict *verdict)
{
    return !verdict->step_count && gate->policy->leak.window_line;
}

static void judge_read(const struct gate *gate, struct gate_verdict *verdict,
                       const struct verdict *const *judged)
{
    size_t told_before = told_count(verdict), failed_before = verdict->counts[CASE_FAILED];
    const char *doubt = doubt_of(gate, verdict, judged);
    struct leaks_found found = {0};

    for (size_t i = 0; i < gate->recording_count; i++)
        find_leaks(gate, verdict, i, judged[i], &found);
    tell_leaks(gate, verdict);
    if (is_by_window(gate, verdict))
        doubt = NULL;
    else if (!doubt && told_count(verdict) == told_before)
        tell_no_failure(gate, verdict, &found, no_leak_words(gate, &verdict->arena, &found));
    /* What is suppressed says nothing of the rest. */
    if (doubt && verdict->counts[CASE_FAILED] == failed_before)
        tell_unsure(gate, verdict, doubt);
    tell_unused(gate, verdict);
}

static void judge_recordings(const struct gate *gate, struct gate_verdict *verdict)
{
    const struct verdict **judged = calloc(gate->recording_count + 1, sizeof(*judged));
    size_t count = 0;

    for (; judged && count < gate->recording_count; count++) {
        judged[count] = verdict_borrow(&gate->recordings[count].question);
        if (!judged[count])
            break;
    }
    if (judged && count == gate->recording_count)
        judge_read(gate, verdict, judged);
    else
        verdict->arena.has_failed = true;
    for (size_t i = 0; i < count; i++)
        verdict_give_back(&gate->recordings[i].question, judged[i]);
    free(judged);
}

/* The first repeat that has something unjudged; NULL: none. */
static const char *unjudged_of(const struct gate *gate)
{
    for (size_t i = 0; i < gate->recording_count; i++)
        if (gate->recordings[i].unjudged)
            return gate->recordings[i].unjudged;
    return NULL;
}

/* What leaks was judged where the recordings lay. */
static void judge_summaries(const struct gate *gate, struct gate_verdict *verdict)
{
    size_t told_before = told_count(verdict);
    const char *unjudged = unjudged_of(gate);
    struct leaks_found found = {0};

    for (size_t i = 0; i < gate->recording_count; i++)
        summary_leaks_find(gate, verdict, i, &found);
    tell_leaks(gate, verdict);
    tell_unused(gate, verdict);
    if (told_count(verdict) > told_before)
        return;
    if (unjudged) {
        tell_unsure(gate, verdict,
                    sentence(&verdict->arena, "leaks cannot be judged on %s", unjudged));
        return;
    }
    tell_no_failure(gate, verdict, &found,
                    sentence(&verdict->arena, "no leak on any rank: %zu sites judged",
                             gate->recordings[0].judged_count));
}

void judge_leaks(const struct gate *gate, struct gate_verdict *verdict)
{
    if (!gate->policy->leak.is_asked)
        return;
    if (gate->recordings[0].summary) {
        judge_summaries(gate, verdict);
        return;
    }
    if (is_by_window(gate, verdict))
        judge_window(gate, verdict);
    judge_recordings(gate, verdict);
}
