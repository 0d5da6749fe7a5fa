/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL calls on their way through.
 *
 * A memory object lives until its last reference goes, and the program's is seldom the last:
 * sub-buffers hold their parent, queued commands hold their arguments. OpenCL tells the true end
 * to a destructor callback, in the moment before the memory is freed; so every object gets one.
 * Views of another object (images made from a buffer) and objects of platforms without such
 * callbacks live by the program's own references (opencl_references.h): PoCL 3.1 forgets the
 * callbacks of image views.
 */
#include "opencl_objects.h"

#include <errno.h>
#include <stdatomic.h>

#include "config.h"
#include "guard.h"
#include "leaktide/format.h"
#include "opencl_references.h"
#include "opencl_usm.h"
#include "recorder.h"

POOL(pool_opencl, "opencl");

enum { DEVICES = 64 };

/* Devices by order of first sight: the index is the device number of all our records. */
static _Atomic(cl_device_id) devices[DEVICES];

static int32_t device_index(cl_device_id device)
{
    if (!device)
        return -1;
    for (int32_t i = 0; i < DEVICES; i++) {
        cl_device_id seen = NULL;

        if (atomic_compare_exchange_strong(&devices[i], &seen, device) || seen == device)
            return i;
    }
    return -1;
}

uint64_t opencl_place(cl_device_id device, uint8_t kind, uint16_t flags)
{
    return mt_place_pack((struct mt_place){
        .device = device_index(device), .kind = kind, .flags = flags, .module = -1});
}

cl_device_id opencl_first_device(const struct opencl_calls *real, cl_context context)
{
    cl_device_id of_context[DEVICES] = {NULL};

    if (!context || !real->clGetContextInfo ||
        real->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(of_context), of_context, NULL))
        return NULL;
    return of_context[0];
}

struct opencl_call opencl_call_begin(const struct opencl_calls *real, struct unwind_registers from)
{
    return (struct opencl_call){.real = real,
                                .from = from,
                                .is_recorded =
                                    config_get()->records_device && guard_enter(LAYER_OPENCL)};
}

void opencl_call_end(const struct opencl_call *call)
{
    if (call->is_recorded)
        guard_leave(LAYER_OPENCL);
}

/* What one of the creating functions asked for. */
struct request {
    cl_context context;
    cl_bitfield flags;    /* CL_MEM_... */
    uint64_t size_bytes;  /* 0: ask the object */
    uint16_t place_flags; /* MT_PLACE_... */
};

static uint64_t place_of(const struct opencl_call *call, const struct request *request)
{
    cl_device_id device = opencl_first_device(call->real, request->context);
    uint16_t flags = request->place_flags;

    if (request->flags & CL_MEM_USE_HOST_PTR)
        return opencl_place(device, MT_KIND_HOST, flags | MT_PLACE_REGISTERED);
    if (request->flags & CL_MEM_ALLOC_HOST_PTR)
        return opencl_place(device, MT_KIND_HOST, flags);
    return opencl_place(device, MT_KIND_DEVICE, flags);
}

/* Called by the driver, on any thread, and often from inside a call that we are recording. */
static void object_destroyed(cl_mem object, void *handle)
{
    int saved_errno = errno;
    bool outermost = guard_enter(LAYER_OPENCL);

    (void)object; /* a layer below may know it by another name than the program */
    record_free(pool_opencl, (uintptr_t)handle);
    if (outermost)
        guard_leave(LAYER_OPENCL);
    errno = saved_errno;
}

/* Arranges that the end of the object will be noticed. False when it will not. */
static bool follow_end(const struct opencl_calls *real, cl_mem object, bool is_image_view)
{
    if (!is_image_view && real->clSetMemObjectDestructorCallback &&
        real->clSetMemObjectDestructorCallback(object, object_destroyed, object) == CL_SUCCESS)
        return true;
    return opencl_references_add(object);
}

static void record_created(const struct opencl_call *call, const struct request *request,
                           cl_mem object, bool is_image_view)
{
    uint64_t place = place_of(call, request);
    size_t size_bytes = (size_t)request->size_bytes;

    if (!size_bytes && call->real->clGetMemObjectInfo)
        call->real->clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof(size_bytes), &size_bytes, NULL);
    record_alloc(pool_opencl, place, (uintptr_t)object, size_bytes,
                 recorder_site(LAYER_OPENCL, call->from));
    if (!follow_end(call->real, object, is_image_view) && (request->place_flags & MT_PLACE_VIEW))
        record_free(pool_opencl, (uintptr_t)object); /* better none than one for ever */
}

