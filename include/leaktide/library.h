/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all headers of libleaktide share: what it exports, and which version it is.
 *
 * docs/library.md has the library on one page: an example, threads, ownership, errors, and what
 * stays the same between versions.
 */
#ifndef LEAKTIDE_LIBRARY_H
#define LEAKTIDE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is compiled with everything else hidden. */
#if defined(__GNUC__)
#define MT_API __attribute__((visibility("default")))
#else
#define MT_API
#endif

/* Of the library that is loaded, as "0.1.0". Static. */
MT_API const char *mt_version(void);

/* Libraries that are in it, one after the other, with their versions; NULL after the last. Static;
 * version may be NULL. */
MT_API const char *mt_part_at(size_t index, const char **version);

/* Whether people read it: a name that mt_format_at() or mt_gate_format_at() gives. */
MT_API bool mt_format_is_for_people(const char *format);

#ifdef __cplusplus
}
#endif

#endif
