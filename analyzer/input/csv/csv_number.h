/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of a csv cell as integers, exactly: no double is involved.
 *
 * Times of today in microseconds with three decimals need 19 digits, a double has 15 to 17.
 */
#ifndef LEAKTIDE_CSV_NUMBER_H
#define LEAKTIDE_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "csv_reader.h"

enum csv_cell {
    CSV_CELL_NUMBER,
    CSV_CELL_MISSING,  /* empty, N/A, NULL */
    CSV_CELL_ROUNDED,  /* 1.69512E+15: a spreadsheet has taken the digits away */
    CSV_CELL_NEGATIVE, /* below zero, where that makes no sense; *value is its size */
    CSV_CELL_TOO_LARGE,
    CSV_CELL_BAD /* not a number */
};

/* Spaces and tabs around it are taken off. */
struct csv_field csv_trim(struct csv_field field);

/* Empty, N/A or NULL. */
bool csv_is_missing(struct csv_field field);

/*
 * value = the number * unit: unit 1000 makes nanoseconds of microseconds. Digits below 1 are cut
 * off. Unit 0, where the header names none, counts as 1. Scientific notation is CSV_CELL_ROUNDED.
 * *value is written for NUMBER and NEGATIVE.
 */
enum csv_cell csv_time(struct csv_field field, uint64_t unit, uint64_t *value);

/* The same for sizes: rounded to the nearest; scientific notation is a number. */
enum csv_cell csv_size(struct csv_field field, uint64_t unit, uint64_t *value);

/* "NPU:3" or "3": 3; -1 when there is no such number. */
int32_t csv_device(struct csv_field field);

#endif
