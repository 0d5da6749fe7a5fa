/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements leaktide/analyzer.h: input, tally, analyses and writers put together.
 */
#include "leaktide/analyzer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyses.h"
#include "caching_allocator.h"
#include "diff.h"
#include "diff_spread.h"
#include "event_reader.h"
#include "export.h"
#include "input.h"
#include "memscope_compare.h"
#include "owner_source.h"
#include "picture_analyses.h"
#include "read_ahead.h"
#include "report_writers.h"
#include "stepping.h"
#include "symbols.h"
#include "tally.h"
#include "trace_question.h"

/* A short recording is read by one thread. */
enum { alone_events = 1 << 16 };

struct mt_trace {
    struct model *model;
    struct tally *tally;
    struct symbols *symbols;
    const char *source_kind; /* static */
    char **paths;
    size_t path_count;
    struct read_ahead *ahead;
    struct event_source events;  /* the steps that are looked at are in it, once they are known */
    struct owner_source *owners; /* NULL: no block was given one later */
    struct stepping stepping;
    /* Of whoever reads: the thread that reads ahead. */
    struct input *input; /* of paths[next_path - 1] */
    size_t next_path;
    /* The first that was passed over. */
    enum mt_result damage_result;
    struct mt_error damage;
};

struct mt_answer {
    struct report *report;
};

/* Behind the damage in an input comes the next input, if what is there is wanted. */
static enum mt_result pass_over(struct mt_trace *trace, enum mt_result result,
                                struct mt_error *error)
{
    if (!model_wants_partial(trace->model) || (result != MT_CORRUPT && result != MT_IO))
        return result;
    if (trace->damage_result == MT_OK) {
        trace->damage_result = result;
        trace->damage = *error;
    }
    model_note_damage(trace->model, error);
    input_close(trace->input);
    trace->input = NULL;
    return MT_OK;
}

/* The events of all inputs, one after the other. */
static enum mt_result events_next(void *context, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct mt_trace *trace = context;
    enum mt_result result = MT_OK;

    *count = 0;
    while (result == MT_OK && !*count) {
        if (!trace->input) {
            if (trace->next_path == trace->path_count)
                return MT_OK;
            result =
                input_open(trace->paths[trace->next_path++], trace->model, &trace->input, error);
            if (result != MT_OK) {
                result = pass_over(trace, result, error);
                continue;
            }
            trace->source_kind = input_kind_of(trace->input)->name;
        }
        result = input_next(trace->input, batch, capacity, count, error);
        if (result != MT_OK) {
            result = pass_over(trace, result, error);
            *count = 0;
        } else if (!*count) {
            input_close(trace->input);
            trace->input = NULL;
        }
    }
    return result;
}

static enum mt_result events_rewind(void *context, struct mt_error *error)
{
    struct mt_trace *trace = context;

    (void)error;
    model_rewind(trace->model);
    input_close(trace->input);
    trace->input = NULL;
    trace->next_path = 0;
    return MT_OK;
}

static enum mt_result read_ahead_begin(struct mt_trace *trace, struct mt_error *error)
{
    struct event_source all = {trace, events_rewind, events_next, NULL};

    trace->ahead = read_ahead_create(&all, alone_events);
    if (!trace->ahead)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for batches of events");
    trace->events = read_ahead_events(trace->ahead);
    return MT_OK;
}

/* Adds all up from where the source stands. finder: NULL: no steps are looked for. */
static enum mt_result read_all(const struct event_source *events, struct tally *tally,
                               struct step_finder *finder, struct mt_error *error)
{
    struct event_reader reader;
    enum mt_result result = event_reader_begin(&reader, events, error);
    const struct event *batch;
    size_t count = 1;

    while (result == MT_OK && count) {
        result = event_reader_next(&reader, &batch, &count, error);
        if (result != MT_OK || !count)
            break;
        result = tally_feed(tally, batch, count, error);
        if (finder)
            step_finder_feed(finder, batch, count);
    }
    event_reader_end(&reader);
    return result;
}

