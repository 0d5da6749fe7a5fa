/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tally against a slow model that does everything the plain way, and the rules for threads
 * that are read out of order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "tally.h"

enum {
    block_most = 4000,
    site_count = 7,
    operator_count = 3,
    place_count = 4,
    event_count = 60000,
    key_count = 2 * place_count * (site_count + 1) * (operator_count + 1)
};

struct fixture {
    struct model *model;
    struct tally *tally;
    uint16_t pools[2], places[place_count];
    uint32_t sites[site_count + 1], operators[operator_count + 1], threads[2];
    uint64_t time_ns;
};

static uint32_t text(struct fixture *f, const char *name)
{
    return model_text(f->model, name, strlen(name));
}

static int setup(void **state)
{
    static const struct mt_place places[place_count] = {
        {.device = -1, .kind = MT_KIND_HOST, .module = -1},
        {.device = 0, .kind = MT_KIND_DEVICE, .module = 3},
        {.device = 1, .kind = MT_KIND_DEVICE, .module = -1},
        {.device = 0, .kind = MT_KIND_DEVICE, .module = -1, .flags = MT_PLACE_VIRTUAL},
    };
    struct fixture *f = calloc(1, sizeof(*f));
    struct model_process process = {.process_id = 1};

    assert_non_null(f);
    assert_int_equal(model_create(&f->model, NULL), MT_OK);
    assert_int_equal(tally_create(f->model, &f->tally, NULL), MT_OK);
    model_process(f->model, &process);
    f->pools[0] = model_pool(f->model, text(f, "host"));
    f->pools[1] = model_pool(f->model, text(f, "hal"));
    for (size_t i = 0; i < place_count; i++)
        f->places[i] = model_place(f->model, places[i]);
    for (uint32_t i = 1; i <= site_count; i++)
        f->sites[i] = model_site(f->model, (struct model_site){.address = 0x1000 * i});
    f->operators[1] = text(f, "add");
    f->operators[2] = text(f, "matmul");
    f->operators[3] = text(f, "relu");
    for (uint32_t i = 0; i < 2; i++)
        f->threads[i] = model_thread(f->model, (struct model_thread){.thread_id = 10 + i});
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tally_destroy(f->tally);
    model_destroy(f->model);
    free(f);
    return 0;
}

static void feed(struct fixture *f, struct event event)
{
    assert_int_equal(tally_feed(f->tally, &event, 1, NULL), MT_OK);
}

/* --- the slow model ------------------------------------------------------------------------ */

struct slow_block {
    uint64_t size_bytes;
    int key; /* -1: not alive */
};

struct slow_ledger {
    uint64_t live_bytes, live_count, peak_bytes, peak_time_ns;
    uint64_t held_at_peak[key_count];
};

struct slow {
    struct slow_block blocks[2][block_most];
    uint64_t held[key_count];
    struct slow_ledger ledgers[2 * place_count];
};

static int key_of(int pool, int place, int site, int op)
{
    return ((pool * place_count + place) * (site_count + 1) + site) * (operator_count + 1) + op;
}

static struct slow_ledger *slow_ledger_of(struct slow *slow, int key)
{
    return &slow->ledgers[key / ((site_count + 1) * (operator_count + 1))];
}

static void slow_alloc(struct slow *slow, int pool, int block, int key, uint64_t size_bytes,
                       uint64_t time_ns)
{
    struct slow_ledger *ledger = slow_ledger_of(slow, key);

    slow->blocks[pool][block] = (struct slow_block){size_bytes, key};
    slow->held[key] += size_bytes;
    ledger->live_bytes += size_bytes;
    ledger->live_count++;
    if (ledger->live_bytes <= ledger->peak_bytes)
        return;
    ledger->peak_bytes = ledger->live_bytes;
    ledger->peak_time_ns = time_ns;
    memcpy(ledger->held_at_peak, slow->held, sizeof(slow->held));
}

static void slow_free(struct slow *slow, int pool, int block)
{
    struct slow_block *freed = &slow->blocks[pool][block];
    struct slow_ledger *ledger = slow_ledger_of(slow, freed->key);

    slow->held[freed->key] -= freed->size_bytes;
    ledger->live_bytes -= freed->size_bytes;
    ledger->live_count--;
    freed->key = -1;
}

/* --- random programs ------------------------------------------------------------------------ */

