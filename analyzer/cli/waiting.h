/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the terminal while reading takes long: how far it is, how fast, how long it still
 * takes.
 */
#ifndef LEAKTIDE_CLI_WAITING_H
#define LEAKTIDE_CLI_WAITING_H

#include "leaktide/analyzer.h"

struct text_builder;

/*
 * From one second on, where standard error is a terminal. One at a time: another begin() or
 * end() does nothing. Nothing else may be written between the two.
 */
void waiting_begin(void);
/* How far it is: for mt_open_options.on_progress, from any thread. Goes on, always. */
bool waiting_note(void *context, const struct mt_progress *progress);
/* Another line instead, cut at the width of the terminal that standard error is; not between
 * begin() and end(). */
void waiting_show(const struct text_builder *line);
/* Takes the line away. */
void waiting_end(void);

#endif
