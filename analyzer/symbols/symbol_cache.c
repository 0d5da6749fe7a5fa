/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were found in files, kept on disk.
 */
#define _GNU_SOURCE
#include "symbol_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "cache_folder.h"
#include "hash.h"
#include "hash_index.h"
#include "leaktide/invariant.h"
#include "memory_failures.h"
#include "sorted_rows.h"
#include "table.h"
#include "text_builder.h"

enum {
    cache_version = 2,
    any_origin = 0, /* of names that stay with a recording */
    addresses_most = 1 << 22
};

static const char magic[16] = "leaktide names\n";

struct cache_header {
    char magic[16];
    uint32_t version, address_count, frame_count, text_bytes;
    uint64_t origin, checksum; /* of all that follows */
};

struct cache_address {
    uint64_t address;
    uint32_t first_frame, frame_count;
};

struct cache_frame {
    uint64_t offset_bytes;
    uint32_t name, file; /* in the texts; 0: not known */
    uint32_t line, unused;
};

struct symbol_cache {
    char *path;
    uint64_t origin;
    bool is_of_user; /* in the folder that is bounded */
    char *bytes;     /* of the file; NULL: none that is of use */
    const struct cache_header *header;
    const struct cache_address *addresses;
    const struct cache_frame *frames;
    const char *texts;
    struct arena arena;
    struct table new_addresses, new_symbols; /* struct cache_address, struct symbol */
    size_t memory_failures;                  /* when it was opened */
};

/* --- reading ------------------------------------------------------------------------------- */

static bool is_sound(const struct symbol_cache *cache)
{
    const struct cache_header *header = cache->header;

    if (!header->text_bytes || cache->texts[header->text_bytes - 1])
        return false;
    for (uint32_t i = 0; i < header->address_count; i++) {
        const struct cache_address *row = &cache->addresses[i];

        if (row->first_frame > header->frame_count ||
            row->frame_count > header->frame_count - row->first_frame ||
            (i && row[-1].address >= row->address))
            return false;
    }
    for (uint32_t i = 0; i < header->frame_count; i++)
        if (cache->frames[i].name >= header->text_bytes ||
            cache->frames[i].file >= header->text_bytes)
            return false;
    return true;
}

/* Whether these bytes are a cache of these names. */
static bool understand(struct symbol_cache *cache, size_t size_bytes)
{
    const struct cache_header *header = (const void *)cache->bytes;
    uint64_t body_bytes;

    if (size_bytes < sizeof(*header) || memcmp(header->magic, magic, sizeof(magic)) != 0 ||
        header->version != cache_version || header->origin != cache->origin)
        return false;
    body_bytes = header->address_count * (uint64_t)sizeof(struct cache_address) +
                 header->frame_count * (uint64_t)sizeof(struct cache_frame) + header->text_bytes;
    if (body_bytes != size_bytes - sizeof(*header) ||
        hash_bytes(cache->bytes + sizeof(*header), body_bytes) != header->checksum)
        return false;
    cache->header = header;
    cache->addresses = (const void *)(header + 1);
    cache->frames = (const void *)(cache->addresses + header->address_count);
    cache->texts = (const void *)(cache->frames + header->frame_count);
    return is_sound(cache);
}

static void load(struct symbol_cache *cache)
{
    FILE *file = fopen(cache->path, "rbe");
    struct stat status;
    size_t size_bytes;

    if (!file)
        return;
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size < (off_t)1 << 30) {
        size_bytes = (size_t)status.st_size;
        cache->bytes = malloc(size_bytes + 1);
        if (cache->bytes && (fread(cache->bytes, 1, size_bytes, file) != size_bytes ||
                             !understand(cache, size_bytes))) {
            free(cache->bytes);
            cache->bytes = NULL;
        }
    }
    fclose(file);
}

static void add_file_name(struct text_builder *text, struct build_id build_id)
{
    text_add(text, "/" CACHE_FOLDER_NAMES);
    for (size_t i = 0; i < build_id.size_bytes; i++)
        text_add_format(text, "%02x", build_id.bytes[i]);
}

