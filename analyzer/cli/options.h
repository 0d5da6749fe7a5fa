/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a command: one table each, from which parsing and --help are made.
 */
#ifndef LEAKTIDE_CLI_OPTIONS_H
#define LEAKTIDE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error_sentence.h"
#include "nearest_name.h"

enum option_id {
    OPTION_HELP,
    OPTION_LANGUAGE,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_TOP,
    OPTION_WARM_UP,
    OPTION_CHOSEN_STEPS,
    OPTION_STEP_SITE,
    OPTION_OPERATORS,
    OPTION_SKIP_FIRST,
    OPTION_WAIT,
    OPTION_WARMUP,
    OPTION_ACTIVE,
    OPTION_REPEAT,
    OPTION_PARTIAL,
    OPTION_SITE_RULES,
    OPTION_SYSROOT,
    OPTION_DEPTH,
    OPTION_MIN_PERCENT,
    OPTION_DEBUG_DIR,
    OPTION_MARGIN,
    OPTION_TRY,
    OPTION_WHY,
    OPTION_NAME,
    OPTION_MIN_SIZE,
    OPTION_MAX_SIZE,
    OPTION_FROM,
    OPTION_TO,
    OPTION_AT,
    OPTION_FAIL_ON,
    OPTION_POLICY,
    OPTION_BASELINE,
    OPTION_SUPPRESSIONS,
    OPTION_TRACES,
    OPTION_BASE,
    OPTION_STRICT,
    OPTION_QUIET,
    OPTION_NO_REPORT,
    /* Handed on to the tracer as they are. */
    OPTION_DEVICE,
    OPTION_EVENTS,
    OPTION_OUTPUT_PATH,
    OPTION_SAMPLE_MS,
    OPTION_RING_SIZE,
    OPTION_FOLLOW_CHILDREN,
    OPTION_PYTHON_OBJECTS,
    OPTION_LAYERS,
    OPTION_COLLECT_MODE,
    OPTION_CONTROL,
    OPTION_CONTROL_FILE,
    OPTION_WATCH,
    OPTION_STEPS,
    OPTION_LEVEL,
    OPTION_CALL_STACK,
    OPTION_STACK_MEMORY,
    OPTION_EVERY,
    OPTION_TREE,
    OPTION_TABLE,
    OPTION_VERBOSE,
    OPTION_WIDE,
    OPTION_WITH_SOURCES,
    OPTION_COLOR,
    OPTION_NO_PAGER,
    OPTION_MERGE,
    OPTION_PAGES,
    OPTION_HOST,
    OPTION_RANK,
    OPTION_WORLD_SIZE,
    OPTION_PARALLEL,
    OPTION_ENGINE,
    OPTION_SQL,
    OPTION_LAST,
    OPTION_COUNT
};

struct option_spec {
    enum option_id id;
    char letter; /* 0: none */
    const char *name;
    const char *argument; /* what to write for its value; "[=NAME]": it may; NULL: a flag */
    const char *meaning;
};

enum { OPTION_REPEATS_MOST = 62 };

struct options {
    const char *values[OPTION_COUNT];          /* NULL: not given; a flag is "" */
    const char *repeated[OPTION_REPEATS_MOST]; /* values of the one that may be given often */
    size_t repeated_count;
    char **operands; /* what is left; ends with NULL */
    size_t operand_count;
};

/* Options that every command has. */
extern const struct option_spec common_options[];

/*
 * specs ends with a NULL name; common_options are there too. With stops_at_operand, the first word
 * that is no option ends them: it is a program with options of its own. MT_USAGE and one sentence
 * for an option that does not exist or has no value. argv[0] is the command's name and is passed
 * over; argv is reordered.
 */
enum mt_result options_parse(const struct option_spec *specs, bool stops_at_operand, int argc,
                             char **argv, struct options *options, struct mt_error *error);
/* False: there was no memory for all of it. */
bool options_print(const struct option_spec *specs, FILE *file);

/* What the command calls a member of the library's options: "debug-dir". NULL: nothing. */
const char *option_of_member(const char *member);

/* A whole number from 0 to most; MT_USAGE names the option. value NULL leaves *number alone. */
enum mt_result option_number(const char *name, const char *value, size_t most, size_t *number,
                             struct mt_error *error);

/* A size as 4096, 64K, 1.5G; a time as 250, 1.25s, 3ms, in nanoseconds. As option_number(). */
enum mt_result option_size(const char *name, const char *value, uint64_t *size_bytes,
                           struct mt_error *error);
enum mt_result option_time(const char *name, const char *value, uint64_t *time_ns,
                           struct mt_error *error);

#endif
