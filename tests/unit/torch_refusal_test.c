/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of an exception, read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "torch_refusal.h"

struct refusal_case {
    const char *text;
    struct torch_refusal refusal;
};

static const struct refusal_case good[] = {
    {"NPU out of memory. Tried to allocate 902.00 MiB (NPU 0; 600.00 MiB total capacity; 24.00 MiB "
     "already allocated",
     {false, (uint64_t)902 << 20, 0}},
    {"NPU out of memory. Tried to allocate 1.50 GiB (NPU 7; ", {false, (uint64_t)1536 << 20, 7}},
    {"NPU out of memory. Tried to allocate 2.25 KiB (NPU 1; ", {false, 2304, 1}},
    {"NPU out of memory. Tried to allocate 512 bytes (NPU 1; ", {false, 512, 1}},
    {"NPU out of memory. NPUWorkspaceAllocator tried to allocate 20.00 MiB(NPU 0; ",
     {true, 20 << 20, 0}},
};

static const char *const bad[] = {
    "",
    "CUDA out of memory. Tried to allocate 902.00 MiB (NPU 0;",
    "NPU out of memory. Tried to allocate",
    "NPU out of memory. Tried to allocate more than 1EB memory.",
    "NPU out of memory. Tried to allocate 902.00 MiB",
    "NPU out of memory. Tried to allocate 902.00 Mi",
    "NPU out of memory. Tried to allocate 902.1234 MiB (NPU 0;",
    "NPU out of memory. Tried to allocate 99999999999999999999 GiB (NPU 0;",
    "NPU out of memory. Tried to allocate 902.00 MiB (NPU x;",
};

static void words_of_torch_npu_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct torch_refusal refusal;

        assert_true(torch_refusal_read(good[i].text, strlen(good[i].text), &refusal));
        assert_int_equal(refusal.is_workspace, good[i].refusal.is_workspace);
        assert_int_equal(refusal.size_bytes, good[i].refusal.size_bytes);
        assert_int_equal(refusal.device, good[i].refusal.device);
    }
}

static void other_words_are_not(void **state)
{
    struct torch_refusal refusal;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(torch_refusal_read(bad[i], strlen(bad[i]), &refusal));
    assert_false(torch_refusal_read(NULL, 0, &refusal));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_torch_npu_are_read),
        cmocka_unit_test(other_words_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
