/* SPDX-License-Identifier: Apache-2.0 */
/* What messages of mstx mean, those of strangers included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mstx_text.h"

#define ALL(table) (sizeof(table) / sizeof((table)[0]))

struct mark_case {
    const char *message;
    enum mstx_mark_kind kind;
    const char *name;
    uint64_t address, size_bytes, access;
};

static const struct mark_case mark_cases[] = {
    {"memscope-aten-b: name=aten::mm", MSTX_MARK_OPERATOR_BEGIN, "aten::mm", 0, 0, 0},
    {"memscope-aten-e: name=aten::mm", MSTX_MARK_OPERATOR_END, "aten::mm", 0, 0, 0},
    {"leaks-aten-b:name=torch._ops.aten.t.default", MSTX_MARK_OPERATOR_BEGIN,
     "torch._ops.aten.t.default", 0, 0, 0},
    {"leaks-aten-e: aten::mm ", MSTX_MARK_OPERATOR_END, "aten::mm", 0, 0, 0},
    {"memscope-aten-ac:ptr=20619099308032;is_write=True;is_read=False;is_output=True;"
     "name=aten.mm.default;shape=torch.Size([2, 3]);dtype=torch.float32;tensor_size=512;"
     "device=npu:0",
     MSTX_MARK_ACCESS, "aten.mm.default", 20619099308032u, 512, MSTX_WRITE | MSTX_OUTPUT},
    {"memscope-aten-ac:ptr=0x12c0;is_read=True;is_output=True;name=a", MSTX_MARK_ACCESS, "a",
     0x12c0, 0, MSTX_READ | MSTX_WRITE | MSTX_OUTPUT},
    {"memscope-aten-ac:ptr=7;tensor_size=99999999999999999999999", MSTX_MARK_ACCESS, "", 7, 0, 0},
    {"sanitizer-op: name=add;read=x:0x10:4,y:32:8;write=z:48:4", MSTX_MARK_ACCESSES, "add", 0, 0,
     0},
    /* Plain marks. */
    {"", MSTX_MARK_PLAIN, "", 0, 0, 0},
    {"epoch 3", MSTX_MARK_PLAIN, "epoch 3", 0, 0, 0},
    {"memscope-aten-b:", MSTX_MARK_PLAIN, "memscope-aten-b:", 0, 0, 0},
    {"memscope-aten-b: name=", MSTX_MARK_PLAIN, "memscope-aten-b: name=", 0, 0, 0},
    {"memscope-aten-", MSTX_MARK_PLAIN, "memscope-aten-", 0, 0, 0},
    {" memscope-aten-b: name=x", MSTX_MARK_PLAIN, " memscope-aten-b: name=x", 0, 0, 0},
    {"memscope-aten-ac:", MSTX_MARK_PLAIN, "memscope-aten-ac:", 0, 0, 0},
    {"memscope-aten-ac:ptr=", MSTX_MARK_PLAIN, "memscope-aten-ac:ptr=", 0, 0, 0},
    {"memscope-aten-ac:ptr=0", MSTX_MARK_PLAIN, "memscope-aten-ac:ptr=0", 0, 0, 0},
    {"memscope-aten-ac:ptr=12x", MSTX_MARK_PLAIN, "memscope-aten-ac:ptr=12x", 0, 0, 0},
    {"memscope-aten-ac:ptr=-5", MSTX_MARK_PLAIN, "memscope-aten-ac:ptr=-5", 0, 0, 0},
    {"memscope-aten-ac:ptr=99999999999999999999999", MSTX_MARK_PLAIN,
     "memscope-aten-ac:ptr=99999999999999999999999", 0, 0, 0},
    {"memscope-aten-ac:;;;=;ptr;=", MSTX_MARK_PLAIN, "memscope-aten-ac:;;;=;ptr;=", 0, 0, 0},
    {"sanitizer-op: read=x:1:2", MSTX_MARK_PLAIN, "sanitizer-op: read=x:1:2", 0, 0, 0},
    {"=cmd|' /C calc'!A0", MSTX_MARK_PLAIN, "=cmd|' /C calc'!A0", 0, 0, 0},
};

/* In memory that ends where the message does, so that a byte too many is seen by a sanitizer. */
static void marks_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(mark_cases); i++) {
        const struct mark_case *c = &mark_cases[i];
        size_t size = strlen(c->message);
        char *bytes = malloc(size ? size : 1);
        struct mstx_mark mark;

        assert_non_null(bytes);
        memcpy(bytes, c->message, size);
        mark = mstx_mark_read((struct text){bytes, size});
        print_message("%s\n", c->message);
        assert_int_equal(mark.kind, c->kind);
        assert_int_equal(mark.name.size_bytes, strlen(c->name));
        assert_memory_equal(mark.name.bytes ? mark.name.bytes : "", c->name, strlen(c->name));
        assert_int_equal(mark.address, c->address);
        assert_int_equal(mark.size_bytes, c->size_bytes);
        assert_int_equal(mark.access, c->access);
        free(bytes);
    }
}

static void every_cut_of_a_message_is_safe(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(mark_cases); i++) {
        size_t size = strlen(mark_cases[i].message);

        for (size_t cut = 0; cut < size; cut++) {
            char *bytes = malloc(cut ? cut : 1);
            struct mstx_mark mark;
            uint64_t address, bytes_accessed;

            assert_non_null(bytes);
            memcpy(bytes, mark_cases[i].message, cut);
            mark = mstx_mark_read((struct text){bytes, cut});
            assert_true(mark.name.size_bytes <= cut);
            while (mstx_access_next(&mark.reads, &address, &bytes_accessed))
                ;
            free(bytes);
        }
    }
}

static void lists_of_accesses_are_read_to_their_end(void **state)
{
    struct mstx_mark mark =
        mstx_mark_read(text_of("sanitizer-op: name=add;read=x:0x10:4,y:32:8;write=z:48:4,bad:1"));
    uint64_t address, size;

    (void)state;
    assert_true(mstx_access_next(&mark.reads, &address, &size));
    assert_int_equal(address, 16);
    assert_int_equal(size, 4);
    assert_true(mstx_access_next(&mark.reads, &address, &size));
    assert_int_equal(address, 32);
    assert_int_equal(size, 8);
    assert_false(mstx_access_next(&mark.reads, &address, &size));
    assert_true(mstx_access_next(&mark.writes, &address, &size));
    assert_int_equal(address, 48);
    assert_false(mstx_access_next(&mark.writes, &address, &size));
}

static void only_the_exact_words_start_a_step(void **state)
{
    (void)state;
    assert_true(mstx_is_step(text_of("step start")));
    assert_true(mstx_is_step(text_of("\"step start\"")));
    assert_false(mstx_is_step(text_of("step start ")));
    assert_false(mstx_is_step(text_of("step start 1")));
    assert_false(mstx_is_step(text_of("\"step start")));
    assert_false(mstx_is_step(text_of("step")));
    assert_false(mstx_is_step(text_of(NULL)));
}

static void endless_messages_are_cut(void **state)
{
    char *message = malloc(3 * MT_TEXT_MAX);

    (void)state;
    assert_non_null(message);
    memset(message, 'a', 3 * MT_TEXT_MAX);
    assert_int_equal(mstx_text(message).size_bytes, MT_TEXT_MAX);
    assert_int_equal(mstx_text(NULL).size_bytes, 0);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_read),
        cmocka_unit_test(every_cut_of_a_message_is_safe),
        cmocka_unit_test(lists_of_accesses_are_read_to_their_end),
        cmocka_unit_test(only_the_exact_words_start_a_step),
        cmocka_unit_test(endless_messages_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
