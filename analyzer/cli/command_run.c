/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide run: records a program; at the end a short verdict. The exit status is the program's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "consumer_care.h"
#include "control_file.h"
#include "gate_recordings.h"
#include "gate_results.h"
#include "json_scan.h"
#include "launch.h"
#include "leaktide/analyzer.h"
#include "leaktide/rings.h"
#include "machine.h"
#include "option_values.h"
#include "outlet.h"
#include "preload_name.h"
#include "program_file.h"
#include "program_needs.h"
#include "run_folder.h"
#include "sentence.h"
#include "text_builder.h"
#include "waiting.h"
#include "watch_files.h"

static const struct option_spec options[] = {
    {OPTION_OUTPUT_PATH, 'o', "output", "FOLDER",
     "where to record (./leaktide-PROGRAM-DATE-PID.leaktide)"},
    {OPTION_DEVICE, 0, "device", "LIST", "npu, gpu, opencl, cpu: whose memory (npu,gpu,opencl)"},
    {OPTION_EVENTS, 0, "events", "LIST", "alloc, free, launch, access: what else (alloc,free)"},
    {OPTION_CALL_STACK, 0, "call-stack", "LIST",
     "none; c[:N], python[:N]: N frames or all; free (python,c)"},
    {OPTION_SAMPLE_MS, 0, "sample-ms", "N", "read the system's counters every N ms (20); 0: never"},
    {OPTION_RING_SIZE, 0, "ring-size", "SIZE",
     "buffer of each thread, " OPTION_RING_LIMITS " (1m)"},
    {OPTION_STACK_MEMORY, 0, "stack-memory", "SIZE",
     "at most so much of each thread to know stacks, " OPTION_STACK_LIMITS " (32m)"},
    {OPTION_FOLLOW_CHILDREN, 0, "follow-children", "yes|no", "record what it starts too (yes)"},
    {OPTION_PYTHON_OBJECTS, 0, "python-objects", "yes|no",
     "with cpu and stacks of Python: what Python's own allocator makes (yes)"},
    {OPTION_LAYERS, 0, "layers", "yes|no",
     "which module of a PyTorch model memory is for: leaktide layers (no)"},
    {OPTION_QUIET, 'q', "quiet", NULL, "say nothing but errors"},
    COLOR_OPTION,
    {OPTION_NO_REPORT, 0, "no-report", NULL, "no verdict at the end"},
    {OPTION_POLICY, 'p', "policy", "FILE",
     "then hold the recording against this budget: leaktide gate"},
    {OPTION_BASELINE, 'b', "baseline", "FILE", "for --policy: what was agreed to"},
    {OPTION_COLLECT_MODE, 0, "collect-mode", "MODE",
     "immediate; deferred: record when leaktide ctl says start; history: and know what devices "
     "hold "
     "then (immediate)"},
    {OPTION_CONTROL, 0, "control", "yes|no", "let leaktide ctl speak to the program (yes)"},
    {OPTION_CONTROL_FILE, 0, "control-file", "FILE",
     "watch it for steps to record; keys of profiler_config.json"},
    {OPTION_WATCH, 0, "watch", "A,B",
     "check sums of what operator A puts out, up to operator B; A:N,B,full-content"},
    {0, 0, NULL, NULL, NULL},
};

/* Handed on to the tracer; with words, each of the comma-separated values must be one of them. */
static const struct handed_on {
    enum option_id id;
    const char *name;
    const char *const *words;
} handed_on[] = {
    {OPTION_DEVICE, "device", option_device_words},
    {OPTION_EVENTS, "events", option_event_words},
    {OPTION_CALL_STACK, "call-stack", option_stack_words},
    {OPTION_STACK_MEMORY, "stack-memory", NULL},
    {OPTION_SAMPLE_MS, "sample-ms", NULL},
    {OPTION_RING_SIZE, "ring-size", NULL},
    {OPTION_COLLECT_MODE, "collect-mode",
     (const char *const[]){"immediate", "deferred", "history", NULL}},
    {OPTION_CONTROL, "control", (const char *const[]){"yes", "no", NULL}},
    {OPTION_CONTROL_FILE, "control-file", NULL},
    {OPTION_WATCH, "watch", NULL},
    {OPTION_FOLLOW_CHILDREN, "follow-children", (const char *const[]){"yes", "no", NULL}},
    {OPTION_PYTHON_OBJECTS, "python-objects", (const char *const[]){"yes", "no", NULL}},
    {OPTION_LAYERS, "layers", (const char *const[]){"yes", "no", NULL}},
};

