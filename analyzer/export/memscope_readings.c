/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the process and its device use, as the rows of blocks tell it.
 *
 *   device_used    the driver's own account of the device, all processes: what was sampled last, so
 *                  up to --sample-ms old
 *   process_used   of a device: what the process has from the driver, exact at each row; of the
 *                  host: what of it is resident, sampled
 *
 * A snapshot has these of torch_npu's pool, and of the device. A number that is not known is left
 * out.
 */
#include <stdio.h>
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
    else if (device >= 0 && device < MEMSCOPE_DEVICES && strcmp(counter, "npu free") == 0)
        source->readings.free_bytes[device] = event->value;
}

const struct memscope_ledger *memscope_driver_of(const struct memscope_source *source,
                                                 int32_t device)
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
        ledger->device >= 0 ? memscope_driver_of(source, ledger->device) : NULL;
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

/* --- snapshots ------------------------------------------------------------------------------ */

/* NULL: there is none. */
static const struct memscope_ledger *torch_npu_of(const struct memscope_source *source,
                                                  int32_t device)
{
    for (size_t i = 0; source->has_torch_npu && i < source->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(source->question->tally, i);

        if (ledger->process == source->process && ledger->device == device &&
            model_pool_at(source->question->model, ledger->pool)->id == POOL_PTA)
            return &source->ledgers[i];
    }
    return NULL;
}

/* A pool tells its size when it hands memory out, not when it gives segments back: as before it
 * fails. */
static uint64_t reserved_now(const struct memscope_source *source,
                             const struct memscope_ledger *pool)
{
    const struct memscope_ledger *driver = memscope_driver_of(source, pool->device);
    uint64_t returned_bytes = driver && driver->used_bytes < pool->driver_bytes
                                  ? pool->driver_bytes - driver->used_bytes
                                  : 0;

    return pool->total_bytes > returned_bytes ? pool->total_bytes - returned_bytes : 0;
}

enum { RATE_BYTES = 16 };

/* "93.750000": a share in percent. */
static void add_rate(struct memscope_row *row, const char *key, uint64_t part, uint64_t whole,
                     char *room)
{
    snprintf(room, RATE_BYTES, "%.6f", whole ? 100.0 * (double)part / (double)whole : 0.0);
    memscope_text(row, key, room);
}

bool memscope_send_snapshot(struct memscope_source *source, const struct event *event,
                            int32_t device, uint32_t site, const char *name)
{
    const struct memscope_ledger *pool = torch_npu_of(source, device);
    uint64_t used_bytes = 0, free_bytes = 0;
    char device_rate[RATE_BYTES], reserved_rate[RATE_BYTES];
    struct memscope_row row;

    if (!pool)
        return false;
    if (device < MEMSCOPE_DEVICES) {
        used_bytes = source->readings.device_bytes[device];
        free_bytes = source->readings.free_bytes[device];
    }
    memscope_row_begin(source, &row, "SNAPSHOT", "SNAPSHOT", event->time_ns, event->thread);
    row.name = name;
    row.device = device;
    memscope_number(&row, "reserved", reserved_now(source, pool));
    memscope_number(&row, "max_reserved", pool->total_peak_bytes);
    memscope_number(&row, "allocated", pool->used_bytes);
    memscope_number(&row, "max_allocated", pool->used_peak_bytes);
    if (used_bytes) {
        memscope_number(&row, "total", used_bytes + free_bytes);
        memscope_number(&row, "free", free_bytes);
        add_rate(&row, "device_rate", used_bytes, used_bytes + free_bytes, device_rate);
    }
    add_rate(&row, "reserved_rate", pool->used_bytes, reserved_now(source, pool), reserved_rate);
    if (site)
        memscope_stacks_of(&source->stacks, site, &row.python_stack, &row.c_stack);
    memscope_row_send(source, &row);
    return true;
}
