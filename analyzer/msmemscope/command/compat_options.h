/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of msleaks and msmemscope as a table: parsing, help, shell completion and the man
 * page are made from it.
 */
#ifndef LEAKTIDE_CLI_COMPAT_OPTIONS_H
#define LEAKTIDE_CLI_COMPAT_OPTIONS_H

#include <stdio.h>

#include "compat_request.h"

struct compat_option {
    const char *name;
    char letters[COMPAT_NAMES]; /* 0: none */
    const char *argument;       /* what to write for its value; NULL: a flag */
    const char *meaning;        /* NULL: not in the help; another word for `stands_for` */
    const char *subject;        /* "invalid <subject> input" */
    const char *stands_for;     /* the name of today, where this one is deprecated */
    const char *words;          /* for shells: what the value may be, separated by blanks */
    /* NULL where stands_for has it. Writes what is wrong with the value into `why`. */
    bool (*set)(struct compat_request *request, const char *value, struct text_builder *why);
    bool is_list; /* a full-width comma separates as well */
};

/* Ends with a NULL name. */
extern const struct compat_option compat_options[];

const struct compat_option *compat_option_of_letter(enum compat_name name, char letter);
/* length: of the word up to "=". With allows_short, the beginning of only one name will do. */
const struct compat_option *compat_option_of_name(const char *word, size_t length,
                                                  bool allows_short);

void compat_print_help(const struct compat_generation *generation, FILE *out);

#endif
