/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ and Rust functions as texts: they fill pages.
 */
#ifndef LEAKTIDE_BASE_CXX_NAME_H
#define LEAKTIDE_BASE_CXX_NAME_H

#include "text_builder.h"

/*
 * At most about `most_bytes` of a name: template arguments go first ("invoke_parallel<...>"), then
 * what is at the end. Characters of UTF-8 stay whole.
 */
void add_short_name(struct text_builder *text, const char *name, size_t most_bytes);

/*
 * Where the name of an operator ends that begins at `start` ("operator<"): its characters mean
 * something else elsewhere. After the blank of "operator bool", and of "operator<< <int>".
 */
size_t cxx_operator_end(const char *name, size_t start);

#endif
