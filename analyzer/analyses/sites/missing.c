/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a recording is not there. Shares are of what a source says it holds, or held.
 */
#include "missing.h"

#include "labels.h"
#include "sentence.h"

static const char *percent_words(struct arena *texts, struct model_share share)
{
    unsigned percent = percent_of(share.missing, share.whole);

    return percent ? arena_format(texts, "%u %%", percent) : sentence(texts, "less than 1 %%");
}

static struct model_share lost_of(struct model *model)
{
    struct model_share lost = {model_lost_count(model), model_lost_count(model)};

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        lost.whole += process->event_count;
        for (size_t kind = 0; kind < MT_LOST_KINDS; kind++) {
            lost.missing += process->lost_counts[kind];
            lost.whole += process->lost_counts[kind];
        }
    }
    return lost;
}

/* What was said, and this as well. */
static const char *joined(struct arena *texts, const char *said, const char *more)
{
    return *said ? arena_format(texts, "%s; %s", said, more) : more;
}

const char *missing_words(struct model *model, struct arena *texts)
{
    struct model_share rows = model_share_of(model, PART_ROWS), lost = lost_of(model),
                       events = model_share_of(model, PART_EVENTS);
    const char *said = "";

    if (rows.missing)
        said = sentence(texts, "%s of %s rows (%s) could not be read",
                        label_count(texts, rows.missing), label_count(texts, rows.whole),
                        percent_words(texts, rows));
    if (events.missing)
        said = joined(texts, said,
                      sentence(texts, "%s of %s events (%s) could not be read",
                               label_count(texts, events.missing), label_count(texts, events.whole),
                               percent_words(texts, events)));
    if (lost.missing)
        said = joined(texts, said,
                      sentence(texts, "%s of %s events (%s) were lost when they were recorded",
                               label_count(texts, lost.missing), label_count(texts, lost.whole),
                               percent_words(texts, lost)));
    if (*model_first_damage(model))
        said = joined(texts, said, model_first_damage(model));
    if (!*said && model_is_incomplete(model))
        said = sentence(texts, "a part of it could not be read");
    return said;
}

bool missing_is_much(struct model *model)
{
    const struct model_share shares[] = {model_share_of(model, PART_ROWS), lost_of(model),
                                         model_share_of(model, PART_EVENTS)};
    bool is_counted = false;

    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        if (percent_of(shares[i].missing, shares[i].whole))
            return true;
        is_counted |= shares[i].missing > 0;
    }
    return !is_counted && model_is_incomplete(model);
}

void missing_say(const struct question *question, const char *name, struct report *report)
{
    const char *words = missing_words(tally_model(question->tally), report_arena(report));

    if (*words)
        report_verdict(report, RANK_INCOMPLETE, "INCOMPLETE%s%s: %s. What follows is of the rest.",
                       *name ? " " : "", name, words);
}

const char *no_blocks_sentence(const struct question *question, struct arena *texts)
{
    const struct sample_row *highest = NULL;
    const char *place = "";

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (!highest || row->high_bytes > highest->high_bytes)
            highest = row;
    }
    if (!highest)
        return sentence(texts, "Nothing was allocated.");
    if (model_place_at(question->model, highest->place).device >= 0)
        place = sentence(texts, " of device %d",
                         (int)model_place_at(question->model, highest->place).device);
    return sentence(texts,
                    "No block is in this recording, only counters; the highest: %s, \"%s\"%s.",
                    label_size(texts, highest->high_bytes),
                    model_text_at(question->model, highest->counter), place);
}
