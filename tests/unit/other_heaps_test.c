/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of jemalloc, tcmalloc, mimalloc and a JVM, made of files as these lay them out: the account
 * splits them to the byte; and whatever stands there instead, it ends and adds up.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "account.h"
#include "fake_process.h"

#define KIB      UINT64_C(1024)
#define MIB      (KIB << 10)
#define OBJECT   UINT64_C(0x10000000) /* has variables in a mapping after it */
#define LEAF     UINT64_C(0x18000000)
#define HEAP     UINT64_C(0x40000000)
#define COUNTERS UINT64_C(0x50000000)

enum { ROUNDS = 25, WORDS_DAMAGED = 8, WORDS_MOST = 1024 };

/* What was written, so that damage hits something that is read. */
static struct {
    struct fake_process fake;
    uint64_t words[WORDS_MOST];
    size_t word_count;
} made;

static void put(uint64_t address, uint64_t word)
{
    fake_word(&made.fake, address, word);
    if (made.word_count < WORDS_MOST)
        made.words[made.word_count++] = address;
}

static void put_two(uint64_t address, uint32_t first, uint32_t second)
{
    put(address, first | (uint64_t)second << 32);
}

static void begin(void)
{
    if (!fake_pages_fit())
        skip();
    made.word_count = 0;
    fake_process_begin(&made.fake, fake_folder, 4711, "server");
}

static void make_object(const char *path, uint64_t variables_bytes)
{
    Elf64_Ehdr head = {
        .e_ident = ELFMAG, .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1};
    Elf64_Phdr part = {.p_type = PT_LOAD, .p_memsz = 4 * KIB + variables_bytes};
    uint64_t words[(sizeof(head) + sizeof(part)) / sizeof(uint64_t)];

    memcpy(words, &head, sizeof(head));
    memcpy((char *)words + sizeof(head), &part, sizeof(part));
    fake_mapping(&made.fake, OBJECT, OBJECT + 4 * KIB, "rw-p", 77, path, 4 * KIB, 1);
    fake_mapping(&made.fake, OBJECT + 4 * KIB, OBJECT + 4 * KIB + variables_bytes, "rw-p", 0, "",
                 variables_bytes, 1);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        put(OBJECT + i * sizeof(words[0]), words[i]);
}

static void take(struct account *account)
{
    fake_process_end(&made.fake, 0);
    assert_int_equal(account_take(made.fake.folder, ACCOUNT_WHOLE, NULL, account), 0);
}

static uint64_t part_bytes(const struct account *account, enum account_part part)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].part == part ? account->rows[i].resident_bytes : 0;
    return sum;
}

static void assert_adds_up(const struct account *account)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].resident_bytes;
    assert_int_equal(sum, account->figures[ACCOUNT_FIGURE_RESIDENT]);
}

static void expect(const struct account *account, uint64_t blocks, uint64_t kept, uint64_t spare,
                   uint64_t own)
{
    assert_adds_up(account);
    assert_int_equal(part_bytes(account, ACCOUNT_BLOCKS), blocks);
    assert_int_equal(part_bytes(account, ACCOUNT_KEPT), kept);
    assert_int_equal(account->figures[ACCOUNT_FIGURE_SPARE], spare);
    assert_int_equal(part_bytes(account, ACCOUNT_MALLOC_OWN), own);
}

/* --- jemalloc -------------------------------------------------------------------------------- */

static void jemalloc_extent(uint64_t number, uint64_t page, uint64_t pages, uint64_t bits)
{
    uint64_t extent = LEAF + 2 * MIB + number * 128, address = HEAP + page * 4 * KIB;

    put(extent, bits);
    put(extent + 8, address);
    put(extent + 16, pages * 4 * KIB);
    for (uint64_t i = 0; i < pages; i++)
        put(LEAF + (address / (4 * KIB) + i) % (1 << 18) * 8, extent);
}

/* A slab of 16 blocks of 256 B, of which 4 are free; a block of two pages; three free pages. */
static void make_jemalloc(void)
{
    uint64_t tree = OBJECT + 8 * KIB;

    begin();
    make_object("/lib/libjemalloc.so.2", 2 * MIB + 64 * KIB);
    fake_mapping(&made.fake, LEAF, LEAF + 3 * MIB, "rw-p", 0, "", 3 * MIB, 1);
    fake_mapping(&made.fake, HEAP, HEAP + 24 * KIB, "rw-p", 0, "", 24 * KIB, 1);
    put(tree + (HEAP >> 30) * 8, LEAF);
    jemalloc_extent(0, 0, 1, 1 << 12 | 12 << 20 | UINT64_C(4) << 28);
    jemalloc_extent(1, 1, 2, 30 << 20);
    jemalloc_extent(2, 3, 3, 1 << 17 | 30 << 20);
}

