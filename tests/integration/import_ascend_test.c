/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_ascend_test FOLDER: numbers of real Ascend profiles, as other tools and people computed
 * them, come out of the reader and the tally to the byte. Skipped without a folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input.h"
#include "tally.h"

#define ST_LEVEL2 "ascend/st-level2"
#define TEXT_2501 "ascend/text-202501/level0"
#define DB_2501   "ascend/db-202501/level0"
#define TEXT_2410 "ascend/text-202410/level0"
#define UNIT_0    "ascend/unit/test_rank_0"
#define UNIT_1    "ascend/unit/test_rank_1"
#define MSPROF    "made-up/msprof"
#define MINDSPORE "made-up/mindspore26"

static const char *data_folder;

enum number {
    PROCESSES,
    RANK_DEVICE,
    START_NS,
    /* Of a ledger: pool. */
    ALLOC_COUNT,
    LIVE_COUNT,
    LIVE_BYTES,
    PEAK_BYTES,
    PEAK_COUNT,
    PEAK_NS, /* since 1970 */
    LEDGER_RESERVED,
    OLDER_BYTES, /* released in the window */
    NET_GROWTH,
    /* Of a counter. */
    FIRST,
    LAST,
    LOWEST,
    HIGHEST,
    HIGHEST_NS,
    COUNT,
    /* Of an operator. */
    OPERATOR_LIVE_BYTES,
    OPERATOR_LIVE_COUNT,
    STEP_NUMBER, /* of the first step; name unused */
    STEP_NS,
    STEP_LENGTH_NS
};

struct number_case {
    const char *path;
    uint16_t process;
    const char *name;
    enum number number;
    uint64_t value;
};

