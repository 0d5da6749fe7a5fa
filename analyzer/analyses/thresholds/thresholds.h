/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that decide a verdict, as constants. thresholds.def says what each one keeps out.
 */
#ifndef LEAKTIDE_ANALYSES_THRESHOLDS_H
#define LEAKTIDE_ANALYSES_THRESHOLDS_H

#define THRESHOLD(name, value, unit, keeps_out, tests) name = (value),
#define THRESHOLD_DOUBLE(name, value, unit, keeps_out, tests)
enum threshold {
#include "thresholds.def"
};
#undef THRESHOLD
#undef THRESHOLD_DOUBLE

#define THRESHOLD(name, value, unit, keeps_out, tests)
#define THRESHOLD_DOUBLE(name, value, unit, keeps_out, tests) static const double name = (value);
#include "thresholds.def"
#undef THRESHOLD
#undef THRESHOLD_DOUBLE

#endif
