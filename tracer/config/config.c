/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "json_scan.h"
#include "leaktide/invariant.h"
#include "option_values.h"

enum { OPTION_MAX = 1024 };

static struct config config = {
    .records_device = true,
    .devices = UINT64_MAX,
    .traces_children = true,
    .is_controlled = true,
    .wants_python = true,
    .sample_ms = OPTION_SAMPLE_MS_USUAL,
    .ring_bytes = OPTION_RING_BYTES_USUAL,
    .stack_frames = OPTION_FRAMES_MAX,
    .stack_bytes = OPTION_STACK_BYTES_USUAL,
};

static void complain(const char *option, const char *value, const char *expected)
{
    char line[1536];
    int length = snprintf(line, sizeof(line), "leaktide: LEAKTIDE_OPTIONS: %s=%s: %s\n", option,
                          value, expected);

    if (length > 0)
        (void)!write(STDERR_FILENO, line, (size_t)length);
}

/* --- one function an option ------------------------------------------------------------- */

static bool set_device(const char *value)
{
    uint64_t devices;
    bool has_host;

    if (!values_read_devices(value, &devices, &has_host))
        return false;
    config.records_host = has_host;
    config.records_device = devices != 0;
    config.devices = devices ? devices : UINT64_MAX;
    return true;
}

static void launches_settle(void)
{
    config.records_launches = config.wants_launches && !config.passes_kernels;
}

static bool set_events(const char *value)
{
    config.wants_launches = values_has(value, "launch");
    config.records_accesses = values_has(value, "access");
    launches_settle();
    return true;
}

bool config_set_level(const char *value)
{
    bool has_operators, has_kernels;

    if (!values_read_level(value, &has_operators, &has_kernels))
        return false;
    config.passes_operators = !has_operators;
    config.passes_kernels = !has_kernels;
    if (has_kernels)
        config.wants_launches = true;
    launches_settle();
    return true;
}

static bool set_output(const char *value)
{
    size_t length = strlen(value);

    if (!length || length >= sizeof(config.output_path))
        return false;
    memcpy(config.output_path, value, length + 1);
    return true;
}

static bool set_sample(const char *value)
{
    uint64_t number;

    if (!values_read_number(value, &number) || number > OPTION_SAMPLE_MS_MOST)
        return false;
    config.sample_ms = (uint32_t)number;
    return true;
}

static bool set_ring(const char *value)
{
    return values_read_ring(value, &config.ring_bytes);
}

static bool set_call_stack(const char *value)
{
    struct option_frames frames;

    if (!values_read_stacks(value, &frames, &config.has_free_stacks))
        return false;
    config.stack_frames = frames.native;
    config.python_frames = frames.python;
    config.has_host_stacks = (frames.native | frames.python) > 0;
    return true;
}

static bool set_stack_memory(const char *value)
{
    return values_read_stack_memory(value, &config.stack_bytes);
}

static bool set_children(const char *value)
{
    config.traces_children = strcmp(value, "no") != 0;
    return strcmp(value, "no") == 0 || strcmp(value, "yes") == 0;
}

static bool set_python_objects(const char *value)
{
    config.wants_python = strcmp(value, "no") != 0;
    return strcmp(value, "no") == 0 || strcmp(value, "yes") == 0;
}

static bool set_weights(const char *value)
{
    config.passes_weights = strcmp(value, "no") == 0;
    return config.passes_weights || strcmp(value, "yes") == 0;
}

static bool set_layers(const char *value)
{
    config.wants_layers = strcmp(value, "yes") == 0;
    return config.wants_layers || strcmp(value, "no") == 0;
}

static bool set_collect_mode(const char *value)
{
    config.waits_for_script = strcmp(value, "script") == 0;
    config.keeps_history = config.waits_for_script || strcmp(value, "history") == 0;
    config.starts_paused = config.keeps_history || strcmp(value, "deferred") == 0;
    return config.starts_paused || strcmp(value, "immediate") == 0;
}

static bool set_control(const char *value)
{
    config.is_controlled = strcmp(value, "no") != 0;
    return strcmp(value, "no") == 0 || strcmp(value, "yes") == 0;
}

static bool set_control_file(const char *value)
{
    size_t length = strlen(value);

    if (!length || length >= sizeof(config.control_file))
        return false;
    memcpy(config.control_file, value, length + 1);
    return true;
}