enum { handed_on_count = sizeof(handed_on) / sizeof(handed_on[0]) };

static const char *word_at(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && strncmp(*words, word, length) == 0)
            return true;
    return false;
}

/* What people call it elsewhere; NULL: nothing is known. */
static const char *meant_by(const char *word, const char *const *words)
{
    static const struct {
        const char *said, *meant;
    } others[] = {
        {"cuda", "gpu"}, {"nvidia", "gpu"}, {"hip", "gpu"},   {"rocm", "gpu"}, {"ascend", "npu"},
        {"host", "cpu"}, {"heap", "cpu"},   {"py", "python"}, {"native", "c"}, {"off", "none"},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i].said, word) == 0 &&
            is_one_of(others[i].meant, strlen(others[i].meant), words))
            return others[i].meant;
    return nearest_name(word, word_at, words);
}

/* Nothing is near enough to be guessed: all of them. */
static enum mt_result words_say(const struct handed_on *option, const char *word,
                                struct mt_error *error)
{
    struct text_builder known;
    enum mt_result result;

    text_init(&known);
    for (size_t i = 0; option->words[i]; i++)
        text_add_format(&known, "%s%s", i ? ", " : "", option->words[i]);
    result = mt_error_set(error, MT_USAGE, "--%s: %s is not known; known are %s", option->name,
                          *word ? word : "an empty word", text_get(&known));
    text_release(&known);
    return result;
}

/* "npu:3" counts as npu. */
static enum mt_result words_check(const struct handed_on *option, const char *list,
                                  struct mt_error *error)
{
    for (;;) {
        size_t length = strcspn(list, ","), word_length = strcspn(list, ",:");
        char word[32] = "";
        const char *nearest;

        if (!is_one_of(list, word_length, option->words)) {
            snprintf(word, sizeof(word), "%.*s", (int)word_length, list);
            nearest = meant_by(word, option->words);
            if (!nearest)
                return words_say(option, word, error);
            return mt_error_set(error, MT_USAGE, "--%s: %s is not known; did you mean %s?",
                                option->name, *word ? word : "an empty word", nearest);
        }
        if (!list[length])
            return MT_OK;
        list += length + 1;
    }
}

/* NULL: it is no size. */
static const struct option_limits *limits_of(enum option_id id)
{
    if (id == OPTION_STACK_MEMORY)
        return &option_stack_limits;
    return id == OPTION_RING_SIZE ? &option_ring_limits : NULL;
}

static enum mt_result size_check(const char *name, const struct option_limits *limits,
                                 const char *value, struct mt_error *error)
{
    uint64_t bytes = 0;
    struct text_builder least, most;
    enum mt_result result = option_size(name, value, &bytes, error);

    if (result != MT_OK || (bytes >= limits->least_bytes && bytes <= limits->most_bytes))
        return result;
    text_init(&least);
    text_init(&most);
    text_add_size(&least, limits->least_bytes);
    text_add_size(&most, limits->most_bytes);
    result = mt_error_set(error, MT_USAGE, "--%s=%s: a size from %s to %s is needed", name, value,
                          text_get(&least), text_get(&most));
    text_release(&least);
    text_release(&most);
    return result;
}

/* How many frames: "c:20,python:10". */
static enum mt_result frames_check(const char *list, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    while (*list && result == MT_OK) {
        size_t length = strcspn(list, ","), name_length = strcspn(list, ",:");
        char number[24];
        size_t frames;

        snprintf(number, sizeof(number), "%.*s",
                 name_length < length ? (int)(length - name_length - 1) : 0,
                 list + name_length + (name_length < length));
        if (name_length < length)
            result = option_number("call-stack", number, OPTION_FRAMES_MAX, &frames, error);
        list += length + (list[length] != 0);
    }
    return result;
}

