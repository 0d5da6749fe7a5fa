/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the recordings that the command is tried on, into a folder: always the same bytes.
 *
 *   leak       twelve steps on two ledgers; a leak, a cache, gradients over the boundary
 *   short      the same program, three steps
 *   window     no steps; a block older than the recording is freed
 *   unmarked   no steps; sixty turns of a loop, each of which keeps 2000 bytes at one site and
 * frees what it makes at another; light: 20 bytes; tidy: none lost       says that events were lost
 *   newer      of a format that does not exist yet
 *   empty      an empty folder
 *   text       a file of text
 *   two        two processes
 *   cudart     twelve steps of a C program that never frees what it asks the CUDA runtime for
 *   cuda       the same, with the calls of the driver below
 *   hip        the same, of a vendor that nobody knows
 *   refused    two requests that fail, on one of two devices; granted: the second try succeeds
 *   mapped     a pool whose segments are mapped part by part, and a request that gets 28 of its
 * parts layers     a pool in segments that runtime and driver have both; one is empty in the end
 *   base.csv   of msmemscope: two operators; now.csv: one more, and a block that is freed elsewhere
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_process.h"
#include "trace_builder.h"

enum { ms = 1000000, site_base = 0x400000 };

static const struct mt_place npu0 = {.device = 0, .kind = MT_KIND_DEVICE, .module = 7};

static const char *folder_of(const char *name)
{
    mkdir(name, 0777);
    return name;
}

static void module(struct trace_builder *b)
{
    uint64_t path = trace_builder_text(b, 0, 10, "/opt/train/train");
    uint64_t fields[] = {site_base, 0x10000, site_base, path};

    trace_builder_push_bytes(b, 0, MT_RECORD_module, 20, fields, "\1\2\3\4", 4);
}

static void step(struct trace_builder *b, enum mt_record_code code, uint64_t time, uint64_t number)
{
    uint64_t fields[] = {number, 0};

    trace_builder_push(b, 0, code, time, fields);
}

static void named(struct trace_builder *b, enum mt_record_code code, uint64_t time,
                  const char *name)
{
    uint64_t fields[] = {trace_builder_text(b, 0, time, name)};

    trace_builder_push(b, 0, code, time, fields);
}

static void npu_alloc(struct trace_builder *b, uint64_t time, uint64_t address, uint64_t size,
                      uint64_t site)
{
    struct built_block block = {address, size, site_base + site, "pta", npu0};

    trace_builder_alloc(b, 0, time, block);
}

static void host_alloc(struct trace_builder *b, uint64_t time, uint64_t address, uint64_t size,
                       uint64_t site)
{
    struct built_block block = {.address = address, .size = size, .site = site_base + site};

    trace_builder_host_alloc(b, 0, time, block);
}

static void train(struct trace_builder *b, uint64_t step_count)
{
    uint64_t counter = trace_builder_text(b, 0, 30, "device used");

    npu_alloc(b, ms, 0x12c000000000, 64 << 20, 0x110);
    for (uint64_t i = 1; i <= step_count; i++) {
        uint64_t t = 100 * ms * i, sample[] = {counter, mt_place_pack(npu0), (70 + i) << 20};

        step(b, MT_RECORD_step_begin, t, i);
        if (i > 1)
            trace_builder_free(b, 0, t + 1 * ms, "pta", 0x12c010000000); /* gradients */
        named(b, MT_RECORD_operator_begin, t + 2 * ms, "matmul");
        npu_alloc(b, t + 3 * ms, 0x12c020000000, 16 << 20, 0x220);
        named(b, MT_RECORD_operator_end, t + 4 * ms, "matmul");
        npu_alloc(b, t + 5 * ms, 0x12c010000000, 8 << 20, 0x330);
        npu_alloc(b, t + 6 * ms, 0x12c030000000 + (i << 22), 1 << 20, 0x440); /* the leak */
        if (i <= 4)
            npu_alloc(b, t + 7 * ms, 0x12c040000000 + (i << 22), 2 << 20, 0x550); /* a cache */
        host_alloc(b, t + 8 * ms, 0x7f0000001000, 512, 0x660);
        trace_builder_host_free(b, 0, t + 9 * ms, 0x7f0000001000);
        trace_builder_free(b, 0, t + 10 * ms, "pta", 0x12c020000000);
        trace_builder_push(b, 0, MT_RECORD_sample, t + 11 * ms, sample);
        step(b, MT_RECORD_step_end, t + 90 * ms, i);
    }
}

