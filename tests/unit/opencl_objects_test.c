/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL calls against a small OpenCL made here: what it is asked, and what is recorded.
 *
 * The OpenCL here counts references, holds the parents of sub-buffers, and calls destructor
 * callbacks when an object really ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "guard.h"
#include "opencl_objects.h"
#include "opencl_usm.h"
#include "recorder_double.h"

static struct config config = {.records_device = true, .records_launches = true};

const struct config *config_get(void)
{
    return &config;
}

/* --- a small OpenCL --------------------------------------------------------------------- */

struct _cl_mem {
    cl_context context;
    cl_bitfield flags;
    size_t size_bytes;
    int references;
    cl_mem parent;
    cl_destroyed destroyed;
    void *user;
};

static struct {
    bool fails;         /* creating calls return an error */
    bool has_callbacks; /* OpenCL 1.1 and later */
    const cl_int *seen_errcode;
    int live_objects;
} cl;

static char gpu_0, gpu_1, context_of_gpu_0, context_of_gpu_1, platform_of_all;
#define GPU_0     ((cl_device_id)&gpu_0)
#define GPU_1     ((cl_device_id)&gpu_1)
#define CONTEXT_0 ((cl_context)&context_of_gpu_0)
#define CONTEXT_1 ((cl_context)&context_of_gpu_1)
#define PLATFORM  ((cl_platform_id)&platform_of_all)
static const struct unwind_registers here = {.pc = 0x401234}; /* a site */

enum { CL_MEM_OBJECT_ALLOCATION_FAILURE = -4, CL_INVALID_MEM_OBJECT = -38, CL_TEST_GUESS = 77 };