static const struct number_case cases[] = {
    /* Megatron-style, one step. */
    {ST_LEVEL2, 0, "", PROCESSES, 1},
    {ST_LEVEL2, 0, "pta", RANK_DEVICE, 0},
    {ST_LEVEL2, 0, "pta", ALLOC_COUNT, 3103},
    {ST_LEVEL2, 0, "", START_NS, 1764246877074330300},
    {ST_LEVEL2, 0, "PTA allocated", HIGHEST, 10782243840},
    {ST_LEVEL2, 0, "PTA allocated", HIGHEST_NS, 1764246877390971790},
    {ST_LEVEL2, 0, "PTA reserved", HIGHEST, 10875830272},
    {ST_LEVEL2, 0, "PTA reserved", LOWEST, 10875830272},
    {ST_LEVEL2, 0, "pta", LEDGER_RESERVED, 10875830272},
    {ST_LEVEL2, 0, "pta", PEAK_BYTES, 6268169216},
    {ST_LEVEL2, 0, "pta", PEAK_COUNT, 623},
    {ST_LEVEL2, 0, "pta", PEAK_NS, 1764246877390971790},
    {ST_LEVEL2, 0, "PTA older blocks", FIRST, 4514074624},
    {ST_LEVEL2, 0, "PTA older blocks", LAST, 4514074112},
    {ST_LEVEL2, 0, "pta", LIVE_COUNT, 1},
    {ST_LEVEL2, 0, "pta", LIVE_BYTES, 512},
    {ST_LEVEL2, 0, "aten::empty", OPERATOR_LIVE_BYTES, 512},
    {ST_LEVEL2, 0, "pta", NET_GROWTH, 0},
    {ST_LEVEL2, 0, "APP reserved", HIGHEST, 12504285184},
    {ST_LEVEL2, 0, "module APP reserved", HIGHEST, 10875830272},
    {ST_LEVEL2, 0, "module HCCL reserved", HIGHEST, 1302016000},
    {ST_LEVEL2, 0, "module SLOG reserved", HIGHEST, 166359040},
    {ST_LEVEL2, 0, "module RUNTIME reserved", HIGHEST, 61075456},
    {ST_LEVEL2, 0, "module HCCL reserved", COUNT, 45},
    {ST_LEVEL2, 0, "PTA allocated", COUNT, 9309},
    {ST_LEVEL2, 0, "PTA+GE allocated", COUNT, 9309},
    {ST_LEVEL2, 0, "APP reserved", COUNT, 41},
    /* AlexNet, 2025-01, as text. */
    {TEXT_2501, 0, "", PROCESSES, 2},
    {TEXT_2501, 1, "pta", RANK_DEVICE, 1},
    {TEXT_2501, 0, "pta", ALLOC_COUNT, 127},
    {TEXT_2501, 0, "ge", ALLOC_COUNT, 57},
    {TEXT_2501, 0, "pta", LIVE_COUNT, 24},
    {TEXT_2501, 0, "pta", LIVE_BYTES, 264920064},
    {TEXT_2501, 0, "pta", PEAK_BYTES, 510196224},
    {TEXT_2501, 0, "pta", PEAK_COUNT, 41},
    {TEXT_2501, 0, "PTA allocated", HIGHEST, 1245688832},
    {TEXT_2501, 0, "PTA reserved", HIGHEST, 1522532352},
    {TEXT_2501, 0, "pta", LEDGER_RESERVED, 1522532352},
    {TEXT_2501, 0, "PTA older blocks", FIRST, 981461504},
    {TEXT_2501, 0, "PTA older blocks", LAST, 735492608},
    {TEXT_2501, 0, "pta", OLDER_BYTES, 245968896},
    {TEXT_2501, 0, "pta", NET_GROWTH, 18951168},
    {TEXT_2501, 0, "PTA allocated", LAST, 1000412672},
    {TEXT_2501, 0, "GE allocated", HIGHEST, 76611584},
    {TEXT_2501, 0, "ge", PEAK_BYTES, 76546048},
    {TEXT_2501, 0, "ge", LIVE_BYTES, 0},
    {TEXT_2501, 1, "pta", LIVE_BYTES, 264920064},
    {TEXT_2501, 1, "pta", PEAK_BYTES, 510196224},
    {TEXT_2501, 1, "PTA allocated", HIGHEST, 1245688832},
    {TEXT_2501, 1, "pta", NET_GROWTH, 18951168},
    {TEXT_2501, 1, "ge", PEAK_BYTES, 76546048},
    {TEXT_2501, 1, "GE allocated", HIGHEST, 76611584},
    {TEXT_2501, 0, "aten::mm", OPERATOR_LIVE_BYTES, 234489344},
    {TEXT_2501, 0, "aten::mm", OPERATOR_LIVE_COUNT, 3},
    {TEXT_2501, 0, "aten::empty_strided", OPERATOR_LIVE_BYTES, 19268608},
    {TEXT_2501, 0, "aten::empty_strided", OPERATOR_LIVE_COUNT, 2},
    {TEXT_2501, 0, "aten::clone", OPERATOR_LIVE_BYTES, 10986496},
    {TEXT_2501, 0, "aten::clone", OPERATOR_LIVE_COUNT, 5},
    {TEXT_2501, 0, "aten::addmm", OPERATOR_LIVE_BYTES, 128512},
    {TEXT_2501, 0, "aten::sum", OPERATOR_LIVE_BYTES, 38912},
    {TEXT_2501, 0, "aten::sum", OPERATOR_LIVE_COUNT, 5},
    {TEXT_2501, 0, "aten::convolution_backward", OPERATOR_LIVE_BYTES, 6656},
    {TEXT_2501, 0, "aten::div", OPERATOR_LIVE_BYTES, 1024},
    {TEXT_2501, 0, "aten::nll_loss_forward", OPERATOR_LIVE_BYTES, 512},
    /* The same, as a database, which knows the step. */
    {DB_2501, 0, "", PROCESSES, 1},
    {DB_2501, 0, "pta", RANK_DEVICE, 0},
    {DB_2501, 0, "pta", ALLOC_COUNT, 127},
    {DB_2501, 0, "ge", ALLOC_COUNT, 57},
    {DB_2501, 0, "pta", LIVE_COUNT, 24},
    {DB_2501, 0, "pta", LIVE_BYTES, 264920064},
    {DB_2501, 0, "pta", PEAK_BYTES, 510196224},
    {DB_2501, 0, "pta", PEAK_COUNT, 41},
    {DB_2501, 0, "PTA allocated", HIGHEST, 1245688832},
    {DB_2501, 0, "PTA reserved", HIGHEST, 1522532352},
    {DB_2501, 0, "pta", LEDGER_RESERVED, 1522532352},
    {DB_2501, 0, "PTA older blocks", FIRST, 981461504},
    {DB_2501, 0, "PTA older blocks", LAST, 735492608},
    {DB_2501, 0, "pta", NET_GROWTH, 18951168},
    {DB_2501, 0, "PTA allocated", LAST, 1000412672},
    {DB_2501, 0, "GE allocated", HIGHEST, 76611584},
    {DB_2501, 0, "ge", PEAK_BYTES, 76546048},
    {DB_2501, 0, "aten::mm", OPERATOR_LIVE_BYTES, 234489344},
    {DB_2501, 0, "aten::clone", OPERATOR_LIVE_COUNT, 5},
    {DB_2501, 0, "module HCCL reserved", HIGHEST, 423690240},
    {DB_2501, 0, "APP reserved", COUNT, 13},
    {DB_2501, 0, "", STEP_NUMBER, 50},
    {DB_2501, 0, "", STEP_NS, 1736407067933660740},
    {DB_2501, 0, "", STEP_LENGTH_NS, 138666740},
    /* The same model on older software. */
    {TEXT_2410, 0, "pta", ALLOC_COUNT, 117},
    {TEXT_2410, 0, "ge", ALLOC_COUNT, 44},
    {TEXT_2410, 0, "pta", LIVE_COUNT, 24},
    {TEXT_2410, 0, "pta", LIVE_BYTES, 264212992},
    {TEXT_2410, 0, "pta", PEAK_BYTES, 415208448},
    {TEXT_2410, 0, "pta", PEAK_COUNT, 25},
    {TEXT_2410, 0, "PTA allocated", HIGHEST, 1149240832},
    {TEXT_2410, 0, "PTA active", HIGHEST, 1149278208},
    {TEXT_2410, 0, "PTA reserved", HIGHEST, 1287651328},
    {TEXT_2410, 0, "PTA older blocks", FIRST, 978976768},
    {TEXT_2410, 0, "PTA older blocks", LAST, 734032384},
    /* The old header with ten columns. */
    {UNIT_0, 0, "ge", ALLOC_COUNT, 28},
    {UNIT_0, 0, "ge", PEAK_BYTES, 83951616},
    {UNIT_0, 0, "ge", LIVE_COUNT, 0},
    {UNIT_0, 0, "APP reserved", HIGHEST, 11769610240},
    {UNIT_0, 0, "module HCCL reserved", HIGHEST, 855764992},
    /* Cut by its authors, and damaged by a spreadsheet. */
    {UNIT_1, 0, "pta", ALLOC_COUNT, 21},
    {UNIT_1, 0, "pta", RANK_DEVICE, 1},
    {UNIT_1, 0, "pta", LIVE_COUNT, 2},
    {UNIT_1, 0, "pta", LIVE_BYTES, 308284416},
    {UNIT_1, 0, "aten::div", OPERATOR_LIVE_BYTES, 308281856},
    {UNIT_1, 0, "pta", PEAK_BYTES, 3044880384},
    {UNIT_1, 0, "pta", PEAK_COUNT, 14},
    {UNIT_1, 0, "PTA allocated", HIGHEST, 3638092800},
    {UNIT_1, 1, "static graph 0", ALLOC_COUNT, 27},
    {UNIT_1, 1, "static graph 1", ALLOC_COUNT, 27},
    {UNIT_1, 1, "static graph 0", LIVE_COUNT, 0},
    {UNIT_1, 1, "static graph 0 total", HIGHEST, 17623552},
    {UNIT_1, 1, "static graph 1 total", HIGHEST, 20388352},
    /* Slices in KB, without release times. */
    {MSPROF, 0, "ge", ALLOC_COUNT, 3},
    {MSPROF, 0, "ge", LIVE_BYTES, 262144},
    {MSPROF, 0, "ge", PEAK_BYTES, 1114624},
    {MSPROF, 0, "GE allocated", HIGHEST, 1114624},
    {MSPROF, 0, "APP reserved", HIGHEST, 738197504},
    {MSPROF, 0, "Device hbm", HIGHEST, 73146368},
    /* MB of 1,024,000 B in memory_record. */
    {MINDSPORE, 0, "mindspore", LIVE_BYTES, 1049088},
    {MINDSPORE, 0, "mindspore", PEAK_BYTES, 17826304},
    {MINDSPORE, 0, "MindSpore allocated", HIGHEST, 122683904},
    {MINDSPORE, 0, "MindSpore reserved", HIGHEST, 536870912},
    {MINDSPORE, 0, "APP reserved", HIGHEST, 734003200},
};

