/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a csv file (RFC 4180), read in pieces: a stretch of the file, from any row on.
 *
 * Lines end in LF or CRLF; a field that begins with a quote may hold commas, line ends and doubled
 * quotes. Lines of nothing but blanks and commas are passed over. Bytes are kept as they are,
 * whatever their encoding. Memory is one buffer, which grows to the longest row, up to
 * CSV_ROW_MAX_BYTES.
 */
#ifndef LEAKTIDE_CSV_READER_H
#define LEAKTIDE_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

enum { CSV_COLUMNS_MAX = 256, CSV_ROW_MAX_BYTES = 16 << 20 };

struct csv_field {
    const char *bytes; /* not terminated */
    size_t size_bytes;
};

struct csv_reader {
    int descriptor; /* borrowed */
    char *buffer;
    size_t capacity_bytes, begin, end; /* buffer[begin..end) is read and not yet used */
    uint64_t offset_bytes;             /* in the file, of buffer[begin] */
    uint64_t limit_bytes;              /* rows that begin here or later are not read */
    uint64_t line;                     /* of the next row, from 1 */
    bool is_file_over;
};

struct csv_row {
    struct csv_field fields[CSV_COLUMNS_MAX];
    size_t column_count; /* all of them, whether split or not */
    uint64_t offset_bytes, line;
    bool is_cut; /* the file ends in it, without a line end */
};

/* Reads from offset_bytes on. MT_NO_MEMORY. */
enum mt_result csv_reader_init(struct csv_reader *reader, int descriptor, size_t buffer_bytes,
                               struct mt_error *error);
void csv_reader_release(struct csv_reader *reader);
void csv_reader_seek(struct csv_reader *reader, uint64_t offset_bytes, uint64_t limit_bytes,
                     uint64_t line);

/*
 * The next row; *has_row false is the end. Only the first `wanted` columns are split into fields,
 * the others are counted; more than CSV_COLUMNS_MAX are never split. Fields live until the next
 * call. MT_IO, MT_NO_MEMORY; MT_CORRUPT for a row that is too long.
 */
enum mt_result csv_reader_next(struct csv_reader *reader, size_t wanted, struct csv_row *row,
                               bool *has_row, struct mt_error *error);

#endif
