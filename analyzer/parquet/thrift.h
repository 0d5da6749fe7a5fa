/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs in the compact protocol of Apache Thrift, as the headers of Parquet are written.
 *
 * Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
#ifndef LEAKTIDE_PARQUET_THRIFT_H
#define LEAKTIDE_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_builder.h"

enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_BYTE,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT
};

enum { THRIFT_DEPTH_MOST = 8 };

/* Fields of a struct are written with rising ids, at most 15 apart. The text is the caller's. */
struct thrift_writer {
    struct text_builder *text;
    int last_ids[THRIFT_DEPTH_MOST];
    int depth;
};

void thrift_writer_init(struct thrift_writer *writer, struct text_builder *text);
void thrift_put_integer(struct thrift_writer *writer, int id, enum thrift_type type, int64_t value);
void thrift_put_text(struct thrift_writer *writer, int id, const char *terminated);
void thrift_put_list(struct thrift_writer *writer, int id, enum thrift_type type, size_t count);
/* An element of a list, which has no id. */
void thrift_put_element_integer(struct thrift_writer *writer, int64_t value);
void thrift_put_element_text(struct thrift_writer *writer, const char *terminated);
/* id 0: an element of a list. */
void thrift_begin_struct(struct thrift_writer *writer, int id);
void thrift_end_struct(struct thrift_writer *writer);
/* The end of the outermost struct. */
void thrift_put_stop(struct thrift_writer *writer);

/* Bytes of a stranger: what does not fit sets is_broken, and from then on everything is 0. */
struct thrift_reader {
    const unsigned char *at, *end;
    bool is_broken;
};

/* Zeroed before the first field of a struct. */
struct thrift_field {
    int id;
    enum thrift_type type;
};

struct thrift_bytes {
    const char *bytes; /* borrowed */
    size_t size_bytes;
};

struct thrift_list {
    enum thrift_type type;
    size_t count; /* at most as many as bytes are left */
};

/* False at the end of the struct, or when it is broken. */
bool thrift_next_field(struct thrift_reader *reader, struct thrift_field *field);
int64_t thrift_get_integer(struct thrift_reader *reader); /* I16, I32, I64 */
struct thrift_bytes thrift_get_bytes(struct thrift_reader *reader);
struct thrift_list thrift_get_list(struct thrift_reader *reader);
/* A value of this type, whatever is in it. */
void thrift_skip(struct thrift_reader *reader, enum thrift_type type);

#endif