/* Of a folder, else of the user's; NULL: there is none, or the file has no build-id to go by. */
static char *path_make(const char *folder, struct build_id build_id)
{
    struct text_builder text;
    char *path = NULL;

    text_init(&text);
    if (folder)
        text_add(&text, folder);
    if (build_id.size_bytes >= 4 && (folder || cache_folder_add(&text))) {
        add_file_name(&text, build_id);
        if (!text.has_failed)
            path = strdup(text_get(&text));
    }
    text_release(&text);
    return path;
}

static struct symbol_cache *open_at(char *path, uint64_t origin, bool is_of_user)
{
    struct symbol_cache *cache = calloc(1, sizeof(*cache));

    if (!cache || !path) {
        free(cache);
        free(path);
        return NULL;
    }
    cache->memory_failures = memory_failure_count();
    cache->path = path;
    cache->origin = origin;
    cache->is_of_user = is_of_user;
    arena_init(&cache->arena);
    table_init(&cache->new_addresses, &cache->arena, sizeof(struct cache_address));
    table_init(&cache->new_symbols, &cache->arena, sizeof(struct symbol));
    load(cache);
    if (is_of_user && cache->bytes)
        cache_folder_used(cache->path);
    return cache;
}

struct symbol_cache *symbol_cache_open(struct build_id build_id, uint64_t origin)
{
    return open_at(path_make(NULL, build_id), origin, true);
}

struct symbol_cache *symbol_cache_open_in(const char *folder, struct build_id build_id)
{
    return access(folder, X_OK) == 0 ? open_at(path_make(folder, build_id), any_origin, false)
                                     : NULL;
}

bool symbol_cache_is_filled(const struct symbol_cache *cache)
{
    return cache && cache->bytes;
}

bool symbol_cache_has_lines(const struct symbol_cache *cache)
{
    for (uint32_t i = 0; i < cache->header->frame_count; i++)
        if (cache->frames[i].file)
            return true;
    return false;
}

bool symbol_cache_has_name(const struct symbol_cache *cache, const char *name)
{
    for (uint32_t i = 0; i < cache->header->frame_count; i++)
        if (strcmp(cache->texts + cache->frames[i].name, name) == 0)
            return true;
    return false;
}

static const char *text_at(const struct symbol_cache *cache, uint32_t offset)
{
    return offset ? cache->texts + offset : NULL;
}

bool symbol_cache_find(const struct symbol_cache *cache, uint64_t address, struct symbol *found,
                       size_t most, size_t *count)
{
    size_t place = cache && cache->bytes
                       ? rows_up_to(cache->addresses, cache->header->address_count,
                                    sizeof(*cache->addresses), address)
                       : 0;
    const struct cache_address *row = place ? &cache->addresses[place - 1] : NULL;

    if (!row || row->address != address)
        return false;
    MT_ASSERT(row->first_frame + row->frame_count <= cache->header->frame_count);
    for (*count = 0; *count < row->frame_count && *count < most; ++*count) {
        const struct cache_frame *frame = &cache->frames[row->first_frame + *count];

        found[*count] = (struct symbol){text_at(cache, frame->name), text_at(cache, frame->file),
                                        frame->line, frame->offset_bytes};
    }
    return true;
}

void symbol_cache_add(struct symbol_cache *cache, uint64_t address, const struct symbol *symbols,
                      size_t count)
{
    struct cache_address *row;

    if (!cache || cache->new_addresses.count >= addresses_most)
        return;
    row = table_add(&cache->new_addresses);
    if (!row)
        return;
    *row = (struct cache_address){address, (uint32_t)cache->new_symbols.count, 0};
    for (size_t i = 0; i < count; i++) {
        struct symbol *symbol = table_add(&cache->new_symbols);

        if (!symbol)
            return;
        *symbol = symbols[i];
        row->frame_count++;
    }
}

/* --- writing ------------------------------------------------------------------------------- */

