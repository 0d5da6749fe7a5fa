/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alignment of two sequences, in linear space.
 *
 * A box is a stretch of both sequences. From its first corner and from its last, paths of ever more
 * differences are followed, on each diagonal as far as they go. Where the two meet, the box is cut
 * in two. Elements that only one side has are taken out first: they match nothing, and cost most.
 */
#include "sequence_diff.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE (INT64_MIN / 2)
/* How many differences are followed before a good cut is taken instead of the best. */
enum { LEAST_DIFFERENCES = 64, MOST_DIFFERENCES = 4096, WORK_LIMIT = 1 << 26 };

/* How far paths of `distance` differences come, by diagonal; in steps along `a`. */
struct frontier {
    int64_t *reach; /* of diagonal 0; diagonals reach -b_count - 1 .. a_count + 1 */
    int64_t lowest, highest;
    bool is_backward;
};

struct box {
    const uint32_t *a, *b;
    int64_t a_count, b_count;
};

struct cut {
    int64_t a, b;
};

struct aligning {
    const uint32_t *a, *b; /* what is left of both sequences */
    uint32_t *a_at, *b_at; /* where each stood */
    struct frontier forward, backward;
    int64_t *memory;
    uint32_t *matches;
};

static bool is_equal(const struct box *box, bool is_backward, int64_t x, int64_t y)
{
    if (is_backward)
        return box->a[box->a_count - 1 - x] == box->b[box->b_count - 1 - y];
    return box->a[x] == box->b[y];
}

/* The range of diagonals that `distance` differences can reach inside the box. */
static void spread(struct frontier *frontier, const struct box *box, int64_t distance)
{
    int64_t low = box->b_count, high = box->a_count;

    frontier->lowest = distance <= low ? -distance : -low + ((distance - low) & 1);
    frontier->highest = distance <= high ? distance : high - ((distance - high) & 1);
    /* Beyond the border nothing was reached. */
    if (frontier->lowest == -distance || frontier->lowest == -low)
        frontier->reach[frontier->lowest - 1] = NOWHERE;
    if (frontier->highest == distance || frontier->highest == high)
        frontier->reach[frontier->highest + 1] = NOWHERE;
}

static int64_t furthest(const struct frontier *frontier, const struct box *box, int64_t diagonal)
{
    int64_t along_a = frontier->reach[diagonal - 1] + 1, along_b = frontier->reach[diagonal + 1];
    int64_t x;

    if (along_a > box->a_count)
        along_a = NOWHERE;
    if (along_b - diagonal > box->b_count)
        along_b = NOWHERE;
    x = along_a > along_b ? along_a : along_b;
    if (x < 0)
        return NOWHERE;
    while (x < box->a_count && x - diagonal < box->b_count &&
           is_equal(box, frontier->is_backward, x, x - diagonal))
        x++;
    return x;
}

static void advance(struct frontier *frontier, const struct box *box, int64_t distance)
{
    spread(frontier, box, distance);
    for (int64_t k = frontier->lowest; k <= frontier->highest; k += 2)
        frontier->reach[k] = furthest(frontier, box, k);
}

/* Where a diagonal of the one is met by the other, if it is. */
static bool meets(const struct frontier *mover, const struct frontier *other, const struct box *box,
                  struct cut *cut)
{
    int64_t delta = box->a_count - box->b_count;

    for (int64_t k = mover->lowest; k <= mover->highest; k += 2) {
        int64_t opposite = delta - k, x = mover->reach[k];

        if (opposite < other->lowest || opposite > other->highest ||
            x + other->reach[opposite] < box->a_count)
            continue;
        *cut = mover->is_backward ? (struct cut){box->a_count - x, box->b_count - (x - k)}
                                  : (struct cut){x, x - k};
        return true;
    }
    return false;
}

/* Elements after it, on the diagonal that came furthest. */
static int64_t best_of(const struct frontier *frontier, const struct box *box, struct cut *cut)
{
    int64_t most = -1;

    for (int64_t k = frontier->lowest; k <= frontier->highest; k += 2) {
        int64_t x = frontier->reach[k], passed = x + x - k;

        if (x < 0 || passed <= most)
            continue;
        most = passed;
        *cut = frontier->is_backward ? (struct cut){box->a_count - x, box->b_count - (x - k)}
                                     : (struct cut){x, x - k};
    }
    return most;
}

static int64_t difference_limit(const struct box *box)
{
    int64_t limit = WORK_LIMIT / (box->a_count + box->b_count);

    if (limit < LEAST_DIFFERENCES)
        return LEAST_DIFFERENCES;
    return limit > MOST_DIFFERENCES ? MOST_DIFFERENCES : limit;
}

