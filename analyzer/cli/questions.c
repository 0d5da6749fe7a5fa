/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that ask the library one question: a row each. What a question means is said by the
 * library, mt_question_at().
 */
#include <string.h>

#include "commands.h"
#include "sentence.h"

/* A question tells: its exit status says no more than whether the recording is whole. */
static int tell_answer(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

static int judge_answer(const struct command *command, const struct options *given)
{
    return answer(command->name, given, true);
}

static int judge_if_asked(const struct command *command, const struct options *given)
{
    const char *fail_on = given->values[OPTION_FAIL_ON];

    if (fail_on && strcmp(fail_on, "leak") != 0)
        return complain(EXIT_USAGE, "--fail-on=%s: only leak is known", fail_on);
    return answer(command->name, given, fail_on != NULL);
}

// clang-format off
#define QUESTION_OPTIONS(...) (const struct option_spec[]){ANSWER_OPTIONS, __VA_ARGS__}
#define END                   {0, 0, NULL, NULL, NULL}
#define MARGIN_OPTION         {OPTION_MARGIN, 0, "margin", "PERCENT", "near the peak: at most so much below it (5)"}
#define WHY_OPTION             {OPTION_WHY, 0, "why", "[=NAME]", "which rule decided, of sites with this in their name, or of all"}
#define WARM_UP_OPTION        {OPTION_WARM_UP, 0, "warm-up", "N", "steps at the beginning that are not judged (chosen)"}

const struct command questions[] = {
    {.name = "report",
     .examples =
         "  leaktide report run.leaktide\n"
         "  leaktide report -f html -o run.html run.leaktide\n"
         "  leaktide report -f html --with-sources -o run.html run.leaktide\n"
         "  leaktide report *_ascend_pt\n",
     .run = judge_if_asked, .options = QUESTION_OPTIONS(
        STEP_OPTIONS, MARGIN_OPTION, WARM_UP_OPTION,
        {OPTION_FAIL_ON, 0, "fail-on", "leak", "exit with 1 when something leaks"},
        {OPTION_WITH_SOURCES, 0, "with-sources", NULL, "with html: lines of source files, where they are here"},
        END)},
    {.name = "leaks",
     .examples =
         "  leaktide leaks run.leaktide\n"
         "  leaktide leaks --warm-up=5 run.leaktide\n"
         "  leaktide leaks --why=train run.leaktide\n"
         "  leaktide leaks --step-site=train_one_batch run.leaktide\n",
     .run = judge_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, WARM_UP_OPTION, WHY_OPTION, END),
     .remark = "Exit status 1 when something leaks, 4 when there are too few steps to judge."},
    {.name = "peak",
     .examples =
         "  leaktide peak run.leaktide\n"
         "  leaktide peak -f csv --table=held_at_peak run.leaktide\n",
     .run = tell_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, MARGIN_OPTION, END)},
    {.name = "stacks",
     .examples =
         "  leaktide stacks --depth=0 run.leaktide\n",
     .run = tell_answer, .options = QUESTION_OPTIONS(
        STEP_OPTIONS,
        {OPTION_DEPTH, 0, "depth", "N", "so many calls of each stack; 0 for all"},
        {OPTION_MIN_PERCENT, 0, "min-percent", "N", "leave out branches with less (1)"},
        END)},
    {.name = "blocks",
     .examples =
         "  leaktide blocks --min-size=1M --at=1.25s run.leaktide\n"
         "  leaktide blocks -f csv -o blocks.csv run.leaktide\n",
     .run = tell_answer, .options = QUESTION_OPTIONS(
        STEP_OPTIONS,
        {OPTION_NAME, 0, "name", "TEXT", "with this in the name of the site, operator or owner"},
        {OPTION_MIN_SIZE, 0, "min-size", "SIZE", "of at least this size: 4096, 64K, 1.5G"},
        {OPTION_MAX_SIZE, 0, "max-size", "SIZE", "of at most this size"},
        {OPTION_FROM, 0, "from", "TIME", "still alive then: 1.25s, 300ms; since the start, or 1970"},
        {OPTION_TO, 0, "to", "TIME", "made by then"},
        {OPTION_AT, 0, "at", "TIME", "alive at that moment"},
        END)},
    {.name = "steps", .run = judge_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, END)},
    {.name = "ops", .run = tell_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, END)},
    {.name = "breakdown", .run = tell_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, END)},
    {.name = "layers",
     .examples =
         "  leaktide run --layers=yes -o run.leaktide -- python3 train.py\n"
         "  leaktide layers --depth=3 run.leaktide\n",
     .run = tell_answer, .options = QUESTION_OPTIONS(
        STEP_OPTIONS,
        {OPTION_DEPTH, 0, "depth", "N", "so many names of each path; 0: as many as fit on a screen (0)"},
        END)},
    {.name = "modules", .run = tell_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, END)},
    {.name = "ranks", .run = ranks_answer, .options = QUESTION_OPTIONS(
        STEP_OPTIONS, PARALLEL_OPTION,
        {OPTION_FAIL_ON, 0, "fail-on", "leak|finding", "exit with 1 when a rank leaks; on any finding"},
        {OPTION_ENGINE, 0, "engine", "duckdb|spark", "summaries are compared by this engine"},
        {OPTION_SQL, 0, "sql", "duckdb|spark", "print the query that such an engine is asked"},
        END),
     .examples =
         "  leaktide ranks summaries\n"
         "  leaktide ranks --sql=duckdb s3://bucket/summaries > ranks.sql\n",
     .remark = "INPUT: recordings that are read together, or summaries of leaktide summarize."},
    {.name = "info", .run = tell_answer, .options = QUESTION_OPTIONS(STEP_OPTIONS, END)},
    {.name = "frag",
     .examples =
         "  leaktide frag --try=max_split_size_mb:128 snapshot.pickle\n",
     .run = tell_answer, .options = QUESTION_OPTIONS(
        {OPTION_TRY, 0, "try", "SETTINGS", "what these settings of the allocator would reserve"},
        END)},
    {.name = "oom", .run = tell_answer, .options = QUESTION_OPTIONS(
        {OPTION_WARM_UP, 0, "warm-up", "N", "growth counts since the end of this step (2)"},
        END)},
    {.name = "inefficient", .run = tell_answer, .options = QUESTION_OPTIONS(END)},
    {.name = "advice", .run = tell_answer, .options = QUESTION_OPTIONS(END)},
};
// clang-format on

const size_t question_count = sizeof(questions) / sizeof(questions[0]);

const char *command_meaning(const struct command *command)
{
    const char *name, *meaning = command->meaning;

    for (size_t i = 0; !meaning && (name = mt_question_at(i, &meaning)); i++)
        if (strcmp(name, command->name) != 0)
            meaning = NULL;
    return translated(meaning);
}

const char *command_operands(const struct command *command)
{
    return command->operands ? command->operands : "INPUT...";
}
