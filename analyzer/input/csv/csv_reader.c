/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a row while it looks for its end; a row that is not whole in the buffer, or out of which
 * quotes have to be taken, goes the careful way: its end first, then its fields.
 *
 * Only in a row that is whole are quotes taken out, in place. Commas and line ends are looked for
 * in 8 or 16 bytes at once; the buffer has SLACK_BYTES more than it holds, so that this may look
 * too far.
 */
#include "csv_reader.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { least_buffer_bytes = 4096, SLACK_BYTES = 16 };

enum mt_result csv_reader_init(struct csv_reader *reader, int descriptor, size_t buffer_bytes,
                               struct mt_error *error)
{
    if (buffer_bytes < least_buffer_bytes)
        buffer_bytes = least_buffer_bytes;
    *reader = (struct csv_reader){.descriptor = descriptor,
                                  .buffer = malloc(buffer_bytes + SLACK_BYTES),
                                  .capacity_bytes = buffer_bytes,
                                  .limit_bytes = UINT64_MAX,
                                  .line = 1};
    if (!reader->buffer)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read a csv file");
    return MT_OK;
}

void csv_reader_release(struct csv_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

void csv_reader_seek(struct csv_reader *reader, uint64_t offset_bytes, uint64_t limit_bytes,
                     uint64_t line)
{
    reader->begin = reader->end = 0;
    reader->offset_bytes = offset_bytes;
    reader->limit_bytes = limit_bytes;
    reader->line = line;
    reader->is_file_over = false;
}

/* More bytes after those there are. At the end of the file there are none. */
static enum mt_result fill(struct csv_reader *reader, struct mt_error *error)
{
    ssize_t got;

    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->end == reader->capacity_bytes) {
        char *larger = NULL;

        if (reader->capacity_bytes >= CSV_ROW_MAX_BYTES)
            return mt_error_set(error, MT_CORRUPT, "line %" PRIu64 ": a row of more than %d bytes",
                                reader->line, CSV_ROW_MAX_BYTES);
        larger = realloc(reader->buffer, reader->capacity_bytes * 2 + SLACK_BYTES);
        if (!larger)
            return mt_error_set(error, MT_NO_MEMORY, "no memory for a row of a csv file");
        reader->buffer = larger;
        reader->capacity_bytes *= 2;
    }
    do {
        got = pread(reader->descriptor, reader->buffer + reader->end,
                    reader->capacity_bytes - reader->end,
                    (off_t)(reader->offset_bytes + reader->end));
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return mt_error_set(error, MT_IO, "line %" PRIu64 ": %s", reader->line, strerror(errno));
    reader->end += (size_t)got;
    memset(reader->buffer + reader->end, 0, SLACK_BYTES); /* a comma is looked for in words */
    reader->is_file_over = got == 0;
    return MT_OK;
}

/* After the quote that closes the field which opened before bytes; NULL when there is none. */
static const char *behind_quoted(const char *bytes, const char *end)
{
    const char *quote;

    while ((quote = memchr(bytes, '"', (size_t)(end - bytes)))) {
        if (quote + 1 == end || quote[1] != '"')
            return quote + 1;
        bytes = quote + 2;
    }
    return NULL;
}

/*
 * The line end of a row with quotes: the first that is outside of them; NULL when there is none. A
 * quote opens a field only where the field begins. No byte is looked at for a line end twice,
 * however many quotes come before it.
 */
static const char *quoted_row_end(const char *bytes, const char *end, const char *line_end)
{
    const char *start = bytes;

    while (bytes) {
        const char *quote;

        if (line_end && line_end < bytes)
            line_end = memchr(bytes, '\n', (size_t)(end - bytes));
        quote = memchr(bytes, '"', (size_t)((line_end ? line_end : end) - bytes));
        if (!quote)
            return line_end;
        if (quote == start || quote[-1] == ',')
            bytes = behind_quoted(quote + 1, end);
        else
            bytes = quote + 1;
    }
    return NULL;
}

/* The line end of the row at bytes; NULL when it is not here yet. */
static const char *row_end(const char *bytes, const char *end, bool *has_quote)
{
    const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));

    *has_quote = memchr(bytes, '"', (size_t)((line_end ? line_end : end) - bytes)) != NULL;
    return *has_quote ? quoted_row_end(bytes, end, line_end) : line_end;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define LOW_BITS  (EACH_BYTE * 0x7f)