struct writing {
    struct text_builder addresses, frames, texts;
    struct hash_index index; /* of texts, by their offset */
    uint32_t address_count, frame_count;
};

static uint32_t put_text(struct writing *writing, const char *text)
{
    uint64_t hash = text ? hash_bytes(text, strlen(text)) : 0;
    size_t probe = 0;
    uint32_t offset = (uint32_t)writing->texts.size_bytes;
    uint32_t found;

    if (!text)
        return 0;
    while (hash_index_next(&writing->index, hash, &probe, &found))
        if (strcmp(writing->texts.bytes + found, text) == 0)
            return found;
    hash_index_add(&writing->index, hash, offset);
    text_add_bytes(&writing->texts, text, strlen(text) + 1);
    return offset;
}

/* Rows are as many as were counted; a search needs their addresses to ascend. */
static void writing_check(const struct writing *writing, uint64_t next_address)
{
    const struct text_builder *rows = &writing->addresses;
    struct cache_address last;

    if (rows->has_failed || writing->frames.has_failed)
        return;
    MT_ASSERT(rows->size_bytes == writing->address_count * sizeof(struct cache_address));
    MT_ASSERT(writing->frames.size_bytes == writing->frame_count * sizeof(struct cache_frame));
    if (!writing->address_count)
        return;
    memcpy(&last, rows->bytes + rows->size_bytes - sizeof(last), sizeof(last));
    MT_ASSERT(last.address < next_address);
    MT_ASSERT(last.first_frame + last.frame_count == writing->frame_count);
}

static void put_address(struct writing *writing, uint64_t address, const struct symbol *symbols,
                        size_t count)
{
    struct cache_address row = {address, writing->frame_count, (uint32_t)count};

    MT_ASSERT(count <= INLINED_MOST);
    writing_check(writing, address);
    text_add_bytes(&writing->addresses, (const char *)&row, sizeof(row));
    writing->address_count++;
    for (size_t i = 0; i < count; i++) {
        struct cache_frame frame = {.offset_bytes = symbols[i].offset_bytes,
                                    .name = put_text(writing, symbols[i].name),
                                    .file = put_text(writing, symbols[i].file),
                                    .line = symbols[i].line};

        text_add_bytes(&writing->frames, (const char *)&frame, sizeof(frame));
        writing->frame_count++;
    }
}

static void put_old(struct writing *writing, const struct symbol_cache *cache, uint32_t index)
{
    struct symbol symbols[INLINED_MOST];
    size_t count = 0;

    symbol_cache_find(cache, cache->addresses[index].address, symbols, INLINED_MOST, &count);
    put_address(writing, cache->addresses[index].address, symbols, count);
}

static void put_new(struct writing *writing, const struct symbol_cache *cache,
                    const struct cache_address *row)
{
    struct symbol symbols[INLINED_MOST];
    size_t count = row->frame_count < INLINED_MOST ? row->frame_count : INLINED_MOST;

    MT_ASSERT(row->first_frame + row->frame_count <= cache->new_symbols.count);
    for (size_t i = 0; i < count; i++)
        symbols[i] = *(const struct symbol *)table_at(&cache->new_symbols, row->first_frame + i);
    put_address(writing, row->address, symbols, count);
}

static int address_compare(const void *left, const void *right)
{
    const struct cache_address *a = *(const struct cache_address *const *)left;
    const struct cache_address *b = *(const struct cache_address *const *)right;

    return (a->address > b->address) - (a->address < b->address);
}

/* New ones by address, each once; for free(). */
static const struct cache_address **sort_new(const struct symbol_cache *cache, size_t *count)
{
    const struct cache_address **rows = malloc(cache->new_addresses.count * sizeof(*rows));

    *count = 0;
    for (size_t i = 0; rows && i < cache->new_addresses.count; i++)
        rows[i] = table_at(&cache->new_addresses, i);
    if (!rows)
        return NULL;
    qsort(rows, cache->new_addresses.count, sizeof(*rows), address_compare);
    for (size_t i = 0; i < cache->new_addresses.count; i++)
        if (!*count || rows[*count - 1]->address != rows[i]->address)
            rows[(*count)++] = rows[i];
    return rows;
}

