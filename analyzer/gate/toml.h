/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of TOML 1.0 that a policy needs, with the line of every key, so that a complaint can
 * point at it.
 *
 * Read are: tables and arrays of tables with plain, quoted and dotted names; keys likewise; basic
 * and literal strings; whole decimal numbers with underscores; decimal fractions; true and false;
 * arrays; inline tables; comments. Refused, with a sentence: strings over several lines, dates,
 * exponents, other bases, inf and nan. What is read means what TOML says it means.
 *
 * No packaged C library reads TOML on the systems that leaktide is built on.
 * Source: toml.io/en/v1.0.0.
 */
#ifndef LEAKTIDE_GATE_TOML_H
#define LEAKTIDE_GATE_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"

enum toml_kind { TOML_TABLE, TOML_ARRAY, TOML_STRING, TOML_INTEGER, TOML_FRACTION, TOML_BOOLEAN };

struct toml_node {
    enum toml_kind kind;
    const char *key; /* in its table; NULL in an array */
    unsigned line;   /* from 1 */
    const char *text;
    int64_t integer;
    double fraction;
    bool boolean;
    /* Of a table or an array: what is in it, in the order of the file. */
    struct toml_node *first, *next;
    /* While reading. */
    struct toml_node *last;
    bool is_defined;  /* by a header of its own: a second one is an error */
    unsigned section; /* whose dotted keys made it: the only one that may add to it so */
    bool is_inline;   /* nothing can be added later */
};

/*
 * name   of the file, for complaints: "leaktide.toml:7: ..."
 * text   not kept; everything returned lives in the arena
 *
 * MT_USAGE with one sentence when the text is not such TOML; MT_NO_MEMORY.
 */
enum mt_result toml_read(const char *name, const char *text, size_t size_bytes, struct arena *arena,
                         struct toml_node **root, struct mt_error *error);

/* NULL when the table has no such key. */
const struct toml_node *toml_find(const struct toml_node *table, const char *key);
const char *toml_kind_name(enum toml_kind kind); /* "a string" */

#endif
