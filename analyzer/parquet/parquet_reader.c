/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file as a table. Its bytes are a stranger's: each size is compared with what is left, and no
 * page, chunk or group is larger than parquet_format.h says.
 *
 * The whole file is in memory; what a chunk decodes to goes into buffers that are used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "arena.h"
#include "leaktide/invariant.h"
#include "list.h"
#include "parquet.h"
#include "parquet_format.h"
#include "parquet_runs.h"
#include "thrift.h"

struct column {
    const char *name;
    int type;
    bool is_optional;
};

struct chunk {
    int type, codec;
    uint64_t offset, size_bytes, value_count;
};

struct group {
    size_t first_chunk;
    size_t row_count;
};

struct parquet_reader {
    struct text_builder file, path;
    ZSTD_DCtx *zstd;
    struct arena names; /* of the open file */
    struct column *columns;
    size_t column_count, column_capacity;
    struct chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    uint64_t row_count; /* of all groups */
    struct parquet_property *properties;
    size_t property_count, property_capacity;
    bool has_failed;           /* no memory */
    bool is_unsupported;       /* a column of a type that is not read */
    struct text_builder pages; /* uncompressed, of one chunk */
    int64_t *numbers;
    struct parquet_text *texts, *dictionary_texts;
    int64_t *dictionary_numbers;
    uint8_t *known;
    uint32_t *small; /* levels, or indices */
    size_t number_capacity, text_capacity, dictionary_text_capacity, dictionary_number_capacity,
        known_capacity, small_capacity;
    size_t dictionary_count;
};

static enum mt_result corrupt(const struct parquet_reader *reader, struct mt_error *error)
{
    return mt_error_set(error, MT_CORRUPT, "%s: damaged, or not a file of Parquet",
                        text_get(&reader->path));
}

static enum mt_result no_memory(const struct parquet_reader *reader, struct mt_error *error)
{
    return mt_error_set(error, MT_NO_MEMORY, "%s: no memory to read it", text_get(&reader->path));
}

enum mt_result parquet_reader_create(struct parquet_reader **out, struct mt_error *error)
{
    struct parquet_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read Parquet");
    text_init(&reader->file);
    text_init(&reader->path);
    text_init(&reader->pages);
    arena_init(&reader->names);
    reader->zstd = ZSTD_createDCtx();
    if (!reader->zstd) {
        parquet_reader_destroy(reader);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read Parquet");
    }
    *out = reader;
    return MT_OK;
}

void parquet_reader_destroy(struct parquet_reader *reader)
{
    if (!reader)
        return;
    text_release(&reader->file);
    text_release(&reader->path);
    text_release(&reader->pages);
    arena_release(&reader->names);
    ZSTD_freeDCtx(reader->zstd);
    free(reader->columns);
    free(reader->chunks);
    free(reader->groups);
    free(reader->properties);
    free(reader->numbers);
    free(reader->texts);
    free(reader->dictionary_texts);
    free(reader->dictionary_numbers);
    free(reader->known);
    free(reader->small);
    free(reader);
}

/* --- the footer ------------------------------------------------------------------------------- */

static const char *keep(struct parquet_reader *reader, struct thrift_bytes bytes)
{
    const char *name = arena_text(&reader->names, bytes.bytes, bytes.size_bytes);

    reader->has_failed = reader->has_failed || !name;
    return name ? name : "";
}

static void add_column(struct parquet_reader *reader, struct column column)
{
    if (!list_has_room(&reader->columns, &reader->column_capacity, reader->column_count,
                       sizeof(*reader->columns)))
        reader->has_failed = true;
    else
        reader->columns[reader->column_count++] = column;
}

/* Only a flat schema has columns alone below its root. */
static void read_schema_element(struct parquet_reader *reader, struct thrift_reader *in,
                                bool is_root)
{
    struct thrift_field field = {0};
    struct column column = {.name = "", .type = -1};
    int64_t repetition = PARQUET_REQUIRED, children = 0;

    while (thrift_next_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32)
            column.type = (int)thrift_get_integer(in);
        else if (field.id == 3 && field.type == THRIFT_I32)
            repetition = thrift_get_integer(in);
        else if (field.id == 4 && field.type == THRIFT_BINARY)
            column.name = keep(reader, thrift_get_bytes(in));
        else if (field.id == 5 && field.type == THRIFT_I32)
            children = thrift_get_integer(in);
        else
            thrift_skip(in, field.type);
    }
    if (is_root)
        return;
    if (children || repetition > PARQUET_OPTIONAL || repetition < 0)
        reader->is_unsupported = true;
    column.is_optional = repetition == PARQUET_OPTIONAL;
    add_column(reader, column);
}

