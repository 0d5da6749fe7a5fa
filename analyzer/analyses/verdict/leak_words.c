/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak in one sentence.
 */
#include "leak_words.h"

#include <inttypes.h>

#include "sentence.h"
#include "site_caller.h"
#include "survivor_answers.h"

const char *leak_who(const struct question *question, struct arena *arena, struct who who)
{
    return who_is_known(who) || who.size_class ? label_who(question, arena, who)
                                               : translated("sites without a name");
}

const char *leak_births(struct arena *arena, const struct judged *row)
{
    struct births_seen seen = growth_births(row);

    if (seen.stretch == 1)
        return sentence(arena, "%zu of %zu steps", seen.with_survivors, seen.stretch_count);
    return sentence(arena, "%zu of %zu groups of %" PRIu32 " steps", seen.with_survivors,
                    seen.stretch_count, seen.stretch);
}

/* Who called the place of the row, where other leaks of the list are there, too. */
static const char *caller_of(const struct question *question, struct arena *arena,
                             const struct judged_list *list, const struct judged *row)
{
    uint32_t sites[SITES_ALIKE_MOST];
    size_t count = 0;

    for (size_t i = 0; i < list->verdict_counts[VERDICT_LEAK] && count < SITES_ALIKE_MOST; i++)
        if (!growth_is_told(question->symbols, list, i))
            sites[count++] = list->rows[i].origin->who.site;
    return site_caller(question, arena, row->origin->who.site, sites, count);
}

static const char *growth_at(const struct question *question, struct arena *arena,
                             const struct judged *row, const char *caller)
{
    const char *how = row->judgement.is_one_growing_block
                          ? translated("made anew in each step, each time larger")
                          : sentence(arena, "%s left blocks behind", leak_births(arena, row));
    const char *until =
        row->failed_step
            ? sentence(arena, ", until its own requests failed in step %" PRIu64,
                       step_number(question->tally, row->steps.process, row->failed_step))
            : "";

    return sentence(arena, "%s%s: %s since step %" PRIu64 "%s, %s (%s)",
                    leak_who(question, arena, row->origin->who), caller,
                    label_size(arena, row->grown_bytes),
                    step_number(question->tally, row->steps.process, row->first_step), until, how,
                    label_ledger(question, arena, row->origin->ledger));
}

const char *growth_sentence(const struct question *question, struct arena *arena,
                            const struct judged *row)
{
    return growth_at(question, arena, row, "");
}

const char *leak_sentence(const struct question *question, struct arena *arena,
                          const struct judged_list *list, const struct judged *row)
{
    return sentence(arena, "%s per step at %s", label_size(arena, row->judgement.growth_per_step),
                    growth_at(question, arena, row, caller_of(question, arena, list, row)));
}

/* "4.6 KiB per turn", or the bytes alone where turns are not known. */
static const char *rate_of(struct arena *arena, const struct survivor_process *process,
                           const struct survivor_origin *origin)
{
    uint64_t per_turn = survivors_per_turn(process, origin);

    if (!per_turn)
        return label_size(arena, origin->bytes);
    return sentence(arena, "%s per turn", label_size(arena, per_turn));
}

static const char *caller_of_origin(const struct question *question, struct arena *arena,
                                    const struct survivor_process *process,
                                    const struct survivor_origin *origin)
{
    uint32_t sites[SITES_ALIKE_MOST];
    size_t leaks = survivors_leak_count(process), count = 0;

    for (; count < leaks && count < SITES_ALIKE_MOST; count++)
        sites[count] = process->origins[count].stacks[0].who.site;
    return site_caller(question, arena, origin->stacks[0].who.site, sites, count);
}

const char *survivor_sentence(const struct question *question, struct arena *arena,
                              const struct survivor_process *process,
                              const struct survivor_origin *origin)
{
    const struct survivor_stack *first = &origin->stacks[0];
    const char *how = first->overdue.is_in_many_blocks
                          ? sentence(arena, "ever more is alive there, %s in all",
                                     label_size(arena, origin->bytes))
                      : first->overdue.is_growing
                          ? sentence(arena, "made anew again and again, larger by %s in all",
                                     label_size(arena, origin->bytes))
                          : sentence(arena, "%s in %s stay, older than any that these stacks freed",
                                     label_size(arena, origin->bytes),
                                     label_counted(arena, origin->count, "block"));
    const char *turns = process->turns ? sentence(arena, ", born in all of about %s of a loop",
                                                  label_counted(arena, process->turns, "turn"))
                                       : translated(", born until the end");

    return sentence(arena, "%s at %s%s: %s%s (%s)", rate_of(arena, process, origin),
                    leak_who(question, arena, first->who),
                    caller_of_origin(question, arena, process, origin), how, turns,
                    label_ledger(question, arena, first->ledger));
}
