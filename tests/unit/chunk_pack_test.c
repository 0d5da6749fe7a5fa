/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packed chunk unpacks to what went in, with either effort, in the workspace that was promised.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "chunk_pack.h"

struct fixture {
    ZSTD_CCtx *zstd;
    void *workspace;
    uint8_t raw[MT_CHUNK_RAW_MAX], back[MT_CHUNK_RAW_MAX];
    uint8_t out[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->workspace = malloc(chunk_pack_workspace_bytes());
    f->zstd = ZSTD_initStaticCCtx(f->workspace, chunk_pack_workspace_bytes());
    *state = f;
    return f->zstd ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->workspace);
    free(f);
    return 0;
}

/* Few different bytes, as in a column of times. */
static void fill(struct fixture *f)
{
    uint64_t random = 1;

    for (size_t i = 0; i < sizeof(f->raw); i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        f->raw[i] = (uint8_t)(random >> 60);
    }
}

/* Bytes of the payload, after it was unpacked and compared. */
static size_t pack(struct fixture *f, size_t raw_bytes, enum chunk_effort effort)
{
    struct mt_chunk_header header = {.kind = MT_CHUNK_EVENTS};
    size_t size_bytes =
        chunk_pack(&header, f->raw, raw_bytes, effort, f->zstd, f->out, sizeof(f->out));

    assert_true(size_bytes >= sizeof(header) + header.payload_bytes);
    assert_int_equal(size_bytes % 8, 0);
    assert_int_equal(header.raw_bytes, raw_bytes);
    assert_int_equal(
        ZSTD_decompress(f->back, sizeof(f->back), f->out + sizeof(header), header.payload_bytes),
        raw_bytes);
    assert_memory_equal(f->back, f->raw, raw_bytes);
    return header.payload_bytes;
}

static void either_effort_unpacks(void **state)
{
    struct fixture *f = *state;

    fill(f);
    for (size_t raw_bytes = 1; raw_bytes <= sizeof(f->raw); raw_bytes *= 8) {
        pack(f, raw_bytes, CHUNK_QUICK);
        pack(f, raw_bytes, CHUNK_SMALL);
    }
}

/* The effort of the chunk before does not stay with the context. */
static void a_small_chunk_is_smaller(void **state)
{
    struct fixture *f = *state;
    size_t quick_bytes, small_bytes;

    fill(f);
    quick_bytes = pack(f, sizeof(f->raw), CHUNK_QUICK);
    small_bytes = pack(f, sizeof(f->raw), CHUNK_SMALL);
    assert_true(small_bytes < quick_bytes / 4 * 3);
    assert_int_equal(pack(f, sizeof(f->raw), CHUNK_QUICK), quick_bytes);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct fixture *f = *state;
    struct mt_chunk_header header = {.kind = MT_CHUNK_EVENTS};

    fill(f);
    assert_int_equal(chunk_pack(&header, f->raw, sizeof(f->raw), CHUNK_QUICK, f->zstd, f->out, 63),
                     0);
    assert_int_equal(
        chunk_pack(&header, f->raw, sizeof(f->raw), CHUNK_QUICK, f->zstd, f->out, 4096), 0);
    pack(f, sizeof(f->raw), CHUNK_SMALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(either_effort_unpacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_small_chunk_is_smaller, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