/* Both sides have elements, and neither their first nor their last are equal. */
static struct cut cut_find(struct aligning *aligning, const struct box *box)
{
    struct frontier *forward = &aligning->forward, *backward = &aligning->backward;
    bool is_odd = (box->a_count - box->b_count) & 1;
    int64_t limit = difference_limit(box);
    struct cut cut = {0}, other = {0};

    forward->lowest = forward->highest = backward->lowest = backward->highest = 0;
    forward->reach[0] = backward->reach[0] = 0;
    for (int64_t distance = 1; distance <= limit; distance++) {
        advance(forward, box, distance);
        if (is_odd && meets(forward, backward, box, &cut))
            return cut;
        advance(backward, box, distance);
        if (!is_odd && meets(backward, forward, box, &cut))
            return cut;
    }
    if (best_of(backward, box, &other) > best_of(forward, box, &cut))
        return other;
    return cut;
}

static void match(struct aligning *aligning, const uint32_t *a, const uint32_t *b)
{
    aligning->matches[aligning->a_at[a - aligning->a]] = aligning->b_at[b - aligning->b];
}

/* What both ends have in common is matched and taken away. */
static void trim(struct aligning *aligning, struct box *box)
{
    while (box->a_count && box->b_count && *box->a == *box->b) {
        match(aligning, box->a++, box->b++);
        box->a_count--;
        box->b_count--;
    }
    while (box->a_count && box->b_count && box->a[box->a_count - 1] == box->b[box->b_count - 1])
        match(aligning, box->a + --box->a_count, box->b + --box->b_count);
}

/* The smaller part by recursion, the larger by going on: so the depth stays a logarithm. */
static void align(struct aligning *aligning, struct box box)
{
    for (;;) {
        struct box head, tail;
        struct cut cut;

        trim(aligning, &box);
        if (!box.a_count || !box.b_count)
            return;
        cut = cut_find(aligning, &box);
        head = (struct box){box.a, box.b, cut.a, cut.b};
        tail = (struct box){box.a + cut.a, box.b + cut.b, box.a_count - cut.a, box.b_count - cut.b};
        if (head.a_count + head.b_count < tail.a_count + tail.b_count) {
            align(aligning, head);
            box = tail;
        } else {
            align(aligning, tail);
            box = head;
        }
    }
}

/* The elements whose token is_there marks; how many. */
static size_t keep_known(struct sequence sequence, const unsigned char *marks, unsigned char both,
                         uint32_t *tokens, uint32_t *at)
{
    size_t count = 0;

    for (size_t i = 0; i < sequence.count; i++) {
        if (marks[sequence.tokens[i]] != both)
            continue;
        tokens[count] = sequence.tokens[i];
        at[count++] = (uint32_t)i;
    }
    return count;
}

static void run(struct aligning *aligning, struct sequence a, struct sequence b,
                unsigned char *marks, uint32_t *kept)
{
    uint32_t *kept_b = kept + 2 * a.count;
    struct box box;

    for (size_t i = 0; i < a.count; i++)
        marks[a.tokens[i]] |= 1;
    for (size_t i = 0; i < b.count; i++)
        marks[b.tokens[i]] |= 2;
    aligning->a = kept;
    aligning->a_at = kept + a.count;
    aligning->b = kept_b;
    aligning->b_at = kept_b + b.count;
    box = (struct box){kept, kept_b, (int64_t)keep_known(a, marks, 3, kept, aligning->a_at),
                       (int64_t)keep_known(b, marks, 3, kept_b, aligning->b_at)};
    align(aligning, box);
}

bool sequence_diff(struct sequence a, struct sequence b, size_t token_count, uint32_t *matches)
{
    size_t diagonals = a.count + b.count + 3;
    struct aligning aligning = {.matches = matches};
    unsigned char *marks = calloc(token_count + 1, 1);
    uint32_t *kept = malloc((2 * a.count + 2 * b.count + 1) * sizeof(*kept));
    bool is_done = false;

    aligning.memory = malloc(2 * diagonals * sizeof(*aligning.memory));
    memset(matches, 0xff, a.count * sizeof(*matches));
    if (marks && kept && aligning.memory) {
        aligning.forward.reach = aligning.memory + b.count + 1;
        aligning.backward.reach = aligning.memory + diagonals + b.count + 1;
        aligning.backward.is_backward = true;
        run(&aligning, a, b, marks, kept);
        is_done = true;
    }
    free(aligning.memory);
    free(kept);
    free(marks);
    return is_done;
}
