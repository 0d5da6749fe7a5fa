/* SPDX-License-Identifier: Apache-2.0 */
#include "object_image.h"

#include <elf.h>
#include <string.h>

uint64_t object_end(struct process_memory *memory, uint64_t start)
{
    Elf64_Ehdr head;
    const void *at = memory_at(memory, start, sizeof(head));
    uint64_t first = UINT64_MAX, last = 0;

    if (!at)
        return 0;
    memcpy(&head, at, sizeof(head));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(Elf64_Phdr))
        return 0;
    for (uint64_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;

        at = memory_at(memory, start + head.e_phoff + i * sizeof(part), sizeof(part));
        if (!at)
            return 0;
        memcpy(&part, at, sizeof(part));
        if (part.p_type != PT_LOAD)
            continue;
        if (part.p_vaddr < first)
            first = part.p_vaddr / memory->page_bytes * memory->page_bytes;
        if (part.p_vaddr + part.p_memsz > last)
            last = part.p_vaddr + part.p_memsz;
    }
    last = (last + memory->page_bytes - 1) / memory->page_bytes * memory->page_bytes;
    return last > first ? start + (last - first) : 0;
}
