/* SPDX-License-Identifier: Apache-2.0 */
/* Our functions between an interpreter and its allocator. The interpreter is this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config_double.h"
#include "python_heap.h"
#include "recorder_double.h"

#define SHOWN __attribute__((visibility("default")))

enum { MEM = 1, OBJECT = 2, SMALL = 512, ARENA = 1 << 20, DEBUG_WORDS = 16 };

struct allocator {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *block, size_t size);
    void (*free)(void *context, void *block);
};

SHOWN void PyMem_GetAllocator(int domain, struct allocator *allocator);
SHOWN void PyMem_SetAllocator(int domain, const struct allocator *allocator);
SHOWN int Py_IsInitialized(void);
SHOWN int PyGILState_Check(void);
SHOWN const char *Py_GetVersion(void);

static struct allocator tables[3];
static int is_initialized, has_lock;
static bool is_full;
static _Alignas(16) char arena[4096], heap[4096]; /* the interpreter's, and malloc's */
static size_t arena_used, heap_used;

void PyMem_GetAllocator(int domain, struct allocator *allocator)
{
    *allocator = tables[domain];
}

void PyMem_SetAllocator(int domain, const struct allocator *allocator)
{
    tables[domain] = *allocator;
}

int Py_IsInitialized(void)
{
    return is_initialized;
}

int PyGILState_Check(void)
{
    return has_lock;
}

const char *Py_GetVersion(void)
{
    return "3.11.7 (main)";
}

/* --- an allocator as CPython's: small blocks are its own, the others malloc's ----------------- */

static void *own_malloc(void *context, size_t size)
{
    (void)context;
    if (is_full)
        return NULL;
    if (size > SMALL)
        return (void *)(python_call.made = heap + (heap_used += 16));
    return arena + (arena_used += 16);
}

static void *own_calloc(void *context, size_t count, size_t size)
{
    return own_malloc(context, count * size);
}

static void own_free(void *context, void *block)
{
    (void)context;
    if ((uintptr_t)block - (uintptr_t)heap < sizeof(heap)) {
        python_call_frees(block);
        python_call_frees(heap); /* what somebody else gives back because of that */
    }
}

static void *own_realloc(void *context, void *block, size_t size)
{
    void *moved_to = own_malloc(context, size);

    if (moved_to && block)
        own_free(context, block);
    return moved_to;
}

static void *debug_malloc(void *context, size_t size)
{
    char *block = own_malloc(context, size + DEBUG_WORDS);

    return block ? block + DEBUG_WORDS : NULL;
}

static void debug_free(void *context, void *block)
{
    own_free(context, (char *)block - DEBUG_WORDS);
}

static const struct allocator own = {NULL, own_malloc, own_calloc, own_realloc, own_free};
static const struct allocator debug = {NULL, debug_malloc, own_calloc, own_realloc, debug_free};

static void tables_set(const struct allocator *allocator)
{
    tables[MEM] = tables[OBJECT] = *allocator;
}

static uint64_t own_code(void)
{
    return (uintptr_t)own_malloc;
}

static void *make(size_t size)
{
    return tables[OBJECT].malloc(tables[OBJECT].context, size);
}

static void *resize(void *block, size_t size)
{
    return tables[OBJECT].realloc(tables[OBJECT].context, block, size);
}

static void give_back(void *block)
{
    tables[OBJECT].free(tables[OBJECT].context, block);
}

static int covered(void **state)
{
    (void)state;
    double_config_reset();
    double_config.records_python = true;
    is_initialized = 0;
    is_full = false;
    if (!tables[OBJECT].malloc)
        tables_set(&own);
    python_heap_may_come();
    python_heap_look();
    python_heap_mapped(own_code(), ARENA);
    is_initialized = has_lock = 1;
    double_reset();
    return 0;
}

static void assert_recorded(size_t allocs, size_t frees)
{
    assert_int_equal(double_count_of(MT_RECORD_alloc), allocs);
    assert_int_equal(double_count_of(MT_RECORD_free), frees);
}

/* --- tests --------------------------------------------------------------------------------- */

static void interpreter_that_runs_already_is_left_alone(void **state)
{
    (void)state;
    double_config_reset();
    double_config.records_python = true;
    tables_set(&own);
    is_initialized = 1;
    python_heap_may_come();
    python_heap_look();
    python_heap_mapped(own_code(), ARENA);
    assert_ptr_equal(tables[OBJECT].malloc, own_malloc);
}

static void interpreter_is_left_alone_when_nobody_asked(void **state)
{
    (void)state;
    double_config_reset();
    tables_set(&own);
    is_initialized = 0;
    python_heap_may_come();
    python_heap_look();
    assert_ptr_equal(tables[OBJECT].malloc, own_malloc);
}