static void read_schema(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_list list = thrift_get_list(in);

    in->is_broken = in->is_broken || (list.count && list.type != THRIFT_STRUCT);
    for (size_t i = 0; i < list.count && !in->is_broken; i++)
        read_schema_element(reader, in, i == 0);
}

static void read_chunk_data(struct thrift_reader *in, struct chunk *chunk)
{
    struct thrift_field field = {0};
    int64_t page = 0, dictionary = 0;

    while (thrift_next_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32)
            chunk->type = (int)thrift_get_integer(in);
        else if (field.id == 4 && field.type == THRIFT_I32)
            chunk->codec = (int)thrift_get_integer(in);
        else if (field.id == 5 && field.type == THRIFT_I64)
            chunk->value_count = (uint64_t)thrift_get_integer(in);
        else if (field.id == 7 && field.type == THRIFT_I64)
            chunk->size_bytes = (uint64_t)thrift_get_integer(in);
        else if (field.id == 9 && field.type == THRIFT_I64)
            page = thrift_get_integer(in);
        else if (field.id == 11 && field.type == THRIFT_I64)
            dictionary = thrift_get_integer(in);
        else
            thrift_skip(in, field.type);
    }
    chunk->offset = (uint64_t)(dictionary > 0 && dictionary < page ? dictionary : page);
}

static void read_chunk(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_field field = {0};
    struct chunk chunk = {.type = -1};

    while (thrift_next_field(in, &field)) {
        if (field.id == 3 && field.type == THRIFT_STRUCT)
            read_chunk_data(in, &chunk);
        else
            thrift_skip(in, field.type);
    }
    if (!list_has_room(&reader->chunks, &reader->chunk_capacity, reader->chunk_count,
                       sizeof(*reader->chunks)))
        reader->has_failed = true;
    else
        reader->chunks[reader->chunk_count++] = chunk;
}

static void read_chunks(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_list list = thrift_get_list(in);

    in->is_broken = in->is_broken || (list.count && list.type != THRIFT_STRUCT);
    for (size_t i = 0; i < list.count && !in->is_broken; i++)
        read_chunk(reader, in);
}

static void read_group(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_field field = {0};
    struct group group = {.first_chunk = reader->chunk_count};
    int64_t rows = 0;

    while (thrift_next_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_LIST)
            read_chunks(reader, in);
        else if (field.id == 3 && field.type == THRIFT_I64)
            rows = thrift_get_integer(in);
        else
            thrift_skip(in, field.type);
    }
    if (rows < 0 || rows > PARQUET_GROUP_ROWS_MOST ||
        reader->chunk_count - group.first_chunk != reader->column_count)
        in->is_broken = true;
    group.row_count = (size_t)rows;
    reader->row_count += (size_t)rows;
    if (!list_has_room(&reader->groups, &reader->group_capacity, reader->group_count,
                       sizeof(*reader->groups)))
        reader->has_failed = true;
    else
        reader->groups[reader->group_count++] = group;
}

static void read_groups(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_list list = thrift_get_list(in);

    in->is_broken = in->is_broken || (list.count && list.type != THRIFT_STRUCT);
    for (size_t i = 0; i < list.count && !in->is_broken; i++)
        read_group(reader, in);
}

