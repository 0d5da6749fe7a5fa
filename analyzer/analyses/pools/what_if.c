/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool would have reserved with other settings of its allocator.
 *
 * All models of a ledger see the same requests in one reading. A block is known by the number of
 * its life; its row has its chunk in each model.
 */
#include "what_if.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "leaktide/invariant.h"
#include "ledger_order.h"
#include "list.h"
#include "live_set.h"
#include "sentence.h"

/* As it ran, the others, and these once more: allocators that never give back. */
enum { models_most = 2 * WHAT_IFS_MOST + 1, ascend_pad_bytes = 32, unit_bytes = 512 };

/* Where a block is in each model. */
struct row {
    uint32_t chunks[models_most];
    uint32_t next_spare;
};

/* A block that is older than the recording: they are asked for in order of address. */
struct older {
    uint64_t address, size_bytes, index;
    uint32_t stream;
};

struct ledger_models {
    struct caching_allocator *models[models_most]; /* 0: as it ran */
    size_t count;
    size_t giving_count; /* the first ones give back when the recording does */
    bool gives_back;     /* the newest event of it gave memory back */
    uint64_t reserved_bytes;
    struct older *older;
    size_t older_count, older_capacity;
};

struct replay {
    const struct question *question;
    struct what_ifs *what_ifs;
    struct ledger_models ledgers[WHAT_IF_LEDGERS_MOST];
    struct live_set lives; /* address: number of the life; birth: its row */
    struct row *rows;
    size_t row_count, row_capacity;
    uint32_t spare;  /* number + 1 of an unused row */
    uint32_t stream; /* of the newest event */
    bool is_older;   /* so is the newest event */
    bool has_failed;
};

static enum pool_allocator allocator_of(const struct question *question,
                                        const struct ledger *ledger)
{
    return model_pool_at(question->model, ledger->pool)->allocator;
}

bool what_if_is_for(const struct question *question, const struct ledger *ledger)
{
    return allocator_of(question, ledger) != POOL_ALLOCATOR_NONE;
}

const char *what_if_variable(const struct question *question, const struct ledger *ledger)
{
    static const char *const variables[] = {
        [POOL_ALLOCATOR_NONE] = "",
        [POOL_ALLOCATOR_CUDA_CACHING] = "PYTORCH_CUDA_ALLOC_CONF",
        [POOL_ALLOCATOR_NPU_CACHING] = "PYTORCH_NPU_ALLOC_CONF",
    };

    return variables[allocator_of(question, ledger)];
}

/* --- blocks --------------------------------------------------------------------------------- */

static int ledger_at(const struct replay *replay, uint16_t ledger)
{
    for (size_t i = 0; i < replay->what_ifs->count; i++)
        if (replay->what_ifs->ledgers[i].ledger == ledger)
            return (int)i;
    return -1;
}

/* Number of a row for a new block; UINT32_MAX: no memory. */
static uint32_t row_take(struct replay *replay)
{
    uint32_t row;

    MT_ASSERT(replay->row_count <= replay->row_capacity);
    MT_ASSERT(replay->spare <= replay->row_count);
    if (replay->spare) {
        row = replay->spare - 1;
        replay->spare = replay->rows[row].next_spare;
        return row;
    }
    if (replay->row_count == UINT32_MAX || !list_has_room(&replay->rows, &replay->row_capacity,
                                                          replay->row_count, sizeof(*replay->rows)))
        return UINT32_MAX;
    return (uint32_t)replay->row_count++;
}

static bool take(struct replay *replay, struct ledger_models *models, uint64_t index,
                 uint32_t stream, uint64_t size_bytes)
{
    uint32_t row = row_take(replay);

    if (row == UINT32_MAX)
        return false;
    for (size_t i = 0; i < models->count; i++) {
        replay->rows[row].chunks[i] = caching_allocator_take(models->models[i], stream, size_bytes);
        if (!replay->rows[row].chunks[i])
            return false;
    }
    return live_set_put(&replay->lives, live_hash(index),
                        &(struct live_block){.address = index, .group = 1, .birth = row});
}

