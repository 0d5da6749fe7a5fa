/* SPDX-License-Identifier: Apache-2.0 */
#include "run_rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(const struct run_rings *rings, void *out, size_t size_bytes,
                     uint64_t offset_bytes)
{
    return offset_bytes <= rings->file_bytes && size_bytes <= rings->file_bytes - offset_bytes &&
           pread(rings->descriptor, out, size_bytes, (off_t)offset_bytes) == (ssize_t)size_bytes;
}

static char *beside(const char *path, bool is_folder)
{
    const char *slash = strrchr(path, '/');
    size_t folder_bytes = is_folder ? strlen(path) : slash ? (size_t)(slash - path) : 0;
    size_t size_bytes = folder_bytes + 1 + sizeof(MT_RINGS_NAME);
    char *name = malloc(size_bytes);

    if (name)
        snprintf(name, size_bytes, "%.*s%s%s", (int)folder_bytes, path,
                 is_folder || slash ? "/" : "", MT_RINGS_NAME);
    return name;
}

bool run_rings_open(struct run_rings *rings, const char *path, bool is_folder)
{
    char *name = beside(path, is_folder);
    struct stat status;

    *rings = (struct run_rings){.descriptor = -1};
    if (!name)
        return false;
    rings->descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(name);
    if (rings->descriptor < 0)
        return false;
    if (fstat(rings->descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        rings->file_bytes = (uint64_t)status.st_size;
        if (read_all(rings, &rings->header, sizeof(rings->header), 0) &&
            mt_rings_header_is_right(&rings->header, rings->file_bytes)) {
            if (rings->header.processes_end > rings->header.process_max)
                rings->header.processes_end = rings->header.process_max;
            return true;
        }
    }
    run_rings_close(rings);
    return false;
}

void run_rings_close(struct run_rings *rings)
{
    if (rings->descriptor >= 0)
        close(rings->descriptor);
    rings->descriptor = -1;
}

bool run_rings_process(const struct run_rings *rings, uint32_t number,
                       struct mt_rings_process *process)
{
    return rings->descriptor >= 0 && number < rings->header.process_max &&
           read_all(rings, process, sizeof(*process),
                    rings->header.processes_offset_bytes +
                        number * (uint64_t)MT_RINGS_PROCESS_BYTES) &&
           process->state == MT_RINGS_LIVE;
}

int64_t run_rings_find(const struct run_rings *rings, const struct mt_file_header *header)
{
    struct mt_rings_process process;

    for (uint32_t i = 0; i < rings->header.processes_end; i++)
        if (run_rings_process(rings, i, &process) &&
            process.header.process_id == header->process_id &&
            process.header.start_ticks == header->start_ticks &&
            process.header.run_id == header->run_id)
            return i;
    return -1;
}

bool run_rings_slot(const struct run_rings *rings, uint32_t slot, uint32_t process,
                    uint64_t *offset_bytes)
{
    struct mt_rings_slot entry;

    if (slot >= rings->header.slot_max ||
        !read_all(rings, &entry, sizeof(entry),
                  rings->header.slots_offset_bytes + slot * sizeof(entry)) ||
        entry.state != MT_RINGS_TAKEN || entry.process != process + 1)
        return false;
    *offset_bytes = rings->header.rings_offset_bytes + slot * rings->header.slot_bytes;
    return true;
}
