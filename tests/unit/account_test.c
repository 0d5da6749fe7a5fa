/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the resident memory of a process is: of processes that are made of files, and of one that
 * runs, whose allocator is asked as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "account.h"
#include "fake_process.h"

enum { KIB = 1024, MIB = 1 << 20, HEAP = 0x10000000, ARENA = 0x40000000 };

static void take_fake(struct fake_process *fake, struct account *account)
{
    fake_process_end(fake, 0);
    assert_int_equal(account_take(fake->folder, ACCOUNT_WHOLE, NULL, account), 0);
}

static void begin(struct fake_process *fake)
{
    if (!fake_pages_fit())
        skip();
    fake_process_begin(fake, fake_folder, 4711, "server");
}

static uint64_t part_bytes(const struct account *account, enum account_part part)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].part == part ? account->rows[i].resident_bytes : 0;
    return sum;
}

static const struct account_row *row_named(const struct account *account, const char *name)
{
    for (size_t i = 0; i < account->row_count; i++)
        if (strcmp(account->rows[i].name, name) == 0)
            return &account->rows[i];
    return NULL;
}

static void assert_adds_up(const struct account *account)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].resident_bytes;
    assert_int_equal(sum, account->figures[ACCOUNT_FIGURE_RESIDENT]);
}

/* --- made of files ------------------------------------------------------------------------- */

static void heap_is_split_into_used_free_and_own(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(account.cgroup.version, 0); /* nothing is mounted */
    /* 11 of 21 in use; 10 free, and the top */
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 11 * 16 * KIB - 11 * 8);
    assert_int_equal(part_bytes(&account, ACCOUNT_MALLOC_OWN), 11 * 8);
    assert_int_equal(part_bytes(&account, ACCOUNT_KEPT), MIB - 11 * 16 * KIB);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_BLOCK_COUNT], 11);
    /* of each free chunk all but its first page, of the top as well */
    assert_int_equal(account.figures[ACCOUNT_FIGURE_TRIM], MIB - 11 * 16 * KIB - 11 * 4 * KIB);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], ACCOUNT_FASTBINS_UNREAD);
    account_release(&account);
}

static void pages_that_are_not_resident_are_not_kept(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", 64 * KIB, 1);
    fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 3);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_KEPT), 16 * KIB + 16 * KIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 32 * KIB - 2 * 8);
    account_release(&account);
}

static void a_heap_of_another_layout_is_not_split(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
    fake_word(&fake, HEAP + 16 * KIB + 8, 0x123457); /* the second chunk */
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_HEAP), MIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 0);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], ACCOUNT_HEAP_ODD);
    account_release(&account);
}

/* smaps said the end, then the program went on. */
static void a_heap_that_grew_meanwhile_is_split_up_to_its_old_end(void **state)
{
    struct fake_process fake;
    struct account account;
    uint64_t top;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    top = fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
    fake_word(&fake, top + 8, (HEAP + 2 * MIB - top) | 1);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 11 * 16 * KIB - 11 * 8);
    assert_int_equal(part_bytes(&account, ACCOUNT_KEPT), MIB - 11 * 16 * KIB);
    account_release(&account);
}

/* Linux 6.18 says a mapping once more, whole, if it grew between two reads of smaps. */
static void a_mapping_that_is_said_twice_counts_once(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_mapping(&fake, HEAP, HEAP + 2 * MIB, "rw-p", 0, "[heap]", 2 * MIB, 1);
    fake_mapping(&fake, ARENA, ARENA + MIB, "r--p", 9, "/data", MIB, 1);
    fake_mapping(&fake, ARENA + MIB, ARENA + 2 * MIB, "rw-p", 9, "/data", MIB, 1);
    fake_heap(&fake, HEAP, HEAP + 2 * MIB, 16 * KIB, 21);
    fake_process_end(&fake, -(uint64_t)MIB);
    assert_int_equal(account_take(fake.folder, ACCOUNT_WHOLE, NULL, &account), 0);
    assert_adds_up(&account);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_RESIDENT], 4 * MIB);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_MAPPINGS], 3);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS] & (ACCOUNT_MORE | ACCOUNT_LESS), 0);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 11 * 16 * KIB - 11 * 8);
    account_release(&account);
}