static uint32_t seed;

static int pick(int limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)limit);
}

/* Sizes around a block of 4 GiB are the ones that a narrow field would lose. */
static uint64_t pick_size(void)
{
    static const uint64_t sizes[] = {0, 1, 24, 4096, UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 33};

    return pick(50) ? (uint64_t)pick(5000) : sizes[pick(7)];
}

static void churn(struct fixture *f, struct slow *slow, int block_limit)
{
    int open[2] = {0, 0};

    for (int i = 0; i < event_count; i++) {
        int pool = pick(2), block = pick(block_limit), thread = pick(2);
        struct event event = {.time_ns = f->time_ns += 100000, /* far apart: no disorder */
                              .address = 0x7f0000000000 + (uint64_t)block * 16,
                              .thread = f->threads[thread],
                              .pool = f->pools[pool]};

        if (pick(20) == 0) {
            event.kind = open[thread] ? EVENT_OPERATOR_END : EVENT_OPERATOR_BEGIN;
            open[thread] = open[thread] ? 0 : 1 + pick(operator_count);
            event.text = event.kind == EVENT_OPERATOR_BEGIN ? f->operators[open[thread]] : 0;
        } else if (slow->blocks[pool][block].key >= 0) {
            event.kind = EVENT_FREE;
            slow_free(slow, pool, block);
        } else {
            int place = pick(place_count), site = pick(site_count + 1);

            event.kind = EVENT_ALLOC;
            event.value = pick_size();
            event.place = f->places[place];
            event.site = f->sites[site];
            slow_alloc(slow, pool, block, key_of(pool, place, site, open[thread]), event.value,
                       event.time_ns);
        }
        feed(f, event);
    }
}

static int index_in(const uint32_t *values, int count, uint32_t value)
{
    for (int i = 0; i < count; i++)
        if (values[i] == value)
            return i;
    fail();
    return 0;
}

static int key_of_group(const struct fixture *f, const struct group_detail *detail)
{
    int place = 0;

    while (f->places[place] != detail->place)
        place++;
    return key_of(detail->pool == f->pools[1], place,
                  index_in(f->sites, site_count + 1, detail->site),
                  index_in(f->operators, operator_count + 1, detail->operator_text));
}

static void compare(struct fixture *f, struct slow *slow)
{
    static uint64_t live[key_count], at_peak[key_count];
    uint64_t held = 0, held_here = 0;

    memset(live, 0, sizeof(live));
    memset(at_peak, 0, sizeof(at_peak));
    tally_finish(f->tally);
    for (size_t i = 1; i < tally_group_count(f->tally); i++) {
        const struct group *group = tally_group_at(f->tally, i);
        const struct ledger *ledger = tally_ledger_at(f->tally, group->ledger);
        int key = key_of_group(f, tally_detail_at(f->tally, i));
        const struct slow_ledger *expected = slow_ledger_of(slow, key);

        /* What nobody is known for is several groups, by size. */
        live[key] += group->live_bytes;
        at_peak[key] += group_at_peak(f->tally, i).bytes;
        assert_int_equal(ledger->live_bytes, expected->live_bytes);
        assert_int_equal(ledger->live_count, expected->live_count);
        assert_int_equal(ledger->peak_bytes, expected->peak_bytes);
        assert_int_equal(ledger->peak_time_ns, expected->peak_time_ns);
        held_here += group->live_bytes;
    }
    for (int i = 0; i < key_count; i++) {
        held += slow->held[i];
        assert_int_equal(live[i], slow->held[i]);
        assert_int_equal(at_peak[i], slow_ledger_of(slow, i)->held_at_peak[i]);
    }
    assert_int_equal(held_here, held);
}

static void agrees_with_a_slow_model(void **state)
{
    static const int limits[] = {3, 60, block_most};

    (void)state;
    for (seed = 1; seed < 7; seed++) {
        struct slow *slow = calloc(1, sizeof(*slow));
        uint32_t kept = seed;
        void *fresh;

        assert_non_null(slow);
        setup(&fresh);
        memset(slow->blocks, 0xff, sizeof(slow->blocks));
        churn(fresh, slow, limits[seed % 3]);
        compare(fresh, slow);
        assert_int_equal(tally_counts_of(((struct fixture *)fresh)->tally)->overwritten, 0);
        assert_int_equal(tally_counts_of(((struct fixture *)fresh)->tally)->unknown_frees, 0);
        teardown(&fresh);
        free(slow);
        seed = kept;
    }
}