static struct trace_builder *begin(uint32_t process_id)
{
    struct trace_builder_setup setup = {.process_id = process_id,
                                        .executable = "/opt/train/train",
                                        .command_line = "train --epochs 1"};
    struct trace_builder *b = trace_builder_create(&setup);

    trace_builder_thread(b, 0, 5, process_id, "main");
    module(b);
    return b;
}

static void end(struct trace_builder *b, const char *folder)
{
    trace_builder_close(b);
    trace_builder_write(b, folder);
    trace_builder_destroy(b);
}

static void make_training(const char *name, uint64_t step_count)
{
    struct trace_builder *b = begin(1000);

    train(b, step_count);
    end(b, folder_of(name));
}

/*
 * Each step leaves a block in `pool`, and in the pool `below` of which that takes it, unless NULL;
 * then `counter` says what the device has in use.
 */
static void make_device_leak(const char *name, const char *pool, const char *below,
                             const char *counter)
{
    static const struct mt_place device0 = {.device = 0, .kind = MT_KIND_DEVICE, .module = -1};
    struct trace_builder *b = begin(1000);
    uint64_t used = trace_builder_text(b, 0, 30, counter);

    for (uint64_t i = 1; i <= 12; i++) {
        uint64_t t = 100 * ms * i, sample[] = {used, mt_place_pack(device0), (100 + i) << 20};
        struct built_block block = {0x7f2000000000 + (i << 22), 1 << 20, site_base + 0x770, pool,
                                    device0};
        struct built_block lower = block;

        lower.pool = below;
        step(b, MT_RECORD_step_begin, t, i);
        if (below)
            trace_builder_alloc(b, 0, t + 1 * ms, lower);
        trace_builder_alloc(b, 0, t + 2 * ms, block);
        trace_builder_push(b, 0, MT_RECORD_sample, t + 3 * ms, sample);
        step(b, MT_RECORD_step_end, t + 90 * ms, i);
    }
    end(b, folder_of(name));
}

static void refused(struct trace_builder *b, uint64_t time, const char *pool, struct mt_place place,
                    uint64_t size)
{
    uint64_t fields[] = {site_base + 0x880, size, trace_builder_text(b, 0, time, pool),
                         mt_place_pack(place), 207};

    trace_builder_push(b, 0, MT_RECORD_alloc_failed, time, fields);
}

/*
 * Two devices with a pool each, of 400 MiB that nobody uses. That of device 1 goes back to the
 * driver, which the pool does not say; then two requests are refused by runtime and driver, and
 * each once more. In the end one may be granted when it is asked for again.
 */
