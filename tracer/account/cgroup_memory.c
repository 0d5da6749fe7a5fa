/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cgroup_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_files.h"

enum { TEXT_BYTES = 1 << 16, PATH_BYTES = 512 };

/* A limit of version 1 that is none: as many pages as fit. */
#define LIMIT_IS_NONE (UINT64_C(1) << 62)

/* In memory.stat of version 2, of version 1; NULL: not there. */
static const struct {
    enum account_cgroup_figure figure;
    const char *key, *key_1;
} lines[] = {
    {ACCOUNT_CGROUP_ANONYMOUS, "anon", "total_rss"},
    {ACCOUNT_CGROUP_FILE, "file", "total_cache"},
    {ACCOUNT_CGROUP_SHARED, "shmem", "total_shmem"},
    {ACCOUNT_CGROUP_ACTIVE_FILE, "active_file", "total_active_file"},
    {ACCOUNT_CGROUP_INACTIVE_FILE, "inactive_file", "total_inactive_file"},
    {ACCOUNT_CGROUP_DIRTY, "file_dirty", "total_dirty"},
    {ACCOUNT_CGROUP_SLAB, "slab", NULL},
    {ACCOUNT_CGROUP_SLAB_RECLAIMABLE, "slab_reclaimable", NULL},
    {ACCOUNT_CGROUP_SOCKETS, "sock", NULL},
};

/* The key stands at the start of a line, and a blank after it. */
static uint64_t stat_number(const char *text, const char *key)
{
    char begin[64];

    snprintf(begin, sizeof(begin), "%s ", key);
    return line_number_of(text, begin);
}

static void stat_take(struct account_cgroup *cgroup, const char *text)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *key = cgroup->version == 2 ? lines[i].key : lines[i].key_1;

        cgroup->figures[lines[i].figure] = key ? stat_number(text, key) : UINT64_MAX;
    }
}

