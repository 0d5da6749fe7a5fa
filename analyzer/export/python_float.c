/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotients as Python prints floats.
 *
 * A decimal of at most 15 digits that is exact is the shortest, as no two of those are one double.
 * Else more and more digits are tried.
 */
#include "python_float.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { safe_digits = 15, most_digits = 17 };

static unsigned digits_of(uint64_t number)
{
    unsigned count = 1;

    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

/* False when it has more digits than are safe. Below 0.0001 there would be an exponent. */
static int write_exactly(char *text, uint64_t number, uint64_t divisor)
{
    uint64_t rest = number % divisor;
    unsigned digits = digits_of(number / divisor);
    int length = snprintf(text, PYTHON_FLOAT_MOST, "%" PRIu64 ".", number / divisor);

    if (number && number < divisor / 10000 + 1)
        return 0;
    do {
        if (++digits > safe_digits + 1)
            return 0;
        rest *= 10;
        text[length++] = (char)('0' + rest / divisor);
        rest %= divisor;
    } while (rest);
    text[length] = '\0';
    return 1;
}

/* "%g" leaves ".0" away, which repr() has. */
static void end_as_float(char *text)
{
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
}

void python_float(char text[PYTHON_FLOAT_MOST], uint64_t number, uint64_t divisor)
{
    double value = (double)number / (double)divisor;

    if (write_exactly(text, number, divisor))
        return;
    for (int digits = safe_digits; digits <= most_digits; digits++) {
        snprintf(text, PYTHON_FLOAT_MOST, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (!strchr(text, 'e') || value < 1e-4) {
        end_as_float(text);
        return;
    }
    /* Python goes on without an exponent up to 1e16. */
    snprintf(text, PYTHON_FLOAT_MOST, "%.1f", value);
}
