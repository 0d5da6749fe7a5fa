/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of gates: gate_check.c.
 */
#include <stdint.h>
#include <string.h>

#include "death.h"
#include "hash.h"
#include "judge.h"

static struct policy policy;
static struct policy_rule rule;
static struct baseline_file baseline;
static struct baseline_row *base;
static struct gate_verdict verdict;
static struct measures *measures;
static struct measure *measure;
static struct gate_case *row;
static struct gate_leak *leak;

static void make_policy(void)
{
    rule = (struct policy_rule){
        .line = 2, .device = "*", .pool = "*", .name = "*", .has_max = true, .max = 1};
    policy = (struct policy){.path = "policy.toml", .rules = &rule};
    policy.leak.chance_max = 0.01;
    policy_check(&policy);
    arena_init(&baseline.arena);
    table_init(&baseline.rows, &baseline.arena, sizeof(struct baseline_row));
    baseline.path = "job.base";
    base = table_add(&baseline.rows);
    *base = (struct baseline_row){.key = "npu:0/pta/peak_live", .name = "", .line = 2};
    baseline_check(&baseline);
}

static void make_measures(void)
{
    static uint64_t values[1];
    static bool is_known[1] = {true};
    static const char key[] = "npu:0/pta/peak_live";

    measures = &verdict.measures;
    measures_init(measures, 1);
    measure = table_add(&measures->rows);
    *measure = (struct measure){.key = key,
                                .device = "npu:0",
                                .pool = "pta",
                                .name = "",
                                .where = {"", "", "", 0},
                                .values = values,
                                .is_known = is_known};
    hash_index_add(&measures->index, hash_bytes(key, strlen(key)), 0);
    measures_check(measures);
}

static void make_verdict(void)
{
    arena_init(&verdict.arena);
    table_init(&verdict.cases, &verdict.arena, sizeof(struct gate_case));
    table_init(&verdict.leaks, &verdict.arena, sizeof(struct gate_leak));
    make_measures();
    verdict.policy_path = "policy.toml";
    verdict.recording_path = "run";
    verdict.recording_count = 1;
    row = table_add(&verdict.cases);
    *row = (struct gate_case){.rule = "leak",
                              .key = "leak/1",
                              .sentence = "It grows.",
                              .outcome = CASE_FAILED,
                              .where = {"", "", "", 0}};
    verdict.counts[CASE_FAILED] = 1;
    leak = table_add(&verdict.leaks);
    *leak = (struct gate_leak){.key = "leak/1", .repeat_count = 1};
    gate_verdict_check(&verdict);
}

#define POLICY(name, ...)  DAMAGE(make_policy, name, __VA_ARGS__; policy_check(&policy))
#define BASE(name, ...)    DAMAGE(make_policy, name, __VA_ARGS__; baseline_check(&baseline))
#define MEASURE(name, ...) DAMAGE(make_measures, name, __VA_ARGS__; measures_check(measures))
#define VERDICT(name, ...) DAMAGE(make_verdict, name, __VA_ARGS__; gate_verdict_check(&verdict))

POLICY(rule_kind, rule.kind = RULE_KIND_COUNT)
POLICY(rule_line, rule.line = 0)
POLICY(rule_name, rule.name = NULL)
POLICY(rule_of_no_limit, rule.has_max = false)
POLICY(steps_min, policy.require.steps_min = -1)
POLICY(steps_line, policy.require.steps_min = 8)
POLICY(warm_up_steps, policy.require.warm_up_steps = -2)
POLICY(chance_max, policy.leak.chance_max = 1.5)
POLICY(window_growth, policy.leak.window_growth = 1)
POLICY(leak_line, policy.leak.is_asked = true)
POLICY(has_relative, policy.has_relative = true)
BASE(baseline_path, baseline.path = NULL)
BASE(baseline_key, base->key = "")
BASE(baseline_name, base->name = NULL)
BASE(baseline_line, base->line = 0)
MEASURE(measure_key, measure->key = "")
MEASURE(measure_not_found, measure->key = "npu:1/pta/peak_live")
MEASURE(measure_device, measure->device = NULL)
MEASURE(measure_place, measure->where.file = NULL)
MEASURE(measure_kind, measure->kind = RULE_KIND_COUNT)
MEASURE(measure_unknown, measure->is_known[0] = false)
MEASURE(measure_index, measures->index.count++)
VERDICT(case_name_empty, row->name = "")
VERDICT(case_base, row->has_base = true; row->unit = "bytes")
VERDICT(recording_path, verdict.recording_path = NULL)
VERDICT(case_rule, row->rule = "")
VERDICT(case_key, row->key = NULL)
VERDICT(case_sentence, row->sentence = "")
VERDICT(case_outcome, row->outcome = CASE_OUTCOME_COUNT)
VERDICT(case_place, row->where.label = NULL)
VERDICT(case_unit, row->has_limit = true)
VERDICT(leak_key, leak->key = "")
VERDICT(leak_repeats, leak->repeat_count = 2)
VERDICT(leak_last_repeat, leak->last_repeat = 1)
VERDICT(leak_suppression, leak->suppression = &(struct suppression){.pattern = "x"})
VERDICT(policy_path, verdict.policy_path = NULL)
VERDICT(repeats, verdict.recording_count = 2)
VERDICT(leak_over_its_limit, leaks_found_note(&(struct leaks_found){0}, LEAK_OVER, ""))
VERDICT(outcome_counts, verdict.counts[CASE_PASSED] = 1)

int main(void)
{
    return deaths_run();
}