/* Eight bytes, the first lowest. */
static inline uint64_t word_at(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

/* The top bit of each byte of a word that is not zero. */
static inline uint64_t used_bytes(uint64_t word)
{
    return (((word & LOW_BITS) + LOW_BITS) | word) & ~LOW_BITS;
}

/* The top bit of each of eight bytes that is a comma. */
static inline uint64_t commas_at(const char *bytes)
{
    return used_bytes(word_at(bytes) ^ EACH_BYTE * ',') ^ ~LOW_BITS;
}

static inline char *find_comma(char *bytes, const char *end)
{
    for (; bytes < end; bytes += 8) {
        uint64_t commas = commas_at(bytes);

        if (commas) {
            bytes += __builtin_ctzll(commas) / 8;
            break;
        }
    }
    return bytes < end ? bytes : (char *)end;
}

static size_t commas_in(const char *bytes, const char *end)
{
    size_t count = 0;

    for (; end - bytes >= 8; bytes += 8)
        count += (commas_at(bytes) >> 7) * EACH_BYTE >> 56;
    for (; bytes < end; bytes++)
        count += *bytes == ',';
    return count;
}

static uint64_t lines_in(const char *bytes, const char *end)
{
    uint64_t count = 0;

    while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        count++;
        bytes++;
    }
    return count;
}

static void split_plain(char *bytes, const char *end, size_t wanted, struct csv_row *row)
{
    size_t count = 0;

    while (count < wanted) {
        char *start = bytes;

        bytes = find_comma(bytes, end);
        row->fields[count++] = (struct csv_field){start, (size_t)(bytes - start)};
        if (bytes == end) {
            row->column_count = count;
            return;
        }
        bytes++;
    }
    row->column_count = count + 1 + commas_in(bytes, end);
}

/* --- a row that is simple ------------------------------------------------------------------ */

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

/* How many of the 16 bytes are before a comma or line end; 16: all of them. */
static inline size_t plain_bytes(const char *bytes)
{
    bytes16 sixteen;
    words2 found;
    uint64_t low, high;

    memcpy(&sixteen, bytes, sizeof(sixteen));
    found = (words2)((sixteen == ',') | (sixteen == '\n'));
    low = le64toh(found[0]);
    high = le64toh(found[1]);
    if (low)
        return (size_t)__builtin_ctzll(low) / 8;
    return high ? 8 + (size_t)__builtin_ctzll(high) / 8 : 16;
}

/* The comma or line end at or after bytes; it may lie after the end of what is read. */
static inline char *field_end(char *bytes, const char *end)
{
    size_t plain = 16;

    for (; bytes < end && plain == 16; bytes += plain)
        plain = plain_bytes(bytes);
    return bytes;
}

/* The comma or line end after the quoted field at bytes; NULL where there is more to it. */
static inline char *quoted_end(char *bytes, const char *end, struct csv_field *field)
{
    char *quote = memchr(bytes + 1, '"', (size_t)(end - bytes - 1)), *after;

    if (!quote || end - quote < 3)
        return NULL;
    after = quote + 1;
    *field = (struct csv_field){bytes + 1, (size_t)(quote - bytes - 1)};
    if (after[0] == '\r' && after[1] == '\n')
        after++;
    return *after == ',' || *after == '\n' ? after : NULL;
}

/* Counts the columns that nobody wants; the line end, or NULL where a quote may hide it. */
static char *pass_columns(char *bytes, const char *end, struct csv_row *row)
{
    char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));

    if (!line_end || memchr(bytes, '"', (size_t)(line_end - bytes)))
        return NULL;
    row->column_count += 1 + commas_in(bytes, line_end);
    return line_end;
}

/* Nothing but blanks and commas up to the line end, or to the end. */
static inline bool is_nothing(const char *bytes, const char *end)
{
    while (bytes < end && (*bytes == ',' || *bytes == ' ' || *bytes == '\t' || *bytes == '\r'))
        bytes++;
    return bytes == end || *bytes == '\n';
}

/*
 * Splits the row at bytes in one go: its line end. NULL, and then nothing is to be used: the row is
 * empty or not whole, or quotes have to be taken out of a field. Only a quoted field has line ends.
 */
static char *split_simple(char *bytes, const char *end, size_t wanted, struct csv_row *row,
                          uint64_t *lines)
{
    row->column_count = 0;
    *lines = 1;
    if (bytes >= end || is_nothing(bytes, end))
        return NULL;
    while (row->column_count < wanted) {
        struct csv_field *field = &row->fields[row->column_count++];
        char *start = bytes;

        if (bytes < end && *bytes == '"') {
            bytes = quoted_end(start, end, field);
            if (!bytes)
                return NULL;
            *lines += lines_in(field->bytes, field->bytes + field->size_bytes);
        } else {
            bytes = field_end(start, end);
            if (bytes >= end)
                return NULL;
            *field = (struct csv_field){start, (size_t)(bytes - start)};
            while (*bytes == '\n' && field->size_bytes && start[field->size_bytes - 1] == '\r')
                field->size_bytes--;
        }
        if (*bytes++ == '\n')
            return bytes - 1;
    }
    return pass_columns(bytes, end, row);
}

