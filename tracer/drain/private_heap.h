/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer's only heap: a jemalloc whose names were changed when it was linked in, so that it
 * meets neither the program's malloc nor a jemalloc of the program's own.
 */
#ifndef LEAKTIDE_TRACER_PRIVATE_HEAP_H
#define LEAKTIDE_TRACER_PRIVATE_HEAP_H

#include <stddef.h>

void *mt_je_malloc(size_t size_bytes);
void *mt_je_calloc(size_t count, size_t size_bytes);
void *mt_je_realloc(void *block, size_t size_bytes);
void mt_je_free(void *block);

#endif