/* What was there and what is new, in the order of addresses. */
static bool merge(struct writing *writing, const struct symbol_cache *cache)
{
    uint32_t old = 0, old_count = cache->bytes ? cache->header->address_count : 0;
    size_t new_count;
    const struct cache_address **rows = sort_new(cache, &new_count);

    if (!rows)
        return false;
    for (size_t i = 0; i < new_count; i++) {
        while (old < old_count && cache->addresses[old].address < rows[i]->address)
            put_old(writing, cache, old++);
        put_new(writing, cache, rows[i]);
        if (old < old_count && cache->addresses[old].address == rows[i]->address)
            old++;
    }
    while (old < old_count)
        put_old(writing, cache, old++);
    free(rows);
    return true;
}

static bool write_all(int descriptor, const char *bytes, size_t size_bytes)
{
    while (size_bytes) {
        ssize_t written = write(descriptor, bytes, size_bytes);

        if (written <= 0)
            return false;
        bytes += written;
        size_bytes -= (size_t)written;
    }
    return true;
}

/* Beside the old file, whose name it takes when it is whole. */
static void replace(const char *path, const struct text_builder *bytes)
{
    struct text_builder name;
    int descriptor;

    text_init(&name);
    text_add_format(&name, "%s.XXXXXX", path);
    descriptor = name.has_failed ? -1 : mkostemp(name.bytes, O_CLOEXEC);
    if (descriptor >= 0) {
        bool is_good = write_all(descriptor, text_get(bytes), bytes->size_bytes);

        is_good = close(descriptor) == 0 && is_good;
        if (!is_good || rename(name.bytes, path) != 0)
            unlink(name.bytes);
    }
    text_release(&name);
}

static void write_file(const struct symbol_cache *cache, struct writing *writing)
{
    struct cache_header header = {.version = cache_version,
                                  .address_count = writing->address_count,
                                  .frame_count = writing->frame_count,
                                  .text_bytes = (uint32_t)writing->texts.size_bytes,
                                  .origin = cache->origin};
    struct text_builder all;

    memcpy(header.magic, magic, sizeof(magic));
    text_init(&all);
    text_add_bytes(&all, (const char *)&header, sizeof(header));
    text_add_bytes(&all, text_get(&writing->addresses), writing->addresses.size_bytes);
    text_add_bytes(&all, text_get(&writing->frames), writing->frames.size_bytes);
    text_add_bytes(&all, text_get(&writing->texts), writing->texts.size_bytes);
    if (!all.has_failed && !writing->addresses.has_failed && !writing->frames.has_failed &&
        !writing->texts.has_failed && writing->texts.size_bytes < UINT32_MAX) {
        header.checksum = hash_bytes(all.bytes + sizeof(header), all.size_bytes - sizeof(header));
        memcpy(all.bytes, &header, sizeof(header));
        replace(cache->path, &all);
    }
    text_release(&all);
}

static void save(const struct symbol_cache *cache)
{
    struct writing writing = {0};

    text_init(&writing.addresses);
    text_init(&writing.frames);
    text_init(&writing.texts);
    hash_index_init(&writing.index);
    text_add_char(&writing.texts, 0, 1); /* offset 0 is no text */
    if (merge(&writing, cache))
        write_file(cache, &writing);
    text_release(&writing.addresses);
    text_release(&writing.frames);
    text_release(&writing.texts);
    hash_index_release(&writing.index);
}

void symbol_cache_close(struct symbol_cache *cache)
{
    if (!cache)
        return;
    /* What was found while memory ran out may lack names. */
    if (cache->new_addresses.count && cache->memory_failures == memory_failure_count()) {
        save(cache);
        if (cache->is_of_user)
            cache_folder_trim(cache->path);
    }
    arena_release(&cache->arena);
    free(cache->bytes);
    free(cache->path);
    free(cache);
}