static void make_refused(const char *name, bool is_granted)
{
    struct trace_builder *b = begin(1000);

    for (uint64_t device = 0; device < 2; device++) {
        struct mt_place place = {.device = (int16_t)device, .kind = MT_KIND_DEVICE, .module = -1};
        uint64_t reserved[] = {trace_builder_text(b, 0, 20, "pta"), mt_place_pack(place),
                               400 << 20};
        struct built_block segment = {0x12c000000000 + (device << 32), 400 << 20, site_base + 0x110,
                                      "acl", place};
        struct built_block block = segment;

        trace_builder_alloc(b, 0, ms, segment);
        block.pool = "pta";
        block.size = 300 << 20;
        trace_builder_alloc(b, 0, 2 * ms, block);
        trace_builder_push(b, 0, MT_RECORD_pool_reserved, 2 * ms, reserved);
        trace_builder_free(b, 0, 3 * ms, "pta", block.address);
        if (device)
            trace_builder_free(b, 0, 4 * ms, "acl", segment.address);
    }
    for (uint64_t i = 0; i < 2; i++) {
        struct mt_place place = {.device = 1, .kind = MT_KIND_DEVICE, .module = -1};
        uint64_t size = (500 + i) << 20, at = (10 + 2000 * i) * ms;

        for (uint64_t attempt = 0; attempt < 2; attempt++) {
            refused(b, at + attempt * ms, "hal", place, size);
            refused(b, at + attempt * ms + 1000, "acl", place, size);
        }
        if (is_granted)
            trace_builder_alloc(b, 0, at + 3 * ms,
                                (struct built_block){0x12d000000000 + (i << 32), size,
                                                     site_base + 0x880, "acl", place});
    }
    end(b, folder_of(name));
}

static void layered(struct trace_builder *b, uint64_t time, struct built_block block)
{
    trace_builder_alloc(b, 0, time, block);
    block.pool = "acl";
    trace_builder_alloc(b, 0, time + 1000, block);
}

static void reserved(struct trace_builder *b, uint64_t time, uint64_t size)
{
    uint64_t fields[] = {trace_builder_text(b, 0, time, "pta"), mt_place_pack(npu0), size};

    trace_builder_push(b, 0, MT_RECORD_pool_reserved, time, fields);
}

/* Forty MiB are mapped of 680 that are reserved; 902 more are asked for, of which 560 are there. */
static void make_mapped(const char *name)
{
    enum { part = 20 << 20, page = 2, parts = 28 };
    const struct mt_place view = {
        .device = 0, .kind = MT_KIND_DEVICE, .flags = MT_PLACE_MAPPING, .module = -1};
    const struct mt_place handle = {
        .device = 0, .kind = MT_KIND_DEVICE, .flags = MT_PLACE_HANDLE, .module = 7};
    const struct mt_place addresses = {
        .device = 0, .kind = MT_KIND_DEVICE, .flags = MT_PLACE_VIRTUAL, .module = -1};
    const uint64_t base = 0x12c000000000;
    struct trace_builder *b = begin(1000);

    trace_builder_alloc(b, 0, ms,
                        (struct built_block){base, UINT64_C(680) << 20, site_base + 0x110,
                                             "acl_virtual", addresses});
    for (uint64_t i = 0; i < page; i++) {
        layered(b, (2 + i) * ms,
                (struct built_block){77 + i, part, site_base + 0x110, "hal", handle});
        trace_builder_alloc(
            b, 0, (4 + i) * ms,
            (struct built_block){base + i * part, part, site_base + 0x110, "acl_mapping", view});
    }
    reserved(b, 6 * ms, page * part);
    npu_alloc(b, 7 * ms, base, 24 << 20, 0x220);
    named(b, MT_RECORD_operator_begin, 8 * ms, "aten::empty");
    for (uint64_t i = 0; i < parts; i++)
        layered(b, 9 * ms + i * 2000,
                (struct built_block){100 + i, part, site_base + 0x880, "hal", handle});
    refused(b, 10 * ms, "hal", npu0, part);
    refused(b, 10 * ms + 1000, "acl", npu0, part);
    for (uint64_t i = 0; i < parts; i++) {
        trace_builder_free(b, 0, 11 * ms + i * 2000, "acl", 100 + i);
        trace_builder_free(b, 0, 11 * ms + i * 2000 + 1000, "hal", 100 + i);
    }
    refused(b, 12 * ms, "pta", npu0, UINT64_C(902) << 20);
    named(b, MT_RECORD_operator_end, 13 * ms, "aten::empty");
    end(b, folder_of(name));
}