static enum mt_result values_check(const struct options *given, struct mt_error *error)
{
    size_t milliseconds = 0;

    for (size_t i = 0; i < handed_on_count; i++) {
        const char *value = given->values[handed_on[i].id];
        enum mt_result result = MT_OK;

        if (value && handed_on[i].words)
            result = words_check(&handed_on[i], value, error);
        else if (value && limits_of(handed_on[i].id))
            result = size_check(handed_on[i].name, limits_of(handed_on[i].id), value, error);
        if (result != MT_OK)
            return result;
    }
    if (given->values[OPTION_CALL_STACK]) {
        enum mt_result result = frames_check(given->values[OPTION_CALL_STACK], error);

        if (result != MT_OK)
            return result;
    }
    if (given->values[OPTION_WATCH] && !values_watch_is_right(given->values[OPTION_WATCH]))
        return mt_error_set(error, MT_USAGE,
                            "--watch: %s is not " OPTION_WATCH_SHAPE ", names of at most %d bytes",
                            given->values[OPTION_WATCH], OPTION_NAME_MOST);
    return option_number("sample-ms", given->values[OPTION_SAMPLE_MS], OPTION_SAMPLE_MS_MOST,
                         &milliseconds, error);
}

/* As the tracer reads it: blanks separate, a backslash takes the next character as it is. */
static void add_option(struct text_builder *text, const char *name, const char *value)
{
    text_add_format(text, "%s--%s=", text->size_bytes ? " " : "", name);
    for (; *value; value++) {
        if (strchr(" \t\n\\", *value))
            text_add_char(text, '\\', 1);
        text_add_char(text, *value, 1);
    }
}

/* A size as a number: the tracer knows fewer units. */
static void hand_on(struct text_builder *text, const struct handed_on *option, const char *value)
{
    uint64_t bytes = 0;
    struct mt_error error;
    char digits[32];

    if (limits_of(option->id) && option_size(option->name, value, &bytes, &error) == MT_OK) {
        snprintf(digits, sizeof(digits), "%" PRIu64, bytes);
        value = digits;
    }
    add_option(text, option->name, value);
}

/* All that the option knows. */
static void add_words(struct text_builder *text, const char *name, const char *const *words)
{
    text_add_format(text, "%s--%s=", text->size_bytes ? " " : "", name);
    for (size_t i = 0; words[i]; i++)
        text_add_format(text, "%s%s", i ? "," : "", words[i]);
}

/* Where neither the command line nor the environment chooses: what a first look needs. */
static void add_usual(struct text_builder *text, const struct options *given)
{
    const char *old = getenv("LEAKTIDE_OPTIONS");

    if (!given->values[OPTION_DEVICE] && !(old && strstr(old, "--device=")) &&
        !machine_has_accelerator()) {
        add_words(text, "device", option_device_words);
        if (!given->values[OPTION_QUIET])
            tell("no accelerator is on this machine, so the host heap is recorded too; "
                 "--device chooses");
    }
    if (!given->values[OPTION_CALL_STACK] && !(old && strstr(old, "--call-stack=")))
        add_option(text, "call-stack", "python,c");
}

/* Those of the environment first, so that the command line has the last word. */
static void tracer_options(struct text_builder *text, const struct options *given,
                           const char *folder, uint64_t run_id)
{
    const char *old = getenv("LEAKTIDE_OPTIONS");
    char digits[32];

    if (old)
        text_add(text, old);
    add_usual(text, given);
    for (size_t i = 0; i < handed_on_count; i++)
        if (given->values[handed_on[i].id])
            hand_on(text, &handed_on[i], given->values[handed_on[i].id]);
    add_option(text, "output-path", folder);
    snprintf(digits, sizeof(digits), "%" PRIx64, run_id);
    add_option(text, "run-id", digits);
}

/* Known to the processes of the run alone: who says it gets the rings. */
static uint64_t run_id_make(void)
{
    uint64_t run_id = 0;

    /* glibc has had a function for it since 2.25 only. */
    if (syscall(SYS_getrandom, &run_id, sizeof(run_id), GRND_NONBLOCK) != (long)sizeof(run_id))
        run_id = (uint64_t)getpid() << 32 | (uint64_t)time(NULL);
    return run_id;
}

