/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands: questions are rows of questions.c, others have a file each and a line in
 * main/main.c.
 */
#ifndef LEAKTIDE_CLI_COMMANDS_H
#define LEAKTIDE_CLI_COMMANDS_H

#include <stdbool.h>

#include "exit_codes.h"
#include "leaktide/analyzer.h"
#include "options.h"

struct command {
    const char *name;
    const char *operands;              /* for its usage line; NULL: INPUT... */
    const char *meaning;               /* NULL: a question, whose meaning the library knows */
    const struct option_spec *options; /* ends with a NULL name */
    bool stops_at_operand;
    int (*run)(const struct command *command, const struct options *options);
    const char *remark;   /* below the options; may be NULL */
    const char *examples; /* command lines, each with a line feed; may be NULL */
};

extern const struct command command_run, command_diff, command_export, command_gate, command_bless,
    command_suppress, command_ctl, command_account, command_doctor, command_history,
    command_summarize;

extern const struct command questions[];
extern const size_t question_count;

const char *command_meaning(const struct command *command);
const char *command_operands(const struct command *command);

/*
 * "leaktide: " and the sentence on stderr; complain returns the code. The format is a literal; what
 * it names is made harmless for a terminal.
 */
#define complain(code, ...) complain_format((code), "" __VA_ARGS__)
#define tell(...)           tell_format("" __VA_ARGS__)
int complain_format(enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether a sentence was said with EXIT_INPUT; there is no memory for one: that is said with it. */
bool complained_of_input(void);
/* The sentence of a failed call of the library, and which option of the command it is about. */
int complain_about(enum mt_result result, const struct mt_error *error);
/* A verdict after "leaktide: "; what it says first stands out. */
void tell_verdict(const char *sentence);
void tell_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * answer.c: asks the question that is named as the command, and writes the answer. The outcome
 * makes the exit code only where the command judges; else it is 0, or 3 when events are lost.
 */
int answer(const char *question, const struct options *options, bool is_judged);

/* command_summarize.c: the question "ranks", of recordings or of summaries. */
int ranks_answer(const struct command *command, const struct options *options);

/* "text|json|html": the names of mt_format_at(), once main has called this. */
extern char answer_formats[64];
void answer_formats_read(void);

/* What the options say about format and lists; for commands that ask in a way of their own. */
enum mt_result answer_options_read(const struct options *options, const char **format,
                                   struct mt_ask_options *ask, struct mt_error *error);
/* Where the options say the answer goes; NULL when it cannot be opened. finish: an exit code. */
FILE *answer_open(const struct options *options);
int answer_finish(FILE *out, const struct options *options, enum mt_result result,
                  const struct mt_error *error);
/* Writes to where the options say; an exit code. */
int answer_write(const struct mt_answer *given, const char *format, const struct options *options);

/* How the options say that recordings are read: with --partial, also what is left of damaged ones.
 * What is read is shown from here on: waiting.h. */
struct mt_open_options;
enum mt_result open_options_read(const struct options *options, struct mt_open_options *how,
                                 struct mt_error *error);
/* Opens recordings like that. */
struct mt_trace;
enum mt_result open_inputs(const struct options *options, const char *const *paths, size_t count,
                           struct mt_trace **trace, struct mt_error *error);
/* The same; operators have blocks as profilers say it, unless the options do. */
enum mt_result open_as_profilers(const struct options *options, const char *const *paths,
                                 size_t count, struct mt_trace **trace, struct mt_error *error);

/* Rows of the tables of options: how recordings are opened, and what every question has. */
// clang-format off
#define NAME_OPTIONS                                                                               \
    {OPTION_SITE_RULES, 0, "site-rules", "FILES", "more rules for naming sites, FILE[:FILE...]"},  \
    {OPTION_SYSROOT, 0, "sysroot", "DIR", "root of the recorded machine's files"},                 \
    {OPTION_DEBUG_DIR, 0, "debug-dir", "DIRS", "more folders with debug data, DIR[:DIR...]"}
#define OPEN_OPTIONS                                                                               \
    {OPTION_PARTIAL, 0, "partial", NULL, "of damaged inputs, what can be read"},                   \
    {OPTION_OPERATORS, 0, "operators", "profiler|caller",                                          \
     "the innermost operator has a block, or the one that needs it"},                              \
    NAME_OPTIONS

/* Of answers that need no recording. */
#define WRITE_OPTIONS                                                                              \
    {OPTION_FORMAT, 'f', "format", answer_formats, "how the answer is written (text)"},            \
    {OPTION_OUTPUT, 'o', "output", "FILE", "where to (standard output)"},                          \
    {OPTION_TOP, 'n', "top", "N", "rows of a list; 0 for all"},                                    \
    {OPTION_TABLE, 0, "table", "NAME", "with csv and md: this table alone, as JSON calls it"},     \
    {OPTION_VERBOSE, 'v', "verbose", NULL, "on a terminal: all of it, not the first screen alone"},\
    {OPTION_WIDE, 0, "wide", NULL, "on a terminal: all columns, whole names"},                     \
    COLOR_OPTION,                                                                                  \
    {OPTION_NO_PAGER, 0, "no-pager", NULL, "on a terminal: no pager for what is longer than it"}
#define ANSWER_OPTIONS                                                                             \
    WRITE_OPTIONS,                                                                                 \
    OPEN_OPTIONS

#define COLOR_OPTION                                                                               \
    {OPTION_COLOR, 0, "color", "auto|always|never", "colours (auto: on a terminal)"}

#define PARALLEL_OPTION                                                                            \
    {OPTION_PARALLEL, 0, "parallel", "LIST", "how ranks are numbered, as in tp=2,dp=8,pp=4"}

/* Of every question about steps; diff has --steps of its own. */
#define STEP_OPTIONS                                                                               \
    {OPTION_CHOSEN_STEPS, 0, "steps", "LIST", "these steps only, as in 3-7,9"},                    \
    {OPTION_STEP_SITE, 0, "step-site", "NAME", "each alloc or operator so named begins a step"},   \
    {OPTION_SKIP_FIRST, 0, "skip-first", "N", "a schedule, as profilers have it: leave out N, ..."},\
    {OPTION_WAIT, 0, "wait", "N", "... then, again and again: leave out N, ..."},                  \
    {OPTION_WARMUP, 0, "warmup", "N", "... leave out N more, ..."},                                \
    {OPTION_ACTIVE, 0, "active", "N", "... take N, ..."},                                          \
    {OPTION_REPEAT, 0, "repeat", "N", "... so often (0: to the end)"}
// clang-format on

#endif