static cl_mem object_new(cl_context context, cl_bitfield flags, size_t size_bytes, cl_mem parent,
                         cl_int *errcode)
{
    cl_mem object;

    cl.seen_errcode = errcode;
    if (cl.fails) {
        if (errcode)
            *errcode = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    object = calloc(1, sizeof(*object));
    *object = (struct _cl_mem){.context = context,
                               .flags = flags,
                               .size_bytes = size_bytes,
                               .references = 1,
                               .parent = parent};
    if (parent)
        parent->references++;
    if (errcode)
        *errcode = CL_SUCCESS;
    cl.live_objects++;
    return object;
}

static cl_int object_release(cl_mem object)
{
    cl_mem parent;

    if (!object)
        return CL_INVALID_MEM_OBJECT;
    if (--object->references > 0)
        return CL_SUCCESS;
    if (object->destroyed)
        object->destroyed(object, object->user);
    parent = object->parent;
    free(object);
    cl.live_objects--;
    return parent ? object_release(parent) : CL_SUCCESS;
}

static cl_int object_retain(cl_mem object)
{
    object->references++;
    return CL_SUCCESS;
}

static cl_mem buffer_new(cl_context context, cl_bitfield flags, size_t size_bytes, void *host,
                         cl_int *errcode)
{
    (void)host;
    return object_new(context, flags, size_bytes, NULL, errcode);
}

static cl_mem buffer_new_with_properties(cl_context context, const uint64_t *properties,
                                         cl_bitfield flags, size_t size_bytes, void *host,
                                         cl_int *errcode)
{
    (void)properties;
    return buffer_new(context, flags, size_bytes, host, errcode);
}

static cl_mem sub_buffer_new(cl_mem buffer, cl_bitfield flags, cl_uint type, const void *region,
                             cl_int *errcode)
{
    (void)type;
    return object_new(buffer->context, flags, ((const struct cl_region *)region)->size_bytes,
                      buffer, errcode);
}

static cl_mem image_new(cl_context context, cl_bitfield flags, const void *format,
                        const struct cl_shape *shape, void *host, cl_int *errcode)
{
    (void)format, (void)host;
    return object_new(context, flags, shape->width * shape->height * 4, shape->viewed, errcode);
}

static cl_int object_says(cl_mem object, cl_uint what, size_t size_bytes, void *value, size_t *got)
{
    (void)size_bytes, (void)got;
    if (what == CL_MEM_SIZE)
        *(size_t *)value = object->size_bytes;
    else if (what == CL_MEM_FLAGS)
        *(cl_bitfield *)value = object->flags;
    else if (what == CL_MEM_CONTEXT)
        *(cl_context *)value = object->context;
    else
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

static cl_int context_says(cl_context context, cl_uint what, size_t size_bytes, void *value,
                           size_t *got)
{
    (void)size_bytes, (void)got;
    if (what != CL_CONTEXT_DEVICES || (context != CONTEXT_0 && context != CONTEXT_1))
        return CL_INVALID_VALUE;
    *(cl_device_id *)value = context == CONTEXT_0 ? GPU_0 : GPU_1;
    errno = EBUSY; /* a query may do that; a hook may not show it */
    return CL_SUCCESS;
}

static cl_int device_says(cl_device_id device, cl_uint what, size_t size_bytes, void *value,
                          size_t *got)
{
    (void)device, (void)size_bytes, (void)got;
    if (what != CL_DEVICE_PLATFORM)
        return CL_INVALID_VALUE;
    *(cl_platform_id *)value = PLATFORM;
    return CL_SUCCESS;
}

static cl_int destructor_set(cl_mem object, cl_destroyed destroyed, void *user)
{
    if (!cl.has_callbacks)
        return CL_INVALID_VALUE;
    object->destroyed = destroyed;
    object->user = user;
    return CL_SUCCESS;
}

static void *svm_new(cl_context context, cl_bitfield flags, size_t size_bytes, cl_uint alignment)
{
    (void)context, (void)flags, (void)alignment;
    return cl.fails ? NULL : malloc(size_bytes);
}

static void svm_release(cl_context context, void *address)
{
    (void)context;
    free(address);
}

static cl_int svm_enqueue(cl_command_queue queue, cl_uint count, void **addresses,
                          cl_svm_free_them free_them, void *user, cl_uint wait_count,
                          const cl_event *wait_list, cl_event *event)
{
    (void)wait_count, (void)wait_list, (void)event;
    if (free_them)
        free_them(queue, count, addresses, user);
    else
        for (cl_uint i = 0; i < count; i++)
            free(addresses[i]);
    return CL_SUCCESS;
}

static cl_int kernel_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                             const size_t *offset, const size_t *global, const size_t *local,
                             cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local;
    (void)wait_count, (void)wait_list, (void)event;
    return cl.fails ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int kernel_says(cl_kernel kernel, cl_uint what, size_t size_bytes, void *value,
                          size_t *got)
{
    (void)kernel, (void)what, (void)got;
    strncpy(value, "gemm_f16", size_bytes);
    return CL_SUCCESS;
}

static cl_int queue_says(cl_command_queue queue, cl_uint what, size_t size_bytes, void *value,
                         size_t *got)
{
    (void)queue, (void)what, (void)size_bytes, (void)got;
    *(cl_device_id *)value = GPU_1;
    return CL_SUCCESS;
}

static cl_context context_new(const intptr_t *properties, cl_uint device_count,
                              const cl_device_id *devices, cl_context_notify notify, void *user,
                              cl_int *errcode)
{
    (void)properties, (void)device_count, (void)notify, (void)user;
    *errcode = CL_SUCCESS;
    return devices[0] == GPU_0 ? CONTEXT_0 : CONTEXT_1;
}

static void *usm_new(cl_context context, cl_device_id device, const uint64_t *properties,
                     size_t size_bytes, cl_uint alignment, cl_int *errcode)
{
    (void)context, (void)device, (void)properties, (void)alignment, (void)errcode;
    return malloc(size_bytes);
}

static cl_int usm_release(cl_context context, void *address)
{
    (void)context;
    free(address);
    return CL_SUCCESS;
}

static void *extension_find(cl_platform_id platform, const char *name)
{
    (void)platform;
    if (strcmp(name, "clDeviceMemAllocINTEL") == 0)
        return (void *)usm_new;
    if (strcmp(name, "clMemFreeINTEL") == 0)
        return (void *)usm_release;
    return strcmp(name, "clOther") == 0 ? (void *)extension_find : NULL;
}

static const struct opencl_calls real = {
    .clCreateContext = context_new,
    .clCreateBuffer = buffer_new,
    .clCreateBufferWithProperties = buffer_new_with_properties,
    .clCreateSubBuffer = sub_buffer_new,
    .clCreateImage = image_new,
    .clRetainMemObject = object_retain,
    .clReleaseMemObject = object_release,
    .clSVMAlloc = svm_new,
    .clSVMFree = svm_release,
    .clEnqueueSVMFree = svm_enqueue,
    .clEnqueueNDRangeKernel = kernel_enqueue,
    .clGetExtensionFunctionAddressForPlatform = extension_find,
    .clGetDeviceInfo = device_says,
    .clGetContextInfo = context_says,
    .clGetMemObjectInfo = object_says,
    .clGetCommandQueueInfo = queue_says,
    .clGetKernelInfo = kernel_says,
    .clSetMemObjectDestructorCallback = destructor_set,
};
static const struct opencl_recorder *const us = &opencl_objects;

static int fresh_start(void **state)
{
    (void)state;
    memset(&cl, 0, sizeof(cl));
    cl.has_callbacks = true;
    config.records_device = true;
    config.records_launches = true;
    double_reset();
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    return cl.live_objects;
}

static cl_mem create(cl_bitfield flags, size_t size_bytes)
{
    return us->clCreateBuffer(&real, here, CONTEXT_0, flags, size_bytes, NULL, NULL);
}

static cl_mem create_view(cl_mem buffer, size_t size_bytes)
{
    struct cl_region region = {.origin = 0, .size_bytes = size_bytes};

    return us->clCreateSubBuffer(&real, here, buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                 NULL);
}

static cl_mem create_image(cl_mem viewed)
{
    struct cl_shape shape = {.width = 10, .height = 5, .viewed = viewed};

    return us->clCreateImage(&real, here, CONTEXT_0, 0, NULL, &shape, NULL, NULL);
}

static void release(cl_mem object)
{
    assert_int_equal(us->clReleaseMemObject(&real, here, object), CL_SUCCESS);
}

static void assert_last_free(const void *handle)
{
    assert_non_null(double_last(MT_RECORD_free));
    assert_int_equal(double_last(MT_RECORD_free)->address, (uintptr_t)handle);
    assert_string_equal(double_last(MT_RECORD_free)->text, "opencl");
}

/* --- tests ------------------------------------------------------------------------------ */

static void buffer_lives_from_create_to_release(void **state)
{
    cl_mem buffer = create(0, 4096);
    const struct double_event *event = double_last(MT_RECORD_alloc);

    (void)state;
    assert_non_null(event);
    assert_string_equal(event->text, "opencl");
    assert_int_equal(event->address, (uintptr_t)buffer);
    assert_int_equal(event->size_bytes, 4096);
    assert_ptr_equal(event->site, (const void *)here.pc);
    assert_int_equal(event->place.device, 0);
    assert_int_equal(event->place.kind, MT_KIND_DEVICE);
    assert_int_equal(event->place.flags, 0);
    release(buffer);
    assert_last_free(buffer);
    assert_int_equal(double_event_count(), 2);
}

static void retained_buffer_lives_until_the_last_release(void **state)
{
    cl_mem buffer = create(0, 64);

    (void)state;
    assert_int_equal(us->clRetainMemObject(&real, here, buffer), CL_SUCCESS);
    release(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 0);
    release(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 1);
}

static void buffer_held_by_the_driver_lives_on(void **state)
{
    cl_mem buffer = create(0, 64);
    uintptr_t handle = (uintptr_t)buffer;

    (void)state;
    assert_int_equal(buffer->references, 1);
    buffer->references = 2; /* a queued command */
    release(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 0);
    object_release(buffer); /* it is done, on some thread of the driver */
    assert_int_equal(double_last(MT_RECORD_free)->address, handle);
}

static void sub_buffer_is_a_view_and_holds_its_parent(void **state)
{
    cl_mem parent = create(CL_MEM_ALLOC_HOST_PTR, 4096);
    cl_mem view = create_view(parent, 1024);
    const struct double_event *event = double_last(MT_RECORD_alloc);

    (void)state;
    assert_int_equal(event->address, (uintptr_t)view);
    assert_int_equal(event->size_bytes, 1024);
    assert_int_equal(event->place.flags, MT_PLACE_VIEW);
    assert_int_equal(event->place.kind, MT_KIND_HOST);
    assert_int_equal(event->place.device, 0);
    release(parent);
    assert_int_equal(double_count_of(MT_RECORD_free), 0);
    release(view);
    assert_int_equal(double_count_of(MT_RECORD_free), 2);
    assert_last_free(parent);
}

static void image_has_the_size_that_it_says(void **state)
{
    cl_mem image = create_image(NULL);

    (void)state;
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 200);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, 0);
    release(image);
    assert_last_free(image);
}