/*
 * As the tracer reads the same options: the last one counts; a backslash takes the next character
 * as it is. False: there is none, or it has no room.
 */
static bool last_value(const char *text, const char *name, char *value, size_t value_bytes)
{
    bool is_found = false;

    while ((text = strstr(text, name))) {
        size_t length = 0;

        for (text += strlen(name); *text && !strchr(" \t\n", *text); text++) {
            text += *text == '\\' && text[1];
            if (length < value_bytes)
                value[length++] = *text;
        }
        is_found = length < value_bytes;
        if (is_found)
            value[length] = 0;
    }
    return is_found;
}

static uint64_t ring_bytes_of(const char *text)
{
    uint64_t bytes = OPTION_RING_BYTES_USUAL;
    char word[32];

    if (last_value(text, "--ring-size=", word, sizeof(word)))
        values_read_ring(word, &bytes);
    return bytes;
}

/* Of the command line, else of the environment; false: none is named. */
static bool control_file_named(const struct options *given, char *name, size_t name_bytes)
{
    const char *chosen = given->values[OPTION_CONTROL_FILE], *old = getenv("LEAKTIDE_OPTIONS");

    if (chosen) {
        snprintf(name, name_bytes, "%s", chosen);
        return true;
    }
    return old && (last_value(old, "--control-file=", name, name_bytes) ||
                   json_text(old, "control_file", name, name_bytes));
}

/* The same file wherever the program goes; found bad before hours of recording, not after them. */
static enum mt_result control_file_settle(struct options *given, char *path, size_t path_bytes,
                                          struct mt_error *error)
{
    char name[PATH_MAX], folder[PATH_MAX], full[2 * PATH_MAX];
    struct control_change change;
    int why;

    if (!control_file_named(given, name, sizeof(name)))
        return MT_OK;
    if (name[0] == '/' || !getcwd(folder, sizeof(folder)))
        snprintf(full, sizeof(full), "%s", name);
    else
        snprintf(full, sizeof(full), "%s/%s", folder, name);
    if (strlen(full) >= path_bytes)
        return mt_error_set(error, MT_USAGE,
                            "--control-file: longer than %zu bytes, its folder included: %s",
                            path_bytes - 1, full);
    strcpy(path, full);
    given->values[OPTION_CONTROL_FILE] = path;
    why = control_file_read(path, -1, &change);
    if (why == 0 || why == ENODATA)
        return MT_OK;
    if (why == EINVAL)
        return mt_error_set(error, MT_USAGE, "--control-file: %s is not a JSON object", path);
    if (why != ENOENT)
        return mt_error_set(error, MT_USAGE, "--control-file: %s: %s", path, strerror(why));
    if (!given->values[OPTION_QUIET])
        tell("%s is not there yet: all is recorded until it is", path);
    return MT_OK;
}

/* A file beside the command, in an installation, a wheel (libexec) or the build tree. */
static bool library_find(const char *name, char *path, size_t path_bytes)
{
    static const char *const folders[] = {"../lib/leaktide", "../libexec/leaktide",
                                          LEAKTIDE_LIBRARY_FOLDER};
    char self[PATH_MAX], candidate[2 * PATH_MAX], *slash;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return false;
    self[length] = 0;
    slash = strrchr(self, '/');
    *slash = 0;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char *full;

        snprintf(candidate, sizeof(candidate), "%s/%s/%s", self, folders[i], name);
        full = realpath(candidate, NULL);
        if (full && strlen(full) < path_bytes) {
            strcpy(path, full);
            free(full);
            return true;
        }
        free(full);
    }
    return false;
}

static enum mt_result tracer_find(char *path, size_t path_bytes, struct mt_error *error)
{
    const char *chosen = getenv("LEAKTIDE_TRACER");
    char *full;

