/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alignment of two sequences, against the longest common subsequence found the slow way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sequence_diff.h"

enum { small_most = 40, large_count = 200000 };

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static struct sequence random_sequence(uint32_t *tokens, uint64_t *state, uint32_t token_count)
{
    struct sequence sequence = {tokens, next_random(state) % small_most};

    for (size_t i = 0; i < sequence.count; i++)
        tokens[i] = next_random(state) % token_count;
    return sequence;
}

static size_t longest(struct sequence a, struct sequence b)
{
    size_t lengths[small_most + 1][small_most + 1] = {{0}};

    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++) {
            size_t skipped =
                lengths[i][k + 1] > lengths[i + 1][k] ? lengths[i][k + 1] : lengths[i + 1][k];

            lengths[i + 1][k + 1] = a.tokens[i] == b.tokens[k] ? lengths[i][k] + 1 : skipped;
        }
    return lengths[a.count][b.count];
}

/* Partners are equal, and both orders are kept; how many there are. */
static size_t check(struct sequence a, struct sequence b, const uint32_t *matches)
{
    size_t count = 0, next = 0;

    for (size_t i = 0; i < a.count; i++) {
        if (matches[i] == SEQUENCE_UNMATCHED)
            continue;
        assert_true(matches[i] < b.count && matches[i] >= next);
        assert_int_equal(a.tokens[i], b.tokens[matches[i]]);
        next = matches[i] + 1;
        count++;
    }
    return count;
}

static void as_many_elements_are_matched_as_can_be(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint32_t tokens_a[small_most], tokens_b[small_most], matches[small_most];
        uint32_t token_count = 1 + next_random(&random) % 12;
        struct sequence a = random_sequence(tokens_a, &random, token_count);
        struct sequence b = random_sequence(tokens_b, &random, token_count);

        assert_true(sequence_diff(a, b, token_count, matches));
        assert_int_equal(check(a, b, matches), longest(a, b));
    }
}

static void what_only_one_side_has_is_unmatched(void **state)
{
    static const uint32_t a[] = {1, 2, 3, 2, 1}, b[] = {4, 5, 4};
    uint32_t matches[5];

    (void)state;
    assert_true(sequence_diff((struct sequence){a, 5}, (struct sequence){b, 3}, 6, matches));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(matches[i], SEQUENCE_UNMATCHED);
}

/* Quadratic work would take minutes. */
static void long_sequences_that_share_nothing_in_order_are_done_soon(void **state)
{
    uint32_t *tokens = malloc(3 * large_count * sizeof(*tokens));
    struct sequence a = {tokens, large_count}, b = {tokens + large_count, large_count};
    uint64_t random = 11;

    (void)state;
    assert_non_null(tokens);
    for (size_t i = 0; i < 2 * (size_t)large_count; i++)
        tokens[i] = next_random(&random) % 5000;
    assert_true(sequence_diff(a, b, 5000, tokens + 2 * large_count));
    assert_true(check(a, b, tokens + 2 * large_count) > large_count / 500);
    free(tokens);
}

/* A program that runs on with one operator more in each step. */
static void repeats_with_an_insertion_each_are_aligned_in_full(void **state)
{
    enum { period = 50, step_count = 400 };
    uint32_t *a = malloc(period * step_count * sizeof(*a));
    uint32_t *b = malloc((period + 1) * step_count * sizeof(*b));
    uint32_t *matches = malloc(period * step_count * sizeof(*matches));
    struct sequence first = {a, period * step_count}, second = {b, (period + 1) * step_count};
    size_t at = 0;

    (void)state;
    assert_true(a && b && matches);
    for (uint32_t i = 0; i < period * step_count; i++) {
        a[i] = i % period;
        if (i % period == 17)
            b[at++] = 3; /* an operator that is known already */
        b[at++] = i % period;
    }
    assert_true(sequence_diff(first, second, period, matches));
    assert_int_equal(check(first, second, matches), period * step_count);
    free(a);
    free(b);
    free(matches);
}

static void empty_sequences_are_fine(void **state)
{
    static const uint32_t a[] = {0};
    uint32_t matches[1] = {5};

    (void)state;
    assert_true(sequence_diff((struct sequence){a, 0}, (struct sequence){a, 1}, 1, matches));
    assert_int_equal(matches[0], 5);
    assert_true(sequence_diff((struct sequence){a, 1}, (struct sequence){a, 0}, 1, matches));
    assert_int_equal(matches[0], SEQUENCE_UNMATCHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_elements_are_matched_as_can_be),
        cmocka_unit_test(what_only_one_side_has_is_unmatched),
        cmocka_unit_test(long_sequences_that_share_nothing_in_order_are_done_soon),
        cmocka_unit_test(repeats_with_an_insertion_each_are_aligned_in_full),
        cmocka_unit_test(empty_sequences_are_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
