/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load, fork and exit of the traced process, and the wires between configuration, recorder and
 * counters. Programs may allocate before this library's constructor runs, so nothing relies on it:
 * the first event starts the recording.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "call_stacks.h"
#include "config.h"
#include "control.h"
#include "device_counters.h"
#include "module_list.h"
#include "recorder.h"
#include "recording.h"
#include "shared_names.h"

_Static_assert(sizeof(((struct config *)0)->control_file) == MT_RINGS_CONTROL_FILE,
               "as it is asked to");

static void describe(struct recording_setup *setup, const struct config *config)
{
    setup->is_forbidden = config->is_forbidden;
    setup->follows_forks = config->traces_children;
    setup->options = config->text;
    setup->run_id = config->run_id;
    setup->ring_bytes = config->ring_bytes;
    setup->stack_frames = config->stack_frames;
    setup->python_frames = config->python_frames;
    setup->stack_bytes = config->stack_bytes;
    setup->facts = (struct mt_recording_facts){
        .sample_ms = config->sample_ms,
        .is_controlled = config->is_controlled,
        .records_host = config->records_host,
        .has_stacks = config->stack_frames || config->python_frames,
        .has_python = config->python_frames > 0,
        .rank = config->rank,
        .world_size = config->world_size,
    };
    strcpy(setup->facts.control_file, config->control_file);
    setup->obey = control_obey;
    setup->counters = counters_of_vendor;
    setup->look = counters_of_process;
}

const struct recording_setup *recording_setup(void)
{
    static struct recording_setup setup;
    const struct config *config = config_get();

    if (!setup.output_path) {
        describe(&setup, config);
        setup.output_path = config->output_path;
    }
    return &setup;
}

/* Programs that this one starts are not to be recorded: take our name out of LD_PRELOAD. */
static void leave_children_alone(void)
{
    const char *list = getenv("LD_PRELOAD");
    char kept[4096] = "";

    while (list && *list) {
        size_t length = strcspn(list, ": ");

        if (length && !memmem(list, length, "libascend_kernel_hook.so", 24) &&
            strlen(kept) + length + 2 < sizeof(kept)) {
            if (kept[0])
                strcat(kept, ":");
            strncat(kept, list, length);
        }
        list += length;
        list += *list != '\0';
    }
    if (kept[0])
        setenv("LD_PRELOAD", kept, 1);
    else
        unsetenv("LD_PRELOAD");
}

/*
 * Registered before all others, those that run destructors included, so it runs after them; what
 * they free is recorded.
 */
static void on_exit_of_process(int status, void *nothing)
{
    (void)nothing;
    recording_exiting();
    shared_names_end();
    recording_finish(status & 0xff); /* what the parent gets */
}

__attribute__((constructor)) static void on_load(void)
{
    const struct config *config = config_get();

    if (config->is_forbidden)
        return;
    if (!config->traces_children)
        leave_children_alone();
    on_exit(on_exit_of_process, NULL);
    call_stacks_prepare();
    control_begin();
    modules_record_changes(); /* before a child may be forked that knows them from us */
    modules_prepare_for_forks();
    if (config->waits_for_script)
        return;
    if (config->records_host || config->starts_paused || config->control_file[0])
        recording_start();
}
