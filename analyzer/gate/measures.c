/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of recordings, by key.
 */
#include "measures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "harmless.h"
#include "hash.h"
#include "origins.h"
#include "text_builder.h"

uint64_t share_of(uint64_t part, uint64_t whole)
{
    const unsigned unit = 100 * 100; /* hundredths of a percent */

    return (uint64_t)(((__extension__(unsigned __int128) part) * unit + whole / 2) / whole);
}

void measures_init(struct measures *measures, size_t repeat_count)
{
    memset(measures, 0, sizeof(*measures));
    arena_init(&measures->arena);
    table_init(&measures->rows, &measures->arena, sizeof(struct measure));
    measures->repeat_count = repeat_count;
}

void measures_release(struct measures *measures)
{
    hash_index_release(&measures->index);
    arena_release(&measures->arena);
}

static const char *pool_name(const struct model *model, uint16_t pool)
{
    return model_text_at(model, model_pool_name_at(model, pool));
}

const char *key_name(struct arena *arena, const char *name)
{
    struct text_builder spelled;

    text_init(&spelled);
    text_add_harmless(&spelled, FOR_TERMINAL, name);
    return text_keep(&spelled, arena);
}

/* Without a family, the pool's own name. */
const char *device_key(struct arena *arena, enum device_family family, const char *pool,
                       int32_t device)
{
    const char *name = family == FAMILY_NONE ? pool : device_family_name(family);

    if (family == FAMILY_HOST || (family == FAMILY_NONE && device < 0))
        return device_family_name(FAMILY_HOST);
    if (device < 0)
        return arena_copy(arena, name);
    return arena_format(arena, "%s:%" PRId32, name, device);
}

const char *device_name(struct arena *arena, const struct model *model, const struct ledger *ledger)
{
    return device_key(arena, model_pool_at(model, ledger->pool)->family,
                      pool_name(model, ledger->pool), ledger->device);
}

static struct measure *row_find(const struct measures *measures, const char *key, uint64_t hash)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&measures->index, hash, &probe, &found)) {
        struct measure *row = table_at(&measures->rows, found);

