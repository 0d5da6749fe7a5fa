/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_dump RUN: the events of a run as JSON, one object a line, for tests written in Python.
 *
 * The same fields as recorder_double_dump.c writes. A site is given as the module's path and the
 * address there, which a test looks up with nm. The last line tells what is missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "input.h"
#include "model.h"

static const char *const kinds[EVENT_KIND_COUNT] = {
    [EVENT_ALLOC] = "alloc",
    [EVENT_FREE] = "free",
    [EVENT_ALLOC_FAILED] = "alloc_failed",
    [EVENT_RESERVED] = "pool_reserved",
    [EVENT_OPERATOR_BEGIN] = "operator_begin",
    [EVENT_OPERATOR_END] = "operator_end",
    [EVENT_RANGE_BEGIN] = "range_begin",
    [EVENT_RANGE_END] = "range_end",
    [EVENT_MARK] = "mark",
    [EVENT_STEP_BEGIN] = "step_begin",
    [EVENT_STEP_END] = "step_end",
    [EVENT_TAG_BEGIN] = "tag_begin",
    [EVENT_TAG_END] = "tag_end",
    [EVENT_LAUNCH] = "launch",
    [EVENT_ACCESS] = "access",
    [EVENT_SAMPLE] = "sample",
    [EVENT_DEVICE] = "device_event",
    [EVENT_SEGMENT] = "segment",
    [EVENT_SEGMENT_GONE] = "segment_gone",
    [EVENT_FREE_WAITS] = "free_waits",
    [EVENT_BLOCK_OWNER] = "block_owner",
    [EVENT_NOTE] = "note",
    [EVENT_PAUSE] = "pause",
    [EVENT_NN_MODULE_BEGIN] = "nn_module_begin",
    [EVENT_NN_MODULE_END] = "nn_module_end",
    [EVENT_BLOCK_NN_MODULE] = "block_nn_module",
};

static bool has_pool(const struct event *event)
{
    return event->kind <= EVENT_RESERVED;
}

static bool has_place(const struct event *event)
{
    return event->kind == EVENT_ALLOC || event->kind == EVENT_ALLOC_FAILED ||
           event->kind == EVENT_RESERVED || event->kind == EVENT_LAUNCH ||
           event->kind == EVENT_SAMPLE || event->kind == EVENT_DEVICE;
}

static void string_print(const char *key, const char *text)
{
    printf(", \"%s\": \"", key);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    putchar('"');
}

static void site_print(const struct model *model, const struct event *event)
{
    const struct model_site *site = model_site_at(model, event->site);

    for (size_t i = 0; event->site && i < model_module_count(model); i++) {
        const struct model_module *module = model_module_at(model, i);

        if (module->process != event->process || site->address - module->base >= module->size_bytes)
            continue;
        string_print("module", model_text_at(model, module->path));
        printf(", \"module_address\": %" PRIu64, site->address - module->bias);
        return;
    }
}

/* Innermost first. */
static void stack_print(const struct model *model, const struct event *event)
{
    uint32_t stack = model_site_at(model, event->site)->stack;
    const char *separator = "";

    if (!stack)
        return;
    fputs(", \"stack\": [", stdout);
    for (; stack; stack = model_stack_at(model, stack)->outer) {
        const struct model_frame *frame =
            model_frame_at(model, model_stack_at(model, stack)->frame);

        printf("%s{\"line\": %" PRIu32 ", \"address\": %" PRIu64, separator, frame->line,
               frame->address);
        string_print("function", model_text_at(model, frame->function));
        string_print("file", model_text_at(model, frame->file));
        putchar('}');
        separator = ", ";
    }
    putchar(']');
}

static void event_print(const struct model *model, const struct event *event)
{
    struct mt_place place = {.device = -1, .module = -1};
    uint32_t text = has_pool(event) ? model_pool_name_at(model, event->pool) : event->text;
    bool is_step = event->kind == EVENT_STEP_BEGIN || event->kind == EVENT_STEP_END;
    bool is_failure = event->kind == EVENT_ALLOC_FAILED;

    if (has_place(event))
        place = model_place_at(model, event->place);
    printf("{\"event\": \"%s\", \"process\": %u, \"thread\": %" PRIu32 ", \"time_ns\": %" PRIu64,
           kinds[event->kind], event->process, event->thread, event->time_ns);
    string_print("text", model_text_at(model, text));
    printf(", \"device\": %d, \"kind\": %d, \"flags\": %d", place.device, place.kind, place.flags);
    printf(", \"address\": %" PRIu64 ", \"size_bytes\": %" PRIu64 ", \"status\": %" PRId64,
           is_step      ? event->value
           : is_failure ? 0
                        : event->address,
           is_step ? 0 : event->value,
           is_failure                    ? (int64_t)event->address
           : event->kind == EVENT_DEVICE ? (int64_t)event->value
                                         : 0);
    site_print(model, event);
    stack_print(model, event);
    puts("}");
}

static void summary_print(struct model *model)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < model_process_count(model); i++)
        for (int reason = 0; reason < MT_LOST_KINDS; reason++)
            lost += model_process_at(model, (uint16_t)i)->lost_counts[reason];
    printf("{\"event\": \"summary\", \"processes\": %zu, \"lost\": %" PRIu64 "}\n",
           model_process_count(model), lost);
}

/* Printed at the end: modules are told of by another thread, so they may come after their sites. */
static enum mt_result run_print(const char *path, struct model *model, struct mt_error *error)
{
    struct event *all = NULL;
    struct input *input = NULL;
    size_t total = 0, room = 0, count = 0;
    enum mt_result result = input_open(path, model, &input, error);

    if (result != MT_OK)
        return result;
    do {
        total += count;
        if (total == room) {
            room = room ? 2 * room : 4096;
            all = realloc(all, room * sizeof(*all));
            if (!all)
                abort();
        }
        result = input_next(input, &all[total], room - total, &count, error);
    } while (result == MT_OK && count > 0);
    for (size_t i = 0; result == MT_OK && i < total; i++)
        event_print(model, &all[i]);
    input_close(input);
    free(all);
    return result;
}

int main(int argc, char **argv)
{
    struct model *model = NULL;
    struct mt_error error = {.message = ""};
    enum mt_result result;

    if (argc != 2) {
        fputs("usage: event_dump RUN\n", stderr);
        return EXIT_FAILURE;
    }
    result = model_create(&model, &error);
    if (result == MT_OK)
        result = run_print(argv[1], model, &error);
    if (result == MT_OK)
        summary_print(model);
    else
        fprintf(stderr, "event_dump: %s\n", error.message);
    model_destroy(model);
    return result == MT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
