/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak, as a sentence and as a finding with all its figures.
 */
#include "leak_finding.h"

#include <inttypes.h>

#include "labels.h"
#include "leak_advice.h"
#include "leak_words.h"
#include "place.h"
#include "survivor_parts.h"
#include "text_builder.h"

static bool is_of_device(const struct question *question, const struct sample_row *row,
                         int32_t device, const char *end)
{
    return model_place_at(question->model, row->place).device == device &&
           ends_with(model_text_at(question->model, row->counter), end);
}

/* The least that the driver said to be free on the device of the ledger; 0: it never said. */
static uint64_t lowest_free_bytes(const struct question *question, const struct ledger *ledger)
{
    uint64_t lowest = UINT64_MAX;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (ledger->device >= 0 && is_of_device(question, row, ledger->device, " free") &&
            row->low_bytes < lowest)
            lowest = row->low_bytes;
    }
    return lowest == UINT64_MAX ? 0 : lowest;
}

/* Of the pool that takes from the driver, in all processes; a leak in a pool above it is there too,
 * or will be. */
static uint64_t highest_bytes(const struct question *question, const struct ledger *ledger)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *other = tally_ledger_at(question->tally, i);
        uint64_t held_bytes = other->reserved_peak_bytes > other->peak_bytes
                                  ? other->reserved_peak_bytes
                                  : other->peak_bytes;

        if (other->device == ledger->device && other->kind == LEDGER_MEMORY &&
            other->pool == ledger->pool)
            bytes += held_bytes;
    }
    return bytes;
}

/*
 * Samples are seldom, and miss the highest point of a step. What the device has is what was free
 * and what was used in a sample; less the highest that the pool is known to have had, it is what
 * can still be taken.
 */
static uint64_t room_bytes(const struct question *question, const struct ledger *ledger)
{
    uint64_t free_bytes = lowest_free_bytes(question, ledger), whole_bytes = 0;

    for (size_t i = 0; free_bytes && i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (is_of_device(question, row, ledger->device, " used") &&
            free_bytes + row->high_bytes > whole_bytes)
            whole_bytes = free_bytes + row->high_bytes;
    }
    if (!whole_bytes)
        return free_bytes;
    whole_bytes -= highest_bytes(question, ledger) < whole_bytes ? highest_bytes(question, ledger)
                                                                 : whole_bytes;
    return whole_bytes < free_bytes ? whole_bytes : free_bytes;
}

/* 0: not known. */
static uint64_t steps_until_full(const struct question *question, const struct judged *row)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, row->origin->ledger);

    if (!row->judgement.growth_per_step || ledger->kind != LEDGER_MEMORY || row->failed_step)
        return 0;
    return room_bytes(question, ledger) / row->judgement.growth_per_step;
}

const char *leak_horizon(const struct question *question, struct report *report,
                         const struct judged *row)
{
    uint64_t steps = steps_until_full(question, row);

    return steps ? report_text(report, "; the device is full in %s",
                               label_counted(report_arena(report), steps, "more step"))
                 : "";
}

/* Of the groups of an origin, the example that was born nearest to the middle of the run. */
static const struct group_past *example_of(const struct question *question,
                                           const struct judged *row)
{
    const struct group_past *best = NULL;

    for (size_t i = 0; i < row->origin->group_count; i++) {
        const struct group_past *past = tally_past_at(question->tally, row->origin->groups[i]);

        if (past->example_address && past->example_birth > row->steps.warm_up &&
            (!best || past->example_birth < best->example_birth))
            best = past;
    }
    return best;
}

static const char *example_text(struct report *report, const struct question *question,
                                const struct judged *row, const struct group_past *example)
{
    if (!example)
        return "";
    return report_text(report, "; for example %s at 0x%" PRIx64 ", made in step %" PRIu64,
                       label_size(report_arena(report), example->example_bytes),
                       example->example_address,
                       step_number(question->tally, row->steps.process, example->example_birth));
}

static uint64_t chance_ppb(const struct trend *trend)
{
    return (uint64_t)(trend->rise_chance * 1e9 + 0.5);
}

static uint64_t blocks_per_1000_steps(const struct judged *row)
{
    uint64_t steps = (uint64_t)row->judgement.overdue_entries * row->steps.stride;

    return steps ? (row->judgement.overdue_count * 1000 + steps / 2) / steps : 0;
}

static const char *rate_text(struct report *report, uint64_t per_1000)
{
    struct arena *texts = report_arena(report);

    if (per_1000 && per_1000 % 1000 == 0)
        return report_text(report, "%s a step", label_counted(texts, per_1000 / 1000, "block"));
    return report_text(report, "%s in 1,000 steps", label_counted(texts, per_1000, "block"));
}

static const char *interval_text(struct report *report, const struct step_judgement *judgement)
{
    struct arena *texts = report_arena(report);

    if (judgement->growth_low == judgement->growth_high)
        return "steady";
    return report_text(report, "between %s and %s per step with a confidence of 95 %%",
                       label_size(texts, judgement->growth_low),
                       label_size(texts, judgement->growth_high));
}

