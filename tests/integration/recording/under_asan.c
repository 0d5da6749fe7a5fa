/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is built with AddressSanitizer; with an argument it makes a mistake. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *volatile block = malloc(100);

    (void)argv;
    block[3] = 1;
    free(block);
    if (argc > 1)
        block[3] = 2;
    puts("fine");
    return 0;
}
