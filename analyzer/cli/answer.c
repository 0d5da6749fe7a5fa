/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all questions have in common: open the inputs, ask, write, and turn the outcome into an
 * exit code.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "leaktide/analyzer.h"
#include "screen.h"
#include "waiting.h"

char answer_formats[64];

void answer_formats_read(void)
{
    size_t used = 0;
    const char *name;

    for (size_t i = 0; (name = mt_format_at(i, NULL)) && used < sizeof(answer_formats); i++)
        used += (size_t)snprintf(answer_formats + used, sizeof(answer_formats) - used, "%s%s",
                                 i ? "|" : "", name);
}

static const char *format_name_at(const void *context, size_t i)
{
    (void)context;
    return mt_format_at(i, NULL);
}

static enum mt_result format_check(const char *format, struct mt_error *error)
{
    const char *nearest = nearest_name(format, format_name_at, NULL);
    const char *name;

    for (size_t i = 0; (name = mt_format_at(i, NULL)); i++)
        if (strcmp(name, format) == 0)
            return MT_OK;
    return mt_error_set(error, MT_USAGE, "--format=%s: there is no such format; %s%s%s", format,
                        nearest ? "did you mean " : answer_formats, nearest ? nearest : "",
                        nearest ? "?" : " are known");
}

static enum mt_result block_options_read(const struct options *options, struct mt_ask_options *ask,
                                         struct mt_error *error)
{
    const char *at = options->values[OPTION_AT];
    const char *from = at ? at : options->values[OPTION_FROM];
    const char *to = at ? at : options->values[OPTION_TO];
    size_t margin = 0;
    enum mt_result result;

    if (at && (options->values[OPTION_FROM] || options->values[OPTION_TO]))
        return mt_error_set(error, MT_USAGE, "--at goes with neither --from nor --to");
    ask->block_name = options->values[OPTION_NAME];
    ask->allocator_settings = options->values[OPTION_TRY];
    ask->why = options->values[OPTION_WHY];
    result = option_number("margin", options->values[OPTION_MARGIN], 100, &margin, error);
    ask->margin_percent = (unsigned)margin;
    if (result == MT_OK)
        result = option_size("min-size", options->values[OPTION_MIN_SIZE], &ask->block_least_bytes,
                             error);
    if (result == MT_OK)
        result = option_size("max-size", options->values[OPTION_MAX_SIZE], &ask->block_most_bytes,
                             error);
    if (result == MT_OK)
        result = option_time(at ? "at" : "from", from, &ask->block_from_ns, error);
    if (result == MT_OK)
        result = option_time(at ? "at" : "to", to, &ask->block_to_ns, error);
    return result;
}

static enum mt_result stack_options_read(const struct options *options, struct mt_ask_options *ask,
                                         struct mt_error *error)
{
    size_t depth = 0, percent = 1;
    enum mt_result result =
        option_number("depth", options->values[OPTION_DEPTH], 1024, &depth, error);

    if (result == MT_OK)
        result =
            option_number("min-percent", options->values[OPTION_MIN_PERCENT], 100, &percent, error);
    ask->stack_depth = (unsigned)depth;
    ask->stack_least_percent = (unsigned)percent;
    return result;
}

/* A program that reads gets everything; a person gets as much as the question thinks right. */
static enum mt_result ask_options_read(const struct options *options, bool is_for_programs,
                                       struct mt_ask_options *ask, struct mt_error *error)
{
    size_t warm_up = 0;
    enum mt_result result;

    *ask = (struct mt_ask_options){.size_bytes = sizeof(*ask),
                                   .top = is_for_programs ? 0 : MT_TOP_DEFAULT,
                                   .warm_up_steps = -1};
    result = option_number("top", options->values[OPTION_TOP], 1000000000, &ask->top, error);
    if (result == MT_OK)
        result =
            option_number("warm-up", options->values[OPTION_WARM_UP], 1000000000, &warm_up, error);
    if (options->values[OPTION_WARM_UP])
        ask->warm_up_steps = (int)warm_up;
    if (result == MT_OK)
        result = block_options_read(options, ask, error);
    if (result == MT_OK)
        result = stack_options_read(options, ask, error);
    return result;
}

