/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets its locale after a library made one with the first block of the program. The lock must be
 * free then.
 */
#include <stdio.h>
#include <unistd.h>

#include "early_locale.h"

enum { PATIENCE_S = 30 };

int main(void)
{
    alarm(PATIENCE_S);
    if (!early_locale || !setlocale(LC_ALL, "C.UTF-8") || !setlocale(LC_ALL, "C"))
        return 1;
    puts("fine");
    return 0;
}
