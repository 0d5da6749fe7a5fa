/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be true of a policy that was read, of a baseline, of measures, and of a verdict.
 */
#include <string.h>

#include "judge.h"
#include "leaktide/invariant.h"

static void rule_check(const struct policy_rule *rule)
{
    MT_ASSERT(rule->kind < RULE_KIND_COUNT);
    MT_ASSERT(rule->line);
    MT_ASSERT(rule->device && rule->pool && rule->name);
    MT_ASSERT(rule->has_max || rule->has_relative);
}

void policy_check(const struct policy *policy)
{
    bool has_relative = false;

    MT_ASSERT(policy->require.steps_min >= 0);
    MT_ASSERT(!policy->require.steps_min || policy->require.steps_line);
    MT_ASSERT(policy->require.warm_up_steps >= -1);
    MT_ASSERT(policy->leak.chance_max >= 0 && policy->leak.chance_max <= 1);
    MT_ASSERT(policy->leak.window_line || !policy->leak.window_growth);
    MT_ASSERT(policy->leak.line || !policy->leak.is_asked);
    for (const struct policy_rule *rule = policy->rules; rule; rule = rule->next) {
        rule_check(rule);
        has_relative = has_relative || rule->has_relative;
    }
    MT_ASSERT(policy->has_relative == has_relative);
}

void baseline_check(const struct baseline_file *baseline)
{
    MT_ASSERT(baseline->path);
    for (size_t i = 0; i < baseline->rows.count; i++) {
        const struct baseline_row *row = table_at(&baseline->rows, i);

        MT_ASSERT(row->key && *row->key);
        MT_ASSERT(row->name);
        MT_ASSERT(row->line);
    }
}

static void measure_check(const struct measures *measures, const struct measure *row)
{
    bool is_known = false;

    MT_ASSERT(row->key && *row->key);
    MT_ASSERT(measures_find(measures, row->key) == row);
    MT_ASSERT(row->device && row->pool && row->name);
    MT_ASSERT(row->where.label && row->where.function && row->where.file);
    MT_ASSERT(row->kind < RULE_KIND_COUNT);
    for (size_t i = 0; i < measures->repeat_count; i++)
        is_known = is_known || row->is_known[i];
    MT_ASSERT(is_known);
}

void measures_check(const struct measures *measures)
{
    MT_ASSERT(measures->index.count == measures->rows.count);
    for (size_t i = 0; i < measures->rows.count; i++)
        measure_check(measures, measures_at(measures, i));
}

static void case_check(const struct gate_case *row)
{
    MT_ASSERT(row->rule && *row->rule);
    MT_ASSERT(row->key && *row->key);
    MT_ASSERT(row->sentence && *row->sentence);
    MT_ASSERT(!row->name || *row->name);
    MT_ASSERT(row->has_limit || !row->has_base);
    MT_ASSERT(row->outcome < CASE_OUTCOME_COUNT);
    MT_ASSERT(row->where.label && row->where.function && row->where.file);
    MT_ASSERT(row->unit || (!row->has_limit && !row->has_base));
}

static void leak_check(const struct gate_verdict *verdict, const struct gate_leak *leak)
{
    MT_ASSERT(leak->key && *leak->key);
    MT_ASSERT(leak->repeat_count && leak->repeat_count <= verdict->recording_count);
    MT_ASSERT(leak->last_repeat < verdict->recording_count);
    MT_ASSERT(!leak->suppression || leak->suppression->use_count);
}

void gate_verdict_check(const struct gate_verdict *verdict)
{
    size_t counts[CASE_OUTCOME_COUNT] = {0};

    MT_ASSERT(verdict->policy_path);
    MT_ASSERT(verdict->recording_path);
    MT_ASSERT(verdict->measures.repeat_count == verdict->recording_count);
    for (size_t i = 0; i < verdict->cases.count; i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        case_check(row);
        counts[row->outcome]++;
    }
    MT_ASSERT(memcmp(counts, verdict->counts, sizeof(counts)) == 0);
    for (size_t i = 0; i < verdict->leaks.count; i++)
        leak_check(verdict, table_at(&verdict->leaks, i));
    measures_check(&verdict->measures);
}
