/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libnvidia-ml: devices that are no part of a fabric. What is not here answers 0. */
enum { NOT_SUPPORTED = 3 };

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    static int only;

    (void)id;
    *device = &only;
    return 0;
}

int nvmlDeviceGetGpuFabricInfoV(void *device, void *information)
{
    (void)device, (void)information;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetGpuFabricInfo(void *device, void *information)
{
    return nvmlDeviceGetGpuFabricInfoV(device, information);
}
