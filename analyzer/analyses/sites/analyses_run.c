/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs lists of analyses. Those that see blocks begin first and share one reading; then all write,
 * in the order of the lists.
 */
#include <assert.h>
#include <string.h>

#include "analysis.h"

struct running {
    const struct question *question;
    void *states[LIFE_VISITORS_MOST]; /* of those that see blocks, in the order of the list */
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

static void begin_all(struct running *running, const struct analysis *analyses)
{
    for (; analyses->write || analyses->of_blocks; analyses++) {
        struct life_visitor *visitor = &running->visitors[running->visitor_count];
        void *state;

        if (!analyses->of_blocks)
            continue;
        assert(running->state_count < LIFE_VISITORS_MOST);
        memset(visitor, 0, sizeof(*visitor));
        state = running->states[running->state_count++] =
            analyses->of_blocks->begin(running->question, visitor);
        running->visitor_count += state && sees_anything(visitor);
    }
}

static void write_blocks(const struct running *running, const struct block_analysis *analysis,
                         void *state, struct report *report)
{
    if (!state)
        report_note(report, 0, report_text(report, "%s: not enough memory", analysis->name));
    else if (running->result != MT_OK)
        report_note(report, 0,
                    report_text(report, "%s: the second reading failed: %s", analysis->name,
                                running->error.message));
    else
        analysis->write(state, report);
    if (state)
        analysis->release(state);
}

static void write_all(const struct running *running, const struct analysis *analyses,
                      size_t *state_index, struct report *report)
{
    for (; analyses->write || analyses->of_blocks; analyses++) {
        if (analyses->of_blocks)
            write_blocks(running, analyses->of_blocks, running->states[(*state_index)++], report);
        else
            analyses->write(running->question, report);
    }
}

void analyses_run(const struct analysis *analyses, const struct analysis *further,
                  const struct question *question, struct report *report)
{
    struct running running = {.question = question, .result = MT_OK};
    size_t state_index = 0;

    if (model_times_are_events(tally_model(question->tally)))
        report_times_are_events(report);
    begin_all(&running, analyses);
    if (further)
        begin_all(&running, further);
    if (running.visitor_count)
        running.result =
            lives_read_together(question->events, tally_model(question->tally), question->tally,
                                running.visitors, running.visitor_count, &running.error);
    write_all(&running, analyses, &state_index, report);
    if (further)
        write_all(&running, further, &state_index, report);
}
