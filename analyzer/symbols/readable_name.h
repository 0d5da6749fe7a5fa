/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions as people write them.
 */
#ifndef LEAKTIDE_READABLE_NAME_H
#define LEAKTIDE_READABLE_NAME_H

#include <stdbool.h>

#include "text_builder.h"

/*
 * A native name: demangled, without parameters, and without what a compiler adds to the names
 * of its copies (".isra.0") and to all names of Rust (a hash). Two builds of one function give one
 * name.
 */
void add_readable_name(struct text_builder *text, const char *name);

/* It would stay as it is: most of C. */
bool is_readable(const char *name);

/* The file and the folder it is in: many files of Python have the same name. */
const char *short_path(const char *path);

/* What is after the last / or \. */
const char *base_of_path(const char *path);

#endif