static void image_view_ends_without_a_callback(void **state)
{
    cl_mem buffer = create(0, 4096);
    cl_mem image = create_image(buffer);

    (void)state;
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, MT_PLACE_VIEW);
    assert_null(image->destroyed);
    us->clRetainMemObject(&real, here, image);
    release(image);
    assert_int_equal(double_count_of(MT_RECORD_free), 0);
    release(image);
    assert_last_free(image);
    release(buffer);
    assert_last_free(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 2);
}

static void buffers_of_opencl_1_0_end_at_the_last_release(void **state)
{
    cl_mem buffer;

    (void)state;
    cl.has_callbacks = false;
    buffer = create(0, 128);
    us->clRetainMemObject(&real, here, buffer);
    release(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 0);
    release(buffer);
    assert_last_free(buffer);
}

static const struct place_case {
    const char *name;
    cl_bitfield flags;
    uint8_t kind;
    uint16_t place_flags;
} place_cases[] = {
    {"plain buffer is on the device", 0, MT_KIND_DEVICE, 0},
    {"allocated host pointer is host memory", CL_MEM_ALLOC_HOST_PTR, MT_KIND_HOST, 0},
    {"used host pointer is registered host memory", CL_MEM_USE_HOST_PTR, MT_KIND_HOST,
     MT_PLACE_REGISTERED},
};