/* --- one recording, added up --------------------------------------------------------------- */

struct recording {
    const char *path;
    struct model *model;
    struct tally *tally;
    char *full_path;
};

static struct recording open_recording(const char *path)
{
    struct recording r = {.path = path};
    struct input *input;
    struct event events[512];
    size_t count = 1;
    struct mt_error error = {.message = ""};

    r.full_path = malloc(strlen(data_folder) + strlen(path) + 2);
    assert_non_null(r.full_path);
    sprintf(r.full_path, "%s/%s", data_folder, path);
    assert_int_equal(model_create(&r.model, &error), MT_OK);
    assert_int_equal(tally_create(r.model, &r.tally, &error), MT_OK);
    if (input_open(r.full_path, r.model, &input, &error) != MT_OK)
        fail_msg("%s", error.message);
    while (count) {
        if (input_next(input, events, 512, &count, &error) != MT_OK)
            fail_msg("%s", error.message);
        assert_int_equal(tally_feed(r.tally, events, count, &error), MT_OK);
    }
    tally_finish(r.tally);
    input_close(input);
    assert_int_equal(model_status(r.model, &error), MT_OK);
    return r;
}

static void close_recording(struct recording *r)
{
    tally_destroy(r->tally);
    model_destroy(r->model);
    free(r->full_path);
    *r = (struct recording){0};
}

