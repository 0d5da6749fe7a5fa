/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the values of the options.
 */
#define _GNU_SOURCE
#include "compat_values.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "option_values.h"

#define COMPAT_VALUE(name)                                                                         \
    bool name(struct compat_request *request, const char *value, struct text_builder *why)

enum { STACK_DEPTH_MOST = 1000, STACK_DEPTH_DEFAULT = 50, OOM_MOST = 1000, INPUT_PATH_MOST = 4096 };

/* --- words ------------------------------------------------------------------------------------ */

struct word {
    const char *bytes;
    size_t size_bytes;
};

/* The next of a list; *list is moved past it. False after the last. "" is one empty word. */
static bool word_next(const char **list, struct word *word)
{
    if (!*list)
        return false;
    word->bytes = *list;
    word->size_bytes = strcspn(*list, ",");
    *list = word->bytes[word->size_bytes] ? word->bytes + word->size_bytes + 1 : NULL;
    return true;
}

/* As word_next(), and empty words are passed over. */
static bool word_next_full(const char **list, struct word *word)
{
    while (word_next(list, word))
        if (word->size_bytes)
            return true;
    return false;
}

/* None, and something else with it: none it is. */
static bool is_none(struct compat_request *request, bool has_none, uint32_t others,
                    const char *remark)
{
    if (has_none && others)
        text_add_format(&request->notes, "[%s] Warning: none among other %s\n",
                        request->generation->program, remark);
    return has_none;
}

static bool word_is(struct word word, const char *other)
{
    return strlen(other) == word.size_bytes && memcmp(word.bytes, other, word.size_bytes) == 0;
}

/* What stands after "name:"; false when the word does not begin so. */
static bool word_tail(struct word word, const char *name, struct word *tail)
{
    size_t length = strlen(name);

    if (word.size_bytes <= length || memcmp(word.bytes, name, length) != 0 ||
        word.bytes[length] != ':')
        return false;
    *tail = (struct word){word.bytes + length + 1, word.size_bytes - length - 1};
    return true;
}

