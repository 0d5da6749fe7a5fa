/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers of CUDA, called as a program calls them, above the fake runtime and driver. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "cuda_places.h"
#include "device_memory.h"
#include "fake_cuda.h"
#include "recorder_double.h"

static int reset(void **state)
{
    (void)state;
    double_config_reset();
    assert_int_equal(cudaSetDevice(1), 0);
    double_reset();
    return 0;
}

static const struct double_event *event_of(enum mt_record_code code, const char *pool)
{
    for (size_t i = double_event_count(); i > 0; i--)
        if (double_events[i - 1].code == code && strcmp(double_events[i - 1].text, pool) == 0)
            return &double_events[i - 1];
    return NULL;
}

static size_t count_of(enum mt_record_code code, const char *pool)
{
    size_t count = 0;

    for (size_t i = 0; i < double_event_count(); i++)
        count += double_events[i].code == code && strcmp(double_events[i].text, pool) == 0;
    return count;
}

static void runtime_and_driver_fill_a_pool_each(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(cudaMalloc(&address, 4096), 0);
    assert_int_equal(double_event_count(), 2);
    assert_string_equal(double_events[0].text, "cuda");
    assert_string_equal(double_events[1].text, "cudart");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(double_events[i].address, (uintptr_t)address);
        assert_int_equal(double_events[i].size_bytes, 4096);
        assert_int_equal(double_events[i].place.device, 1);
        assert_int_equal(double_events[i].place.kind, MT_KIND_DEVICE);
    }
    assert_int_equal(fake_cuda_device_bytes(1), 4096);
    assert_int_equal(cudaFree(address), 0);
    assert_string_equal(double_events[2].text, "cudart");
    assert_string_equal(double_events[3].text, "cuda");
    assert_int_equal(fake_cuda_device_bytes(1), 0);
    assert_int_equal(cudaFree(NULL), 0); /* a common way to wake the runtime up */
    assert_int_equal(double_event_count(), 4);
}