static enum mt_result keep_paths(struct mt_trace *trace, const char *const *paths, size_t count,
                                 struct mt_error *error)
{
    trace->paths = calloc(count + 1, sizeof(*trace->paths));
    for (; trace->paths && trace->path_count < count; trace->path_count++) {
        trace->paths[trace->path_count] = strdup(paths[trace->path_count]);
        if (!trace->paths[trace->path_count])
            break;
    }
    if (trace->path_count < count || !trace->paths)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", count ? paths[0] : "it");
    return MT_OK;
}

/* Adds everything up again, with other steps or owners. */
static enum mt_result read_again(struct mt_trace *trace, struct tally *tally,
                                 struct mt_error *error)
{
    enum mt_result result = trace->events.rewind(trace->events.context, error);

    if (result == MT_OK)
        result = read_all(&trace->events, tally, NULL, error);
    return result;
}

/* Blocks that were given an owner later have it from their beginning. */
static enum mt_result read_owned(struct mt_trace *trace, struct mt_error *error)
{
    enum mt_result result;

    if (!tally_event_count(trace->tally, EVENT_BLOCK_OWNER))
        return MT_OK;
    result = owner_source_create(&trace->events, trace->model, &trace->owners, error);
    if (result != MT_OK)
        return result;
    trace->events = owner_source_events(trace->owners);
    tally_destroy(trace->tally);
    trace->tally = NULL;
    result = tally_create(trace->model, &trace->tally, error);
    return result == MT_OK ? read_again(trace, trace->tally, error) : result;
}

/* The second reading takes the place of the first, unless the steps that it found are none. */
static enum mt_result read_stepped(struct mt_trace *trace, struct mt_error *error)
{
    struct tally *marked = trace->tally, *stepped = NULL;
    bool is_changed;
    enum mt_result result;

    tally_finish(marked);
    result = stepping_begin(&trace->stepping, trace->model, trace->symbols, &trace->events,
                            &is_changed, error);
    if (result != MT_OK || !is_changed)
        return result;
    result = tally_create(trace->model, &stepped, error);
    if (result == MT_OK)
        result = read_again(trace, stepped, error);
    if (result == MT_OK)
        tally_finish(stepped);
    if (result == MT_OK && stepping_confirm(&trace->stepping, stepped)) {
        trace->tally = stepped;
        stepped = marked;
        if (step_choice_is_made(&trace->stepping.choice) && !tally_step_count(trace->tally))
            result = mt_error_set(error, MT_NO_DATA,
                                  "the recording has %zu steps, and none of those asked for",
                                  tally_step_count(marked));
    } else {
        trace->events = stepping_marked_events(&trace->stepping);
    }
    tally_destroy(stepped);
    return result;
}

/* A caller built against an older header has a smaller struct. */
static bool has_option(const struct mt_open_options *options, size_t end)
{
    return options && options->size_bytes >= end;
}

#define HAS_OPTION(options, member)                                                                \
    has_option(options, offsetof(struct mt_open_options, member) + sizeof((options)->member))

static enum mt_result stepping_read(struct mt_trace *trace, const struct mt_open_options *options,
                                    struct mt_error *error)
{
    struct step_schedule schedule = {0};

    if (!HAS_OPTION(options, schedule))
        return stepping_init(&trace->stepping, trace->model, NULL, NULL, NULL, error);
    schedule = (struct step_schedule){options->schedule.skip_first, options->schedule.wait,
                                      options->schedule.warmup, options->schedule.active,
                                      options->schedule.repeat};
    return stepping_init(&trace->stepping, trace->model, options->steps, &schedule,
                         options->step_site, error);
}

static enum mt_result configure_symbols(struct symbols *symbols,
                                        const struct mt_open_options *options,
                                        struct mt_error *error)
{
    if (!HAS_OPTION(options, debug_folders))
        return MT_OK;
    return symbols_configure(symbols,
                             &(struct symbols_options){
                                 .rule_files = options->site_rules,
                                 .sysroot = options->sysroot,
                                 .debug_folders = options->debug_folders,
                             },
                             error);
}

static enum mt_result open_all(struct mt_trace *trace, const struct mt_open_options *options,
                               struct mt_error *error)
{
    enum mt_result result = model_create(&trace->model, error);