static const struct ledger *ledger_of(const struct recording *r, uint16_t process, const char *pool)
{
    for (size_t i = 0; i < tally_ledger_count(r->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(r->tally, i);
        uint32_t name = model_pool_name_at(r->model, ledger->pool);

        if (ledger->process == process && strcmp(model_text_at(r->model, name), pool) == 0)
            return ledger;
    }
    fail_msg("%s: no ledger %s", r->path, pool);
    return NULL;
}

static uint64_t older_of(const struct recording *r, const struct ledger *ledger)
{
    for (size_t i = 0; i < tally_baseline_count(r->tally); i++) {
        const struct baseline *row = tally_baseline_at(r->tally, i);

        if (row->process == ledger->process && row->pool == ledger->pool)
            return row->bytes;
    }
    return 0;
}

/* A time of the events as it is in the file. */
static uint64_t absolute_ns(const struct recording *r, uint16_t process, uint64_t time_ns)
{
    const struct model_process *row = model_process_at(r->model, process);

    return row->start_realtime_ns - row->start_ns + time_ns;
}

static uint64_t of_ledger(const struct recording *r, const struct number_case *c)
{
    const struct ledger *ledger = ledger_of(r, c->process, c->name);

    switch (c->number) {
    case RANK_DEVICE:
        return (uint64_t)ledger->device;
    case ALLOC_COUNT:
        return ledger->alloc_count;
    case LIVE_COUNT:
        return ledger->live_count;
    case LIVE_BYTES:
        return ledger->live_bytes;
    case PEAK_BYTES:
        return ledger->peak_bytes;
    case PEAK_COUNT:
        return ledger->peak_count;
    case PEAK_NS:
        return absolute_ns(r, c->process, ledger->peak_time_ns);
    case LEDGER_RESERVED:
        return ledger->reserved_peak_bytes;
    case OLDER_BYTES:
        return older_of(r, ledger);
    default:
        return ledger->live_bytes - older_of(r, ledger);
    }
}

static uint64_t of_counter(const struct recording *r, const struct number_case *c)
{
    for (size_t i = 0; i < tally_sample_count(r->tally); i++) {
        const struct sample_row *row = tally_sample_at(r->tally, i);
        const uint64_t numbers[] = {row->first_bytes,
                                    row->last_bytes,
                                    row->low_bytes,
                                    row->high_bytes,
                                    absolute_ns(r, c->process, row->high_ns),
                                    row->count};

        if (row->process == c->process &&
            strcmp(model_text_at(r->model, row->counter), c->name) == 0)
            return numbers[c->number - FIRST];
    }
    fail_msg("%s: no counter %s", r->path, c->name);
    return 0;
}

static uint64_t of_operator(const struct recording *r, const struct number_case *c)
{
    for (size_t i = 0; i < tally_usage_count(r->tally); i++) {
        const struct usage *usage = tally_usage_at(r->tally, i);

        if (usage->kind == USAGE_OPERATOR &&
            tally_ledger_at(r->tally, usage->ledger)->process == c->process &&
            strcmp(model_text_at(r->model, usage->id), c->name) == 0)
            return c->number == OPERATOR_LIVE_BYTES ? usage->live_bytes : usage->live_count;
    }
    fail_msg("%s: no operator %s", r->path, c->name);
    return 0;
}

static uint64_t of_step(const struct recording *r, const struct number_case *c)
{
    const struct step *step;

    if (!tally_step_count(r->tally))
        fail_msg("%s: no step", r->path);
    step = tally_step_at(r->tally, 0);
    if (c->number == STEP_NUMBER)
        return step->number;
    return c->number == STEP_NS ? absolute_ns(r, c->process, step->begin_ns)
                                : step->end_ns - step->begin_ns;
}

static uint64_t number_of(const struct recording *r, const struct number_case *c)
{
    if (c->number == PROCESSES)
        return model_process_count(r->model);
    if (c->number == START_NS)
        return model_process_at(r->model, c->process)->start_realtime_ns;
    if (c->number >= STEP_NUMBER)
        return of_step(r, c);
    if (c->number >= OPERATOR_LIVE_BYTES)
        return of_operator(r, c);
    return c->number >= FIRST ? of_counter(r, c) : of_ledger(r, c);
}

static void every_number_comes_out_to_the_byte(void **state)
{
    struct recording r = {0};
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value;

        if (!r.path || strcmp(r.path, cases[i].path) != 0) {
            close_recording(&r);
            r = open_recording(cases[i].path);
        }
        value = number_of(&r, &cases[i]);
        if (value == cases[i].value)
            continue;
        print_error("%s, process %u, %s, number %d: %" PRIu64 " instead of %" PRIu64 "\n",
                    cases[i].path, cases[i].process, cases[i].name, cases[i].number, value,
                    cases[i].value);
        wrong++;
    }
    close_recording(&r);
    assert_int_equal(wrong, 0);
}

