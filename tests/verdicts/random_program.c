/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of random work, for customers_agree.py: what its lines keep is said by its arguments.
 *
 *   random_program TURNS MARKED LINE...     LINE: kind, size, number, as in window:2000:8
 *
 *   temporary   freed in the turn that made it
 *   leak        every number-th turn keeps a block for good
 *   cache       keeps the blocks of the first number turns
 *   window      frees a block number turns later
 *   list        one block that is made anew, larger, every number-th turn
 *   late        as leak, and freed before the program ends
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leaktide/tracer.h>

enum { LINES_MAX = 8, TURNS_MAX = 400 };

static void *kept[LINES_MAX][TURNS_MAX];

/* A line of its own for each, as stacks are named by their functions. */
#define LINE(number)                                                                               \
    __attribute__((noinline)) static void *line_##number(void *old, size_t size)                   \
    {                                                                                              \
        char *made = realloc(old, size);                                                           \
        if (made)                                                                                  \
            made[0] = 1;                                                                           \
        __asm__ volatile("" : : "r"(made) : "memory");                                             \
        return made;                                                                               \
    }
LINE(0)
LINE(1)
LINE(2)
LINE(3)
LINE(4)
LINE(5)
LINE(6)
LINE(7)
#undef LINE

static void *(*const lines[LINES_MAX])(void *, size_t) = {line_0, line_1, line_2, line_3,
                                                          line_4, line_5, line_6, line_7};

static void turn_of(int line, const char *text, int turn)
{
    char kind[16];
    unsigned size = 0, number = 1;

    if (sscanf(text, "%15[a-z]:%u:%u", kind, &size, &number) != 3 || !number)
        exit(2);
    if (strcmp(kind, "temporary") == 0)
        free(lines[line](NULL, size));
    else if (strcmp(kind, "list") == 0 && turn % (int)number == 0)
        kept[line][0] = lines[line](kept[line][0], (size_t)size * (unsigned)(turn + 1));
    else if (strcmp(kind, "window") == 0) {
        free(turn >= (int)number ? kept[line][turn - (int)number] : NULL);
        kept[line][turn] = lines[line](NULL, size);
    } else if (strcmp(kind, "cache") == 0 && turn < (int)number)
        kept[line][turn] = lines[line](NULL, size);
    else if ((strcmp(kind, "leak") == 0 || strcmp(kind, "late") == 0) && turn % (int)number == 0)
        kept[line][turn] = lines[line](NULL, size);
}

int main(int count, char **words)
{
    int turns = count > 2 ? atoi(words[1]) : 0;
    int is_marked = count > 2 && atoi(words[2]);

    if (turns <= 0 || turns > TURNS_MAX || count - 3 > LINES_MAX)
        return 2;
    for (int turn = 0; turn < turns; turn++) {
        if (is_marked)
            mt_step_begin();
        for (int line = 0; line < count - 3; line++)
            turn_of(line, words[line + 3], turn);
        if (is_marked)
            mt_step_end();
    }
    for (int line = 0; line < count - 3; line++)
        for (int turn = 0; turn < turns && strncmp(words[line + 3], "late", 4) == 0; turn++)
            free(kept[line][turn]);
    return 0;
}
