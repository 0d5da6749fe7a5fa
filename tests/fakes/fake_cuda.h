/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake CUDA stack as a program sees it.
 *
 *   libcudart.so.12  the runtime: asks the driver for its functions by cuGetProcAddress
 *   libcuda.so.1     the driver: two devices, FAKE_CUDA_MEMORY bytes each, else 16 GiB
 */
#ifndef LEAKTIDE_FAKE_CUDA_H
#define LEAKTIDE_FAKE_CUDA_H

#include <stdint.h>

#include "cuda_abi.h"

enum { FAKE_CUDA_DEVICES = 2 };

/* Driver. */
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height,
                       unsigned element);
int cuMemAllocManaged(uint64_t *address, size_t size, unsigned flags);
int cuMemAllocAsync(uint64_t *address, size_t size, void *stream);
int cuMemAllocAsync_ptsz(uint64_t *address, size_t size, void *stream);
int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, void *pool, void *stream);
int cuMemAllocFromPoolAsync_ptsz(uint64_t *address, size_t size, void *pool, void *stream);
int cuMemFree_v2(uint64_t address);
int cuMemFreeAsync_ptsz(uint64_t address, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);
int cuMemAllocHost_v2(void **address, size_t size);
int cuMemHostAlloc(void **address, size_t size, unsigned flags);
int cuMemFreeHost(void *address);
int cuMemHostRegister_v2(void *address, size_t size, unsigned flags);
int cuMemHostUnregister(void *address);
int cuMemCreate(uint64_t *handle, size_t size, const struct cuda_memory_property *property,
                unsigned long long flags);
int cuMemRetainAllocationHandle(uint64_t *handle, void *address);
int cuMemExportToShareableHandle(void *shared, uint64_t handle, int type, unsigned long long flags);
int cuMemImportFromShareableHandle(uint64_t *handle, void *shared, int type);
int cuMemRelease(uint64_t handle);
int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wanted,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t size);
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t size);
int cuArrayCreate_v2(void **array, const struct cuda_array *description);
int cuArray3DCreate_v2(void **array, const struct cuda_array_3d *description);
int cuIpcOpenMemHandle_v2(uint64_t *address, struct cuda_ipc_handle handle, unsigned flags);
int cuIpcCloseMemHandle(uint64_t address);
int cuArrayDestroy(void *array);
int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *result);
int cuCtxGetDevice(int *device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuMemGetInfo_v2(size_t *free_size, size_t *total_size);

uint64_t fake_cuda_device_bytes(int device);
size_t fake_cuda_device_blocks(int device);
/* Primary contexts that were inactive and had to be made. */
unsigned fake_cuda_contexts_made(void);
void fake_cuda_refuse_next_free(void);

/* Runtime. */
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaMalloc(void **address, size_t size);
int cudaMallocManaged(void **address, size_t size, unsigned flags);
int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
int cudaMalloc3D(struct cuda_pitched *pitched, struct cuda_extent extent);
int cudaMallocAsync(void **address, size_t size, void *stream);
int cudaMallocAsync_ptsz(void **address, size_t size, void *stream);
int cudaMallocFromPoolAsync(void **address, size_t size, void *pool, void *stream);
int cudaMallocFromPoolAsync_ptsz(void **address, size_t size, void *pool, void *stream);
int cudaFree(void *address);
int cudaFreeAsync_ptsz(void *address, void *stream);
int cudaFreeAsync(void *address, void *stream);
int cudaMallocHost(void **address, size_t size);
int cudaHostAlloc(void **address, size_t size, unsigned flags);
int cudaFreeHost(void *address);
int cudaHostRegister(void *address, size_t size, unsigned flags);
int cudaHostUnregister(void *address);
int cudaMallocArray(void **array, const struct cuda_channels *channels, size_t width, size_t height,
                    unsigned flags);
int cudaMalloc3DArray(void **array, const struct cuda_channels *channels, struct cuda_extent extent,
                      unsigned flags);
int cudaFreeArray(void *array);
int cudaIpcOpenMemHandle(void **address, struct cuda_ipc_handle handle, unsigned flags);
int cudaIpcCloseMemHandle(void *address);
int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags,
                                 int *result);
int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                     unsigned long long flags, int *result);
int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                            int *result);

#endif