/* --- who is alive at the peak -------------------------------------------------------------- */

struct alive {
    uint64_t row, bytes;
    const char *name;
};

struct alive_case {
    const char *path, *pool;
    struct alive top[10];
};

static const struct alive_case alive_cases[] = {
    {ST_LEVEL2,
     "pta",
     {{1392, 174133248, "npu::npu_fusion_attention_grad"},
      {53, 50332160, "aten::matmul"},
      {101, 50332160, "aten::matmul"},
      {149, 50332160, "aten::matmul"},
      {197, 50332160, "aten::matmul"},
      {245, 50332160, "aten::matmul"},
      {293, 50332160, "aten::matmul"},
      {341, 50332160, "aten::matmul"},
      {389, 50332160, "aten::matmul"},
      {437, 50332160, "aten::matmul"}}},
    {TEXT_2501 "/rank0_ascend_pt",
     "pta",
     {{65, 150995456, "aten::mm"},
      {117, 150995456, "aten::_foreach_add"},
      {59, 67109376, "aten::mm"},
      {119, 67109376, "aten::_foreach_add"},
      {0, 19268096, "aten::empty_strided"},
      {54, 16384512, "aten::mm"},
      {121, 16384512, "aten::_foreach_add"},
      {85, 4488192, "aten::clone"},
      {113, 3539456, "aten::_foreach_add"},
      {115, 3144704, "aten::_foreach_add"}}},
    {TEXT_2501 "/rank0_ascend_pt",
     "ge",
     {{127, 51445760, "cann::trans_TransData_0"},
      {129, 24838144, "cann::Conv2D1"},
      {128, 262144, "cann::trans_TransData_1"}}},
};