/* The cache of the first thread holds three blocks of 32 bytes and one of 48; the arena, two chunks
 * in its first fast bin, mixed with their places. */
static void caches_and_fast_bins_are_kept_not_used(void **state)
{
    static const uint64_t libc = 0x20000000, arena = 0x20000100;
    struct fake_process fake;
    struct account account;
    uint64_t first = HEAP + 0x290, second = first + 32, rest = second + 32;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_mapping(&fake, libc, libc + 16 * KIB, "rw-p", 77, "/lib/libc.so.6", 16 * KIB, 1);
    fake_word(&fake, HEAP + 8, 0x291);
    fake_word(&fake, HEAP + 16, 3 | 1 << 16);           /* counts */
    fake_word(&fake, HEAP + 16 + 128, HEAP + 64 * KIB); /* entries */
    fake_word(&fake, HEAP + 16 + 136, HEAP + 96 * KIB);
    fake_word(&fake, first + 8, 0x21);
    fake_word(&fake, first + 16, second ^ (first + 16) >> 12);
    fake_word(&fake, second + 8, 0x21);
    fake_word(&fake, second + 16, (second + 16) >> 12);
    fake_word(&fake, rest + 8, (HEAP + 512 * KIB - rest) | 1);
    fake_word(&fake, HEAP + 512 * KIB + 8, 512 * KIB | 1);
    fake_word(&fake, arena + 16, first);
    fake_word(&fake, arena + 96, HEAP + 512 * KIB);
    fake_word(&fake, arena + 2184, MIB);
    fake_word(&fake, arena + 2192, MIB);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_CACHED], 3 * 32 + 48 + 2 * 32);
    assert_int_equal(part_bytes(&account, ACCOUNT_KEPT), 512 * KIB + 3 * 32 + 48 + 2 * 32);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_BLOCK_COUNT], 2);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], 0);
    account_release(&account);
}

static void another_arena_is_found_at_its_address(void **state)
{
    struct fake_process fake;
    struct account account;
    const struct account_row *row;
    uint64_t first = ARENA + 0x8d0, end = ARENA + 132 * KIB;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, ARENA, end, "rw-p", 0, "", 132 * KIB, 1);
    fake_mapping(&fake, end, ARENA + 64 * MIB, "---p", 0, "", 0, 1);
    fake_word(&fake, ARENA, ARENA + 0x30); /* heap_info */
    fake_word(&fake, ARENA + 16, 132 * KIB);
    fake_word(&fake, ARENA + 24, 132 * KIB);
    fake_heap(&fake, first, end, KIB, 9);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    row = row_named(&account, "arena 40000000");
    assert_non_null(row);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_ARENAS], 1);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_BLOCK_COUNT], 5);
    assert_int_equal(part_bytes(&account, ACCOUNT_MALLOC_OWN), 0x8d0 + 5 * 8);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 5 * KIB - 5 * 8);
    account_release(&account);
}

/* Neighbours that the kernel shows as one mapping: a block of malloc, pages of somebody, another.
 */
static void blocks_with_mappings_of_their_own_are_found_among_others(void **state)
{
    static const uint64_t start = 0x30000000;
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, start, start + 3 * MIB, "rw-p", 0, "", 3 * MIB, 1);
    fake_word(&fake, start + 8, MIB | 2);
    fake_word(&fake, start + 2 * MIB + 8, MIB | 2);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_BLOCKS), 2 * MIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), MIB);
    account_release(&account);
}

static void pools_of_python_are_split(void **state)
{
    static const uint64_t start = 0x30000000;
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, start, start + MIB, "rw-p", 0, "", MIB, 1);
    fake_mapping(&fake, 0x50000000, 0x50001000, "r-xp", 5, "/usr/bin/python3.12", 4 * KIB, 1);
    fake_word(&fake, start, 100);                    /* objects */
    fake_word(&fake, start + 32, (uint64_t)3 << 32); /* of 64 bytes */
    fake_word(&fake, start + 40, (uint64_t)(16384 - 64) << 32 | (48 + 64 * 100));
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_PYTHON_OBJECTS), 6400);
    assert_int_equal(part_bytes(&account, ACCOUNT_PYTHON_KEPT), 16384 - 6400);
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), MIB - 16384);
    account_release(&account);
}

