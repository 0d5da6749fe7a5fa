/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotients as Python prints floats: the shortest decimal that reads back as the same double.
 *
 * The profilers' csv files are written by Python; readers compare their cells as text.
 */
#ifndef LEAKTIDE_PYTHON_FLOAT_H
#define LEAKTIDE_PYTHON_FLOAT_H

#include <stdint.h>

enum { PYTHON_FLOAT_MOST = 40 };

/* number / divisor, as repr() has it: "18816.5", "64.0", "9.5367431640625e-07". */
void python_float(char text[PYTHON_FLOAT_MOST], uint64_t number, uint64_t divisor);

#endif
