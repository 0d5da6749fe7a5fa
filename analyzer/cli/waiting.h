/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the terminal while reading takes long: that it goes on, and for how long it has.
 */
#ifndef LEAKTIDE_CLI_WAITING_H
#define LEAKTIDE_CLI_WAITING_H

/*
 * From two seconds on, where standard error is a terminal. One at a time: another begin() or
 * end() does nothing. Nothing else may be written between the two.
 */
void waiting_begin(void);
/* Takes the line away. */
void waiting_end(void);

#endif