enum mt_result answer_options_read(const struct options *options, const char **format,
                                   struct mt_ask_options *ask, struct mt_error *error)
{
    enum mt_result result;

    *format = options->values[OPTION_FORMAT] ? options->values[OPTION_FORMAT] : "text";
    result = format_check(*format, error);
    if (result == MT_OK)
        result = ask_options_read(options, strcmp(*format, "text") != 0, ask, error);
    if (result == MT_OK && strcmp(*format, "html") == 0)
        ask->flags |= MT_ASK_PICTURES;
    else if (result == MT_OK && options->values[OPTION_WITH_SOURCES])
        result = mt_error_set(error, MT_USAGE, "--with-sources needs --format=html");
    return result;
}

FILE *answer_open(const struct options *options)
{
    const char *path = options->values[OPTION_OUTPUT];

    waiting_end();
    return path ? fopen(path, "w") : stdout;
}

int answer_finish(FILE *out, const struct options *options, enum mt_result result,
                  const struct mt_error *error)
{
    const char *path = options->values[OPTION_OUTPUT];

    if (path && fclose(out) != 0 && result == MT_OK)
        return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
    if (result == MT_OK)
        return EXIT_FINE;
    return complain_about(result, error);
}

/* On the terminal that standard output is; what is longer than it goes through a pager. */
static int write_to_screen(const struct mt_answer *given, const char *format,
                           const struct mt_write_options *how, const struct options *options)
{
    struct screen_page page;
    struct mt_error error;
    enum mt_result result;

    if (!screen_page_begin(&page))
        return complain(EXIT_INPUT, "no memory for what is shown");
    result = mt_answer_write_with(given, format, how, page.out, &error);
    screen_page_end(&page, result == MT_OK, !options->values[OPTION_NO_PAGER]);
    return result == MT_OK ? EXIT_FINE : complain_about(result, &error);
}

int answer_write(const struct mt_answer *given, const char *format, const struct options *options)
{
    struct mt_write_options how = {.size_bytes = sizeof(how),
                                   .table = options->values[OPTION_TABLE]};
    bool is_text = strcmp(format, "text") == 0, is_file = options->values[OPTION_OUTPUT] != NULL;
    struct mt_error error;
    enum mt_result result;
    FILE *out;

    waiting_end();
    if (options->values[OPTION_WITH_SOURCES])
        how.flags |= MT_WRITE_SOURCES;
    if (is_text)
        screen_write_options(options, is_file, &how);
    if (is_text && !is_file && screen_is_terminal(STDOUT_FILENO))
        return write_to_screen(given, format, &how, options);
    out = answer_open(options);
    if (!out)
        return complain(EXIT_USAGE, "%s: %s", options->values[OPTION_OUTPUT], strerror(errno));
    result = mt_answer_write_with(given, format, &how, out, &error);
    if (result == MT_IO) /* of the file that is written, not of one that is read */
        result = MT_USAGE;
    return answer_finish(out, options, result, &error);
}

static int ask_and_write(struct mt_trace *trace, const char *question, const char *format,
                         const struct options *options, const struct mt_ask_options *ask,
                         bool is_judged)
{
    struct mt_answer *given;
    struct mt_error error;
    enum mt_result result = mt_trace_ask(trace, question, ask, &given, &error);
    enum mt_outcome outcome;
    int code;

    if (result != MT_OK)
        return complain_about(result, &error);
    code = answer_write(given, format, options);
    outcome = mt_answer_outcome(given);
    mt_answer_close(given);
    if (code != EXIT_FINE)
        return code;
    if (is_judged && outcome == MT_OUTCOME_FOUND)
        return EXIT_FOUND;
    if (!mt_trace_is_complete(trace))
        return EXIT_INPUT;
    return is_judged ? (int)exit_code_of_outcome(outcome) : EXIT_FINE;
}