static void flags_tell_where_a_buffer_is(void **state)
{
    const struct place_case *c = *state;
    cl_mem buffer = create(c->flags, 64);

    assert_int_equal(double_last(MT_RECORD_alloc)->place.kind, c->kind);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, c->place_flags);
    release(buffer);
}

static void memory_of_another_api_is_imported(void **state)
{
    static const uint64_t own[] = {CL_DEVICE_HANDLE_LIST, CL_EXTERNAL_MEMORY_HANDLE, 0, 0};
    static const uint64_t imported[] = {CL_DEVICE_HANDLE_LIST,         1,  2, 0,
                                        CL_EXTERNAL_MEMORY_HANDLE + 7, 42, 0};
    cl_mem buffer;

    (void)state;
    buffer = us->clCreateBufferWithProperties(&real, here, CONTEXT_0, own, 0, 8, NULL, NULL);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, 0);
    release(buffer);
    buffer = us->clCreateBufferWithProperties(&real, here, CONTEXT_0, imported, 0, 8, NULL, NULL);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, MT_PLACE_IMPORTED);
    release(buffer);
    buffer = us->clCreateBufferWithProperties(&real, here, CONTEXT_0, NULL, 0, 8, NULL, NULL);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.flags, 0);
    release(buffer);
}

static void devices_are_numbered_by_first_sight(void **state)
{
    cl_mem first = create(0, 8);
    cl_mem second = us->clCreateBuffer(&real, here, CONTEXT_1, 0, 8, NULL, NULL);

    (void)state;
    assert_int_equal(double_events[0].place.device, 0);
    assert_int_equal(double_events[1].place.device, 1);
    release(first);
    release(second);
}

