/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are kept, and the sums of the rest, against all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept_blocks.h"

enum { life_count = 20000, group_count = 7, end_ns = 10000000 };

static struct life *make_lives(void)
{
    struct life *lives = calloc(life_count, sizeof(*lives));
    uint64_t random = 99;

    assert_non_null(lives);
    for (size_t i = 0; i < life_count; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        lives[i] = (struct life){
            .index = i,
            .size_bytes = random >> 33 & 0xfff,
            .born_ns = i * (end_ns / life_count),
            .group = 1 + (uint32_t)(random >> 20 & 0xff) % group_count,
        };
        lives[i].freed_ns = i % 11 ? lives[i].born_ns + (random >> 48) % (end_ns / 4) : UINT64_MAX;
        if (lives[i].freed_ns != UINT64_MAX && lives[i].freed_ns > end_ns)
            lives[i].freed_ns = end_ns;
    }
    return lives;
}

static struct kept_blocks keep(const struct life *lives, struct kept_limits limits)
{
    struct kept_blocks kept;

    limits.end_ns = end_ns;
    assert_true(kept_init(&kept, &limits));
    for (size_t i = 0; i < life_count; i++)
        assert_true(kept_put(&kept, &lives[i]));
    assert_true(kept_finish(&kept));
    return kept;
}

static int setup(void **state)
{
    *state = make_lives();
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void all_blocks_stay_while_they_are_few(void **state)
{
    struct kept_blocks kept =
        keep(*state, (struct kept_limits){.block_most = life_count, .rest_most = 10});

    assert_int_equal(kept.count, life_count);
    assert_int_equal(kept.rest_count, 0);
    for (size_t i = 0; i < life_count; i++)
        assert_int_equal(kept.blocks[i].index, i);
    kept_release(&kept);
}

/* In any recording: no block of the rest is larger than one that is kept. */
static void the_largest_blocks_stay(void **state)
{
    const struct life *lives = *state;
    struct kept_blocks kept =
        keep(lives, (struct kept_limits){.block_most = 1000, .rest_most = 100000});
    unsigned char *is_kept = calloc(life_count, 1);
    uint64_t least = UINT64_MAX, rest_most = 0;

    assert_non_null(is_kept);
    assert_int_equal(kept.count, 1000);
    for (size_t i = 0; i < kept.count; i++) {
        is_kept[kept.blocks[i].index] = 1;
        if (kept.blocks[i].size_bytes < least)
            least = kept.blocks[i].size_bytes;
    }
    for (size_t i = 0; i < life_count; i++)
        if (!is_kept[i] && lives[i].size_bytes > rest_most)
            rest_most = lives[i].size_bytes;
    assert_true(rest_most <= least);
    assert_int_equal(kept.rest_size_most, rest_most);
    free(is_kept);
    kept_release(&kept);
}

static void every_byte_is_kept_or_in_the_rest(void **state)
{
    const struct life *lives = *state;
    const size_t rest_limits[] = {100000, 2000, 100};

    for (size_t l = 0; l < sizeof(rest_limits) / sizeof(rest_limits[0]); l++) {
        struct kept_blocks kept =
            keep(lives, (struct kept_limits){.block_most = 500, .rest_most = rest_limits[l]});
        uint64_t born[group_count + 1] = {0}, freed[group_count + 1] = {0};

        assert_true(kept.rest_count <= rest_limits[l]);
        for (size_t i = 0; i < life_count; i++) {
            born[lives[i].group] += lives[i].size_bytes;
            freed[lives[i].group] += lives[i].freed_ns == UINT64_MAX ? 0 : lives[i].size_bytes;
        }
        for (size_t i = 0; i < kept.count; i++) {
            born[kept.blocks[i].group] -= kept.blocks[i].size_bytes;
            freed[kept.blocks[i].group] -=
                kept.blocks[i].freed_ns == UINT64_MAX ? 0 : kept.blocks[i].size_bytes;
        }
        for (size_t i = 0; i < kept.rest_count; i++) {
            born[kept.rest[i].group] -= kept.rest[i].born_bytes;
            freed[kept.rest[i].group] -= kept.rest[i].freed_bytes;
            assert_true(!i || kept.rest[i - 1].stretch <= kept.rest[i].stretch);
        }
        for (size_t g = 0; g <= group_count; g++) {
            assert_int_equal(born[g], 0);
            assert_int_equal(freed[g], 0);
        }
        kept_release(&kept);
    }
}

/* What is alive in the rest at the end of any stretch follows from its rows. */
static void the_rest_is_right_at_each_stretch_end(void **state)
{
    const struct life *lives = *state;
    struct kept_blocks kept = keep(lives, (struct kept_limits){.block_most = 1, .rest_most = 3000});
    size_t row = 0;
    uint64_t alive = 0;

    for (uint32_t stretch = 0; stretch * kept.stretch_ns < end_ns; stretch += 5) {
        uint64_t until = (stretch + 1) * kept.stretch_ns, expected = 0;

        for (; row < kept.rest_count && kept.rest[row].stretch <= stretch; row++)
            alive += kept.rest[row].born_bytes - kept.rest[row].freed_bytes;
        for (size_t i = 0; i < life_count; i++)
            if (lives[i].index != kept.blocks[0].index && lives[i].born_ns < until &&
                lives[i].freed_ns >= until)
                expected += lives[i].size_bytes;
        assert_int_equal(alive, expected);
    }
    kept_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_blocks_stay_while_they_are_few),
        cmocka_unit_test(the_largest_blocks_stay),
        cmocka_unit_test(every_byte_is_kept_or_in_the_rest),
        cmocka_unit_test(the_rest_is_right_at_each_stretch_end),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