static void make_layers(const char *name)
{
    enum { segment = 20 << 20 };
    const uint64_t base = 0x12c000000000;
    struct trace_builder *b = begin(1000);

    for (uint64_t i = 0; i < 3; i++) {
        layered(
            b, (1 + 3 * i) * ms,
            (struct built_block){base + 2 * i * segment, segment, site_base + 0x110, "hal", npu0});
        reserved(b, (2 + 3 * i) * ms, (i + 1) * segment);
        npu_alloc(b, (3 + 3 * i) * ms, base + 2 * i * segment, 12 << 20, 0x220);
    }
    trace_builder_free(b, 0, 20 * ms, "pta", base);
    refused(b, 21 * ms, "acl", npu0, 40 << 20);
    end(b, folder_of(name));
}

static void make_window(const char *name)
{
    struct trace_builder *b = begin(1000);

    trace_builder_host_free(b, 0, 1 * ms, 0x7f0000009000);
    host_alloc(b, 2 * ms, 0x7f0000001000, 4096, 0x110);
    host_alloc(b, 3 * ms, 0x7f0000002000, 100, 0x220);
    trace_builder_host_free(b, 0, 4 * ms, 0x7f0000001000);
    end(b, folder_of(name));
}

static void make_unmarked(const char *name, uint64_t turns, uint64_t kept_bytes)
{
    struct trace_builder *b = begin(1000);

    host_alloc(b, 1 * ms, 0x7f0000000000, 1 << 20, 0x110);
    for (uint64_t i = 1; i <= turns; i++) {
        uint64_t t = 10 * ms * i;

        host_alloc(b, t, 0x7f0001000000, 8192, 0x220);
        if (kept_bytes)
            host_alloc(b, t + 1 * ms, 0x7f0002000000 + (i << 12), kept_bytes, 0x330);
        host_alloc(b, t + 2 * ms, 0x7f0003000000, 4096, 0x440);
        trace_builder_host_free(b, 0, t + 3 * ms, 0x7f0003000000);
        trace_builder_host_free(b, 0, t + 4 * ms, 0x7f0001000000);
    }
    end(b, folder_of(name));
}

/*
 * A site that keeps a large block of the heap and a small one of Python's objects in each step. The
 * heap is highest before that, while modules are loaded: at that peak the site holds nothing of the
 * heap.
 */
static void make_two_ledgers(const char *name)
{
    static const struct mt_place host = {.device = -1, .kind = MT_KIND_HOST, .module = -1};
    struct trace_builder *b = begin(1000);

    host_alloc(b, 1 * ms, 0x7f0000000000, 64 << 20, 0x110);
    trace_builder_host_free(b, 0, 2 * ms, 0x7f0000000000);
    for (uint64_t i = 1; i <= 12; i++) {
        uint64_t t = 10 * ms * i;
        struct built_block object = {0x7f0005000000 + (i << 12), 56, site_base + 0x330, "python",
                                     host};

        step(b, MT_RECORD_step_begin, t, i);
        trace_builder_alloc(b, 0, t + 1 * ms, object);
        host_alloc(b, t + 2 * ms, 0x7f0002000000 + (i << 16), 20000, 0x330);
        step(b, MT_RECORD_step_end, t + 3 * ms, i);
    }
    end(b, folder_of(name));
}

static void make_lost(const char *name)
{
    struct trace_builder *b = begin(1000);

    host_alloc(b, 2 * ms, 0x7f0000001000, 4096, 0x110);
    trace_builder_header(b)->lost_counts[MT_LOST_DISK] = 17;
    end(b, folder_of(name));
}

/* Stacks that share frames, one that shares more than there are, and one that is not defined. */
static void make_broken_stacks(const char *name)
{
    static const uint64_t frames[] = {site_base + 0x100, site_base + 0x200, site_base + 0x300};
    static const struct built_stack stacks[] = {
        {.id = 1, .flags = MT_STACK_COMPLETE, .frames = frames, .count = 3},
        {.id = 2,
         .flags = MT_STACK_TRUNCATED,
         .shared_count = 2,
         .before = site_base + 0x200,
         .frames = frames,
         .count = 1},
        {.id = 3, .shared_count = 7, .frames = frames, .count = 1},
    };
    struct trace_builder *b = begin(1000);

    for (uint64_t i = 0; i < 4; i++) {
        if (i < 3)
            trace_builder_stack(b, 0, (2 * i + 1) * ms, &stacks[i]);
        trace_builder_host_alloc(b, 0, (2 * i + 2) * ms,
                                 (struct built_block){.address = 0x7f0000001000 + 4096 * i,
                                                      .size = 4096,
                                                      .site = MT_SITE_IS_STACK | (i + 1)});
    }
    end(b, folder_of(name));
}

