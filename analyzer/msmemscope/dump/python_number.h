/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number as Python prints it: the fewest digits that read back as the same double.
 */
#ifndef LEAKTIDE_PYTHON_NUMBER_H
#define LEAKTIDE_PYTHON_NUMBER_H

#include <stddef.h>

enum { PYTHON_NUMBER_BYTES = 40 };

/* 1.0, 0.00048828125, 9.5367431640625e-07. The number is finite and not negative. */
void python_number(double number, char *text);

#endif