static void a_heap_of_jemalloc_is_split(void **state)
{
    struct account account;

    (void)state;
    make_jemalloc();
    take(&account);
    expect(&account, 12 * 256 + 8 * KIB, 4 * 256 + 12 * KIB, 12 * KIB, 0);
    account_release(&account);
}

/* --- tcmalloc -------------------------------------------------------------------------------- */

enum { CLASSES = 40 };

static uint32_t class_size(uint32_t number)
{
    return number == 0 ? 0 : number == 1 ? 8 : number < CLASSES - 1 ? (number - 1) * 16 : 1 << 18;
}

static void tcmalloc_span(uint64_t number, uint64_t page, uint64_t pages, uint32_t bits)
{
    uint64_t span = LEAF + 2 * MIB + number * 48, first = HEAP / (8 * KIB) + page;

    put(span, first);
    put(span + 8, pages);
    put_two(span + 40, bits, 0);
    for (uint64_t i = 0; i < pages; i++)
        put(LEAF + (first + i) % (1 << 18) * 8, span);
}

/*
 * A span of 512 blocks of 16 B, of which 200 are free, and 7 more in the cache of a thread, and 2
 * slots of 3 in that of all; a block of a page; a free page; and one that was given back, of which
 * half is there again.
 */
static void make_tcmalloc(void)
{
    uint64_t variables = OBJECT + 4 * KIB, root = variables + 4 * KIB;
    uint64_t counts = root + MIB + 8 * KIB, sizes = counts + 128 * 4;
    uint64_t lists = sizes + 8 * KIB, cache = LEAF + 2 * MIB + 16 * KIB;

    begin();
    make_object("/lib/libtcmalloc.so.4", MIB + 128 * KIB);
    fake_mapping(&made.fake, LEAF, LEAF + 3 * MIB, "rw-p", 0, "", 3 * MIB, 1);
    fake_mapping(&made.fake, HEAP, HEAP + 32 * KIB, "rw-p", 0, "", 28 * KIB, 1);
    put(root + (HEAP >> 31) * 8, LEAF);
    tcmalloc_span(0, 0, 1, 312 | 2 << 16);
    tcmalloc_span(1, 1, 1, 1);
    tcmalloc_span(2, 2, 1, 1 << 24);
    tcmalloc_span(3, 3, 1, 2 << 24);
    put_two(counts, 0, 32);
    put_two(counts + 8, 3, 32);
    for (uint32_t i = 0; i < CLASSES; i += 2)
        put_two(sizes + i * 4, class_size(i), class_size(i + 1));
    for (uint32_t i = 1; i < CLASSES; i++) {
        put(lists + (i - 1) * 1216, i);
        put_two(cache + i * 32 + 24, class_size(i), 0);
    }
    put_two(lists + 1216 + 1144, 2, 64);
    put_two(cache + 2 * 32 + 8, 7, 0);
    put(sizes + 4 * KIB, cache);
}

static void a_heap_of_tcmalloc_is_split(void **state)
{
    uint64_t cached = (7 + 2 * 3) * 16;
    struct account account;

    (void)state;
    make_tcmalloc();
    take(&account);
    expect(&account, 312 * 16 + 8 * KIB - cached, 200 * 16 + 8 * KIB + 4 * KIB + cached, 12 * KIB,
           0);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_CACHED], cached);
    account_release(&account);
}

/* --- mimalloc -------------------------------------------------------------------------------- */

static const struct mimalloc_case {
    const char *name;
    unsigned used_at, counts_at, slices_at, slice_bytes, slice_used_at, slice_heap_at;
    bool is_wide; /* the sizes of blocks have 8 bytes, and stand after their count of 2 */
} mimallocs[] = {
    {"a heap of mimalloc 2.0 is split", 208, 224, 264, 80, 24, 48, false},
    {"a heap of mimalloc 2.1.7 is split", 208, 224, 264, 96, 32, 64, true},
    {"a heap of mimalloc 2.2 is split", 216, 248, 288, 96, 32, 64, true},
};

