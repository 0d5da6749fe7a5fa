/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sampler.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

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

void sampler_tick(void)
{
    struct mt_file_header *header = recording_header();

    if (header)
        sample_process(header);
}
