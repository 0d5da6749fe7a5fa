/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of blocks, and what is recorded when they begin, end, and do not end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_double.h"
#include "device_blocks.h"
#include "recorder_double.h"

static const struct text first_pool = {"first", 5}, second_pool = {"second", 6};

static struct device_block block_of(const struct text *pool, uint64_t size_bytes)
{
    return (struct device_block){
        .pool = pool, .place = 77, .size_bytes = size_bytes, .site = {.caller = &first_pool}};
}

static int reset(void **state)
{
    (void)state;
    double_reset();
    double_config_reset();
    return 0;
}

static void assert_event(size_t index, enum mt_record_code code, const char *pool, uint64_t address,
                         uint64_t size_bytes)
{
    assert_true(index < double_event_count());
    assert_int_equal(double_events[index].code, code);
    assert_string_equal(double_events[index].text, pool);
    assert_int_equal(double_events[index].address, address);
    assert_int_equal(double_events[index].size_bytes, size_bytes);
}

static void a_free_is_recorded_in_the_pool_that_owns_the_address(void **state)
{
    struct device_block block = block_of(&second_pool, 4096);
    struct block_ending ending;

    (void)state;
    device_block_begin(SPACE_ACL_MEMORY, 0x1000, &block);
    device_block_end(SPACE_ACL_MEMORY, 0x1000, &first_pool, &ending);
    assert_event(0, MT_RECORD_alloc, "second", 0x1000, 4096);
    assert_event(1, MT_RECORD_free, "second", 0x1000, 0);
    /* Gone: a second free belongs to whom the caller says. */
    device_block_end(SPACE_ACL_MEMORY, 0x1000, &first_pool, &ending);
    assert_event(2, MT_RECORD_free, "first", 0x1000, 0);
}

static void the_same_address_lives_once_in_each_space(void **state)
{
    struct device_block first = block_of(&first_pool, 1), second = block_of(&second_pool, 2);
    struct device_block found;
    struct block_ending ending;

    (void)state;
    device_block_begin(SPACE_HAL_VIRTUAL, 0x2000, &first);
    device_block_begin(SPACE_HAL_MAPPING, 0x2000, &second);
    device_block_end(SPACE_HAL_MAPPING, 0x2000, NULL, &ending);
    assert_event(2, MT_RECORD_free, "second", 0x2000, 0);
    assert_false(device_block_find(SPACE_HAL_MAPPING, 0x2000, &found));
    assert_true(device_block_find(SPACE_HAL_VIRTUAL, 0x2000, &found));
    assert_int_equal(found.size_bytes, 1);
    device_block_end(SPACE_HAL_VIRTUAL, 0x2000, NULL, &ending);
}

static void a_refused_free_brings_the_block_back_as_it_was(void **state)
{
    struct device_block block = block_of(&first_pool, 512);
    struct block_ending ending;

    (void)state;
    device_block_begin(SPACE_ACL_MEMORY, 0x3000, &block);
    device_block_end(SPACE_ACL_MEMORY, 0x3000, &second_pool, &ending);
    device_block_resume(&ending);
    assert_event(2, MT_RECORD_alloc, "first", 0x3000, 512);
    assert_ptr_equal(double_events[2].site, &first_pool);
    device_block_end(SPACE_ACL_MEMORY, 0x3000, &second_pool, &ending);
    assert_event(3, MT_RECORD_free, "first", 0x3000, 0);
    /* Nobody knows this one, so there is nothing to bring back. */
    device_block_end(SPACE_ACL_MEMORY, 0x3008, &second_pool, &ending);
    device_block_resume(&ending);
    assert_int_equal(double_event_count(), 5);
}

static void a_block_ends_with_its_last_reference(void **state)
{
    struct device_block block = block_of(&first_pool, 64);
    struct block_ending ending;

    (void)state;
    device_block_begin(SPACE_HAL_HANDLE, 0x4000, &block);
    device_block_hold(SPACE_HAL_HANDLE, 0x4000);
    device_block_share(SPACE_HAL_HANDLE, 0x4000, &block);
    for (int i = 0; i < 2; i++) {
        device_block_end(SPACE_HAL_HANDLE, 0x4000, &first_pool, &ending);
        assert_int_equal(double_event_count(), 1);
    }
    /* The last release but one is refused: two are needed again. */
    device_block_resume(&ending);
    device_block_end(SPACE_HAL_HANDLE, 0x4000, &first_pool, &ending);
    assert_int_equal(double_event_count(), 1);
    device_block_end(SPACE_HAL_HANDLE, 0x4000, &first_pool, &ending);
    assert_event(1, MT_RECORD_free, "first", 0x4000, 0);
}