static void mappings_are_told_by_their_names(void **state)
{
    static const struct {
        const char *name, *permissions;
        uint64_t inode;
        enum account_part part;
    } cases[] = {
        {"/dev/shm/queue", "rw-s", 11, ACCOUNT_SHARED},
        {"/memfd:cache (deleted)", "rw-s", 12, ACCOUNT_SHARED},
        {"/SYSV00000000 (deleted)", "rw-s", 13, ACCOUNT_SHARED},
        {"/dev/zero (deleted)", "rw-s", 14, ACCOUNT_SHARED},
        {"/data/weights.bin", "r--p", 15, ACCOUNT_FILES},
        {"/usr/lib/libm.so.6", "r-xp", 16, ACCOUNT_CODE},
        {"/dev/davinci0", "rw-s", 17, ACCOUNT_DEVICES},
        {"/dev/nvidia-uvm", "rw-s", 18, ACCOUNT_DEVICES},
        {"[stack]", "rw-p", 0, ACCOUNT_STACKS},
        {"[vdso]", "r-xp", 0, ACCOUNT_CODE},
        {"[anon:scudo:primary]", "rw-p", 0, ACCOUNT_ANONYMOUS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake_process fake;
        struct account account;

        begin(&fake);
        fake_mapping(&fake, 0x30000000, 0x30000000 + MIB, cases[i].permissions, cases[i].inode,
                     cases[i].name, 8 * KIB, 4);
        take_fake(&fake, &account);
        assert_adds_up(&account);
        assert_int_equal(part_bytes(&account, cases[i].part), 8 * KIB);
        assert_int_equal(account.figures[ACCOUNT_FIGURE_PROPORTIONAL], 2 * KIB);
        account_release(&account);
    }
}

static void stacks_are_known_by_pointers_and_descriptors(void **state)
{
    static const uint64_t guard = 0x30000000, stack = 0x30001000, end = 0x30101000;
    struct fake_process fake;
    struct account account;

    (void)state;
    for (int has_pointer = 0; has_pointer < 2; has_pointer++) {
        begin(&fake);
        fake_mapping(&fake, guard, stack, "---p", 0, "", 0, 1);
        fake_mapping(&fake, stack, end, "rw-p", 0, "", MIB, 1);
        if (has_pointer) {
            fake_file(&fake, "task/4711/syscall",
                      "202 0x1 0x2 0x0 0x0 0x0 0x0 0x30100000 0x7f00\n");
        } else { /* its thread is running, or has ended */
            fake_file(&fake, "task/4711/syscall", "running\n");
            fake_word(&fake, end - 0x940, end - 0x940);
            fake_word(&fake, end - 0x930, end - 0x940);
        }
        take_fake(&fake, &account);
        assert_adds_up(&account);
        assert_int_equal(part_bytes(&account, ACCOUNT_STACKS), MIB);
        account_release(&account);
    }
}

/* The kernel joins neighbours; the descriptor says where the stack ends. */
static void what_is_joined_to_a_stack_is_none(void **state)
{
    static const uint64_t guard = 0x30000000, stack = 0x30001000, stack_end = 0x30101000;
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, guard, stack, "---p", 0, "", 0, 1);
    fake_mapping(&fake, stack, stack_end + 3 * MIB, "rw-p", 0, "", 4 * MIB, 1);
    fake_file(&fake, "task/4711/syscall", "202 0x1 0x2 0x0 0x0 0x0 0x0 0x30100000 0x7f00\n");
    fake_word(&fake, 0x30100800, guard); /* no descriptor: its size is not that of a stack */
    fake_word(&fake, 0x30100808, 16);
    fake_word(&fake, 0x30100810, stack - guard);
    fake_word(&fake, stack_end - 0x200, guard);
    fake_word(&fake, stack_end - 0x1f8, stack_end - guard);
    fake_word(&fake, stack_end - 0x1f0, stack - guard);
    take_fake(&fake, &account);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_STACKS), MIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), 3 * MIB);
    account_release(&account);
}

static void what_the_kernel_counts_beside_mappings_is_unexplained(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, 0x30000000, 0x30000000 + MIB, "r--p", 9, "/data", MIB, 1);
    fake_process_end(&fake, 64 * KIB);
    assert_int_equal(account_take(fake.folder, ACCOUNT_WHOLE, NULL, &account), 0);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_UNEXPLAINED), 64 * KIB);
    account_release(&account);
}