static void failure_is_passed_on_and_recorded(void **state)
{
    cl_int status = CL_TEST_GUESS;

    (void)state;
    cl.fails = true;
    assert_null(us->clCreateBuffer(&real, here, CONTEXT_0, 0, 1 << 20, NULL, &status));
    assert_int_equal(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_ptr_equal(cl.seen_errcode, &status); /* the program's own, not a copy */
    assert_null(create(0, 1 << 20));            /* without an errcode */
    assert_int_equal(double_count_of(MT_RECORD_alloc_failed), 2);
    assert_int_equal((int64_t)double_last(MT_RECORD_alloc_failed)->status,
                     CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(double_last(MT_RECORD_alloc_failed)->size_bytes, 1 << 20);
}

static void absent_function_answers_like_no_opencl(void **state)
{
    static const struct opencl_calls nothing;
    cl_int status = CL_TEST_GUESS;

    (void)state;
    assert_null(us->clCreateBuffer(&nothing, here, CONTEXT_0, 0, 8, NULL, &status));
    assert_int_equal(status, CL_PLATFORM_NOT_FOUND);
    assert_null(us->clCreateBuffer(&nothing, here, CONTEXT_0, 0, 8, NULL, NULL));
    assert_int_equal(us->clReleaseMemObject(&nothing, here, NULL), CL_PLATFORM_NOT_FOUND);
    assert_null(us->clSVMAlloc(&nothing, here, CONTEXT_0, 0, 8, 0));
    us->clSVMFree(&nothing, here, CONTEXT_0, NULL);
    assert_null(us->clGetExtensionFunctionAddress(&nothing, here, "clOther"));
    assert_int_equal(double_event_count(), 0);
}

static cl_mem buffer_new_through_the_layer(cl_context context, cl_bitfield flags, size_t size_bytes,
                                           void *host, cl_int *errcode)
{
    return us->clCreateBuffer(&real, (struct unwind_registers){0}, context, flags, size_bytes, host,
                              errcode);
}

static void call_that_passes_both_ways_is_recorded_once(void **state)
{
    struct opencl_calls both = real;
    cl_mem buffer;

    (void)state;
    both.clCreateBuffer = buffer_new_through_the_layer;
    buffer = us->clCreateBuffer(&both, here, CONTEXT_0, 0, 8, NULL, NULL);
    assert_int_equal(double_count_of(MT_RECORD_alloc), 1);
    assert_ptr_equal(double_last(MT_RECORD_alloc)->site, (const void *)here.pc);
    release(buffer);
    assert_int_equal(double_count_of(MT_RECORD_free), 1);
}

static void nothing_is_recorded_when_devices_are_not_asked_for(void **state)
{
    cl_mem buffer;

    (void)state;
    config.records_device = false;
    buffer = create(0, 8);
    assert_null(buffer->destroyed);
    release(buffer);
    assert_int_equal(double_event_count(), 0);
}

static void errno_stays_as_the_real_call_left_it(void **state)
{
    cl_mem buffer;

    (void)state;
    errno = 0;
    buffer = create(0, 8);
    assert_int_equal(errno, 0);
    release(buffer);
}

static void svm_lives_from_alloc_to_free(void **state)
{
    void *address = us->clSVMAlloc(&real, here, CONTEXT_1, 0, 777, 0);

    (void)state;
    assert_int_equal(double_last(MT_RECORD_alloc)->address, (uintptr_t)address);
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 777);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.kind, MT_KIND_SHARED);
    us->clSVMFree(&real, here, CONTEXT_1, address);
    assert_int_equal(double_last(MT_RECORD_free)->address, (uintptr_t)address);
    us->clSVMFree(&real, here, CONTEXT_1, NULL);
    assert_int_equal(double_count_of(MT_RECORD_free), 1);
    cl.fails = true;
    assert_null(us->clSVMAlloc(&real, here, CONTEXT_1, 0, 777, 0));
    assert_int_equal(double_count_of(MT_RECORD_alloc_failed), 1);
}

static void free_them_by_svm_free(cl_command_queue queue, cl_uint count, void **addresses,
                                  void *user)
{
    (void)queue, (void)user;
    for (cl_uint i = 0; i < count; i++)
        free(addresses[i]);
}

static void enqueued_svm_free_ends_the_blocks_it_frees_itself(void **state)
{
    void *both[2] = {us->clSVMAlloc(&real, here, CONTEXT_0, 0, 16, 0),
                     us->clSVMAlloc(&real, here, CONTEXT_0, 0, 16, 0)};
    void *third = us->clSVMAlloc(&real, here, CONTEXT_0, 0, 16, 0);

    (void)state;
    us->clEnqueueSVMFree(&real, here, NULL, 2, both, NULL, NULL, 0, NULL, NULL);
    assert_int_equal(double_count_of(MT_RECORD_free), 2);
    us->clEnqueueSVMFree(&real, here, NULL, 1, &third, free_them_by_svm_free, NULL, 0, NULL, NULL);
    assert_int_equal(double_count_of(MT_RECORD_free), 2);
}

