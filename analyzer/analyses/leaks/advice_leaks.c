/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about one site that leaks: by which of its blocks stay, and in which steps.
 */
#include <inttypes.h>
#include <string.h>

#include "growth_weight.h"
#include "labels.h"
#include "leak_advice.h"
#include "leak_finding.h"
#include "leak_words.h"
#include "sentence.h"
#include "survivor_parts.h"

/* Of the peak, what had leaked by then: no more than was there. */
static uint64_t leaked_at_peak(const struct evidence *evidence)
{
    uint64_t held_bytes =
        origin_at_peak(evidence->question->tally, evidence->leak->row->origin).bytes;
    uint64_t leaked_bytes = evidence->leak->row->judgement.is_one_growing_block
                                ? evidence->leak->bytes
                                : evidence->leak->row->judgement.overdue_bytes;

    return held_bytes < leaked_bytes ? held_bytes : leaked_bytes;
}

static void add_leak(const struct rule *rule, const struct evidence *evidence,
                     struct advices *advices, const char *finding)
{
    struct advice *advice = advice_add(advices, rule, finding, leaked_at_peak(evidence), true);

    if (advice)
        advice->saves_bytes_per_step = evidence->leak->row->judgement.growth_per_step;
}

static const char *who(const struct evidence *evidence)
{
    return evidence->leak->name;
}

static void look_for_growing_block(const struct rule *rule, const struct evidence *evidence,
                                   struct advices *advices)
{
    struct rule on_host = *rule;

    if (!evidence->leak || !evidence->leak->row->judgement.is_one_growing_block)
        return;
    on_host.what_to_do =
        translated("look at the list, table or buffer that only grows there: begin "
                   "it anew now and then, or write it out");
    add_leak(growth_is_heap(evidence->question->tally, evidence->leak->row->origin->ledger)
                 ? &on_host
                 : rule,
             evidence, advices,
             report_text(evidence->report,
                         "%s makes its block anew in each step, each time "
                         "larger",
                         who(evidence)));
}

/* A step in two or less. */
static void look_for_leak_in_some_steps(const struct rule *rule, const struct evidence *evidence,
                                        struct advices *advices)
{
    struct births_seen seen = {.stretch = 0};

    if (evidence->leak)
        seen = growth_births(evidence->leak->row);
    if (seen.stretch && seen.with_survivors * 2 <= seen.stretch_count)
        add_leak(rule, evidence, advices,
                 report_text(evidence->report, "only %s left blocks of %s",
                             leak_births(report_arena(evidence->report), evidence->leak->row),
                             who(evidence)));
}

/* What the last step makes is freed when the program ends, or was not seen to be: no evidence. */
static uint64_t blocks_of_a_step(const struct judged *leak, uint64_t made_count)
{
    return (made_count + leak->steps.last - 1) / leak->steps.last;
}

bool leak_keeps_all(const struct question *question, const struct judged *leak)
{
    uint64_t count = survivor_parts_of(question, leak).made_count;

    return leak->survivor_count + blocks_of_a_step(leak, count) >= count;
}

static void look_for_leak_of_some_blocks(const struct rule *rule, const struct evidence *evidence,
                                         struct advices *advices)
{
    const struct judged *leak;
    uint64_t count;

    if (!evidence->leak)
        return;
    leak = evidence->leak->row;
    count = survivor_parts_of(evidence->question, leak).made_count;
    if (leak->survivor_count + blocks_of_a_step(leak, count) < count)
        add_leak(rule, evidence, advices,
                 report_text(evidence->report, "%s of %s that %s made were never freed",
                             label_count(report_arena(evidence->report), leak->survivor_count),
                             label_counted(report_arena(evidence->report), count, "block"),
                             who(evidence)));
}

static void look_for_leak_of_all_blocks(const struct rule *rule, const struct evidence *evidence,
                                        struct advices *advices)
{
    const struct leak *leak = evidence->leak;
    struct rule with_release = *rule;
    const struct ledger *ledger;
    const struct pool *pool;

    if (!leak)
        return;
    ledger = tally_ledger_at(evidence->question->tally, leak->ledger);
    pool = model_pool_at(evidence->question->model, ledger->pool);
    with_release.what_to_do = report_text(evidence->report, pool->release, pool->release_call);
    add_leak(&with_release, evidence, advices,
             report_text(evidence->report, "no block that %s made was ever freed", who(evidence)));
}

/* The first that has its evidence is the one that speaks. */
static const struct rule leak_rules[] = {
    {"one growing block",
     "do not append to device memory in each step: collect on the host (.item(), .cpu()), or write "
     "it out and begin anew now and then",
     look_for_growing_block, false},
    {"leak in some steps",
     "look at what only these steps do (logging, evaluation, checkpoints, a rare branch), and "
     "release there what it keeps",
     look_for_leak_in_some_steps, false},
    {"leak of some blocks",
     "look for what differs when a block is kept: an early return, an exception, a list, a cache "
     "or "
     "a graph that still refers to it",
     look_for_leak_of_some_blocks, false},
    {"leak of all blocks", NULL, look_for_leak_of_all_blocks, false},
    {NULL, NULL, NULL, false},
};

bool advice_for_leak(const struct question *question, struct report *report,
                     const struct leak *leak, struct advice *advice)
{
    struct evidence evidence = {.question = question, .report = report, .leak = leak};
    struct advices advices;

    advices_collect_first(&evidence, leak_rules, &advices);
    if (advices.count)
        *advice = advices.rows[0];
    return advices.count > 0;
}
