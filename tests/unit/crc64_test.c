/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "crc64.h"

static void the_sum_of_the_standard_text_is_right(void **state)
{
    (void)state;
    assert_true(crc64(0, "123456789", 9) == UINT64_C(0x995dc9bbdf1939fa));
    assert_true(crc64(0, "", 0) == 0);
}

static void pieces_give_the_sum_of_the_whole(void **state)
{
    unsigned char bytes[100];
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37);
    whole = crc64(0, bytes, sizeof(bytes));
    for (size_t cut = 0; cut <= sizeof(bytes); cut++)
        assert_true(crc64(crc64(0, bytes, cut), bytes + cut, sizeof(bytes) - cut) == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_the_standard_text_is_right),
        cmocka_unit_test(pieces_give_the_sum_of_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
