/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as a file: group after group, column after column, page after page, then the footer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "list.h"
#include "parquet.h"
#include "parquet_format.h"
#include "parquet_runs.h"
#include "thrift.h"

enum { page_rows = 1 << 15, page_bytes = 1 << 22, compression_level = 3 };

struct chunk {
    uint64_t offset, whole_bytes, file_bytes; /* with the headers of its pages */
};

struct writer {
    const struct parquet_table *table;
    FILE *file;
    uint64_t offset;
    ZSTD_CCtx *zstd;
    struct text_builder page, packed, header;
    struct chunk *chunks; /* group after group */
    size_t chunk_count, chunk_capacity;
};

static void write_bytes(struct writer *writer, const struct text_builder *text)
{
    if (text->size_bytes)
        fwrite(text->bytes, 1, text->size_bytes, writer->file);
    writer->offset += text->size_bytes;
}

static size_t group_rows(const struct parquet_table *table, size_t group)
{
    size_t left = table->row_count - group * PARQUET_GROUP_ROWS;

    return left < PARQUET_GROUP_ROWS ? left : PARQUET_GROUP_ROWS;
}

static size_t group_count(const struct parquet_table *table)
{
    return (table->row_count + PARQUET_GROUP_ROWS - 1) / PARQUET_GROUP_ROWS;
}

/* --- pages ------------------------------------------------------------------------------------ */

static void put_value(struct writer *writer, const struct parquet_column *column, size_t row)
{
    unsigned char bytes[8];
    const char *text;

    if (column->kind == PARQUET_INTEGER) {
        parquet_put_i64(bytes, column->numbers[row]);
        text_add_bytes(&writer->page, (const char *)bytes, 8);
        return;
    }
    text = writer->table->text_at(writer->table->context, column->numbers[row]);
    parquet_put_u32(bytes, (uint32_t)strlen(text));
    text_add_bytes(&writer->page, (const char *)bytes, 4);
    text_add(&writer->page, text);
}

/* How many of the rows from `first` on are in one page. */
static size_t rows_of_page(const struct writer *writer, const struct parquet_column *column,
                           size_t first, size_t end)
{
    size_t most = end - first < page_rows ? end - first : page_rows, size_bytes = 0, count = 0;

    if (column->kind == PARQUET_INTEGER)
        return most;
    while (count < most && size_bytes < page_bytes)
        size_bytes += strlen(
            writer->table->text_at(writer->table->context, column->numbers[first + count++]));
    return count;
}

static void put_levels(struct writer *writer, const struct parquet_column *column, size_t first,
                       size_t count)
{
    size_t size_bytes;

    text_add_bytes(&writer->page, "\0\0\0\0", 4);
    parquet_runs_put_flags(&writer->page, column->known ? column->known + first : NULL, count);
    size_bytes = writer->page.size_bytes - 4;
    if (!writer->page.has_failed)
        parquet_put_u32((unsigned char *)writer->page.bytes, (uint32_t)size_bytes);
}

static void fill_page(struct writer *writer, const struct parquet_column *column, size_t first,
                      size_t count)
{
    text_clear(&writer->page);
    if (column->is_optional)
        put_levels(writer, column, first, count);
    for (size_t row = first; row < first + count; row++)
        if (!column->known || column->known[row])
            put_value(writer, column, row);
}

static void fill_header(struct writer *writer, size_t count)
{
    struct thrift_writer header;

    text_clear(&writer->header);
    thrift_writer_init(&header, &writer->header);
    thrift_put_integer(&header, 1, THRIFT_I32, PARQUET_DATA_PAGE);
    thrift_put_integer(&header, 2, THRIFT_I32, (int64_t)writer->page.size_bytes);
    thrift_put_integer(&header, 3, THRIFT_I32, (int64_t)writer->packed.size_bytes);
    thrift_begin_struct(&header, 5);
    thrift_put_integer(&header, 1, THRIFT_I32, (int64_t)count);
    thrift_put_integer(&header, 2, THRIFT_I32, PARQUET_PLAIN);
    thrift_put_integer(&header, 3, THRIFT_I32, PARQUET_RLE);
    thrift_put_integer(&header, 4, THRIFT_I32, PARQUET_RLE);
    thrift_end_struct(&header);
    thrift_put_stop(&header);
}