/* 64 pages of a thread may not be in its count yet; of what is more, some have gone. */
static void a_count_that_is_late_is_no_doubt(void **state)
{
    static const uint64_t missing[] = {256 * KIB, 512 * KIB};
    struct fake_process fake;
    struct account account;

    (void)state;
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        begin(&fake);
        fake_mapping(&fake, 0x30000000, 0x30000000 + MIB, "r--p", 9, "/data", MIB, 1);
        fake_process_end(&fake, -missing[i]);
        assert_int_equal(account_take(fake.folder, ACCOUNT_WHOLE, NULL, &account), 0);
        assert_adds_up(&account);
        assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], i ? ACCOUNT_LESS : 0);
        account_release(&account);
    }
}

static void both_versions_of_cgroups_are_read(void **state)
{
    struct fake_process fake;
    struct account account;
    char mounts[512];

    (void)state;
    begin(&fake);
    fake_mapping(&fake, 0x30000000, 0x30000000 + MIB, "r--p", 9, "/data", MIB, 1);
    snprintf(mounts, sizeof(mounts),
             "25 1 0:22 / /proc rw - proc proc rw\n"
             "36 25 0:30 / %s rw,nosuid shared:9 - cgroup2 cgroup rw\n",
             fake_folder);
    fake_file(&fake, "../self/mountinfo", mounts);
    fake_file(&fake, "cgroup", "0::/task\n");
    fake_file(&fake, "task/memory.current", "8388608\n");
    fake_file(&fake, "task/memory.max", "max\n");
    fake_file(
        &fake, "task/memory.stat",
        "anon 1000\nfile 7000\nshmem 500\nfile_dirty 20\ninactive_file 6000\nactive_file 480\n"
        "slab_reclaimable 77\nslab 99\nsock 3\n");
    fake_file(&fake, "task/memory.events", "low 0\noom 4\noom_kill 2\n");
    fake_file(&fake, "task/cgroup.procs", "1\n4711\n");
    take_fake(&fake, &account);
    assert_int_equal(account.cgroup.version, 2);
    assert_string_equal(account.cgroup.path, "/task");
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_CURRENT], 8388608);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_LIMIT], UINT64_MAX);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_INACTIVE_FILE], 6000);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_SLAB_RECLAIMABLE], 77);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_OOM_KILLS], 2);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_PROCESSES], 2);
    account_release(&account);

    snprintf(mounts, sizeof(mounts),
             "36 25 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
             "37 25 0:31 / %s rw - cgroup cgroup rw,memory\n",
             fake_folder);
    fake_file(&fake, "../self/mountinfo", mounts);
    fake_file(&fake, "cgroup", "5:cpu:/x\n4:memory:/task\n0::/\n");
    fake_file(&fake, "task/memory.usage_in_bytes", "4096\n");
    fake_file(&fake, "task/memory.limit_in_bytes", "1073741824\n");
    fake_file(&fake, "task/memory.stat",
              "cache 1\ntotal_cache 300\ntotal_rss 200\ntotal_dirty 5\n");
    fake_file(&fake, "task/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    assert_int_equal(account_take(fake_folder, ACCOUNT_WHOLE, NULL, &account), 0);
    assert_int_equal(account.cgroup.version, 1);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_CURRENT], 4096);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_LIMIT], 1073741824);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_FILE], 300);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_OOM_KILLS], 1);
    assert_int_equal(account.cgroup.figures[ACCOUNT_CGROUP_SHARED], UINT64_MAX);
    account_release(&account);
}

