/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal that the command writes to: its width, its colours, its links, and a pager.
 *
 * Colours: --color, then NO_COLOR and CLICOLOR_FORCE, then whether it is a terminal that has any.
 */
#ifndef LEAKTIDE_CLI_SCREEN_H
#define LEAKTIDE_CLI_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "leaktide/answer.h"
#include "options.h"
#include "terminal_look.h"

/* What --color says, for all that is written from now on; NULL: it is not given. */
enum mt_result screen_choose_colours(const char *word, struct mt_error *error);

bool screen_is_terminal(int descriptor);
/* How it is written to. Links only where they are known to be understood. */
struct terminal_look screen_look(int descriptor);

/* The same for an answer on standard output, or, is_file, in a file; with --wide and --verbose. */
void screen_write_options(const struct options *options, bool is_file,
                          struct mt_write_options *how);

/* What is shown at once: kept until its length is known. */
struct screen_page {
    FILE *out;
    char *text;
    size_t size_bytes;
};

/* False: there is no memory. */
bool screen_page_begin(struct screen_page *page);
/* Shows it, unless it is not whole; through LEAKTIDE_PAGER, PAGER or less when it is too long. */
void screen_page_end(struct screen_page *page, bool is_whole, bool may_page);

#endif