static cl_mem created(const struct opencl_call *call, const struct request *request, cl_mem object,
                      bool is_image_view, cl_int status)
{
    if (call->is_recorded) {
        int saved_errno = errno;

        if (object)
            record_created(call, request, object, is_image_view);
        else
            record_alloc_failed(pool_opencl, place_of(call, request), request->size_bytes,
                                (uint64_t)(int64_t)status, recorder_site(LAYER_OPENCL, call->from));
        errno = saved_errno;
    }
    opencl_call_end(call);
    return object;
}

/* The answer of a creating function that the loader or platform does not have. */
static void *absent(cl_int *errcode)
{
    if (errcode)
        *errcode = CL_PLATFORM_NOT_FOUND;
    return NULL;
}

static cl_mem create_buffer(const struct opencl_calls *real, struct unwind_registers from,
                            cl_context context, cl_bitfield flags, size_t size_bytes, void *host,
                            cl_int *errcode)
{
    struct request request = {.context = context, .flags = flags, .size_bytes = size_bytes};
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateBuffer)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreateBuffer(context, flags, size_bytes, host, status);
    return created(&call, &request, object, false, *status);
}

/* MT_PLACE_IMPORTED when the properties name memory of another API or process. */
static uint16_t flags_of_properties(const uint64_t *properties)
{
    while (properties && *properties) {
        uint64_t name = *properties++;

        if (name >= CL_EXTERNAL_MEMORY_HANDLE && name < CL_EXTERNAL_MEMORY_HANDLE_END)
            return MT_PLACE_IMPORTED;
        if (name == CL_DEVICE_HANDLE_LIST)
            while (*properties)
                properties++;
        properties++; /* the value, or the end of the list */
    }
    return 0;
}

static cl_mem create_buffer_with_properties(const struct opencl_calls *real,
                                            struct unwind_registers from, cl_context context,
                                            const uint64_t *properties, cl_bitfield flags,
                                            size_t size_bytes, void *host, cl_int *errcode)
{
    struct request request = {.context = context,
                              .flags = flags,
                              .size_bytes = size_bytes,
                              .place_flags = flags_of_properties(properties)};
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateBufferWithProperties)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object =
        real->clCreateBufferWithProperties(context, properties, flags, size_bytes, host, status);
    return created(&call, &request, object, false, *status);
}

/* A view inherits where its parent lives. */
static struct request request_of_view(const struct opencl_calls *real, cl_mem parent,
                                      uint64_t size_bytes)
{
    struct request request = {.size_bytes = size_bytes, .place_flags = MT_PLACE_VIEW};

    if (real->clGetMemObjectInfo) {
        real->clGetMemObjectInfo(parent, CL_MEM_CONTEXT, sizeof(request.context), &request.context,
                                 NULL);
        real->clGetMemObjectInfo(parent, CL_MEM_FLAGS, sizeof(request.flags), &request.flags, NULL);
    }
    return request;
}

static cl_mem create_sub_buffer(const struct opencl_calls *real, struct unwind_registers from,
                                cl_mem buffer, cl_bitfield flags, cl_uint type, const void *region,
                                cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct request request = {.place_flags = MT_PLACE_VIEW};
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateSubBuffer)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreateSubBuffer(buffer, flags, type, region, status);
    if (object && call.is_recorded)
        request = request_of_view(real, buffer,
                                  type == CL_BUFFER_CREATE_TYPE_REGION
                                      ? ((const struct cl_region *)region)->size_bytes
                                      : 0);
    return created(&call, &request, object, false, *status);
}

/* An image of its own, or one that looks into shape->viewed. */
static cl_mem image_created(const struct opencl_call *call, cl_context context, cl_bitfield flags,
                            const uint64_t *properties, const struct cl_shape *shape, cl_mem object,
                            cl_int status)
{
    struct request request = {
        .context = context, .flags = flags, .place_flags = flags_of_properties(properties)};
    bool is_view = object && shape && shape->viewed;

    if (is_view && call->is_recorded)
        request = request_of_view(call->real, shape->viewed, 0);
    return created(call, &request, object, is_view, status);
}

static cl_mem create_image(const struct opencl_calls *real, struct unwind_registers from,
                           cl_context context, cl_bitfield flags, const void *format,
                           const struct cl_shape *shape, void *host, cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateImage)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreateImage(context, flags, format, shape, host, status);
    return image_created(&call, context, flags, NULL, shape, object, *status);
}

static cl_mem create_image_with_properties(const struct opencl_calls *real,
                                           struct unwind_registers from, cl_context context,
                                           const uint64_t *properties, cl_bitfield flags,
                                           const void *format, const struct cl_shape *shape,
                                           void *host, cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateImageWithProperties)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object =
        real->clCreateImageWithProperties(context, properties, flags, format, shape, host, status);
    return image_created(&call, context, flags, properties, shape, object, *status);
}

