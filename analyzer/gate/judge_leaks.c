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
#include "leak_doubt.h"
#include "leak_words.h"
#include "origins.h"
#include "sentence.h"
#include "survivor_answers.h"
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

/* One leak of one recording. */
struct leak_seen {
    const char *sentence;
    struct who who;
    uint16_t ledger;
    bool is_cache, is_by_turn;
    uint64_t growth_per_step, alive_bytes;
};

static const char *key_of(struct gate_verdict *verdict, const struct question *question,
                          const struct leak_seen *seen)
{
    struct arena *texts = &verdict->arena;
    const struct ledger *ledger = tally_ledger_at(question->tally, seen->ledger);
    const char *pool =
        model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));

    return arena_format(texts, "%s/%s/leak/%016" PRIx64,
                        device_name(texts, question->model, ledger), key_name(texts, pool),
                        origin_id(question, &seen->who));
}

static void add_leak(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                     const struct leak_seen *seen)
{
    struct arena *texts = &verdict->arena;
    const struct question *question = &gate->recordings[repeat].question;
    const struct ledger *ledger = tally_ledger_at(question->tally, seen->ledger);
    struct gate_leak *row = gate_leak_for(verdict, key_of(verdict, question, seen));

    if (!row)
        return;
    if (!row->repeat_count || row->last_repeat != repeat)
        row->repeat_count++;
    row->last_repeat = repeat;
    row->device = device_name(texts, question->model, ledger);
    row->pool = arena_copy(
        texts, model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
    row->is_cache = seen->is_cache;
    row->is_by_turn = seen->is_by_turn;
    if (!row->where.label || seen->growth_per_step > row->growth_per_step) {
        row->growth_per_step = seen->growth_per_step;
        row->sentence = seen->sentence;
        row->where = place_of(question, texts, seen->who);
    }
    if (seen->alive_bytes > row->alive_bytes)
        row->alive_bytes = seen->alive_bytes;
    if (!row->suppression)
        row->suppression = suppression_of(gate, question, seen->who);
}

/* How many origins were judged. */
static size_t find_in_steps(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                            const struct survivors *survivors)
{
    const struct question *question = &gate->recordings[repeat].question;
    struct judged_list list = {0};
    struct origins origins;
    size_t judged_count;

    if (!origins_init(&origins, question, ORIGINS_BY_SIZE)) {
        verdict->arena.has_failed = true;
        return 0;
    }
    if (!growth_judge(question, &origins, survivors, &list))
        verdict->arena.has_failed = true;
    for (size_t i = 0; !verdict->arena.has_failed && i < list.count; i++) {
        const struct judged *row = &list.rows[i];
        struct leak_seen seen = {
            .who = row->origin->who,
            .ledger = row->origin->ledger,
            .is_cache = row->judgement.verdict == VERDICT_CACHE,
            .growth_per_step = row->judgement.growth_per_step,
            .alive_bytes = row->alive.bytes,
        };

        if (!is_over_the_limit(gate->policy, row) || growth_is_told(question->symbols, &list, i))
            continue;
        seen.sentence = seen.is_cache ? growth_sentence(question, &verdict->arena, row)
                                      : leak_sentence(question, &verdict->arena, &list, row);
        add_leak(gate, verdict, repeat, &seen);
    }
    judged_count = list.origin_count;
    growth_release(&list);
    origins_release(&origins);
    return judged_count;
}

/* --- without marks -----------------------------------------------------------------------------
 */

/* How many stacks were judged. */
static size_t find_survivors(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                             const struct survivors *survivors)
{
    const struct question *question = &gate->recordings[repeat].question;
    size_t judged_count = 0;

    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];

        size_t leak_count = survivors_leak_count(process);

        judged_count += process->active_count;
        for (size_t k = 0; k < leak_count; k++) {
            const struct survivor_origin *origin = &process->origins[k];
            struct leak_seen seen = {
                .who = origin->stacks[0].who,
                .ledger = origin->stacks[0].ledger,
                .is_by_turn = true,
                .growth_per_step = survivors_per_turn(process, origin),
                .alive_bytes = origin->bytes,
            };

            if (seen.growth_per_step < gate->policy->leak.slope_min)
                continue;
            seen.sentence = survivor_sentence(question, &verdict->arena, process, origin);
            add_leak(gate, verdict, repeat, &seen);
        }
    }
    return judged_count;
}

/* NULL: the recording was not read for them. */
static const struct survivors *survivors_of(const struct survivor_reading *const *readings,
                                            size_t repeat)
{
    return readings[repeat] ? survivor_reading_result(readings[repeat]) : NULL;
}

static size_t find_leaks(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                         const struct survivors *survivors)
{
    if (leak_stacks_decide(&gate->recordings[repeat].question, survivors))
        return find_survivors(gate, verdict, repeat, survivors);
    return find_in_steps(gate, verdict, repeat, survivors);
}

/* --- telling them ------------------------------------------------------------------------------
 */

