/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peaks without some of their blocks, against curves added up the slow way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "peak_trial.h"

enum { block_most = 400, site_count = 5, rounds = 60 };

/* Made, used and freed at these events; freed 0: never. */
struct block {
    size_t born, freed, first, last;
    uint64_t size_bytes;
    uint32_t site;
};

struct recording {
    struct event_list list;
    struct block blocks[block_most];
    size_t block_count;
    uint32_t sites[site_count];
};

static void make(struct recording *r, unsigned seed)
{
    size_t alive[block_most], alive_count = 0;

    srand(seed);
    event_list_init(&r->list);
    r->block_count = 0;
    for (size_t i = 0; i < site_count; i++)
        r->sites[i] = event_list_site(&r->list, (char[]){(char)('a' + i), 0});
    while (r->block_count < block_most) {
        size_t one = alive_count ? (size_t)rand() % alive_count : 0;
        uint64_t address = alive_count ? 0x1000 * (alive[one] + 1) : 0;
        struct block *block = &r->blocks[alive_count ? alive[one] : 0];
        int what = rand() % 10;

        if (what < 4 || !alive_count) {
            block = &r->blocks[r->block_count];
            *block = (struct block){.born = r->list.count,
                                    .size_bytes = 1 + (uint64_t)rand() % 3000,
                                    .site = (uint32_t)rand() % site_count};
            event_list_alloc(&r->list, 0x1000 * (r->block_count + 1), block->size_bytes,
                             r->sites[block->site]);
            alive[alive_count++] = r->block_count++;
        } else if (what < 7) {
            block->last = r->list.count;
            block->first = block->first ? block->first : block->last;
            event_list_access(&r->list, address + (uint64_t)rand() % block->size_bytes);
        } else {
            block->freed = r->list.count;
            event_list_free(&r->list, address);
            alive[one] = alive[--alive_count];
        }
    }
}

enum way { WITHOUT, ONLY_USED };

static bool is_there(const struct block *block, size_t at, uint32_t site, enum way way)
{
    bool is_alive = block->born <= at && (!block->freed || at < block->freed);

    if (block->site != site || !is_alive)
        return is_alive;
    if (way == WITHOUT)
        return false;
    return !block->first || (block->first <= at && at <= block->last);
}

static uint64_t highest(const struct recording *r, uint32_t site, enum way way)
{
    uint64_t most = 0;

    for (size_t at = 0; at < r->list.count; at++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < r->block_count; i++)
            if (is_there(&r->blocks[i], at, site, way))
                sum += r->blocks[i].size_bytes;
        most = sum > most ? sum : most;
    }
    return most;
}

static uint32_t site_of(const struct recording *r, const struct trial *trial)
{
    for (uint32_t i = 0; i < site_count; i++)
        if (r->sites[i] == trial->origin->who.site)
            return i;
    fail();
    return 0;
}

static enum mt_result try_sites(const struct question *question, struct trials *trials)
{
    struct life_visitor visitor;
    enum mt_result result = trials_begin(trials, question, &visitor, NULL);

    if (result == MT_OK)
        result = lives_read(question->events, tally_model(question->tally), &visitor, NULL);
    return result == MT_OK ? trials_finish(trials, NULL) : result;
}

static void peaks_without_a_site_are_those_of_the_curve_without_it(void **state)
{
    struct recording *r = malloc(sizeof(*r));

    (void)state;
    assert_non_null(r);
    for (unsigned round = 0; round < rounds; round++) {
        struct trials trials;

        make(r, round);
        assert_int_equal(try_sites(event_list_question(&r->list), &trials), MT_OK);
        assert_int_equal(trials.count, 1);
        assert_int_equal(trials.missed_count, 0);
        assert_true(trials.ledgers[0].has_uses);
        assert_true(trials.ledgers[0].count > 0);
        for (size_t i = 0; i < trials.ledgers[0].count; i++) {
            const struct trial *trial = &trials.ledgers[0].trials[i];

            assert_int_equal(trial->without_bytes, highest(r, site_of(r, trial), WITHOUT));
            assert_int_equal(trial->used_bytes, highest(r, site_of(r, trial), ONLY_USED));
        }
        trials_release(&trials);
        event_list_release(&r->list);
    }
    free(r);
}

static void without_all_sites_nothing_is_left(void **state)
{
    struct recording *r = malloc(sizeof(*r));
    struct trials trials;
    struct step_sample sum = {0}, sizes = {0}, ages = {0};

    (void)state;
    assert_non_null(r);
    make(r, 5);
    assert_int_equal(try_sites(event_list_question(&r->list), &trials), MT_OK);
    assert_int_equal(trials.ledgers[0].count, site_count);
    assert_int_equal(trials.ledgers[0].trials[site_count - 1].without_all_bytes, 0);
    for (size_t i = 0; i < site_count; i++) {
        sum.bytes += trials.ledgers[0].trials[i].held.bytes;
        sum.count += trials.ledgers[0].trials[i].held.count;
    }
    for (size_t i = 0; i < SIZE_CLASSES; i++) {
        sizes.bytes += trials.ledgers[0].sizes[i].bytes;
        sizes.count += trials.ledgers[0].sizes[i].count;
    }
    for (size_t i = 0; i < AGE_CLASSES; i++) {
        ages.bytes += trials.ledgers[0].ages[i].bytes;
        ages.count += trials.ledgers[0].ages[i].count;
    }
    assert_int_equal(sum.bytes, tally_ledger_at(r->list.tally, 0)->peak_bytes);
    assert_int_equal(sizes.bytes, sum.bytes);
    assert_int_equal(sizes.count, sum.count);
    assert_int_equal(ages.bytes, sum.bytes);
    assert_int_equal(ages.count, sum.count);
    trials_release(&trials);
    event_list_release(&r->list);
    free(r);
}

/* Two towers of one height: taking one down lowers nothing. */
static void a_second_peak_stays(void **state)
{
    struct event_list list;
    struct trials trials;
    uint32_t a, b;

    (void)state;
    event_list_init(&list);
    a = event_list_site(&list, "a");
    b = event_list_site(&list, "b");
    event_list_alloc(&list, 0x1000, 100, a);
    event_list_free(&list, 0x1000);
    event_list_alloc(&list, 0x2000, 90, b);
    event_list_free(&list, 0x2000);
    assert_int_equal(try_sites(event_list_question(&list), &trials), MT_OK);
    assert_int_equal(trials.ledgers[0].count, 1);
    assert_int_equal(trials.ledgers[0].trials[0].without_bytes, 90);
    assert_false(trials.ledgers[0].has_uses);
    trials_release(&trials);
    event_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_without_a_site_are_those_of_the_curve_without_it),
        cmocka_unit_test(without_all_sites_nothing_is_left),
        cmocka_unit_test(a_second_peak_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
