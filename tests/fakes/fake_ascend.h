/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake Ascend stack as a program sees it: what the vendor's headers would declare, as far as
 * the fakes have it, and what only a fake can tell.
 *
 *   libascendcl.so   the runtime API under its old name; the same code as
 *   libacl_rt.so     the runtime API: aclrt* calls rt*
 *   libacl_rt_impl.so  its kernel launches
 *   libruntime.so    rt* calls hal*
 *   libascend_hal.so the driver, where all memory comes from
 *
 * FAKE_ASCEND_MEMORY sets the bytes of each device, else 64 GiB. Four devices. Device addresses
 * are numbers only; what they hold is real and is reached by aclrtMemcpy and aclrtMemset. Host
 * memory is real.
 */
#ifndef LEAKTIDE_FAKE_ASCEND_H
#define LEAKTIDE_FAKE_ASCEND_H

#include <stddef.h>
#include <stdint.h>

#include "ascend_abi.h"

enum { FAKE_DEVICES = 4, FAKE_DRV_BUSY = 16 };

/* What the fake libatb.so takes as a runner. */
struct fake_atb_runner {
    const char *name, *path;
    void *block;
    int fails;
};

/* Driver. */
int halMemAlloc(void **address, unsigned long long size, unsigned long long flag);
int halMemFree(void *address);
int halMemCreate(void **handle, size_t size, const struct hal_memory_property *property,
                 uint64_t flag);
int halMemRelease(void *handle);
int halMemRetainAllocationHandle(void **handle, void *address);
int halMemAddressReserve(void **address, size_t size, size_t alignment, void *wanted,
                         uint64_t flag);
int halMemAddressFree(void *address);
int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flag);
int halMemUnmap(void *address);
int halMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared);
int halMemImportFromShareableHandle(uint64_t shared, uint32_t device, void **handle);
int halHostRegister(void *source, uint64_t size, uint32_t flag, uint32_t device, void **address);
int halHostUnregister(void *source, uint32_t device);
int halShmemCreateHandle(unsigned long long address, size_t size, char *key, uint32_t key_size);
int halShmemOpenHandle(const char *key, unsigned long long *address);
int halShmemCloseHandle(unsigned long long address);
int halMemGetInfo(uint32_t device, unsigned type, struct hal_memory_info *info);
int halBuffAlloc(uint64_t size, void **buffer);
int halBuffFree(void *buffer);

/* Bytes and blocks that the driver has handed out: of one device, of host memory. */
uint64_t fake_hal_device_bytes(uint32_t device);
size_t fake_hal_device_blocks(uint32_t device);
uint64_t fake_hal_host_bytes(void);
/* Reserved ranges of addresses, and what is mapped into them. */
size_t fake_hal_ranges(void);
size_t fake_hal_mappings(void);
/* The next free or release answers FAKE_DRV_BUSY and does nothing. */
void fake_hal_refuse_next_free(void);
/*
 * Copies and fills between and in device and host memory. What is not in one live block of a
 * device is refused, as by the real driver.
 */
int fake_hal_copy(void *to, const void *from, uint64_t size);
int fake_hal_fill(void *address, int value, uint64_t size);
/* The next copy answers this and does nothing. */
void fake_hal_fail_next_copy(int status);

/* Runtime. */
int rtSetDevice(int32_t device);
int rtGetDevice(int32_t *device);
int rtMalloc(void **address, uint64_t size, uint32_t type, uint16_t module);
int rtMallocCached(void **address, uint64_t size, uint32_t type, uint16_t module);
int rtDvppMalloc(void **address, uint64_t size, uint16_t module);
int rtMemAllocManaged(void **address, uint64_t size, uint32_t flag, uint16_t module);
int rtFree(void *address);
int rtDvppFree(void *address);
int rtMemFreeManaged(void *address);
int rtMallocHost(void **address, uint64_t size, uint16_t module);
int rtFreeHost(void *address);
int rtReserveMemAddress(void **address, size_t size, size_t alignment, void *wanted,
                        uint64_t flags);
int rtReleaseMemAddress(void *address);
int rtMallocPhysical(void **handle, size_t size, struct hal_memory_property *property,
                     uint64_t flags);
int rtFreePhysical(void *handle);
int rtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags);
int rtUnmapMem(void *address);
int rtsMalloc(void **address, uint64_t size, int policy, int advise,
              struct acl_malloc_config *config);
int rtMemAlloc(void **address, uint64_t size, int policy, int advise,
               struct acl_malloc_config *config);
int rtsFree(void *address);
int rtFreeWithDevSync(void *address);
int rtsMallocHost(void **address, uint64_t size, const struct acl_malloc_config *config);
int rtsFreeHost(void *address);
int rtFreeHostWithDevSync(void *address);
int rtsMemMallocPhysical(void **handle, size_t size, int policy, struct acl_malloc_config *config);
int rtsMemFreePhysical(void **handle);
int rtsMemReserveAddress(void **address, size_t size, int policy, void *wanted,
                         struct acl_malloc_config *config);