static void make_newer(const char *name)
{
    struct trace_builder *b = begin(1000);

    trace_builder_header(b)->major = 9;
    end(b, folder_of(name));
}

/* Two chunks, of which a copy that broke off lacks half of the second. */
static void make_cut(const char *name)
{
    struct trace_builder *b = begin(1000);
    const char *path;
    size_t whole_bytes;

    host_alloc(b, 2 * ms, 0x7f0000001000, 4096, 0x110);
    trace_builder_drain(b, 0);
    host_alloc(b, 3 * ms, 0x7f0000002000, 100, 0x220);
    trace_builder_drain(b, 0);
    trace_builder_bytes(b, &whole_bytes);
    path = trace_builder_write(b, folder_of(name));
    if (truncate(path, (off_t)whole_bytes - 40) != 0)
        exit(1);
    trace_builder_destroy(b);
}

/* The end of it was not written: nobody knows how much is missing. */
static void make_torn(const char *name, const char *whole)
{
    enum { NAME_BYTES = 256, TORN_BYTES = 100 };
    char from[NAME_BYTES], to[NAME_BYTES], bytes[1 << 16];
    FILE *file;
    size_t size;

    snprintf(from, sizeof(from), "%s/1000-1000000.mtt", whole);
    snprintf(to, sizeof(to), "%s/1000-1000000.mtt", folder_of(name));
    file = fopen(from, "rb");
    if (!file)
        exit(1);
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    file = size > TORN_BYTES ? fopen(to, "wb") : NULL;
    if (!file || fwrite(bytes, 1, size - TORN_BYTES, file) != size - TORN_BYTES ||
        fclose(file) != 0)
        exit(1);
}

static void make_two(const char *name)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_builder *b = begin(1000 + i);

        host_alloc(b, 2 * ms, 0x7f0000001000, 4096 << i, 0x110);
        end(b, folder_of(name));
    }
}

static void make_text(const char *name)
{
    FILE *file = fopen(name, "w");

    if (!file || fputs("not a trace\n", file) == EOF || fclose(file) != 0)
        exit(1);
}

/* Rows of a block stand where it is freed, as the tool writes them. */
static void write_text(const char *path, const char *head, const char *rest)
{
    FILE *file = fopen(path, "w");

    if (!file || fprintf(file, "%s%s", head, rest) < 0 || fclose(file) != 0)
        exit(1);
}

static void write_csv(const char *path, const char *rows)
{
    write_text(path,
               "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
               "Call Stack(Python),Call Stack(C)\n",
               rows);
}

