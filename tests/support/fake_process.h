/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders as the kernel shows processes in /proc, made of plain files: what stands in memory is a
 * sparse file. Trouble ends the test program.
 *
 *     struct fake_process fake;
 *
 *     fake_process_begin(&fake, "proc/4711", 4711, "server");
 *     fake_mapping(&fake, 0x10000000, 0x10010000, "rw-p", 0, "[heap]", 0x10000);
 *     fake_word(&fake, 0x10000008, 0x291);
 *     fake_process_end(&fake);
 *
 * Addresses are low, as they are places in files. Pages have 4 KiB: where this machine's are
 * larger, what looks at them sees something else, and tests leave it out (fake_pages_fit).
 */
#ifndef LEAKTIDE_TESTS_FAKE_PROCESS_H
#define LEAKTIDE_TESTS_FAKE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* For a group of tests: a folder of its own, and in it the one that a process may have. */
extern char fake_folder[128];
int fake_folder_make(void **state);
int fake_folder_remove(void **state);

bool fake_pages_fit(void);

struct fake_process {
    char folder[256];
    FILE *smaps, *maps;
    int memory, pagemap;
    uint64_t resident_bytes;
};

/* The folder above is made where it is not there, and gets self/mountinfo. */
void fake_process_begin(struct fake_process *fake, const char *folder, unsigned process,
                        const char *name);

/* resident_bytes: whole pages, the first ones of the mapping. shared_by: so many map it. */
void fake_mapping(struct fake_process *fake, uint64_t start, uint64_t end, const char *permissions,
                  uint64_t inode, const char *name, uint64_t resident_bytes, unsigned shared_by);
void fake_word(struct fake_process *fake, uint64_t address, uint64_t word);
void fake_page_absent(struct fake_process *fake, uint64_t address);

/* A file of the folder; name may have a folder that is there. */
void fake_file(const struct fake_process *fake, const char *name, const char *text);

/* unexplained_bytes: that the kernel counts beside the mappings; less than 0: that it does not
 * count yet. */
void fake_process_end(struct fake_process *fake, uint64_t unexplained_bytes);

/* A heap of glibc from start to end: blocks of so many bytes, each second one freed, but for the
 * last; then the top. Returns the address of the top. */
uint64_t fake_heap(struct fake_process *fake, uint64_t start, uint64_t end, uint64_t block_bytes,
                   unsigned block_count);

#endif
