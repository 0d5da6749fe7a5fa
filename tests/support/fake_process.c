/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, KIB = 1024 };

static const uint64_t present = UINT64_C(1) << 63;

char fake_folder[128];

bool fake_pages_fit(void)
{
    return sysconf(_SC_PAGESIZE) == PAGE;
}

static void need(int is_fine)
{
    if (is_fine)
        return;
    perror("fake_process");
    exit(1);
}

void fake_file(const struct fake_process *fake, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", fake->folder, name);
    file = fopen(path, "w");
    need(file && fputs(text, file) >= 0);
    need(fclose(file) == 0);
}

static void folder_make(const struct fake_process *fake, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s%s%s", fake->folder, *name ? "/" : "", name);
    mkdir(path, 0700);
}

static int sparse_open(const struct fake_process *fake, const char *name)
{
    char path[512];
    int file;

    snprintf(path, sizeof(path), "%s/%s", fake->folder, name);
    file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    need(file >= 0);
    return file;
}

void fake_process_begin(struct fake_process *fake, const char *folder, unsigned process,
                        const char *name)
{
    char text[256], *slash;

    memset(fake, 0, sizeof(*fake));
    snprintf(fake->folder, sizeof(fake->folder), "%s", folder);
    slash = strrchr(fake->folder, '/');
    *slash = 0;
    folder_make(fake, "");
    folder_make(fake, "self");
    *slash = '/';
    folder_make(fake, "");
    folder_make(fake, "task");
    snprintf(text, sizeof(text), "task/%u", process);
    folder_make(fake, text);
    snprintf(text, sizeof(text), "Name:\t%s\nUmask:\t0022\nPid:\t%u\nPPid:\t1\n", name, process);
    fake_file(fake, "status", text);
    snprintf(text, sizeof(text), "%s\n", name);
    fake_file(fake, "comm", text);
    fake_file(fake, "cmdline", name);
    fake_file(fake, "../self/mountinfo", "");
    snprintf(text, sizeof(text), "%s/smaps", folder);
    fake->smaps = fopen(text, "w");
    snprintf(text, sizeof(text), "%s/maps", folder);
    fake->maps = fopen(text, "w");
    need(fake->smaps && fake->maps);
    fake->memory = sparse_open(fake, "mem");
    fake->pagemap = sparse_open(fake, "pagemap");
}

static void page_set(struct fake_process *fake, uint64_t address, uint64_t entry)
{
    need(pwrite(fake->pagemap, &entry, sizeof(entry), (off_t)(address / PAGE * sizeof(entry))) ==
         sizeof(entry));
}

void fake_mapping(struct fake_process *fake, uint64_t start, uint64_t end, const char *permissions,
                  uint64_t inode, const char *name, uint64_t resident_bytes, unsigned shared_by)
{
    for (uint64_t page = start; page < start + resident_bytes; page += PAGE)
        page_set(fake, page, present);
    fprintf(fake->maps, "%08" PRIx64 "-%08" PRIx64 " %s 00000000 %s %" PRIu64 " %s\n", start, end,
            permissions, inode ? "00:19" : "00:00", inode, name);
    fprintf(fake->smaps, "%08" PRIx64 "-%08" PRIx64 " %s 00000000 %s %" PRIu64 " %s\n", start, end,
            permissions, inode ? "00:19" : "00:00", inode, name);
    fprintf(fake->smaps,
            "Size: %8" PRIu64 " kB\nKernelPageSize:        4 kB\nRss: %8" PRIu64 " kB\n",
            (end - start) / KIB, resident_bytes / KIB);
    fprintf(fake->smaps, "Pss: %8" PRIu64 " kB\nAnonHugePages: 0 kB\nSwap: 0 kB\nVmFlags: rd mr\n",
            resident_bytes / KIB / shared_by);
    fake->resident_bytes += resident_bytes;
}

void fake_word(struct fake_process *fake, uint64_t address, uint64_t word)
{
    need(pwrite(fake->memory, &word, sizeof(word), (off_t)address) == sizeof(word));
}

void fake_page_absent(struct fake_process *fake, uint64_t address)
{
    page_set(fake, address, 0);
}

void fake_process_end(struct fake_process *fake, uint64_t unexplained_bytes)
{
    char text[128];

    snprintf(text, sizeof(text), "100000 %" PRIu64 " 0 0 0 0 0\n",
             (fake->resident_bytes + unexplained_bytes) / PAGE);
    fake_file(fake, "statm", text);
    need(fclose(fake->smaps) == 0 && fclose(fake->maps) == 0);
    need(ftruncate(fake->memory, (off_t)1 << 34) == 0);
    close(fake->memory);
    close(fake->pagemap);
}

uint64_t fake_heap(struct fake_process *fake, uint64_t start, uint64_t end, uint64_t block_bytes,
                   unsigned block_count)
{
    uint64_t chunk = start;

    for (unsigned i = 0; i < block_count; i++) {
        int is_freed = i % 2 && i + 1 < block_count, is_after_freed = i && i % 2 == 0;

        fake_word(fake, chunk + 8, block_bytes | !is_after_freed);
        if (is_freed)
            fake_word(fake, chunk + block_bytes, block_bytes);
        chunk += block_bytes;
    }
    fake_word(fake, chunk + 8, (end - chunk) | 1);
    return chunk;
}

int fake_folder_make(void **state)
{
    const char *made;

    (void)state;
    snprintf(fake_folder, sizeof(fake_folder), "/tmp/fake_process.XXXXXX");
    made = mkdtemp(fake_folder);
    strcat(fake_folder, "/4711");
    return made ? 0 : -1;
}

int fake_folder_remove(void **state)
{
    char command[256];

    (void)state;
    *strrchr(fake_folder, '/') = 0;
    snprintf(command, sizeof(command), "rm -rf '%s'", fake_folder);
    return system(command);
}