        if (strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

const struct measure *measures_find(const struct measures *measures, const char *key)
{
    return row_find(measures, key, hash_bytes(key, strlen(key)));
}

const struct measure *measures_of_pool(const struct measures *measures, const struct measure *like,
                                       enum rule_kind kind)
{
    for (size_t i = 0; i < measures->rows.count; i++) {
        const struct measure *row = table_at(&measures->rows, i);

        if (row->kind == kind && strcmp(row->device, like->device) == 0 &&
            strcmp(row->pool, like->pool) == 0)
            return row;
    }
    return NULL;
}

/* The row of a measure, with room for every repeat. */
static struct measure *row_for(struct measures *measures, const struct measure *like)
{
    uint64_t hash = hash_bytes(like->key, strlen(like->key));
    struct measure *row = row_find(measures, like->key, hash), made = *like;

    if (row)
        return row;
    made.values = arena_alloc(&measures->arena, measures->repeat_count * sizeof(*made.values));
    made.is_known = arena_alloc(&measures->arena, measures->repeat_count * sizeof(*made.is_known));
    made.sum_turn = UINT32_MAX;
    if (made.values && made.is_known)
        row = hash_index_add_row(&measures->index, hash, &measures->rows);
    if (row)
        *row = made;
    else
        measures->arena.has_failed = true;
    return row;
}

void measures_put(struct measures *measures, const struct measure *like, size_t repeat,
                  uint32_t turn, uint64_t value)
{
    struct measure *row = row_for(measures, like);

    if (!row)
        return;
    row->sum = row->sum_turn == turn ? row->sum + value : value;
    row->sum_turn = turn;
    if (value > row->largest) { /* lines of one function have one key */
        row->largest = value;
        row->name = like->name;
        row->where = like->where;
    }
    if (!row->is_known[repeat] || row->sum > row->values[repeat])
        row->values[repeat] = row->sum;
    row->is_known[repeat] = true;
}

/* One ledger, while it is measured. */
struct scope {
    struct measures *measures;
    const struct question *question;
    size_t repeat;
    uint16_t index;
    const struct ledger *ledger;
    const char *device, *pool;
};

/* key: what is after "device/pool/" */
static struct measure measure_of(const struct scope *scope, enum rule_kind kind, const char *key,
                                 const char *name)
{
    struct arena *texts = &scope->measures->arena;

    return (struct measure){
        .key = key_name(texts, arena_format(texts, "%s/%s/%s", scope->device, scope->pool, key)),
        .device = scope->device,
        .pool = scope->pool,
        .name = name,
        .kind = kind,
        .where = place_none(),
    };
}

void measures_put_pool(struct measures *measures, const char *device, const char *pool,
                       const struct ledger_figures *figures, size_t repeat, uint32_t turn)
{
    const struct {
        enum rule_kind kind;
        bool is_known;
        uint64_t value;
    } numbers[] = {
        {RULE_PEAK_LIVE, true, figures->peak_bytes},
        {RULE_PEAK_SEEN, figures->is_counted, figures->seen_peak_bytes},
        {RULE_PEAK_RESERVED, figures->has_reserved, figures->reserved_peak_bytes},
        {RULE_FRAGMENTATION, figures->has_reserved,
         figures->has_reserved ? share_of(figures->unused_bytes, figures->reserved_peak_bytes) : 0},
    };
    const struct scope scope = {.measures = measures, .device = device, .pool = pool};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct measure measure =
            measure_of(&scope, numbers[i].kind, kind_rule(numbers[i].kind), "");

        if (numbers[i].is_known)
            measures_put(measures, &measure, repeat, turn, numbers[i].value);
    }
}

static void put_origin(const struct scope *scope, const struct origin *origin)
{
    struct arena *texts = &scope->measures->arena;
    struct step_sample held = origin_at_peak(scope->question->tally, origin);
    struct place_in_code where;
    const char *key;
    struct measure measure;

    if (!held.bytes)
        return;
    where = place_of(scope->question, texts, origin->who);
    key = arena_format(texts, "site/%016" PRIx64, origin_id(scope->question, &origin->who));
    measure = measure_of(scope, RULE_SITE, key, where.label);
    measure.where = where;
    measures_put(scope->measures, &measure, scope->repeat, scope->index, held.bytes);
}

static void put_owners(const struct scope *scope)
{
    struct arena *texts = &scope->measures->arena;
    const struct tally *tally = scope->question->tally;

    for (size_t i = 1; i < tally_group_count(tally); i++) {
        const struct group_detail *detail = tally_detail_at(tally, i);
        uint64_t bytes;
        const char *name;
        struct measure measure;

        if (tally_group_at(tally, i)->ledger != scope->index || !detail->owner_text)
            continue;
        bytes = group_at_peak(tally, i).bytes;
        if (!bytes)
            continue;
        name = model_text_at(scope->question->model, detail->owner_text);
        measure = measure_of(scope, RULE_OWNER, arena_format(texts, "owner/%s", name),
                             arena_copy(texts, name));
        measures_put(scope->measures, &measure, scope->repeat, scope->index, bytes);
    }
}

static const struct {
    enum step_phase phase;
    const char *key, *name;
} phases[] = {
    {PHASE_FORWARD, "phase/forward", "forward"},
    {PHASE_BACKWARD, "phase/backward", "backward"},
    {PHASE_OPTIMIZER, "phase/optimizer", "optimizer"},
};

/* The highest of all steps after the warm-up. */
static uint64_t phase_peak(const struct scope *scope, enum step_phase phase)
{
    const struct tally *tally = scope->question->tally;
    uint32_t warm_up = growth_steps_of(scope->question, scope->ledger->process).warm_up;
    uint64_t peak = 0;

    for (size_t i = 0; i < tally_step_count(tally); i++) {
        const struct step *step = tally_step_at(tally, i);
        const struct step_row *row;

        if (step->process != scope->ledger->process || step->index <= warm_up)
            continue;
        row = tally_step_row_of(tally, step, scope->index);
        if (row && row->phase_peaks_bytes[phase] > peak)
            peak = row->phase_peaks_bytes[phase];
    }
    return peak;
}

static void put_phases(const struct scope *scope)
{
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        uint64_t peak = phase_peak(scope, phases[i].phase);
        struct measure measure;

        if (!peak)
            continue;
        measure = measure_of(scope, RULE_PHASE, phases[i].key, phases[i].name);
        measures_put(scope->measures, &measure, scope->repeat, scope->index, peak);
    }
}