/* --- any row ------------------------------------------------------------------------------- */

/* Takes the quotes out of the field at *bytes and moves past it. What follows a closing quote
 * and is no comma belongs to the field. */
static struct csv_field quoted_field(char **bytes, const char *end)
{
    char *from = *bytes + 1, *to = *bytes, *quote = memchr(from, '"', (size_t)(end - from));
    struct csv_field field = {to, 0};
    bool is_quoted = true;

    if (quote && (quote + 1 == end || quote[1] == ',')) { /* nothing to take out */
        *bytes = quote + 1;
        return (struct csv_field){from, (size_t)(quote - from)};
    }
    for (; from < end && (is_quoted || *from != ','); from++) {
        if (*from == '"' && is_quoted && from + 1 < end && from[1] == '"')
            *to++ = *from++;
        else if (*from == '"' && is_quoted)
            is_quoted = false;
        else
            *to++ = *from;
    }
    field.size_bytes = (size_t)(to - field.bytes);
    *bytes = from;
    return field;
}

static void split_quoted(char *bytes, const char *end, size_t wanted, struct csv_row *row)
{
    row->column_count = 0;
    for (;;) {
        struct csv_field field = {bytes, 0};

        if (bytes < end && *bytes == '"') {
            field = quoted_field(&bytes, end);
        } else {
            bytes = find_comma(bytes, end);
            field.size_bytes = (size_t)(bytes - field.bytes);
        }
        if (row->column_count < wanted)
            row->fields[row->column_count] = field;
        row->column_count++;
        if (bytes == end)
            return;
        bytes++;
    }
}

static void skip_byte_order_mark(struct csv_reader *reader)
{
    if (reader->offset_bytes == 0 && reader->end - reader->begin >= 3 &&
        memcmp(reader->buffer + reader->begin, "\xef\xbb\xbf", 3) == 0) {
        reader->begin += 3;
        reader->offset_bytes += 3;
    }
}

/* Makes the next line whole in the buffer: its end, or NULL when the file ends before. */
static enum mt_result complete_row(struct csv_reader *reader, const char **line_end,
                                   bool *has_quote, struct mt_error *error)
{
    for (;;) {
        skip_byte_order_mark(reader);
        *line_end =
            row_end(reader->buffer + reader->begin, reader->buffer + reader->end, has_quote);
        if (*line_end || reader->is_file_over)
            return MT_OK;
        enum mt_result result = fill(reader, error);

        if (result != MT_OK)
            return result;
    }
}

/* The row between these two, without its line end, was read; the next begins at after. */
static void use_row(struct csv_reader *reader, struct csv_row *row, const char *after,
                    uint64_t lines)
{
    size_t size_bytes = (size_t)(after - (reader->buffer + reader->begin));

    row->offset_bytes = reader->offset_bytes;
    row->line = reader->line;
    reader->line += lines;
    reader->begin += size_bytes;
    reader->offset_bytes += size_bytes;
}

/* The next row or empty line, the careful way; *is_over: there is none. */
static enum mt_result next_any(struct csv_reader *reader, size_t wanted, struct csv_row *row,
                               bool *has_row, bool *is_over, struct mt_error *error)
{
    const char *line_end, *after, *end;
    bool has_quote;
    enum mt_result result = complete_row(reader, &line_end, &has_quote, error);
    char *start = reader->buffer + reader->begin;

    if (result != MT_OK)
        return result;
    end = line_end ? line_end : reader->buffer + reader->end;
    after = line_end ? line_end + 1 : end;
    *is_over = after == start;
    row->is_cut = !line_end;
    use_row(reader, row, after, has_quote ? lines_in(start, after) : 1);
    while (end > start && end[-1] == '\r')
        end--;
    *has_row = !is_nothing(start, end);
    if (*has_row && has_quote)
        split_quoted(start, end, wanted, row);
    else if (*has_row)
        split_plain(start, end, wanted, row);
    return MT_OK;
}

enum mt_result csv_reader_next(struct csv_reader *reader, size_t wanted, struct csv_row *row,
                               bool *has_row, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    bool is_over = false;

    if (wanted > CSV_COLUMNS_MAX)
        wanted = CSV_COLUMNS_MAX;
    *has_row = false;
    while (result == MT_OK && !*has_row && !is_over && reader->offset_bytes < reader->limit_bytes) {
        const char *line_end;
        uint64_t lines;

        skip_byte_order_mark(reader);
        line_end = split_simple(reader->buffer + reader->begin, reader->buffer + reader->end,
                                wanted, row, &lines);
        if (!line_end) {
            result = next_any(reader, wanted, row, has_row, &is_over, error);
            continue;
        }
        row->is_cut = false;
        use_row(reader, row, line_end + 1, lines);
        *has_row = true;
    }
    return result;
}
