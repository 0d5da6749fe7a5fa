/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "control.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "call_stacks.h"
#include "config.h"
#include "control_file.h"
#include "control_words.h"
#include "device_counters.h"
#include "guard.h"
#include "recorder.h"
#include "recording.h"
#include "watch.h"

#define PLACE "place "

/* Marks of this name are rows of the system in the files of msmemscope. */
static void mark_change(const char *name)
{
    record_mark(text_of(name), text_of("leaktide"));
}

/* The step that was begun here before ends first; others end by themselves. */
static void begin_step(void)
{
    static _Atomic uint64_t open_step;
    uint64_t before = atomic_exchange(&open_step, 0);

    if (before)
        record_step_end(before);
    atomic_store(&open_step, record_step_begin(0));
}

/* Steps that end by a word: each begins where the one before it ended. */
static void told_step(bool has_ended)
{
    static _Atomic uint64_t open_step;
    uint64_t before = atomic_load(&open_step);

    if (before && !has_ended)
        return;
    if (before)
        record_told_step_end(before);
    atomic_store(&open_step, record_told_step_begin());
}

static void choose_steps(const struct control_change *change)
{
    recorder_choose_steps(change->first, change->last);
    recorder_pause(control_pauses(change, recorder_newest_step(), recorder_is_paused()));
}

/* False: that cannot be done, with a sentence for who asked. */
static bool change_do(const struct control_change *change, const char **why)
{
    const struct watched_range range = {change->first, change->last, change->dumps,
                                        text_of(change->text)};

    switch (change->kind) {
    case CHANGE_START:
        recorder_keep_history(false);
        choose_steps(change);
        recorder_tell_pause();
        mark_change("START_TRACE");
        return true;
    case CHANGE_STOP:
        mark_change("STOP_TRACE");
        choose_steps(change);
        recorder_tell_pause();
        return true;
    case CHANGE_STEP:
        begin_step();
        return true;
    case CHANGE_STEP_OPEN:
    case CHANGE_STEP_DONE:
        told_step(change->kind == CHANGE_STEP_DONE);
        return true;
    case CHANGE_STEPS:
    case CHANGE_WISH:
        choose_steps(change);
        recorder_tell_pause();
        return true;
    case CHANGE_EVENTS:
        return config_set_events(change->text);
    case CHANGE_LEVEL:
        return config_set_level(change->text);
    case CHANGE_FRAMES:
        return call_stacks_set_frames((uint32_t)change->first, (uint32_t)change->last) ==
               CALL_STACKS_CHANGED;
    case CHANGE_DEVICES:
        recorder_choose_devices(change->first);
        return true;
    case CHANGE_WATCH:
        return watch_choose(change->text);
    case CHANGE_WATCH_RANGE:
        *why = "error: not a tensor, or there are too many\n";
        return watch_add(&range);
    case CHANGE_UNWATCH:
        *why = "error: no tensor at that address is watched\n";
        return watch_remove(change->first);
    default:
        return false;
    }
}

void control_obey(const struct mt_rings_change *change)
{
    struct control_change copy;
    const char *why;

    memcpy(&copy, change->bytes, sizeof(copy));
    copy.text[sizeof(copy.text) - 1] = 0;
    change_do(&copy, &why);
}

/* --- said inside the process --------------------------------------------------------------- */

static void take_snapshot(const char *name)
{
    counters_of_all();
    counters_of_process();
    record_mark(text_of(name), text_of("leaktide"));
    recording_calibrate();
    recording_want_account();
    recording_flush();
}

static void say_status(char *answer, size_t answer_bytes)
{
    const struct mt_file_header *header = recording_header();
    struct control_status status = {
        .is_paused = recorder_is_paused(),
        .process_id = (uint32_t)getpid(),
        .header = header,
        .folder = config_get()->output_path,
    };

    if (!header) {
        snprintf(answer, answer_bytes, "ok %s\nnothing is recorded yet\n",
                 status.is_paused ? "paused" : "recording");
        return;
    }
    recording_count(&status.event_count, &status.lost_count);
    control_say_status(&status, answer, answer_bytes);
}

static void obey_line(char *line, char *answer, size_t answer_bytes)
{
    struct control_change change;
    const char *why = "error: that cannot be done now\n";

    switch (control_understand(line, &recording_setup()->facts, &change, answer, answer_bytes)) {
    case CONTROL_CHANGE:
        if (!change_do(&change, &why))
            snprintf(answer, answer_bytes, "%s", why);
        break;
    case CONTROL_STEP:
        change_do(&change, &why);
        snprintf(answer, answer_bytes, "ok step %" PRIu64 "\n", recorder_newest_step());
        break;
    case CONTROL_SNAPSHOT:
        take_snapshot(change.text);
        snprintf(answer, answer_bytes, "ok all that is recorded is on disk\n");
        break;
    case CONTROL_STATUS:
        say_status(answer, answer_bytes);
        break;
    case CONTROL_WRONG:
    case CONTROL_NOTHING:
        break;
    }
}

/*
 * place PATH: the recording goes to this folder, if nothing of it is there yet; the answer is where
 * it is. Only where the program itself begins it, and writes its files.
 */
static void settle_place(const char *path, char *answer, size_t answer_bytes)
{
    const struct config *config = config_get();

    if (!config->waits_for_script || !recording_is_alone())
        snprintf(answer, answer_bytes,
                 "error: the command that started the recording says where\n");
    else if (*path && !recording_header() && !config_set_output(path))
        snprintf(answer, answer_bytes, "error: expected a folder of at most 1023 bytes\n");
    else
        snprintf(answer, answer_bytes, "ok %s\n", config->output_path);
}

bool mt_control(const char *line, char *answer, size_t answer_bytes)
{
    char copy[CONTROL_LINE_BYTES];

    if (!line || !answer || !answer_bytes || strlen(line) >= sizeof(copy))
        return false;
    strcpy(copy, line);
    answer[0] = 0;
    if (!guard_enter(LAYER_MARKS))
        return false;
    if (strncmp(copy, PLACE, strlen(PLACE)) == 0)
        settle_place(copy + strlen(PLACE), answer, answer_bytes);
    else
        obey_line(copy, answer, answer_bytes);
    guard_leave(LAYER_MARKS);
    return strncmp(answer, "ok", 2) == 0;
}

void control_begin(void)
{
    const struct config *config = config_get();
    struct control_change wish;

    if (config->watch[0])
        watch_choose(config->watch);
    recorder_choose_devices(config->devices);
    if (config->starts_paused)
        recorder_pause(true);
    recorder_keep_history(config->keeps_history);
    if (config->json[0]) {
        wish = control_of_file(config->json, config->rank);
        choose_steps(&wish);
    }
    if (config->control_file[0] &&
        control_file_read(config->control_file, config->rank, &wish) == 0)
        choose_steps(&wish);
}