/* Whatever stands in its memory, the account ends and adds up. */
static void damaged_heaps_still_add_up(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct fake_process fake;
        struct account account;

        begin(&fake);
        fake_mapping(&fake, HEAP, HEAP + 256 * KIB, "rw-p", 0, "[heap]", 256 * KIB, 1);
        fake_mapping(&fake, ARENA, ARENA + 132 * KIB, "rw-p", 0, "", 132 * KIB, 1);
        fake_mapping(&fake, 0x50000000, 0x50001000, "r-xp", 5, "/usr/bin/python3.12", 4 * KIB, 1);
        fake_heap(&fake, HEAP, HEAP + 256 * KIB, 0x290, 40);
        fake_word(&fake, ARENA, ARENA + 0x30);
        fake_word(&fake, ARENA + 16, 132 * KIB);
        fake_word(&fake, ARENA + 24, 132 * KIB);
        fake_heap(&fake, ARENA + 0x8d0, ARENA + 132 * KIB, KIB, 9);
        for (int i = 0; i < 6; i++) {
            uint64_t at;

            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            at = (seed >> 60 & 1 ? ARENA : HEAP) + (seed >> 40) % 3000 * 8;
            fake_word(&fake, at, seed >> (seed >> 58 & 63));
        }
        take_fake(&fake, &account);
        assert_adds_up(&account);
        account_release(&account);
    }
}

static void a_rough_account_reads_no_memory(void **state)
{
    struct fake_process fake;
    struct account account;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
    fake_mapping(&fake, 0x30000000, 0x30000000 + MIB, "rw-p", 0, "", MIB, 1);
    fake_word(&fake, 0x30000008, MIB | 2);
    fake_process_end(&fake, 0);
    assert_int_equal(account_take(fake.folder, ACCOUNT_ROUGH, NULL, &account), 0);
    assert_adds_up(&account);
    assert_int_equal(part_bytes(&account, ACCOUNT_HEAP), MIB);
    assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), MIB);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], ACCOUNT_IS_ROUGH);
    account_release(&account);
}

/* At each depth: its library, the rings, and what it mapped; of a mapping that is ours in part,
 * where its pages are not looked at, as much as is ours of its size. */
static void what_is_the_recorders_is_in_no_part(void **state)
{
    enum { OURS = 0x30000000, BOTH = 0x31000000, LIBRARY = 0x32000000, RINGS = 0x33000000 };
    static const struct account_range ranges[] = {
        {OURS, OURS + MIB}, {BOTH + 2 * MIB, BOTH + 3 * MIB}, {LIBRARY + MIB, LIBRARY + 2 * MIB}};
    static const struct account_own own = {ranges, sizeof(ranges) / sizeof(ranges[0])};
    struct fake_process fake;
    struct account account;

    (void)state;
    for (int depth = ACCOUNT_ROUGH; depth <= ACCOUNT_WHOLE; depth++) {
        begin(&fake);
        fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
        fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
        fake_mapping(&fake, OURS, OURS + MIB, "rw-p", 0, "", MIB, 1);
        fake_mapping(&fake, BOTH, BOTH + 4 * MIB, "rw-p", 0, "", 4 * MIB, 1);
        fake_mapping(&fake, LIBRARY, LIBRARY + MIB, "r-xp", 9, "/x/libascend_kernel_hook.so", MIB,
                     1);
        fake_mapping(&fake, LIBRARY + MIB, LIBRARY + 2 * MIB, "rw-p", 0, "", MIB, 1);
        fake_mapping(&fake, RINGS, RINGS + MIB, "rw-s", 8, "/y/run.rings (deleted)", MIB, 1);
        fake_process_end(&fake, 0);
        assert_int_equal(account_take(fake.folder, (enum account_depth)depth, &own, &account), 0);
        assert_adds_up(&account);
        assert_int_equal(account.figures[ACCOUNT_FIGURE_RESIDENT], 4 * MIB);
        assert_int_equal(account.figures[ACCOUNT_FIGURE_RECORDER], 5 * MIB);
        assert_int_equal(part_bytes(&account, ACCOUNT_ANONYMOUS), 3 * MIB);
        assert_int_equal(part_bytes(&account, ACCOUNT_CODE), 0);
        assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS] & (ACCOUNT_MORE | ACCOUNT_LESS), 0);
        assert_int_equal(account_recorder_bytes(fake.folder, &own), 5 * MIB);
        account_release(&account);
    }
}

static void small_rows_are_folded(void **state)
{
    struct fake_process fake;
    struct account account;
    char name[32];

    (void)state;
    begin(&fake);
    for (uint64_t i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "/data/%d", (int)i);
        fake_mapping(&fake, 0x30000000 + i * MIB, 0x30000000 + i * MIB + MIB, "r--p", 9 + i, name,
                     (i + 1) * 4 * KIB, 1);
    }
    take_fake(&fake, &account);
    account_fold(&account, 10);
    assert_adds_up(&account);
    assert_int_equal(account.row_count, 11);
    assert_string_equal(account.rows[0].name, ""); /* 40 of them */
    assert_string_equal(account.rows[1].name, "/data/49");
    account_release(&account);
}

