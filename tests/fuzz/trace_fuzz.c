/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a trace. The first byte tells what the others are:
 *
 *   0  a .mtt
 *   1  the raw payload of a chunk, which gets a right header and checksum
 *   2  a .rings, beside an empty but right .mtt: the header of a ring, then its words
 *   3  a run.rings without any .mtt: changes of a right one with one process and one ring, each an
 *      offset of 4 bytes and what stands there, 8 bytes
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "chunk_pack.h"
#include "input.h"
#include "leaktide/codec.h"
#include "leaktide/columns.h"
#include "leaktide/rings.h"
#include "temporary_folder.h"
#include "trace_builder.h"

enum { BATCH_EVENTS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static char *folder;

static void remove_folder(void)
{
    temporary_folder_remove(folder);
}

static void make_folder(void)
{
    if (folder)
        return;
    folder = temporary_folder_create();
    atexit(remove_folder);
}

static void write_file(const char *name, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file)
        abort();
    if (first_bytes)
        fwrite(first, first_bytes, 1, file);
    if (second_bytes)
        fwrite(second, second_bytes, 1, file);
    fclose(file);
}

/* All events; what they are does not matter, that the reader comes back does. */
static void read_folder(void)
{
    static struct event batch[BATCH_EVENTS];
    struct mt_error error = {.message = ""};
    struct model *model;
    struct input *input;
    size_t count = 1;

    if (model_create(&model, &error) != MT_OK)
        abort();
    if (input_open(folder, model, &input, &error) == MT_OK) {
        while (count && input_next(input, batch, BATCH_EVENTS, &count, &error) == MT_OK)
            ;
        input_close(input);
    }
    model_destroy(model);
}

/* A chunk says how many events it has: as many as its column of codes is long. */
static uint32_t event_count_of(const uint8_t *raw, size_t raw_bytes)
{
    const uint8_t *end = raw + raw_bytes;
    uint64_t columns = 0, number = 0, size_bytes = 0;
    const uint8_t *at = mt_varint_get(raw, end, &columns);

    while (at && columns--) {
        at = mt_varint_get(at, end, &number);
        if (at)
            at = mt_varint_get(at, end, &size_bytes);
        if (at && number == MT_COLUMN_CODE)
            return size_bytes < MT_CHUNK_EVENTS_MAX ? (uint32_t)size_bytes : 0;
    }
    return 0;
}

static size_t pack(const uint8_t *raw, size_t raw_bytes, uint8_t *out, size_t out_bytes)
{
    struct mt_chunk_header header = {
        .kind = MT_CHUNK_EVENTS,
        .event_count = event_count_of(raw, raw_bytes),
        .end_position = 1 << 20,
        .last_time = UINT64_C(1) << 40,
    };
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    size_t packed_bytes =
        zstd ? chunk_pack(&header, raw, raw_bytes, CHUNK_SMALL, zstd, out, out_bytes) : 0;

    ZSTD_freeCCtx(zstd);
    return packed_bytes;
}

static void write_rings(const uint8_t *bytes, size_t size_bytes)
{
    static uint8_t page[MT_RING_HEADER_BYTES];
    size_t header_bytes = sizeof(struct mt_ring_header);

    if (size_bytes < header_bytes)
        header_bytes = size_bytes;
    memcpy(page, bytes, header_bytes);
    write_file("f.rings", page, sizeof(page), bytes + header_bytes, size_bytes - header_bytes);
    memset(page, 0, header_bytes);
}

enum {
    RUN_WORDS = 64,
    RUN_SLOTS_AT = 4096,
    RUN_PLACES_AT = 8192,
    RUN_RINGS_AT = RUN_PLACES_AT + MT_RINGS_PROCESS_BYTES,
    RUN_SLOT_BYTES = MT_RING_HEADER_BYTES + RUN_WORDS * 8,
    RUN_FILE_BYTES = RUN_RINGS_AT + RUN_SLOT_BYTES
};

/* As it is when everything was killed at once, with a few words in the ring. */
static void run_rings_make(uint8_t *file, const uint8_t *process_header)
{
    struct mt_rings_header header = {
        .magic = MT_RINGS_MAGIC,
        .major = MT_RINGS_MAJOR,
        .header_bytes = sizeof(header),
        .capacity_words = RUN_WORDS,
        .slot_bytes = RUN_SLOT_BYTES,
        .slots_offset_bytes = RUN_SLOTS_AT,
        .processes_offset_bytes = RUN_PLACES_AT,
        .rings_offset_bytes = RUN_RINGS_AT,
        .slot_max = 1,
        .process_max = 1,
        .slots_end = 1,
        .processes_end = 1,
    };
    const struct mt_rings_slot slot = {.state = MT_RINGS_TAKEN, .process = 1};
    const uint32_t live = MT_RINGS_LIVE;
    const struct mt_ring_header ring = {.magic = MT_RING_MAGIC,
                                        .capacity_words = RUN_WORDS,
                                        .head = 9,
                                        .slot_bytes = RUN_SLOT_BYTES};

    memset(file, 0, RUN_FILE_BYTES);
    memcpy(file, &header, sizeof(header));
    memcpy(file + RUN_SLOTS_AT, &slot, sizeof(slot));
    memcpy(file + RUN_PLACES_AT, process_header, sizeof(struct mt_file_header));
    memcpy(file + RUN_PLACES_AT + offsetof(struct mt_rings_process, state), &live, sizeof(live));
    memcpy(file + RUN_RINGS_AT, &ring, sizeof(ring));
    for (int i = 0; i < 9; i++)
        file[RUN_RINGS_AT + MT_RING_HEADER_BYTES + i * 8] = i % 3 ? 0 : MT_RECORD_host_alloc;
}

static void write_run_rings(const uint8_t *process_header, const uint8_t *changes,
                            size_t size_bytes)
{
    static uint8_t file[RUN_FILE_BYTES];
    uint32_t offset;

    run_rings_make(file, process_header);
    for (; size_bytes >= 12; changes += 12, size_bytes -= 12) {
        memcpy(&offset, changes, sizeof(offset));
        memcpy(file + offset % (RUN_FILE_BYTES - 8), changes + 4, 8);
    }
    write_file(MT_RINGS_NAME, file, sizeof(file), NULL, 0);
}

static void remove_file(const char *name)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static uint8_t packed[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
    struct trace_builder *builder;
    const uint8_t *header;
    size_t header_bytes;

    if (!size_bytes || size_bytes > MT_CHUNK_RAW_MAX)
        return 0;
    make_folder();
    builder = trace_builder_create(&(struct trace_builder_setup){.ring_words = 64});
    header = trace_builder_bytes(builder, &header_bytes);
    if (data[0] == 0)
        write_file("f.mtt", NULL, 0, data + 1, size_bytes - 1);
    else if (data[0] == 1)
        write_file("f.mtt", header, header_bytes, packed,
                   pack(data + 1, size_bytes - 1, packed, sizeof(packed)));
    else if (data[0] != 3)
        write_file("f.mtt", header, header_bytes, NULL, 0);
    if (data[0] == 3)
        write_run_rings(header, data + 1, size_bytes - 1);
    else
        write_rings(data + 1, data[0] == 2 ? size_bytes - 1 : 0);
    read_folder();
    remove_file("f.mtt");
    remove_file("f.rings");
    remove_file(MT_RINGS_NAME);
    trace_builder_destroy(builder);
    return 0;
}