static void pitched_memory_has_the_size_it_takes(void **state)
{
    void *address = NULL;
    size_t pitch = 0;
    struct cuda_pitched pitched;

    (void)state;
    assert_int_equal(cudaMallocPitch(&address, &pitch, 100, 10), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart")->size_bytes, pitch * 10);
    assert_int_equal(event_of(MT_RECORD_alloc, "cuda")->size_bytes, pitch * 10);
    assert_int_equal(cudaFree(address), 0);
    assert_int_equal(cudaMalloc3D(&pitched, (struct cuda_extent){100, 4, 5}), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart")->size_bytes, 512 * 20);
    assert_int_equal(cudaFree(pitched.address), 0);
    assert_int_equal(fake_cuda_device_bytes(1), 0);
}

static void every_kind_of_memory_has_its_pool(void **state)
{
    static char memory[4096];
    struct cuda_channels channels = {32, 0, 0, 0, 2};
    void *managed = NULL, *async = NULL, *host = NULL, *array = NULL;

    (void)state;
    assert_int_equal(cudaMallocManaged(&managed, 64, 1), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart")->place.kind, MT_KIND_SHARED);
    assert_int_equal(cudaMallocAsync(&async, 128, NULL), 0);
    assert_int_equal(cudaMallocHost(&host, 256), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart_host")->place.device, -1);
    assert_int_equal(cudaHostRegister(memory, sizeof(memory), 0), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart_registered")->place.flags,
                     MT_PLACE_REGISTERED);
    assert_int_equal(cudaMallocArray(&array, &channels, 16, 8, 0), 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cudart")->size_bytes, 16 * 8 * 4);

    assert_int_equal(cudaFree(async), 0); /* allowed: the address knows its pool */
    assert_int_equal(count_of(MT_RECORD_free, "cudart_async"), 1);
    assert_int_equal(count_of(MT_RECORD_free, "cuda_async"), 1);
    assert_int_equal(cudaFreeAsync(managed, NULL), 0);
    assert_int_equal(cudaFreeHost(host), 0);
    assert_int_equal(cudaHostUnregister(memory), 0);
    assert_int_equal(cudaFreeArray(array), 0);
    for (size_t i = 0; i < 8; i++) {
        static const char *const pools[] = {
            "cuda",      "cudart",      "cuda_async",      "cudart_async",
            "cuda_host", "cudart_host", "cuda_registered", "cudart_registered"};

        assert_true(count_of(MT_RECORD_alloc, pools[i]) > 0);
        assert_int_equal(count_of(MT_RECORD_alloc, pools[i]), count_of(MT_RECORD_free, pools[i]));
    }
}

static void refusals_are_recorded_and_undone(void **state)
{
    void *address = NULL;

    (void)state;
    assert_int_equal(cudaMalloc(&address, (size_t)1 << 50), CUDA_STATUS_OUT_OF_MEMORY);
    assert_int_equal(event_of(MT_RECORD_alloc_failed, "cudart")->status, CUDA_STATUS_OUT_OF_MEMORY);
    assert_int_equal(event_of(MT_RECORD_alloc_failed, "cuda")->size_bytes, (uint64_t)1 << 50);
    assert_int_equal(cudaMalloc(&address, 64), 0);
    fake_cuda_refuse_next_free();
    assert_int_equal(cudaFree(address), CUDA_STATUS_INVALID_CONTEXT);
    assert_int_equal(count_of(MT_RECORD_alloc, "cudart"), 2);
    assert_int_equal(event_of(MT_RECORD_alloc, "cuda")->size_bytes, 64);
    assert_int_equal(cudaFree(address), 0);
    assert_int_equal(cudaFree(address), CUDA_STATUS_INVALID_VALUE);
}

static void functions_asked_for_by_name_are_wrappers(void **state)
{
    int (*alloc)(uint64_t *, size_t) = NULL;
    int (*async)(uint64_t *, size_t, void *) = NULL;
    void *other = NULL, *old = NULL, *again = NULL;
    uint64_t address = 0;
    int result;

    (void)state;
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", (void **)&alloc, 12000, 0, &result), 0);
    assert_ptr_equal(alloc, cuMemAlloc_v2);
    assert_int_equal(alloc(&address, 64), 0);
    assert_int_equal(count_of(MT_RECORD_alloc, "cuda"), 1);
    assert_int_equal(cuMemFree_v2(address), 0);
    assert_int_equal(cudaGetDriverEntryPoint("cuMemAllocAsync", (void **)&async,
                                             CUDA_PER_THREAD_STREAM, &result),
                     0);
    assert_ptr_equal(async, cuMemAllocAsync_ptsz);
    assert_int_equal(cuGetProcAddress_v2("cuCtxGetDevice", &other, 12000, 0, &result), 0);
    assert_ptr_equal(other, cuCtxGetDevice); /* not hooked: the driver's own */
    assert_int_equal(cuGetProcAddress("cuMemAlloc", &old, 3000, 0), 0);
    assert_ptr_not_equal(old, cuMemAlloc_v2); /* other arguments in those days */
    assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &again, 12000, 0, &result), 0);
    assert_ptr_equal(again, cuGetProcAddress_v2);
    assert_int_equal(cuGetProcAddress_v2("cuNoSuchThing", &again, 12000, 0, &result),
                     CUDA_STATUS_NOT_FOUND);
    assert_null(again);
}

static void expandable_memory_is_followed_piece_by_piece(void **state)
{
    struct cuda_memory_property property = {.type = 1, .location_type = 1, .location = 0};
    uint64_t handles[3], address = 0, again = 0;

    (void)state;
    assert_int_equal(cuMemAddressReserve(&address, 3 << 20, 0, 0, 0), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(cuMemCreate(&handles[i], 1 << 20, &property, 0), 0);
        assert_int_equal(cuMemMap(address + (i << 20), 1 << 20, 0, handles[i], 0), 0);
    }
    assert_int_equal(event_of(MT_RECORD_alloc, "cuda")->place.device, 0);
    assert_int_equal(event_of(MT_RECORD_alloc, "cuda_mapping")->place.device, 0);
    /* As NCCL frees: find the handle, release both, unmap. */
    assert_int_equal(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address), 0);
    assert_int_equal(again, handles[0]);
    assert_int_equal(cuMemRelease(again), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cuMemRelease(handles[i]), 0);
    assert_int_equal(count_of(MT_RECORD_free, "cuda"), 0);
    assert_int_equal(fake_cuda_device_bytes(0), 3 << 20);
    assert_int_equal(cuMemUnmap(address, 3 << 20), 0);
    assert_int_equal(count_of(MT_RECORD_free, "cuda_mapping"), 3);
    assert_int_equal(count_of(MT_RECORD_free, "cuda"), 3);
    assert_int_equal(fake_cuda_device_bytes(0), 0);
    assert_int_equal(cuMemUnmap(address, 3 << 20), CUDA_STATUS_INVALID_VALUE);
    assert_int_equal(cuMemAddressFree(address, 3 << 20), 0);
    assert_int_equal(count_of(MT_RECORD_free, "cuda_virtual"), 1);
}

static void *ask(void *unused)
{
    uint64_t free_bytes = 0, total_bytes = 0;

    (void)unused;
    if (!cuda_memory_info(1, &free_bytes, &total_bytes) || total_bytes != UINT64_C(1) << 34)
        return NULL;
    return (void *)(uintptr_t)(total_bytes - free_bytes);
}

/* From a thread without a context, and without making one. */
static void used_devices_tell_their_free_memory(void **state)
{
    void *address = NULL, *used = NULL;
    uint64_t free_bytes, total_bytes;
    unsigned made;
    pthread_t thread;

    (void)state;
    assert_int_equal(cudaMalloc(&address, 12345), 0);
    made = fake_cuda_contexts_made();
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    pthread_join(thread, &used);
    assert_int_equal((uintptr_t)used, 12345);
    assert_false(cuda_memory_info(7, &free_bytes, &total_bytes));
    assert_int_equal(fake_cuda_contexts_made(), made);
    assert_int_equal(cudaFree(address), 0);
}

static void arrays_are_as_large_as_their_elements(void **state)
{
    struct cuda_array flat = {100, 0, 0x20, 4}, odd = {100, 2, 0x77, 1};
    struct cuda_array_3d cube = {10, 10, 10, 0x10, 2, 0};
    struct cuda_channels bytes = {8, 8, 8, 8, 1};

    (void)state;
    assert_int_equal(cuda_array_bytes(&flat), 1600);
    assert_int_equal(cuda_array_bytes(&odd), 0);
    assert_int_equal(cuda_array_bytes(NULL), 0);
    assert_int_equal(cuda_array_3d_bytes(&cube), 4000);
    assert_int_equal(cuda_channels_bytes(&bytes, (struct cuda_extent){10, 0, 0}), 40);
    assert_int_equal(cuda_channels_bytes(NULL, (struct cuda_extent){10, 0, 0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(runtime_and_driver_fill_a_pool_each, reset),
        cmocka_unit_test_setup(pitched_memory_has_the_size_it_takes, reset),
        cmocka_unit_test_setup(every_kind_of_memory_has_its_pool, reset),
        cmocka_unit_test_setup(refusals_are_recorded_and_undone, reset),
        cmocka_unit_test_setup(functions_asked_for_by_name_are_wrappers, reset),
        cmocka_unit_test_setup(expandable_memory_is_followed_piece_by_piece, reset),
        cmocka_unit_test_setup(used_devices_tell_their_free_memory, reset),
        cmocka_unit_test(arrays_are_as_large_as_their_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