    if (result == MT_OK && HAS_OPTION(options, is_partial) && options->is_partial)
        model_want_partial(trace->model);
    if (result == MT_OK)
        result = read_ahead_begin(trace, error);
    if (result == MT_OK)
        result = tally_create(trace->model, &trace->tally, error);
    if (result == MT_OK)
        result = symbols_create(trace->model, &trace->symbols, error);
    if (result == MT_OK)
        result = configure_symbols(trace->symbols, options, error);
    if (result == MT_OK)
        result = stepping_read(trace, options, error);
    if (result == MT_OK)
        result = read_all(&trace->events, trace->tally, trace->stepping.finder, error);
    if (result == MT_OK)
        result = read_owned(trace, error);
    if (result == MT_OK)
        result = read_stepped(trace, error);
    if (result == MT_OK)
        result = model_status(trace->model, error);
    if (result == MT_OK && !tally_counts_of(trace->tally)->events && trace->damage_result != MT_OK)
        result = mt_error_set(error, trace->damage_result, "%s", trace->damage.message);
    return result;
}

enum mt_result mt_trace_open(const char *const *paths, size_t count, struct mt_trace **out,
                             struct mt_error *error)
{
    return mt_trace_open_with(paths, count, NULL, out, error);
}

enum mt_result mt_trace_open_with(const char *const *paths, size_t count,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error)
{
    struct mt_trace *trace = calloc(1, sizeof(*trace));
    enum mt_result result;

    if (!trace)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", count ? paths[0] : "it");
    trace->source_kind = "nothing";
    result = keep_paths(trace, paths, count, error);
    if (result == MT_OK)
        result = open_all(trace, options, error);
    if (result != MT_OK) {
        mt_trace_close(trace);
        return result;
    }
    *out = trace;
    return MT_OK;
}

void mt_trace_close(struct mt_trace *trace)
{
    if (!trace)
        return;
    read_ahead_destroy(trace->ahead);
    input_close(trace->input);
    stepping_release(&trace->stepping);
    owner_source_destroy(trace->owners);
    symbols_destroy(trace->symbols);
    tally_destroy(trace->tally);
    model_destroy(trace->model);
    for (size_t i = 0; i < trace->path_count; i++)
        free(trace->paths[i]);
    free(trace->paths);
    free(trace);
}

struct model *trace_model(const struct mt_trace *trace)
{
    return trace->model;
}

const char *trace_path(const struct mt_trace *trace)
{
    return trace->path_count ? trace->paths[0] : "";
}

uint64_t mt_trace_lost_count(const struct mt_trace *trace)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < model_process_count(trace->model); i++)
        for (size_t kind = 0; kind < MT_LOST_KINDS; kind++)
            sum += model_process_at(trace->model, (uint16_t)i)->lost_counts[kind];
    return sum;
}

bool mt_trace_is_complete(const struct mt_trace *trace)
{
    return !model_is_incomplete(trace->model) && mt_trace_lost_count(trace) == 0;
}

uint64_t mt_trace_event_count(const struct mt_trace *trace)
{
    return tally_counts_of(trace->tally)->events;
}

static void read_block_options(struct question *question, const struct mt_ask_options *options)
{
    if (options->margin_percent)
        question->margin_percent = options->margin_percent < 100 ? options->margin_percent : 100;
    question->blocks = (struct block_filter){
        .name = options->block_name,
        .least_bytes = options->block_least_bytes,
        .most_bytes = options->block_most_bytes ? options->block_most_bytes : UINT64_MAX,
        .from_ns = options->block_from_ns,
        .to_ns = options->block_to_ns ? options->block_to_ns : UINT64_MAX,
    };
}

/* A caller built against an older header has a smaller struct. */
static void read_options(struct question *question, const struct mt_ask_options *options)
{
    if (!options)
        return;
    if (options->size_bytes >= offsetof(struct mt_ask_options, warm_up_steps) &&
        options->top != MT_TOP_DEFAULT)
        question->top = options->top;
    if (options->size_bytes >= offsetof(struct mt_ask_options, margin_percent))
        question->warm_up_steps =
            options->warm_up_steps < 0 ? WARM_UP_DEFAULT : options->warm_up_steps;
    if (options->size_bytes >= offsetof(struct mt_ask_options, flags))
        read_block_options(question, options);
    if (options->size_bytes >= offsetof(struct mt_ask_options, stack_depth))
        question->is_for_pictures = options->flags & MT_ASK_PICTURES;
    if (options->size_bytes >= offsetof(struct mt_ask_options, allocator_settings)) {
        question->stack_depth = options->stack_depth;
        question->least_percent = options->stack_least_percent;
    }
    if (options->size_bytes >= sizeof(*options))
        question->allocator_settings = options->allocator_settings;
}