static void mimalloc_slice(const struct mimalloc_case *c, uint64_t segment, uint64_t number,
                           uint32_t count, uint32_t reserved, uint32_t used, uint32_t block_bytes)
{
    uint64_t slice = segment + c->slices_at + number * c->slice_bytes;

    put_two(slice, count, 0);
    put_two(slice + 8, 0, reserved);
    put_two(slice + c->slice_used_at, used, c->is_wide ? 0 : block_bytes);
    if (c->is_wide)
        put(slice + c->slice_used_at + 8, block_bytes);
    if (used)
        put(slice + c->slice_heap_at, OBJECT + 4 * KIB + 64); /* a variable */
}

/* Its own slice; one with 1,000 of 2,000 blocks of 32 B; two of a block; the others free, of which
 * one was touched. */
static void make_mimalloc_of(const struct mimalloc_case *c)
{
    begin();
    make_object("/lib/libarrow.so", 4 * KIB);
    fake_mapping(&made.fake, HEAP, HEAP + 32 * MIB, "rw-p", 0, "[anon:mimalloc]", 5 * 64 * KIB, 1);
    put(HEAP + c->used_at, 2);
    put(HEAP + c->counts_at, 512);
    put(HEAP + c->counts_at + 8, 1);
    put(HEAP + c->counts_at + 24, 512);
    mimalloc_slice(c, HEAP, 0, 1, 0, 0, 64 * KIB);
    mimalloc_slice(c, HEAP, 1, 1, 2000, 1000, 32);
    mimalloc_slice(c, HEAP, 2, 2, 1, 1, 100 * KIB);
    mimalloc_slice(c, HEAP, 4, 508, 0, 0, 0);
}

static void make_mimalloc(void)
{
    static size_t number;

    make_mimalloc_of(&mimallocs[number++ % (sizeof(mimallocs) / sizeof(mimallocs[0]))]);
}

static void a_heap_of_mimalloc_is_split(void **state)
{
    struct account account;
    const struct account_row *row;

    make_mimalloc_of(*state);
    take(&account);
    expect(&account, 32000 + 100 * KIB, 64 * KIB - 32000 + 28 * KIB + 64 * KIB, 64 * KIB, 64 * KIB);
    for (row = account.rows; row->part != ACCOUNT_BLOCKS; row++)
        ;
    assert_string_equal(row->name, "mimalloc of libarrow.so");
    account_release(&account);
}

/* A segment of its own for one large block, with as many slices as that takes. */
static void put_large_mimalloc(const struct mimalloc_case *c, uint64_t segment, bool is_freed)
{
    fake_mapping(&made.fake, segment, segment + 32 * MIB, "rw-p", 0, "[anon:mimalloc]", 32 * MIB,
                 1);
    put(segment + c->used_at, !is_freed);
    put(segment + c->counts_at, 337);
    put(segment + c->counts_at + 8, 1);
    put_two(segment + c->counts_at + 16, 1, 0);
    put(segment + c->counts_at + 24, 337);
    mimalloc_slice(c, segment, 0, 1, 0, 0, 64 * KIB);
    mimalloc_slice(c, segment, 1, 336, 1, 1, 21 * MIB);
}

static void after_a_large_block_of_mimalloc_is_something_else(void **state)
{
    struct account account;

    (void)state;
    begin();
    put_large_mimalloc(&mimallocs[0], HEAP, false);
    take(&account);
    expect(&account, 21 * MIB, 0, 0, 64 * KIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), 11 * MIB - 64 * KIB);
    account_release(&account);
}

/* What it says of itself stays; without another one that is in use, it could be anything. */
static void a_segment_that_mimalloc_freed_is_kept(void **state)
{
    (void)state;
    for (int has_other = 0; has_other < 2; has_other++) {
        uint64_t freed = has_other ? 21 * MIB + 64 * KIB : 0;
        struct account account;

        begin();
        put_large_mimalloc(&mimallocs[2], HEAP, true);
        if (has_other)
            put_large_mimalloc(&mimallocs[2], HEAP + 64 * MIB, false);
        take(&account);
        expect(&account, has_other ? 21 * MIB : 0, freed, freed, has_other ? 64 * KIB : 0);
        account_release(&account);
    }
}

/* --- mimalloc 3 ------------------------------------------------------------------------------ */

static const struct mimalloc3_case {
    const char *name;
    unsigned slice_count_at, page_bytes, memory_at;
    bool is_apart; /* pages are described at the begin of their arena, which says so at 136 */
} mimalloc3s[] = {
    {"a heap of mimalloc 3.1 is split", 32, 120, 96, false},
    {"a heap of mimalloc 3.2 is split", 40, 120, 96, false},
    {"a heap of mimalloc 3.4 is split", 40, 112, 88, true},
};