static void notes_say_everything_once(void **state)
{
    struct fake_process fake;
    struct account account;
    size_t rows = 0, figures = 0;

    (void)state;
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "[heap]", MIB, 1);
    fake_heap(&fake, HEAP, HEAP + MIB, 16 * KIB, 21);
    take_fake(&fake, &account);
    for (size_t i = 0; i < account_note_count(&account); i++) {
        struct account_note note = account_note_at(&account, i);

        rows += strncmp(note.subject, ACCOUNT_SUBJECT_PART, strlen(ACCOUNT_SUBJECT_PART)) == 0;
        figures += strcmp(note.subject, ACCOUNT_SUBJECT_FIGURE) == 0;
    }
    assert_string_equal(account_note_at(&account, 0).subject, ACCOUNT_SUBJECT);
    assert_int_equal(account_note_at(&account, 0).first, rows);
    assert_int_equal(rows, account.row_count);
    assert_int_equal(figures, ACCOUNT_FIGURE_COUNT);
    assert_string_equal(account_note_at(&account, account_note_count(&account) - 1).subject,
                        ACCOUNT_SUBJECT_END);
    account_release(&account);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
    struct account account;

    (void)state;
    assert_int_equal(account_take("/proc/999999999", ACCOUNT_WHOLE, NULL, &account), ENOENT);
}

/* --- one that runs ------------------------------------------------------------------------- */

enum { LIVE_BLOCKS = 20000, BLOCK_BYTES = 2000, THREAD_BLOCKS = 5000 };

static void *allocate_in_thread(void *kept)
{
    void **blocks = kept;

    for (int i = 0; i < THREAD_BLOCKS; i++)
        memset(blocks[i] = malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
    for (int i = 0; i < THREAD_BLOCKS; i += 2)
        free(blocks[i]);
    pause();
    return NULL;
}

/* Says what its own allocator says, and waits. */
static void live_child(int out)
{
    static void *blocks[LIVE_BLOCKS], *of_thread[THREAD_BLOCKS];
    pthread_t thread;
    struct mallinfo2 info;

    pthread_create(&thread, NULL, allocate_in_thread, of_thread);
    for (int i = 0; i < LIVE_BLOCKS; i++)
        memset(blocks[i] = malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
    for (int i = 0; i < LIVE_BLOCKS; i += 2)
        free(blocks[i]);
    memset(malloc(40 * MIB), 1, 40 * MIB);
    if (!calloc(1, 30 * MIB)) /* never touched */
        _exit(1);
    usleep(200000);
    info = mallinfo2();
    if (write(out, &info, sizeof(info)) != sizeof(info))
        _exit(1);
    for (;;)
        pause();
}

static void close_to(uint64_t value, uint64_t expected, uint64_t within)
{
    if (value + within < expected || value > expected + within)
        fail_msg("%llu is not within %llu of %llu", (unsigned long long)value,
                 (unsigned long long)within, (unsigned long long)expected);
}

static void a_running_process_says_the_same_of_itself(void **state)
{
    struct account account;
    struct mallinfo2 info;
    char path[64];
    int way[2], status;
    pid_t child;

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* another allocator */
#endif
    assert_int_equal(pipe(way), 0);
    child = fork();
    if (!child)
        live_child(way[1]);
    assert_int_equal(read(way[0], &info, sizeof(info)), sizeof(info));
    snprintf(path, sizeof(path), "/proc/%d", (int)child);
    assert_int_equal(account_take(path, ACCOUNT_WHOLE, NULL, &account), 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_adds_up(&account);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_DOUBTS], 0);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_ARENAS], 2);
    assert_int_equal(account.figures[ACCOUNT_FIGURE_THREADS], 2);
    /* Free, fast bins with it; what is in the caches of threads is in use to mallinfo2. Of the
     * untouched calloc, a page is resident. */
    close_to(part_bytes(&account, ACCOUNT_KEPT) - account.figures[ACCOUNT_FIGURE_CACHED],
             info.fordblks, 200 * KIB);
    close_to(part_bytes(&account, ACCOUNT_BLOCKS),
             info.uordblks + 40 * MIB - account.figures[ACCOUNT_FIGURE_CACHED], 600 * KIB);
    assert_true(part_bytes(&account, ACCOUNT_UNEXPLAINED) <
                account.figures[ACCOUNT_FIGURE_RESIDENT] / 20);
    account_release(&account);
    close(way[0]);
    close(way[1]);
}