    if (chosen && *chosen) {
        full = realpath(chosen, NULL);
        if (!full || strlen(full) >= path_bytes) {
            free(full);
            return mt_error_set(error, MT_NOT_FOUND, "LEAKTIDE_TRACER=%s: %s", chosen,
                                strerror(errno));
        }
        strcpy(path, full);
        free(full);
    } else if (!library_find("libascend_kernel_hook.so", path, path_bytes)) {
        return mt_error_set(error, MT_NOT_FOUND,
                            "lib/leaktide/libascend_kernel_hook.so is not beside this command; "
                            "name it in LEAKTIDE_TRACER");
    }
    if (!preload_name(path, path_bytes))
        return mt_error_set(error, MT_USAGE,
                            "%s: LD_PRELOAD cannot name a path with a blank or a colon, and no "
                            "link to it can be made in $XDG_RUNTIME_DIR or /tmp; move leaktide "
                            "to another folder",
                            path);
    return MT_OK;
}

enum { LOOKS_KEPT = 20 };

struct progress {
    const char *folder;
    bool is_shown;
    uint64_t look_count;
    struct {
        time_t seconds;
        uint64_t bytes;
    } looks[LOOKS_KEPT]; /* the newest ones, by turns */
};

/* Since the oldest look that is kept: "+1.20 MiB in 20 s". */
static void add_growth(struct text_builder *line, struct progress *progress, uint64_t now_bytes)
{
    uint64_t count = progress->look_count++, oldest = count < LOOKS_KEPT ? 0 : count % LOOKS_KEPT;
    struct timespec now;
    uint64_t was_bytes = progress->looks[oldest].bytes;
    time_t seconds;

    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = now.tv_sec - progress->looks[oldest].seconds;
    if (count && seconds > 0) {
        text_add(line, now_bytes < was_bytes ? " (-" : " (+");
        text_add_size(line, now_bytes < was_bytes ? was_bytes - now_bytes : now_bytes - was_bytes);
        text_add_format(line, " in %lld s)", (long long)seconds);
    }
    progress->looks[count % LOOKS_KEPT].seconds = now.tv_sec;
    progress->looks[count % LOOKS_KEPT].bytes = now_bytes;
}

static void show_progress(void *context)
{
    struct progress *progress = context;
    struct run_state state;
    struct text_builder line;

    if (!run_folder_look(progress->folder, &state))
        return;
    text_init(&line);
    text_add(&line, "leaktide: ");
    text_add_count(&line, state.event_count);
    text_add(&line, " events, ");
    text_add_size(&line, state.now_bytes);
    text_add(&line, state.has_devices ? " on devices" : " resident");
    add_growth(&line, progress, state.now_bytes);
    if (state.step_count)
        text_add_format(&line, ", step %" PRIu64, state.step_count);
    if (state.process_count > 1)
        text_add_format(&line, ", %zu processes", state.process_count);
    if (state.lost_count)
        text_add_format(&line, ", %" PRIu64 " lost", state.lost_count);
    if (state.peak_bytes > state.now_bytes) {
        text_add(&line, ", at most ");
        text_add_size(&line, state.peak_bytes);
    }
    waiting_show(&line);
    text_release(&line);
    progress->is_shown = true;
}

/* What is known after a run beside its recording. */
struct run_end {
    struct launch_end program;
    struct mt_program_needs needs; /* of the program itself */
    struct consumer_care_end care;
};

static void say_lost(const char *folder, uint64_t count)
{
    char why[PATH_MAX + 128];
    struct text_builder counted;

    if (!run_folder_explain(folder, why, sizeof(why)))
        snprintf(why, sizeof(why), "%s", translated("leaktide info says why"));
    text_init(&counted);
    text_add_count(&counted, count);
    tell("%s %s lost, so this is of a part of the program: %s", text_get(&counted),
         count == 1 ? "event was" : "events were", why);
    text_release(&counted);
}

static void say_verdict(const char *folder)
{
    const struct mt_open_options how = {.size_bytes = sizeof(how), .on_progress = waiting_note};
    struct mt_trace *trace = NULL;
    struct mt_answer *given = NULL;
    struct mt_error error;
    enum mt_result result;

    waiting_begin();
    result = mt_trace_open_with(&folder, 1, &how, &trace, &error);
    if (result == MT_OK)
        result = mt_trace_ask(trace, "verdict", NULL, &given, &error);
    waiting_end();
    if (result != MT_OK)
        complain(EXIT_INPUT, "%s", error.message);
    for (size_t i = 0; result == MT_OK && i < mt_answer_verdict_count(given); i++)
        tell_verdict(mt_answer_verdict_at(given, i));
    if (result == MT_OK && mt_trace_lost_count(trace))
        say_lost(folder, mt_trace_lost_count(trace));
    if (result == MT_OK && mt_trace_keep_names(trace, &error) != MT_OK)
        tell("names of functions are not kept: %s", error.message);
    mt_answer_close(given);
    mt_trace_close(trace);
}