/* --- disorder -------------------------------------------------------------------------------- */

static void alloc_by(struct fixture *f, uint32_t thread, uint64_t time_ns, uint64_t size_bytes)
{
    feed(f, (struct event){.kind = EVENT_ALLOC,
                           .time_ns = time_ns,
                           .address = 0xabc0,
                           .value = size_bytes,
                           .thread = f->threads[thread],
                           .pool = f->pools[0],
                           .place = f->places[0],
                           .site = f->sites[1]});
}

static void free_by(struct fixture *f, uint32_t thread, uint64_t time_ns)
{
    feed(f, (struct event){.kind = EVENT_FREE,
                           .time_ns = time_ns,
                           .address = 0xabc0,
                           .thread = f->threads[thread],
                           .pool = f->pools[0]});
}

static void late_free_of_another_thread_is_swallowed(void **state)
{
    struct fixture *f = *state;

    alloc_by(f, 0, 1000, 10);
    alloc_by(f, 1, 90000, 20); /* the address again: the old block is gone */
    free_by(f, 0, 90500);      /* its free, read late */
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 20);
    assert_int_equal(tally_counts_of(f->tally)->late_frees, 1);
    assert_int_equal(tally_counts_of(f->tally)->overwritten, 0);
    free_by(f, 1, 91000);
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 0);
    assert_int_equal(tally_counts_of(f->tally)->unknown_frees, 0);
}

static void free_of_the_same_thread_is_never_late(void **state)
{
    struct fixture *f = *state;

    alloc_by(f, 0, 1000, 10);
    alloc_by(f, 1, 90000, 20);
    free_by(f, 1, 90500);
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 0);
    free_by(f, 0, 90600);
    assert_int_equal(tally_counts_of(f->tally)->late_frees, 1);
    assert_int_equal(tally_counts_of(f->tally)->unknown_frees, 0);
}

static void free_long_after_is_a_free_of_the_new_block(void **state)
{
    struct fixture *f = *state;

    alloc_by(f, 0, 1000, 10);
    alloc_by(f, 1, 90000, 20);
    free_by(f, 0, 90001 + TALLY_DISORDER_NS);
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 0);
    assert_int_equal(tally_counts_of(f->tally)->overwritten, 1);
}

static void early_free_meets_its_alloc(void **state)
{
    struct fixture *f = *state;

    free_by(f, 1, 1000);
    alloc_by(f, 0, 1300, 64);
    tally_finish(f->tally);
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 0);
    assert_int_equal(tally_ledger_at(f->tally, 0)->alloc_bytes, 64);
    assert_int_equal(tally_counts_of(f->tally)->early_frees, 1);
    assert_int_equal(tally_counts_of(f->tally)->unknown_frees, 0);
    assert_int_equal(tally_baseline_at(f->tally, 0)->count, 0);
}

static void free_of_an_older_block_is_counted(void **state)
{
    struct fixture *f = *state;

    free_by(f, 0, 1000);
    alloc_by(f, 0, 1300, 64); /* the same thread: a block of its own */
    assert_int_equal(tally_ledger_at(f->tally, 0)->live_bytes, 64);
    assert_int_equal(tally_counts_of(f->tally)->unknown_frees, 1);
    assert_int_equal(tally_baseline_at(f->tally, 0)->count, 1);
}

static void older_blocks_are_told_apart_from_those_of_the_window(void **state)
{
    struct fixture *f = *state;
    struct event older = {.kind = EVENT_ALLOC,
                          .flags = EVENT_IS_OLDER,
                          .address = 1,
                          .value = 100,
                          .site = f->sites[1],
                          .thread = f->threads[0],
                          .pool = f->pools[1],
                          .place = f->places[1]};
    struct event event = older;
    const struct ledger *ledger;

    feed(f, older);
    older.address = 2;
    feed(f, older);
    event.flags = 0;
    event.address = 3;
    event.value = 7;
    feed(f, event); /* from the same site */
    event.kind = EVENT_FREE;
    event.address = 2;
    feed(f, event);
    tally_finish(f->tally);
    ledger = tally_ledger_at(f->tally, 0);
    assert_int_equal(ledger->live_bytes, 107);
    assert_int_equal(ledger->peak_bytes, 207);
    assert_int_equal(ledger->older_bytes, 200);
    assert_int_equal(ledger->older_count, 2);
    assert_int_equal(ledger->older_left_bytes, 100);
    assert_int_equal(ledger->older_left_count, 1);
    assert_int_equal(tally_counts_of(f->tally)->unknown_frees, 0);
}