struct question trace_question(const struct mt_trace *trace)
{
    return (struct question){
        .tally = trace->tally,
        .model = trace->model,
        .symbols = trace->symbols,
        .events = &trace->events,
        .source_kind = trace->source_kind,
        .steps = &trace->stepping.rule,
        .step_name = trace->stepping.site_name,
        .has_chosen_steps = step_choice_is_made(&trace->stepping.choice),
        .warm_up_steps = WARM_UP_DEFAULT,
        .margin_percent = NEAR_PEAK_PERCENT,
        .blocks = {.most_bytes = UINT64_MAX, .to_ns = UINT64_MAX},
    };
}

static struct question question_make(struct mt_trace *trace, size_t top,
                                     const struct mt_ask_options *options)
{
    struct question question = trace_question(trace);

    question.top = top;
    read_options(&question, options);
    return question;
}

static struct mt_answer *answer_create(const char *name, struct mt_error *error)
{
    struct mt_answer *answer = calloc(1, sizeof(*answer));

    if (answer && report_create(name, &answer->report, error) == MT_OK)
        return answer;
    if (!answer)
        mt_error_set(error, MT_NO_MEMORY, "no memory for an answer");
    free(answer);
    return NULL;
}

static enum mt_result answer_give(struct mt_answer *answer, enum mt_result result,
                                  struct mt_answer **out, struct mt_error *error)
{
    if (result == MT_OK)
        result = report_status(answer->report, error);
    if (result == MT_OK)
        *out = answer;
    else
        mt_answer_close(answer);
    return result;
}

enum mt_result mt_trace_ask(struct mt_trace *trace, const char *name,
                            const struct mt_ask_options *options, struct mt_answer **out,
                            struct mt_error *error)
{
    const struct answer_kind *kind = answer_kind_find(name);
    struct question question;
    struct allocator_settings ignored = {.pad_bytes = 0};
    struct mt_answer *answer;
    enum mt_result result = MT_OK;

    if (!kind)
        return mt_error_set(error, MT_USAGE, "there is no question named %s", name);
    question = question_make(trace, kind->top, options);
    if (question.allocator_settings)
        result = allocator_settings_read(question.allocator_settings, &ignored, error);
    if (result != MT_OK)
        return result;
    answer = answer_create(name, error);
    if (!answer)
        return MT_NO_MEMORY;
    analyses_run(kind->analyses, question.is_for_pictures ? answer_page_analyses(kind) : NULL,
                 &question, answer->report);
    return answer_give(answer, MT_OK, out, error);
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

enum mt_result mt_trace_diff(const struct mt_diff_side *sides, size_t side_count,
                             const struct mt_ask_options *options, struct mt_answer **out,
                             struct mt_error *error)
{
    struct question questions[DIFF_SIDES_MOST];
    const struct question *on[DIFF_SIDES_MOST];
    const char *names[DIFF_SIDES_MOST];
    struct held_stretch stretches[DIFF_SIDES_MOST];
    struct diff_question diff = {on, names, stretches, side_count};
    struct mt_answer *answer;
    enum mt_result result;

    if (side_count < diff_sides_least || side_count > DIFF_SIDES_MOST)
        return mt_error_set(error, MT_USAGE, "2 to %d recordings or steps can be compared, not %zu",
                            DIFF_SIDES_MOST, side_count);
    for (size_t i = 0; i < side_count; i++) {
        questions[i] = question_make(sides[i].trace, diff_top, options);
        on[i] = &questions[i];
        names[i] = sides[i].name ? sides[i].name : "";
        stretches[i] = (struct held_stretch){sides[i].is_step, sides[i].step_number};
    }
    answer = answer_create("diff", error);
    if (!answer)
        return MT_NO_MEMORY;
    result = analyse_diff(&diff, answer->report, error);
    if (result == MT_OK)
        draw_sides(questions, sides, side_count, answer->report);
    return answer_give(answer, result, out, error);
}

static const enum compare_level compare_levels[] = {
    [MT_COMPARE_OPERATORS] = COMPARE_OPERATORS,
    [MT_COMPARE_KERNELS] = COMPARE_KERNELS,
};

enum mt_result mt_trace_compare_csv(struct mt_trace *base, struct mt_trace *current,
                                    enum mt_compare_level level, FILE *out, struct mt_error *error)
{
    struct question questions[] = {question_make(base, 0, NULL), question_make(current, 0, NULL)};
    enum compare_level of = compare_levels[level];
    struct compare_list lists[2] = {{0}};
    enum mt_result result = compare_read(&questions[0], of, &lists[0], error);