static void read_properties(struct parquet_reader *reader, struct thrift_reader *in)
{
    struct thrift_list list = thrift_get_list(in);

    in->is_broken = in->is_broken || (list.count && list.type != THRIFT_STRUCT);
    for (size_t i = 0; i < list.count && !in->is_broken; i++) {
        struct parquet_property property = {"", ""};
        struct thrift_field field = {0};

        while (thrift_next_field(in, &field)) {
            if (field.id == 1 && field.type == THRIFT_BINARY)
                property.key = keep(reader, thrift_get_bytes(in));
            else if (field.id == 2 && field.type == THRIFT_BINARY)
                property.value = keep(reader, thrift_get_bytes(in));
            else
                thrift_skip(in, field.type);
        }
        if (!list_has_room(&reader->properties, &reader->property_capacity, reader->property_count,
                           sizeof(*reader->properties)))
            reader->has_failed = true;
        else
            reader->properties[reader->property_count++] = property;
    }
}

static enum mt_result read_footer(struct parquet_reader *reader, struct mt_error *error)
{
    const unsigned char *bytes = (const unsigned char *)reader->file.bytes;
    size_t size_bytes = reader->file.size_bytes, footer_bytes;
    struct thrift_reader in = {NULL, NULL, false};
    struct thrift_field field = {0};

    if (size_bytes < PARQUET_MAGIC_BYTES + PARQUET_END_BYTES ||
        memcmp(bytes, PARQUET_MAGIC, PARQUET_MAGIC_BYTES) != 0 ||
        memcmp(bytes + size_bytes - PARQUET_MAGIC_BYTES, PARQUET_MAGIC, PARQUET_MAGIC_BYTES) != 0)
        return corrupt(reader, error);
    footer_bytes = parquet_get_u32(bytes + size_bytes - PARQUET_END_BYTES);
    if (footer_bytes > size_bytes - PARQUET_MAGIC_BYTES - PARQUET_END_BYTES)
        return corrupt(reader, error);
    in.end = bytes + size_bytes - PARQUET_END_BYTES;
    in.at = in.end - footer_bytes;
    while (thrift_next_field(&in, &field)) {
        if (field.id == 2 && field.type == THRIFT_LIST && !reader->column_count)
            read_schema(reader, &in);
        else if (field.id == 4 && field.type == THRIFT_LIST && !reader->group_count)
            read_groups(reader, &in);
        else if (field.id == 5 && field.type == THRIFT_LIST && !reader->property_count)
            read_properties(reader, &in);
        else
            thrift_skip(&in, field.type);
    }
    if (reader->has_failed)
        return no_memory(reader, error);
    if (in.is_broken || reader->row_count / PARQUET_ROWS_IN_BYTE_MOST > size_bytes)
        return corrupt(reader, error);
    return reader->is_unsupported
               ? mt_error_set(error, MT_UNSUPPORTED, "%s: its columns are nested, or lists",
                              text_get(&reader->path))
               : MT_OK;
}

static enum mt_result read_file(struct parquet_reader *reader, struct mt_error *error)
{
    int descriptor = open(text_get(&reader->path), O_RDONLY | O_CLOEXEC);
    struct stat status;
    ssize_t got = -1;
    char *room = NULL;

    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        room = text_make_room(&reader->file, (size_t)status.st_size);
        while (room && reader->file.size_bytes < (size_t)status.st_size) {
            got = read(descriptor, room + reader->file.size_bytes,
                       (size_t)status.st_size - reader->file.size_bytes);
            if (got <= 0)
                break;
            reader->file.size_bytes += (size_t)got;
        }
        if (room)
            room[reader->file.size_bytes] = 0;
        got = got > 0 || !status.st_size ? 0 : got;
    } else if (descriptor >= 0) {
        errno = EISDIR;
    }
    if (descriptor < 0 || got < 0) {
        int number = errno;

        if (descriptor >= 0)
            close(descriptor);
        if (descriptor >= 0 && number != EISDIR && !room)
            return no_memory(reader, error);
        return mt_error_set(error, number == ENOENT ? MT_NOT_FOUND : MT_IO, "%s: %s",
                            text_get(&reader->path), strerror(number));
    }
    close(descriptor);
    return MT_OK;
}

enum mt_result parquet_reader_open(struct parquet_reader *reader, const char *path,
                                   struct mt_error *error)
{
    enum mt_result result;

    text_clear(&reader->file);
    text_clear(&reader->path);
    text_add(&reader->path, path);
    reader->column_count = reader->chunk_count = reader->group_count = reader->property_count = 0;
    reader->row_count = 0;
    reader->is_unsupported = false;
    reader->has_failed = reader->path.has_failed;
    arena_release(&reader->names);
    arena_init(&reader->names);
    result = read_file(reader, error);
    return result == MT_OK ? read_footer(reader, error) : result;
}