static void add_ledgers(struct measures *measures, const struct question *question, size_t repeat)
{
    struct origins origins;

    if (!origins_init(&origins, question, ORIGINS_BY_SITE)) {
        measures->arena.has_failed = true;
        return;
    }
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        const char *pool = pool_name(question->model, ledger->pool);
        struct scope scope = {measures, question, repeat, (uint16_t)i, ledger, NULL, NULL};
        struct ledger_figures figures;

        if (ledger->kind != LEDGER_MEMORY && ledger->kind != LEDGER_HOST)
            continue;
        scope.device = device_name(&measures->arena, question->model, ledger);
        scope.pool = arena_copy(&measures->arena, pool);
        figures = ledger_figures_of(question, (uint16_t)i);
        measures_put_pool(measures, scope.device, scope.pool, &figures, repeat, (uint32_t)i);
        for (size_t j = 0; j < origins.count; j++)
            if (origins.rows[j].ledger == i)
                put_origin(&scope, &origins.rows[j]);
        put_owners(&scope);
        put_phases(&scope);
    }
    origins_release(&origins);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int number_compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

uint64_t median_of(uint64_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof(*numbers), number_compare);
    if (count % 2)
        return numbers[count / 2];
    return numbers[count / 2 - 1] + (numbers[count / 2] - numbers[count / 2 - 1]) / 2;
}

/* The peaks of one pool, one for each rank. */
static size_t peaks_of_ranks(const struct question *question, uint16_t pool, uint64_t *peaks)
{
    size_t count = 0;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->pool == pool && ledger->kind == LEDGER_MEMORY && ledger->device >= 0 &&
            model_process_at((struct model *)question->model, ledger->process)->rank >= 0)
            peaks[count++] = ledger_figures_of(question, (uint16_t)i).peak_bytes;
    }
    return count;
}

static void add_ranks(struct measures *measures, const struct question *question, size_t repeat)
{
    struct arena *texts = &measures->arena;
    uint64_t *peaks = malloc((tally_ledger_count(question->tally) + 1) * sizeof(*peaks));

    if (!peaks) {
        measures->arena.has_failed = true;
        return;
    }
    for (size_t pool = 0; pool < model_pool_count(question->model); pool++) {
        size_t count = peaks_of_ranks(question, (uint16_t)pool, peaks);
        uint64_t median = count > 1 ? median_of(peaks, count) : 0;
        struct measure measure = {
            .device = "*", .name = "", .kind = RULE_RANKS, .where = place_none()};

        if (!median)
            continue;
        measure.pool = arena_copy(texts, pool_name(question->model, (uint16_t)pool));
        measure.key = key_name(texts, arena_format(texts, "ranks/%s/imbalance", measure.pool));
        measures_put(measures, &measure, repeat, UINT32_MAX - 1,
                     share_of(peaks[count - 1] - median, median));
    }
    free(peaks);
}

/* --- the device as a whole ---------------------------------------------------------------------
 */

/* What is used of a device, as the system says it; with modules, the driver tells who holds a part.
 */
struct used_counter {
    enum device_family family; /* FAMILY_NONE: it is no such counter */
    bool has_modules;
};

/*
 * What is in pools; processes add up. Recorded pools are layers: the largest holds what the others
 * hand out. The pools that a profiler tells of stand side by side.
 */
static uint64_t recorded_peak(const struct question *question, const char *device,
                              bool is_side_by_side, struct arena *arena)
{
    uint64_t sum = 0;

    for (size_t process = 0; process < model_process_count(question->model); process++) {
        uint64_t most = 0;

        for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
            const struct ledger *ledger = tally_ledger_at(question->tally, i);
            uint64_t held = ledger_figures_of(question, (uint16_t)i).held_bytes;

            if (ledger->process != process || ledger->kind != LEDGER_MEMORY ||
                strcmp(device_name(arena, question->model, ledger), device) != 0)
                continue;
            if (is_side_by_side)
                most += held;
            else if (held > most)
                most = held;
        }
        sum += most;
    }
    return sum;
}

/* "module HCCL reserved" and the like beside this counter; what the program itself took is in
 * pools. */
static uint64_t modules_peak(const struct question *question, const struct sample_row *used)
{
    static const char beginning[] = "module ", own[] = "module APP ";
    int32_t device = model_place_at(question->model, used->place).device;
    uint64_t sum = 0;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        const char *counter = model_text_at(question->model, row->counter);

        if (row->process == used->process &&
            model_place_at(question->model, row->place).device == device &&
            strncmp(counter, beginning, sizeof(beginning) - 1) == 0 &&
            strncmp(counter, own, sizeof(own) - 1) != 0)
            sum += row->high_bytes;
    }
    return sum;
}

/* "npu used", or "APP reserved" of a profile of an NPU. */
static struct used_counter used_counter_of(const char *counter)
{
    if (strcmp(counter, "APP reserved") == 0)
        return (struct used_counter){FAMILY_NPU, true};
    return (struct used_counter){device_family_of_used(counter), false};
}

