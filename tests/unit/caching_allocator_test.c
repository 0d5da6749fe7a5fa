/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a caching allocator: small programs, counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "caching_allocator.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct caching_allocator *make(const char *text)
{
    struct allocator_settings settings = {.max_split_bytes = ALLOCATOR_SPLITS_ALL};
    struct caching_allocator *allocator;

    assert_int_equal(allocator_settings_read(text, &settings, NULL), MT_OK);
    assert_int_equal(caching_allocator_create(&settings, &allocator, NULL), MT_OK);
    return allocator;
}

static uint64_t reserved(const struct caching_allocator *allocator)
{
    return caching_allocator_totals(allocator).reserved_bytes;
}

static uint64_t taken(const struct caching_allocator *allocator)
{
    return caching_allocator_totals(allocator).taken_bytes;
}

static void requests_are_rounded(void **state)
{
    static const struct {
        const char *settings;
        uint64_t pad_bytes, request_bytes, taken_bytes;
    } cases[] = {
        {"", 0, 1, 512},
        {"", 0, 512, 512},
        {"", 0, 513, 1024},
        {"", 32, 480, 512},
        {"", 32, 512, 1024}, /* on Ascend a whole unit becomes two */
        {"roundup_power2_divisions:4", 0, 1200, 1536},
        {"roundup_power2_divisions:4", 0, 3000 * KIB, 3072 * KIB}, /* 2 MiB in four parts */
        {"roundup_power2_divisions:4", 0, 4096 * KIB, 4096 * KIB},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct allocator_settings settings = {.pad_bytes = cases[i].pad_bytes,
                                              .max_split_bytes = ALLOCATOR_SPLITS_ALL};
        struct caching_allocator *allocator;

        assert_int_equal(allocator_settings_read(cases[i].settings, &settings, NULL), MT_OK);
        assert_int_equal(caching_allocator_create(&settings, &allocator, NULL), MT_OK);
        assert_true(caching_allocator_take(allocator, 1, cases[i].request_bytes));
        assert_int_equal(taken(allocator), cases[i].taken_bytes);
        caching_allocator_destroy(allocator);
    }
}

static void segments_have_three_sizes(void **state)
{
    struct caching_allocator *allocator = make("");

    (void)state;
    assert_true(caching_allocator_take(allocator, 1, 1 * MIB));
    assert_int_equal(reserved(allocator), 2 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 1 * MIB + 1));
    assert_int_equal(reserved(allocator), 22 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 1 * MIB)); /* the rest of the small one */
    assert_int_equal(reserved(allocator), 22 * MIB);
    assert_true(caching_allocator_take(allocator, 2, 1)); /* another stream */
    assert_int_equal(reserved(allocator), 24 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 41 * MIB));
    assert_int_equal(reserved(allocator), 66 * MIB);
    caching_allocator_destroy(allocator);
}

/* |a 8|b 8|rest 4|: 9 MiB do not fit beside b, though 12 are free. */
static void a_block_keeps_its_segment(void **state)
{
    struct caching_allocator *allocator = make("");
    uint32_t a = caching_allocator_take(allocator, 1, 8 * MIB);
    uint32_t b = caching_allocator_take(allocator, 1, 8 * MIB);

    (void)state;
    assert_true(caching_allocator_give(allocator, a));
    assert_true(caching_allocator_take(allocator, 1, 9 * MIB));
    assert_int_equal(reserved(allocator), 40 * MIB);
    assert_true(caching_allocator_empty(allocator));
    assert_int_equal(reserved(allocator), 40 * MIB);
    assert_true(caching_allocator_give(allocator, b));
    assert_true(caching_allocator_empty(allocator));
    assert_int_equal(reserved(allocator), 20 * MIB);
    assert_int_equal(caching_allocator_totals(allocator).reserved_peak_bytes, 40 * MIB);
    assert_int_equal(caching_allocator_totals(allocator).taken_at_peak_bytes, 17 * MIB);
    caching_allocator_destroy(allocator);
}

/* The rest of a large block is split off only above 1 MiB. */
static void small_rests_stay_with_the_block(void **state)
{
    struct caching_allocator *allocator = make("");

    (void)state;
    assert_true(caching_allocator_take(allocator, 1, 19 * MIB));
    assert_int_equal(taken(allocator), 20 * MIB); /* a segment of its own, in units of 2 MiB */
    assert_true(caching_allocator_take(allocator, 1, 6 * MIB));
    assert_true(caching_allocator_take(allocator, 1, 13 * MIB));
    assert_int_equal(reserved(allocator), 40 * MIB);
    assert_int_equal(taken(allocator), 40 * MIB); /* 14 - 13 = 1 MiB is no rest */
    caching_allocator_destroy(allocator);
}