static void csv_traces(void)
{
    write_csv("base.csv",
              "1,OP_LAUNCH,ATEN_START,aten.mm,1000,7,7,0,N/A,,,\n"
              "2,MALLOC,PTA,N/A,1001,7,7,0,0x1000,\"{addr:0x1000,size:512,total:4096}\",,\n"
              "3,OP_LAUNCH,ATEN_END,aten.mm,1002,7,7,0,N/A,,,\n"
              "4,OP_LAUNCH,ATEN_START,aten.add,1003,7,7,0,N/A,,,\n"
              "6,OP_LAUNCH,ATEN_END,aten.add,1005,7,7,0,N/A,,,\n"
              "5,MALLOC,PTA,N/A,1004,7,7,0,0x2000,\"{addr:0x2000,size:1024,total:4096}\",,\n"
              "7,FREE,PTA,N/A,1006,7,7,0,0x2000,\"{addr:0x2000,size:1024,total:4096}\",,\n");
    write_csv("now.csv",
              "1,OP_LAUNCH,ATEN_START,aten.mm,1000,7,7,0,N/A,,,\n"
              "2,MALLOC,PTA,N/A,1001,7,7,0,0x1000,\"{addr:0x1000,size:512,total:4096}\",,\n"
              "3,OP_LAUNCH,ATEN_END,aten.mm,1002,7,7,0,N/A,,,\n"
              "4,OP_LAUNCH,ATEN_START,aten.relu,1003,7,7,0,N/A,,,\n"
              "5,OP_LAUNCH,ATEN_END,aten.relu,1004,7,7,0,N/A,,,\n"
              "6,OP_LAUNCH,ATEN_START,aten.add,1005,7,7,0,N/A,,,\n"
              "8,OP_LAUNCH,ATEN_END,aten.add,1007,7,7,0,N/A,,,\n"
              "7,MALLOC,PTA,N/A,1006,7,7,0,0x2000,\"{addr:0x2000,size:2048,total:4096}\",,\n"
              "9,FREE,PTA,N/A,1008,7,7,0,0x2000,\"{addr:0x2000,size:-2048,total:4096}\",,\n");
}

/* As heaptrack writes it: texts, addresses, stacks, kinds of blocks, allocs and frees. */
static void make_stacks(const char *name)
{
    static const char text[] =
        "v 10400 3\nX train\ns a /opt/train\ns 6 malloc\ns 4 load\ns 4 step\ns 4 main\n"
        "s 6 _start\ns 7 train.c\ns 7 batch.c\n"
        "i 10 1 2\ni 20 1 3 8 c\ni 30 1 4 7 20\ni 40 1 5 7 30\ni 50 1 6\n"
        "t 5 0\nt 4 1\nt 3 2\nt 2 3\nt 1 4\nt 2 2\nt 1 6\nt 1 3\n"
        "a 100000 5\na 40000 7\na 8000 8\nc 1\n+ 0\n+ 0\n+ 1\n+ 2\nc a\n- 0\n- 2\nc 14\n";
    FILE *file = fopen(name, "w");

    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        exit(1);
}

/* One function that asks in two lines, the large one first. */
static void make_lines(const char *name, const char *events)
{
    static const char head[] =
        "v 10400 3\nX train\ns a /opt/train\ns 6 malloc\ns 4 load\ns 4 main\ns 7 batch.c\n"
        "i 10 1 2\ni 20 1 3 5 c\ni 28 1 3 5 d\ni 30 1 4\n"
        "t 4 0\nt 2 1\nt 1 2\nt 3 1\nt 1 4\n"
        "a 100000 3\na 100 5\nc 1\n";
    FILE *file = fopen(name, "w");

    if (!file || fprintf(file, "%s%sc 14\n", head, events) < 0 || fclose(file) != 0)
        exit(1);
}

