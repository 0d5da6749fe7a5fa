/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to one recording and to several: an answer is made.
 */
#include "analyses.h"
#include "caching_allocator.h"
#include "diff.h"
#include "diff_spread.h"
#include "leaktide/analyzer.h"
#include "library_answer.h"
#include "missing.h"
#include "picture_analyses.h"
#include "rank_layout.h"
#include "taken_options.h"
#include "trace_question.h"

static void question_take(struct question *question, const struct mt_ask_options *options)
{
    if (options->top != MT_TOP_DEFAULT)
        question->top = options->top;
    if (options->warm_up_steps >= 0)
        question->warm_up_steps = options->warm_up_steps;
    if (options->margin_percent)
        question->margin_percent = options->margin_percent < 100 ? options->margin_percent : 100;
    question->blocks = (struct block_filter){
        .name = options->block_name,
        .least_bytes = options->block_least_bytes,
        .most_bytes = options->block_most_bytes ? options->block_most_bytes : UINT64_MAX,
        .from_ns = options->block_from_ns,
        .to_ns = options->block_to_ns ? options->block_to_ns : UINT64_MAX,
    };
    question->is_for_pictures = options->flags & MT_ASK_PICTURES;
    question->stack_depth = options->stack_depth;
    question->least_percent = options->stack_least_percent;
    question->allocator_settings = options->allocator_settings;
    question->why = options->why;
    question->parallel = options->parallel;
}

static struct question question_make(const struct mt_trace *trace, size_t top,
                                     const struct mt_ask_options *options)
{
    struct question question = trace_question(trace);

    question.top = top;
    question_take(&question, options);
    return question;
}

static enum mt_result ask_options_take(struct mt_ask_options *whole,
                                       const struct mt_ask_options *options, struct mt_error *error)
{
    *whole = (struct mt_ask_options){
        .size_bytes = sizeof(*whole), .top = MT_TOP_DEFAULT, .warm_up_steps = -1};
    return options_take(whole, sizeof(*whole), options, error);
}

/* What is a text with a meaning of its own. */
static enum mt_result settings_check(const struct question *question, struct mt_error *error)
{
    struct allocator_settings settings = {.pad_bytes = 0};
    struct rank_layout layout;

    if (question->allocator_settings)
        return mt_error_of(error, "allocator_settings",
                           allocator_settings_read(question->allocator_settings, &settings, error));
    return rank_layout_read(question->parallel, &layout, error);
}

/* pending: NULL: nothing is. */
static enum mt_result run(const struct answer_kind *kind, const struct pending_sums *pending,
                          const struct question *question, struct report *report,
                          struct mt_error *error)
{
    const struct analysis *further = question->is_for_pictures ? answer_page_analyses(kind) : NULL;

    if (pending)
        return analyses_run_pending(kind->analyses, further, question, pending, report, error);
    analyses_run(kind->analyses, further, question, report);
    return MT_OK;
}

enum mt_result mt_trace_ask(struct mt_trace *trace, const char *name,
                            const struct mt_ask_options *options, struct mt_answer **out,
                            struct mt_error *error)
{
    const struct answer_kind *kind = answer_kind_find(name);
    struct mt_ask_options whole;
    struct question question;
    struct report *report;
    enum mt_result result = ask_options_take(&whole, options, error);

    if (result != MT_OK)
        return result;
    if (!kind)
        return mt_error_set(error, MT_USAGE, "there is no question named %s", name);
    question = question_make(trace, kind->top, &whole);
    result = trace_allows(trace, name, question.is_for_pictures, error);
    if (result == MT_OK)
        result = settings_check(&question, error);
    if (result == MT_OK)
        result = report_create(name, &report, error);
    if (result != MT_OK)
        return result;
    trace_begin(trace);
    result = run(kind, trace_pending(trace), &question, report, error);
    if (result == MT_OK) {
        question.tally = trace_question(trace).tally;
        missing_say(&question, "", report);
    }
    return answer_give(report, trace_end(trace, result, error), out, error);
}

enum { diff_top = 20, diff_sides_least = 2 };

/* The current side is the last; the base, where it is another recording, the first. */
static void draw_sides(struct question *questions, const struct mt_diff_side *sides,
                       size_t side_count, struct report *report)
{
    static const struct analysis picture_alone[] = {{.of_blocks = &picture_analysis}, {NULL, NULL}};

    questions[0].picture_name = "base-";
    if (sides[0].trace != sides[side_count - 1].trace)
        analyses_run(picture_alone, NULL, &questions[0], report);
    analyses_run(picture_alone, NULL, &questions[side_count - 1], report);
}

/* Each side has a question of its own. */
struct comparison {
    struct question questions[DIFF_SIDES_MOST];
    const struct question *on[DIFF_SIDES_MOST];
    const char *names[DIFF_SIDES_MOST];
    struct held_stretch stretches[DIFF_SIDES_MOST];
};

static void sides_take(struct comparison *comparison, const struct mt_diff_side *sides,
                       size_t side_count, const struct mt_ask_options *options)
{
    for (size_t i = 0; i < side_count; i++) {
        comparison->questions[i] = question_make(sides[i].trace, diff_top, options);
        comparison->on[i] = &comparison->questions[i];
        comparison->names[i] = sides[i].name ? sides[i].name : "";
        comparison->stretches[i] = (struct held_stretch){sides[i].is_step, sides[i].step_number};
        trace_begin(sides[i].trace);
    }
}

enum mt_result mt_trace_diff(const struct mt_diff_side *sides, size_t side_count,
                             const struct mt_ask_options *options, struct mt_answer **out,
                             struct mt_error *error)
{
    struct mt_ask_options whole;
    struct comparison on;
    const struct diff_question diff = {on.on, on.names, on.stretches, side_count};
    struct report *report;
    enum mt_result result = ask_options_take(&whole, options, error);

    if (result != MT_OK)
        return result;
    if (side_count < diff_sides_least || side_count > DIFF_SIDES_MOST)
        return mt_error_set(error, MT_USAGE, "2 to %d recordings or steps can be compared, not %zu",
                            DIFF_SIDES_MOST, side_count);
    for (size_t i = 0; result == MT_OK && i < side_count; i++)
        result = trace_allows(sides[i].trace, NULL, true, error);
    if (result == MT_OK)
        result = report_create("diff", &report, error);
    if (result != MT_OK)
        return result;
    sides_take(&on, sides, side_count, &whole);
    result = analyse_diff(&diff, report, error);
    if (result == MT_OK)
        draw_sides(on.questions, sides, side_count, report);
    for (size_t i = 0; result == MT_OK && i < side_count; i++)
        if (!i || sides[i].trace != sides[i - 1].trace)
            missing_say(&on.questions[i], on.names[i], report);
    for (size_t i = 0; i < side_count; i++)
        result = trace_end(sides[i].trace, result, error);
    return answer_give(report, result, out, error);
}

const char *mt_question_at(size_t index, const char **meaning)
{
    const struct answer_kind *kind = answer_kinds;

    while (kind->name && index--)
        kind++;
    if (kind->name && meaning)
        *meaning = kind->meaning;
    return kind->name;
}