static void say_trouble(void *context, const char *sentence)
{
    (void)context;
    tell("--watch: %s", sentence);
}

static void say_watched(const char *folder, const char *value)
{
    const struct watch_visitor visitor = {.trouble = say_trouble};
    size_t count = watch_files_visit(folder, 0, &visitor);

    if (!count && *value != ',')
        tell("--watch: nothing was read: no output of %.*s was reported", (int)strcspn(value, ","),
             value);
}

/* Programs that others started. */
static void say_left_out(const uint32_t *counts)
{
    static const char *const reasons[MT_PROGRAM_KINDS] = {
        [MT_PROGRAM_OTHER_LIBC] = "another C library than glibc, perhaps musl",
        [MT_PROGRAM_OTHER_PROCESSOR] = "another processor, or 32 bits",
        [MT_PROGRAM_OF_CONFINED] =
            "started by a process that had told the kernel which system calls it may make",
        [MT_PROGRAM_OF_AUDIT] = "with LD_AUDIT, which leaves no room for the recorder",
        [MT_PROGRAM_OF_LIMIT] =
            "below a limit of memory, of which the recorder would take more than half",
    };

    for (int kind = 0; kind < MT_PROGRAM_KINDS; kind++)
        if (counts[kind] && reasons[kind])
            tell("programs that were not recorded, with what they started in turn: %" PRIu32
                 " (%s)",
                 counts[kind], translated(reasons[kind]));
}

static void say_end(const struct options *given, const char *folder, const struct run_end *end)
{
    char why[PATH_MAX + 128];
    struct run_state state;

    run_folder_tidy(folder);
    run_folder_note_end(folder, end->program.process_id, end->program.wait_status);
    if (!run_folder_look(folder, &state)) {
        if (!run_folder_explain(folder, why, sizeof(why)))
            program_file_explain(given->operands[0], end->needs.kind, why, sizeof(why));
        run_folder_remove(folder);
        if (!given->values[OPTION_QUIET])
            tell("nothing was recorded: %s", why);
        return;
    }
    if (given->values[OPTION_QUIET])
        return;
    if (!given->values[OPTION_NO_REPORT])
        say_verdict(folder);
    say_left_out(end->care.left_out_count);
    tell("recorded in %s", folder);
    if (end->care.live_count)
        tell("%" PRIu32 " %s of the run still %s: the recording goes on, and this was its state at "
             "the end of %s",
             end->care.live_count, end->care.live_count == 1 ? "process" : "processes",
             end->care.live_count == 1 ? "runs" : "run", given->operands[0]);
    if (given->values[OPTION_WATCH])
        say_watched(folder, given->values[OPTION_WATCH]);
}

/* A program that failed has its own status; what it recorded is not the job that was agreed on. */
static int hold_against_policy(const struct options *given, const char *folder, int status)
{
    struct judged_recordings judged;
    struct gate_results results;
    int code;

    if (status != 0)
        return complain(status, "the program failed with %d: not held against %s", status,
                        given->values[OPTION_POLICY]);
    code = gate_results_read(NULL, NULL, &results);
    if (code != EXIT_FINE)
        return code;
    code = judge_recordings(given, &folder, 1, false, &judged);
    if (code == EXIT_FINE)
        code = gate_results_write(&results, judged.verdict);
    if (code == EXIT_FINE)
        code = exit_code_of_gate(mt_gate_outcome(judged.verdict));
    judged_recordings_close(&judged);
    return code;
}

static enum mt_result launch_with_consumer(struct launch *launch, const char *folder,
                                           uint64_t run_id, struct run_end *end,
                                           struct mt_error *error)
{
    enum mt_result result;