static int by_address(const void *left, const void *right)
{
    const struct older *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static bool take_older(struct replay *replay, struct ledger_models *models)
{
    bool is_good = true;

    if (models->older_count)
        qsort(models->older, models->older_count, sizeof(*models->older), by_address);
    for (size_t i = 0; i < models->older_count && is_good; i++) {
        const struct older *block = &models->older[i];

        is_good = take(replay, models, block->index, block->stream, block->size_bytes);
    }
    models->older_count = 0;
    return is_good;
}

static bool keep_older(struct ledger_models *models, struct older block)
{
    if (!list_has_room(&models->older, &models->older_capacity, models->older_count,
                       sizeof(*models->older)))
        return false;
    models->older[models->older_count++] = block;
    return true;
}

/* --- the recording -------------------------------------------------------------------------- */

/* One emptying of the cache is told segment by segment: the first of them stands for all. */
static bool reserve(struct replay *replay, size_t ledger, uint64_t reserved_bytes)
{
    struct ledger_models *models = &replay->ledgers[ledger];
    bool gives_back = reserved_bytes < models->reserved_bytes;
    bool is_good = true;

    if (gives_back && !models->gives_back) {
        replay->what_ifs->ledgers[ledger].give_back_count++;
        for (size_t i = 0; i < models->giving_count && is_good; i++)
            is_good = caching_allocator_empty(models->models[i]);
    }
    models->gives_back = gives_back;
    models->reserved_bytes = reserved_bytes;
    return is_good;
}

static bool on_event(void *context, const struct event *event)
{
    struct replay *replay = context;
    uint16_t found;
    int ledger;

    replay->stream = event->kind == EVENT_ALLOC ? event->detail : 0;
    replay->is_older = event->kind == EVENT_ALLOC && event->flags & EVENT_IS_OLDER;
    if (event->kind != EVENT_RESERVED)
        return !replay->has_failed;
    if (!tally_ledger_find(replay->question->tally, event->process, event->pool, event->place,
                           &found))
        return true;
    ledger = ledger_at(replay, found);
    if (ledger < 0)
        return true;
    replay->has_failed |= !take_older(replay, &replay->ledgers[ledger]) ||
                          !reserve(replay, (size_t)ledger, event->value);
    return !replay->has_failed;
}

static bool on_born(void *context, const struct life *life)
{
    struct replay *replay = context;
    int ledger = ledger_at(replay, life->ledger);
    struct ledger_models *models = &replay->ledgers[ledger < 0 ? 0 : ledger];

    if (ledger < 0)
        return true;
    if (replay->is_older) {
        replay->has_failed |= !keep_older(models, (struct older){life->address, life->size_bytes,
                                                                 life->index + 1, replay->stream});
        return !replay->has_failed;
    }
    models->gives_back = false;
    replay->has_failed |= !take_older(replay, models) ||
                          !take(replay, models, life->index + 1, replay->stream, life->size_bytes);
    return !replay->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct replay *replay = context;
    int ledger = ledger_at(replay, life->ledger);
    struct ledger_models *models = &replay->ledgers[ledger < 0 ? 0 : ledger];
    struct live_place place;
    uint32_t row;

    if (ledger < 0 || life->freed_ns == UINT64_MAX)
        return true;
    models->gives_back = false;
    replay->has_failed |= !take_older(replay, models);
    place = live_set_find(&replay->lives, live_hash(life->index + 1), life->index + 1);
    if (!place.bucket)
        return !replay->has_failed;
    row = live_set_take(&replay->lives, live_hash(life->index + 1), place).birth;
    MT_ASSERT(row < replay->row_count);
    for (size_t i = 0; i < models->count; i++)
        replay->has_failed |=
            !caching_allocator_give(models->models[i], replay->rows[row].chunks[i]);
    replay->rows[row].next_spare = replay->spare;
    replay->spare = row + 1;
    return !replay->has_failed;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct replay *replay = context;

    (void)process;
    for (size_t i = 0; i < replay->what_ifs->count; i++)
        replay->has_failed |= !take_older(replay, &replay->ledgers[i]);
    return !replay->has_failed;
}

/* --- what is asked -------------------------------------------------------------------------- */

/* Sources that tell blocks as rounded have the padding in them. A sum of requests that are not
 * rounded is hardly ever whole units, at every site. */
static bool are_rounded(const struct tally *tally, uint16_t ledger)
{
    for (size_t i = 1; i < tally_group_count(tally); i++)
        if (tally_group_at(tally, i)->ledger == ledger &&
            tally_group_at(tally, i)->alloc_bytes % unit_bytes)
            return false;
    return true;
}

static const char *trouble_of(const struct question *question, const struct ledger *ledger,
                              struct allocator_settings *settings, struct mt_error *error)
{
    struct model_process *process = model_process_at(tally_model(question->tally), ledger->process);
    const char *given = model_text_at(question->model, process->allocator_settings);

    if (ledger->has_older_beside)
        return translated("of blocks older than the recording only the sum is known");
    if (allocator_settings_read(given, settings, error) != MT_OK)
        return translated("it ran with settings that are not modelled");
    return NULL;
}

static void add_other(struct what_if_ledger *ledger, const char *setting)
{
    struct what_if *other = &ledger->others[ledger->other_count];
    struct mt_error error;

    *other = (struct what_if){.setting = setting, .settings = ledger->as_it_ran.settings};
    if (allocator_settings_read(setting, &other->settings, &error) == MT_OK)
        ledger->other_count++;
}

/* Segments that grow make the other settings idle, so those are for segments that do not. */
static void choose_others(struct what_if_ledger *ledger, const char *asked)
{
    bool is_expandable = ledger->as_it_ran.settings.is_expandable;

    add_other(ledger, is_expandable ? "expandable_segments:False" : "expandable_segments:True");
    if (!is_expandable) {
        add_other(ledger, "max_split_size_mb:128");
        add_other(ledger, "max_split_size_mb:512");
        add_other(ledger, "roundup_power2_divisions:8");
    }
    if (asked)
        add_other(ledger, asked);
}

static void choose_ledgers(const struct question *question, struct what_ifs *what_ifs,
                           const uint16_t *order, size_t count)
{
    for (size_t i = 0; i < count && what_ifs->count < WHAT_IF_LEDGERS_MOST; i++) {
        const struct ledger *row = tally_ledger_at(question->tally, order[i]);

        if (what_if_is_for(question, row) && row->kind == LEDGER_MEMORY && row->has_reserved &&
            row->alloc_count && row->reserved_peak_bytes)
            what_ifs->ledgers[what_ifs->count++] = (struct what_if_ledger){
                .ledger = order[i], .recorded_bytes = row->reserved_peak_bytes};
    }
}

static enum mt_result make_models(struct ledger_models *models, const struct what_if_ledger *ledger,
                                  struct mt_error *error)
{
    enum mt_result result = caching_allocator_create(&ledger->as_it_ran.settings,
                                                     &models->models[models->count++], error);

    models->giving_count = ledger->other_count + 1;
    for (size_t k = 0; k < 2 * ledger->other_count && result == MT_OK; k++)
        result = caching_allocator_create(&ledger->others[k % ledger->other_count].settings,
                                          &models->models[models->count++], error);
    return result;
}

static enum mt_result prepare(struct replay *replay, const char *asked, struct mt_error *error)
{
    const struct question *question = replay->question;
    enum mt_result result = MT_OK;

    for (size_t i = 0; i < replay->what_ifs->count && result == MT_OK; i++) {
        struct what_if_ledger *ledger = &replay->what_ifs->ledgers[i];
        const struct ledger *row = tally_ledger_at(question->tally, ledger->ledger);
        struct allocator_settings *settings = &ledger->as_it_ran.settings;

        *settings = (struct allocator_settings){
            .pad_bytes = allocator_of(question, row) == POOL_ALLOCATOR_NPU_CACHING &&
                                 !are_rounded(question->tally, ledger->ledger)
                             ? ascend_pad_bytes
                             : 0,
            .max_split_bytes = ALLOCATOR_SPLITS_ALL,
        };
        ledger->as_it_ran.setting = translated("as it ran");
        ledger->trouble = trouble_of(question, row, settings, error);
        if (ledger->trouble)
            continue;
        choose_others(ledger, asked);
        result = make_models(&replay->ledgers[i], ledger, error);
    }
    return result;
}

static enum mt_result read_requests(struct replay *replay, struct mt_error *error)
{
    const struct question *question = replay->question;
    struct life_visitor visitor = {.context = replay,
                                   .born = on_born,
                                   .over = on_over,
                                   .event = on_event,
                                   .process_over = on_process_over};
    enum mt_result result;

    if (!live_set_init(&replay->lives))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to replay requests");
    result = lives_read(question->events, tally_model(question->tally), &visitor, error);
    if (result == MT_OK && replay->has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to replay requests");
    live_set_release(&replay->lives);
    return result;
}

/* --- the answer ----------------------------------------------------------------------------- */

static unsigned permille_off(uint64_t is, uint64_t should_be)
{
    uint64_t off = is > should_be ? is - should_be : should_be - is;
    uint64_t permille = should_be ? (uint64_t)((unsigned __int128)off * 1000 / should_be) : 0;

    return permille < 1000000 ? (unsigned)permille : 1000000;
}

static void finish(struct what_if_ledger *ledger, const struct ledger_models *models)
{
    if (ledger->trouble)
        return;
    ledger->as_it_ran.totals = caching_allocator_totals(models->models[0]);
    for (size_t i = 0; i < ledger->other_count; i++) {
        const struct caching_allocator *keeps = models->models[models->giving_count + i];

        ledger->others[i].totals = caching_allocator_totals(models->models[i + 1]);
        ledger->others[i].kept_peak_bytes = caching_allocator_totals(keeps).reserved_peak_bytes;
    }
    ledger->error_permille =
        permille_off(ledger->as_it_ran.totals.reserved_peak_bytes, ledger->recorded_bytes);
    ledger->is_believed = ledger->error_permille <= WHAT_IF_TRUST_PERMILLE;
}

enum mt_result what_ifs_read(const struct question *question, const char *asked,
                             struct what_ifs *what_ifs, struct mt_error *error)
{
    struct replay replay = {.question = question, .what_ifs = what_ifs};
    struct allocator_settings ignored = {.pad_bytes = 0};
    enum mt_result result = asked ? allocator_settings_read(asked, &ignored, error) : MT_OK;
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    memset(what_ifs, 0, sizeof(*what_ifs));
    if (result == MT_OK && !order)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to list ledgers");
    if (result == MT_OK)
        choose_ledgers(question, what_ifs, order, count);
    if (result == MT_OK)
        result = prepare(&replay, asked, error);
    if (result == MT_OK && what_ifs->count)
        result = read_requests(&replay, error);
    for (size_t i = 0; i < what_ifs->count; i++) {
        if (result == MT_OK)
            finish(&what_ifs->ledgers[i], &replay.ledgers[i]);
        for (size_t k = 0; k < replay.ledgers[i].count; k++)
            caching_allocator_destroy(replay.ledgers[i].models[k]);
        free(replay.ledgers[i].older);
    }
    free(replay.rows);
    free(order);
    return result;
}

uint64_t what_if_most_bytes(const struct what_if *what_if)
{
    uint64_t peak_bytes = what_if->totals.reserved_peak_bytes;

    return peak_bytes > what_if->kept_peak_bytes ? peak_bytes : what_if->kept_peak_bytes;
}

const struct what_if *what_if_best(const struct what_if_ledger *ledger)
{
    uint64_t least_bytes = ledger->as_it_ran.totals.reserved_peak_bytes;
    const struct what_if *best = NULL;

    for (size_t i = 0; ledger->is_believed && i < ledger->other_count; i++) {
        if (what_if_most_bytes(&ledger->others[i]) >= least_bytes)
            continue;
        best = &ledger->others[i];
        least_bytes = what_if_most_bytes(best);
    }
    return best;
}

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct what_if_ledger *ledger,
                    const struct what_if *what_if)
{
    const struct allocator_totals *totals = &what_if->totals;
    uint64_t unused_bytes = totals->reserved_peak_bytes - totals->taken_at_peak_bytes;
    bool is_as_it_ran = what_if == &ledger->as_it_ran;
    uint64_t compared_bytes =
        is_as_it_ran ? ledger->recorded_bytes : ledger->as_it_ran.totals.reserved_peak_bytes;

    const struct field fields[] = {
        {"setting", "setting", value_text(what_if->setting)},
        {"reserved_peak_bytes", "would reserve at most", value_bytes(totals->reserved_peak_bytes)},
        {"kept_peak_bytes", "if it kept all",
         ledger->give_back_count && !is_as_it_ran ? value_bytes(what_if->kept_peak_bytes)
                                                  : value_none()},
        {"change_bytes", "change",
         value_change(VALUE_BYTES_CHANGE, (int64_t)(totals->reserved_peak_bytes - compared_bytes))},
        {"unused_bytes", "unused then", value_bytes(unused_bytes)},
        {"unused_percent", "share",
         value_number(VALUE_PERCENT, percent_of(unused_bytes, totals->reserved_peak_bytes))},
        {"is_as_it_ran", NULL, value_number(VALUE_FLAG, is_as_it_ran)},
        {"is_believed", NULL, value_number(VALUE_FLAG, ledger->is_believed)},
        {"ledger", "ledger",
         value_text(label_ledger(question, report_arena(report), ledger->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static const char *tenths(struct report *report, unsigned permille)
{
    return report_text(report, "%u.%u %%", permille / 10, permille % 10);
}

static void show_ledger(const struct what_if_ledger *ledger, const struct question *question,
                        struct report *report, struct report_table *table)
{
    struct arena *texts = report_arena(report);
    const char *label = label_ledger(question, texts, ledger->ledger);

    const char *why = ledger->trouble;

    if (!why && !ledger->is_believed)
        why = report_text(report,
                          "asked for the same requests, the model of its allocator reserves %s, "
                          "not %s (the history does not reach back to the peak, or misses some)",
                          label_size(texts, ledger->as_it_ran.totals.reserved_peak_bytes),
                          label_size(texts, ledger->recorded_bytes));
    if (why) {
        report_note(report, 0,
                    report_text(report, "%s: other settings were not tried: %s", label, why));
        return;
    }
    add_row(question, report, table, ledger, &ledger->as_it_ran);
    for (size_t i = 0; i < ledger->other_count; i++)
        add_row(question, report, table, ledger, &ledger->others[i]);
    report_table_remark(
        report, table,
        "%s: %s were reserved; the model of its allocator says %s as it ran, %s off.", label,
        label_size(texts, ledger->recorded_bytes),
        label_size(texts, ledger->as_it_ran.totals.reserved_peak_bytes),
        tenths(report, ledger->error_permille));
    if (ledger->give_back_count)
        report_table_remark(
            report, table,
            "%s gave memory back (times: %" PRIu64 "). Where the device was full, another setting "
            "might have had no need to: it reserves something between the first column and \"if "
            "it kept all\".",
            label, ledger->give_back_count);
}

void what_ifs_show(const struct what_ifs *what_ifs, const struct question *question,
                   struct report *report)
{
    struct report_table *table = report_table(
        report, "what_if", "The same requests with other settings of the allocator", NULL);

    for (size_t i = 0; i < what_ifs->count; i++)
        show_ledger(&what_ifs->ledgers[i], question, report, table);
}
