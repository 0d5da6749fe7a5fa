/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of a verdict, and the requirements that come before all limits.
 */
#include "judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "harmless.h"
#include "text_builder.h"

static const char *keep(struct gate_verdict *verdict, struct text_builder *text)
{
    const char *copy =
        text->has_failed ? NULL : arena_text(&verdict->arena, text_get(text), text->size_bytes);

    if (!copy)
        verdict->has_failed = true;
    text_release(text);
    return copy ? copy : "";
}

const char *gate_text(struct gate_verdict *verdict, const char *format, ...)
{
    va_list arguments, again;
    int length;
    char *text;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = length < 0 ? NULL : arena_alloc(&verdict->arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    else
        verdict->has_failed = true;
    va_end(again);
    return text ? text : "";
}

const char *gate_spelled(struct gate_verdict *verdict, const char *name)
{
    struct text_builder text;

    text_init(&text);
    text_add_harmless(&text, FOR_TERMINAL, name);
    return keep(verdict, &text);
}

const char *gate_size(struct gate_verdict *verdict, uint64_t bytes)
{
    struct text_builder text;

    text_init(&text);
    text_add_size(&text, bytes);
    return keep(verdict, &text);
}

const char *gate_change(struct gate_verdict *verdict, uint64_t from, uint64_t to)
{
    struct text_builder text;

    text_init(&text);
    text_add(&text, to < from ? "-" : "+");
    text_add_size(&text, to < from ? from - to : to - from);
    return keep(verdict, &text);
}

const char *gate_amount(struct gate_verdict *verdict, enum rule_kind kind, uint64_t amount)
{
    if (!kind_is_share(kind))
        return gate_size(verdict, amount);
    return gate_text(verdict, "%" PRIu64 ".%02" PRIu64 " %%", amount / 100, amount % 100);
}

void gate_add(struct gate_verdict *verdict, const struct gate_case *row)
{
    struct gate_case *added = table_add(&verdict->cases);

    if (!added) {
        verdict->has_failed = true;
        return;
    }
    *added = *row;
    if (!added->where.label)
        added->where = (struct place_in_code){"", "", "", 0};
    verdict->counts[row->outcome]++;
}

static void judge_completeness(const struct gate *gate, struct gate_verdict *verdict)
{
    for (size_t i = 0; i < gate->recording_count; i++) {
        const struct recording *recording = &gate->recordings[i];
        struct gate_case row = {
            .rule = "trace_complete",
            .key = gate_text(verdict, "require/trace_complete%s%s",
                             gate->recording_count > 1 ? "/" : "",
                             gate->recording_count > 1 ? recording->path : ""),
            .outcome = recording->is_complete ? CASE_PASSED : CASE_INCOMPLETE,
        };

        if (recording->is_complete)
            row.sentence = gate_text(verdict, "%s is complete", recording->path);
        else if (recording->lost_count)
            row.sentence =
                gate_text(verdict,
                          "%s is not complete: %" PRIu64 " events were lost; leaktide info "
                          "says why",
                          recording->path, recording->lost_count);
        else
            row.sentence = gate_text(verdict,
                                     "%s is not complete: a part of it cannot be read; leaktide "
                                     "info says which",
                                     recording->path);
        gate_add(verdict, &row);
    }
}

static void judge_step_count(const struct gate *gate, struct gate_verdict *verdict)
{
    uint64_t needed = (uint64_t)gate->policy->require.steps_min;
    bool is_enough = verdict->step_count >= needed;
    struct gate_case row = {
        .rule = "steps_min",
        .key = "require/steps_min",
        .policy_line = gate->policy->require.steps_line,
        .outcome = is_enough ? CASE_PASSED : CASE_UNSURE,
        .unit = "steps",
        .value = verdict->step_count,
        .has_limit = true,
        .limit = needed,
    };

    row.sentence =
        is_enough ? gate_text(verdict, "%" PRIu32 " steps were recorded, %" PRIu64 " are needed",
                              verdict->step_count, needed)
                  : gate_text(verdict,
                              "only %" PRIu32 " of the %" PRIu64
                              " steps that are needed were recorded: run the job longer",
                              verdict->step_count, needed);
    gate_add(verdict, &row);
}

static uint32_t fewest_steps(const struct gate *gate)
{
    uint32_t fewest = UINT32_MAX;

    for (size_t i = 0; i < gate->recording_count; i++) {
        uint32_t count = growth_longest_steps(&gate->recordings[i].question).last;

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
    verdict->policy_path = gate_text(verdict, "%s", gate->policy->path);
    verdict->baseline_path = gate->baseline ? gate_text(verdict, "%s", gate->baseline->path) : NULL;
    verdict->recording_count = gate->recording_count;
    verdict->step_count = fewest_steps(gate);
    for (size_t i = 0; i < gate->recording_count; i++)
        measures_add(&verdict->measures, &gate->recordings[i].question, i);
    if (gate->policy->require.is_complete_needed)
        judge_completeness(gate, verdict);
    if (gate->policy->require.steps_min)
        judge_step_count(gate, verdict);
    judge_limits(gate, verdict);
    judge_leaks(gate, verdict);
    if (verdict->has_failed || verdict->measures.has_failed) {
        gate_verdict_destroy(verdict);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    }
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
