/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake libascendcl.so: what torch_npu needs in order to believe in a device. Kernels do nothing.
 * What is not here answers 0. FAKE_NPU_SOC is the chip's name, default Ascend910B2.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "books.h"
#include "cann_hal.h"

int rtSetDevice(int32_t which);
int rtGetDevice(int32_t *which);
int rtDeviceReset(int32_t which);
int rtMalloc(void **address, uint64_t size, uint32_t type, uint16_t module);
int rtFree(void *address);
int rtMallocHost(void **address, uint64_t size, uint16_t module);
int rtFreeHost(void *address);

enum { INVALID_DEVICE = 107001, OUT_OF_MEMORY = 207001, MODULE = 33, HBM = 2 };
enum { CORES = 24, OBJECT_BYTES = 64, CONTEXTS = 64, VERSION_BYTES = 128 };

/* --- devices ---------------------------------------------------------------------------- */

int aclrtSetDevice(int32_t which)
{
    return which < 0 || which >= books_device_count() ? INVALID_DEVICE : rtSetDevice(which);
}

int aclrtResetDevice(int32_t which)
{
    return rtDeviceReset(which);
}

int aclrtGetDevice(int32_t *which)
{
    return rtGetDevice(which);
}

int aclrtGetDeviceCount(uint32_t *count)
{
    *count = (uint32_t)books_device_count();
    return 0;
}

static int contexts[CONTEXTS];

int aclrtGetCurrentContext(void **context)
{
    int32_t device;
    int status = rtGetDevice(&device);

    if (status == 0)
        *context = &contexts[device];
    return status;
}

int aclrtSetCurrentContext(void *context)
{
    return rtSetDevice((int32_t)((int *)context - contexts));
}

int aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *is_active)
{
    int32_t current;

    (void)device;
    if (flags)
        *flags = 0;
    *is_active = rtGetDevice(&current) == 0;
    return 0;
}

const char *aclrtGetSocName(void)
{
    const char *name = getenv("FAKE_NPU_SOC");

    return name ? name : "Ascend910B2";
}

const char *aclGetRecentErrMsg(void)
{
    return "";
}

int aclGetDeviceCapability(uint32_t device, int type, int64_t *value)
{
    (void)device, (void)type;
    *value = CORES;
    return 0;
}

int aclrtGetDeviceInfo(uint32_t device, int type, int64_t *value)
{
    return aclGetDeviceCapability(device, type, value);
}

int aclrtGetDeviceResLimit(int32_t device, int type, uint32_t *value)
{
    (void)device, (void)type;
    *value = CORES;
    return 0;
}

int aclrtGetStreamResLimit(void *stream, int type, uint32_t *value)
{
    (void)stream, (void)type;
    *value = CORES;
    return 0;
}

int aclrtGetResInCurrentThread(int type, uint32_t *value)
{
    (void)type;
    *value = CORES;
    return 0;
}

int aclrtDeviceCanAccessPeer(int32_t *can, int32_t from, int32_t to)
{
    (void)from, (void)to;
    *can = 1;
    return 0;
}

int aclrtDeviceGetBareTgid(int32_t *pid)
{
    *pid = getpid();
    return 0;
}

int aclsysGetCANNVersion(int package, char *version)
{
    (void)package;
    memset(version, 0, VERSION_BYTES);
    strcpy(version, "9.0.0");
    return 0;
}

int aclsysGetVersionStr(const char *package, char *version)
{
    (void)package;
    strcpy(version, "9.0.0");
    return 0;
}

/* --- objects: streams, events, descriptions of tensors ---------------------------------- */

static int object_make(void **object)
{
    *object = calloc(1, OBJECT_BYTES);
    return 0;
}

static int object_drop(void *object)
{
    free(object);
    return 0;
}

static void *object_new(void)
{
    return calloc(1, OBJECT_BYTES);
}

#define MAKES(name)                                                                                \
    int name(void **object)                                                                        \
    {                                                                                              \
        return object_make(object);                                                                \
    }
#define MAKES_WITH(name, parameters)                                                               \
    int name parameters                                                                            \
    {                                                                                              \
        return object_make(object);                                                                \
    }
#define DROPS(name)                                                                                \
    int name(void *object)                                                                         \
    {                                                                                              \
        return object_drop(object);                                                                \
    }