size_t parquet_reader_group_count(const struct parquet_reader *reader)
{
    return reader->group_count;
}

size_t parquet_reader_group_rows(const struct parquet_reader *reader, size_t group)
{
    MT_ASSERT(group < reader->group_count);
    return reader->groups[group].row_count;
}

size_t parquet_reader_column(const struct parquet_reader *reader, const char *name,
                             enum parquet_kind *kind)
{
    for (size_t i = 0; i < reader->column_count; i++) {
        const struct column *column = &reader->columns[i];

        if (strcmp(column->name, name) != 0 ||
            (column->type != PARQUET_TYPE_INT64 && column->type != PARQUET_TYPE_BYTE_ARRAY))
            continue;
        *kind = column->type == PARQUET_TYPE_INT64 ? PARQUET_INTEGER : PARQUET_TEXT;
        return i;
    }
    return SIZE_MAX;
}

const char *parquet_reader_property(const struct parquet_reader *reader, const char *key)
{
    for (size_t i = 0; i < reader->property_count; i++)
        if (strcmp(reader->properties[i].key, key) == 0)
            return reader->properties[i].value;
    return NULL;
}

/* --- pages ------------------------------------------------------------------------------------ */

struct page {
    int64_t type, whole_bytes, file_bytes, value_count, encoding;
};

/* A page's header, and its place among the bytes of the chunk. */
struct cursor {
    const unsigned char *at, *end;
};

static void read_page_kind(struct thrift_reader *in, struct page *page)
{
    struct thrift_field field = {0};

    while (thrift_next_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32)
            page->value_count = thrift_get_integer(in);
        else if (field.id == 2 && field.type == THRIFT_I32)
            page->encoding = thrift_get_integer(in);
        else
            thrift_skip(in, field.type);
    }
}

static bool read_page_header(struct cursor *cursor, struct page *page)
{
    struct thrift_reader in = {cursor->at, cursor->end, false};
    struct thrift_field field = {0};

    *page = (struct page){-1, -1, -1, -1, -1};
    while (thrift_next_field(&in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32)
            page->type = thrift_get_integer(&in);
        else if (field.id == 2 && field.type == THRIFT_I32)
            page->whole_bytes = thrift_get_integer(&in);
        else if (field.id == 3 && field.type == THRIFT_I32)
            page->file_bytes = thrift_get_integer(&in);
        else if ((field.id == 5 || field.id == 7) && field.type == THRIFT_STRUCT)
            read_page_kind(&in, page);
        else
            thrift_skip(&in, field.type);
    }
    cursor->at = in.at;
    return !in.is_broken && page->whole_bytes >= 0 && page->file_bytes >= 0 &&
           page->whole_bytes <= PARQUET_PAGE_BYTES_MOST &&
           page->file_bytes <= cursor->end - cursor->at && page->value_count >= 0 &&
           page->value_count <= PARQUET_GROUP_ROWS_MOST;
}

/* Into the pages; *offset: where it begins there. */
static enum mt_result unpack_page(struct parquet_reader *reader, const struct chunk *chunk,
                                  struct cursor *cursor, const struct page *page, size_t *offset,
                                  struct mt_error *error)
{
    size_t whole_bytes = (size_t)page->whole_bytes, file_bytes = (size_t)page->file_bytes;
    char *room;

    if (reader->pages.size_bytes + whole_bytes > PARQUET_CHUNK_BYTES_MOST)
        return corrupt(reader, error);
    room = text_make_room(&reader->pages, whole_bytes);
    if (!room)
        return no_memory(reader, error);
    if (chunk->codec == PARQUET_UNCOMPRESSED) {
        if (file_bytes != whole_bytes)
            return corrupt(reader, error);
        memcpy(room, cursor->at, whole_bytes);
    } else if (chunk->codec != PARQUET_ZSTD) {
        return mt_error_set(error, MT_UNSUPPORTED, "%s: compressed in another way than with zstd",
                            text_get(&reader->path));
    } else if (ZSTD_decompressDCtx(reader->zstd, room, whole_bytes, cursor->at, file_bytes) !=
               whole_bytes) {
        return corrupt(reader, error);
    }
    room[whole_bytes] = 0;
    *offset = reader->pages.size_bytes;
    reader->pages.size_bytes += whole_bytes;
    cursor->at += file_bytes;
    return MT_OK;
}

