/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "device_counters.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "device_memory.h"
#include "own_memory.h"
#include "recorder.h"
#include "recording.h"
#include "resident.h"

void counters_of_process(void)
{
    struct mt_file_header *header = recording_header();
    uint64_t resident;
    int statm;

    if (!header || !recording_is_alone())
        return;
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    resident = resident_bytes(statm);
    if (statm >= 0)
        close(statm);
    if (own_memory_filled() < resident)
        resident -= own_memory_filled();
    if (!resident)
        return;
    peak_raise(&header->rss_bytes, &header->rss_peak_bytes, resident);
    record_sample(text_of(RESIDENT_COUNTER),
                  mt_place_pack((struct mt_place){.device = -1, .module = -1}), resident);
}

static const struct vendor {
    const char *free_counter, *used_counter;
    uint64_t (*devices_in_use)(void);
    bool (*memory_info)(int device, uint64_t *free_bytes, uint64_t *total_bytes);
} vendors[] = {
    [COUNTERS_NPU] = {"npu free", "npu used", ascend_devices_in_use, ascend_memory_info},
    [COUNTERS_GPU] = {"gpu free", "gpu used", cuda_devices_in_use, cuda_memory_info},
};

enum { VENDORS = sizeof(vendors) / sizeof(vendors[0]) };

static _Atomic uint64_t used_bytes[VENDORS][DEVICES_MAX]; /* at the last look */

/* What all processes use of the device: the driver does not say it by process. */
static void sample_device(size_t vendor, int device)
{
    uint64_t free_bytes, total_bytes;
    uint64_t place =
        mt_place_pack((struct mt_place){.device = device, .kind = MT_KIND_DEVICE, .module = -1});

    if (!vendors[vendor].memory_info(device, &free_bytes, &total_bytes))
        return;
    used_bytes[vendor][device] = total_bytes > free_bytes ? total_bytes - free_bytes : 0;
    record_sample(text_of(vendors[vendor].free_counter), place, free_bytes);
    record_sample(text_of(vendors[vendor].used_counter), place, used_bytes[vendor][device]);
}

void counters_of_vendor(enum recording_counters vendor)
{
    struct mt_file_header *header = recording_header();
    uint64_t devices = vendors[vendor].devices_in_use(), sum_bytes = 0;

    for (int device = 0; devices; device++, devices >>= 1)
        if (devices & 1)
            sample_device(vendor, device);
    for (size_t i = 0; i < VENDORS; i++)
        for (size_t device = 0; device < DEVICES_MAX; device++)
            sum_bytes += used_bytes[i][device];
    if (header && sum_bytes)
        peak_raise(&header->device_used_bytes, &header->device_used_peak_bytes, sum_bytes);
}

void counters_of_all(void)
{
    for (size_t i = 0; i < VENDORS; i++)
        counters_of_vendor((enum recording_counters)i);
}