    if (result == MT_OK)
        result = compare_read(&questions[1], of, &lists[1], error);
    if (result == MT_OK)
        result = compare_write(&lists[0], &lists[1], of, out, error);
    compare_list_release(&lists[0]);
    compare_list_release(&lists[1]);
    return result;
}

enum mt_result mt_memscope_compare_csv(const char *base, const char *current,
                                       enum mt_compare_level level, FILE *out,
                                       struct mt_error *error)
{
    enum compare_level of = compare_levels[level];
    struct compare_list lists[2] = {{0}};
    struct model *texts;
    enum mt_result result = model_create(&texts, error);

    if (result != MT_OK)
        return result;
    result = compare_read_strict(base, of, texts, &lists[0], error);
    if (result == MT_OK)
        result = compare_read_strict(current, of, texts, &lists[1], error);
    if (result == MT_OK)
        result = compare_write(&lists[0], &lists[1], of, out, error);
    compare_list_release(&lists[0]);
    compare_list_release(&lists[1]);
    model_destroy(texts);
    return result;
}

void mt_answer_close(struct mt_answer *answer)
{
    if (!answer)
        return;
    report_destroy(answer->report);
    free(answer);
}

enum mt_outcome mt_answer_outcome(const struct mt_answer *answer)
{
    static const enum mt_outcome outcomes[] = {
        [REPORT_FINE] = MT_OUTCOME_FINE,
        [REPORT_NO_DATA] = MT_OUTCOME_NO_DATA,
        [REPORT_FOUND] = MT_OUTCOME_FOUND,
    };

    return outcomes[report_outcome_of(answer->report)];
}

size_t mt_answer_verdict_count(const struct mt_answer *answer)
{
    return report_verdict_count(answer->report);
}

const char *mt_answer_verdict_at(const struct mt_answer *answer, size_t index)
{
    return report_verdict_at(answer->report, index);
}

enum mt_result mt_answer_write(const struct mt_answer *answer, const char *format, FILE *out,
                               struct mt_error *error)
{
    const struct report_writer *writer = report_writer_find(format);

    if (!writer)
        return mt_error_set(error, MT_USAGE, "there is no format named %s", format);
    errno = 0;
    if (report_write(writer, answer->report, out) && fflush(out) == 0)
        return MT_OK;
    return mt_error_set(error, MT_IO, "the answer cannot be written: %s",
                        strerror(errno ? errno : EIO));
}

static bool is_an_input(const struct mt_trace *trace, const char *path)
{
    struct stat output, input;

    if (!path || stat(path, &output) != 0)
        return false;
    for (size_t i = 0; i < trace->path_count; i++)
        if (stat(trace->paths[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return true;
    return false;
}

enum mt_result mt_trace_export(struct mt_trace *trace, const char *name, const char *path,
                               struct mt_error *error)
{
    const struct exporter *exporter = exporter_find(name);
    struct question question = trace_question(trace);

    if (!exporter)
        return mt_error_set(error, MT_USAGE, "there is no exporter named %s", name);
    if (is_an_input(trace, path))
        return mt_error_set(error, MT_USAGE, "%s is an input; write somewhere else", path);
    return export_write(exporter, &question, trace->model, path, error);
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

const char *mt_format_at(size_t index, const char **meaning)
{
    const struct report_writer *writer = report_writers;

    while (writer->name && index--)
        writer++;
    if (writer->name && meaning)
        *meaning = writer->meaning;
    return writer->name;
}

const char *mt_exporter_at(size_t index, const char **meaning)
{
    const struct exporter *exporter = exporters;

    while (exporter->name && index--)
        exporter++;
    if (exporter->name && meaning)
        *meaning = exporter->meaning;
    return exporter->name;
}
