/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records come out in the order process, time, put: from memory, packed, and from the scratch file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memscope_attr.h"
#include "memscope_runs.h"

enum { record_count = 1000 };

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state >> 11;
}

/* Any field may hold anything; times repeat, so that the order of putting shows. */
static struct memscope_record make_record(void)
{
    bool is_wild = random_number() % 4 == 0;
    struct memscope_record record = {
        .time_ns = is_wild ? random_number() << 11 : 1000 + random_number() % 300,
        .address = is_wild ? random_number() << 11 : random_number() % 8 * 512,
        .value = random_number() % (is_wild ? UINT64_MAX : 3),
        .total = random_number() % 3,
        .text = (uint32_t)random_number() % (is_wild ? UINT32_MAX : 2),
        .site = (uint32_t)random_number() % 2,
        .thread = (uint32_t)random_number() % 3,
        .process = (uint16_t)(random_number() % 3),
        .pool = (uint16_t)(random_number() % 2),
        .place = (uint16_t)random_number(),
        .kind = (uint8_t)(random_number() % 32),
        .is_system = random_number() % 8 == 0,
    };

    record.id = record.is_system ? (uint32_t)random_number() : 0;
    return record;
}

static bool comes_before(const struct memscope_record *a, const struct memscope_record *b)
{
    return a->process != b->process ? a->process < b->process : a->time_ns < b->time_ns;
}

/* Slow, and stable. */
static void sort(struct memscope_record *records, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct memscope_record moved = records[i];
        size_t k = i;

        for (; k && comes_before(&moved, &records[k - 1]); k--)
            records[k] = records[k - 1];
        records[k] = moved;
    }
}

static void assert_record_equal(const struct memscope_record *a, const struct memscope_record *b)
{
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->text, b->text);
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->process, b->process);
    assert_int_equal(a->pool, b->pool);
    assert_int_equal(a->place, b->place);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->is_system, b->is_system);
    if (a->is_system)
        assert_int_equal(a->id, b->id);
}

struct limits_case {
    const char *name;
    struct memscope_runs_limits limits;
    size_t count;
    const char *folder; /* TMPDIR; NULL: as it is */
};

static const struct limits_case cases[] = {
    {"one piece", {2000, 1 << 20}, record_count, NULL},
    {"pieces in memory", {64, 1 << 20}, record_count, NULL},
    {"some pieces in the file", {64, 4096}, record_count, NULL},
    {"all pieces in the file", {16, 0}, record_count, NULL},
    {"pieces larger than a window", {900, 0}, record_count, NULL},
    {"pieces that end with the records", {100, 0}, record_count, NULL},
    {"a folder that is not there", {16, 0}, record_count, "/dev/null/nowhere"},
    {"one record", {16, 0}, 1, NULL},
    {"no record", {16, 0}, 0, NULL},
};

static void come_out_in_order(void **state)
{
    static struct memscope_record records[record_count];
    const struct limits_case *c = *state;
    const struct memscope_record *record;
    struct memscope_runs *runs = memscope_runs_create(c->limits);

    if (c->folder)
        setenv("TMPDIR", c->folder, 1);
    random_state = c->limits.piece_records;
    for (size_t i = 0; i < c->count; i++)
        *memscope_runs_put(runs) = records[i] = make_record();
    sort(records, c->count);
    assert_int_equal(memscope_runs_end(runs, NULL), MT_OK);
    for (size_t i = 0; i < c->count; i++) {
        assert_int_equal(memscope_runs_next(runs, &record, NULL), MT_OK);
        assert_non_null(record);
        assert_record_equal(record, &records[i]);
    }
    assert_int_equal(memscope_runs_next(runs, &record, NULL), MT_OK);
    assert_null(record);
    memscope_runs_destroy(runs);
    unsetenv("TMPDIR");
}

/* --- what stands in the cells -------------------------------------------------------------- */

static bool slow_number(const char *text, uint64_t *number)
{
    bool is_hex = strlen(text) > 2 && text[0] == '0' && (text[1] | 32) == 'x';
    const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    const char *first = text + (is_hex ? 2 : 0);
    unsigned __int128 sum = 0;

    for (const char *at = first; *at; at++) {
        const char *digit = strchr(digits, *at);

        if (!digit || sum >> 64)
            return false;
        sum = sum * (is_hex ? 16 : 10) + (unsigned)(digit - digits - (digit - digits > 15 ? 6 : 0));
    }
    *number = (uint64_t)sum;
    return *first && !(sum >> 64);
}

/* Every byte at every place of a number. */
static void numbers_are_read_or_refused(void **state)
{
    static const char *const numbers[] = {"0x000012c041400000",
                                          "0x00007EFF55195060",
                                          "0xffffffffffffffff",
                                          "0x1ffffffffffffffff",
                                          "0x00000000000000001234",
                                          "0x12c04140",
                                          "0x9",
                                          "7",
                                          "16778240",
                                          "1764753084425691000",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (size_t at = 0; at < strlen(numbers[i]); at++)
            for (int byte = 1; byte < 256; byte++) {
                char text[32];
                uint64_t want = 0, got = 0;
                bool is_number;

                strcpy(text, numbers[i]);
                text[at] = (char)byte;
                is_number = slow_number(text, &want);
                if (byte == '-' && at == 0)
                    continue; /* its size counts */
                if (memscope_number(text, strlen(text), &got) != is_number)
                    fail_msg("%s", text);
                if (is_number)
                    assert_int_equal(got, want);
            }
}

static void keys_are_found_whatever_was_guessed(void **state)
{
    static const char *const cells[] = {
        "{allocation_id:4,addr:0x10,size:512,owner:PTA@ops,shape:torch.Size([2, 3])}",
        "{\"allocation_id\":\"4\",\"addr\":\"0x10\",\"size\":\"512\",\"owner\":\"PTA@ops\"}",
        "{addr:16,size:512,total:9,owner:PTA@ops}",
        "{size:512,addr:16,inefficient_type:a,b,owner:PTA@ops}",
        "{size:512,addr:16,owner:PTA@ops,}",
        "size:512,addr:16,owner:PTA@ops,sizes",
        "{addr:16,used:7,size:512,new2:8,owner:PTA@ops,of_tomorrow:9}",
        "{size:512,addr:16,is_new:a,owner:PTA@ops,shape:[(a:1,b:2)]}",
    };
    struct memscope_attr_guess guess = {{0}};
    enum { cell_count = sizeof(cells) / sizeof(cells[0]) };

    (void)state;
    for (size_t i = 0; i < cell_count * cell_count * 2; i++) {
        const char *cell = cells[i % 2 ? i / 2 / cell_count : i / 2 % cell_count];
        struct memscope_attr attr;

        memscope_attr_read(&attr, cell, strlen(cell), &guess);
        assert_int_equal(attr.address, 16);
        assert_int_equal(attr.size_bytes, 512);
        assert_int_equal(attr.has_total, strstr(cell, "total") != NULL);
        assert_memory_equal(attr.owner.bytes, "PTA@ops", 7);
        assert_true(attr.owner.size_bytes == 7 || cell[1] != 'a');
    }
}

int main(void)
{
    enum { case_count = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[case_count + 2] = {
        cmocka_unit_test(numbers_are_read_or_refused),
        cmocka_unit_test(keys_are_found_whatever_was_guessed),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 2] = (struct CMUnitTest){.name = cases[i].name,
                                           .test_func = come_out_in_order,
                                           .initial_state = (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
