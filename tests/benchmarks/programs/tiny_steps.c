/* SPDX-License-Identifier: Apache-2.0 */
/* tiny_steps COUNT: a loop whose rounds look like steps, of two events each. */
#include <stdlib.h>

enum { ROUND_BYTES = 8192 }; /* less is no step: step_finder.c */

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;

    for (long i = 0; i < count; i++)
        free(malloc(ROUND_BYTES));
    return 0;
}