static struct gate_case case_of(const struct gate *gate, struct gate_verdict *verdict,
                                const struct gate_leak *leak, enum case_outcome outcome)
{
    return (struct gate_case){
        .rule = "leak",
        .key = leak->key,
        .name = leak->is_cache ? sentence(&verdict->arena, "growing cache at %s", leak->where.label)
                               : sentence(&verdict->arena, "leak at %s", leak->where.label),
        .outcome = outcome,
        .policy_line = gate->policy->leak.line,
        .where = leak->where,
        .unit = leak->is_by_turn ? "bytes_per_turn" : "bytes_per_step",
        .value = leak->growth_per_step,
        .has_limit = true,
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

static void tell_no_leak(const struct gate *gate, struct gate_verdict *verdict, size_t judged_count,
                         bool has_survivors)
{
    struct arena *texts = &verdict->arena;
    struct judged_steps steps = growth_longest_steps(&gate->recordings[0].question);
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_PASSED,
                            .policy_line = gate->policy->leak.line};

    row.sentence =
        has_survivors
            ? sentence(texts,
                       "no leak: %zu stacks that allocate to the end judged, none leaves much",
                       judged_count)
            : sentence(texts, "no leak in steps %" PRIu32 " to %" PRIu32 ": %zu sites judged",
                       steps.warm_up + 1, steps.last, judged_count);
    gate_add(verdict, &row);
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

static void say_too_few_steps(const struct gate *gate, struct gate_verdict *verdict,
                              const struct question *question)
{
    struct judged_steps steps = growth_longest_steps(question);
    uint32_t judged = steps.last - steps.warm_up;
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_UNSURE,
                            .policy_line = gate->policy->leak.line};

    row.sentence =
        verdict->step_count
            ? sentence(&verdict->arena,
                       "leaks cannot be judged: %" PRIu32 " judged steps, %" PRIu32
                       " are needed: run the job longer",
                       judged, growth_steps_needed(question))
            : translated("leaks cannot be judged: the recording has no steps; mark them, or limit "
                         "[leak] window_growth");
    gate_add(verdict, &row);
}

/* The first doubt of any recording, and of which. */
static enum leak_doubt doubt_of(const struct gate *gate,
                                const struct survivor_reading *const *readings, size_t *recording)
{
    enum leak_doubt doubt = LEAK_DOUBT_NONE;

    for (size_t i = 0; doubt == LEAK_DOUBT_NONE && i < gate->recording_count; i++) {
        doubt = leak_doubt_of(&gate->recordings[i].question, survivors_of(readings, i));
        *recording = i;
    }
    return doubt;
}

static void judge_read(const struct gate *gate, struct gate_verdict *verdict,
                       const struct survivor_reading *const *readings)
{
    size_t judged_count = 0, doubted = 0,
           told_before = verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED];
    enum leak_doubt doubt = doubt_of(gate, readings, &doubted);
    bool has_survivors = false;

    if (doubt == LEAK_DOUBT_STEPS) {
        say_too_few_steps(gate, verdict, &gate->recordings[doubted].question);
        return;
    }
    if (doubt == LEAK_DOUBT_BLOCKS) {
        say_no_blocks(gate, verdict, &gate->recordings[doubted]);
        return;
    }
    for (size_t i = 0; i < gate->recording_count; i++) {
        const struct survivors *survivors = survivors_of(readings, i);

        has_survivors |= leak_stacks_decide(&gate->recordings[i].question, survivors);
        judged_count = find_leaks(gate, verdict, i, survivors);
    }
    tell_leaks(gate, verdict);
    if (verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED] == told_before) {
        if (doubt != LEAK_DOUBT_NONE)
            tell_unsure(gate, verdict, leak_doubt_reason(doubt));
        else
            tell_no_leak(gate, verdict, judged_count, has_survivors);
    }
    tell_unused(gate, verdict);
}

/* Where it tells more than steps. For survivor_reading_destroy(). */
static bool read_survivors(const struct gate *gate, struct survivor_reading **readings)
{
    for (size_t i = 0; i < gate->recording_count; i++) {
        if (!growth_needs_survivors(&gate->recordings[i].question))
            continue;
        readings[i] = survivors_read(&gate->recordings[i].question);
        if (!readings[i])
            return false;
    }
    return true;
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
    size_t told_before = verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED];
    const char *unjudged = unjudged_of(gate);
    struct gate_case row = {.rule = "leak",
                            .key = "leak",
                            .name = translated("leaks"),
                            .outcome = CASE_PASSED,
                            .policy_line = gate->policy->leak.line};

    for (size_t i = 0; i < gate->recording_count; i++)
        summary_leaks_find(gate, verdict, i);
    tell_leaks(gate, verdict);
    tell_unused(gate, verdict);
    if (verdict->counts[CASE_FAILED] + verdict->counts[CASE_SUPPRESSED] > told_before)
        return;
    if (unjudged) {
        tell_unsure(gate, verdict,
                    sentence(&verdict->arena, "leaks cannot be judged on %s", unjudged));
        return;
    }
    row.sentence = sentence(&verdict->arena, "no leak on any rank: %zu sites judged",
                            gate->recordings[0].judged_count);
    gate_add(verdict, &row);
}

void judge_leaks(const struct gate *gate, struct gate_verdict *verdict)
{
    struct survivor_reading **readings;

    if (!gate->policy->leak.is_asked)
        return;
    if (gate->recordings[0].summary) {
        judge_summaries(gate, verdict);
        return;
    }
    if (!verdict->step_count && gate->policy->leak.window_line) {
        judge_window(gate, verdict);
        return;
    }
    readings = calloc(gate->recording_count + 1, sizeof(struct survivor_reading *));
    if (readings && read_survivors(gate, readings))
        judge_read(gate, verdict, (const struct survivor_reading *const *)readings);
    else
        verdict->arena.has_failed = true;
    for (size_t i = 0; readings && i < gate->recording_count; i++)
        survivor_reading_destroy(readings[i]);
    free(readings);
}
