/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "other_mappers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTED_MOST = 4, NAME_BYTES = 32 };

static void name_read(int folder, char *name)
{
    int file = openat(folder, "comm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, name, NAME_BYTES - 1) : 0;

    name[size > 0 ? size : 0] = 0;
    name[strcspn(name, "\n")] = 0;
    if (file >= 0)
        close(file);
}

static void piece_mapped(struct shared_piece *piece, int folder, uint64_t process)
{
    char name[NAME_BYTES];

    if (piece->last_process == process)
        return;
    piece->last_process = process;
    if (piece->mapper_count++ >= LISTED_MOST)
        return;
    name_read(folder, name);
    text_add_format(&piece->mappers, "%s%s %" PRIu64, piece->listed_count++ ? ", " : "", name,
                    process);
}

/* "7f00-7f10 rw-s 00000000 00:19 1234 /dev/shm/a" */
static void look_at_line(const char *line, int folder, uint64_t process,
                         struct shared_piece *pieces, size_t count)
{
    unsigned major, minor;
    uint64_t inode;

    if (sscanf(line, "%*x-%*x %*s %*x %x:%x %" SCNu64, &major, &minor, &inode) != 3 || !inode)
        return;
    for (size_t i = 0; i < count; i++)
        if (pieces[i].inode == inode && pieces[i].device == ((uint64_t)major << 32 | minor))
            piece_mapped(&pieces[i], folder, process);
}

/* False: there was no memory to look; a process that ended meanwhile has nothing to say. */
static bool look_at_process(int processes, const char *process, struct shared_piece *pieces,
                            size_t count)
{
    int folder = openat(processes, process, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int descriptor = folder >= 0 ? openat(folder, "maps", O_RDONLY | O_CLOEXEC) : -1;
    FILE *maps = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    bool has_memory = maps || descriptor < 0;
    char *line = NULL;
    size_t line_bytes = 0;

    errno = 0;
    while (maps && getline(&line, &line_bytes, maps) > 0)
        look_at_line(line, folder, strtoull(process, NULL, 10), pieces, count);
    has_memory &= errno != ENOMEM;
    free(line);
    if (maps)
        fclose(maps);
    else if (descriptor >= 0)
        close(descriptor);
    if (folder >= 0)
        close(folder);
    return has_memory;
}

bool other_mappers_find(const char *folder, struct shared_piece *pieces, size_t count)
{
    int own = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int all = own >= 0 ? openat(own, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *processes = all >= 0 ? fdopendir(all) : NULL;
    const struct dirent *entry;
    struct stat self, other;
    bool has_memory = processes || all < 0;

    while (count && processes && (entry = readdir(processes))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        if (fstat(own, &self) == 0 && fstatat(all, entry->d_name, &other, 0) == 0 &&
            self.st_ino == other.st_ino && self.st_dev == other.st_dev)
            continue;
        has_memory &= look_at_process(all, entry->d_name, pieces, count);
    }
    for (size_t i = 0; i < count; i++)
        if (pieces[i].mapper_count > pieces[i].listed_count)
            text_add_format(&pieces[i].mappers, ", %zu more",
                            pieces[i].mapper_count - pieces[i].listed_count);
    if (processes)
        closedir(processes);
    else if (all >= 0)
        close(all);
    if (own >= 0)
        close(own);
    return has_memory;
}
