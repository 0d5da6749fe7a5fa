/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a recording that are looked at.
 */
#include "stepping.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "event_reader.h"
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
    free(stepping->entries);
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

/* "ProfilerStep#7" is one of those called ProfilerStep. */
static bool is_text_named(const char *text, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(text, name, length) != 0)
        return false;
    text += length;
    return !*text || (*text == '#' && text[1] && !text[1 + strspn(text + 1, "0123456789")]);
}

/* Sites whose name holds the name, texts that are it. */
static enum mt_result find_named(struct stepping *stepping, const struct model *model,
                                 struct symbols *symbols, struct mt_error *error)
{
    struct named_tokens *named = &stepping->rule.named;
    bool is_any = false;

    stepping->rule.is_named = true;
    named->site_count = model_site_count(model);
    named->text_count = model_text_count(model);
    named->sites = stepping->sites = calloc(named->site_count + 1, sizeof(bool));
    named->texts = stepping->texts = calloc(named->text_count + 1, sizeof(bool));
    if (!stepping->sites || !stepping->texts)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to look for steps");
    for (uint32_t i = 1; i < named->site_count; i++)
        is_any |= stepping->sites[i] = is_site_named(symbols, i, stepping->site_name);
    for (uint32_t i = 1; i < named->text_count; i++)
        is_any |= stepping->texts[i] = is_text_named(model_text_at(model, i), stepping->site_name);
    if (is_any)
        return MT_OK;
    return mt_error_of(error, "step_site",
                       mt_error_set(error, MT_USAGE,
                                    "what begins a step: no site, operator, range or mark of the "
                                    "recording is called %s",
                                    stepping->site_name));
}

/* From the beginning, all of it. */
static enum mt_result finder_read(struct step_finder *finder, const struct event_source *events,
                                  struct mt_error *error)
{
    struct event_reader reader;
    const struct event *batch;
    size_t count = 1;
    enum mt_result result = events->rewind(events->context, error);

    if (result != MT_OK)
        return result;
    result = event_reader_begin(&reader, events, error);
    while (result == MT_OK && count) {
        result = event_reader_next(&reader, &batch, &count, error);
        if (result == MT_OK)
            step_finder_feed(finder, batch, count);
    }
    event_reader_end(&reader);
    step_finder_finish(finder);
    return result;
}

/*
 * A function that allocates in many places is entered once for all of them: of the named tokens,
 * one that comes with the period of all begins the steps. One reading more.
 */
static enum mt_result find_entries(struct stepping *stepping, struct model *model,
                                   struct event_source *events, struct mt_error *error)
{
    struct step_finder *finder = step_finder_create_named(model, &stepping->rule.named);
    size_t count = model_process_count(model);
    enum mt_result result = MT_NO_MEMORY;

    stepping->entries = calloc(count + 1, sizeof(*stepping->entries));
    if (finder && stepping->entries)
        result = finder_read(finder, events, error);
    if (result == MT_OK) {
        for (size_t i = 0; i < count; i++)
            stepping->entries[i] = step_finder_at(finder, (uint16_t)i);
        stepping->rule.entries = stepping->entries;
        stepping->rule.entry_count = count;
    } else if (result == MT_NO_MEMORY) {
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to look for steps");
    }
    step_finder_destroy(finder);
    return result;
}

static bool has_python(const struct model *model)
{
    for (size_t i = 1; i < model_frame_count(model); i++)
        if (model_frame_at(model, (uint32_t)i)->kind == FRAME_PYTHON)
            return true;
    return false;
}

/*
 * It comes with a period of its own, not of the job: an interpreter is taken down module by module,
 * and its collector comes whenever enough was made. Where Python's frames are recorded, what has
 * none of them, nor of a library, is the interpreter's own as well.
 */
static bool is_of_runtime(const struct model *model, struct symbols *symbols,
                          struct step_token token)
{
    enum { runtime = STACK_IS_ENDING | STACK_IS_CLEANUP | STACK_IS_COLLECTING | STACK_IS_SWEEPING };
    struct symbols_shape shape;

    if (token.kind != TOKEN_SITE)
        return false;
    shape = symbols_shape_of(symbols, (uint32_t)token.id);
    return shape.traits & runtime || (shape.is_of_interpreter && has_python(model));
}

