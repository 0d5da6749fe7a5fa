/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, and how their advice is said.
 */
#include "advice_rules.h"

#include <stdlib.h>
#include <string.h>

#include "advice_looks.h"
#include "labels.h"

/* Of leaks and of failures, the first that has its evidence is the one that speaks. */
static const struct rule rules[] = {
    {"one growing block",
     "do not append to device memory in each step: collect on the host (.item(), .cpu()), or write "
     "it out and begin anew now and then",
     ADVICE_ON_LEAKS, advice_look_for_growing_block},
    {"leak in some steps",
     "look at what only these steps do (logging, evaluation, checkpoints, a rare branch), and "
     "release there what it keeps",
     ADVICE_ON_LEAKS, advice_look_for_leak_in_some_steps},
    {"leak of some blocks",
     "look for what differs when a block is kept: an early return, an exception, a list, a cache "
     "or "
     "a graph that still refers to it",
     ADVICE_ON_LEAKS, advice_look_for_leak_of_some_blocks},
    {"leak of all blocks", NULL, ADVICE_ON_LEAKS, advice_look_for_leak_of_all_blocks},
    {"absurd request",
     "look at how its size is computed: bytes or elements, a wrong shape, a "
     "negative number taken as unsigned",
     ADVICE_ON_FAILURE, advice_look_for_absurd_request},
    {"growth until full", "stop this growth; leaktide leaks says whether it is a leak",
     ADVICE_ON_FAILURE, advice_look_for_growth_until_full},
    {"pieces too small",
     "let segments grow (expandable_segments:True), or keep blocks that stay away from those that "
     "go; leaktide frag says who keeps the segments",
     ADVICE_ON_FAILURE, advice_look_for_pieces_too_small},
    {"blocks that wait",
     "let fewer blocks wait for other streams: record_stream() late, or synchronise before large "
     "requests",
     ADVICE_ON_FAILURE, advice_look_for_waiting_blocks},
    {"too little memory",
     "make room: smaller batches, or what leaktide peak lists under what would lower it",
     ADVICE_ON_FAILURE, advice_look_for_too_little},
    {"unused at the peak", "allocate them at their first use and free them behind their last",
     ADVICE_ON_PEAK, advice_look_for_unused},
    {"gradients kept",
     "if these are gradients, drop them before the next forward pass: "
     "optimizer.zero_grad(set_to_none=True); if they are data, fetch less ahead",
     ADVICE_ON_PEAK, advice_look_for_gradients},
    {"activations",
     "compute some again on the way back instead of keeping them (torch.utils.checkpoint), or use "
     "smaller micro-batches",
     ADVICE_ON_PEAK, advice_look_for_activations},
    {"optimizer state", "share it out over the ranks (ZeRO, FSDP), or keep it in fewer bits",
     ADVICE_ON_PEAK, advice_look_for_optimizer_state},
    {"another setting", NULL, ADVICE_ON_POOLS, advice_look_for_model},
    {"holes",
     "let segments grow: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, "
     "PYTORCH_CUDA_ALLOC_CONF for CUDA",
     ADVICE_ON_POOLS, advice_look_for_holes},
    {"reserved and unused",
     "let segments grow, PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; "
     "a snapshot of the allocator tells whether these are holes",
     ADVICE_ON_POOLS, advice_look_for_cache},
    {"few blocks keep segments",
     "free these blocks, or make them first, or from a pool of their own: then the segments can be "
     "given back",
     ADVICE_ON_POOLS, advice_look_for_pins},
    {"given back and taken again", "call empty_cache less often, or not at all", ADVICE_ON_POOLS,
     advice_look_for_churn},
    {"workspace",
     "with TASK_QUEUE_ENABLE=1 workspace comes from the caching pool, where others "
     "use it in between",
     ADVICE_ON_POOLS | ADVICE_ON_PEAK, advice_look_for_workspace},
    {"communication buffers",
     "make HCCL_BUFFSIZE smaller (half of it saves half), or use fewer "
     "communicators",
     ADVICE_ON_DRIVER | ADVICE_ON_PEAK, advice_look_for_buffers},
    {"pinned host memory", "pin less: smaller buffers for offloading, fewer batches ahead",
     ADVICE_ON_DRIVER, advice_look_for_pinned},
    {"growth outside of the pools",
     "look for what this module is asked to do again and again: "
     "streams, events, graphs, communicators",
     ADVICE_ON_DRIVER, advice_look_for_module_growth},
};