    *end = (struct run_end){.needs = launch->needs};
    launch->consumer = consumer_care_begin(folder, ring_bytes_of(launch->options), run_id);
    result = launch_and_wait(launch, &end->program, error);
    if (launch->consumer)
        end->care = consumer_care_end(launch->consumer);
    return result;
}

/* OPENCL_LAYERS separates names by colons. */
static bool layer_find(char *path, size_t path_bytes)
{
    return library_find("libleaktide_opencl_layer.so", path, path_bytes) &&
           preload_name(path, path_bytes);
}

static int record(const struct options *given, const char *tracer, const char *folder)
{
    char layer[PATH_MAX];
    struct text_builder text;
    struct progress progress = {.folder = folder};
    bool shows = !given->values[OPTION_QUIET] && isatty(STDERR_FILENO);
    struct launch launch = {
        .arguments = given->operands,
        .tracer = tracer,
        .layer = layer_find(layer, sizeof(layer)) ? layer : NULL,
        .progress = shows ? show_progress : NULL,
        .context = &progress,
    };
    uint64_t run_id = run_id_make();
    struct run_end end;
    struct mt_error error;
    enum mt_result result;

    program_needs_find(given->operands[0], &launch.needs);
    if (launch.needs.runtime[0] && !given->values[OPTION_QUIET])
        tell("%s comes with %s, whose malloc is before ours: "
             "its host heap is not recorded",
             given->operands[0], launch.needs.runtime);
    text_init(&text);
    tracer_options(&text, given, folder, run_id);
    launch.options = text_get(&text);
    result = launch_with_consumer(&launch, folder, run_id, &end, &error);
    text_release(&text);
    if (progress.is_shown)
        outlet_print(stderr, "\r\033[K");
    if (result != MT_OK || end.program.start_errno) {
        run_folder_remove(folder);
        if (result != MT_OK)
            return complain(EXIT_USAGE, "%s", error.message);
        return complain(EXIT_NO_PROGRAM, "%s: %s", given->operands[0],
                        strerror(end.program.start_errno));
    }
    say_end(given, folder, &end);
    return given->values[OPTION_POLICY] ? hold_against_policy(given, folder, end.program.status)
                                        : end.program.status;
}

/* Before hours of recording, not after them. */
static enum mt_result policy_check(const struct options *given, struct mt_error *error)
{
    const struct mt_gate_options gate = {
        .size_bytes = sizeof(gate),
        .policy_path = given->values[OPTION_POLICY],
        .baseline_path = given->values[OPTION_BASELINE],
    };

    return gate.policy_path ? mt_gate_check(&gate, error) : MT_OK;
}

static int run(const struct command *command, const struct options *given)
{
    char folder[PATH_MAX], tracer[PATH_MAX], control[MT_RINGS_CONTROL_FILE];
    struct options settled = *given;
    struct mt_error error;
    enum mt_result result;

    if (!given->operand_count)
        return complain(EXIT_USAGE, "%s needs a program: leaktide run [options] -- PROGRAM ...",
                        command->name);
    result = values_check(given, &error);
    if (result == MT_OK)
        result = policy_check(given, &error);
    if (result == MT_OK)
        result = control_file_settle(&settled, control, sizeof(control), &error);
    if (result == MT_OK)
        result = tracer_find(tracer, sizeof(tracer), &error);
    if (result == MT_OK)
        result = run_folder_make(given->values[OPTION_OUTPUT_PATH], given->operands[0], folder,
                                 sizeof(folder), &error);
    if (result != MT_OK)
        return complain(EXIT_USAGE, "%s", error.message);
    return record(&settled, tracer, folder);
}

const struct command command_run = {
    .name = "run",
    .operands = "[--] PROGRAM [ARG...]",
    .meaning = "record a program; at the end a short verdict",
    .options = options,
    .stops_at_operand = true,
    .run = run,
    .examples = "  leaktide run -- python train.py\n"
                "  leaktide run --device=cpu --call-stack=python,c -o train.leaktide -- ./train\n"
                "  leaktide run --policy leaktide.toml -- ./train\n",
    .remark = "Without --device the host heap (cpu) is recorded too where no accelerator is.\n"
              "The exit status is the program's own; 128 + N when signal N ended it, 127 when it "
              "could not be started, 2 for wrong use.",
};