/* True when a process has steps that it did not mark. */
static bool take_found(struct stepping *stepping, const struct model *model,
                       struct symbols *symbols)
{
    size_t count = model_process_count(model);
    bool is_any = false;

    stepping->found = calloc(count + 1, sizeof(*stepping->found));
    if (!stepping->found)
        return false;
    for (size_t i = 0; i < count; i++) {
        stepping->found[i] = step_finder_at(stepping->finder, (uint16_t)i);
        if (is_of_runtime(model, symbols, stepping->found[i].token))
            stepping->found[i] = (struct found_steps){0};
        is_any |= stepping->found[i].token.kind != TOKEN_NONE;
    }
    stepping->rule.found = stepping->found;
    stepping->rule.found_count = count;
    return is_any;
}

enum mt_result stepping_begin(struct stepping *stepping, struct model *model,
                              struct symbols *symbols, struct event_source *events,
                              bool *is_changed, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    *is_changed = step_choice_is_made(&stepping->choice);
    if (stepping->site_name && *stepping->site_name) {
        *is_changed = true;
        result = find_named(stepping, model, symbols, error);
        if (result == MT_OK)
            result = find_entries(stepping, model, events, error);
    } else if (stepping->finder) {
        step_finder_finish(stepping->finder);
        *is_changed |= take_found(stepping, model, symbols);
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

/* What found steps did, those of warm-up left out. */
struct pace {
    uint64_t first_bytes, last_bytes; /* alive at the end of the first, and of the last */
    uint64_t allocated_bytes;         /* after the first */
    uint64_t *step_bytes, *step_ns;   /* allocated, and how long it took; by step, then by size */
    size_t count;
};

static bool is_settled(const struct step *step, uint16_t process)
{
    enum { warm_up = 2 };

    return step->process == process && step->is_ended && step->index > warm_up;
}

static void pace_add(struct pace *pace, const struct tally *tally, const struct step *step)
{
    uint64_t alive = 0, allocated = 0;

    for (size_t i = 0; i < step->row_count; i++) {
        alive += tally_step_row_at(tally, step->first_row + i)->end_bytes;
        allocated += tally_step_row_at(tally, step->first_row + i)->alloc_bytes;
    }
    if (pace->count)
        pace->allocated_bytes += allocated;
    else
        pace->first_bytes = alive;
    pace->last_bytes = alive;
    pace->step_bytes[pace->count] = allocated;
    pace->step_ns[pace->count++] = step->end_ns - step->begin_ns;
}

/* Half of them, and more, lie around the median. Sorts them. */
static bool are_alike(uint64_t *numbers, size_t count)
{
    enum { times = 4 };
    uint64_t median;
    size_t near = 0;

    qsort(numbers, count, sizeof(*numbers), compare_number_rows);
    median = numbers[count / 2];
    for (size_t i = 0; i < count; i++)
        near += numbers[i] >= median / times && numbers[i] / times <= median;
    return near * 2 > count;
}

/* A program that takes itself down frees with a period as well, more than it makes. */
static bool takes_down(const struct pace *pace)
{
    return pace->first_bytes > pace->last_bytes &&
           pace->first_bytes - pace->last_bytes > pace->allocated_bytes;
}

static bool are_steps(const struct tally *tally, uint16_t process)
{
    size_t most = tally_step_count(tally) + 1;
    struct pace pace = {.step_bytes = calloc(most, sizeof(*pace.step_bytes)),
                        .step_ns = calloc(most, sizeof(*pace.step_ns))};
    bool is_good = false;

    for (size_t i = 0; pace.step_bytes && pace.step_ns && i + 1 < most; i++)
        if (is_settled(tally_step_at(tally, i), process))
            pace_add(&pace, tally, tally_step_at(tally, i));
    if (pace.count)
        is_good = !takes_down(&pace) && are_alike(pace.step_bytes, pace.count) &&
                  are_alike(pace.step_ns, pace.count);
    free(pace.step_bytes);
    free(pace.step_ns);
    return is_good;
}

bool stepping_confirm(struct stepping *stepping, const struct tally *tally)
{
    bool is_any = false;

    for (size_t i = 0; i < stepping->rule.found_count; i++) {
        struct found_steps *found = &stepping->found[i];

        if (found->token.kind == TOKEN_NONE)
            continue;
        if (!are_steps(tally, (uint16_t)i))
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