static void put_unattributed(struct measures *measures, const struct question *question,
                             size_t repeat, const struct sample_row *row, struct used_counter used)
{
    struct measure measure = {
        .pool = "*", .name = "", .kind = RULE_UNATTRIBUTED, .where = place_none()};
    struct arena *texts = &measures->arena;
    uint64_t known;

    measure.device = arena_format(texts, "%s:%" PRId32, device_family_name(used.family),
                                  model_place_at(question->model, row->place).device);
    measure.key =
        key_name(texts, arena_format(texts, "%s/%s", measure.device, kind_rule(measure.kind)));
    known = recorded_peak(question, measure.device, used.has_modules, &measures->arena);
    if (used.has_modules)
        known += modules_peak(question, row);
    measures_put(measures, &measure, repeat, UINT32_MAX - 1 - (uint32_t)row->process,
                 row->high_bytes > known ? row->high_bytes - known : 0);
}

static void add_unattributed(struct measures *measures, const struct question *question,
                             size_t repeat)
{
    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        struct used_counter used = used_counter_of(model_text_at(question->model, row->counter));

        if (used.family != FAMILY_NONE)
            put_unattributed(measures, question, repeat, row, used);
    }
}

/* --- the process as a whole --------------------------------------------------------------------
 */

static void put_account(struct measures *measures, enum rule_kind kind, size_t repeat,
                        uint32_t turn, uint64_t value)
{
    struct measure measure = {
        .device = "*", .pool = "*", .name = "", .kind = kind, .where = place_none()};
    struct arena *texts = &measures->arena;

    measure.key = key_name(texts, arena_format(texts, "process/%s", kind_rule(kind)));
    measures_put(measures, &measure, repeat, turn, value);
}

/* The most of all accounts of a process; of several processes, of one. */
static void add_accounts(struct measures *measures, const struct question *question, size_t repeat)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);

    for (size_t process = 0; process < model_process_count(question->model); process++) {
        size_t count, first = memory_accounts_of(accounts, (uint16_t)process, &count);
        uint32_t turn = UINT32_MAX - 1 - (uint32_t)process;
        uint64_t resident = 0, shared = 0, kept = 0;

        for (size_t i = first; i < first + count; i++) {
            const struct memory_account *account = &accounts->rows[i];
            uint64_t now_shared = memory_account_part(account, ACCOUNT_SHARED);
            uint64_t now_kept = memory_account_part(account, ACCOUNT_KEPT);

            resident = account->figures[ACCOUNT_FIGURE_RESIDENT] > resident
                           ? account->figures[ACCOUNT_FIGURE_RESIDENT]
                           : resident;
            shared = now_shared > shared ? now_shared : shared;
            kept = now_kept > kept ? now_kept : kept;
        }
        if (!count)
            continue;
        put_account(measures, RULE_RESIDENT, repeat, turn, resident);
        put_account(measures, RULE_SHARED, repeat, turn, shared);
        put_account(measures, RULE_KEPT, repeat, turn, kept);
    }
}

void measures_begin(struct measures *measures)
{
    for (size_t i = 0; i < measures->rows.count; i++)
        ((struct measure *)table_at(&measures->rows, i))->sum_turn = UINT32_MAX;
}

void measures_add(struct measures *measures, const struct question *question, size_t repeat)
{
    measures_begin(measures);
    add_ledgers(measures, question, repeat);
    add_ranks(measures, question, repeat);
    add_unattributed(measures, question, repeat);
    add_accounts(measures, question, repeat);
}

size_t measures_count(const struct measures *measures)
{
    return measures->rows.count;
}

const struct measure *measures_at(const struct measures *measures, size_t index)
{
    return table_at(&measures->rows, index);
}

struct measure_spread measure_spread(const struct measures *measures, const struct measure *measure)
{
    struct measure_spread spread = {.low = UINT64_MAX};
    uint64_t *known = malloc(measures->repeat_count * sizeof(*known));

    for (size_t i = 0; i < measures->repeat_count; i++) {
        if (!measure->is_known[i])
            continue;
        if (known)
            known[spread.count] = measure->values[i];
        spread.count++;
        if (measure->values[i] < spread.low)
            spread.low = measure->values[i];
        if (measure->values[i] > spread.high)
            spread.high = measure->values[i];
    }
    spread.median = known ? median_of(known, spread.count) : spread.high;
    free(known);
    return spread;
}

int64_t spread_share(struct measure_spread spread)
{
    if (spread.count < 2 || !spread.median)
        return 0;
    return (int64_t)share_of(spread.high - spread.low, spread.median);
}
