/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of a verdict, and the requirements that come before all limits.
 */
#include "judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "labels.h"
#include "leaktide/invariant.h"
#include "missing.h"
#include "sentence.h"

const char *amount_label(struct arena *arena, enum rule_kind kind, uint64_t amount)
{
    return kind_is_share(kind) ? label_share(arena, amount) : label_size(arena, amount);
}

const char *pool_words(struct arena *arena, const char *pool, const char *device)
{
    return strchr(device, ':') ? sentence(arena, "%s on %s", pool, device) : pool;
}

void gate_add(struct gate_verdict *verdict, const struct gate_case *row)
{
    struct gate_case *added = table_add(&verdict->cases);

    if (!added)
        return;
    *added = *row;
    if (!added->where.label)
        added->where = place_none();
    verdict->counts[row->outcome]++;
}

static const char complete_rule[] = "trace_complete";

static const char *what_is_missing(const struct recording *recording, struct arena *texts)
{
    return recording->summary ? recording->missing
                              : missing_words(tally_model(recording->question.tally), texts);
}

static void judge_completeness(const struct gate *gate, struct gate_verdict *verdict)
{
    struct arena *texts = &verdict->arena;

    for (size_t i = 0; i < gate->recording_count; i++) {
        const struct recording *recording = &gate->recordings[i];
        struct gate_case row = {
            .rule = complete_rule,
            .key = arena_format(texts, "require/trace_complete%s%s",
                                gate->recording_count > 1 ? "/" : "",
                                gate->recording_count > 1 ? recording->path : ""),
            .name = gate->recording_count > 1
                        ? sentence(texts, "recording %s complete", recording->path)
                        : translated("recording complete"),
            .outcome = recording->is_complete ? CASE_PASSED : CASE_INCOMPLETE,
        };

        row.sentence = recording->is_complete
                           ? sentence(texts, "%s is complete", recording->path)
                           : sentence(texts, "%s is not complete: %s; leaktide info says more",
                                      recording->path, what_is_missing(recording, texts));
        gate_add(verdict, &row);
    }
}

static void judge_step_count(const struct gate *gate, struct gate_verdict *verdict)
{
    struct arena *texts = &verdict->arena;
    uint64_t needed = (uint64_t)gate->policy->require.steps_min;
    bool is_enough = verdict->step_count >= needed;
    struct gate_case row = {
        .rule = "steps_min",
        .key = "require/steps_min",
        .name = translated("steps recorded"),
        .policy_line = gate->policy->require.steps_line,
        .outcome = is_enough ? CASE_PASSED : CASE_UNSURE,
        .unit = "steps",
        .value = verdict->step_count,
        .has_limit = true,
        .limit = needed,
    };

    row.sentence = is_enough
                       ? sentence(texts, "%" PRIu32 " steps were recorded, %" PRIu64 " are needed",
                                  verdict->step_count, needed)
                       : sentence(texts,
                                  "only %" PRIu32 " of the %" PRIu64
                                  " steps that are needed were recorded: run the job longer",
                                  verdict->step_count, needed);
    gate_add(verdict, &row);
}

/* What is not there might have been over the limit. */
static void doubt_what_passed(struct gate_verdict *verdict)
{
    for (size_t i = 0; i < verdict->cases.count; i++) {
        struct gate_case *row = table_at(&verdict->cases, i);

        if (row->outcome != CASE_PASSED || strcmp(row->rule, complete_rule) == 0)
            continue;
        verdict->counts[CASE_PASSED]--;
        verdict->counts[CASE_UNSURE]++;
        row->outcome = CASE_UNSURE;
        row->sentence = sentence(&verdict->arena, "%s; but not all could be read", row->sentence);
    }
}

/* Of the process that did most. */
static uint32_t steps_of(const struct recording *recording)
{
    const struct summary *summary = recording->summary;
    uint64_t most = 0;

    if (!summary)
        return growth_longest_steps(&recording->question).last;
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++)
        if (summary_bytes(summary, COLUMN_ranks_step_count, row) > most)
            most = summary_bytes(summary, COLUMN_ranks_step_count, row);
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static uint32_t fewest_steps(const struct gate *gate)
{
    uint32_t fewest = UINT32_MAX;

    for (size_t i = 0; i < gate->recording_count; i++) {
        uint32_t count = steps_of(&gate->recordings[i]);

        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

enum mt_result gate_judge(const struct gate *gate, struct gate_verdict **out,
                          struct mt_error *error)
{
    struct gate_verdict *verdict = calloc(1, sizeof(*verdict));

    if (!verdict)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    arena_init(&verdict->arena);
    table_init(&verdict->cases, &verdict->arena, sizeof(struct gate_case));
    table_init(&verdict->leaks, &verdict->arena, sizeof(struct gate_leak));
    measures_init(&verdict->measures, gate->recording_count);
    verdict->policy_path = arena_copy(&verdict->arena, gate->policy->path);
    verdict->baseline_path =
        gate->baseline ? arena_copy(&verdict->arena, gate->baseline->path) : NULL;
    verdict->recording_path = arena_copy(
        &verdict->arena,
        gate->recording_count && gate->recordings[0].path ? gate->recordings[0].path : "");
    verdict->recording_count = gate->recording_count;
    verdict->step_count = fewest_steps(gate);
    for (size_t i = 0; i < gate->recording_count; i++) {
        if (gate->recordings[i].summary)
            measures_add_summary(&verdict->measures, gate->recordings[i].summary, i);
        else
            measures_add(&verdict->measures, &gate->recordings[i].question, i);
    }
    if (gate->policy->require.is_complete_needed)
        judge_completeness(gate, verdict);
    if (gate->policy->require.steps_min)
        judge_step_count(gate, verdict);
    judge_limits(gate, verdict);
    judge_leaks(gate, verdict);
    if (verdict->counts[CASE_INCOMPLETE])
        doubt_what_passed(verdict);
    if (verdict->arena.has_failed || verdict->measures.arena.has_failed) {
        gate_verdict_destroy(verdict);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    }
    if (MT_ASSERTS)
        gate_verdict_check(verdict);
    *out = verdict;
    return MT_OK;
}

void gate_verdict_destroy(struct gate_verdict *verdict)
{
    if (!verdict)
        return;
    measures_release(&verdict->measures);
    arena_release(&verdict->arena);
    free(verdict);
}

size_t gate_case_count(const struct gate_verdict *verdict)
{
    return verdict->cases.count;
}

const struct gate_case *gate_case_at(const struct gate_verdict *verdict, size_t index)
{
    return table_at(&verdict->cases, index);
}

static const struct {
    const char *word, *name;
} outcomes[CASE_OUTCOME_COUNT] = {
    [CASE_PASSED] = {"passed", "passed"},
    [CASE_SUPPRESSED] = {"suppressed", "suppressed"},
    [CASE_REMARK] = {"remark", "remark"},
    [CASE_UNSURE] = {"unsure", "cannot judge"},
    [CASE_INCOMPLETE] = {"incomplete", "incomplete"},
    [CASE_FAILED] = {"failed", "FAILED"},
};

const char *case_outcome_word(enum case_outcome outcome)
{
    return outcomes[outcome].word;
}

const char *case_outcome_name(enum case_outcome outcome)
{
    return outcomes[outcome].name;
}

const char *case_name(const struct gate_case *row)
{
    return row->name ? row->name : row->key;
}
