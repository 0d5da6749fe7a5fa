/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses every kind of OpenCL memory and forgets one buffer.
 */
#include "opencl_steps.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "leaktide/tracer.h"
#include "opencl_entry_points.h"

enum {
    STEPS = 5,
    FORGETFUL_STEP = 3,
    NO_PLATFORM = 77,
    DEVICE_TYPE_ALL = -1,
    IMAGE2D = 0x10F1,
    IMAGE1D_BUFFER = 0x10F6,
    CHANNELS_RGBA = 0x10B5,
    CHANNEL_UNORM_INT8 = 0x10D2,
    KIB = 1024
};

static cl_context context;
static cl_command_queue queue;
static atomic_int activations_gone;

static void count_activations(cl_mem object, void *user)
{
    (void)object, (void)user;
    atomic_fetch_add(&activations_gone, 1);
}

/* Held by a command and by a second reference when the program lets go of it. */
void use_activations(void)
{
    cl_mem activations = clCreateBuffer(context, 0, 256 * KIB, NULL, NULL);
    cl_uint zero = 0;

    clSetMemObjectDestructorCallback(activations, count_activations, NULL);
    clRetainMemObject(activations);
    clEnqueueFillBuffer(queue, activations, &zero, sizeof(zero), 0, 256 * KIB, 0, NULL, NULL);
    clReleaseMemObject(activations);
    clReleaseMemObject(activations);
}

/* The parent is released before its part. */
void use_views(void)
{
    struct cl_region region = {.origin = 0, .size_bytes = 16 * KIB};
    struct cl_shape shape = {.type = IMAGE1D_BUFFER, .width = KIB};
    cl_uint format[2] = {CHANNELS_RGBA, CHANNEL_UNORM_INT8};
    cl_mem parent = clCreateBuffer(context, 0, 64 * KIB, NULL, NULL);
    cl_mem part = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    cl_mem image;

    shape.viewed = parent;
    image = clCreateImage(context, 0, format, &shape, NULL, NULL);
    clReleaseMemObject(parent);
    clReleaseMemObject(part);
    if (image)
        clReleaseMemObject(image);
}

void use_image(void)
{
    struct cl_shape shape = {.type = IMAGE2D, .width = 128, .height = 64};
    cl_uint format[2] = {CHANNELS_RGBA, CHANNEL_UNORM_INT8};
    cl_int status = -1;
    cl_mem image = clCreateImage(context, 0, format, &shape, NULL, &status);

    printf("image %d\n", status);
    if (image)
        clReleaseMemObject(image);
}

void use_shared_memory(void)
{
    void *one = clSVMAlloc(context, 1, 8 * KIB, 0);
    void *other = clSVMAlloc(context, 1, 8 * KIB, 0);

    printf("shared %d\n", one != NULL && other != NULL);
    clSVMFree(context, one);
    if (other)
        clEnqueueSVMFree(queue, 1, &other, NULL, NULL, 0, NULL, NULL);
}

void use_host_memory(void)
{
    static char staging[4 * KIB];
    cl_mem pinned = clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, 4 * KIB, NULL, NULL);
    cl_mem own = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(staging), staging, NULL);

    clReleaseMemObject(pinned);
    clReleaseMemObject(own);
}

void ask_for_too_much(void)
{
    cl_int status = 0;

    printf("too much: %d", clCreateBuffer(context, 0, (size_t)1 << 46, NULL, &status) != NULL);
    printf(" %d\n", status);
    printf("nothing: %d\n", clCreateBuffer(context, 0, 0, NULL, NULL) != NULL);
    printf("no object: %d\n", clReleaseMemObject(NULL));
}

void forget_metrics(void)
{
    cl_mem metrics = clCreateBuffer(context, 0, 48 * KIB, NULL, NULL);

    printf("left %llu %d\n", (unsigned long long)(uintptr_t)metrics, 48 * KIB);
}

/*
 * A command may let go of its arguments a moment after clFinish has returned, on a thread of the
 * driver; the tracer's callback comes right after ours.
 */
static void wait_for_the_driver(int step)
{
    static const struct timespec moment = {.tv_nsec = 2000000};

    for (int i = 0; i < 5000 && atomic_load(&activations_gone) < step; i++)
        nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
}

static bool opencl_start(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_uint count = 0;
    cl_int status;

    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0 ||
        clGetDeviceIDs(platform, (cl_uint)DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return false;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    queue = context ? clCreateCommandQueue(context, device, 0, &status) : NULL;
    return queue != NULL;
}

int opencl_steps(void)
{
    if (!opencl_start()) {
        puts("no OpenCL platform");
        return NO_PLATFORM;
    }
    for (int step = 1; step <= STEPS; step++) {
        mt_step_begin();
        use_activations();
        use_views();
        use_image();
        use_shared_memory();
        use_host_memory();
        if (step == FORGETFUL_STEP)
            forget_metrics();
        clFinish(queue);
        wait_for_the_driver(step);
        mt_step_end();
    }
    ask_for_too_much();
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
