/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps of a recording are wanted.
 */
#include "step_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error_sentence.h"

static bool number_read(const char **text, uint64_t *number)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* "7", "3-7" or "3-" */
static bool span_read(const char **text, struct step_span *span)
{
    if (!number_read(text, &span->first))
        return false;
    span->last = span->first;
    if (**text != '-')
        return true;
    (*text)++;
    if (**text == '\0' || **text == ',') {
        span->last = UINT64_MAX;
        return true;
    }
    return number_read(text, &span->last) && span->first <= span->last;
}

static enum mt_result bad_list(const char *text, struct mt_error *error)
{
    return mt_error_of(error, "steps",
                       mt_error_set(error, MT_USAGE,
                                    "the steps %s: numbers and ranges are needed, as in 3-7,9",
                                    text));
}

static enum mt_result spans_read(struct step_choice *choice, const char *text,
                                 struct mt_error *error)
{
    const char *rest = text;

    choice->spans = calloc(strlen(text) / 2 + 1, sizeof(*choice->spans));
    if (!choice->spans)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a list of steps");
    do {
        rest += choice->span_count > 0; /* the comma */
        if (!span_read(&rest, &choice->spans[choice->span_count++]))
            return bad_list(text, error);
    } while (*rest == ',');
    return *rest ? bad_list(text, error) : MT_OK;
}

enum mt_result step_choice_init(struct step_choice *choice, const char *text,
                                const struct mt_step_schedule *schedule, struct mt_error *error)
{
    bool is_scheduled = schedule && (schedule->skip_first || schedule->wait || schedule->warmup ||
                                     schedule->active || schedule->repeat);

    memset(choice, 0, sizeof(*choice));
    if (text && is_scheduled)
        return mt_error_of(
            error, "steps",
            mt_error_set(error, MT_USAGE, "numbers and a schedule cannot both choose the steps"));
    if (is_scheduled && !schedule->active)
        return mt_error_of(
            error, "schedule.active",
            mt_error_set(error, MT_USAGE, "a schedule of steps needs 1 active step or more"));
    if (is_scheduled)
        choice->schedule = *schedule;
    return text ? spans_read(choice, text, error) : MT_OK;
}

void step_choice_release(struct step_choice *choice)
{
    free(choice->spans);
    memset(choice, 0, sizeof(*choice));
}

bool step_choice_is_made(const struct step_choice *choice)
{
    return choice->spans || choice->schedule.active;
}

static bool schedule_wants(const struct mt_step_schedule *schedule, uint64_t index)
{
    uint64_t quiet = schedule->wait + schedule->warmup;
    uint64_t cycle = quiet + schedule->active;

    if (index < schedule->skip_first)
        return false;
    index -= schedule->skip_first;
    return (!schedule->repeat || index / cycle < schedule->repeat) && index % cycle >= quiet;
}

bool step_choice_wants(const struct step_choice *choice, uint64_t index, uint64_t number)
{
    if (!choice->spans)
        return !choice->schedule.active || schedule_wants(&choice->schedule, index);
    for (size_t i = 0; i < choice->span_count; i++)
        if (number >= choice->spans[i].first && number <= choice->spans[i].last)
            return true;
    return false;
}

bool step_choice_is_over(const struct step_choice *choice, uint64_t index, uint64_t number)
{
    const struct mt_step_schedule *schedule = &choice->schedule;

    if (!choice->spans)
        return schedule->repeat && index >= schedule->skip_first &&
               (index - schedule->skip_first) /
                       (schedule->wait + schedule->warmup + schedule->active) >=
                   schedule->repeat;
    for (size_t i = 0; i < choice->span_count; i++)
        if (number <= choice->spans[i].last)
            return false;
    return true;
}