static cl_mem create_image_2d(const struct opencl_calls *real, struct unwind_registers from,
                              cl_context context, cl_bitfield flags, const void *format,
                              size_t width, size_t height, size_t row_pitch, void *host,
                              cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateImage2D)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreateImage2D(context, flags, format, width, height, row_pitch, host, status);
    return image_created(&call, context, flags, NULL, NULL, object, *status);
}

static cl_mem create_image_3d(const struct opencl_calls *real, struct unwind_registers from,
                              cl_context context, cl_bitfield flags, const void *format,
                              size_t width, size_t height, size_t depth, size_t row_pitch,
                              size_t slice_pitch, void *host, cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreateImage3D)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreateImage3D(context, flags, format, width, height, depth, row_pitch,
                                   slice_pitch, host, status);
    return image_created(&call, context, flags, NULL, NULL, object, *status);
}

static cl_mem create_pipe(const struct opencl_calls *real, struct unwind_registers from,
                          cl_context context, cl_bitfield flags, cl_uint packet_bytes,
                          cl_uint packets, const intptr_t *properties, cl_int *errcode)
{
    struct request request = {
        .context = context, .flags = flags, .size_bytes = (uint64_t)packet_bytes * packets};
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_mem object;

    if (!real->clCreatePipe)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    object = real->clCreatePipe(context, flags, packet_bytes, packets, properties, status);
    return created(&call, &request, object, false, *status);
}

static cl_int retain_object(const struct opencl_calls *real, struct unwind_registers from,
                            cl_mem object)
{
    struct opencl_call call;
    cl_int status;

    if (!real->clRetainMemObject)
        return CL_PLATFORM_NOT_FOUND;
    call = opencl_call_begin(real, from);
    status = real->clRetainMemObject(object);
    if (call.is_recorded && status == CL_SUCCESS)
        opencl_references_retain(object);
    opencl_call_end(&call);
    return status;
}

static cl_int release_object(const struct opencl_calls *real, struct unwind_registers from,
                             cl_mem object)
{
    struct opencl_call call;
    cl_int status;

    if (!real->clReleaseMemObject)
        return CL_PLATFORM_NOT_FOUND;
    call = opencl_call_begin(real, from);
    if (call.is_recorded && opencl_references_release(object))
        record_free(pool_opencl, (uintptr_t)object);
    status = real->clReleaseMemObject(object);
    opencl_call_end(&call);
    return status;
}

static void *svm_alloc(const struct opencl_calls *real, struct unwind_registers from,
                       cl_context context, cl_bitfield flags, size_t size_bytes, cl_uint alignment)
{
    struct opencl_call call;
    void *address;

    if (!real->clSVMAlloc)
        return NULL;
    call = opencl_call_begin(real, from);
    address = real->clSVMAlloc(context, flags, size_bytes, alignment);
    if (call.is_recorded) {
        int saved_errno = errno;
        uint64_t place = opencl_place(opencl_first_device(real, context), MT_KIND_SHARED, 0);

        if (address)
            record_alloc(pool_opencl, place, (uintptr_t)address, size_bytes,
                         recorder_site(LAYER_OPENCL, from));
        else /* the function gives no reason */
            record_alloc_failed(pool_opencl, place, size_bytes, 0,
                                recorder_site(LAYER_OPENCL, from));
        errno = saved_errno;
    }
    opencl_call_end(&call);
    return address;
}

static void svm_free(const struct opencl_calls *real, struct unwind_registers from,
                     cl_context context, void *address)
{
    struct opencl_call call;

    if (!real->clSVMFree)
        return;
    call = opencl_call_begin(real, from);
    if (call.is_recorded && address)
        record_free(pool_opencl, (uintptr_t)address);
    real->clSVMFree(context, address);
    opencl_call_end(&call);
}

/*
 * The program gives the blocks up here, though the device may hold them until the queue gets
 * there. With a function of its own, the program frees them itself, by clSVMFree.
 */
static cl_int enqueue_svm_free(const struct opencl_calls *real, struct unwind_registers from,
                               cl_command_queue queue, cl_uint count, void **addresses,
                               cl_svm_free_them free_them, void *user, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *event)
{
    struct opencl_call call;
    cl_int status;

    if (!real->clEnqueueSVMFree)
        return CL_PLATFORM_NOT_FOUND;
    call = opencl_call_begin(real, from);
    if (call.is_recorded && !free_them && addresses)
        for (cl_uint i = 0; i < count; i++)
            record_free(pool_opencl, (uintptr_t)addresses[i]);
    status = real->clEnqueueSVMFree(queue, count, addresses, free_them, user, wait_count, wait_list,
                                    event);
    opencl_call_end(&call);
    return status;
}