/* The same as above on one line: pages of 20 MiB, given back each for itself. */
static void an_expandable_line_grows_by_what_is_missing(void **state)
{
    struct caching_allocator *allocator = make("expandable_segments:True");
    uint32_t a = caching_allocator_take(allocator, 1, 8 * MIB);
    uint32_t b = caching_allocator_take(allocator, 1, 30 * MIB);
    uint32_t c;

    (void)state;
    assert_int_equal(reserved(allocator), 40 * MIB);
    c = caching_allocator_take(allocator, 1, 10 * MIB); /* 2 MiB were left */
    assert_int_equal(reserved(allocator), 60 * MIB);
    assert_true(caching_allocator_give(allocator, b));
    assert_true(
        caching_allocator_empty(allocator)); /* b: 8 to 38; only page 20 to 40 is not whole */
    assert_int_equal(reserved(allocator), 60 * MIB);
    assert_true(caching_allocator_give(allocator, a));
    assert_true(caching_allocator_empty(allocator)); /* 0 to 20 */
    assert_int_equal(reserved(allocator), 40 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 30 * MIB)); /* its page comes back */
    assert_int_equal(reserved(allocator), 60 * MIB);
    assert_true(caching_allocator_give(allocator, c));
    assert_true(caching_allocator_take(allocator, 1, 29 * MIB)); /* 30 to 60 */
    assert_int_equal(reserved(allocator), 60 * MIB);
    caching_allocator_destroy(allocator);
}

/* From 32 MiB on blocks are kept whole: they serve requests of nearly their size only. */
static void large_blocks_are_not_split_beyond_the_limit(void **state)
{
    struct caching_allocator *allocator = make("max_split_size_mb:32");
    uint32_t large = caching_allocator_take(allocator, 1, 64 * MIB);

    (void)state;
    assert_true(caching_allocator_give(allocator, large));
    assert_true(caching_allocator_take(allocator, 1, 12 * MIB)); /* below the limit: not from it */
    assert_int_equal(reserved(allocator), 76 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 40 * MIB)); /* 24 MiB would be wasted */
    assert_int_equal(reserved(allocator), 116 * MIB);
    assert_true(caching_allocator_take(allocator, 1, 50 * MIB)); /* 14 MiB */
    assert_int_equal(reserved(allocator), 116 * MIB);
    assert_int_equal(taken(allocator), 116 * MIB);
    caching_allocator_destroy(allocator);
}

/* Whatever is asked for and given back: nothing is lost, and all goes back in the end. */
static void sums_hold_for_any_requests(void **state)
{
    static const char *const settings[] = {"", "expandable_segments:True", "max_split_size_mb:21",
                                           "roundup_power2_divisions:8"};
    enum { slots = 200, rounds = 20000 };

    (void)state;
    srand(7);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct caching_allocator *allocator = make(settings[i]);
        uint32_t blocks[slots] = {0};

        for (int round = 0; round < rounds; round++) {
            int slot = rand() % slots;
            uint64_t size_bytes = (uint64_t)(rand() % 4000 + 1) << (rand() % 15);

            if (blocks[slot])
                assert_true(caching_allocator_give(allocator, blocks[slot]));
            blocks[slot] =
                rand() % 3 ? caching_allocator_take(allocator, (uint32_t)slot % 2, size_bytes) : 0;
            if (rand() % 500 == 0)
                assert_true(caching_allocator_empty(allocator));
            assert_true(taken(allocator) <= reserved(allocator));
        }
        for (int slot = 0; slot < slots; slot++)
            assert_true(!blocks[slot] || caching_allocator_give(allocator, blocks[slot]));
        assert_true(caching_allocator_empty(allocator));
        assert_int_equal(taken(allocator), 0);
        assert_int_equal(reserved(allocator), 0);
        caching_allocator_destroy(allocator);
    }
}

static void settings_are_read_or_refused_in_a_sentence(void **state)
{
    static const struct {
        const char *text;
        enum mt_result result;
    } cases[] = {
        {"", MT_OK},
        {"expandable_segments:True,max_split_size_mb:128", MT_OK},
        {"backend:native,garbage_collection_threshold:0.0", MT_OK},
        {"expandable_segments:yes", MT_USAGE},
        {"expandable_segments", MT_USAGE},
        {"max_split_size_mb:20", MT_USAGE},
        {"max_split_size_mb:99999999999999999999", MT_USAGE},
        {"roundup_power2_divisions:3", MT_USAGE},
        {"nonsense:1", MT_USAGE},
        {":", MT_USAGE},
        {"roundup_power2_divisions:[256:1,512:2,>:4]", MT_USAGE},
        {"garbage_collection_threshold:0.8", MT_USAGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct allocator_settings settings = {.max_split_bytes = 5};
        struct mt_error error;

        assert_int_equal(allocator_settings_read(cases[i].text, &settings, &error),
                         cases[i].result);
        if (cases[i].result != MT_OK) {
            assert_true(error.message[0] != '\0');
            assert_int_equal(settings.max_split_bytes, 5); /* untouched */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_rounded),
        cmocka_unit_test(segments_have_three_sizes),
        cmocka_unit_test(a_block_keeps_its_segment),
        cmocka_unit_test(small_rests_stay_with_the_block),
        cmocka_unit_test(an_expandable_line_grows_by_what_is_missing),
        cmocka_unit_test(large_blocks_are_not_split_beyond_the_limit),
        cmocka_unit_test(sums_hold_for_any_requests),
        cmocka_unit_test(settings_are_read_or_refused_in_a_sentence),
    };

    return cmocka_run_group_tests_name("caching_allocator", tests, NULL, NULL);
}
