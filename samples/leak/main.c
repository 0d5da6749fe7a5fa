/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that trains, as far as device memory goes, with a leak to find. README.md has the
 * story; --help the options.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"
#include "model.h"
#include "steps.h"
#include "stories.h"

/* Something that happens in steps, and when. */
static struct story {
    const char *option;
    const char *argument; /* NULL: takes none, and happens in each step */
    const char *help;
    void (*happen)(int step);
    int every; /* 0: never */
} stories[] = {
    {"leak", NULL, "a buffer is forgotten in each step (default)", remember_metrics, 0},
    {"slow-leak", "N", "a buffer is forgotten in each N-th step", log_histogram, 0},
    {"cache", NULL, "a cache grows, and stops when it is full", look_up_embedding, 0},
    {"sawtooth", NULL, "blocks pile up and are dropped every tenth step", keep_prediction, 0},
    {"fragment", NULL, "small blocks keep large segments of the pool", shuffle_shards, 0},
    {"oom", NULL, "the last step asks for more than there is", ask_for_too_much, 0},
};

enum { STORIES = sizeof(stories) / sizeof(stories[0]) };

static struct settings {
    int step_count;
    int step_ms;
    const char *device; /* NULL: what there is */
    bool is_fixed, is_unmarked;
} settings = {.step_count = 60, .step_ms = 5};

static int help_print(void)
{
    puts("usage: leak [options]\n"
         "  --steps N          train for N steps (60)\n"
         "  --step-ms N        a step takes N milliseconds (5)\n"
         "  --device NAME      ascend, opencl or pool (the first that works)\n"
         "  --fixed            no leak: the program as it should be\n"
         "  --unmarked         does not say where a step begins and ends");
    for (int i = 0; i < STORIES; i++)
        printf("  --%-9s %-6s %s\n", stories[i].option,
               stories[i].argument ? stories[i].argument : "", stories[i].help);
    return EXIT_SUCCESS;
}

/* A number from 0 up; -1 when it is none. */
static int number_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return end == text || *end || number < 0 || number > 100000000 ? -1 : (int)number;
}

enum {
    OPTION_STEPS = STORIES,
    OPTION_STEP_MS,
    OPTION_DEVICE,
    OPTION_FIXED,
    OPTION_UNMARKED,
    OPTION_HELP,
    OPTIONS
};

static bool option_take(int option)
{
    int number = optarg ? number_of(optarg) : 1;

    if (option < STORIES)
        stories[option].every = number;
    else if (option == OPTION_STEPS)
        settings.step_count = number;
    else if (option == OPTION_STEP_MS)
        settings.step_ms = number;
    else if (option == OPTION_FIXED)
        settings.is_fixed = true;
    else if (option == OPTION_UNMARKED)
        settings.is_unmarked = true;
    else if (option == OPTION_DEVICE)
        settings.device = optarg;
    else
        exit(option == OPTION_HELP ? help_print() : EXIT_FAILURE);
    if (option != OPTION_DEVICE && number < 0)
        fprintf(stderr, "leak: %s is not a number\n", optarg);
    return option == OPTION_DEVICE || number >= 0;
}

static bool options_read(int argc, char **argv)
{
    struct option table[OPTIONS + 1] = {
        [OPTION_STEPS] = {"steps", required_argument, NULL, OPTION_STEPS},
        [OPTION_STEP_MS] = {"step-ms", required_argument, NULL, OPTION_STEP_MS},
        [OPTION_DEVICE] = {"device", required_argument, NULL, OPTION_DEVICE},
        [OPTION_FIXED] = {"fixed", no_argument, NULL, OPTION_FIXED},
        [OPTION_UNMARKED] = {"unmarked", no_argument, NULL, OPTION_UNMARKED},
        [OPTION_HELP] = {"help", no_argument, NULL, OPTION_HELP},
    };
    bool has_story = false;
    int option;

    for (int i = 0; i < STORIES; i++)
        table[i] = (struct option){stories[i].option,
                                   stories[i].argument ? required_argument : no_argument, NULL, i};
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1)
        if (!option_take(option))
            return false;
    for (int i = 0; i < STORIES; i++)
        has_story |= stories[i].every > 0;
    if (!has_story && !settings.is_fixed)
        stories[0].every = 1;
    return true;
}

static void stories_happen(int step)
{
    bool is_last = step == settings.step_count - 1;

    for (int i = 0; i < STORIES; i++) {
        const struct story *story = &stories[i];
        bool is_time =
            story->happen == ask_for_too_much ? is_last : story->every && step % story->every == 0;

        if (story->every && is_time)
            story->happen(step);
    }
}

static void compute(void)
{
    struct timespec time = {.tv_sec = settings.step_ms / 1000,
                            .tv_nsec = settings.step_ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    struct model model;

    if (!options_read(argc, argv))
        return EXIT_FAILURE;
    if (!device_open(settings.device)) {
        fprintf(stderr, "leak: no device %s\n", settings.device);
        return EXIT_FAILURE;
    }
    steps_open(settings.is_unmarked);
    if (!build_model(&model)) {
        fputs("leak: the device has no room for the model\n", stderr);
        return EXIT_FAILURE;
    }
    printf("training %d steps on %s\n", settings.step_count, device.name);
    for (int step = 0; step < settings.step_count; step++) {
        step_begin();
        train_step(&model);
        stories_happen(step);
        compute();
        step_end();
    }
    stories_end();
    destroy_model(&model);
    device_close();
    puts("trained");
    return EXIT_SUCCESS;
}
