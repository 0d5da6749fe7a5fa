/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the process and its device use, as the rows of blocks tell it.
 *
 *   device_used    the driver's own account of the device, all processes: what was sampled last, so
 *                  up to --sample-ms old
 *   process_used   of a device: what the process has from the driver, exact at each row; of the
 *                  host: what of it is resident, sampled
 *
 * A number that is not known is left out.
 */
#include <string.h>

#include "memscope_source.h"

void memscope_take_sample(struct memscope_source *source, const struct event *event)
{
    const struct model *model = source->question->model;
    const char *counter = model_text_at(model, event->text);
    int32_t device = model_place_at(model, event->place).device;

    if (strcmp(counter, "process resident") == 0)
        source->readings.resident_bytes = event->value;
    else if (device >= 0 && device < MEMSCOPE_DEVICES &&
             (strcmp(counter, "npu used") == 0 || strcmp(counter, "gpu used") == 0))
        source->readings.device_bytes[device] = event->value;
}

/* NULL: the driver's calls are not in the recording. */
static const struct memscope_ledger *driver_of(const struct memscope_source *source, int32_t device)
{
    for (size_t i = 0; i < source->ledger_count; i++)
        if (source->ledgers[i].is_driver && source->ledgers[i].device == device &&
            tally_ledger_at(source->question->tally, i)->process == source->process)
            return &source->ledgers[i];
    return NULL;
}

void memscope_add_readings(const struct memscope_source *source, struct memscope_row *row,
                           const struct memscope_ledger *ledger)
{
    const struct memscope_ledger *driver =
        ledger->device >= 0 ? driver_of(source, ledger->device) : NULL;
    uint64_t device_bytes = ledger->device >= 0 && ledger->device < MEMSCOPE_DEVICES
                                ? source->readings.device_bytes[ledger->device]
                                : 0;

    if (driver)
        memscope_number(row, "process_used", driver->used_bytes);
    else if (ledger->is_host && source->readings.resident_bytes)
        memscope_number(row, "process_used", source->readings.resident_bytes);
    if (device_bytes)
        memscope_number(row, "device_used", device_bytes);
}