static void launch_has_the_name_of_the_kernel(void **state)
{
    (void)state;
    us->clEnqueueNDRangeKernel(&real, here, NULL, NULL, 1, NULL, NULL, NULL, 0, NULL, NULL);
    assert_string_equal(double_last(MT_RECORD_launch)->text, "gemm_f16");
    assert_int_equal(double_last(MT_RECORD_launch)->place.device, 1);
    config.records_launches = false;
    us->clEnqueueNDRangeKernel(&real, here, NULL, NULL, 1, NULL, NULL, NULL, 0, NULL, NULL);
    config.records_launches = true;
    cl.fails = true;
    assert_int_equal(
        us->clEnqueueNDRangeKernel(&real, here, NULL, NULL, 1, NULL, NULL, NULL, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(double_count_of(MT_RECORD_launch), 1);
}

static void new_context_is_a_device_event(void **state)
{
    cl_device_id device = GPU_1;

    (void)state;
    assert_ptr_equal(us->clCreateContext(&real, here, NULL, 1, &device, NULL, NULL, NULL),
                     CONTEXT_1);
    assert_string_equal(double_last(MT_RECORD_device_event)->text, "clCreateContext");
    assert_int_equal(double_last(MT_RECORD_device_event)->place.device, 1);
    assert_int_equal(double_last(MT_RECORD_device_event)->status, 0);
}

static void usm_is_recorded_through_the_functions_handed_out(void **state)
{
    void *(*alloc)(cl_context, cl_device_id, const uint64_t *, size_t, cl_uint, cl_int *);
    cl_int (*free_it)(cl_context, void *);
    void *address;

    (void)state;
    *(void **)&alloc = us->clGetExtensionFunctionAddressForPlatform(&real, here, PLATFORM,
                                                                    "clDeviceMemAllocINTEL");
    *(void **)&free_it =
        us->clGetExtensionFunctionAddressForPlatform(&real, here, PLATFORM, "clMemFreeINTEL");
    assert_ptr_not_equal((void *)alloc, (void *)usm_new);
    address = alloc(CONTEXT_0, GPU_1, NULL, 333, 0, NULL);
    assert_non_null(address);
    assert_int_equal(double_last(MT_RECORD_alloc)->address, (uintptr_t)address);
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 333);
    assert_int_equal(double_last(MT_RECORD_alloc)->place.device, 1);
    assert_int_equal(free_it(CONTEXT_0, address), CL_SUCCESS);
    assert_int_equal(double_last(MT_RECORD_free)->address, (uintptr_t)address);
}

static void other_extensions_are_left_alone(void **state)
{
    (void)state;
    assert_ptr_equal(us->clGetExtensionFunctionAddressForPlatform(&real, here, PLATFORM, "clOther"),
                     (void *)extension_find);
    assert_null(us->clGetExtensionFunctionAddressForPlatform(&real, here, PLATFORM,
                                                             "clSharedMemAllocINTEL"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh_start, nothing_is_left)
#define CASE(row)                                                                                  \
    {                                                                                              \
        (row).name, flags_tell_where_a_buffer_is, fresh_start, nothing_is_left, (void *)&(row)     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffer_lives_from_create_to_release),
        TEST(retained_buffer_lives_until_the_last_release),
        TEST(buffer_held_by_the_driver_lives_on),
        TEST(sub_buffer_is_a_view_and_holds_its_parent),
        TEST(image_has_the_size_that_it_says),
        TEST(image_view_ends_without_a_callback),
        TEST(buffers_of_opencl_1_0_end_at_the_last_release),
        CASE(place_cases[0]),
        CASE(place_cases[1]),
        CASE(place_cases[2]),
        TEST(memory_of_another_api_is_imported),
        TEST(devices_are_numbered_by_first_sight),
        TEST(failure_is_passed_on_and_recorded),
        TEST(absent_function_answers_like_no_opencl),
        TEST(call_that_passes_both_ways_is_recorded_once),
        TEST(nothing_is_recorded_when_devices_are_not_asked_for),
        TEST(errno_stays_as_the_real_call_left_it),
        TEST(svm_lives_from_alloc_to_free),
        TEST(enqueued_svm_free_ends_the_blocks_it_frees_itself),
        TEST(launch_has_the_name_of_the_kernel),
        TEST(new_context_is_a_device_event),
        TEST(usm_is_recorded_through_the_functions_handed_out),
        TEST(other_extensions_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
