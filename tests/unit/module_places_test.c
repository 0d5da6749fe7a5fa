/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module at an address, against a look at all modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "module_places.h"

enum { module_count = 300, page_bytes = 4096, place_count = 64, process_count = 3, times = 1000 };

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* They are loaded where others were, wholly or in part, and may be unloaded again. */
static void load_any(struct model *model, uint64_t *state, uint64_t time_ns)
{
    char path[32];
    struct model_module module = {
        .process = (uint16_t)(random_next(state) % process_count),
        .base = (uint64_t)(1 + random_next(state) % place_count) * page_bytes,
        .size_bytes = (uint64_t)(1 + random_next(state) % 9) * page_bytes / 2,
        .loaded_ns = time_ns,
        .unloaded_ns = UINT64_MAX,
    };
    int length = snprintf(path, sizeof(path), "module %u", random_next(state));

    module.path = model_text(model, path, (size_t)length);
    model_module(model, &module);
    if (random_next(state) % 3 == 0)
        model_module_gone(model, module.process, module.base, time_ns + random_next(state) % 50);
}

static const struct model_module *expected_at(const struct model *model, uint16_t process,
                                              uint64_t address, uint64_t time_ns)
{
    const struct model_module *ever = NULL;

    for (size_t i = model_module_count(model); i-- > 0;) {
        const struct model_module *module = model_module_at(model, i);

        if (module->process != process || address - module->base >= module->size_bytes)
            continue;
        if (module->loaded_ns <= time_ns && time_ns <= module->unloaded_ns)
            return module;
        if (!ever)
            ever = module;
    }
    return ever;
}

static void the_newest_that_was_there_is_found(void **state)
{
    struct model *model;
    struct module_places places;
    uint64_t seed = 7;
    size_t found = 0;

    (void)state;
    assert_int_equal(model_create(&model, NULL), MT_OK);
    module_places_init(&places, model);
    assert_null(module_places_at(&places, 0, page_bytes, 0));
    for (uint64_t time_ns = 0; time_ns < module_count; time_ns++) {
        load_any(model, &seed, time_ns * 10);
        for (size_t i = 0; i < times / 10; i++) {
            uint16_t process = (uint16_t)(random_next(&seed) % (process_count + 1));
            uint64_t address = random_next(&seed) % ((place_count + 8) * page_bytes);
            uint64_t when_ns = random_next(&seed) % (time_ns * 10 + 20);
            const struct model_module *module =
                module_places_at(&places, process, address, when_ns);

            assert_ptr_equal(module, expected_at(model, process, address, when_ns));
            found += module != NULL;
        }
    }
    assert_true(found > module_count);
    module_places_release(&places);
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_newest_that_was_there_is_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
