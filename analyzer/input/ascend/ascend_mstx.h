/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps as a program says them itself, in ranges of mstx: "step 7", "train_step_7", "step start".
 *
 * Ranges are in the table MSTX_EVENTS of databases and in msprof_tx_*.csv, on the host's clock. A
 * program names them as it likes, so only what says nothing but a step is taken for one: a phase
 * ("optimizer step") is none. Where ranges have numbers, those without are left out; where none
 * has, they are numbered from 1 in order of time.
 */
#ifndef LEAKTIDE_ASCEND_MSTX_H
#define LEAKTIDE_ASCEND_MSTX_H

#include "ascend_steps.h"

#define MSTX_NO_NUMBER UINT64_MAX

/* Whether the message of a range means a step; *number is MSTX_NO_NUMBER when it has none. */
bool mstx_step_read(const char *bytes, size_t size_bytes, uint64_t *number);

/* Append what the file tells; errors as the other sources of ascend_steps.h. */
enum mt_result ascend_steps_from_mstx_csv(const char *path, struct ascend_steps *steps,
                                          struct mt_error *error);
enum mt_result ascend_steps_from_mstx_table(const char *path, struct ascend_steps *steps,
                                            struct mt_error *error);

/* Once all are there: numbers for those without. */
void ascend_mstx_number(struct ascend_steps *steps);

#endif
