/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of .eh_frame to the rule of a pc: each row is a program and what it must give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cfi.h"

enum { FUNCTION_START = 0x1000, FUNCTION_BYTES = 0x100, SECTION_BYTES = 1024, PROGRAM_MAX = 40 };

#define PROGRAM(...)                                                                               \
    {                                                                                              \
        sizeof((uint8_t[]){__VA_ARGS__}),                                                          \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define NO_PROGRAM                                                                                 \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

struct instructions {
    size_t count;
    uint8_t bytes[PROGRAM_MAX];
};

struct cfi_case {
    const char *name;
    const struct cfi_registers *registers;
    const char *augmentation; /* NULL: "zR" */
    struct instructions common, own;
    uint64_t offset; /* of the pc in the function */
    struct unwind_rule rule;
};

#define X86     &cfi_registers_x86_64, NULL
#define ARM     &cfi_registers_aarch64, NULL
#define X86_CIE PROGRAM(0x0c, 7, 8, 0x90, 1) /* CFA = rsp + 8, return address at CFA - 8 */
#define ARM_CIE PROGRAM(0x0c, 31, 0)

#define FRAME(base, cfa, ...)                                                                      \
    {                                                                                              \
        RULE_FRAME, base, cfa, __VA_ARGS__                                                         \
    }
#define AT_CFA(offset)                                                                             \
    {                                                                                              \
        PLACE_AT_CFA, offset                                                                       \
    }
#define AT_FP(offset)                                                                              \
    {                                                                                              \
        PLACE_AT_FP, offset                                                                        \
    }
#define SAME                                                                                       \
    {                                                                                              \
        PLACE_SAME, 0                                                                              \
    }
#define GONE                                                                                       \
    {                                                                                              \
        PLACE_LOST, 0                                                                              \
    }
#define NO_FRAME(kind)                                                                             \
    {                                                                                              \
        kind, BASE_SP, 0, SAME, SAME                                                               \
    }

// clang-format off
static const struct cfi_case cases[] = {
    {"the first row is that of the common part", X86, X86_CIE, NO_PROGRAM, 0,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"push rbp; mov rsp, rbp: before the push", X86, X86_CIE,
     PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6), 0, FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"push rbp; mov rsp, rbp: after the push", X86, X86_CIE,
     PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6), 1, FRAME(BASE_SP, 16, AT_CFA(-8), AT_CFA(-16))},
    {"push rbp; mov rsp, rbp: in the body", X86, X86_CIE,
     PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6), 60, FRAME(BASE_FP, 16, AT_CFA(-8), AT_CFA(-16))},
    {"advance by 1, 2 and 4 bytes of distance", X86, X86_CIE,
     PROGRAM(0x02, 3, 0x0e, 16, 0x03, 4, 0, 0x0e, 24, 0x04, 5, 0, 0, 0, 0x0e, 32), 11,
     FRAME(BASE_SP, 24, AT_CFA(-8), SAME)},
    {"a restored register is as in the common part", X86, X86_CIE, PROGRAM(0x86, 2, 0x41, 0xc6), 1,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"restore_extended is the same", X86, X86_CIE, PROGRAM(0x86, 2, 0x41, 0x06, 6), 1,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"a remembered state comes back, CFA and all", X86, X86_CIE,
     PROGRAM(0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0c, 7, 8, 0xc6, 0x41, 0x0b), 2,
     FRAME(BASE_SP, 16, AT_CFA(-8), AT_CFA(-16))},
    {"between, it is gone", X86, X86_CIE,
     PROGRAM(0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0c, 7, 8, 0xc6, 0x41, 0x0b), 1,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"a large frame", X86, X86_CIE, PROGRAM(0x0e, 0xc0, 0x84, 0x3d), 1,
     FRAME(BASE_SP, 1000000, AT_CFA(-8), SAME)},
    {"signed and factored forms", X86, X86_CIE, PROGRAM(0x12, 7, 0x7e, 0x11, 6, 3, 0x13, 0x7c), 0,
     FRAME(BASE_SP, 32, AT_CFA(-8), AT_CFA(-24))},
    {"extended forms and what is of no interest", X86, X86_CIE,
     PROGRAM(0x05, 6, 2, 0x05, 3, 3, 0x2e, 16, 0x00, 0x07, 12, 0x08, 13, 0x14, 3, 1, 0x09, 3, 1), 0,
     FRAME(BASE_SP, 8, AT_CFA(-8), AT_CFA(-16))},
    {"the linker's row for its jump table, first instructions", X86, X86_CIE,
     PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x25,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"the linker's row for its jump table, after the push", X86, X86_CIE,
     PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x2b,
     FRAME(BASE_SP, 16, AT_CFA(-8), SAME)},
    {"a realigned stack: the CFA in memory, the frame pointer at itself", X86, X86_CIE,
     PROGRAM(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0), 5,
     FRAME(BASE_AT_FP, -8, AT_CFA(-8), AT_FP(0))},
    {"a CFA from another register is lost", X86, X86_CIE, PROGRAM(0x0c, 10, 0), 0,
     {RULE_LOST, BASE_SP, 0, SAME, SAME}},
    {"no return address: the end", X86, X86_CIE, PROGRAM(0x07, 16), 0, NO_FRAME(RULE_END)},
    {"a frame pointer in another register is lost, the frame is not", X86, X86_CIE,
     PROGRAM(0x09, 6, 3), 0, FRAME(BASE_SP, 8, AT_CFA(-8), GONE)},
    {"an unknown instruction is lost", X86, X86_CIE, PROGRAM(0x3f), 0, NO_FRAME(RULE_LOST)},
    {"an unknown instruction after the row does no harm", X86, X86_CIE, PROGRAM(0x44, 0x3f), 2,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"a state that was not remembered is lost", X86, X86_CIE, PROGRAM(0x0b), 0, NO_FRAME(RULE_LOST)},
    {"nine remembered states are lost", X86, X86_CIE,
     PROGRAM(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a), 0, NO_FRAME(RULE_LOST)},
    {"an expression that goes too far is lost", X86, X86_CIE, PROGRAM(0x0f, 3, 0x77, 8, 0x23), 0,
     NO_FRAME(RULE_LOST)},
    {"a frame of a signal", &cfi_registers_x86_64, "zRS", X86_CIE, NO_PROGRAM, 0,
     NO_FRAME(RULE_SIGNAL)},
    {"before the function", X86, X86_CIE, NO_PROGRAM, UINT64_MAX, NO_FRAME(RULE_ABSENT)},
    {"the last byte of the function", X86, X86_CIE, NO_PROGRAM, FUNCTION_BYTES - 1,
     FRAME(BASE_SP, 8, AT_CFA(-8), SAME)},
    {"after the function", X86, X86_CIE, NO_PROGRAM, FUNCTION_BYTES, NO_FRAME(RULE_ABSENT)},
    {"aarch64: a leaf keeps its caller's pc in the link register", ARM, ARM_CIE, NO_PROGRAM, 0,
     FRAME(BASE_SP, 0, SAME, SAME)},
    {"aarch64: stp x29, x30, [sp, -32]!", ARM, ARM_CIE,
     PROGRAM(0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3), 4, FRAME(BASE_SP, 32, AT_CFA(-24), AT_CFA(-32))},
    {"aarch64: signed return addresses", &cfi_registers_aarch64, "zRB", ARM_CIE,
     PROGRAM(0x41, 0x2d, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x0d, 29), 8,
     FRAME(BASE_FP, 16, AT_CFA(-8), AT_CFA(-16))},
};
// clang-format on