static void older_memory_that_is_only_a_number_belongs_to_its_ledger(void **state)
{
    struct fixture *f = *state;
    struct event event = {.kind = EVENT_SAMPLE,
                          .flags = EVENT_IS_OLDER,
                          .value = 900,
                          .text = text(f, "older"),
                          .thread = f->threads[0],
                          .pool = f->pools[1],
                          .place = f->places[2]};

    feed(f, event);
    event.value = 500;
    feed(f, event);
    event.kind = EVENT_FREE; /* its place is known, as it is marked */
    event.value = 400;
    feed(f, event);
    tally_finish(f->tally);
    assert_int_equal(tally_ledger_at(f->tally, 0)->device, 1);
    assert_true(tally_ledger_at(f->tally, 0)->has_older_beside);
    assert_int_equal(tally_ledger_at(f->tally, 0)->older_beside_bytes, 900);
    assert_int_equal(tally_ledger_at(f->tally, 0)->older_beside_left_bytes, 500);
    assert_true(tally_baseline_at(f->tally, 0)->has_ledger);
    assert_int_equal(tally_baseline_at(f->tally, 0)->ledger, 0);
    assert_int_equal(tally_baseline_at(f->tally, 0)->bytes, 400);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void step(struct fixture *f, enum event_kind kind, uint64_t number)
{
    feed(f,
         (struct event){.kind = (uint8_t)kind, .value = number, .time_ns = f->time_ns += 1000000});
}

static void block(struct fixture *f, enum event_kind kind, uint64_t number)
{
    feed(f, (struct event){.kind = (uint8_t)kind,
                           .time_ns = f->time_ns += 1000000,
                           .address = 0x10000 + number * 64,
                           .value = kind == EVENT_ALLOC ? 100 : 0,
                           .pool = f->pools[0],
                           .place = f->places[0],
                           .site = f->sites[1]});
}

static void survivors_are_known_by_birth(void **state)
{
    struct fixture *f = *state;
    const struct cohorts *cohorts;
    uint32_t epoch, births = 0;

    block(f, EVENT_ALLOC, 1000);
    for (uint64_t i = 1; i <= 4; i++) {
        step(f, EVENT_STEP_BEGIN, i);
        block(f, EVENT_ALLOC, i);
        block(f, EVENT_ALLOC, 100 + i);
        block(f, EVENT_FREE, 100 + i);
        if (i == 4)
            block(f, EVENT_FREE, 2);
        step(f, EVENT_STEP_END, i);
    }
    block(f, EVENT_FREE, 1); /* after the last step end: it still was alive there */
    tally_finish(f->tally);
    epoch = tally_process_at(f->tally, 0).epoch;
    cohorts = &tally_past_at(f->tally, 1)->cohorts;
    for (uint16_t i = 0; i < cohorts->count; i++) {
        struct step_sample left = cohort_at_step_end(&cohorts->rows[i], epoch);

        assert_int_equal(left.count, left.step != 2);
        births |= 1u << left.step;
    }
    assert_int_equal(births & ~(1u << 2), 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4);
    assert_int_equal(step_series_at(&tally_past_at(f->tally, 1)->series, 3).bytes, 400);
    assert_int_equal(step_series_at(&tally_past_at(f->tally, 1)->series, 4).bytes, 400);
    assert_int_equal(tally_group_at(f->tally, 1)->live_bytes, 300);
}

static void step_rows_hold_end_peak_and_allocated(void **state)
{
    struct fixture *f = *state;
    const struct step_row *row;

    step(f, EVENT_STEP_BEGIN, 1);
    block(f, EVENT_ALLOC, 1);
    block(f, EVENT_ALLOC, 2);
    block(f, EVENT_FREE, 1);
    step(f, EVENT_STEP_BEGIN, 2); /* ends step 1 */
    step(f, EVENT_STEP_END, 2);
    assert_int_equal(tally_step_count(f->tally), 2);
    row = tally_step_row_at(f->tally, tally_step_at(f->tally, 0)->first_row);
    assert_int_equal(row->end_bytes, 100);
    assert_int_equal(row->peak_bytes, 200);
    assert_int_equal(row->alloc_bytes, 200);
    row = tally_step_row_at(f->tally, tally_step_at(f->tally, 1)->first_row);
    assert_int_equal(row->end_bytes, 100);
    assert_int_equal(row->peak_bytes, 100);
    assert_int_equal(row->alloc_bytes, 0);
    assert_ptr_equal(tally_step_row_of(f->tally, tally_step_at(f->tally, 1), row->ledger), row);
    assert_null(tally_step_row_of(f->tally, tally_step_at(f->tally, 1), row->ledger + 1));
}

static void step_of(struct fixture *f, uint16_t process, uint64_t number)
{
    feed(f, (struct event){.kind = EVENT_STEP_BEGIN,
                           .time_ns = f->time_ns += 1000,
                           .process = process,
                           .value = number,
                           .thread = f->threads[0]});
}

static void steps_are_found_by_process_and_index(void **state)
{
    struct fixture *f = *state;

    step_of(f, 0, 70);
    step_of(f, 0, 71);
    step_of(f, 1, 80);
    assert_int_equal(tally_step_of(f->tally, 0, 2)->number, 71);
    assert_int_equal(tally_step_of(f->tally, 1, 1)->number, 80);
    assert_null(tally_step_of(f->tally, 0, 0));
    assert_null(tally_step_of(f->tally, 0, 3));
    assert_null(tally_step_of(f->tally, 1, 2));
    assert_null(tally_step_of(f->tally, 7, 1));
}

/* No source does that; nobody is given the step of another process for it. */
static void a_process_that_comes_back_keeps_its_newest_steps(void **state)
{
    struct fixture *f = *state;

    step_of(f, 0, 70);
    step_of(f, 1, 80);
    step_of(f, 0, 71);
    assert_int_equal(tally_step_of(f->tally, 0, 2)->number, 71);
    assert_null(tally_step_of(f->tally, 0, 1));
    assert_int_equal(tally_step_of(f->tally, 1, 1)->number, 80);
}

static void series_stay_bounded_and_exact_where_kept(void **state)
{
    struct step_series series = {0};
    struct cohorts cohorts = {0};
    uint64_t survivors = 0;

    (void)state;
    for (uint32_t i = 1; i <= 100000; i++) {
        assert_true(step_series_put(&series, (struct step_sample){i, i, (uint64_t)i * 8}));
        assert_true(cohorts_put(&cohorts, i, 2, 16));
        cohorts_take(&cohorts, i, 8, i);
    }
    assert_true(series.count <= STEP_SERIES_MAX && series.count >= STEP_SERIES_MAX / 4);
    for (uint32_t step_index = series.stride; step_index <= 90000; step_index += series.stride)
        assert_int_equal(step_series_at(&series, step_index).bytes, (uint64_t)step_index * 8);
    assert_true(cohorts.count <= STEP_SERIES_MAX);
    for (uint16_t i = 0; i < cohorts.count; i++)
        survivors += cohorts.rows[i].count;
    assert_int_equal(survivors, 100000);
    step_series_release(&series);
    cohorts_release(&cohorts);
}

/* --- steps ---------------------------------------------------------------------------------- */

static void mark(struct fixture *f, enum event_kind kind, uint64_t value, const char *name)
{
    feed(f, (struct event){.kind = (uint8_t)kind,
                           .time_ns = f->time_ns += 100000,
                           .value = value,
                           .address = value,
                           .text = name ? text(f, name) : 0,
                           .thread = f->threads[0]});
}

static void alloc_at(struct fixture *f, uint64_t address, uint64_t size_bytes)
{
    feed(f, (struct event){.kind = EVENT_ALLOC,
                           .time_ns = f->time_ns += 100000,
                           .address = address,
                           .value = size_bytes,
                           .site = f->sites[1],
                           .pool = f->pools[1],
                           .place = f->places[2],
                           .thread = f->threads[0]});
}

static void free_at(struct fixture *f, uint64_t address)
{
    feed(f, (struct event){.kind = EVENT_FREE,
                           .time_ns = f->time_ns += 100000,
                           .address = address,
                           .pool = f->pools[1],
                           .thread = f->threads[0]});
}

static void each_phase_has_its_peak(void **state)
{
    struct fixture *f = *state;
    const struct step_row *row;

    mark(f, EVENT_STEP_BEGIN, 1, NULL);
    alloc_at(f, 0x1000, 10);
    mark(f, EVENT_RANGE_BEGIN, 1, "Forward pass");
    alloc_at(f, 0x2000, 100);
    free_at(f, 0x2000);
    mark(f, EVENT_RANGE_END, 1, NULL);
    mark(f, EVENT_OPERATOR_BEGIN, 0, "MmBackward0");
    mark(f, EVENT_OPERATOR_BEGIN, 0, "aten::mm"); /* inside, it says nothing else */
    alloc_at(f, 0x3000, 50);
    mark(f, EVENT_OPERATOR_END, 0, "aten::mm");
    mark(f, EVENT_OPERATOR_END, 0, "MmBackward0");
    free_at(f, 0x3000);
    mark(f, EVENT_OPERATOR_BEGIN, 0, "Optimizer.step#AdamW.step");
    alloc_at(f, 0x4000, 7);
    mark(f, EVENT_OPERATOR_END, 0, "Optimizer.step#AdamW.step");
    mark(f, EVENT_STEP_END, 1, NULL);
    mark(f, EVENT_STEP_BEGIN, 2, NULL);
    mark(f, EVENT_STEP_END, 2, NULL);
    tally_finish(f->tally);
    row = tally_step_row_at(f->tally, tally_step_at(f->tally, 0)->first_row);
    assert_int_equal(row->peak_bytes, 110);
    assert_int_equal(row->phase_peaks_bytes[PHASE_FORWARD], 110);
    assert_int_equal(row->phase_peaks_bytes[PHASE_BACKWARD], 60);
    assert_int_equal(row->phase_peaks_bytes[PHASE_OPTIMIZER], 17);
    row = tally_step_row_at(f->tally, tally_step_at(f->tally, 1)->first_row);
    assert_int_equal(row->phase_peaks_bytes[PHASE_FORWARD], 0);
}

/* What only says where a block belongs is no way forward; nor is one within the way back, as
 * checkpoints compute again. */
static void a_module_that_runs_is_the_way_forward(void **state)
{
    struct fixture *f = *state;
    const struct step_row *row;

    mark(f, EVENT_STEP_BEGIN, 1, NULL);
    feed(f, (struct event){.kind = EVENT_NN_MODULE_BEGIN,
                           .flags = EVENT_IS_PUT_IN,
                           .text = model_text(f->model, "net", 3),
                           .time_ns = f->time_ns,
                           .thread = f->threads[0]});
    alloc_at(f, 0x1000, 10);
    free_at(f, 0x1000);
    mark(f, EVENT_NN_MODULE_END, 0, "net");
    mark(f, EVENT_NN_MODULE_BEGIN, 0, "net");
    alloc_at(f, 0x2000, 100);
    mark(f, EVENT_NN_MODULE_END, 0, "net");
    mark(f, EVENT_OPERATOR_BEGIN, 0, "CheckpointBackward");
    mark(f, EVENT_NN_MODULE_BEGIN, 0, "net");
    alloc_at(f, 0x3000, 50);
    mark(f, EVENT_NN_MODULE_END, 0, "net");
    mark(f, EVENT_OPERATOR_END, 0, "CheckpointBackward");
    mark(f, EVENT_STEP_END, 1, NULL);
    tally_finish(f->tally);
    row = tally_step_row_at(f->tally, tally_step_at(f->tally, 0)->first_row);
    assert_int_equal(row->phase_peaks_bytes[PHASE_OTHER], 10);
    assert_int_equal(row->phase_peaks_bytes[PHASE_FORWARD], 100);
    assert_int_equal(row->phase_peaks_bytes[PHASE_BACKWARD], 150);
}

static void window_begins_anew(void **state)
{
    struct fixture *f = *state;
    const struct ledger *ledger;

    alloc_at(f, 0x1000, 1000);
    alloc_at(f, 0x2000, 100);
    free_at(f, 0x1000);
    mark(f, EVENT_WINDOW_BEGIN, 0, NULL);
    mark(f, EVENT_STEP_BEGIN, 7, NULL);
    alloc_at(f, 0x3000, 30);
    mark(f, EVENT_STEP_END, 7, NULL);
    tally_finish(f->tally);
    ledger = tally_ledger_at(f->tally, 0);
    assert_int_equal(ledger->peak_bytes, 130);
    assert_int_equal(ledger->alloc_bytes, 30);
    assert_int_equal(ledger->alloc_count, 1);
    assert_int_equal(ledger->live_bytes, 130);
    assert_int_equal(ledger->peak_count, 2);
    assert_int_equal(group_at_peak(f->tally, 1).bytes, 130);
}

static void what_a_step_leaves_is_counted(void **state)
{
    struct fixture *f = *state;
    const struct group_past *past;

    for (uint64_t step = 1; step <= 4; step++) {
        mark(f, EVENT_STEP_BEGIN, step, NULL);
        if (step > 2)
            free_at(f, 0x1000 * (step - 2)); /* two steps old */
        alloc_at(f, 0x1000 * step, 10);
        mark(f, EVENT_STEP_END, step, NULL);
    }
    free_at(f, 0x3000);
    mark(f, EVENT_STEP_BEGIN, 5, NULL); /* never ends */
    free_at(f, 0x4000);
    alloc_at(f, 0x9000, 10);
    tally_finish(f->tally);
    past = tally_past_at(f->tally, 1);
    assert_int_equal(past->left_steps, 4);
    assert_int_equal(past->left_bytes, 40);
    assert_int_equal(past->freed_age_at_end, 2);
    assert_int_equal(past->example_address, 0x9000);
    assert_int_equal(past->example_birth, 5);
}

static void a_size_class_holds_what_rounding_makes_of_a_request(void **state)
{
    (void)state;
    for (uint64_t size = 4; size < UINT64_C(1) << 40; size *= 2) {
        assert_int_equal(tally_size_class(size), tally_size_class(size + size / 2));
        assert_int_equal(tally_size_class(size), tally_size_class(size - size / 4 + 1));
        assert_int_equal(tally_size_class(size) + 1, tally_size_class(size + size / 2 + 1));
        assert_int_equal(UINT64_C(1) << (tally_size_class(size) - 1), size);
    }
}

/* A pool that is full refuses a thousand times: the first, the newest, and each site's first. */
static void of_many_failures_those_that_tell_are_kept(void **state)
{
    struct fixture *f = *state;
    enum { failures = 1000, late = 900 };
    const struct failure *row;

    for (uint64_t i = 1; i <= failures; i++)
        feed(f, (struct event){.kind = EVENT_ALLOC_FAILED,
                               .pool = f->pools[1],
                               .place = f->places[1],
                               .time_ns = i,
                               .value = i,
                               .site = f->sites[i == late ? 2 : 1]});
    assert_in_range(tally_failure_count(f->tally), 3, 256);
    assert_int_equal(tally_failure_at(f->tally, 0)->size_bytes, 1);
    row = tally_failure_at(f->tally, tally_failure_count(f->tally) - 1);
    assert_int_equal(row->size_bytes, failures);
    assert_int_equal(row->number, failures);
    row = tally_failure_at(f->tally, tally_failure_count(f->tally) - 2);
    assert_int_equal(row->site, f->sites[2]);
    assert_int_equal(row->number, late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_slow_model),
        cmocka_unit_test(a_size_class_holds_what_rounding_makes_of_a_request),
        cmocka_unit_test_setup_teardown(of_many_failures_those_that_tell_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(each_phase_has_its_peak, setup, teardown),
        cmocka_unit_test_setup_teardown(a_module_that_runs_is_the_way_forward, setup, teardown),
        cmocka_unit_test_setup_teardown(window_begins_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_step_leaves_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(late_free_of_another_thread_is_swallowed, setup, teardown),
        cmocka_unit_test_setup_teardown(free_of_the_same_thread_is_never_late, setup, teardown),
        cmocka_unit_test_setup_teardown(free_long_after_is_a_free_of_the_new_block, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(early_free_meets_its_alloc, setup, teardown),
        cmocka_unit_test_setup_teardown(free_of_an_older_block_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(older_blocks_are_told_apart_from_those_of_the_window, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(older_memory_that_is_only_a_number_belongs_to_its_ledger,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(survivors_are_known_by_birth, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_are_found_by_process_and_index, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_comes_back_keeps_its_newest_steps, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(step_rows_hold_end_peak_and_allocated, setup, teardown),
        cmocka_unit_test(series_stay_bounded_and_exact_where_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
