/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_files.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

static int is_no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Calls for every name in the folder, in order, until one says no. */
static void each_name(const char *folder, bool (*take)(void *context, const char *name),
                      void *context)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_no_dot, alphasort);
    bool goes_on = true;

    for (int i = 0; i < count; i++) {
        goes_on = goes_on && take(context, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

struct visit {
    const struct watch_visitor *visitor;
    uint64_t process;
    const char *folder; /* of the run, then of the process, then of the device */
    int32_t device;
    size_t count;
};

static bool take_file(void *context, const char *name)
{
    struct visit *visit = context;
    size_t length = strlen(name);

    /* What was being written when the program ended. */
    if (length > 5 && strcmp(name + length - 5, ".part") == 0)
        return true;
    visit->count++;
    return !visit->visitor->file ||
           visit->visitor->file(visit->visitor->context, visit->device, visit->folder, name);
}

static void tell_troubles(const struct visit *visit)
{
    char path[PATH_MAX], line[LINE_BYTES];
    int length = snprintf(path, sizeof(path), "%s/trouble.txt", visit->folder);
    FILE *in = visit->visitor->trouble && length < (int)sizeof(path) ? fopen(path, "r") : NULL;

    while (in && fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = 0;
        visit->visitor->trouble(visit->visitor->context, line);
    }
    if (in)
        fclose(in);
}

static bool take_device(void *context, const char *name)
{
    const struct visit *process = context;
    struct visit visit = *process;
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s/%s", process->folder, name);

    if (strncmp(name, "device_", 7) != 0 || length >= (int)sizeof(folder))
        return true;
    visit.folder = folder;
    visit.device = (int32_t)strtol(name + 7, NULL, 10);
    each_name(folder, take_file, &visit);
    ((struct visit *)context)->count = visit.count;
    return true;
}

static bool take_process(void *context, const char *name)
{
    struct visit *run = context, visit = *run;
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s/%s", run->folder, name);

    if (length >= (int)sizeof(folder) || (run->process && strtoull(name, NULL, 10) != run->process))
        return true;
    visit.folder = folder;
    each_name(folder, take_device, &visit);
    tell_troubles(&visit);
    run->count = visit.count;
    return true;
}

size_t watch_files_visit(const char *run_folder, uint64_t process,
                         const struct watch_visitor *visitor)
{
    char folder[PATH_MAX];
    struct visit visit = {.visitor = visitor, .process = process, .folder = folder};

    if (snprintf(folder, sizeof(folder), "%s/watch", run_folder) < (int)sizeof(folder))
        each_name(folder, take_process, &visit);
    return visit.count;
}
