/* SPDX-License-Identifier: Apache-2.0 */
/* Where real functions are found: nowhere, and in a library that was loaded for itself only. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_double.h"
#include "device_memory.h"
#include "fake_ascend.h"
#include "hook.h"
#include "recorder_double.h"

static const char *const hal_libraries[] = {"libascend_hal.so", NULL};

/* This program is linked with the wrappers, but with none of the fakes. */
static void an_absent_runtime_answers_that_it_is_absent(void **state)
{
    void *address = NULL;
    uint64_t free_bytes, total_bytes;

    (void)state;
    dlerror();
    errno = 77;
    assert_int_equal(halMemAlloc(&address, 64, 0), DRV_STATUS_NOT_SUPPORTED);
    assert_int_equal(halMemFree(address), DRV_STATUS_NOT_SUPPORTED);
    assert_int_equal(aclrtMalloc(&address, 64, 0), RT_STATUS_NOT_SUPPORTED);
    assert_int_equal(rtFree(address), RT_STATUS_NOT_SUPPORTED);
    assert_int_equal(aclInit(NULL), RT_STATUS_NOT_SUPPORTED);
    assert_int_equal(aclrtSetDevice(0), RT_STATUS_NOT_SUPPORTED);
    assert_int_equal(errno, 77);
    assert_null(dlerror());
    assert_int_equal(double_event_count(), 0);
    assert_int_equal(ascend_devices_in_use(), 0);
    assert_false(ascend_memory_info(0, &free_bytes, &total_bytes));
    assert_null(hook_find("halMemAlloc", hal_libraries));
}

static void a_library_loaded_for_itself_is_found(void **state)
{
    static struct hook_slot slot = {"halMemGetInfo", hal_libraries, NULL};
    void *library, *address = NULL;
    int (*real)(void **, unsigned long long, unsigned long long);

    (void)state;
    assert_null(hook_asked(&slot));
    library = dlopen(FAKE_HAL_PATH, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(library);
    assert_null(hook_asked(&slot)); /* asked before, and not told to ask again */
    hook_ask_again(&slot);
    assert_ptr_equal(hook_asked(&slot), dlsym(library, "halMemGetInfo"));
    assert_int_equal(halMemAlloc(&address, 64, 1u << HAL_KIND_SHIFT), 0);
    assert_int_equal(double_event_count(), 1);
    *(void **)&real = hook_symbol_in(library, "halMemAlloc");
    assert_ptr_not_equal(real, halMemAlloc);
    assert_int_equal(halMemFree(address), 0);
    assert_int_equal(double_event_count(), 2);
}

static void looking_a_function_up_on_its_library_gives_the_wrapper(void **state)
{
    void *library = dlopen(FAKE_HAL_PATH, RTLD_LAZY | RTLD_LOCAL);
    void *other = dlopen(OTHER_HAL_PATH, RTLD_LAZY | RTLD_LOCAL);

    (void)state;
    assert_non_null(library);
    assert_non_null(other);
    if (!hook_is_ours((void *)dlsym)) /* a sanitizer's, then */
        skip();
    assert_ptr_equal(dlsym(library, "halMemAlloc"), halMemAlloc);
    assert_ptr_equal(dlsym(library, "halMemGetInfo"), hook_symbol_in(library, "halMemGetInfo"));
    /* What a library does not have it does not have, wrapper or not. */
    dlerror();
    assert_null(dlsym(library, "rtMalloc"));
    assert_non_null(dlerror());
    /* A second runtime beside the first is not mixed up with it. */
    assert_ptr_equal(dlsym(other, "halMemAlloc"), hook_symbol_in(other, "halMemAlloc"));
    double_config.records_device = double_config.records_launches = false;
    assert_ptr_equal(dlsym(library, "halMemAlloc"), hook_symbol_in(library, "halMemAlloc"));
    double_config_reset();
}

static void our_own_function_is_never_taken_for_the_real_one(void **state)
{
    (void)state;
    assert_null(hook_find("InitInjectionMstx", (const char *const[]){NULL}));
    assert_non_null(dlsym(RTLD_DEFAULT, "InitInjectionMstx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_runtime_answers_that_it_is_absent),
        cmocka_unit_test(a_library_loaded_for_itself_is_found),
        cmocka_unit_test(looking_a_function_up_on_its_library_gives_the_wrapper),
        cmocka_unit_test(our_own_function_is_never_taken_for_the_real_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
