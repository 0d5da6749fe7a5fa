/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs lists of analyses. Those that see blocks begin first and share one reading; then all write,
 * in the order of the lists. Those that begin alike share what they saw: it is gathered once.
 */
#include <assert.h>
#include <string.h>

#include "analysis.h"

struct running {
    struct question question;
    /* Those that see blocks, in the order of the lists, and their states: of those with the same
     * begin, one. */
    const struct block_analysis *of_blocks[LIFE_VISITORS_MOST];
    void *states[LIFE_VISITORS_MOST];
    size_t state_count;
    struct life_visitor visitors[LIFE_VISITORS_MOST];
    size_t visitor_count;
    enum mt_result result; /* of the reading */
    struct mt_error error;
};

static bool sees_anything(const struct life_visitor *visitor)
{
    return visitor->born || visitor->over || visitor->event || visitor->process_over;
}

static void *begin_one(struct running *running, const struct block_analysis *analysis)
{
    struct life_visitor *visitor = &running->visitors[running->visitor_count];
    void *state;

    for (size_t i = 0; i < running->state_count; i++)
        if (running->of_blocks[i]->begin == analysis->begin)
            return running->states[i];
    memset(visitor, 0, sizeof(*visitor));
    state = analysis->begin(&running->question, visitor);
    running->visitor_count += state && sees_anything(visitor);
    return state;
}

static void begin_all(struct running *running, const struct analysis *analyses)
{
    for (; analyses->write || analyses->of_blocks; analyses++) {
        if (!analyses->of_blocks)
            continue;
        assert(running->state_count < LIFE_VISITORS_MOST);
        running->states[running->state_count] = begin_one(running, analyses->of_blocks);
        running->of_blocks[running->state_count++] = analyses->of_blocks;
    }
}

/* Nobody after this one has the same state. */
static bool is_last_user(const struct running *running, size_t index)
{
    for (size_t i = index + 1; i < running->state_count; i++)
        if (running->states[i] == running->states[index])
            return false;
    return true;
}

static void write_blocks(const struct running *running, size_t index, struct report *report)
{
    const struct block_analysis *analysis = running->of_blocks[index];
    void *state = running->states[index];

    if (!state)
        report_note(report, 0, report_text(report, "%s: not enough memory", analysis->name));
    else if (running->result != MT_OK)
        report_note(report, 0,
                    report_text(report, "%s: the second reading failed: %s", analysis->name,
                                running->error.message));
    else
        analysis->write(state, report);
    if (state && is_last_user(running, index))
        analysis->release(state);
}

static void write_all(const struct running *running, const struct analysis *analyses,
                      size_t *state_index, struct report *report)
{
    for (; analyses->write || analyses->of_blocks; analyses++) {
        if (analyses->of_blocks)
            write_blocks(running, (*state_index)++, report);
        else
            analyses->write(&running->question, report);
    }
}

static void begin_lists(struct running *running, const struct analysis *analyses,
                        const struct analysis *further)
{
    begin_all(running, analyses);
    if (further)
        begin_all(running, further);
}

static void release_all(struct running *running)
{
    for (size_t i = 0; i < running->state_count; i++)
        if (running->states[i] && is_last_user(running, i))
            running->of_blocks[i]->release(running->states[i]);
    running->state_count = running->visitor_count = 0;
}

static void read_blocks(struct running *running)
{
    const struct question *question = &running->question;

    if (running->visitor_count)
        running->result =
            lives_read_together(question->events, tally_model(question->tally), question->tally,
                                running->visitors, running->visitor_count, &running->error);
}

static void write_lists(struct running *running, const struct analysis *analyses,
                        const struct analysis *further, struct report *report)
{
    size_t state_index = 0;

    if (model_times_are_events(tally_model(running->question.tally)))
        report_times_are_events(report);
    write_all(running, analyses, &state_index, report);
    if (further)
        write_all(running, further, &state_index, report);
}

void analyses_run(const struct analysis *analyses, const struct analysis *further,
                  const struct question *question, struct report *report)
{
    struct running running = {.question = *question, .result = MT_OK};

    begin_lists(&running, analyses, further);
    read_blocks(&running);
    write_lists(&running, analyses, further, report);
}

/* Until the sums are right: they were added up, and those that see blocks early have seen them. */
static enum mt_result read_pending(struct running *running, const struct analysis *analyses,
                                   const struct analysis *further, bool are_early,
                                   const struct pending_sums *pending, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    bool is_done = false;

    while (result == MT_OK && !is_done) {
        if (are_early)
            begin_lists(running, analyses, further);
        result = pending->read(pending->context, &running->question, running->visitors,
                               running->visitor_count, &is_done, error);
        if (!is_done)
            release_all(running);
    }
    return result;
}

enum mt_result analyses_run_pending(const struct analysis *analyses, const struct analysis *further,
                                    const struct question *question,
                                    const struct pending_sums *pending, struct report *report,
                                    struct mt_error *error)
{
    struct running running = {.question = *question, .result = MT_OK};
    bool are_early = analyses_are_early(analyses) && (!further || analyses_are_early(further));
    enum mt_result result = read_pending(&running, analyses, further, are_early, pending, error);

    if (result != MT_OK)
        return result;
    if (!are_early) {
        begin_lists(&running, analyses, further);
        read_blocks(&running);
    }
    write_lists(&running, analyses, further, report);
    return MT_OK;
}

bool analyses_are_early(const struct analysis *analyses)
{
    for (; analyses->write || analyses->of_blocks; analyses++)
        if (analyses->of_blocks && !analyses->of_blocks->is_early)
            return false;
    return true;
}