/* --- a section with one function, as the linker lays it out ----------------------------- */

struct section {
    uint8_t *bytes; /* the header; FUNCTION_START bytes further on the function would begin */
    size_t count;
};

static void put(struct section *section, const void *bytes, size_t count)
{
    assert_true(section->count + count <= SECTION_BYTES);
    memcpy(section->bytes + section->count, bytes, count);
    section->count += count;
}

static void put_word(struct section *section, uint32_t word)
{
    put(section, &word, sizeof(word));
}

static void put_byte(struct section *section, uint8_t byte)
{
    put(section, &byte, 1);
}

/* Room for a length; put_length fills it in. */
static size_t begin_entry(struct section *section)
{
    put_word(section, 0);
    return section->count;
}

static void end_entry(struct section *section, size_t start)
{
    uint32_t length;

    while ((section->count - start) % 4)
        put_byte(section, 0);
    length = (uint32_t)(section->count - start);
    memcpy(section->bytes + start - 4, &length, sizeof(length));
}

static void put_common(struct section *section, const struct cfi_case *c)
{
    const char *augmentation = c->augmentation ? c->augmentation : "zR";
    size_t start = begin_entry(section);

    put_word(section, 0);
    put_byte(section, 1);
    put(section, augmentation, strlen(augmentation) + 1);
    put_byte(section, c->registers == &cfi_registers_x86_64 ? 1 : 4);
    put_byte(section, 0x78); /* data factor -8 */
    put_byte(section, (uint8_t)c->registers->return_address);
    put_byte(section, 1); /* the augmentation's data: how pcs are written */
    put_byte(section, 0x1b);
    put(section, c->common.bytes, c->common.count);
    end_entry(section, start);
}