#define ARENA        (HEAP + 64 * KIB)
#define DESCRIPTIONS (ARENA + 4 * KIB)

static void mimalloc3_page(const struct mimalloc3_case *c, uint64_t slice, uint32_t count,
                           uint16_t used, uint16_t reserved, uint64_t block_bytes)
{
    uint64_t page = ARENA + slice * 64 * KIB;
    uint64_t at = c->is_apart ? DESCRIPTIONS + slice * c->page_bytes : page;
    uint64_t head = c->is_apart ? 0 : 128;

    put(at + 16, used | (uint64_t)reserved << 16 | (uint64_t)reserved << 32);
    put(at + 40, block_bytes);
    put(at + 48, c->is_apart ? (page - at) / 8 : page + head);
    put(at + c->memory_at, ARENA);
    put_two(at + c->memory_at + 8, (uint32_t)slice, count);
    put_two(at + c->memory_at + 16, 7, 0);
}

/* Something else, and an arena: its own slice; a page with 1,000 of 2,000 blocks of 32 B; one of
 * two slices with a block; one whose blocks are all free; a slice that is of no page. */
static void make_mimalloc3_of(const struct mimalloc3_case *c)
{
    begin();
    make_object("/lib/libarrow.so", 4 * KIB);
    fake_mapping(&made.fake, HEAP, ARENA + 32 * MIB, "rw-p", 0, "[anon:mimalloc]", 7 * 64 * KIB, 1);
    put(ARENA, ARENA);
    put(ARENA + 8, 32 * MIB);
    put_two(ARENA + 16, 4, 0);
    put(ARENA + 24, OBJECT + 4 * KIB + 64); /* a variable */
    put(ARENA + c->slice_count_at, 512);
    put(ARENA + c->slice_count_at + 8, 1);
    if (c->is_apart)
        put(ARENA + 136, DESCRIPTIONS);
    mimalloc3_page(c, 1, 1, 1000, 2000, 32);
    mimalloc3_page(c, 2, 2, 1, 1, 100 * KIB);
    mimalloc3_page(c, 4, 1, 0, 10, 6 * KIB);
}

static void make_mimalloc3(void)
{
    static size_t number;

    make_mimalloc3_of(&mimalloc3s[number++ % (sizeof(mimalloc3s) / sizeof(mimalloc3s[0]))]);
}

static void a_heap_of_mimalloc3_is_split(void **state)
{
    struct account account;
    const struct account_row *row;

    make_mimalloc3_of(*state);
    take(&account);
    expect(&account, 32000 + 100 * KIB, 64 * KIB - 32000 + 28 * KIB + 128 * KIB, 128 * KIB,
           64 * KIB);
    /* What is before it, and the object's variables. */
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), 64 * KIB + 4 * KIB);
    for (row = account.rows; row->part != ACCOUNT_BLOCKS; row++)
        ;
    assert_string_equal(row->name, "mimalloc of libarrow.so");
    assert_int_equal(row->count, 1001);
    account_release(&account);
}

/* --- V8 -------------------------------------------------------------------------------------- */

static void v8_chunk(uint64_t number, uint64_t bytes, uint64_t flags, uint64_t object_bytes)
{
    uint64_t chunk = HEAP + number * 256 * KIB;

    put(chunk, bytes);
    put(chunk + 8, flags);
    put(chunk + 16, OBJECT);
    put(chunk + 24, chunk + 512);
    put(chunk + 32, chunk + bytes);
    put(chunk + 40, object_bytes);
}

/* Two of the old generation, the halves of the young one, and a large object. */
static void make_v8(void)
{
    begin();
    make_object("/bin/node", 4 * KIB);
    fake_mapping(&made.fake, HEAP, HEAP + 2 * MIB, "rw-p", 0, "", 2 * MIB, 1);
    v8_chunk(0, 256 * KIB, 4, 200 * KIB);
    v8_chunk(1, 256 * KIB, 4, 0);
    v8_chunk(2, 256 * KIB, 1 << 3, 255 * KIB);
    v8_chunk(3, 256 * KIB, 1 << 4, 255 * KIB);
    v8_chunk(4, MIB, 1 << 7 | 1 << 4, 1000 * KIB);
}

static uint64_t named_bytes(const struct account *account, const char *name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += strcmp(account->rows[i].name, name) == 0 ? account->rows[i].resident_bytes : 0;
    return sum;
}

