/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak in one sentence.
 */
#include "leak_words.h"

#include <inttypes.h>

#include "sentence.h"
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

const char *growth_sentence(const struct question *question, struct arena *arena,
                            const struct judged *row)
{
    const char *how = row->judgement.is_one_growing_block
                          ? translated("made anew in each step, each time larger")
                          : sentence(arena, "%s left blocks behind", leak_births(arena, row));
    const char *until =
        row->failed_step
            ? sentence(arena, ", until its own requests failed in step %" PRIu64,
                       step_number(question->tally, row->steps.process, row->failed_step))
            : "";

    return sentence(arena, "%s: %s since step %" PRIu64 "%s, %s (%s)", row->name,
                    label_size(arena, row->grown_bytes),
                    step_number(question->tally, row->steps.process, row->first_step), until, how,
                    label_ledger(question, arena, row->origin->ledger));
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

const char *survivor_sentence(const struct question *question, struct arena *arena,
                              const struct survivor_process *process,
                              const struct survivor_origin *origin, const char *name)
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

    return sentence(arena, "%s at %s: %s%s (%s)", rate_of(arena, process, origin), name, how, turns,
                    label_ledger(question, arena, first->ledger));
}

const char *leak_sentence(const struct question *question, struct arena *arena,
                          const struct leak *leak)
{
    if (!leak->row)
        return survivor_sentence(question, arena, leak->loop, leak->survivors, leak->name);
    return sentence(arena, "%s per step at %s%s", label_size(arena, leak->rate_bytes),
                    growth_sentence(question, arena, leak->row),
                    leak->is_spread ? translated("; no single site makes it") : "");
}