static bool set_watch(const char *value)
{
    size_t length = strlen(value);

    if (!values_watch_is_right(value) || length >= sizeof(config.watch))
        return false;
    memcpy(config.watch, value, length + 1);
    return true;
}

static bool set_run(const char *value)
{
    char *end;

    config.run_id = strtoull(value, &end, 16);
    return *value && !*end;
}

static const struct option {
    const char *name;
    bool (*set)(const char *value);
    const char *expected;
} options[] = {
    {"--device", set_device,
     "expected npu, npu:N, gpu, opencl or cpu, separated by commas, N up to 63"},
    {"--events", set_events, "expected alloc, free, launch, access"},
    {"--output-path", set_output, "expected a folder of at most 1023 bytes"},
    {"--sample-ms", set_sample, "expected " OPTION_SAMPLE_MS_LIMITS},
    {"--ring-size", set_ring, "expected " OPTION_RING_LIMITS},
    {"--follow-children", set_children, "expected yes or no"},
    {"--python-objects", set_python_objects, "expected yes or no"},
    {"--weights", set_weights, "expected yes or no"},
    {"--layers", set_layers, "expected yes or no"},
    {"--run-id", set_run, "expected a hexadecimal number"},
    {"--call-stack", set_call_stack,
     "expected none, or c[:N], python[:N] with N up to 1000, and free"},
    {"--stack-memory", set_stack_memory, "expected " OPTION_STACK_LIMITS},
    {"--collect-mode", set_collect_mode, "expected immediate, deferred, history or script"},
    {"--control", set_control, "expected yes or no"},
    {"--control-file", set_control_file, "expected a path of at most 511 bytes"},
    {"--watch", set_watch, "expected " OPTION_WATCH_SHAPE},
};

bool config_set_events(const char *value)
{
    return values_events_are_right(value) && set_events(value);
}

static void option_apply(char *word)
{
    char *value = strchr(word, '=');

    if (!value) {
        complain(word, "", "expected --option=value");
        return;
    }
    *value++ = '\0';
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strcmp(word, options[i].name) == 0) {
            if (!options[i].set(value))
                complain(word, value, options[i].expected);
            return;
        }
    complain(word, value, "no such option");
}

/* Splits at blanks; a backslash takes the next byte as it is. */
static void options_read(const char *text)
{
    char word[OPTION_MAX + 64];
    size_t length = 0;

    for (;; text++) {
        bool is_end = !*text || *text == ' ' || *text == '\n' || *text == '\t';

        if (is_end && length) {
            word[length] = '\0';
            option_apply(word);
            length = 0;
        }
        if (!*text)
            return;
        if (is_end)
            continue;
        if (*text == '\\' && text[1])
            text++;
        if (length < sizeof(word) - 1)
            word[length++] = *text;
    }
}

/* A relative folder must mean the same when the program has changed its directory. */
static void output_path_settle(void)
{
    char folder[sizeof(config.output_path)], full[2 * sizeof(config.output_path)];
    int length;

    if (!config.output_path[0])
        snprintf(config.output_path, sizeof(config.output_path),
                 config.waits_for_script ? "memscopeDumpResults/msmemscope_%d.leaktide"
                                         : "leaktide-%d.leaktide",
                 (int)getpid());
    if (config.output_path[0] == '/')
        return;
    if (!getcwd(folder, sizeof(folder)))
        return;
    length = snprintf(full, sizeof(full), "%s/%s", folder, config.output_path);
    if (length > 0 && (size_t)length < sizeof(config.output_path))
        memcpy(config.output_path, full, (size_t)length + 1);
}

/* After the object that the text begins with. */
static const char *object_end(const char *text)
{
    unsigned depth = 0;
    bool is_in_text = false;

    for (; *text; text++) {
        if (is_in_text && *text == '\\' && text[1])
            text++;
        else if (*text == '"')
            is_in_text = !is_in_text;
        else if (!is_in_text && *text == '{')
            depth++;
        else if (!is_in_text && *text == '}' && !--depth)
            return text + 1;
    }
    return text;
}