static void a_mapping_keeps_its_memory_alive(void **state)
{
    struct device_block memory = block_of(&first_pool, 64);
    struct device_block mapping = block_of(&second_pool, 64);
    struct block_ending ending;

    (void)state;
    mapping.held_space = SPACE_HAL_HANDLE;
    mapping.held = 0x5000;
    device_block_begin(SPACE_HAL_HANDLE, 0x5000, &memory);
    device_block_begin(SPACE_HAL_MAPPING, 0x6000, &mapping);
    device_block_end(SPACE_HAL_HANDLE, 0x5000, NULL, &ending);
    assert_int_equal(double_event_count(), 2); /* released, still mapped */
    device_block_end(SPACE_HAL_MAPPING, 0x6000, NULL, &ending);
    assert_event(2, MT_RECORD_free, "second", 0x6000, 0);
    assert_event(3, MT_RECORD_free, "first", 0x5000, 0);
    device_block_resume(&ending);
    assert_event(4, MT_RECORD_alloc, "second", 0x6000, 64);
    assert_event(5, MT_RECORD_alloc, "first", 0x5000, 64);
    device_block_end(SPACE_HAL_MAPPING, 0x6000, NULL, &ending);
    assert_event(7, MT_RECORD_free, "first", 0x5000, 0);
}

static void odd_addresses_are_recorded_without_being_remembered(void **state)
{
    struct device_block block = block_of(&first_pool, 1);
    struct block_ending ending;
    struct device_block found;

    (void)state;
    device_block_begin(SPACE_ACL_MEMORY, 0, &block);
    device_block_end(SPACE_ACL_MEMORY, 0, &first_pool, &ending);
    assert_int_equal(double_event_count(), 0);
    device_block_begin(SPACE_ACL_MEMORY, UINT64_MAX, &block);
    assert_event(0, MT_RECORD_alloc, "first", UINT64_MAX, 1);
    assert_false(device_block_find(SPACE_ACL_MEMORY, UINT64_MAX, &found));
    device_block_end(SPACE_ACL_MEMORY, UINT64_MAX, &first_pool, &ending);
    assert_event(1, MT_RECORD_free, "first", UINT64_MAX, 0);
}

static void a_hook_stays_out_when_devices_are_not_recorded(void **state)
{
    (void)state;
    double_config.records_device = false;
    assert_false(device_hook_enter(LAYER_DRIVER));
    double_config.records_device = true;
    assert_true(device_hook_enter(LAYER_DRIVER));
    assert_false(device_hook_enter(LAYER_DRIVER));
    device_hook_leave(LAYER_DRIVER, 0);
}

enum { CHURN_THREADS = 4, CHURN_LIVE = 2000, CHURN_ROUNDS = 200 };

/* Blocks that are not recorded (no pool), so that the recorder of the test does not overflow. */
static void *churn(void *argument)
{
    uint64_t first = UINT64_C(0x100000000) * (uint64_t)((uintptr_t)argument + 1);
    uintptr_t lost = 0;

    for (uint64_t round = 0; round < CHURN_ROUNDS; round++) {
        struct device_block block = {.size_bytes = round};
        struct block_ending ending;

        /* New addresses each round: the table fills with what is gone. */
        for (uint64_t i = 0; i < CHURN_LIVE; i++)
            device_block_begin(SPACE_CUDA_MEMORY, first + (round * CHURN_LIVE + i) * 512, &block);
        for (uint64_t i = 0; i < CHURN_LIVE; i++) {
            device_block_end(SPACE_CUDA_MEMORY, first + (round * CHURN_LIVE + i) * 512, NULL,
                             &ending);
            lost += ending.count != 1 || ending.ended[0].block.size_bytes != round;
        }
    }
    return (void *)lost;
}

static void nothing_is_forgotten_while_threads_churn(void **state)
{
    pthread_t threads[CHURN_THREADS];

    (void)state;
    for (uintptr_t i = 0; i < CHURN_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (size_t i = 0; i < CHURN_THREADS; i++) {
        void *lost;

        pthread_join(threads[i], &lost);
        assert_null(lost);
    }
    assert_int_equal(double_event_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_free_is_recorded_in_the_pool_that_owns_the_address, reset),
        cmocka_unit_test_setup(the_same_address_lives_once_in_each_space, reset),
        cmocka_unit_test_setup(a_refused_free_brings_the_block_back_as_it_was, reset),
        cmocka_unit_test_setup(a_block_ends_with_its_last_reference, reset),
        cmocka_unit_test_setup(a_mapping_keeps_its_memory_alive, reset),
        cmocka_unit_test_setup(odd_addresses_are_recorded_without_being_remembered, reset),
        cmocka_unit_test_setup(a_hook_stays_out_when_devices_are_not_recorded, reset),
        cmocka_unit_test_setup(nothing_is_forgotten_while_threads_churn, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