struct advice *advice_add(struct advices *advices, const struct rule *rule, const char *finding,
                          uint64_t saves_bytes, bool is_at_most)
{
    struct advice *row = &advices->rows[advices->count];

    if (advices->count == ADVICES_MOST)
        return NULL;
    advices->count++;
    *row = (struct advice){.rule = rule->name,
                           .finding = finding,
                           .what_to_do = rule->what_to_do,
                           .saves_bytes = saves_bytes,
                           .is_at_most = is_at_most};
    return row;
}

static int by_saving(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;

    if (a->saves_bytes != b->saves_bytes)
        return a->saves_bytes > b->saves_bytes ? -1 : 1;
    return strcmp(a->finding, b->finding);
}

/* One finding, one advice: of these topics the first rule that speaks is the only one. */
static bool wants_one(unsigned topics)
{
    return topics == ADVICE_ON_LEAKS || topics == ADVICE_ON_FAILURE;
}

void advices_collect(const struct evidence *evidence, unsigned topics, struct advices *advices)
{
    advices->count = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (wants_one(topics) && advices->count)
            return;
        if (rules[i].topics & topics)
            rules[i].look(&rules[i], evidence, advices);
    }
    if (advices->count)
        qsort(advices->rows, advices->count, sizeof(advices->rows[0]), by_saving);
}

static const char *saving_of(struct report *report, const struct advice *advice)
{
    const char *bytes = "", *per_step = "";

    if (advice->saves_bytes)
        bytes = report_text(report, "%s%s", advice->is_at_most ? "at most " : "",
                            label_size(report, advice->saves_bytes));
    if (advice->saves_bytes_per_step)
        per_step =
            report_text(report, "%s per step", label_size(report, advice->saves_bytes_per_step));
    if (!*bytes && !*per_step)
        return "";
    return report_text(report, " It saves %s%s%s.", per_step,
                       *per_step && *bytes ? ", and of the peak " : "", bytes);
}

const char *advice_end(struct report *report, const struct advice *advice)
{
    return report_text(report, "DO: %s.%s", advice->what_to_do, saving_of(report, advice));
}

static void show(struct report *report, const struct advice *advice, int rank, bool is_spoken)
{
    const char *sentence =
        report_text(report, "SEEN: %s. %s", advice->finding, advice_end(report, advice));
    const struct fact facts[] = {
        {"rule", NULL, value_text(advice->rule)},
        {"saves_bytes", NULL,
         advice->saves_bytes ? value_bytes(advice->saves_bytes) : value_none()},
        {"is_at_most", NULL, value_number(VALUE_FLAG, advice->is_at_most)},
        {"what_to_do", NULL, value_text(advice->what_to_do)},
    };

    if (is_spoken)
        report_verdict(report, rank, "%s", sentence);
    report_finding(report, "advice", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

void advices_show(const struct advices *advices, struct report *report, int rank, size_t spoken)
{
    for (size_t i = 0; i < advices->count; i++)
        show(report, &advices->rows[i], rank, i < spoken);
}

void advices_add(const struct evidence *evidence, unsigned topics, int rank, size_t spoken)
{
    struct advices advices;

    advices_collect(evidence, topics, &advices);
    advices_show(&advices, evidence->report, rank, spoken);
}

bool advice_for_leak(const struct question *question, struct report *report,
                     const struct judged *leak, struct advice *advice)
{
    struct evidence evidence = {.question = question, .report = report, .leak = leak};
    struct advices advices;

    advices_collect(&evidence, ADVICE_ON_LEAKS, &advices);
    if (advices.count)
        *advice = advices.rows[0];
    return advices.count > 0;
}
