/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the interpreter's objects, which sanitizers do not know. Offsets are in bytes. */
#ifndef LEAKTIDE_TRACER_PYTHON_OBJECTS_H
#define LEAKTIDE_TRACER_PYTHON_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define READS_OBJECTS __attribute__((no_sanitize("address", "thread", "undefined")))

static inline READS_OBJECTS const char *pointer_at(const char *object, size_t offset)
{
    return *(const char *const *)(const void *)(object + offset);
}

static inline READS_OBJECTS int32_t number_at(const char *object, size_t offset)
{
    return *(const int32_t *)(const void *)(object + offset);
}

static inline READS_OBJECTS uint8_t byte_at(const char *object, size_t offset)
{
    return *(const uint8_t *)(object + offset);
}

#endif
