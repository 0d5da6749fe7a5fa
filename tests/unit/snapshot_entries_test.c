/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a snapshot has millions of: its events, packed, and the numbers under which it remembers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "snapshot_entries.h"
#include "snapshot_memo.h"

enum { entry_count = 40000 };

static struct snapshot_entry entry_of(uint64_t index)
{
    uint64_t random = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    bool is_wild = random >> 60 == 3;

    return (struct snapshot_entry){
        .address = is_wild ? random * 7 : (random >> 40) % 4096 * 512,
        .size_bytes = is_wild ? random * 5 : 1000 + index % 7,
        .time_us = is_wild ? random * 3 : UINT64_C(1700000000000000) + index,
        .stream = (random >> 30) % 3 * UINT64_C(0x7fff00000000),
        .site = (uint32_t)(random >> 20) % 5,
        .action = (uint8_t)(random >> 50),
        .has_time = random >> 35 & 1,
    };
}

static void assert_entry(struct snapshot_entries *entries, size_t index)
{
    const struct snapshot_entry *got = snapshot_entries_at(entries, index);
    struct snapshot_entry want = entry_of(index);

    assert_int_equal(got->address, want.address);
    assert_int_equal(got->size_bytes, want.size_bytes);
    assert_int_equal(got->time_us, want.time_us);
    assert_int_equal(got->stream, want.stream);
    assert_int_equal(got->site, want.site);
    assert_int_equal(got->action, want.action);
    assert_int_equal(got->has_time, want.has_time);
}

/* Forward, back, and at several places in turns, more than are kept unpacked. */
static void entries_come_back_as_they_were(void **state)
{
    struct snapshot_entries *entries = snapshot_entries_create((size_t)(uintptr_t)*state);

    for (size_t i = 0; i < entry_count; i++) {
        struct snapshot_entry entry = entry_of(i);

        assert_true(snapshot_entries_add(entries, &entry));
        assert_entry(entries, i);
    }
    assert_int_equal(snapshot_entries_count(entries), entry_count);
    for (size_t i = 0; i < entry_count; i++)
        assert_entry(entries, i);
    for (size_t i = entry_count; i-- > 0;)
        assert_entry(entries, i);
    for (size_t i = 0; i < entry_count; i++)
        assert_entry(entries, i * 400 % entry_count + i / 100);
    assert_false(snapshot_entries_are_lost(entries));
    snapshot_entries_destroy(entries);
}

static struct memo_slot slot(enum memo_kind kind, uint32_t index)
{
    return (struct memo_slot){kind, index};
}

static void assert_slot(const struct snapshot_memo *memo, size_t number, struct memo_slot want)
{
    struct memo_slot got = snapshot_memo_at(memo, number);

    assert_int_equal(got.kind, want.kind);
    assert_int_equal(got.index, want.index);
}

static void memo_knows_what_was_put_last(void **state)
{
    struct snapshot_memo memo = {0};

    (void)state;
    assert_true(snapshot_memo_put(&memo, 70000, slot(MEMO_TEXT, MEMO_INDEX_MAX)));
    assert_int_equal(memo.count, 70001);
    assert_slot(&memo, 5, slot(MEMO_OTHER, 0));
    assert_slot(&memo, 70000, slot(MEMO_TEXT, MEMO_INDEX_MAX));
    assert_true(snapshot_memo_put(&memo, 70000, slot(MEMO_OBJECT, 8)));
    snapshot_memo_settle(&memo, 70000, 9, slot(MEMO_USED, 0)); /* another is there */
    assert_slot(&memo, 70000, slot(MEMO_OBJECT, 8));
    snapshot_memo_settle(&memo, 70000, 8, slot(MEMO_STACK, 3));
    assert_slot(&memo, 70000, slot(MEMO_STACK, 3));
    snapshot_memo_release(&memo);
}

/* A stretch in which all is used has no memory, until something else is put there. */
static void memo_of_used_things_can_be_put_again(void **state)
{
    struct snapshot_memo memo = {0};
    enum { count = 20000, again = 5000 };

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(snapshot_memo_put(&memo, i, slot(MEMO_OBJECT, i % 3)));
        snapshot_memo_settle(&memo, i, i % 3, slot(MEMO_USED, 0));
    }
    for (uint32_t i = 0; i < count; i++)
        assert_slot(&memo, i, slot(MEMO_USED, 0));
    assert_true(snapshot_memo_put(&memo, again, slot(MEMO_OBJECT, 1)));
    assert_slot(&memo, again, slot(MEMO_OBJECT, 1));
    assert_slot(&memo, again + 1, slot(MEMO_USED, 0));
    snapshot_memo_settle(&memo, again, 1, slot(MEMO_USED, 0));
    assert_slot(&memo, again, slot(MEMO_USED, 0));
    assert_int_equal(memo.count, count);
    snapshot_memo_release(&memo);
}

#define ENTRIES(text, bytes)                                                                       \
    {                                                                                              \
        .name = "entries " text, .test_func = entries_come_back_as_they_were,                      \
        .initial_state = (void *)(uintptr_t)(bytes)                                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTRIES("in memory", SIZE_MAX / 2),
        ENTRIES("half in a file", 300000),
        ENTRIES("in a file", 0),
        cmocka_unit_test(memo_knows_what_was_put_last),
        cmocka_unit_test(memo_of_used_things_can_be_put_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