/* The value of an option, whatever its kind there. */
static bool json_option(const char *json, const char *name, char *value, size_t value_bytes)
{
    char key[64] = "";
    int64_t number;
    bool flag;

    for (size_t i = 0; name[i] && i + 1 < sizeof(key); i++)
        key[i] = name[i] == '-' ? '_' : name[i];
    if (json_text(json, key, value, value_bytes))
        return true;
    if (json_number(json, key, &number)) {
        snprintf(value, value_bytes, "%lld", (long long)number);
        return true;
    }
    if (!json_flag(json, key, &flag))
        return false;
    snprintf(value, value_bytes, "%s", flag ? "yes" : "no");
    return true;
}

static const char *json_read(const char *text)
{
    const char *end = object_end(text);
    char value[OPTION_MAX];

    if ((size_t)(end - text) >= sizeof(config.json)) {
        complain("the object", "", "expected at most 1023 bytes of JSON");
        return end;
    }
    memcpy(config.json, text, (size_t)(end - text));
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (json_option(config.json, options[i].name + 2, value, sizeof(value)) &&
            !options[i].set(value))
            complain(options[i].name, value, options[i].expected);
    return end;
}

/* Of torchrun and the like, of Ascend, of OpenMPI, and of other launchers of MPI. */
static const char *const rank_names[] = {"RANK", "RANK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                         NULL};
static const char *const size_names[] = {"WORLD_SIZE", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE",
                                         "PMI_SIZE", NULL};

/* The first one that is set; -1: none is. */
static int64_t number_of_job(const char *const *names)
{
    for (; *names; names++) {
        const char *value = getenv(*names);

        if (value && *value)
            return strtoll(value, NULL, 10);
    }
    return -1;
}

/* Whatever the options were: those that cannot be are not taken. */
static void config_check(const struct config *c)
{
    MT_ASSERT(c->stack_frames <= OPTION_FRAMES_MAX);
    MT_ASSERT(c->python_frames <= OPTION_FRAMES_MAX);
    MT_ASSERT(!c->has_host_stacks || c->stack_frames || c->python_frames);
    MT_ASSERT(c->sample_ms <= OPTION_SAMPLE_MS_MOST);
    MT_ASSERT(c->ring_bytes >= option_ring_limits.least_bytes);
    MT_ASSERT(c->ring_bytes <= option_ring_limits.most_bytes);
    MT_ASSERT(!(c->ring_bytes & (c->ring_bytes - 1)));
    MT_ASSERT(c->stack_bytes >= option_stack_limits.least_bytes);
    MT_ASSERT(c->stack_bytes <= option_stack_limits.most_bytes);
    MT_ASSERT(!c->records_launches || c->wants_launches);
    MT_ASSERT(memchr(c->output_path, 0, sizeof(c->output_path)));
    MT_ASSERT(memchr(c->watch, 0, sizeof(c->watch)));
    MT_ASSERT(memchr(c->control_file, 0, sizeof(c->control_file)));
}

bool config_set_output(const char *value)
{
    if (!set_output(value))
        return false;
    output_path_settle();
    return true;
}

/* What scripts for msmemscope that set LD_PRELOAD themselves ask for: see lib64 beside its name. */
static const char *text_of_script(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "/libleaks_ascend_hal_hook.so")
               ? "--collect-mode=script --call-stack=c,python --weights=no"
               : NULL;
}

static void config_read(void)
{
    const char *text = getenv("LEAKTIDE_OPTIONS");

    if (!text)
        text = text_of_script();

    config.rank = number_of_job(rank_names);
    config.world_size = number_of_job(size_names);

    config.is_forbidden = getauxval(AT_SECURE) != 0;
    if (config.is_forbidden)
        return;
    if (text) {
        snprintf(config.text, sizeof(config.text), "%s", text);
        text += strspn(text, " ");
        options_read(*text == '{' ? json_read(text) : text);
    }
    config.records_python = config.wants_python && config.records_host && config.python_frames > 0;
    output_path_settle();
    config_check(&config);
}

static _Atomic int state; /* 0 unread, 1 being read, 2 read */

const struct config *config_get(void)
{
    int unread = 0;

    if (atomic_load_explicit(&state, memory_order_acquire) == 2)
        return &config;
    if (atomic_compare_exchange_strong(&state, &unread, 1)) {
        config_read();
        atomic_store_explicit(&state, 2, memory_order_release);
    }
    while (atomic_load_explicit(&state, memory_order_acquire) != 2)
        usleep(50);
    return &config;
}

const struct config *config_if_read(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == 2 ? &config : NULL;
}
