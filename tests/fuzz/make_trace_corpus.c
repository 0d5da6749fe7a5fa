/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the inputs that trace_fuzz starts from: one small trace, in each of the forms it knows.
 *
 *     make_trace_corpus folder
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "leaktide/frames.h"
#include "trace_builder.h"

static void write_input(const char *folder, const char *name, uint8_t form, const void *bytes,
                        size_t size_bytes)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file || fputc(form, file) == EOF || fwrite(bytes, size_bytes, 1, file) != 1 ||
        fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void push_records(struct trace_builder *b, uint32_t stream)
{
    const uint64_t frames[] = {0x400100, mt_frame_of_code(1, 12), 0x400200, 0x400300};
    uint64_t name = trace_builder_text(b, stream, 1, "aten::add");

    trace_builder_thread(b, stream, 1, 7, "main");
    trace_builder_push_bytes(b, stream, MT_RECORD_module, 2,
                             (uint64_t[]){0x400000, 0x1000, 0x400000, name}, "id", 2);
    trace_builder_push(b, stream, MT_RECORD_code, 3, (uint64_t[]){1, name, name});
    trace_builder_stack(b, stream, 4, &(struct built_stack){1, 0, 1, 0, frames, 3});
    trace_builder_stack(b, stream, 5, &(struct built_stack){2, 1, 2, frames[0], frames + 3, 1});
    trace_builder_push(b, stream, MT_RECORD_free_site, 6, (uint64_t[]){2 | MT_SITE_IS_STACK});
    trace_builder_host_free(b, stream, 6, 64);
    for (uint64_t i = 0; i < 20; i++) {
        trace_builder_host_alloc(b, stream, 10 * i,
                                 (struct built_block){.address = (i % 5 + 1) * 48,
                                                      .site = MT_SITE_IS_STACK | (1 + i % 2)});
        trace_builder_host_alloc(b, stream, 10 * i,
                                 (struct built_block){.address = (i % 5 + 1) * 64,
                                                      .size = 8 * (i % 3),
                                                      .site = 0x400100 + i % 4});
        trace_builder_host_free(b, stream, 10 * i + 5, (i % 5 + 1) * 64);
        trace_builder_alloc(b, stream, 10 * i + 6,
                            (struct built_block){.address = i << 20, .size = 512, .pool = "pta"});
        trace_builder_free(b, stream, 10 * i + 7, "pta", i << 20);
        trace_builder_push(b, stream, MT_RECORD_operator_begin, 10 * i + 8, &name);
    }
    trace_builder_push(b, stream, MT_RECORD_module_gone, 300, (uint64_t[]){0x400000});
    trace_builder_push(b, stream, MT_RECORD_sample, 301, (uint64_t[]){name, 0, 4096});
    trace_builder_push(b, stream, MT_RECORD_lost, 302, (uint64_t[]){0, 3});
}

static void write_payload(const char *folder, const uint8_t *bytes)
{
    static uint8_t raw[MT_CHUNK_RAW_MAX];
    struct mt_chunk_header header;
    size_t raw_bytes;

    memcpy(&header, bytes + MT_FILE_HEADER_BYTES, sizeof(header));
    raw_bytes = ZSTD_decompress(raw, sizeof(raw), bytes + MT_FILE_HEADER_BYTES + sizeof(header),
                                header.payload_bytes);
    if (ZSTD_isError(raw_bytes))
        exit(1);
    write_input(folder, "payload", 1, raw, raw_bytes);
}

static void write_rings(const char *folder)
{
    struct {
        struct mt_ring_header header;
        uint64_t words[64];
    } ring = {.header = {.magic = MT_RING_MAGIC,
                         .capacity_words = 64,
                         .thread_id = 7,
                         .head = 15,
                         .slot_bytes = MT_RING_HEADER_BYTES + sizeof(ring.words)}};
    uint64_t *at = ring.words;

    for (uint64_t i = 0; i < 3; i++) {
        at[5 * i] = (1000000 + 10 * i) << MT_RING_TIME_SHIFT | MT_RECORD_host_alloc;
        at[5 * i + 1] = (i + 1) * 64 | UINT64_C(48) << MT_RING_PACKED_BITS;
        at[5 * i + 2] = 0x400100;
        at[5 * i + 3] = (1000005 + 10 * i) << MT_RING_TIME_SHIFT | MT_RECORD_host_free;
        at[5 * i + 4] = (i + 1) * 64;
    }
    write_input(folder, "rings", 2, &ring, sizeof(ring));
}

/* The file of a run, changed where a hostile process would: heads, counts, states. */
static void write_run_rings(const char *folder)
{
    static const struct {
        uint32_t offset;
        uint32_t low, high;
    } changes[] = {{4096, 2, 1}, {8192 + 4096, 3, 0}, {100, 1, 1}};

    write_input(folder, "run_rings", 3, changes, sizeof(changes));
}

int main(int argc, char **argv)
{
    struct trace_builder *b = trace_builder_create(&(struct trace_builder_setup){0});
    const uint8_t *bytes;
    size_t size_bytes;

    if (argc != 2) {
        fprintf(stderr, "usage: make_trace_corpus folder\n");
        return 2;
    }
    push_records(b, 0);
    trace_builder_drain(b, 0);
    write_payload(argv[1], trace_builder_bytes(b, &size_bytes));
    push_records(b, 1);
    trace_builder_close(b);
    bytes = trace_builder_bytes(b, &size_bytes);
    write_input(argv[1], "trace", 0, bytes, size_bytes);
    write_rings(argv[1]);
    write_run_rings(argv[1]);
    trace_builder_destroy(b);
    return 0;
}