static void objects_that_are_not_recorded_are_said(void **state)
{
    (void)state;
    double_config_reset();
    tables_set(&own);
    is_initialized = 0;
    python_heap_may_come();
    python_heap_look();
    double_has_unseen_python = false;
    python_heap_mapped((uintptr_t)strlen, ARENA);
    assert_false(double_has_unseen_python);
    python_heap_mapped(own_code(), ARENA);
    assert_true(double_has_unseen_python);
}

static void small_blocks_are_recorded_with_their_size(void **state)
{
    void *block = make(48);

    (void)state;
    assert_recorded(1, 0);
    assert_string_equal(double_last(MT_RECORD_alloc)->text, "python");
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 48);
    assert_int_equal(double_last(MT_RECORD_alloc)->address, (uintptr_t)block);
    give_back(block);
    assert_recorded(1, 1);
    assert_int_equal(double_last(MT_RECORD_free)->address, (uintptr_t)block);
}

static void calloc_counts_all_bytes(void **state)
{
    (void)state;
    tables[MEM].calloc(tables[MEM].context, 3, 8);
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 24);
}

static void what_malloc_made_is_not_recorded_again(void **state)
{
    (void)state;
    give_back(make(SMALL + 1));
    assert_recorded(0, 0);
}

static void nothing_is_given_back_for_null(void **state)
{
    (void)state;
    give_back(NULL);
    assert_recorded(0, 0);
}

static void block_that_grows_goes_over_to_malloc_and_comes_back(void **state)
{
    void *block = make(48);

    (void)state;
    block = resize(block, SMALL + 1);
    assert_recorded(1, 1);
    block = resize(block, 32);
    assert_recorded(2, 1);
    block = resize(block, 64);
    assert_recorded(3, 2);
    give_back(block);
    assert_recorded(3, 3);
}

static void block_that_cannot_move_lives_on(void **state)
{
    void *block = make(48);

    (void)state;
    is_full = true;
    assert_null(resize(block, 64));
    assert_null(make(8));
    assert_recorded(1, 0);
    is_full = false;
    give_back(block);
    assert_recorded(1, 1);
}

static struct allocator below;

static void *other_malloc(void *context, size_t size)
{
    (void)context;
    return below.malloc(below.context, size);
}

static void other_free(void *context, void *block)
{
    (void)context;
    below.free(below.context, block);
}

/* As tracemalloc does. */
static void functions_above_ours_count_once(void **state)
{
    const struct allocator other = {NULL, other_malloc, NULL, NULL, other_free};

    (void)state;
    below = tables[OBJECT];
    tables[OBJECT] = other;
    give_back(make(48));
    assert_recorded(1, 1);
    python_heap_mapped(own_code(), ARENA); /* ours are there a second time now */
    assert_ptr_not_equal(tables[OBJECT].malloc, other_malloc);
    give_back(make(48));
    assert_recorded(2, 2);
    tables[OBJECT] = below;
}

static void lost_functions_are_put_back_at_the_next_arena(void **state)
{
    (void)state;
    tables_set(&debug);
    give_back(make(48));
    assert_recorded(0, 0);
    python_heap_mapped(own_code(), 4096);         /* no arena */
    python_heap_mapped((uintptr_t)strlen, ARENA); /* somebody else's */
    has_lock = 0;
    python_heap_mapped(own_code(), ARENA);
    assert_ptr_equal(tables[OBJECT].malloc, debug_malloc);
    has_lock = 1;
    python_heap_mapped(own_code(), ARENA);
    give_back(make(48));
    assert_recorded(1, 1);
    give_back(make(SMALL + 1)); /* malloc's block begins before it */
    assert_recorded(1, 1);
    tables_set(&own);
}

static void tables_may_be_lost_often(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        tables_set(&own);
        python_heap_mapped(own_code(), ARENA);
        give_back(make(48));
    }
    assert_recorded(100, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreter_that_runs_already_is_left_alone),
        cmocka_unit_test(interpreter_is_left_alone_when_nobody_asked),
        cmocka_unit_test(objects_that_are_not_recorded_are_said),
        cmocka_unit_test_setup(small_blocks_are_recorded_with_their_size, covered),
        cmocka_unit_test_setup(calloc_counts_all_bytes, covered),
        cmocka_unit_test_setup(what_malloc_made_is_not_recorded_again, covered),
        cmocka_unit_test_setup(nothing_is_given_back_for_null, covered),
        cmocka_unit_test_setup(block_that_grows_goes_over_to_malloc_and_comes_back, covered),
        cmocka_unit_test_setup(block_that_cannot_move_lives_on, covered),
        cmocka_unit_test_setup(functions_above_ours_count_once, covered),
        cmocka_unit_test_setup(lost_functions_are_put_back_at_the_next_arena, covered),
        cmocka_unit_test_setup(tables_may_be_lost_often, covered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