/* A server whose heap is mostly free, and a worker that it has forked; both map a queue. */
static void make_processes(void)
{
    static const uint64_t heap = 0x10000000, heap_end = 0x10800000, kib = 1024, mib = 1 << 20;
    struct fake_process fake;

    fake_process_begin(&fake, "proc/4711", 4711, "server");
    fake_mapping(&fake, 0x400000, 0x500000, "r-xp", 8, "/usr/bin/server", mib, 2);
    fake_mapping(&fake, heap, heap_end, "rw-p", 0, "[heap]", 8 * mib, 2);
    fake_heap(&fake, heap, heap_end, 16 * kib, 63);
    fake_mapping(&fake, 0x20000000, 0x21000000, "rw-s", 9, "/dev/shm/queue", 16 * mib, 2);
    fake_mapping(&fake, 0x30000000, 0x30200000, "rw-p", 0, "", 2 * mib, 1);
    fake_mapping(&fake, 0x7fe00000, 0x7fe20000, "rw-p", 0, "[stack]", 64 * kib, 1);
    fake_file(&fake, "../self/mountinfo", "36 25 0:30 / proc rw - cgroup2 cgroup rw\n");
    fake_file(&fake, "cgroup", "0::/self\n");
    fake_file(&fake, "../self/memory.current", "67108864\n");
    fake_file(&fake, "../self/memory.max", "134217728\n");
    fake_file(&fake, "../self/memory.stat",
              "anon 8388608\nfile 50331648\nshmem 16777216\nfile_dirty 1048576\n"
              "inactive_file 25165824\nactive_file 8388608\nslab_reclaimable 65536\nslab 131072\n");
    fake_file(&fake, "../self/memory.events", "oom_kill 0\n");
    fake_process_end(&fake, 128 * kib);
    fake_process_begin(&fake, "proc/4712", 4712, "worker");
    fake_file(&fake, "../self/mountinfo", "36 25 0:30 / proc rw - cgroup2 cgroup rw\n");
    fake_mapping(&fake, 0x400000, 0x500000, "r-xp", 8, "/usr/bin/server", mib, 2);
    fake_mapping(&fake, heap, heap_end, "rw-p", 0, "[heap]", 8 * mib, 2);
    fake_heap(&fake, heap, heap_end, 16 * kib, 63);
    fake_mapping(&fake, 0x20000000, 0x21000000, "rw-s", 9, "/dev/shm/queue", 16 * mib, 2);
    fake_process_end(&fake, 0);
}

static void account_note(struct trace_builder *b, uint64_t time, const char *subject,
                         const char *text, uint64_t first)
{
    uint64_t fields[] = {trace_builder_text(b, 0, time, subject),
                         *text ? trace_builder_text(b, 0, time, text) : 0, 0, first, first};

    trace_builder_push(b, 0, MT_RECORD_note, time, fields);
}

/* A server that makes segments of shared memory and never gives them back; and its heap. */
static void make_accounts(const char *name)
{
    struct trace_builder *b = begin(1000);

    for (uint64_t i = 1; i <= 16; i++) {
        uint64_t t = 2000 * ms * i, kept = 5 << 20, blocks = 3 << 20, shared = i * (10 << 20);

        host_alloc(b, t, 0x7f0000001000 + (i << 12), 64, 0x220);
        account_note(b, t, "account", "", 3);
        account_note(b, t, "account part blocks of malloc", "main arena", blocks);
        account_note(b, t, "account part kept free by malloc", "main arena", kept);
        account_note(b, t, "account part shared memory", "/dev/shm/segments (deleted)", shared);
        account_note(b, t, "account figure", "resident", blocks + kept + shared);
        account_note(b, t, "account figure", "proportional", blocks + kept + shared);
        account_note(b, t, "account figure", "trim", kept / 2);
        account_note(b, t, "account figure", "threads", 4);
        account_note(b, t, "account end", "", 0);
    }
    end(b, folder_of(name));
}

/* A heap was looked into while it was small, and is much larger since. */
static void make_rough_accounts(const char *name)
{
    enum { IS_ROUGH = 32 }; /* ACCOUNT_IS_ROUGH */
    struct trace_builder *b = begin(1000);

    for (uint64_t i = 1; i <= 8; i++) {
        uint64_t t = 2000 * ms * i, heap = i * (64 << 20);

        host_alloc(b, t, 0x7f0000001000 + (i << 12), 64, 0x220);
        account_note(b, t, "account", "", 1);
        account_note(b, t, i == 1 ? "account part blocks of malloc" : "account part heap not split",
                     "main arena", heap);
        account_note(b, t, "account figure", "resident", heap);
        account_note(b, t, "account figure", "doubts", i == 1 ? 0 : IS_ROUGH);
        account_note(b, t, "account end", "", 0);
    }
    end(b, folder_of(name));
}

static void npu_free(struct trace_builder *b, uint64_t time, uint64_t address)
{
    trace_builder_free(b, 0, time, "pta", address);
}

/* Two blocks of a model with a weight each, told after they were made, and what they keep forward.
 */