/* The next value of a page, PLAIN. False: there is none. */
static bool take_number(struct cursor *from, int64_t *number)
{
    if (from->end - from->at < 8)
        return false;
    *number = parquet_get_i64(from->at);
    from->at += 8;
    return true;
}

static bool take_text(struct cursor *from, const char *pages, struct parquet_text *text)
{
    uint32_t size_bytes;

    if (from->end - from->at < 4)
        return false;
    size_bytes = parquet_get_u32(from->at);
    from->at += 4;
    if (size_bytes > (size_t)(from->end - from->at))
        return false;
    *text = (struct parquet_text){(size_t)((const char *)from->at - pages), size_bytes};
    from->at += size_bytes;
    return true;
}

static struct cursor page_bytes(const struct parquet_reader *reader, size_t offset)
{
    const unsigned char *bytes = (const unsigned char *)reader->pages.bytes;

    return (struct cursor){bytes + offset, bytes + reader->pages.size_bytes};
}

static enum mt_result read_dictionary(struct parquet_reader *reader, const struct chunk *chunk,
                                      const struct page *page, size_t offset,
                                      struct mt_error *error)
{
    struct cursor from = page_bytes(reader, offset);
    size_t count = (size_t)page->value_count;
    bool is_right = page->encoding == PARQUET_PLAIN || page->encoding == PARQUET_PLAIN_DICTIONARY;

    if (!list_reach(&reader->dictionary_numbers, &reader->dictionary_number_capacity, count,
                    sizeof(*reader->dictionary_numbers)) ||
        !list_reach(&reader->dictionary_texts, &reader->dictionary_text_capacity, count,
                    sizeof(*reader->dictionary_texts)))
        return no_memory(reader, error);
    for (size_t i = 0; is_right && i < count; i++)
        is_right = chunk->type == PARQUET_TYPE_INT64
                       ? take_number(&from, &reader->dictionary_numbers[i])
                       : take_text(&from, reader->pages.bytes, &reader->dictionary_texts[i]);
    reader->dictionary_count = count;
    return is_right ? MT_OK : corrupt(reader, error);
}

/* Which of the values of a page are there; *count: how many. */
static bool take_levels(struct parquet_reader *reader, struct cursor *from, bool is_optional,
                        uint8_t *known, size_t value_count, size_t *count)
{
    uint32_t size_bytes;

    *count = value_count;
    memset(known, 1, value_count);
    if (!is_optional)
        return true;
    if (from->end - from->at < 4)
        return false;
    size_bytes = parquet_get_u32(from->at);
    from->at += 4;
    if (size_bytes > (size_t)(from->end - from->at) ||
        !parquet_runs_get(from->at, size_bytes, 1, reader->small, value_count))
        return false;
    from->at += size_bytes;
    *count = 0;
    for (size_t i = 0; i < value_count; i++) {
        known[i] = reader->small[i] != 0;
        *count += known[i];
    }
    return true;
}