/* --- a process that ends meanwhile ------------------------------------------------------------ */

struct ending {
    pid_t process;
    char pipe[300], text[300]; /* a pipe in place of the mappings; what they are */
};

/* When its mappings are wanted, it ends, and is gone before they come. */
static void *end_then_tell(void *context)
{
    const struct ending *ending = context;
    char text[4096];
    FILE *from = fopen(ending->text, "r");
    int to = open(ending->pipe, O_WRONLY);
    size_t size = fread(text, 1, sizeof(text), from);

    kill(ending->process, SIGKILL);
    waitpid(ending->process, NULL, 0);
    if (write(to, text, size) != (ssize_t)size)
        abort();
    close(to);
    fclose(from);
    return NULL;
}

static void a_process_that_is_gone_meanwhile_has_no_account(void **state)
{
    struct fake_process fake;
    struct account account;
    struct ending ending = {.process = fork()};
    char of_child[64], of_fake[300];
    pthread_t thread;

    (void)state;
    if (!ending.process)
        for (;;)
            pause();
    begin(&fake);
    fake_mapping(&fake, HEAP, HEAP + MIB, "rw-p", 0, "", MIB, 1);
    fake_process_end(&fake, 0);
    snprintf(ending.pipe, sizeof(ending.pipe), "%s/smaps", fake.folder);
    snprintf(ending.text, sizeof(ending.text), "%s/smaps.text", fake.folder);
    snprintf(of_child, sizeof(of_child), "/proc/%d/stat", (int)ending.process);
    snprintf(of_fake, sizeof(of_fake), "%s/stat", fake.folder);
    assert_int_equal(rename(ending.pipe, ending.text), 0);
    assert_int_equal(mkfifo(ending.pipe, 0600), 0);
    assert_int_equal(symlink(of_child, of_fake), 0);
    pthread_create(&thread, NULL, end_then_tell, &ending);
    assert_int_equal(account_take(fake.folder, ACCOUNT_WHOLE, NULL, &account), ESRCH);
    pthread_join(thread, NULL);
    unlink(of_fake);
    unlink(ending.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_is_split_into_used_free_and_own),
        cmocka_unit_test(pages_that_are_not_resident_are_not_kept),
        cmocka_unit_test(a_heap_of_another_layout_is_not_split),
        cmocka_unit_test(a_heap_that_grew_meanwhile_is_split_up_to_its_old_end),
        cmocka_unit_test(a_mapping_that_is_said_twice_counts_once),
        cmocka_unit_test(caches_and_fast_bins_are_kept_not_used),
        cmocka_unit_test(another_arena_is_found_at_its_address),
        cmocka_unit_test(blocks_with_mappings_of_their_own_are_found_among_others),
        cmocka_unit_test(pools_of_python_are_split),
        cmocka_unit_test(mappings_are_told_by_their_names),
        cmocka_unit_test(stacks_are_known_by_pointers_and_descriptors),
        cmocka_unit_test(what_is_joined_to_a_stack_is_none),
        cmocka_unit_test(what_the_kernel_counts_beside_mappings_is_unexplained),
        cmocka_unit_test(a_count_that_is_late_is_no_doubt),
        cmocka_unit_test(both_versions_of_cgroups_are_read),
        cmocka_unit_test(damaged_heaps_still_add_up),
        cmocka_unit_test(a_rough_account_reads_no_memory),
        cmocka_unit_test(what_is_the_recorders_is_in_no_part),
        cmocka_unit_test(small_rows_are_folded),
        cmocka_unit_test(notes_say_everything_once),
        cmocka_unit_test(a_process_that_is_gone_is_an_error),
        cmocka_unit_test(a_running_process_says_the_same_of_itself),
        cmocka_unit_test(a_process_that_is_gone_meanwhile_has_no_account),
    };

    return cmocka_run_group_tests(tests, fake_folder_make, fake_folder_remove);
}
