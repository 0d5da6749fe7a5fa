/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "python_switch.h"

#include <link.h>
#include <string.h>

#include "python_interpreter.h"

struct python_switch python_switch;

/* Its file since greenlet 1.0; CPython 3.11 needs 2.0. */
#define SWITCHING_FILE "_greenlet."

static bool switches(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    return strncmp(name, SWITCHING_FILE, sizeof(SWITCHING_FILE) - 1) == 0;
}

static int object_note(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint64_t start = UINT64_MAX, end = 0;

    (void)size, (void)unused;
    if (!switches(info->dlpi_name))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        if (part->p_vaddr < start)
            start = part->p_vaddr;
        if (part->p_vaddr + part->p_memsz > end)
            end = part->p_vaddr + part->p_memsz;
    }
    if (!end)
        return 0;
    python_switch.start = info->dlpi_addr + start;
    atomic_store_explicit(&python_switch.end, info->dlpi_addr + end, memory_order_release);
    return 1;
}

void python_switch_look(void)
{
    if (python_is_here() && python_interpreter.layout.frame_of_cframe >= 0 &&
        !python_switch_is_here())
        dl_iterate_phdr(object_note, NULL);
}

bool python_switch_is_under_way(const struct unwind_stack *native)
{
    uint64_t end = atomic_load_explicit(&python_switch.end, memory_order_acquire);

    for (uint32_t i = native->count; i-- > 0 && !python_runs_at(native->pcs[i]);)
        if (native->pcs[i] >= python_switch.start && native->pcs[i] < end)
            return true;
    return false;
}
