/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest way from one sequence of names to another.
 *
 * x counts names of the base, y of the other; diagonal k = x - y. A step to the right drops a name
 * of the base, a step down adds one of the other, a diagonal one keeps.
 */
#include "name_diff.h"

#include <stdlib.h>

#include "sequence_diff.h"

struct sequences {
    const uint32_t *base, *other;
    int32_t base_count, other_count;
};

struct pairs {
    struct name_pair *pairs;
    size_t count;
};

static void add(struct pairs *pairs, uint32_t base, uint32_t other)
{
    pairs->pairs[pairs->count++] = (struct name_pair){base, other};
}

/* --- forward ---------------------------------------------------------------------------------- */

/* Where the best way with d differences is on diagonal k: row d holds k = -d, -d + 2 .. d. */
static int32_t *row_of(int32_t *rows, int32_t d)
{
    return rows + (size_t)d * (size_t)(d + 1) / 2;
}

static int32_t cell_at(int32_t *rows, int32_t d, int32_t k)
{
    return row_of(rows, d)[(k + d) / 2];
}

static bool comes_from_above(int32_t *rows, int32_t d, int32_t k)
{
    return k == -d || (k != d && cell_at(rows, d - 1, k - 1) < cell_at(rows, d - 1, k + 1));
}

static int32_t begin_of(int32_t *rows, int32_t d, int32_t k)
{
    if (!d)
        return 0;
    return comes_from_above(rows, d, k) ? cell_at(rows, d - 1, k + 1)
                                        : cell_at(rows, d - 1, k - 1) + 1;
}

static int32_t slide(const struct sequences *s, int32_t x, int32_t y)
{
    while (x < s->base_count && y < s->other_count && s->base[x] == s->other[y]) {
        x++;
        y++;
    }
    return x;
}

/* The number of differences, or -1 when there are more than the rows have room for. */
static int32_t search(const struct sequences *s, int32_t *rows)
{
    for (int32_t d = 0; d <= NAME_DIFF_FORWARD_MOST; d++)
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = begin_of(rows, d, k);

            if (x <= s->base_count && x - k <= s->other_count && x - k >= 0)
                x = slide(s, x, x - k);
            row_of(rows, d)[(k + d) / 2] = x;
            if (x >= s->base_count && x - k >= s->other_count)
                return d;
        }
    return -1;
}

/* From the end back to the beginning; then turned round. */
static void trace_back(const struct sequences *s, int32_t *rows, int32_t d, struct pairs *pairs)
{
    int32_t x = s->base_count, y = s->other_count;
    size_t first = pairs->count, last;

    for (; d >= 0; d--) {
        int32_t k = x - y, begin = begin_of(rows, d, k);

        while (x > begin)
            add(pairs, (uint32_t)--x, (uint32_t)--y);
        if (!d)
            break;
        if (comes_from_above(rows, d, k))
            add(pairs, NAME_DIFF_NONE, (uint32_t)--y);
        else
            add(pairs, (uint32_t)--x, NAME_DIFF_NONE);
    }
    last = pairs->count;
    while (first + 1 < last) {
        struct name_pair swapped = pairs->pairs[first];

        pairs->pairs[first++] = pairs->pairs[--last];
        pairs->pairs[last] = swapped;
    }
}

/* --- very many differences ----------------------------------------------------------------------
 */

static uint32_t largest_of(const uint32_t *names, int32_t count)
{
    uint32_t largest = 0;

    for (int32_t i = 0; i < count; i++)
        if (names[i] > largest)
            largest = names[i];
    return largest;
}

static bool align(const struct sequences *s, struct pairs *pairs)
{
    struct sequence base = {s->base, (size_t)s->base_count};
    struct sequence other = {s->other, (size_t)s->other_count};
    uint32_t *matches = malloc((base.count + 1) * sizeof(*matches)), next = 0;
    uint32_t largest = largest_of(s->base, s->base_count);
    uint32_t largest_other = largest_of(s->other, s->other_count);
    size_t token_count = (size_t)(largest > largest_other ? largest : largest_other) + 1;

    if (!matches || !sequence_diff(base, other, token_count, matches)) {
        free(matches);
        return false;
    }
    for (uint32_t i = 0; i < base.count; i++) {
        while (matches[i] != SEQUENCE_UNMATCHED && next < matches[i])
            add(pairs, NAME_DIFF_NONE, next++);
        add(pairs, i, matches[i] == SEQUENCE_UNMATCHED ? NAME_DIFF_NONE : next++);
    }
    while (next < other.count)
        add(pairs, NAME_DIFF_NONE, next++);
    free(matches);
    return true;
}

bool name_diff(const uint32_t *base, size_t base_count, const uint32_t *other, size_t other_count,
               struct name_pair *pairs, size_t *pair_count)
{
    struct sequences s = {base, other, (int32_t)base_count, (int32_t)other_count};
    struct pairs out = {pairs, 0};
    size_t rows_cells =
        (size_t)(NAME_DIFF_FORWARD_MOST + 1) * (size_t)(NAME_DIFF_FORWARD_MOST + 2) / 2;
    int32_t *rows, d;
    bool is_ok = true;

    if (base_count > INT32_MAX / 4 || other_count > INT32_MAX / 4)
        return false;
    rows = malloc(rows_cells * sizeof(*rows));
    if (!rows)
        return false;
    d = search(&s, rows);
    if (d >= 0)
        trace_back(&s, rows, d, &out);
    free(rows);
    if (d < 0)
        is_ok = align(&s, &out);
    *pair_count = out.count;
    return is_ok;
}
