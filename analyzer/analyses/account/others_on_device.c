/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who else is on a device? At each sample of what its driver had in use: how much of that no pool
 * of the recording held at that moment. The least of it was always there: the context, and
 * programs that do not change. What is above came and went while it was recorded.
 *
 * Only of devices that one recorded process uses: processes are read one after the other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "driver_modules.h"
#include "labels.h"
#include "ledger_layers.h"

enum { devices_most = 64, worth_percent = 1 };

/* A block or two that were asked for while the sample was taken are no program. */
#define WORTH_LEAST (UINT64_C(64) << 20)

struct device_state {
    bool is_watched;
    uint16_t process, pool; /* the lowest pool of the device that was recorded */
    uint64_t own_bytes;
    uint64_t sample_count, least_bytes, most_bytes, most_ns, used_bytes;
};

struct others {
    const struct question *question;
    struct device_state devices[devices_most];
};

/* Which pool of the device is the lowest, of the one process that uses it. */
static void choose_pools(struct others *others)
{
    const struct tally *tally = others->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        struct device_state *device;

        if (ledger->device < 0 || ledger->device >= devices_most ||
            !ledger_is_of_device(tally, ledger))
            continue;
        device = &others->devices[ledger->device];
        if (!device->is_watched)
            *device = (struct device_state){.is_watched = true,
                                            .process = ledger->process,
                                            .pool = ledger->pool,
                                            .least_bytes = UINT64_MAX};
        else if (device->process != ledger->process)
            device->sample_count = UINT64_MAX; /* two of them: nobody can say */
        else if (model_pool_at(others->question->model, ledger->pool)->id <
                 model_pool_at(others->question->model, device->pool)->id)
            device->pool = ledger->pool;
    }
    for (size_t i = 0; i < devices_most; i++)
        others->devices[i].is_watched &= !others->devices[i].sample_count;
}

static struct device_state *state_of(struct others *others, uint16_t ledger_index)
{
    const struct ledger *ledger = tally_ledger_at(others->question->tally, ledger_index);
    struct device_state *device;

    if (ledger->device < 0 || ledger->device >= devices_most || ledger->kind != LEDGER_MEMORY)
        return NULL;
    device = &others->devices[ledger->device];
    return device->is_watched && device->process == ledger->process && device->pool == ledger->pool
               ? device
               : NULL;
}

static bool on_born(void *context, const struct life *life)
{
    struct device_state *device = state_of(context, life->ledger);

    if (device)
        device->own_bytes += life->size_bytes;
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct device_state *device = state_of(context, life->ledger);

    if (device && life->freed_ns != UINT64_MAX)
        device->own_bytes -= life->size_bytes;
    return true;
}

static bool on_sample(void *context, const struct event *event)
{
    struct others *others = context;
    int32_t number = model_place_at(others->question->model, event->place).device;
    struct device_state *device;
    uint64_t other_bytes;

    if (number < 0 || number >= devices_most || event->flags & EVENT_IS_OLDER ||
        !ends_with(model_text_at(others->question->model, event->text), " used"))
        return true;
    device = &others->devices[number];
    if (!device->is_watched || device->process != event->process)
        return true;
    other_bytes = event->value > device->own_bytes ? event->value - device->own_bytes : 0;
    device->sample_count++;
    if (other_bytes < device->least_bytes)
        device->least_bytes = other_bytes;
    if (other_bytes <= device->most_bytes)
        return true;
    device->most_bytes = other_bytes;
    device->most_ns = event->time_ns;
    device->used_bytes = event->value;
    return true;
}

static void *others_begin(const struct question *question, struct life_visitor *visitor)
{
    struct others *others = calloc(1, sizeof(*others));

    if (!others)
        return NULL;
    others->question = question;
    choose_pools(others);
    *visitor = (struct life_visitor){.context = others,
                                     .born = on_born,
                                     .over = on_over,
                                     .event = on_sample,
                                     .event_kinds = 1U << EVENT_SAMPLE};
    return others;
}

static void say_others(const struct question *question, struct report *report, size_t number,
                       const struct device_state *device)
{
    struct arena *texts = report_arena(report);
    uint64_t came_bytes = device->most_bytes - device->least_bytes;

    if (came_bytes < WORTH_LEAST || percent_of(came_bytes, device->used_bytes) < worth_percent)
        return;
    report_verdict(report, RANK_MODULES,
                   "OTHERS: up to %s of device %zu were in no pool of %s; %s of it came or went "
                   "while it was recorded, most of it was there %s: another program, or the "
                   "runtime itself.",
                   label_size(texts, device->most_bytes), number,
                   label_process(question, texts, device->process), label_size(texts, came_bytes),
                   label_moment(question, texts, device->most_ns));
}

static void others_write(void *state, struct report *report)
{
    struct others *others = state;
    const struct question *question = others->question;
    struct report_table *table = report_table(
        report, "others_on_devices", "What devices had in use beside the recorded pools", NULL);

    for (size_t i = 0; i < devices_most; i++) {
        const struct device_state *device = &others->devices[i];

        if (!device->is_watched || !device->sample_count)
            continue;
        say_others(question, report, i, device);

        const struct field fields[] = {
            {"device", "device", value_step(i)},
            {"always_bytes", "always", value_bytes(device->least_bytes)},
            {"highest_bytes", "highest", value_bytes(device->most_bytes)},
            {"came_bytes", "came or went", value_bytes(device->most_bytes - device->least_bytes)},
            {"highest_ns", "highest at", value_time(device->most_ns)},
            {"sample_count", "samples", value_count(device->sample_count)},
            {"process", "beside",
             value_text(label_process(question, report_arena(report), device->process))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    report_table_remark(
        report, table,
        "Always: the context, and programs that were there from first to last. Came "
        "or went: other programs, or what the runtime takes for itself.");
}

const struct block_analysis others_on_device_analysis = {
    .name = "who else is on the device",
    .begin = others_begin,
    .write = others_write,
    .release = free,
};
