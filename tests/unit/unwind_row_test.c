/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in 25 bits, and the table of them; built once for each processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "row_table.h"

static const enum rule_place places[] = {PLACE_SAME, PLACE_AT_CFA, PLACE_AT_FP, PLACE_LOST};
static const int32_t offsets[] = {-4096, -1024, -1016, -1008, -48,   -24,    -17,
                                  -16,   -8,    0,     8,     9,     16,     24,
                                  64,    128,   8184,  16376, 16384, 262136, 262144};

enum { PLACES = 4, OFFSETS = sizeof(offsets) / sizeof(offsets[0]) };

static void is_the_same_again(const struct unwind_rule *rule)
{
    uint32_t row = row_pack(rule);
    struct unwind_rule again = row_unpack(row);

    assert_int_equal(row >> ROW_BITS, 0);
    if (!row)
        return; /* did not fit, which is allowed */
    assert_int_equal(again.kind, RULE_FRAME);
    assert_int_equal(again.base, rule->base);
    assert_int_equal(again.cfa_offset_bytes, rule->cfa_offset_bytes);
    assert_int_equal(again.return_address.place, rule->return_address.place);
    assert_int_equal(again.return_address.offset_bytes, rule->return_address.offset_bytes);
    assert_int_equal(again.frame_pointer.place, rule->frame_pointer.place);
    if (rule->frame_pointer.place != PLACE_SAME && rule->frame_pointer.place != PLACE_LOST)
        assert_int_equal(again.frame_pointer.offset_bytes, rule->frame_pointer.offset_bytes);
}

static void every_rule_that_fits_comes_back(void **state)
{
    (void)state;
    for (int base = BASE_SP; base <= BASE_AT_FP; base++)
        for (int cfa = 0; cfa < OFFSETS; cfa++)
            for (int back = 0; back < PLACES * OFFSETS; back++)
                for (int fp = 0; fp < PLACES * OFFSETS; fp++)
                    is_the_same_again(
                        &(struct unwind_rule){RULE_FRAME,
                                              (enum rule_base)base,
                                              offsets[cfa],
                                              {places[back % PLACES], offsets[back / PLACES]},
                                              {places[fp % PLACES], offsets[fp / PLACES]}});
}

static void usual_frames_fit(void **state)
{
    int32_t back = ROW_REGISTERS.frame_pointer == 29 ? -56 : -8;
    struct unwind_rule rule = {
        RULE_FRAME, BASE_SP, 64, {PLACE_AT_CFA, back}, {PLACE_AT_CFA, back - 8}};

    (void)state;
    assert_true(row_is_plain(row_pack(&rule)));
    assert_false(row_needs_fp(row_pack(&rule)));
    assert_true(row_saves_fp(row_pack(&rule)));
    assert_int_equal(row_cfa_bytes(row_pack(&rule)), 64);
    assert_int_equal(row_return_slot(row_pack(&rule), 1000), 1000 + back);
    assert_int_equal(row_fp_slot(row_pack(&rule), 1000), 1000 + back - 8);
    rule.base = BASE_FP;
    assert_true(row_needs_fp(row_pack(&rule)));
    rule.frame_pointer.place = PLACE_SAME;
    assert_true(row_is_plain(row_pack(&rule)));
    assert_false(row_saves_fp(row_pack(&rule)));
}

static void other_kinds_fit(void **state)
{
    static const enum row_kind kinds[] = {ROW_NONE,   ROW_SIGNAL, ROW_END,
                                          ROW_ABSENT, ROW_LOST,   ROW_NONE};

    (void)state;
    for (int kind = RULE_SIGNAL; kind <= RULE_OUTSIDE; kind++) {
        uint32_t row = row_pack(&(struct unwind_rule){.kind = (enum rule_kind)kind});

        assert_int_equal(row_kind(row), kinds[kind]);
        assert_false(row_is_plain(row));
    }
}

