/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <glob.h>

#define FAMILY(id, name) static const char family_##id[] = name;
#include "leaktide/device_families.def"
#undef FAMILY

/* Not /dev/dri: it is there for the screen of every second machine without an accelerator. */
static const struct machine_device devices[] = {
    {"Ascend NPU", family_NPU, "/dev/davinci[0-9]*"},
    {"NVIDIA GPU", family_GPU, "/dev/nvidia[0-9]*"},
    {"GPU of Windows", family_GPU, "/dev/dxg"}, /* as its Linux sees it */
    {"AMD GPU", family_OPENCL, "/dev/kfd"},
};

const struct machine_device *machine_devices(size_t *count)
{
    *count = sizeof(devices) / sizeof(devices[0]);
    return devices;
}

size_t machine_device_count(const struct machine_device *device)
{
    glob_t found = {0};
    size_t count = glob(device->nodes, GLOB_NOSORT, NULL, &found) == 0 ? found.gl_pathc : 0;

    globfree(&found);
    return count;
}

bool machine_has_accelerator(void)
{
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (machine_device_count(&devices[i]))
            return true;
    return false;
}