/* Only digits, no sign, and no zero before others. */
static bool word_number(struct word word, uint64_t least, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;

    if (!word.size_bytes || word.size_bytes > 19 || (word.bytes[0] == '0' && word.size_bytes > 1))
        return false;
    for (size_t i = 0; i < word.size_bytes; i++) {
        if (word.bytes[i] < '0' || word.bytes[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(word.bytes[i] - '0');
    }
    *number = value;
    return value >= least && value <= most;
}

static bool is_number(const char *value, uint64_t least, uint64_t most, uint64_t *number)
{
    return word_number((struct word){value, strlen(value)}, least, most, number);
}

static bool refuse(struct text_builder *why, struct word word, const char *right)
{
    text_add_format(why, "%.*s: expected %s", (int)word.size_bytes, word.bytes, right);
    return false;
}

static bool refuse_value(struct text_builder *why, const char *value, const char *right)
{
    return refuse(why, (struct word){value, strlen(value)}, right);
}

struct bit_word {
    const char *word;
    uint32_t bit;
    const char *is_now; /* deprecated: what to write instead */
};

static const struct bit_word *bit_word_find(const struct bit_word *words, struct word word)
{
    for (; words->word; words++)
        if (word_is(word, words->word))
            return words;
    return NULL;
}

static void deprecated(struct compat_request *request, const char *old, const char *now)
{
    if (request->generation->name == COMPAT_MSMEMSCOPE)
        text_add_format(&request->notes,
                        "[%s] Deprecation: '%s' is deprecated, use '%s' instead.\n",
                        request->generation->program, old, now);
}

static bool choose(struct compat_request *request, const struct bit_word *words, const char *value,
                   const char *right, struct text_builder *why, uint32_t *chosen)
{
    const struct bit_word *found = bit_word_find(words, (struct word){value, strlen(value)});

    if (!found)
        return refuse_value(why, value, right);
    if (found->is_now)
        deprecated(request, found->word, found->is_now);
    *chosen = found->bit;
    return true;
}

/* --- options ---------------------------------------------------------------------------------- */

COMPAT_VALUE(compat_set_help)
{
    (void)value;
    (void)why;
    request->wants_help = true;
    return true;
}

COMPAT_VALUE(compat_set_version)
{
    (void)value;
    (void)why;
    request->wants_version = true;
    return true;
}

COMPAT_VALUE(compat_set_debug)
{
    (void)value;
    (void)why;
    request->log_level = COMPAT_DEBUG;
    return true;
}

COMPAT_VALUE(compat_set_quiet)
{
    (void)value;
    (void)why;
    if (request->log_level != COMPAT_DEBUG) /* which wins, in any order, as in the original */
        request->log_level = COMPAT_ERROR;
    return true;
}

COMPAT_VALUE(compat_set_level)
{
    static const struct bit_word words[] = {{"op", DUMP_BIT_OP, NULL},
                                            {"kernel", DUMP_BIT_KERNEL, NULL},
                                            {"0", DUMP_BIT_OP, "op"},
                                            {"1", DUMP_BIT_KERNEL, "kernel"},
                                            {NULL, 0, NULL}};
    const char *rest = value;
    struct word word;
    uint32_t levels = 0;

    while (word_next(&rest, &word)) {
        const struct bit_word *found = bit_word_find(words, word);

        if (!found)
            return refuse(why, word, "op, kernel");
        if (found->is_now)
            deprecated(request, found->word, found->is_now);
        levels |= found->bit;
    }
    request->dump.levels = levels;
    request->is_level_given = true;
    return true;
}

COMPAT_VALUE(compat_set_events)
{
    static const struct bit_word words[] = {{"alloc", DUMP_BIT_ALLOC, NULL},
                                            {"free", DUMP_BIT_FREE, NULL},
                                            {"launch", DUMP_BIT_LAUNCH, NULL},
                                            {"access", DUMP_BIT_ACCESS, NULL},
                                            {"traceback", DUMP_BIT_TRACEBACK, NULL},
                                            {"none", 0, NULL},
                                            {NULL, 0, NULL}};
    const char *rest = value;
    struct word word;
    uint32_t events = 0;
    bool has_none = false;

    while (word_next_full(&rest, &word)) {
        const struct bit_word *found = bit_word_find(words, word);

        if (!found)
            return refuse(why, word, "alloc, free, launch, access, traceback or none");
        events |= found->bit;
        has_none |= !found->bit;
    }
    if (!events && !has_none)
        return refuse_value(why, value, "alloc, free, launch, access, traceback or none");
    request->dump.events =
        is_none(request, has_none, events, "events: no event is written") ? 0 : events;
    return true;
}

COMPAT_VALUE(compat_set_steps)
{
    const char *rest = value;
    struct word word;
    uint32_t *steps;
    size_t most = 1;

    for (const char *at = value; *at; at++)
        most += *at == ',';
    steps = arena_alloc(&request->arena, most * sizeof(*steps));
    request->dump.steps = steps;
    request->dump.step_count = 0;
    if (!steps)
        return refuse_value(why, value, "fewer steps: there is no memory for them");
    while (word_next(&rest, &word)) {
        uint64_t number;

        if (!word_number(word, 1, UINT32_MAX, &number))
            return refuse(why, word, "whole numbers from 1, separated by commas");
        steps[request->dump.step_count++] = (uint32_t)number;
    }
    return true;
}

COMPAT_VALUE(compat_set_call_stack)
{
    static const char right[] = "c, c:N, python or python:N, where N is 0 to 1000";
    uint32_t depths[2] = {0};
    bool is_asked_for[2] = {false, false}; /* c:0 is, with no frame */
    static const char *const names[2] = {"c", "python"};
    const char *rest = value;
    struct word word, tail;

    while (word_next(&rest, &word)) {
        size_t i = 0;
        uint64_t depth = STACK_DEPTH_DEFAULT;

        while (i < 2 && !word_is(word, names[i]) && !word_tail(word, names[i], &tail))
            i++;
        if (i == 2 ||
            (word_tail(word, names[i], &tail) && !word_number(tail, 0, STACK_DEPTH_MOST, &depth)))
            return refuse(why, word, right);
        depths[i] = (uint32_t)depth;
        is_asked_for[i] = true;
    }
    request->dump.has_c_stacks = is_asked_for[0];
    request->dump.c_depth = depths[0];
    request->dump.has_python_stacks = is_asked_for[1];
    request->dump.python_depth = depths[1];
    return true;
}

COMPAT_VALUE(compat_set_collect_mode)
{
    static const struct bit_word words[] = {
        {"immediate", 0, NULL}, {"deferred", 1, NULL}, {NULL, 0, NULL}};
    uint32_t chosen;

    if (!choose(request, words, value, "immediate or deferred", why, &chosen))
        return false;
    request->is_deferred = chosen == 1;
    return true;
}

COMPAT_VALUE(compat_set_device)
{
    const char *rest = value;
    struct word word, tail;
    bool has_cpu = false, has_all = false;
    uint32_t devices = 0;

    while (word_next(&rest, &word)) {
        uint64_t number;

        if (word_is(word, "npu"))
            has_all = true;
        else if (word_is(word, "cpu"))
            has_cpu = true;
        else if (word_tail(word, "npu", &tail) && word_number(tail, 0, DUMP_DEVICES - 1, &number))
            devices |= UINT32_C(1) << number;
        else
            return refuse(why, word, "npu, npu:N where N is 0 to 31, or cpu");
    }
    request->dump.has_cpu = has_cpu;
    request->dump.has_all_devices = has_all;
    request->dump.devices = has_all ? 0 : devices;
    return true;
}

/* "oom" or "oom:K" */
static bool read_oom(struct word word, uint32_t *top)
{
    struct word tail;
    uint64_t number;

    if (word_is(word, "oom"))
        return true;
    if (!word_tail(word, "oom", &tail) || !word_number(tail, 1, OOM_MOST, &number))
        return false;
    *top = (uint32_t)number;
    return true;
}

COMPAT_VALUE(compat_set_analysis)
{
    static const struct bit_word words[] = {{"leaks", DUMP_BIT_LEAKS, NULL},
                                            {"decompose", DUMP_BIT_DECOMPOSE, NULL},
                                            {"inefficient", DUMP_BIT_INEFFICIENT, NULL},
                                            {"host-leaks", DUMP_BIT_HOST_LEAKS, NULL},
                                            {"none", 0, NULL},
                                            {NULL, 0, NULL}};
    const char *rest = value; /* nothing is none */
    struct word word;
    uint32_t analyses = 0;
    bool has_none = false;

    while (word_next_full(&rest, &word)) {
        const struct bit_word *found = bit_word_find(words, word);

        if (found) {
            analyses |= found->bit;
            has_none |= !found->bit;
        } else if (read_oom(word, &request->dump.oom_top)) {
            analyses |= DUMP_BIT_OOM;
        } else {
            return refuse(why, word,
                          "leaks, decompose, inefficient, oom, oom:K where K is 1 to 1000, "
                          "host-leaks or none");
        }
    }
    request->dump.analyses =
        is_none(request, has_none, analyses, "analyses: nothing is analysed") ? 0 : analyses;
    return true;
}

COMPAT_VALUE(compat_set_compare)
{
    (void)value;
    (void)why;
    request->wants_compare = true;
    return true;
}

/* Bytes of the arena; NULL when there is no memory. */
static const char *keep(struct compat_request *request, struct word word)
{
    return arena_text(&request->arena, word.bytes, word.size_bytes);
}

/* "op" or "op:outid"; the name may have "::" in it, as those of ATen. */
static bool watch_start(struct compat_watch *watch, struct compat_request *request,
                        struct word word)
{
    const char *colon = word.size_bytes ? memrchr(word.bytes, ':', word.size_bytes) : NULL;
    uint64_t number;

    if (colon && (colon == word.bytes || colon[-1] != ':')) {
        size_t length = (size_t)(colon - word.bytes);

        watch->has_output_id = word_number((struct word){colon + 1, word.size_bytes - length - 1},
                                           0, UINT32_MAX, &number);
        if (!watch->has_output_id || !length)
            return false;
        watch->output_id = (uint32_t)number;
        word.size_bytes = length;
    }
    watch->start = keep(request, word);
    return watch->start && word.size_bytes <= OPTION_NAME_MOST;
}

COMPAT_VALUE(compat_set_watch)
{
    static const char right[] = "[START[:N]],END[,full-content], names of at most 254 bytes";
    struct compat_watch watch = {.is_wanted = true, .output_id = UINT32_MAX};
    const char *rest = value;
    struct word start, end, last;

    if (!word_next(&rest, &start) || !word_next(&rest, &end) || !end.size_bytes ||
        end.size_bytes > OPTION_NAME_MOST || !watch_start(&watch, request, start))
        return refuse_value(why, value, right);
    if (word_next(&rest, &last)) {
        watch.has_full_content = word_is(last, "full-content");
        if ((!watch.has_full_content && last.size_bytes) || rest)
            return refuse_value(why, value, right);
    }
    watch.end = keep(request, end);
    request->watch = watch;
    return watch.end != NULL;
}

COMPAT_VALUE(compat_set_input)
{
    const char *rest = value;
    struct word word;
    size_t count = 0;

    while (word_next(&rest, &word)) {
        if (count == 2)
            return refuse_value(why, value, "two files, separated by a comma");
        if (!word.size_bytes || word.size_bytes > INPUT_PATH_MOST)
            return refuse(why, word, "a path of 1 to 4096 bytes");
        request->inputs[count] = keep(request, word);
        if (!request->inputs[count++])
            return refuse_value(why, value, "less: there is no memory for it");
    }
    request->input_count = count;
    return true;
}

/* Letters, digits, ". / _ - ~", blank, and the Chinese characters U+4E00 to U+9FA5. */
static size_t path_character(const char *at)
{
    unsigned char first = (unsigned char)at[0];
    uint32_t code;

    if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
        (first >= '0' && first <= '9') || strchr("./_-~ ", first))
        return 1;
    if ((first & 0xf0) != 0xe0 || (at[1] & 0xc0) != 0x80 || (at[2] & 0xc0) != 0x80)
        return 0;
    code = (uint32_t)(first & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3fu);
    return code >= 0x4e00 && code <= 0x9fa5 ? 3 : 0;
}

COMPAT_VALUE(compat_set_output)
{
    size_t length = strlen(value), step;

    if (!value[strspn(value, " ")] || length >= PATH_MAX)
        return refuse_value(why, value, "a path of 1 to 4095 bytes");
    for (const char *at = value; *at; at += step) {
        step = path_character(at);
        if (!step)
            return refuse_value(why, value,
                                "a path of letters, digits, Chinese characters, blanks and ./_-~");
    }
    request->output_path = value;
    return true;
}

COMPAT_VALUE(compat_set_format)
{
    static const struct bit_word words[] = {{"csv", 0, NULL}, {"db", 1, NULL}, {NULL, 0, NULL}};
    uint32_t chosen;

    if (!choose(request, words, value, "csv or db", why, &chosen))
        return false;
    request->dump.is_database = chosen == 1;
    return true;
}

COMPAT_VALUE(compat_set_log_level)
{
    static const struct bit_word words[] = {
        {"debug", COMPAT_DEBUG, NULL},     {"info", COMPAT_INFO, NULL},
        {"warning", COMPAT_WARNING, NULL}, {"warn", COMPAT_WARNING, "warning"},
        {"error", COMPAT_ERROR, NULL},     {NULL, 0, NULL}};
    uint32_t chosen;

    if (!choose(request, words, value, "debug, info, warning or error", why, &chosen))
        return false;
    request->log_level = (enum compat_log)chosen;
    return true;
}

COMPAT_VALUE(compat_set_host_leak_mode)
{
    static const struct bit_word words[] = {
        {"summary", 0, NULL}, {"event", 1, NULL}, {NULL, 0, NULL}};
    uint32_t chosen;

    if (!choose(request, words, value, "summary or event", why, &chosen))
        return false;
    request->is_host_by_event = chosen == 1;
    return true;
}

COMPAT_VALUE(compat_set_block_size_threshold)
{
    return is_number(value, 0, INT64_MAX, &request->block_size_threshold) ||
           refuse_value(why, value, "a number of bytes");
}

COMPAT_VALUE(compat_set_sample_rate)
{
    uint64_t number;

    if (!is_number(value, 1, UINT32_MAX, &number))
        return refuse_value(why, value, "a whole number from 1");
    request->sample_rate = (uint32_t)number;
    if (number > 1)
        text_add_format(&request->notes,
                        "[%s] Note: --sample-rate has no effect: every block is recorded\n",
                        request->generation->program);
    return true;
}

COMPAT_VALUE(compat_set_pid)
{
    uint64_t number;

    if (!is_number(value, 1, INT32_MAX, &number))
        return refuse_value(why, value, "the number of a process");
    request->attach_pid = (int32_t)number;
    return true;
}

COMPAT_VALUE(compat_set_command)
{
    if (!*value)
        return refuse_value(why, value, "start, stop, step, snapshot, status or set");
    request->attach_command = value;
    return true;
}

COMPAT_VALUE(compat_set_mstx_info)
{
    if (!*value)
        return refuse_value(why, value, "the text of a mark");
    request->offline.mark = value;
    request->offline.has_mark = true;
    return true;
}

COMPAT_VALUE(compat_set_start_index)
{
    uint64_t number;

    if (!is_number(value, 0, INT32_MAX, &number))
        return refuse_value(why, value, "a whole number from 0");
    request->offline.start_index = (uint32_t)number;
    request->offline.has_start_index = true;
    return true;
}

COMPAT_VALUE(compat_set_mem_size)
{
    return is_number(value, 0, INT64_MAX, &request->offline.least_bytes) ||
           refuse_value(why, value, "a number of bytes");
}

COMPAT_VALUE(compat_set_inefficient_type)
{
    static const struct bit_word words[] = {{"early_allocation", 1, NULL},
                                            {"late_deallocation", 2, NULL},
                                            {"temporary_idleness", 4, NULL},
                                            {NULL, 0, NULL}};
    const char *rest = value;
    struct word word;
    uint32_t types = 0;

    while (word_next(&rest, &word)) {
        const struct bit_word *found = bit_word_find(words, word);

        if (!found)
            return refuse(why, word, "early_allocation, late_deallocation or temporary_idleness");
        types |= found->bit;
    }
    request->offline.inefficient_types = types;
    return true;
}

COMPAT_VALUE(compat_set_idle_threshold)
{
    uint64_t number;

    if (!is_number(value, 1, UINT32_MAX, &number))
        return refuse_value(why, value, "a whole number from 1");
    request->offline.idle_threshold = (uint32_t)number;
    return true;
}

COMPAT_VALUE(compat_set_strict)
{
    (void)value;
    (void)why;
    request->dump.is_strict = true;
    return true;
}

COMPAT_VALUE(compat_set_layout)
{
    static const struct bit_word words[] = {
        {"flat", 0, NULL}, {"process", 1, NULL}, {NULL, 0, NULL}};
    uint32_t chosen;

    if (!choose(request, words, value, "flat or process", why, &chosen))
        return false;
    request->has_process_folders = chosen == 1;
    return true;
}

COMPAT_VALUE(compat_set_kernel_names)
{
    (void)request;
    (void)value;
    (void)why;
    return true; /* the names of kernels are always there */
}
