/* SPDX-License-Identifier: Apache-2.0 */
/* A stack is a frame and the stack of its caller, once; a site that is a stack is found by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model.h"

static struct model *model_begin(void)
{
    struct model *model = NULL;
    struct mt_error error;

    assert_int_equal(model_create(&model, &error), MT_OK);
    return model;
}

static void equal_stacks_have_equal_numbers(void **state)
{
    struct model *model = model_begin();
    uint32_t outer = model_stack(model, 0, 1), inner = model_stack(model, outer, 2);
    uint32_t branch = model_stack(model, outer, 3), root = model_stack(model, 0, 2);

    (void)state;
    assert_int_equal(model_stack(model, 0, 1), outer);
    assert_int_equal(model_stack(model, outer, 2), inner);
    assert_int_equal(model_stack(model, outer, 3), branch);
    assert_int_equal(model_stack(model, 0, 2), root);
    assert_int_equal(model_stack_count(model), 5); /* with none */
    assert_int_equal(model_stack_at(model, branch)->outer, outer);
    assert_int_equal(model_stack_at(model, branch)->frame, 3);
    model_destroy(model);
}

static void a_stack_in_two_processes_is_two_sites(void **state)
{
    struct model *model = model_begin();
    uint32_t stack = model_stack(model, 0, 1);
    struct model_site first = {.process = 0, .stack = stack},
                      second = {.process = 1, .stack = stack};
    uint32_t site = model_site(model, first), other = model_site(model, second);

    (void)state;
    assert_int_not_equal(site, 0);
    assert_int_not_equal(other, 0);
    assert_int_not_equal(site, other);
    assert_int_equal(model_site(model, first), site);
    assert_int_equal(model_site(model, second), other);
    assert_int_equal(model_site_count(model), 3); /* with none */
    model_destroy(model);
}

static void the_next_reading_has_the_sites_that_were_kept(void **state)
{
    struct model *model = model_begin();
    uint32_t *sites = model_keep_sites(model, 3, 7, 11, 2);
    struct kept_sites kept;

    (void)state;
    assert_non_null(sites);
    sites[0] = 5;
    sites[1] = 6;
    assert_int_equal(model_kept_sites(model, 3, 7).count, 0); /* still the first reading */
    model_rewind(model);
    kept = model_kept_sites(model, 3, 7);
    assert_int_equal(kept.first_id, 11);
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept.sites[1], 6);
    assert_int_equal(model_kept_sites(model, 7, 3).count, 0);
    assert_null(model_keep_sites(model, 3, 8, 1, 1));
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_have_equal_numbers),
        cmocka_unit_test(a_stack_in_two_processes_is_two_sites),
        cmocka_unit_test(the_next_reading_has_the_sites_that_were_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
