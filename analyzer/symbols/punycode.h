/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifiers beyond ASCII, as mangled names of Rust have them.
 */
#ifndef LEAKTIDE_PUNYCODE_H
#define LEAKTIDE_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUNYCODE_MOST = 256 }; /* characters; reading takes their square */

struct punycode_text {
    uint32_t points[PUNYCODE_MOST]; /* of Unicode; no surrogates */
    size_t count;
};

/*
 * "gdel_5qa" is "gödel": RFC 3492 with _ in place of the last -. False: it is no such text, or a
 * longer one.
 */
bool punycode_read(const char *bytes, size_t size_bytes, struct punycode_text *out);

#endif