static void the_heap_of_v8_is_split(void **state)
{
    struct account account;

    (void)state;
    make_v8();
    take(&account);
    assert_adds_up(&account);
    assert_int_equal(named_bytes(&account, ACCOUNT_NAME_V8_OBJECTS), 1200 * KIB);
    assert_int_equal(named_bytes(&account, ACCOUNT_NAME_V8_YOUNG), 256 * KIB);
    assert_int_equal(named_bytes(&account, ACCOUNT_NAME_V8_KEPT), (56 + 256 + 256 + 24) * KIB);
    account_release(&account);
}

/* --- a JVM ----------------------------------------------------------------------------------- */

static void counter(uint64_t *at, const char *name, uint64_t number)
{
    uint64_t words[12] = {0};

    words[0] = 96 | UINT64_C(20) << 32; /* its size, where its name begins */
    words[1] = (uint64_t)'J' << 32;     /* no vector, of 64 bits */
    words[2] = 88;                      /* where its number is */
    snprintf((char *)words + 20, 60, "%s", name);
    words[11] = number;
    for (int i = 0; i < 12; i++)
        put(*at + (uint64_t)i * 8, words[i]);
    *at += 96;
}

static void make_java(void)
{
    uint64_t at = COUNTERS + 32;

    begin();
    fake_mapping(&made.fake, HEAP, HEAP + MIB, "rw-p", 0, "", MIB, 1);
    fake_mapping(&made.fake, COUNTERS, COUNTERS + 32 * KIB, "rw-s", 8, "/tmp/hsperfdata_me/4711",
                 32 * KIB, 1);
    put(COUNTERS, UINT64_C(0xc0c0feca) | UINT64_C(0x01000201) << 32);
    put(COUNTERS + 24, 32 | UINT64_C(2) << 32);
    counter(&at, "sun.gc.generation.0.capacity", MIB);
    counter(&at, "sun.gc.generation.0.space.0.used", 300 * KIB);
}

static void the_heap_of_a_jvm_is_split(void **state)
{
    struct account account;

    (void)state;
    make_java();
    take(&account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_JAVA_OBJECTS), 300 * KIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_JAVA_KEPT), 724 * KIB);
    account_release(&account);
}

/* --- damage ---------------------------------------------------------------------------------- */

static uint64_t seed = 7;

static uint64_t random_word(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ seed >> 29;
}

/* A bit, a number of any size, an address that is there, or all ones. */
static uint64_t damaged(void)
{
    uint64_t any = random_word();

    switch (random_word() % 4) {
    case 0:
        return UINT64_C(1) << any % 64;
    case 1:
        return any >> any % 64;
    case 2:
        return made.words[any % made.word_count];
    default:
        return UINT64_MAX;
    }
}

static void what_is_damaged_still_adds_up(void **state)
{
    static void (*const makers[])(void) = {make_jemalloc,  make_tcmalloc, make_mimalloc,
                                           make_mimalloc3, make_v8,       make_java};
    enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

    (void)state;
    for (int round = 0; round < ROUNDS * MAKERS; round++) {
        struct account account;

        makers[round % MAKERS]();
        for (int i = 0; i < 1 + round % WORDS_DAMAGED; i++)
            fake_word(&made.fake, made.words[random_word() % made.word_count], damaged());
        take(&account);
        assert_adds_up(&account);
        account_release(&account);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heap_of_jemalloc_is_split),
        cmocka_unit_test(a_heap_of_tcmalloc_is_split),
        {mimallocs[0].name, a_heap_of_mimalloc_is_split, NULL, NULL, (void *)&mimallocs[0]},
        {mimallocs[1].name, a_heap_of_mimalloc_is_split, NULL, NULL, (void *)&mimallocs[1]},
        {mimallocs[2].name, a_heap_of_mimalloc_is_split, NULL, NULL, (void *)&mimallocs[2]},
        cmocka_unit_test(after_a_large_block_of_mimalloc_is_something_else),
        cmocka_unit_test(a_segment_that_mimalloc_freed_is_kept),
        {mimalloc3s[0].name, a_heap_of_mimalloc3_is_split, NULL, NULL, (void *)&mimalloc3s[0]},
        {mimalloc3s[1].name, a_heap_of_mimalloc3_is_split, NULL, NULL, (void *)&mimalloc3s[1]},
        {mimalloc3s[2].name, a_heap_of_mimalloc3_is_split, NULL, NULL, (void *)&mimalloc3s[2]},
        cmocka_unit_test(the_heap_of_v8_is_split),
        cmocka_unit_test(the_heap_of_a_jvm_is_split),
        cmocka_unit_test(what_is_damaged_still_adds_up),
    };

    return cmocka_run_group_tests(tests, fake_folder_make, fake_folder_remove);
}
