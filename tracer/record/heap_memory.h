/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's heap and variables, in the list of what is its own (own_memory.h).
 */
#ifndef LEAKTIDE_TRACER_HEAP_MEMORY_H
#define LEAKTIDE_TRACER_HEAP_MEMORY_H

/* Once, before the list is shown. */
void heap_memory_note_variables(void);

#endif
