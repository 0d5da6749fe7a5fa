/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is built with a sanitizer. "bad": makes a mistake; "preload": says what is
 * preloaded; "shell COMMAND": has a shell run it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *volatile block = malloc(100);

    if (argc > 1 && strcmp(argv[1], "preload") == 0)
        return puts(getenv("LD_PRELOAD")) < 0;
    if (argc > 2 && strcmp(argv[1], "shell") == 0)
        return system(argv[2]);
    block[3] = 1;
    free(block);
    if (argc > 1 && strcmp(argv[1], "bad") == 0)
        block[3] = 2;
    puts("fine");
    return 0;
}
