/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a recording that are looked at.
 */
#include "stepping.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"

enum mt_result stepping_init(struct stepping *stepping, struct model *model, const char *steps,
                             const struct mt_step_schedule *schedule, const char *site_name,
                             struct mt_error *error)
{
    enum mt_result result;

    memset(stepping, 0, sizeof(*stepping));
    result = step_choice_init(&stepping->choice, steps, schedule, error);
    if (result != MT_OK)
        return result;
    if (site_name)
        stepping->site_name = strdup(site_name);
    else
        stepping->finder = step_finder_create(model);
    if (!stepping->site_name && !stepping->finder)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to look for steps");
    return MT_OK;
}

void stepping_release(struct stepping *stepping)
{
    step_source_destroy(stepping->source);
    step_finder_destroy(stepping->finder);
    step_choice_release(&stepping->choice);
    free(stepping->site_name);
    free(stepping->found);
    free(stepping->sites);
    free(stepping->texts);
    memset(stepping, 0, sizeof(*stepping));
}

static bool is_site_named(struct symbols *symbols, uint32_t site, const char *name)
{
    size_t count;
    const struct symbol_frame *frames;

    if (strstr(symbols_label(symbols, site), name))
        return true;
    frames = symbols_frames(symbols, site, &count);
    for (size_t i = 0; i < count; i++)
        if (strstr(frames[i].function, name))
            return true;
    return false;
}

/* Sites whose name holds the name, texts that are it. */
static enum mt_result find_named(struct stepping *stepping, const struct model *model,
                                 struct symbols *symbols, struct mt_error *error)
{
    struct step_rule *rule = &stepping->rule;
    bool is_any = false;

    rule->is_named = true;
    rule->site_count = model_site_count(model);
    rule->text_count = model_text_count(model);
    rule->sites = stepping->sites = calloc(rule->site_count + 1, sizeof(bool));
    rule->texts = stepping->texts = calloc(rule->text_count + 1, sizeof(bool));
    if (!stepping->sites || !stepping->texts)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to look for steps");
    for (uint32_t i = 1; i < rule->site_count; i++)
        is_any |= stepping->sites[i] = is_site_named(symbols, i, stepping->site_name);
    for (uint32_t i = 1; i < rule->text_count; i++)
        is_any |= stepping->texts[i] = strcmp(model_text_at(model, i), stepping->site_name) == 0;
    if (is_any)
        return MT_OK;
    return mt_error_of(error, "step_site",
                       mt_error_set(error, MT_USAGE,
                                    "what begins a step: no site, operator, range or mark of the "
                                    "recording is called %s",
                                    stepping->site_name));
}

/* True when a process has steps that it did not mark. */
static bool take_found(struct stepping *stepping, const struct model *model)
{
    size_t count = model_process_count(model);
    bool is_any = false;

    stepping->found = calloc(count + 1, sizeof(*stepping->found));
    if (!stepping->found)
        return false;
    for (size_t i = 0; i < count; i++) {
        stepping->found[i] = step_finder_at(stepping->finder, (uint16_t)i);
        is_any |= stepping->found[i].token.kind != TOKEN_NONE;
    }
    stepping->rule.found = stepping->found;
    stepping->rule.found_count = count;
    return is_any;
}

enum mt_result stepping_begin(struct stepping *stepping, const struct model *model,
                              struct symbols *symbols, struct event_source *events,
                              bool *is_changed, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    *is_changed = step_choice_is_made(&stepping->choice);
    if (stepping->site_name && *stepping->site_name) {
        *is_changed = true;
        result = find_named(stepping, model, symbols, error);
    } else if (stepping->finder) {
        step_finder_finish(stepping->finder);
        *is_changed |= take_found(stepping, model);
    }
    if (result != MT_OK || !*is_changed)
        return result;
    stepping->marked = *events;
    stepping->source = step_source_create(events, &stepping->rule, &stepping->choice);
    if (!stepping->source)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to put steps in");
    *events = step_source_events(stepping->source);
    return MT_OK;
}

struct growth {
    uint64_t first_bytes, last_bytes, allocated_bytes;
    uint64_t steps;
};

static bool is_settled(const struct step *step, uint16_t process)
{
    enum { warm_up = 2 };

    return step->process == process && step->is_ended && step->index > warm_up;
}

static struct growth growth_of(const struct tally *tally, uint16_t process)
{
    struct growth growth = {0};

    for (size_t i = 0; i < tally_step_count(tally); i++) {
        const struct step *step = tally_step_at(tally, i);
        uint64_t alive = 0, allocated = 0;

        if (!is_settled(step, process))
            continue;
        for (size_t r = 0; r < step->row_count; r++) {
            alive += tally_step_row_at(tally, step->first_row + r)->end_bytes;
            allocated += tally_step_row_at(tally, step->first_row + r)->alloc_bytes;
        }
        if (growth.steps++)
            growth.allocated_bytes += allocated;
        else
            growth.first_bytes = alive;
        growth.last_bytes = alive;
    }
    return growth;
}

/*
 * Found steps may be the layers of one pass: each keeps its activations until the way back. A loop
 * that trains frees nearly all that it makes, even where it leaks.
 */
static bool keeps_too_much(const struct tally *tally, uint16_t process)
{
    enum { share = 20 };
    struct growth growth = growth_of(tally, process);

    return growth.last_bytes > growth.first_bytes &&
           growth.last_bytes - growth.first_bytes > growth.allocated_bytes / share;
}

bool stepping_confirm(struct stepping *stepping, const struct tally *tally)
{
    bool is_any = false;

    for (size_t i = 0; i < stepping->rule.found_count; i++) {
        struct found_steps *found = &stepping->found[i];

        if (found->token.kind == TOKEN_NONE)
            continue;
        if (keeps_too_much(tally, (uint16_t)i))
            *found = (struct found_steps){0};
        else
            is_any = true;
    }
    return is_any || stepping->rule.is_named || step_choice_is_made(&stepping->choice);
}

struct event_source stepping_marked_events(const struct stepping *stepping)
{
    return stepping->marked;
}