static void make_nn_modules(const char *name)
{
    struct trace_builder *b = begin(1000);

    for (uint64_t i = 0; i < 2; i++)
        npu_alloc(b, ms, 0x12c000000000 + i * (8 << 20), 8 << 20, 0x110);
    for (uint64_t i = 1; i <= 6; i++) {
        uint64_t t = 100 * ms * i;

        step(b, MT_RECORD_step_begin, t, i);
        account_note(b, t, "nn module begin", "Net", 0);
        for (uint64_t k = 0; k < 2; k++) {
            const char *path = k ? "Net.blocks.1" : "Net.blocks.0";

            account_note(b, t, "nn module begin", path, 0);
            npu_alloc(b, t, 0x12c100000000 + k * (4 << 20), 4 << 20, 0x120);
            account_note(b, t, "nn module end", path, 0);
            account_note(b, t, "block nn module", path, 0x12c000000000 + k * (8 << 20));
        }
        npu_alloc(b, t, 0x12c200000000, 2 << 20, 0x130);
        account_note(b, t, "nn module end", "Net", 0);
        npu_alloc(b, t, 0x12c300000000, 1 << 20, 0x140);
        npu_alloc(b, t, 0x12c400000000 + (i << 16), 1 << 16, 0x150);
        for (uint64_t k = 0; k < 2; k++)
            npu_free(b, t, 0x12c100000000 + k * (4 << 20));
        npu_free(b, t, 0x12c200000000);
        npu_free(b, t, 0x12c300000000);
        step(b, MT_RECORD_step_end, t + 50 * ms, i);
    }
    end(b, folder_of(name));
}

/* A model on the host: malloc gave more than the pool of its framework, of which a module asked for
 * little itself. */
static void make_nn_modules_on_host(const char *name)
{
    static const struct mt_place host = {.device = -1, .kind = MT_KIND_HOST, .module = -1};
    struct trace_builder *b = begin(1000);
    struct built_block weight = {0x7f1000000000, 8 << 20, site_base + 0x110, "torch_cpu", host};

    host_alloc(b, ms, 0x7f0000000000, 64 << 20, 0x120);
    account_note(b, ms, "nn module begin", "Net", 0);
    host_alloc(b, ms, 0x7f0008000000, 64 << 10, 0x130);
    trace_builder_alloc(b, 0, ms, weight);
    account_note(b, ms, "nn module end", "Net", 0);
    end(b, folder_of(name));
}

int main(void)
{
    make_training("leak", 12);
    make_training("short", 3);
    make_window("window");
    make_unmarked("unmarked", 60, 2000);
    make_unmarked("light", 60, 20);
    make_unmarked("tidy", 60, 0);
    make_torn("torn", "tidy");
    make_unmarked("few_turns", 9, 500000);
    make_two_ledgers("two_ledgers");
    make_lost("lost");
    make_broken_stacks("broken_stacks");
    make_newer("newer");
    make_cut("cut");
    folder_of("empty");
    make_text("text");
    make_two("two");
    make_device_leak("cudart", "cudart", NULL, "gpu used");
    make_device_leak("cuda", "cudart", "cuda", "gpu used");
    make_device_leak("hip", "hip", NULL, "hip used");
    make_refused("refused", false);
    make_refused("granted", true);
    make_mapped("mapped");
    make_layers("layers");
    make_nn_modules("model");
    make_nn_modules_on_host("model_on_host");
    make_stacks("stacks");
    make_lines("lines_base", "+ 0\n+ 1\n");
    make_lines("lines_late", "+ 1\n+ 0\n+ 0\n");
    make_lines("lines", "+ 0\n+ 0\n+ 1\n");
    csv_traces();
    make_processes();
    make_accounts("accounts");
    make_rough_accounts("rough_accounts");
    write_text("process.toml", "[process]\n",
               "resident = \"64 MiB\"\nkept_by_malloc = \"16 MiB\"\n");
    return 0;
}
