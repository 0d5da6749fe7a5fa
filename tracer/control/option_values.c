/* SPDX-License-Identifier: Apache-2.0 */
#include "option_values.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const option_device_words[] = {
#define FAMILY(id, name) name,
#include "leaktide/device_families.def"
#undef FAMILY
    "cpu", NULL};
const char *const option_event_words[] = {"alloc",     "free", "launch", "access",
                                          "traceback", "none", NULL};
const char *const option_stack_words[] = {"c", "python", "free", "none", NULL};
const struct option_limits option_ring_limits = {1 << 16, 1 << 28};
const struct option_limits option_stack_limits = {1 << 20, 1 << 30};

bool values_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (*list) {
        size_t next = strcspn(list, ",");

        if (next >= length && strncmp(list, word, length) == 0 &&
            (next == length || list[length] == ':'))
            return true;
        list += next;
        list += *list == ',';
    }
    return false;
}

bool values_read_number(const char *text, uint64_t *value)
{
    char *end;
    static const char suffixes[] = "kmg";
    const char *suffix;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (errno || end == text || *text == '-')
        return false;
    suffix = *end ? strchr(suffixes, *end | 0x20) : NULL;
    if (suffix) {
        *value <<= 10 * (suffix - suffixes + 1);
        end++;
    }
    return *end == '\0';
}

static bool size_read(const char *value, const struct option_limits *limits, uint64_t *bytes)
{
    uint64_t number;

    if (!values_read_number(value, &number) || number < limits->least_bytes ||
        number > limits->most_bytes)
        return false;
    *bytes = number;
    return true;
}

bool values_read_ring(const char *value, uint64_t *ring_bytes)
{
    uint64_t wanted, power = option_ring_limits.least_bytes;

    if (!size_read(value, &option_ring_limits, &wanted))
        return false;
    while (power < wanted)
        power *= 2;
    *ring_bytes = power;
    return true;
}

bool values_read_stack_memory(const char *value, uint64_t *stack_bytes)
{
    return size_read(value, &option_stack_limits, stack_bytes);
}

/* One word of --device: "npu", "npu:3", "cpu". */
static bool device_read(const char *word, size_t length, uint64_t *devices, bool *has_host)
{
    size_t name = strcspn(word, ":,");
    char *end;
    unsigned long number;

    if (name == 3 && strncmp(word, "cpu", 3) == 0) {
        *has_host = true;
        return length == name; /* there is one */
    }
    for (const char *const *known = option_device_words; *known; known++) {
        if (strlen(*known) != name || strncmp(*known, word, name) != 0)
            continue;
        if (name == length) {
            *devices = UINT64_MAX;
            return true;
        }
        number = strtoul(word + name + 1, &end, 10);
        if (end != word + length || length == name + 1 || number > 63)
            return false;
        *devices |= UINT64_C(1) << number;
        return true;
    }
    return false;
}

bool values_read_devices(const char *value, uint64_t *devices, bool *has_host)
{
    *devices = 0;
    *has_host = false;
    while (*value) {
        size_t length = strcspn(value, ",");

        if (!device_read(value, length, devices, has_host))
            return false;
        value += length;
        value += *value == ',';
    }
    return *devices || *has_host;
}

/* One word of --call-stack: "c", "c:20", "python:10", "free". */
static bool set_stack_word(const char *word, size_t length, struct option_frames *frames_of,
                           bool *has_free)
{
    size_t name = strcspn(word, ":,");
    uint64_t frames = OPTION_FRAMES_MAX;
    char number[16] = "";

    if (name < length) {
        if (length - name - 1 >= sizeof(number))
            return false;
        memcpy(number, word + name + 1, length - name - 1);
        if (!values_read_number(number, &frames) || frames > OPTION_FRAMES_MAX)
            return false;
    }
    if (name == 1 && word[0] == 'c')
        frames_of->native = (uint32_t)frames;
    else if (name == 6 && strncmp(word, "python", 6) == 0)
        frames_of->python = (uint32_t)frames;
    else if (length == 4 && strncmp(word, "free", 4) == 0)
        *has_free = true;
    else
        return false;
    return true;
}

bool values_read_stacks(const char *value, struct option_frames *frames, bool *has_free)
{
    bool is_none = strcmp(value, "none") == 0;

    *frames = (struct option_frames){0, 0};
    while (*value && !is_none) {
        size_t length = strcspn(value, ",");

        if (!set_stack_word(value, length, frames, has_free))
            return false;
        value += length;
        value += *value == ',';
    }
    return true;
}

bool values_read_frames(const char *value, struct option_frames *frames)
{
    bool has_free = false;

    return values_read_stacks(value, frames, &has_free) && !has_free;
}

bool values_events_are_right(const char *value)
{
    const char *list = value;

    while (*list) {
        const char *const *known = option_event_words;
        size_t length = strcspn(list, ",");

        while (*known && (strlen(*known) != length || strncmp(*known, list, length) != 0))
            known++;
        if (!*known)
            return false;
        list += length;
        list += *list == ',';
    }
    return true;
}

bool values_read_level(const char *value, bool *has_operators, bool *has_kernels)
{
    const char *rest = value;

    *has_operators = values_has(value, "op") || values_has(value, "0");
    *has_kernels = values_has(value, "kernel") || values_has(value, "1");
    for (; *rest; rest += rest[strcspn(rest, ",")] ? strcspn(rest, ",") + 1 : strlen(rest)) {
        size_t length = strcspn(rest, ",");

        if (!(length == 2 && strncmp(rest, "op", 2) == 0) &&
            !(length == 6 && strncmp(rest, "kernel", 6) == 0) &&
            !(length == 1 && (*rest == '0' || *rest == '1')))
            return false;
    }
    return *has_operators || *has_kernels;
}

bool values_watch_is_right(const char *value)
{
    size_t start = strcspn(value, ",");
    const char *end = value + start + 1;
    size_t end_length;

    if (!value[start] || start > OPTION_NAME_MOST)
        return false;
    end_length = strcspn(end, ",");
    return end_length && end_length <= OPTION_NAME_MOST &&
           (!end[end_length] || strcmp(end + end_length, ",full-content") == 0);
}
