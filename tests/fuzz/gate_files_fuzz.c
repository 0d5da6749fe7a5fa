/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a policy, a baseline or suppressions: read or refused with one sentence. */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baseline.h"
#include "policy.h"
#include "suppressions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum mt_result result, const struct mt_error *error)
{
    if (result != MT_OK && (!error->message[0] || strchr(error->message, '\n')))
        abort();
}

static void read_policy(const char *path)
{
    struct mt_error error = {.message = ""};
    struct policy *policy = NULL;

    check(policy_open(path, &policy, &error), &error);
    policy_close(policy);
}

static void read_baseline(const char *path)
{
    struct mt_error error = {.message = ""};
    struct baseline_file *baseline = NULL;

    check(baseline_open(path, &baseline, &error), &error);
    baseline_close(baseline);
}

static void read_suppressions(const char *path)
{
    struct mt_error error = {.message = ""};
    struct suppressions *suppressions = NULL;
    const struct symbol_frame frame = {.function = "train", .file = "train.c", .module = "train"};

    check(suppressions_open(path, &suppressions, &error), &error);
    for (size_t i = 0; suppressions && i < suppressions->rows.count; i++)
        suppression_matches(table_at(&suppressions->rows, i), "train (train.c:1)", &frame, 1);
    suppressions_close(suppressions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    read_policy(path);
    read_baseline(path);
    read_suppressions(path);
    close(descriptor);
    return 0;
}