struct replay {
    struct alive alive[4096];
    size_t count;
    const char *operator_name;
    uint64_t peak_ns;
    bool is_over;
};

static int larger_first(const void *left, const void *right)
{
    const struct alive *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* A block's address is its row, from 1. */
static void replay_event(struct replay *replay, const struct model *model, const char *pool,
                         const struct event *event)
{
    const char *name = model_text_at(model, model_pool_name_at(model, event->pool));

    if (event->kind == EVENT_OPERATOR_BEGIN)
        replay->operator_name = model_text_at(model, event->text);
    if (replay->is_over || event->kind > EVENT_FREE || strcmp(name, pool) != 0)
        return;
    if (event->kind == EVENT_ALLOC) {
        assert_true(replay->count < 4096);
        replay->alive[replay->count++] =
            (struct alive){event->address - 1, event->value, replay->operator_name};
        replay->is_over = event->time_ns == replay->peak_ns;
        return;
    }
    for (size_t i = 0; i < replay->count; i++)
        if (replay->alive[i].row == event->address - 1)
            replay->alive[i] = replay->alive[--replay->count];
}

static void the_largest_blocks_at_the_peak_are_known_by_row(void **state)
{
    static struct replay replay;

    (void)state;
    for (size_t i = 0; i < sizeof(alive_cases) / sizeof(alive_cases[0]); i++) {
        const struct alive_case *c = &alive_cases[i];
        struct recording r = open_recording(c->path);
        struct model *model;
        struct input *input;
        struct event events[512];
        size_t count = 1;

        replay = (struct replay){.peak_ns = ledger_of(&r, 0, c->pool)->peak_time_ns};
        assert_int_equal(model_create(&model, NULL), MT_OK);
        assert_int_equal(input_open(r.full_path, model, &input, NULL), MT_OK);
        while (count) {
            assert_int_equal(input_next(input, events, 512, &count, NULL), MT_OK);
            for (size_t k = 0; k < count; k++)
                replay_event(&replay, model, c->pool, &events[k]);
        }
        assert_int_equal(replay.count, ledger_of(&r, 0, c->pool)->peak_count);
        qsort(replay.alive, replay.count, sizeof(replay.alive[0]), larger_first);
        for (size_t k = 0; k < 10 && c->top[k].name; k++) {
            assert_int_equal(replay.alive[k].row, c->top[k].row);
            assert_int_equal(replay.alive[k].bytes, c->top[k].bytes);
            assert_string_equal(replay.alive[k].name, c->top[k].name);
        }
        input_close(input);
        model_destroy(model);
        close_recording(&r);
    }
}

/* --- repeats of one program ----------------------------------------------------------------- */

static const struct usage *usage_of(const struct recording *r, const char *name)
{
    for (size_t i = 0; i < tally_usage_count(r->tally); i++)
        if (strcmp(model_text_at(r->model, tally_usage_at(r->tally, i)->id), name) == 0)
            return tally_usage_at(r->tally, i);
    fail_msg("%s: no operator %s", r->path, name);
    return NULL;
}

/* Text or database, this rank or that one: the same program allocates the same. */
static void repeats_differ_in_no_operator(void **state)
{
    static const char *const repeats[] = {TEXT_2501 "/rank0_ascend_pt",
                                          TEXT_2501 "/rank1_ascend_pt", DB_2501};
    struct recording first = open_recording(repeats[0]);

    (void)state;
    assert_true(tally_usage_count(first.tally) > 50);
    for (size_t k = 1; k < sizeof(repeats) / sizeof(repeats[0]); k++) {
        struct recording r = open_recording(repeats[k]);

        assert_int_equal(tally_usage_count(r.tally), tally_usage_count(first.tally));
        for (size_t i = 0; i < tally_usage_count(r.tally); i++) {
            const struct usage *there = tally_usage_at(r.tally, i);
            const struct usage *here = usage_of(&first, model_text_at(r.model, there->id));

            assert_int_equal(there->alloc_bytes, here->alloc_bytes);
            assert_int_equal(there->alloc_count, here->alloc_count);
            assert_int_equal(there->live_bytes, here->live_bytes);
        }
        close_recording(&r);
    }
    close_recording(&first);
}

/* --- the plan of a static graph ------------------------------------------------------------- */

struct curve {
    const char *pool;
    unsigned point_count, point;
    unsigned hundredth_megabytes; /* at that point, as a viewer shows it */
};

/* Live bytes after each node at which something begins or ends. */
static void the_curve_of_a_static_graph_is_that_of_other_viewers(void **state)
{
    static const struct curve curves[] = {{"static graph 0", 24, 6, 435},
                                          {"static graph 1", 26, 20, 448}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct recording r = open_recording(UNIT_1);
        struct model *model;
        struct input *input;
        struct event events[512];
        uint64_t live_bytes = 0, node = UINT64_MAX, points[64] = {0};
        size_t count = 1, point_count = 0;

        assert_int_equal(model_create(&model, NULL), MT_OK);
        assert_int_equal(input_open(r.full_path, model, &input, NULL), MT_OK);
        while (count) {
            assert_int_equal(input_next(input, events, 512, &count, NULL), MT_OK);
            for (size_t k = 0; k < count; k++) {
                if (events[k].kind > EVENT_FREE ||
                    strcmp(model_text_at(model, model_pool_name_at(model, events[k].pool)),
                           curves[i].pool) != 0)
                    continue;
                live_bytes += events[k].kind == EVENT_ALLOC ? events[k].value : -events[k].value;
                point_count += events[k].time_ns != node;
                node = events[k].time_ns;
                assert_in_range(point_count, 1, 63);
                points[point_count] = live_bytes;
            }
        }
        assert_int_equal(point_count, curves[i].point_count);
        assert_int_equal((points[curves[i].point] * 100 + (1 << 19)) >> 20,
                         curves[i].hundredth_megabytes);
        input_close(input);
        model_destroy(model);
        close_recording(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_out_to_the_byte),
        cmocka_unit_test(the_largest_blocks_at_the_peak_are_known_by_row),
        cmocka_unit_test(repeats_differ_in_no_operator),
        cmocka_unit_test(the_curve_of_a_static_graph_is_that_of_other_viewers),
    };

    if (argc < 2 || !*argv[1]) {
        puts("skipped: no folder of reference recordings (MT_REFERENCE_DATA)");
        return 77;
    }
    data_folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