static bool pack_page(struct writer *writer)
{
    size_t most = ZSTD_compressBound(writer->page.size_bytes), packed;
    char *room;

    text_clear(&writer->packed);
    room = text_make_room(&writer->packed, most);
    if (!room)
        return false;
    packed = ZSTD_compressCCtx(writer->zstd, room, most, text_get(&writer->page),
                               writer->page.size_bytes, compression_level);
    if (ZSTD_isError(packed))
        return false;
    writer->packed.size_bytes = packed;
    writer->packed.bytes[packed] = 0;
    return true;
}

static bool write_chunk(struct writer *writer, const struct parquet_column *column, size_t first,
                        size_t count)
{
    struct chunk *chunk;

    if (!list_has_room(&writer->chunks, &writer->chunk_capacity, writer->chunk_count,
                       sizeof(*writer->chunks)))
        return false;
    chunk = &writer->chunks[writer->chunk_count++];
    *chunk = (struct chunk){.offset = writer->offset};
    for (size_t row = first; row < first + count;) {
        size_t rows = rows_of_page(writer, column, row, first + count);

        fill_page(writer, column, row, rows);
        if (!pack_page(writer))
            return false;
        fill_header(writer, rows);
        if (writer->page.has_failed || writer->header.has_failed)
            return false;
        write_bytes(writer, &writer->header);
        write_bytes(writer, &writer->packed);
        chunk->whole_bytes += writer->header.size_bytes + writer->page.size_bytes;
        row += rows;
    }
    chunk->file_bytes = writer->offset - chunk->offset;
    return true;
}

/* --- footer ----------------------------------------------------------------------------------- */

static int type_of(const struct parquet_column *column)
{
    return column->kind == PARQUET_INTEGER ? PARQUET_TYPE_INT64 : PARQUET_TYPE_BYTE_ARRAY;
}

static void put_schema(struct thrift_writer *footer, const struct parquet_table *table)
{
    thrift_put_list(footer, 2, THRIFT_STRUCT, table->column_count + 1);
    thrift_begin_struct(footer, 0);
    thrift_put_text(footer, 4, "schema");
    thrift_put_integer(footer, 5, THRIFT_I32, (int64_t)table->column_count);
    thrift_end_struct(footer);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct parquet_column *column = &table->columns[i];

        thrift_begin_struct(footer, 0);
        thrift_put_integer(footer, 1, THRIFT_I32, type_of(column));
        thrift_put_integer(footer, 3, THRIFT_I32,
                           column->is_optional ? PARQUET_OPTIONAL : PARQUET_REQUIRED);
        thrift_put_text(footer, 4, column->name);
        if (column->kind == PARQUET_TEXT) {
            thrift_put_integer(footer, 6, THRIFT_I32, PARQUET_UTF8);
            thrift_begin_struct(footer, 10); /* the logical type: a union, whose first is a text */
            thrift_begin_struct(footer, 1);
            thrift_end_struct(footer);
            thrift_end_struct(footer);
        }
        thrift_end_struct(footer);
    }
}

static void put_chunk(struct thrift_writer *footer, const struct parquet_column *column,
                      const struct chunk *chunk, size_t rows)
{
    thrift_begin_struct(footer, 0);
    thrift_put_integer(footer, 2, THRIFT_I64, (int64_t)chunk->offset);
    thrift_begin_struct(footer, 3);
    thrift_put_integer(footer, 1, THRIFT_I32, type_of(column));
    thrift_put_list(footer, 2, THRIFT_I32, 2);
    thrift_put_element_integer(footer, PARQUET_PLAIN);
    thrift_put_element_integer(footer, PARQUET_RLE);
    thrift_put_list(footer, 3, THRIFT_BINARY, 1);
    thrift_put_element_text(footer, column->name);
    thrift_put_integer(footer, 4, THRIFT_I32, PARQUET_ZSTD);
    thrift_put_integer(footer, 5, THRIFT_I64, (int64_t)rows);
    thrift_put_integer(footer, 6, THRIFT_I64, (int64_t)chunk->whole_bytes);
    thrift_put_integer(footer, 7, THRIFT_I64, (int64_t)chunk->file_bytes);
    thrift_put_integer(footer, 9, THRIFT_I64, (int64_t)chunk->offset);
    thrift_end_struct(footer);
    thrift_end_struct(footer);
}

