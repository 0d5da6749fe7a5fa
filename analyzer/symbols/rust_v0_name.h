/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Rust's functions that are mangled in its own way, _R….
 *
 * Source: "v0 Symbol Format" of the rustc book, after RFC 2603. Constants that are texts,
 * references or structures, which the book does not have, as rustc's comments describe them.
 */
#ifndef LEAKTIDE_RUST_V0_NAME_H
#define LEAKTIDE_RUST_V0_NAME_H

#include <stdbool.h>

#include "text_builder.h"

/* False, and nothing is added: it is no such name, or has more than anybody would read. */
bool add_rust_v0_name(struct text_builder *text, const char *name);

#endif
