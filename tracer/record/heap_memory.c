/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's heap and its variables are kept in the list of what is ours, too. The heap knows
 * nobody above it, so it calls these by name.
 */
#include "heap_memory.h"

#include <stdatomic.h>

#include "own_memory.h"

extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

void mt_je_has_mapped(const void *memory, size_t size_bytes);
void mt_je_will_unmap(const void *memory, size_t size_bytes);

void mt_je_has_mapped(const void *memory, size_t size_bytes)
{
    own_memory_note(memory, size_bytes);
}

void mt_je_will_unmap(const void *memory, size_t size_bytes)
{
    own_memory_forget(memory, size_bytes);
}

void heap_memory_note_variables(void)
{
    static atomic_flag is_noted = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&is_noted))
        own_memory_note(__bss_start, (size_t)(_end - __bss_start));
}