static void calls_are_known(void **state)
{
    static const uint8_t codes[][CALL_BYTES] = {
#ifdef TESTED_AARCH64
        {0, 0, 0, 0, 0x12, 0x34, 0x00, 0x94}, /* bl */
        {0, 0, 0, 0, 0x00, 0x02, 0x3f, 0xd6}, /* blr x16 */
        {0, 0, 0, 0, 0x1f, 0x09, 0x3f, 0xd7}, /* blraa x8, sp */
#else
        {0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4},    /* call distance */
        {0, 0, 0, 0, 0, 0, 0xff, 0xd0},          /* call *%rax */
        {0, 0, 0, 0, 0, 0xff, 0x50, 0x18},       /* call *0x18(%rax) */
        {0, 0, 0xff, 0x15, 1, 2, 3, 4},          /* call *distance(%rip) */
        {0, 0xff, 0x94, 0xc8, 0x10, 0, 0, 0x00}, /* call *0x10(%rax,%rcx,8) */
#endif
    };
    static const uint8_t no_call[CALL_BYTES] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_true(follows_call(codes[i]));
    assert_false(follows_call(no_call));
}

static struct row_table table;

static void a_row_is_found_for_its_own_pc_only(void **state)
{
    uint64_t seed = 1;

    (void)state;
    row_table_next_generation(&table);
    for (int i = 0; i < 200000; i++) {
        uint64_t pc, other;
        uint32_t row = 1 + (uint32_t)i % ((1u << ROW_BITS) - 1);

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        pc = seed >> 16;
        other = pc ^ UINT64_C(1) << (i % ROW_PC_BITS);
        row_table_put(&table, pc, table.generation, row);
        assert_int_equal(row_table_find(&table, pc, table.generation), row);
        if (row_place(other) == row_place(pc))
            assert_int_equal(row_table_find(&table, other, table.generation), 0);
    }
}

static void code_of_a_region_has_one_page_and_each_pc_its_own_word(void **state)
{
    enum { REGION_BYTES = 1 << ROW_REGION_SHIFT };
    static uint64_t tags[1 << ROW_SLOT_BITS][REGION_BYTES >> ROW_SLOT_BITS];
    static uint32_t counts[1 << ROW_SLOT_BITS];
    uint64_t start = UINT64_C(0x7f12345) * REGION_BYTES;

    (void)state;
    for (uint64_t pc = start; pc < start + REGION_BYTES; pc++) {
        uint64_t slot = row_place(pc) % (1 << ROW_SLOT_BITS), tag = row_tag(pc, 0);

        assert_int_equal(row_place(pc) >> ROW_SLOT_BITS, row_place(start) >> ROW_SLOT_BITS);
        for (uint32_t i = 0; i < counts[slot]; i++)
            assert_true(tags[slot][i] != tag);
        assert_true(counts[slot] < REGION_BYTES >> ROW_SLOT_BITS); /* evenly */
        tags[slot][counts[slot]++] = tag;
    }
}

/* Over more generations than a word can tell apart. */
static void rows_of_other_generations_are_not_found(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * ROW_GENERATIONS; i++) {
        uint64_t generation = table.generation;

        row_table_put(&table, (uint64_t)i * 4096, generation, 7);
        row_table_put(&table, 0x123456, generation, 5);
        assert_int_equal(row_table_find(&table, 0x123456, generation), 5);
        row_table_next_generation(&table);
        assert_int_equal(row_table_find(&table, 0x123456, table.generation), 0);
        row_table_put(&table, 0x123456, generation, 6); /* came too late */
        for (int old = 0; old <= i; old++)
            assert_int_equal(row_table_find(&table, (uint64_t)old * 4096, table.generation), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_that_fits_comes_back),
        cmocka_unit_test(usual_frames_fit),
        cmocka_unit_test(other_kinds_fit),
        cmocka_unit_test(calls_are_known),
        cmocka_unit_test(a_row_is_found_for_its_own_pc_only),
        cmocka_unit_test(code_of_a_region_has_one_page_and_each_pc_its_own_word),
        cmocka_unit_test(rows_of_other_generations_are_not_found),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
