/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace, and on standard output the records that are in it:
 *
 *     make_known_trace folder
 *
 * One line a record: code, time, fields. For read_by_the_page.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leaktide/columns.h"
#include "leaktide/frames.h"
#include "trace_builder.h"

enum { RECORDS = 40000, SLOTS = 300 };

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void push(struct trace_builder *b, enum mt_record_code code, uint64_t time,
                 const uint64_t *fields, unsigned count)
{
    trace_builder_push(b, 0, code, time, fields);
    printf("%d %" PRIu64, (int)code, time);
    for (unsigned i = 0; i < count; i++)
        printf(" %" PRIu64, fields[i]);
    printf("\n");
}

static void push_text(struct trace_builder *b, uint64_t time, uint64_t id)
{
    char text[64];

    snprintf(text, sizeof(text), "text-%" PRIu64, id * id);
    trace_builder_push_bytes(b, 0, MT_RECORD_text, time, &id, text, strlen(text));
    printf("%d %" PRIu64 " %" PRIu64 " %s\n", MT_RECORD_text, time, id, text);
}

/* Ids grow by one; a stack shares what it can with the one before. Printed whole. */
static void push_stack(struct trace_builder *b, uint64_t time, uint64_t *seed)
{
    static uint64_t frames[64], id, count;
    uint64_t shared = count ? random_next(seed) % count : 0;
    struct built_stack stack = {++id,
                                shared,
                                1,
                                shared ? frames[shared - 1] : 0,
                                frames + shared,
                                1 + random_next(seed) % 8};

    count = shared + stack.count;
    for (uint64_t i = shared; i < count; i++)
        frames[i] = random_next(seed) % 4
                        ? UINT64_C(0x7f0000000000) + random_next(seed)
                        : mt_frame_of_code(random_next(seed) % 9, random_next(seed) % 999);
    trace_builder_stack(b, 0, time, &stack);
    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " 1 ", MT_RECORD_stack, time, id, shared);
    for (uint64_t i = 0; i < count; i++)
        printf("%s%" PRIu64, i ? "," : "", frames[i]);
    printf("\n");
}

/* Allocates where nothing is, frees what is there: mostly as heaps do, sometimes anywhere. */
static void push_block(struct trace_builder *b, uint64_t time, uint64_t *seed, uint64_t *address)
{
    static uint64_t freed[32], fresh = 0x5000000;
    uint64_t size, site;

    if (*address) {
        trace_builder_host_free(b, 0, time, *address);
        printf("%d %" PRIu64 " %" PRIu64 "\n", MT_RECORD_host_free, time, *address);
        freed[random_next(seed) % 32] = *address;
        *address = 0;
        return;
    }
    size = random_next(seed) % 8 ? random_next(seed) % 6 * 40 : random_next(seed);
    site = random_next(seed) % 4 ? 0x400000 + random_next(seed) % 40 * 3
                                 : MT_SITE_IS_STACK | (1 + random_next(seed) % 40);
    *address = freed[random_next(seed) % 32];
    if (!*address || random_next(seed) % 2) {
        *address = fresh;
        fresh += (size + 23) / 16 * 16;
    }
    if (random_next(seed) % 50 == 0)
        *address = random_next(seed);
    trace_builder_host_alloc(b, 0, time,
                             (struct built_block){.address = *address, .size = size, .site = site});
    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", MT_RECORD_host_alloc, time, site,
           size, *address);
}

static void push_module(struct trace_builder *b, uint64_t time, uint64_t number)
{
    const uint64_t fields[] = {number << 12, 4096, number, number % 700};
    unsigned char build_id[20];

    for (unsigned i = 0; i < sizeof(build_id); i++)
        build_id[i] = (unsigned char)(number >> i % 24);
    trace_builder_push_bytes(b, 0, MT_RECORD_module, time, fields, build_id, sizeof(build_id));
    printf("%d %" PRIu64, MT_RECORD_module, time);
    for (unsigned i = 0; i < 4; i++)
        printf(" %" PRIu64, fields[i]);
    printf(" ");
    for (unsigned i = 0; i < sizeof(build_id); i++)
        printf("%02x", build_id[i]);
    printf("\n");
}

/* The values mean nothing; they repeat sometimes, and are of any length. */
static void push_any(struct trace_builder *b, uint64_t time, unsigned code, uint64_t *seed)
{
    uint64_t fields[MT_FIELDS_MAX];
    unsigned count = 0;

    while (count < MT_FIELDS_MAX && mt_field_encoding(code, count)) {
        uint64_t number = random_next(seed);

        fields[count++] = number % 2 ? number % 700 : number << number % 33;
    }
    push(b, code, time, fields, count);
}

/* Every kind of record but those of the host heap. */
static void push_other(struct trace_builder *b, uint64_t time, uint64_t *seed)
{
    unsigned code = MT_RECORD_alloc + random_next(seed) % (MT_RECORD_CODE_END - MT_RECORD_alloc);

    if (code == MT_RECORD_text)
        push_text(b, time, random_next(seed) % 700 + 1);
    else if (code == MT_RECORD_module)
        push_module(b, time, random_next(seed));
    else if (code == MT_RECORD_stack)
        push_stack(b, time, seed);
    else if (mt_field_encoding(code, 0))
        push_any(b, time, code, seed);
}

int main(int argc, char **argv)
{
    static uint64_t slots[SLOTS];
    struct trace_builder *b = trace_builder_create(&(struct trace_builder_setup){0});
    uint64_t seed = 77, time = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: make_known_trace folder\n");
        return 2;
    }
    for (unsigned i = 0; i < RECORDS; i++) {
        time += random_next(&seed) % (random_next(&seed) % 100 ? 100 : 1000000);
        if (random_next(&seed) % 5)
            push_block(b, time, &seed, &slots[random_next(&seed) % SLOTS]);
        else
            push_other(b, time, &seed);
    }
    trace_builder_close(b);
    trace_builder_write(b, argv[1]);
    trace_builder_destroy(b);
    return 0;
}
