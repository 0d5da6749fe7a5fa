/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide summarize: what is kept of each rank; and leaktide ranks, which asks recordings or
 * summaries.
 */
#define _GNU_SOURCE /* gethostname */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "leaktide/summaries.h"
#include "rank_engine.h"
#include "waiting.h"

static const struct option_spec options[] = {
    {OPTION_OUTPUT, 'o', "output", "DIR", "folder of summaries; with --merge the summary itself"},
    {OPTION_MERGE, 0, "merge", NULL, "the operands are summaries: make one of them"},
    {OPTION_PAGES, 0, "pages", NULL,
     "the page of each rank, too, where ranks --format=html finds it"},
    {OPTION_HOST, 0, "hostname", "NAME", "where it ran (this host)"},
    {OPTION_RANK, 0, "rank", "N", "number of the rank, of one recording of one process"},
    {OPTION_WORLD_SIZE, 0, "world-size", "N", "how many ranks the job has"},
    PARALLEL_OPTION,
    STEP_OPTIONS,
    OPEN_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

/* --- summarize -------------------------------------------------------------------------------- */

static int merge(const struct options *given)
{
    struct mt_error error;
    enum mt_result result =
        mt_summaries_merge((const char *const *)given->operands, given->operand_count,
                           given->values[OPTION_OUTPUT], &error);

    return result == MT_OK ? EXIT_FINE : complain_about(result, &error);
}

static int summarize_one(const struct options *given, const char *path,
                         const struct mt_summary_options *how)
{
    struct mt_open_options reading;
    struct mt_error error;
    enum mt_result result = open_options_read(given, &reading, &error);
    bool is_complete;

    if (result == MT_OK)
        result =
            mt_summarize(path, &reading, how, given->values[OPTION_OUTPUT], &is_complete, &error);
    waiting_end();
    if (result != MT_OK)
        return complain_about(result, &error);
    return is_complete ? EXIT_FINE : EXIT_INPUT;
}

static enum mt_result how_read(const struct options *given, struct mt_summary_options *how,
                               struct mt_error *error)
{
    enum { ranks_most = 1 << 24 };
    size_t rank = 0, world_size = 0;
    enum mt_result result =
        option_number("rank", given->values[OPTION_RANK], ranks_most, &rank, error);

    if (result == MT_OK)
        result = option_number("world-size", given->values[OPTION_WORLD_SIZE], ranks_most,
                               &world_size, error);
    if (result == MT_OK && given->values[OPTION_RANK] && given->operand_count > 1)
        result = mt_error_set(error, MT_USAGE, "--rank is of one recording, not of %zu",
                              given->operand_count);
    how->has_rank = given->values[OPTION_RANK] != NULL;
    how->rank = rank;
    how->has_pages = given->values[OPTION_PAGES] != NULL;
    how->world_size = world_size;
    how->parallel = given->values[OPTION_PARALLEL];
    return result;
}

/* What cannot be read is named, and the others are summarized all the same. */
static int run(const struct command *command, const struct options *given)
{
    char host[256] = "";
    struct mt_summary_options how = {.size_bytes = sizeof(how)};
    struct mt_error error;
    enum mt_result result = how_read(given, &how, &error);
    int code = EXIT_FINE;

    (void)command;
    if (result != MT_OK)
        return complain_about(result, &error);
    if (!given->values[OPTION_OUTPUT])
        return complain(EXIT_USAGE, "summarize needs --output=DIR, where summaries are kept");
    if (!given->operand_count)
        return complain(EXIT_USAGE,
                        "summarize needs a recording to read; see leaktide summarize --help");
    if (given->values[OPTION_MERGE])
        return merge(given);
    gethostname(host, sizeof(host) - 1);
    how.host = given->values[OPTION_HOST] ? given->values[OPTION_HOST] : host;
    for (size_t i = 0; i < given->operand_count && code != EXIT_USAGE; i++) {
        int one = summarize_one(given, given->operands[i], &how);

        code = one == EXIT_FINE ? code : one;
    }
    return code;
}

const struct command command_summarize = {
    .name = "summarize",
    .operands = "INPUT...",
    .meaning = "what is kept of each rank, for leaktide ranks",
    .options = options,
    .run = run,
    .remark = "Each INPUT is a recording of its own. Summaries are folders of Apache Parquet:\n"
              "docs/summaries.md.",
};

/* --- ranks ------------------------------------------------------------------------------------ */

/* At all of them, or at none: else *is_mixed. */
static bool are_summaries(const struct options *given, bool *is_mixed)
{
    size_t count = 0;

    for (size_t i = 0; i < given->operand_count; i++)
        count += mt_summaries_are_at(given->operands[i]);
    *is_mixed = count && count < given->operand_count;
    return count != 0;
}

static int code_of(const struct mt_answer *given, const char *fail_on)
{
    bool has_finding = mt_answer_finding_at(given, 0) != NULL;

    if (fail_on && strcmp(fail_on, "leak") == 0 && mt_answer_outcome(given) == MT_OUTCOME_FOUND)
        return EXIT_FOUND;
    if (fail_on && strcmp(fail_on, "finding") == 0 && has_finding)
        return EXIT_FOUND;
    if (mt_value_number(mt_answer_fact(given, "unread_summary_count")))
        return EXIT_INPUT;
    return fail_on && mt_answer_outcome(given) == MT_OUTCOME_NO_DATA ? EXIT_NO_DATA : EXIT_FINE;
}

/* Recordings, which no engine reads. What is not on this machine may be summaries. */
static bool is_of_recordings(const struct options *given, bool has_summaries)
{
    struct stat status;

    for (size_t i = 0; !has_summaries && i < given->operand_count; i++)
        if (stat(given->operands[i], &status) == 0)
            return true;
    return false;
}

/* The answer of summaries, or of recordings that are read together. */
static enum mt_result ask(const struct options *given, bool is_of_summaries,
                          const struct mt_ask_options *how, struct mt_answer **answer,
                          bool *is_complete, struct mt_error *error)
{
    const char *const *paths = (const char *const *)given->operands;
    struct mt_trace *trace;
    enum mt_result result;

    *is_complete = true;
    if (given->values[OPTION_ENGINE])
        return rank_engine_ask(given->values[OPTION_ENGINE], paths, given->operand_count,
                               how->parallel, answer, error);
    if (is_of_summaries)
        return mt_summaries_ask(paths, given->operand_count, how, answer, error);
    result = open_inputs(given, paths, given->operand_count, &trace, error);
    if (result != MT_OK)
        return result;
    result = mt_trace_ask(trace, "ranks", how, answer, error);
    *is_complete = mt_trace_is_complete(trace);
    mt_trace_close(trace);
    return result;
}

static int print_query(const struct options *given)
{
    FILE *out = answer_open(given);
    struct mt_error error;
    enum mt_result result;

    if (!out)
        return complain(EXIT_USAGE, "%s: %s", given->values[OPTION_OUTPUT], strerror(errno));
    result =
        mt_summaries_query((const char *const *)given->operands, given->operand_count,
                           given->values[OPTION_SQL], given->values[OPTION_PARALLEL], out, &error);
    return answer_finish(out, given, result, &error);
}

/* Where the page will lie, for free(); NULL: nobody knows better than the working directory. */
static char *output_folder(const struct options *given)
{
    const char *path = given->values[OPTION_OUTPUT];
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!slash)
        return NULL;
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

int ranks_answer(const struct command *command, const struct options *given)
{
    const char *format, *fail_on = given->values[OPTION_FAIL_ON];
    struct mt_ask_options how;
    struct mt_answer *answer;
    struct mt_error error;
    bool is_mixed, is_complete;
    bool is_of_summaries = are_summaries(given, &is_mixed);
    enum mt_result result;
    char *page_folder;
    int code;

    if (!given->operand_count)
        return complain(EXIT_USAGE, "%s needs a recording to read; see leaktide %s --help",
                        command->name, command->name);
    if (given->values[OPTION_SQL])
        return print_query(given);
    if (given->values[OPTION_ENGINE] && is_of_recordings(given, is_of_summaries))
        return complain(EXIT_USAGE, "--engine reads summaries of leaktide summarize");
    if (is_mixed)
        return complain(EXIT_USAGE, "ranks reads recordings or summaries, not both at once");
    if (fail_on && strcmp(fail_on, "leak") != 0 && strcmp(fail_on, "finding") != 0)
        return complain(EXIT_USAGE, "--fail-on=%s: leak and finding are known", fail_on);
    result = answer_options_read(given, &format, &how, &error);
    how.parallel = given->values[OPTION_PARALLEL];
    how.page_folder = page_folder = output_folder(given);
    if (result == MT_OK)
        result = ask(given, is_of_summaries, &how, &answer, &is_complete, &error);
    free(page_folder);
    if (result != MT_OK) {
        waiting_end();
        return complain_about(result, &error);
    }
    code = answer_write(answer, format, given);
    if (code == EXIT_FINE)
        code = code_of(answer, fail_on);
    if (code == EXIT_FINE && !is_complete)
        code = EXIT_INPUT;
    mt_answer_close(answer);
    return code;
}
