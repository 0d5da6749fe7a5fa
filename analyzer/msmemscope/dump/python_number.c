/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number as Python prints it.
 */
#include "python_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "d.ddde+XX" with as few digits as it takes. */
static void shortest(double number, char *text)
{
    for (int digits = 0; digits < 17; digits++) {
        snprintf(text, PYTHON_NUMBER_BYTES, "%.*e", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

void python_number(double number, char *text)
{
    char digits[PYTHON_NUMBER_BYTES], *mark;
    int exponent, decimals;

    shortest(number, digits);
    mark = strchr(digits, 'e');
    exponent = atoi(mark + 1);
    if (exponent < -4 || exponent >= 16) {
        strcpy(text, digits); /* two digits of exponent at least, as in C */
        return;
    }
    decimals = (int)(mark - digits) - 1; /* with the point */
    decimals = (decimals > 0 ? decimals - 1 : 0) - exponent;
    snprintf(text, PYTHON_NUMBER_BYTES, "%.*f", decimals > 1 ? decimals : 1, number);
}