static const char *finding_sentence(const struct question *question, struct report *report,
                                    const struct leak *leak, const struct group_past *example)
{
    const struct judged *row = leak->row;

    return report_text(
        report, "%s: %s; %s, %s; chance of a false alarm: %.1g%s%s",
        step_verdict_name(row->judgement.verdict),
        leak_sentence(question, report_arena(report), leak), interval_text(report, &row->judgement),
        rate_text(report, blocks_per_1000_steps(row)), row->judgement.trend.rise_chance,
        leak_horizon(question, report, row), example_text(report, question, row, example));
}

static struct value part_stack(const struct question *question, struct report *report,
                               const struct survivor_parts *parts, size_t index)
{
    return index < parts->count ? value_stack_of(question, report, parts->rows[index].who)
                                : value_none();
}

static struct value part_percent(const struct survivor_parts *parts, size_t index)
{
    return index < parts->count
               ? value_number(VALUE_PERCENT, percent_of(parts->rows[index].bytes, parts->bytes))
               : value_none();
}

void leak_finding(const struct question *question, struct report *report, const struct leak *leak)
{
    const struct judged *row = leak->row;
    struct arena *texts = report_arena(report);
    struct place_in_code place = place_of(question, texts, row->origin->who);
    struct survivor_parts parts = survivor_parts_of(question, row);
    struct advice advice = {.rule = NULL};
    bool is_advised = advice_for_leak(question, report, leak, &advice);
    const struct group_past *example = example_of(question, row);
    uint64_t until_full = steps_until_full(question, row);
    const struct step_judgement *judgement = &row->judgement;
    struct births_seen births = growth_births(row);
    const struct field facts[] = {
        {"ledger", NULL, value_text(label_ledger(question, texts, row->origin->ledger))},
        {"site", NULL, value_site(leak->name)},
        {"site_key", NULL, value_text(report_text(report, "%016" PRIx64, leak->key))},
        {"function", NULL, value_place_text(place.function)},
        {"file", NULL, value_place_text(place.file)},
        {"line", NULL, value_place_line(&place)},
        {"growth_bytes_per_step", NULL, value_bytes(judgement->growth_per_step)},
        {"growth_low_bytes_per_step", NULL, value_bytes(judgement->growth_low)},
        {"growth_high_bytes_per_step", NULL, value_bytes(judgement->growth_high)},
        {"growth_blocks_per_1000_steps", NULL, value_count(blocks_per_1000_steps(row))},
        {"is_one_growing_block", NULL, value_number(VALUE_FLAG, judgement->is_one_growing_block)},
        {"first_step", NULL,
         value_step(step_number(question->tally, row->steps.process, row->first_step))},
        {"alive_bytes", NULL, value_bytes(row->alive.bytes)},
        {"grown_bytes", NULL, value_bytes(row->grown_bytes)},
        {"survivor_bytes", NULL, value_bytes(row->survivor_bytes)},
        {"survivor_count", NULL, value_count(row->survivor_count)},
        {"overdue_bytes", NULL, value_bytes(judgement->overdue_bytes)},
        {"overdue_count", NULL, value_count(judgement->overdue_count)},
        {"birth_step_count", NULL, value_count(births.with_survivors)},
        {"judged_step_count", NULL, value_count(births.stretch_count)},
        {"rise_chance_ppb", NULL, value_count(chance_ppb(&judgement->trend))},
        {"steps_until_full_count", NULL, until_full ? value_count(until_full) : value_none()},
        {"example_address", NULL,
         example ? value_text(report_text(report, "0x%" PRIx64, example->example_address))
                 : value_none()},
        {"example_bytes", NULL, example ? value_bytes(example->example_bytes) : value_none()},
        {"example_step", NULL,
         example
             ? value_step(step_number(question->tally, row->steps.process, example->example_birth))
             : value_none()},
        {"stack_percent", NULL, part_percent(&parts, 0)},
        {"stack", NULL, value_stack_of(question, report, parts.rows[0].who)},
        {"second_stack_percent", NULL, part_percent(&parts, 1)},
        {"second_stack", NULL, part_stack(question, report, &parts, 1)},
        {"third_stack_percent", NULL, part_percent(&parts, 2)},
        {"third_stack", NULL, part_stack(question, report, &parts, 2)},
        {"rule", NULL, is_advised ? value_word(advice.rule) : value_none()},
        {"what_to_do", NULL, is_advised ? value_text(advice.what_to_do) : value_none()},
        {"saves_bytes_per_step", NULL,
         is_advised ? value_bytes(advice.saves_bytes_per_step) : value_none()},
        {"saves_bytes", NULL, is_advised ? value_bytes(advice.saves_bytes) : value_none()},
    };
    const char *sentence = finding_sentence(question, report, leak, example);

    if (is_advised)
        sentence = report_text(report, "%s. WHY: %s. %s", sentence, advice.finding,
                               advice_end(report, &advice));
    report_finding(report, "leak", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}