static void put_groups(struct thrift_writer *footer, const struct writer *writer)
{
    const struct parquet_table *table = writer->table;
    const struct chunk *chunk = writer->chunks;

    thrift_put_list(footer, 4, THRIFT_STRUCT, group_count(table));
    for (size_t group = 0; group < group_count(table); group++) {
        uint64_t whole_bytes = 0;

        thrift_begin_struct(footer, 0);
        thrift_put_list(footer, 1, THRIFT_STRUCT, table->column_count);
        for (size_t i = 0; i < table->column_count; i++, chunk++) {
            put_chunk(footer, &table->columns[i], chunk, group_rows(table, group));
            whole_bytes += chunk->whole_bytes;
        }
        thrift_put_integer(footer, 2, THRIFT_I64, (int64_t)whole_bytes);
        thrift_put_integer(footer, 3, THRIFT_I64, (int64_t)group_rows(table, group));
        thrift_end_struct(footer);
    }
}

static void put_properties(struct thrift_writer *footer, const struct parquet_table *table)
{
    thrift_put_list(footer, 5, THRIFT_STRUCT, table->property_count);
    for (size_t i = 0; i < table->property_count; i++) {
        thrift_begin_struct(footer, 0);
        thrift_put_text(footer, 1, table->properties[i].key);
        thrift_put_text(footer, 2, table->properties[i].value);
        thrift_end_struct(footer);
    }
}

static bool write_footer(struct writer *writer)
{
    struct thrift_writer footer;
    unsigned char size[4];

    text_clear(&writer->header);
    thrift_writer_init(&footer, &writer->header);
    thrift_put_integer(&footer, 1, THRIFT_I32, 1);
    put_schema(&footer, writer->table);
    thrift_put_integer(&footer, 3, THRIFT_I64, (int64_t)writer->table->row_count);
    put_groups(&footer, writer);
    put_properties(&footer, writer->table);
    thrift_put_text(&footer, 6, "leaktide");
    thrift_put_stop(&footer);
    parquet_put_u32(size, (uint32_t)writer->header.size_bytes);
    text_add_bytes(&writer->header, (const char *)size, sizeof(size));
    text_add_bytes(&writer->header, PARQUET_MAGIC, PARQUET_MAGIC_BYTES);
    write_bytes(writer, &writer->header);
    return !writer->header.has_failed;
}

/* --- the file --------------------------------------------------------------------------------- */

static bool write_all(struct writer *writer)
{
    const struct parquet_table *table = writer->table;

    text_add_bytes(&writer->header, PARQUET_MAGIC, PARQUET_MAGIC_BYTES);
    write_bytes(writer, &writer->header);
    for (size_t group = 0; group < group_count(table); group++)
        for (size_t i = 0; i < table->column_count; i++)
            if (!write_chunk(writer, &table->columns[i], group * PARQUET_GROUP_ROWS,
                             group_rows(table, group)))
                return false;
    return write_footer(writer);
}

static void writer_release(struct writer *writer)
{
    ZSTD_freeCCtx(writer->zstd);
    text_release(&writer->page);
    text_release(&writer->packed);
    text_release(&writer->header);
    free(writer->chunks);
}

enum mt_result parquet_write(const char *path, const struct parquet_table *table,
                             struct mt_error *error)
{
    struct writer writer = {.table = table, .zstd = ZSTD_createCCtx()};
    enum mt_result result = MT_OK;

    text_init(&writer.page);
    text_init(&writer.packed);
    text_init(&writer.header);
    errno = 0;
    writer.file = fopen(path, "wbx");
    if (!writer.file)
        result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    else if (!writer.zstd || !write_all(&writer))
        result = mt_error_set(error, MT_NO_MEMORY, "%s: no memory to write it", path);
    if (writer.file) {
        bool is_written = !ferror(writer.file);

        if ((fclose(writer.file) != 0 || !is_written) && result == MT_OK)
            result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno ? errno : EIO));
    }
    writer_release(&writer);
    return result;
}