#define GIVES(name)                                                                                \
    void *name(void)                                                                               \
    {                                                                                              \
        return object_new();                                                                       \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
MAKES(aclrtCreateStream)
MAKES_WITH(aclrtCreateStreamWithConfig, (void **object, uint32_t priority, uint32_t flags))
DROPS(aclrtDestroyStream)
DROPS(aclrtDestroyStreamForce)
MAKES(aclrtCreateEvent)
MAKES_WITH(aclrtCreateEventWithFlag, (void **object, uint32_t flags))
MAKES_WITH(aclrtCreateEventExWithFlag, (void **object, uint32_t flags))
DROPS(aclrtDestroyEvent)
GIVES(aclCreateDataBuffer)
DROPS(aclDestroyDataBuffer)
GIVES(aclopCreateAttr)
DROPS(aclopDestroyAttr)
GIVES(aclCreateGraphDumpOpt)
DROPS(aclDestroyGraphDumpOpt)
GIVES(aclCreateTensorDesc)
DROPS(aclDestroyTensorDesc)

int aclrtStreamGetId(void *stream, int32_t *id)
{
    *id = 3;
    return 0;
}

int aclrtStreamQuery(void *stream, int *status)
{
    *status = 0;
    return 0;
}

int aclrtGetStreamOverflowSwitch(void *stream, uint32_t *flags)
{
    *flags = 0;
    return 0;
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int aclrtRecordEvent(void *event, void *stream)
{
    *(double *)event = now_ms();
    return 0;
}

int aclrtEventElapsedTime(float *milliseconds, void *from, void *to)
{
    *milliseconds = (float)(*(double *)to - *(double *)from);
    return 0;
}

int aclrtQueryEventStatus(void *event, int *status)
{
    *status = 1;
    return 0;
}

int aclrtQueryEventWaitStatus(void *event, int *status)
{
    *status = 0;
    return 0;
}

int aclrtEventGetTimestamp(void *event, uint64_t *time)
{
    *time = 0;
    return 0;
}

int aclrtProcessReport(int32_t timeout)
{
    usleep(1000);
    return 0;
}

int aclrtLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    function(data);
    return 0;
}

int aclrtLaunchCallback(void (*function)(void *), void *data, int type, void *stream)
{
    function(data);
    return 0;
}

int aclmdlRICaptureGetInfo(void *stream, int *status, void **model)
{
    *status = 0;
    if (model)
        *model = NULL;
    return 0;
}

int aclrtGetSysParamOpt(int option, int64_t *value)
{
    *value = 0;
    return 0;
}

int aclrtCtxGetSysParamOpt(int option, int64_t *value)
{
    *value = 0;
    return 0;
}

uint64_t MsprofSysCycleTime(void)
{
    return (uint64_t)(now_ms() * 1e6);
}

/* --- memory ----------------------------------------------------------------------------- */

/* The real one asks for 32 bytes more, and for multiples of 32. */
static uint64_t padded(size_t size, size_t more)
{
    return (size + more + 31) / 32 * 32;
}

int aclrtMalloc(void **address, size_t size, int policy)
{
    return rtMalloc(address, padded(size, 32), HBM, MODULE);
}

int aclrtMallocAlign32(void **address, size_t size, int policy)
{
    return rtMalloc(address, padded(size, 0), HBM, MODULE);
}

int aclrtMallocWithCfg(void **address, size_t size, int policy, void *configuration)
{
    return rtMalloc(address, padded(size, 0), HBM, MODULE);
}

int aclrtFree(void *address)
{
    return rtFree(address);
}

int aclrtMallocHost(void **address, size_t size)
{
    return rtMallocHost(address, size, MODULE);
}

int aclrtMallocHostWithCfg(void **address, uint64_t size, void *configuration)
{
    return rtMallocHost(address, size, MODULE);
}

int aclrtFreeHost(void *address)
{
    return rtFreeHost(address);
}

int aclrtHostRegister(void *source, uint64_t size, int type, void **device_address)
{
    *device_address = source;
    return 0;
}

int aclrtMallocPhysical(void **handle, size_t size, const uint32_t *property, uint64_t flags)
{
    enum { LOCATION = 3 };
    struct hal_property wanted = {
        .side = 1, .device = property[LOCATION], .module = MODULE, .page_type = 1};
    int status = halMemCreate(handle, size, &wanted, 0);

    return status == HAL_OUT_OF_MEMORY ? OUT_OF_MEMORY : status;
}

int aclrtFreePhysical(void *handle)
{
    return halMemRelease(handle);
}

int aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *wanted,
                           uint64_t flags)
{
    return halMemAddressReserve(address, size, alignment, wanted, flags);
}

int aclrtReleaseMemAddress(void *address)
{
    return halMemAddressFree(address);
}

int aclrtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    return halMemMap(address, size, offset, handle, flags);
}

int aclrtUnmapMem(void *address)
{
    return halMemUnmap(address);
}

int aclrtGetMemInfo(int attribute, size_t *free_bytes, size_t *total_bytes)
{
    int32_t device = 0;

    rtGetDevice(&device);
    fake_hal_memory(device, free_bytes, total_bytes);
    return 0;
}

int aclrtGetMemUsageInfo(int32_t device, void *usage, size_t room, size_t *count)
{
    *count = 0;
    return 0;
}

int aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int kind)
{
    memcpy(to, from, size);
    return 0;
}

int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t size, int kind, void *stream)
{
    return aclrtMemcpy(to, room, from, size, kind);
}

int aclrtMemcpyAsyncWithCondition(void *to, size_t room, const void *from, size_t size, int kind,
                                  void *stream)
{
    return aclrtMemcpy(to, room, from, size, kind);
}

int aclrtMemset(void *address, size_t room, int32_t value, size_t size)
{
    memset(address, value, size);
    return 0;
}

int aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t size, void *stream)
{
    return aclrtMemset(address, room, value, size);
}

struct pointer_attributes {
    uint32_t device;
    uint32_t place; /* 0 host, 1 device, 2 neither */
    uint32_t rest[5];
};

int aclrtPointerGetAttributes(const void *address, struct pointer_attributes *attributes)
{
    static const uint32_t places[] = {[HAL_NOWHERE] = 2, [HAL_ON_DEVICE] = 1, [HAL_ON_HOST] = 0};
    int device = 0;
    enum hal_place place = fake_hal_place(address, &device);

    *attributes = (struct pointer_attributes){(uint32_t)device, places[place], {0}};
    return 0;
}
