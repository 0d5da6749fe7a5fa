/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL layer in a program that no tracer is in: it takes part in nothing, and leaves nothing.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef int (*layer_init)(unsigned count, void *const *target, unsigned *own_count,
                          void *const **own);

static void the_last_error_of_the_loader_stays_the_programs(void **state)
{
    void *target[1] = {NULL};
    void *const *own = NULL;
    unsigned own_count = 0;
    void *layer = dlopen(OPENCL_LAYER_PATH, RTLD_NOW | RTLD_LOCAL);
    layer_init init;

    (void)state;
    assert_non_null(layer);
    *(void **)&init = dlsym(layer, "clInitLayer");
    assert_non_null(init);
    assert_int_equal(init(1, target, &own_count, &own), 0);
    assert_null(own[0]);
    assert_null(dlerror());
    dlclose(layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_error_of_the_loader_stays_the_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