static bool take_indices(struct parquet_reader *reader, struct cursor *from, size_t count)
{
    unsigned width;

    if (!count)
        return true;
    if (from->at == from->end)
        return false;
    width = *from->at++;
    if (width > 32 ||
        !parquet_runs_get(from->at, (size_t)(from->end - from->at), width, reader->small, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (reader->small[i] >= reader->dictionary_count)
            return false;
    return true;
}

static bool take_values(struct parquet_reader *reader, const struct chunk *chunk,
                        const struct page *page, struct cursor *from, size_t first,
                        size_t present_count)
{
    bool is_indexed =
        page->encoding == PARQUET_RLE_DICTIONARY || page->encoding == PARQUET_PLAIN_DICTIONARY;
    bool is_number = chunk->type == PARQUET_TYPE_INT64;
    size_t taken = 0;

    if (!is_indexed && page->encoding != PARQUET_PLAIN)
        return false;
    if (is_indexed && !take_indices(reader, from, present_count))
        return false;
    for (size_t i = first; i < first + (size_t)page->value_count; i++) {
        reader->numbers[i] = 0;
        reader->texts[i] = (struct parquet_text){0, 0};
        if (!reader->known[i])
            continue;
        if (is_indexed && is_number)
            reader->numbers[i] = reader->dictionary_numbers[reader->small[taken++]];
        else if (is_indexed)
            reader->texts[i] = reader->dictionary_texts[reader->small[taken++]];
        else if (is_number ? !take_number(from, &reader->numbers[i])
                           : !take_text(from, reader->pages.bytes, &reader->texts[i]))
            return false;
    }
    return true;
}

static bool has_room(struct parquet_reader *reader, size_t rows)
{
    return list_reach(&reader->numbers, &reader->number_capacity, rows, sizeof(*reader->numbers)) &&
           list_reach(&reader->texts, &reader->text_capacity, rows, sizeof(*reader->texts)) &&
           list_reach(&reader->known, &reader->known_capacity, rows, sizeof(*reader->known)) &&
           list_reach(&reader->small, &reader->small_capacity, rows, sizeof(*reader->small));
}

static enum mt_result read_pages(struct parquet_reader *reader, const struct chunk *chunk,
                                 bool is_optional, size_t row_count, struct mt_error *error)
{
    const unsigned char *file = (const unsigned char *)reader->file.bytes;
    struct cursor cursor = {file + chunk->offset, file + chunk->offset + chunk->size_bytes};
    size_t filled = 0;

    while (filled < row_count) {
        struct cursor from;
        struct page page;
        size_t offset = 0, present_count = 0;
        enum mt_result result;

        if (!read_page_header(&cursor, &page))
            return corrupt(reader, error);
        result = unpack_page(reader, chunk, &cursor, &page, &offset, error);
        if (result == MT_OK && page.type == PARQUET_DICTIONARY_PAGE)
            result = read_dictionary(reader, chunk, &page, offset, error);
        if (result != MT_OK)
            return result;
        if (page.type == PARQUET_DICTIONARY_PAGE)
            continue;
        if (page.type != PARQUET_DATA_PAGE)
            return mt_error_set(error, MT_UNSUPPORTED, "%s: its pages are of another version",
                                text_get(&reader->path));
        from = page_bytes(reader, offset);
        if (!page.value_count || (size_t)page.value_count > row_count - filled ||
            !take_levels(reader, &from, is_optional, reader->known + filled,
                         (size_t)page.value_count, &present_count) ||
            !take_values(reader, chunk, &page, &from, filled, present_count))
            return corrupt(reader, error);
        filled += (size_t)page.value_count;
    }
    return MT_OK;
}

enum mt_result parquet_reader_read(struct parquet_reader *reader, size_t group, size_t column,
                                   struct parquet_values *values, struct mt_error *error)
{
    const struct group *rows;
    const struct chunk *chunk;
    enum mt_result result;

    MT_ASSERT(group < reader->group_count);
    MT_ASSERT(column < reader->column_count);
    rows = &reader->groups[group];
    chunk = &reader->chunks[rows->first_chunk + column];
    if (chunk->offset > reader->file.size_bytes ||
        chunk->size_bytes > reader->file.size_bytes - chunk->offset ||
        chunk->value_count != rows->row_count || chunk->type != reader->columns[column].type)
        return corrupt(reader, error);
    if (!has_room(reader, rows->row_count))
        return no_memory(reader, error);
    text_clear(&reader->pages);
    reader->dictionary_count = 0;
    result = read_pages(reader, chunk, reader->columns[column].is_optional, rows->row_count, error);
    if (result != MT_OK)
        return result;
    *values = (struct parquet_values){
        .count = rows->row_count,
        .known = reader->known,
        .numbers = chunk->type == PARQUET_TYPE_INT64 ? reader->numbers : NULL,
        .texts = chunk->type == PARQUET_TYPE_BYTE_ARRAY ? reader->texts : NULL,
        .bytes = reader->pages.bytes ? reader->pages.bytes : "",
    };
    return MT_OK;
}