int rtsMemFreeAddress(void **address);
int rtsMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flags);
int rtsMemUnmap(void *address);
int rtDeviceReset(int32_t device);
int rtFunctionRegister(void *binary, const void *stub, const char *name, const void *extra,
                       uint32_t mode);
int rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t size,
                   void *description, void *stream);
int rtKernelLaunchWithFlagV2(const void *stub, uint32_t blocks, void *arguments, void *description,
                             void *stream, uint32_t flags, const void *task);
int rtKernelLaunchWithHandleV2(void *handle, uint64_t tiling, uint32_t blocks, void *arguments,
                               void *description, void *stream, const void *task);
int rtLaunchKernelByFuncHandle(void *function, uint32_t blocks, void *arguments, void *stream);
int rtAicpuKernelLaunchExWithArgs(uint32_t type, const char *name, uint32_t blocks,
                                  const void *arguments, void *description, void *stream,
                                  uint32_t flags);
int rtLaunchKernelByFuncHandleV2(void *function, uint32_t blocks, void *arguments, void *stream,
                                 const void *task);
uint64_t fake_rt_launches(void);

/* Runtime API. */
int aclInit(const char *config_path);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
int aclrtResetDeviceForce(int32_t device);
int aclrtGetDevice(int32_t *device);
int aclrtGetCurrentContext(void **context);
int aclrtMalloc(void **address, size_t size, int policy);
int aclrtMallocAlign32(void **address, size_t size, int policy);
int aclrtMallocCached(void **address, size_t size, int policy);
int aclrtMallocWithCfg(void **address, size_t size, int policy, struct acl_malloc_config *config);
int aclrtMallocForTaskScheduler(void **address, size_t size, int policy,
                                struct acl_malloc_config *config);
int aclrtMemAllocManaged(void **address, uint64_t size, uint32_t flag);
int aclrtFree(void *address);
int aclrtFreeWithDevSync(void *address);
int aclrtMallocHost(void **address, size_t size);
int aclrtMallocHostWithCfg(void **address, uint64_t size, struct acl_malloc_config *config);
int aclrtFreeHost(void *address);
int aclrtFreeHostWithDevSync(void *address);
int aclrtReserveMemAddressNoUCMemory(void **address, size_t size, size_t alignment, void *wanted,
                                     uint64_t flags);
int aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *wanted,
                           uint64_t flags);
int aclrtReleaseMemAddress(void *address);
int aclrtMallocPhysical(void **handle, size_t size, const struct acl_physical_property *property,
                        uint64_t flags);
int aclrtFreePhysical(void *handle);
int aclrtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags);
int aclrtUnmapMem(void *address);
int aclrtMemRetainAllocationHandle(void *address, void **handle);
int aclrtMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared);
int aclrtMemImportFromShareableHandle(uint64_t shared, int32_t device, void **handle);
int aclrtHostRegister(void *source, uint64_t size, int type, void **address);
int aclrtHostRegisterV2(void *source, uint64_t size, uint32_t flag);
int aclrtHostUnregister(void *source);
int aclrtIpcMemGetExportKey(void *address, size_t size, char *key, size_t key_size, uint64_t flags);
int aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags);
int aclrtIpcMemClose(const char *key);
int aclrtMemPoolCreate(void **pool, const void *properties);
int aclrtMemPoolDestroy(void *pool);
int aclrtMemPoolMallocAsync(void **address, size_t size, void *pool, void *stream);
int aclrtMemPoolFreeAsync(void *address, void *stream);
int aclrtGetMemInfo(int attribute, size_t *free_size, size_t *total_size);
int aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int kind);
int aclrtMemset(void *address, size_t room, int32_t value, size_t size);
int aclrtSynchronizeDevice(void);
int aclrtSynchronizeStream(void *stream);
/* How often a device or a stream was waited for. */
uint64_t fake_acl_waits(void);
int aclrtGetFunctionName(void *function, uint32_t name_size, char *name);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *data, size_t size, void *stream);
int aclrtLaunchKernelV2(void *function, uint32_t blocks, const void *data, size_t size,
                        void *config, void *stream);
int aclrtLaunchKernelWithConfig(void *function, uint32_t blocks, void *stream, void *config,
                                void *arguments, void *reserved);
int aclrtLaunchKernelWithHostArgs(void *function, uint32_t blocks, void *stream, void *config,
                                  void *data, size_t size, void *places, size_t place_count);
int aclrtLaunchKernelImpl(void *function, uint32_t blocks, const void *data, size_t size,
                          void *stream);
int aclrtLaunchKernelV2Impl(void *function, uint32_t blocks, const void *data, size_t size,
                            void *config, void *stream);
int aclrtLaunchKernelWithConfigImpl(void *function, uint32_t blocks, void *stream, void *config,
                                    void *arguments, void *reserved);
int aclrtLaunchKernelWithHostArgsImpl(void *function, uint32_t blocks, void *stream, void *config,
                                      void *data, size_t size, void *places, size_t place_count);

#endif
