/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Rust's functions as they were written.
 *
 * Both ways of mangling are read: "v0" (_R…), and the older one that looks like C++
 * (_ZN…17h0123456789abcdefE). Neither the numbers of crates nor the hash are part of the name: they
 * are others in each build. Time, depth and length are bounded whatever the name is.
 */
#ifndef LEAKTIDE_RUST_NAME_H
#define LEAKTIDE_RUST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "text_builder.h"

/* False, and nothing is added: it is no such name, or one that is too long to be shown. */
bool add_rust_name(struct text_builder *text, const char *name);

/* Length of a name that somebody else demangled, without a "::h0123456789abcdef" at its end. */
size_t length_without_rust_hash(const char *name, size_t length);

#endif