static void put_own(struct section *section, const struct cfi_case *c, size_t common)
{
    size_t start = begin_entry(section);

    put_word(section, (uint32_t)(section->count - common));
    put_word(section, (uint32_t)(FUNCTION_START - section->count));
    put_word(section, FUNCTION_BYTES);
    put_byte(section, 0);
    put(section, c->own.bytes, c->own.count);
    end_entry(section, start);
}

/* has_table: with the sorted table, else without. */
static void build(struct section *section, const struct cfi_case *c, bool has_table)
{
    size_t common = has_table ? 20 : 8, own;

    section->count = 0;
    put(section, has_table ? "\x01\x1b\x03\x3b" : "\x01\x1b\xff\xff", 4);
    put_word(section, (uint32_t)(common - 4));
    if (has_table) {
        put_word(section, 1);
        put_word(section, FUNCTION_START);
        put_word(section, 0);
    }
    put_common(section, c);
    own = section->count;
    put_own(section, c, common);
    put_word(section, 0);
    if (has_table)
        memcpy(section->bytes + 16, &(uint32_t){(uint32_t)own}, 4);
}

static struct unwind_rule rule_in(const struct section *section, const struct cfi_case *c)
{
    struct cfi_section bounds = {section->bytes, section->bytes, section->bytes + section->count};

    return cfi_rule_at(&bounds, c->registers,
                       (uintptr_t)section->bytes + FUNCTION_START + c->offset);
}

static void gives_its_rule(void **state)
{
    const struct cfi_case *c = *state;
    struct section section = {malloc(SECTION_BYTES), 0};

    assert_non_null(section.bytes);
    for (int has_table = 0; has_table < 2; has_table++) {
        struct unwind_rule rule;

        build(&section, c, has_table);
        rule = rule_in(&section, c);
        assert_int_equal(rule.kind, c->rule.kind);
        if (rule.kind != RULE_FRAME)
            continue;
        assert_int_equal(rule.base, c->rule.base);
        assert_int_equal(rule.cfa_offset_bytes, c->rule.cfa_offset_bytes);
        assert_int_equal(rule.return_address.place, c->rule.return_address.place);
        assert_int_equal(rule.return_address.offset_bytes, c->rule.return_address.offset_bytes);
        assert_int_equal(rule.frame_pointer.place, c->rule.frame_pointer.place);
        assert_int_equal(rule.frame_pointer.offset_bytes, c->rule.frame_pointer.offset_bytes);
    }
    free(section.bytes);
}

/* Cut off anywhere, and each byte in turn set to others: nothing outside is read (a sanitizer
 * looks on), and there is an answer. */
static void damage_is_survived(void **state)
{
    static const uint8_t others[] = {0x00, 0xff, 0x7f, 0x80, 0x0f, 0x16};
    const struct cfi_case *c = *state;
    struct section whole = {malloc(SECTION_BYTES), 0};

    build(&whole, c, true);
    for (size_t count = 0; count <= whole.count; count++) {
        struct section cut = {malloc(count ? count : 1), count};

        memcpy(cut.bytes, whole.bytes, count);
        assert_in_range(rule_in(&cut, c).kind, RULE_FRAME, RULE_LOST);
        for (size_t other = 0; count && other < sizeof(others); other++) {
            cut.bytes[count - 1] = others[other];
            assert_in_range(rule_in(&cut, c).kind, RULE_FRAME, RULE_LOST);
        }
        free(cut.bytes);
    }
    for (size_t at = 0; at < whole.count; at++) {
        struct section changed = {malloc(whole.count), whole.count};

        memcpy(changed.bytes, whole.bytes, whole.count);
        for (size_t other = 0; other < sizeof(others); other++) {
            changed.bytes[at] = others[other];
            assert_in_range(rule_in(&changed, c).kind, RULE_FRAME, RULE_LOST);
        }
        free(changed.bytes);
    }
    free(whole.bytes);
}

static void no_section_gives_no_rule(void **state)
{
    struct cfi_section section = {NULL, NULL, NULL};

    (void)state;
    assert_int_equal(cfi_rule_at(&section, &cfi_registers_x86_64, 1).kind, RULE_ABSENT);
}

int main(void)
{
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    static struct CMUnitTest tests[2 * CASES + 1];

    for (size_t i = 0; i < CASES; i++) {
        tests[i] =
            (struct CMUnitTest){cases[i].name, gives_its_rule, NULL, NULL, (void *)&cases[i]};
        tests[CASES + i] =
            (struct CMUnitTest){cases[i].name, damage_is_survived, NULL, NULL, (void *)&cases[i]};
    }
    tests[2 * CASES] = (struct CMUnitTest)cmocka_unit_test(no_section_gives_no_rule);
    return cmocka_run_group_tests_name("call frame information", tests, NULL, NULL);
}
