/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are few letters away. Source: Levenshtein 1966.
 */
#include "nearest_name.h"

#include <string.h>

enum { word_most = 40 };

/* How many letters to add, drop or change; at most a small number, so that it stays cheap. */
static size_t distance(const char *a, const char *b)
{
    size_t row[word_most + 1], length_a = strlen(a), length_b = strlen(b);

    if (length_a > word_most || length_b > word_most)
        return word_most;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t least = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            least = row[j] + 1 < least ? row[j] + 1 : least;
            row[j] = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
        }
    }
    return row[length_b];
}

const char *nearest_name(const char *word, const char *(*name_at)(const void *context, size_t i),
                         const void *context)
{
    const char *nearest = NULL, *name;
    size_t least = strlen(word) / 3 + 2; /* farther is no typing error */

    for (size_t i = 0; (name = name_at(context, i)); i++) {
        size_t steps = distance(word, name);

        if (steps < least) {
            least = steps;
            nearest = name;
        }
    }
    return nearest;
}