static uint64_t number_in(int folder, const char *name)
{
    char text[64];

    if (!file_read(folder, name, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static uint64_t kills_in(int folder, int version)
{
    char text[1024];

    if (!file_read(folder, version == 2 ? "memory.events" : "memory.oom_control", text,
                   sizeof(text)))
        return UINT64_MAX;
    return stat_number(text, "oom_kill");
}

static uint64_t limit_in(int folder, int version)
{
    uint64_t limit = number_in(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes");

    return limit >= LIMIT_IS_NONE ? UINT64_MAX : limit;
}

static uint64_t process_count(int folder, char *text)
{
    uint64_t count = 0;

    if (!file_read(folder, "cgroup.procs", text, TEXT_BYTES))
        return UINT64_MAX;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* text: room for a file. */
static void folder_take(struct account_cgroup *cgroup, int folder, char *text)
{
    bool is_new = cgroup->version == 2;
    uint64_t *figures = cgroup->figures;

    if (file_read(folder, "memory.stat", text, TEXT_BYTES))
        stat_take(cgroup, text);
    figures[ACCOUNT_CGROUP_OOM_KILLS] = kills_in(folder, cgroup->version);
    figures[ACCOUNT_CGROUP_CURRENT] =
        number_in(folder, is_new ? "memory.current" : "memory.usage_in_bytes");
    figures[ACCOUNT_CGROUP_LIMIT] = limit_in(folder, cgroup->version);
    figures[ACCOUNT_CGROUP_PROCESSES] = process_count(folder, text);
    if (!is_new)
        figures[ACCOUNT_CGROUP_SLAB] = number_in(folder, "memory.kmem.usage_in_bytes");
}

/* The path of "7:memory:/a" or "0::/a", in place; NULL: there is no such line. */
static char *path_of(char *text, bool is_new)
{
    for (char *line = text, *next; line; line = next) {
        char *controllers = strchr(line, ':'), *path;

        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        if (is_new ? !controllers[1] : strcmp(controllers + 1, "memory") == 0)
            return path;
    }
    return NULL;
}

/*
 * Where cgroups of that kind are mounted, in our own view, and which of them is its root there:
 * "36 25 0:30 /root /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory". False: nowhere.
 */
static bool find_mount(const char *mounts, bool is_new, char *root, char *point)
{
    for (const char *line = mounts; line && *line;) {
        size_t length = strcspn(line, "\n");
        const char *kind = strstr(line, " - ");

        if (kind && kind < line + length &&
            sscanf(line, "%*s %*s %*s %511s %511s", root, point) == 2) {
            const char *options = memmem(kind, (size_t)(line + length - kind), "memory", 6);

            if (is_new ? strncmp(kind + 3, "cgroup2 ", 8) == 0
                       : strncmp(kind + 3, "cgroup ", 7) == 0 && options)
                return true;
        }
        line += length;
        line += *line == '\n';
    }
    return false;
}

/* In a container the path may be one that only the host knows: then its root is ours. */
static int open_at(const char *point, const char *root, const char *path)
{
    char full[2 * PATH_BYTES + 2];
    int folder;

    if (strcmp(root, "/") != 0 && strncmp(path, root, strlen(root)) == 0)
        path += strlen(root);
    snprintf(full, sizeof(full), "%s%s%.511s", point, path[0] == '/' ? "" : "/", path);
    folder = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 ? folder : open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* mounts: of TEXT_BYTES. The folder of the process's cgroup, and in path what it is called; -1:
 * there is none of that version. */
static int folder_open(int process, const char *mounts, int version, char path[PATH_BYTES])
{
    char text[4096], root[PATH_BYTES], point[PATH_BYTES], *found;

    if (!file_read(process, "cgroup", text, sizeof(text)))
        return -1;
    found = path_of(text, version == 2);
    if (!found || !find_mount(mounts, version == 2, root, point))
        return -1;
    snprintf(path, PATH_BYTES, "%s", found);
    return open_at(point, root, path);
}

/* mounts: of TEXT_BYTES, followed by room for another file. */
static bool read_version(struct account_cgroup *cgroup, int process, char *mounts, int version)
{
    char path[PATH_BYTES];
    int folder = folder_open(process, mounts, version, path);

    if (folder < 0)
        return false;
    memset(cgroup, 0xff, sizeof(*cgroup)); /* nothing is known */
    cgroup->version = version;
    snprintf(cgroup->path, sizeof(cgroup->path), "%.255s", path);
    folder_take(cgroup, folder, mounts + TEXT_BYTES);
    close(folder);
    if (cgroup->figures[ACCOUNT_CGROUP_CURRENT] == UINT64_MAX)
        cgroup->version = 0;
    return cgroup->version != 0;
}

/* --- one that is watched ------------------------------------------------------------------- */

/* The root of version 2 has no such file, nor has one whose controllers are of version 1. */
static bool watch_version(struct cgroup_watch *watch, int process, const char *mounts, int version)
{
    char path[PATH_BYTES];

    watch->version = version;
    watch->folder = folder_open(process, mounts, version, path);
    snprintf(watch->path, sizeof(watch->path), "%.255s", path);
    if (watch->folder >= 0 && cgroup_watch_kills(watch) == UINT64_MAX)
        cgroup_watch_close(watch);
    return watch->folder >= 0;
}

void cgroup_watch_open(struct cgroup_watch *watch, const char *process)
{
    int folder = open(process, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *mounts = malloc(TEXT_BYTES);

    watch->folder = -1;
    if (folder >= 0 && mounts && file_read(folder, "../self/mountinfo", mounts, TEXT_BYTES) &&
        !watch_version(watch, folder, mounts, 1))
        watch_version(watch, folder, mounts, 2);
    free(mounts);
    if (folder >= 0)
        close(folder);
}

void cgroup_watch_close(struct cgroup_watch *watch)
{
    if (watch->folder >= 0)
        close(watch->folder);
    watch->folder = -1;
}

uint64_t cgroup_watch_kills(const struct cgroup_watch *watch)
{
    return kills_in(watch->folder, watch->version);
}

uint64_t cgroup_watch_limit(const struct cgroup_watch *watch)
{
    return limit_in(watch->folder, watch->version);
}

/* --- one that is read once ----------------------------------------------------------------- */

bool cgroup_memory_read(struct account_cgroup *cgroup, int process)
{
    char *mounts = malloc(2 * TEXT_BYTES);

    cgroup->version = 0;
    if (!mounts)
        return false;
    if (file_read(process, "../self/mountinfo", mounts, TEXT_BYTES) &&
        !read_version(cgroup, process, mounts, 1))
        read_version(cgroup, process, mounts, 2);
    free(mounts);
    return true;
}
