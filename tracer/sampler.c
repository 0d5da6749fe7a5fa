/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sampler.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "device_memory.h"
#include "recorder.h"
#include "recording.h"

/* Pages resident: the second number of /proc/self/statm. 0 when it cannot be read. */
static uint64_t resident_bytes(void)
{
    char text[128];
    char *end;
    ssize_t length;
    int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (descriptor < 0)
        return 0;
    length = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void raise_peak(uint64_t *now, uint64_t *peak, uint64_t value)
{
    __atomic_store_n(now, value, __ATOMIC_RELAXED);
    if (value > *peak)
        __atomic_store_n(peak, value, __ATOMIC_RELAXED);
}

static void sample_process(struct mt_file_header *header)
{
    uint64_t resident = resident_bytes();

    if (!resident)
        return;
    raise_peak(&header->rss_bytes, &header->rss_peak_bytes, resident);
    record_sample(text_of("process resident"),
                  mt_place_pack((struct mt_place){.device = -1, .module = -1}), resident);
}

static const struct vendor {
    const char *free_counter, *used_counter;
    uint64_t (*devices_in_use)(void);
    bool (*memory_info)(int device, uint64_t *free_bytes, uint64_t *total_bytes);
} vendors[] = {
    {"npu free", "npu used", ascend_devices_in_use, ascend_memory_info},
    {"gpu free", "gpu used", cuda_devices_in_use, cuda_memory_info},
};

/* What all processes use of the device: the driver does not say it by process. */
static uint64_t sample_device(const struct vendor *vendor, int device)
{
    uint64_t free_bytes, total_bytes, used_bytes;
    uint64_t place =
        mt_place_pack((struct mt_place){.device = device, .kind = MT_KIND_DEVICE, .module = -1});

    if (!vendor->memory_info(device, &free_bytes, &total_bytes))
        return 0;
    used_bytes = total_bytes > free_bytes ? total_bytes - free_bytes : 0;
    record_sample(text_of(vendor->free_counter), place, free_bytes);
    record_sample(text_of(vendor->used_counter), place, used_bytes);
    return used_bytes;
}

static void sample_devices(struct mt_file_header *header)
{
    uint64_t used_bytes = 0;

    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        uint64_t devices = vendors[i].devices_in_use();

        for (int device = 0; devices; device++, devices >>= 1)
            if (devices & 1)
                used_bytes += sample_device(&vendors[i], device);
    }
    if (used_bytes)
        raise_peak(&header->device_used_bytes, &header->device_used_peak_bytes, used_bytes);
}

void sampler_tick(void)
{
    struct mt_file_header *header = recording_header();

    if (!header)
        return;
    sample_process(header);
    sample_devices(header);
}