static enum mt_result schedule_read(const struct options *options,
                                    struct mt_step_schedule *schedule, struct mt_error *error)
{
    const struct {
        enum option_id id;
        const char *name;
        uint64_t *number;
    } numbers[] = {
        {OPTION_SKIP_FIRST, "skip-first", &schedule->skip_first},
        {OPTION_WAIT, "wait", &schedule->wait},
        {OPTION_WARMUP, "warmup", &schedule->warmup},
        {OPTION_ACTIVE, "active", &schedule->active},
        {OPTION_REPEAT, "repeat", &schedule->repeat},
    };
    enum mt_result result = MT_OK;

    if (options->values[OPTION_WARMUP] && !options->values[OPTION_ACTIVE])
        return mt_error_set(
            error, MT_USAGE,
            "--warmup belongs to a schedule, and needs --active; --warm-up=%s leaves "
            "the first steps unjudged",
            options->values[OPTION_WARMUP]);
    for (size_t i = 0; result == MT_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        size_t number = 0;

        result = option_number(numbers[i].name, options->values[numbers[i].id], 1000000000, &number,
                               error);
        *numbers[i].number = number;
    }
    return result;
}

enum mt_result open_options_read(const struct options *options, struct mt_open_options *how,
                                 struct mt_error *error)
{
    *how = (struct mt_open_options){.size_bytes = sizeof(*how),
                                    .is_partial = options->values[OPTION_PARTIAL] != NULL,
                                    .steps = options->values[OPTION_CHOSEN_STEPS],
                                    .step_site = options->values[OPTION_STEP_SITE],
                                    .operators = options->values[OPTION_OPERATORS],
                                    .site_rules = options->values[OPTION_SITE_RULES],
                                    .sysroot = options->values[OPTION_SYSROOT],
                                    .debug_folders = options->values[OPTION_DEBUG_DIR],
                                    .on_progress = waiting_note,
                                    .asks_debug_servers = true};
    waiting_begin();
    return schedule_read(options, &how->schedule, error);
}

/* question: the only one, with these flags; NULL: any. operators: unless the options say. */
static enum mt_result open_for(const char *question, uint64_t ask_flags, const char *operators,
                               const struct options *options, const char *const *paths,
                               size_t count, struct mt_trace **trace, struct mt_error *error)
{
    struct mt_open_options how;
    enum mt_result result = open_options_read(options, &how, error);

    how.question = question;
    how.operators = how.operators ? how.operators : operators;
    how.ask_flags = ask_flags;
    return result == MT_OK ? mt_trace_open_with(paths, count, &how, trace, error) : result;
}

enum mt_result open_inputs(const struct options *options, const char *const *paths, size_t count,
                           struct mt_trace **trace, struct mt_error *error)
{
    return open_for(NULL, 0, NULL, options, paths, count, trace, error);
}

enum mt_result open_as_profilers(const struct options *options, const char *const *paths,
                                 size_t count, struct mt_trace **trace, struct mt_error *error)
{
    return open_for(NULL, 0, "profiler", options, paths, count, trace, error);
}

int answer(const char *question, const struct options *options, bool is_judged)
{
    const char *format;
    struct mt_trace *trace;
    struct mt_ask_options ask;
    struct mt_error error;
    enum mt_result result;
    int code;

    if (!options->operand_count)
        return complain(EXIT_USAGE, "%s needs a recording to read; see leaktide %s --help",
                        question, question);
    result = answer_options_read(options, &format, &ask, &error);
    if (result == MT_OK)
        result =
            open_for(question, ask.flags, NULL, options, (const char *const *)options->operands,
                     options->operand_count, &trace, &error);
    if (result != MT_OK)
        return complain_about(result, &error);
    code = ask_and_write(trace, question, format, options, &ask, is_judged);
    mt_trace_close(trace);
    return code;
}
