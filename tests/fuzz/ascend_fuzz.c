/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of an Ascend profile: times never go back, and reading comes to an end. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ascend_mstx.h"
#include "input_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { batch_events = 64 };

static void walk(void *state)
{
    struct event events[batch_events];
    size_t count = 1;
    uint64_t last_ns = 0;
    uint16_t process = 0;

    while (count && input_ascend.next(state, events, batch_events, &count, NULL) == MT_OK) {
        for (size_t i = 0; i < count; i++) {
            if (events[i].process == process && events[i].time_ns < last_ns)
                abort();
            last_ns = events[i].time_ns;
            process = events[i].process;
        }
    }
    input_ascend.close(state);
}

/* The same bytes as each of the files that tell steps. */
static void find_steps(const char *path)
{
    struct ascend_steps steps = {0};

    ascend_steps_from_trace_view(path, &steps, NULL);
    ascend_steps_from_kernels(path, &steps, NULL);
    ascend_steps_from_mstx_csv(path, &steps, NULL);
    ascend_steps_from_mstx_table(path, &steps, NULL);
    ascend_mstx_number(&steps);
    for (size_t i = 1; i < steps.count; i++)
        if (steps.rows[i].begin_ns < steps.rows[i - 1].begin_ns)
            abort();
    ascend_steps_release(&steps);
}

static void read_profile(const char *path, bool wants_partial)
{
    struct model *model;
    void *state;

    if (model_create(&model, NULL) != MT_OK)
        abort();
    if (wants_partial)
        model_want_partial(model);
    if (input_ascend.recognises(path) && input_ascend.open(path, model, &state, NULL) == MT_OK)
        walk(state);
    model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int descriptor = memfd_create("profile", MFD_CLOEXEC);
    char path[64];

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    read_profile(path, false);
    read_profile(path, true);
    find_steps(path);
    close(descriptor);
    return 0;
}