static cl_context context_created(const struct opencl_call *call, const char *function,
                                  cl_context context, cl_int status)
{
    if (call->is_recorded) {
        int saved_errno = errno;
        cl_device_id device = opencl_first_device(call->real, context);

        record_device_event(text_of(function), opencl_place(device, MT_KIND_DEVICE, 0),
                            (uint64_t)(int64_t)status);
        errno = saved_errno;
    }
    opencl_call_end(call);
    return context;
}

static cl_context create_context(const struct opencl_calls *real, struct unwind_registers from,
                                 const intptr_t *properties, cl_uint device_count,
                                 const cl_device_id *of_context, cl_context_notify notify,
                                 void *user, cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_context context;

    if (!real->clCreateContext)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    context = real->clCreateContext(properties, device_count, of_context, notify, user, status);
    return context_created(&call, "clCreateContext", context, *status);
}

static cl_context create_context_from_type(const struct opencl_calls *real,
                                           struct unwind_registers from, const intptr_t *properties,
                                           cl_bitfield type, cl_context_notify notify, void *user,
                                           cl_int *errcode)
{
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    struct opencl_call call;
    cl_context context;

    if (!real->clCreateContextFromType)
        return absent(errcode);
    call = opencl_call_begin(real, from);
    context = real->clCreateContextFromType(properties, type, notify, user, status);
    return context_created(&call, "clCreateContextFromType", context, *status);
}

static cl_int launched(const struct opencl_call *call, cl_command_queue queue, cl_kernel kernel,
                       cl_int status)
{
    if (call->is_recorded && status == CL_SUCCESS && config_get()->records_launches) {
        const struct opencl_calls *real = call->real;
        int saved_errno = errno;
        char name[256] = "";
        size_t name_bytes = 0;
        cl_device_id device = NULL;

        if (real->clGetKernelInfo &&
            real->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, &name_bytes))
            name[0] = '\0';
        if (real->clGetCommandQueueInfo)
            real->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
        record_launch(text_of(name), opencl_place(device, MT_KIND_DEVICE, 0));
        errno = saved_errno;
    }
    opencl_call_end(call);
    return status;
}

static cl_int enqueue_kernel(const struct opencl_calls *real, struct unwind_registers from,
                             cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                             const size_t *offset, const size_t *global, const size_t *local,
                             cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    struct opencl_call call;

    if (!real->clEnqueueNDRangeKernel)
        return CL_PLATFORM_NOT_FOUND;
    call = opencl_call_begin(real, from);
    return launched(&call, queue, kernel,
                    real->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                 wait_count, wait_list, event));
}

static cl_int enqueue_task(const struct opencl_calls *real, struct unwind_registers from,
                           cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                           const cl_event *wait_list, cl_event *event)
{
    struct opencl_call call;

    if (!real->clEnqueueTask)
        return CL_PLATFORM_NOT_FOUND;
    call = opencl_call_begin(real, from);
    return launched(&call, queue, kernel,
                    real->clEnqueueTask(queue, kernel, wait_count, wait_list, event));
}

static void *extension_address(const struct opencl_calls *real, struct unwind_registers from,
                               const char *name)
{
    (void)from;
    if (!real->clGetExtensionFunctionAddress)
        return NULL;
    return opencl_usm_replace(real, NULL, name, real->clGetExtensionFunctionAddress(name));
}

static void *extension_address_for_platform(const struct opencl_calls *real,
                                            struct unwind_registers from, cl_platform_id platform,
                                            const char *name)
{
    (void)from;
    if (!real->clGetExtensionFunctionAddressForPlatform)
        return NULL;
    return opencl_usm_replace(real, platform, name,
                              real->clGetExtensionFunctionAddressForPlatform(platform, name));
}

const struct opencl_recorder opencl_objects = {
    .size_bytes = sizeof(struct opencl_recorder),
    .clCreateContext = create_context,
    .clCreateContextFromType = create_context_from_type,
    .clCreateBuffer = create_buffer,
    .clCreateBufferWithProperties = create_buffer_with_properties,
    .clCreateSubBuffer = create_sub_buffer,
    .clCreateImage = create_image,
    .clCreateImageWithProperties = create_image_with_properties,
    .clCreateImage2D = create_image_2d,
    .clCreateImage3D = create_image_3d,
    .clCreatePipe = create_pipe,
    .clRetainMemObject = retain_object,
    .clReleaseMemObject = release_object,
    .clSVMAlloc = svm_alloc,
    .clEnqueueSVMFree = enqueue_svm_free,
    .clEnqueueNDRangeKernel = enqueue_kernel,
    .clEnqueueTask = enqueue_task,
    .clGetExtensionFunctionAddress = extension_address,
    .clGetExtensionFunctionAddressForPlatform = extension_address_for_platform,
    .clSVMFree = svm_free,
};
