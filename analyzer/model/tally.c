/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a recording add up to: the way of each alloc and free.
 *
 * A batch goes through in pieces. The bucket of each address is asked for FETCH_AHEAD events
 * before it is needed, as one cache miss costs more than all the rest.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "pinned_pages.h"
#include "tally_state.h"

enum { FETCH_AHEAD = 24, LOOK_AHEAD = 12, PIECE = 512, HUGE_BITS = 48 };

static void tables_init(struct tally *tally)
{
    arena_init(&tally->arena);
    table_init(&tally->details, &tally->arena, sizeof(struct group_detail));
    table_init(&tally->pasts, &tally->arena, sizeof(struct group_past));
    table_init(&tally->contexts, &tally->arena, sizeof(struct context_row));
    table_init(&tally->usages, &tally->arena, sizeof(struct usage));
    table_init(&tally->steps, &tally->arena, sizeof(struct step));
    table_init(&tally->step_rows, &tally->arena, sizeof(struct step_row));
    table_init(&tally->samples, &tally->arena, sizeof(struct sample_row));
    table_init(&tally->failures, &tally->arena, sizeof(struct failure));
    table_init(&tally->baselines, &tally->arena, sizeof(struct baseline));
}

enum mt_result tally_create(struct model *model, struct tally **out, struct mt_error *error)
{
    struct tally *tally = calloc(1, sizeof(*tally));

    if (!tally)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to add events up");
    tally->model = model;
    tally->adds_up = true;
    tables_init(tally);
    if (!live_set_init(&tally->live) || !tally_rows_init(tally)) {
        tally_destroy(tally);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to add events up");
    }
    *out = tally;
    return MT_OK;
}

void tally_destroy(struct tally *tally)
{
    if (!tally)
        return;
    for (size_t i = 0; i < tally->pasts.count; i++) {
        struct group_past *past = table_at(&tally->pasts, i);

        step_series_release(&past->series);
        cohorts_release(&past->cohorts);
    }
    hash_index_release(&tally->context_index);
    hash_index_release(&tally->usage_index);
    hash_index_release(&tally->sample_index);
    tally_threads_release(tally);
    tally_phases_release(tally);
    tally_passes_release(tally);
    free(tally->passed.texts);
    live_set_release(&tally->live);
    memory_accounts_release(&tally->accounts);
    tally_layers_release(tally);
    tally_rows_release(tally);
    address_order_release(&tally->order);
    free(tally->era_firsts);
    free(tally->touched);
    free(tally->processes);
    arena_release(&tally->arena);
    free(tally);
}

/* Before a group changes: what it held at the newest high, and that it changes. */
static inline void group_before_change(struct tally *tally, struct group *group, uint32_t index,
                                       const struct ledger *ledger)
{
    if (group->peak_epoch != ledger->peak_epoch) {
        group->peak_epoch = ledger->peak_epoch;
        group->peak_bytes = group->live_bytes;
        group->peak_count = group->live_count;
    }
    if (!(group->flags & GROUP_TOUCHED)) {
        group->flags |= GROUP_TOUCHED;
        if (!tally_touch(tally, index))
            tally->has_failed = true;
    }
}

static inline void peak_is_here(const struct tally *tally, struct ledger *ledger,
                                const struct event *event, uint32_t group)
{
    ledger->peak_bytes = ledger->live_bytes;
    ledger->peak_epoch++;
    ledger->peak_time_ns = event->time_ns;
    ledger->peak_number = tally->number;
    ledger->peak_group = group;
    ledger->peak_step = tally->era;
    ledger->peak_phase = tally->threads[event->thread].phase;
}

enum { GROUP_HAS_MORE = GROUP_HAS_USAGE | GROUP_HAS_LAYERS };

/* Of few groups. */
static __attribute__((noinline)) void
count_more(struct tally *tally, const struct live_block *block, uint64_t time_ns, bool is_alloc)
{
    uint16_t flags = group_at(tally, block->group)->flags;

    if (flags & GROUP_HAS_USAGE)
        tally_usage_change(tally, block->group, block->size_bytes, is_alloc, time_ns);
    if (!(flags & GROUP_HAS_LAYERS))
        return;
    if (is_alloc)
        tally_layers_born(tally, block);
    else {
        tally_layers_gone(tally, block);
        tally_pass_gone(tally, block);
    }
}

/* On the way of nearly every event: a call would cost as much as what it does. */
#define HOT static inline __attribute__((always_inline))

HOT void count_alloc(struct tally *tally, const struct event *event, uint32_t index)
{
    struct group *group = group_at(tally, index);
    struct ledger *ledger = ledger_at(tally, group->ledger);
    uint64_t size_bytes = event->value;

    if (MT_ASSERTS && size_bytes >> HUGE_BITS)
        tally->has_huge = true;
    group_before_change(tally, group, index, ledger);
    group->live_bytes += size_bytes;
    group->live_count++;
    group->alloc_bytes += size_bytes;
    group->alloc_count++;
    group->born_bytes += size_bytes;
    group->born_count++;
    ledger->live_bytes += size_bytes;
    if (ledger->live_bytes > ledger->phase_peak_bytes) {
        ledger->phase_peak_bytes = ledger->live_bytes;
        if (ledger->live_bytes > ledger->step_peak_bytes) {
            ledger->step_peak_bytes = ledger->live_bytes;
            if (ledger->live_bytes > ledger->peak_bytes)
                peak_is_here(tally, ledger, event, index);
        }
    }
    if (group->flags & GROUP_HAS_MORE)
        count_more(tally, &(struct live_block){event->address, size_bytes, index, 0},
                   event->time_ns, true);
}

/* Taken from its cohort a little later. */
HOT void spend(struct tally *tally, const struct live_block *block)
{
    if (tally->spent_count == SPENT_MAX)
        tally_settle(tally);
    __builtin_prefetch(table_at(&tally->details, block->group));
    tally->spent[tally->spent_count++] =
        (struct spent_block){block->group, tally_era_of(tally, block->birth), block->size_bytes};
}

HOT void count_free(struct tally *tally, const struct live_block *block, uint64_t time_ns)
{
    struct group *group = group_at(tally, block->group);
    struct ledger *ledger = ledger_at(tally, group->ledger);

    group_before_change(tally, group, block->group, ledger);
    group->live_bytes -= block->size_bytes;
    group->live_count--;
    ledger->live_bytes -= block->size_bytes;
    if (is_of_this_era(tally, block->birth)) {
        group->born_bytes -= block->size_bytes;
        group->born_count--;
    } else {
        spend(tally, block);
    }
    if (group->flags & GROUP_HAS_MORE)
        count_more(tally, block, time_ns, false);
}

/* Whether the block there is what the event is about: of its pool, and of its device if it says so.
 */
static inline bool is_meant(const struct tally *tally, struct live_place place,
                            const struct event *event)
{
    const struct ledger *ledger =
        ledger_at(tally, tally->group_ledgers[place.bucket->group[place.slot]]);

    if (ledger->pool != event->pool)
        return false;
    return !(event->flags & EVENT_IS_OF_DEVICE) ||
           ledger->device == model_place_at(tally->model, event->place).device;
}

/* Two pools, or devices, have a block at one address. */
static __attribute__((noinline)) struct live_place
find_other(const struct tally *tally, const struct event *event, struct live_place place)
{
    do
        place = live_set_find_next(&tally->live, event->address, place);
    while (place.bucket && !is_meant(tally, place, event));
    return place;
}

/* The block at the address of the event. */
HOT struct live_place find_block(const struct tally *tally, uint64_t hash,
                                 const struct event *event)
{
    struct live_place place = live_set_find(&tally->live, hash, event->address);

    if (place.bucket && !is_meant(tally, place, event))
        return find_other(tally, event, place);
    return place;
}

static uint32_t tell_born(const struct tally *tally, const struct event *event, uint32_t group)
{
    return tally->observer->born(tally->observer->context, event, group, tally->era);
}

static void tell_gone(const struct tally *tally, const struct event *event,
                      const struct live_block *block)
{
    tally->observer->gone(tally->observer->context, event, block, tally->era);
}

static inline bool is_observed(const struct tally *tally)
{
    return __builtin_expect(tally->observer != NULL, 0);
}

HOT void take_block(struct tally *tally, uint64_t hash, struct live_place place,
                    const struct event *event)
{
    struct live_block block = live_set_take(&tally->live, hash, place);

    if (is_observed(tally)) {
        uint32_t birth = tally->adds_up ? tally_birth_of(tally, &block) : 0;

        tell_gone(tally, event, &block);
        if (!tally->adds_up)
            return;
        block.birth = birth;
    }
    count_free(tally, &block, event->time_ns);
}

static inline struct live_block block_of(const struct tally *tally, const struct event *event,
                                         uint32_t group)
{
    return (struct live_block){.address = event->address,
                               .size_bytes = event->value,
                               .group = group,
                               .birth = (uint32_t)tally->number};
}

/* A block that was freed before it was seen: it counts as handed out, and is gone. */
static __attribute__((noinline)) void count_short_life(struct tally *tally,
                                                       const struct event *event, uint32_t group)
{
    struct live_block block = block_of(tally, event, group);

    if (is_observed(tally)) {
        struct live_block told = block;

        told.birth = tell_born(tally, event, group);
        tell_gone(tally, event, &told);
        if (!tally->adds_up)
            return;
    }
    count_alloc(tally, event, group);
    count_free(tally, &block, event->time_ns);
}

HOT void on_alloc(struct tally *tally, const struct event *event, uint64_t hash)
{
    const struct thread_state *thread = event->thread < tally->thread_count
                                            ? &tally->threads[event->thread]
                                            : tally_thread(tally, event->thread);
    const struct site_group *first;
    const struct group_cache_row *cached;
    struct live_place old;
    uint32_t group;
    struct live_block block;

    if (!thread) {
        tally->has_failed = true;
        return;
    }
    first = tally_site_group(tally, event->site);
    cached = &tally->group_cache[tally_group_slot(event, thread->context)];
    if (__builtin_expect(tally->is_of_ledgers, 0))
        group = tally_ledger_group(tally, event, thread->context);
    else if (is_group_of_site(first, event, thread->context))
        group = first->group;
    else if (cached->site == event->site && cached->context == thread->context &&
             cached->pool == event->pool && cached->place == event->place && cached->group &&
             !(event->flags & ~EVENT_IS_OF_DEVICE))
        group = cached->group;
    else
        group = tally_group_for(tally, event, thread->context);
    /* After a failure groups are numbered in another way than an observer knows. */
    if (!group || tally->has_failed) {
        tally->has_failed = true;
        return;
    }
    old = find_block(tally, hash, event);
    if (old.bucket) {
        take_block(tally, hash, old, event);
        tally_expect_free(tally, event, hash);
    } else if (event->time_ns <= tally->disorder_until_ns &&
               tally_was_freed_early(tally, event, hash)) {
        count_short_life(tally, event, group);
        return;
    }
    block = block_of(tally, event, group);
    if (is_observed(tally)) {
        block.birth = tell_born(tally, event, group);
        if (tally->adds_up)
            count_alloc(tally, event, group);
    } else {
        count_alloc(tally, event, group);
    }
    if (!live_set_put(&tally->live, hash, &block)) {
        tally->has_failed = true;
        return;
    }
    if (__builtin_expect(tally->order.is_kept, 0))
        tally_order_block(tally, &block);
    if (tally->live.block_count > tally->counts.live_peak_count)
        tally->counts.live_peak_count = tally->live.block_count;
}

HOT void on_free(struct tally *tally, const struct event *event, uint64_t hash)
{
    struct live_place place;

    if (event->time_ns <= tally->disorder_until_ns && tally_swallows_free(tally, event, hash))
        return;
    place = find_block(tally, hash, event);
    if (place.bucket)
        take_block(tally, hash, place, event);
    else
        tally_unknown_free(tally, event, hash);
}

/* Early ones are all worth keeping, later ones if nobody there failed before. */
static bool is_worth_keeping(const struct tally *tally, uint32_t site, uint16_t ledger)
{
    size_t count = tally->failures.count;

    if (count < FAILURES_MAX / 2)
        return true;
    for (size_t i = 0; i < count; i++) {
        const struct failure *row = table_at(&tally->failures, i);

        if (row->site == site && row->ledger == ledger && !row->is_only_newest)
            return false;
    }
    return count < FAILURES_MAX;
}

/* The row for the newest failure; NULL without memory. */
static struct failure *failure_row(struct tally *tally)
{
    size_t count = tally->failures.count;
    struct failure *last = count ? table_at(&tally->failures, count - 1) : NULL;

    return last && (last->is_only_newest || count == FAILURES_MAX) ? last
                                                                   : table_add(&tally->failures);
}

static void on_failed_alloc(struct tally *tally, const struct event *event)
{
    uint16_t index = tally_ledger_for(tally, event->process, event->pool, event->place);
    struct ledger *ledger = ledger_at(tally, index);
    bool is_kept;
    struct failure *row;

    if (tally->has_failed)
        return;
    ledger->failed_count++;
    tally->failed_count++;
    is_kept = is_worth_keeping(tally, event->site, index);
    row = failure_row(tally);
    if (row)
        *row = (struct failure){.number = tally->failed_count,
                                .is_only_newest = !is_kept,
                                .time_ns = event->time_ns,
                                .size_bytes = event->value,
                                .status = event->address,
                                .live_bytes = ledger->live_bytes,
                                .birth_count = tally->processes[event->process].birth_count,
                                .site = event->site,
                                .step = tally->era,
                                .ledger = index};
}

static void on_reserved(struct tally *tally, const struct event *event)
{
    uint16_t index = tally_ledger_for(tally, event->process, event->pool, event->place);
    struct ledger *ledger;

    if (tally->has_failed)
        return;
    ledger = ledger_at(tally, index);
    ledger_stretch_end(ledger, tally->phase.now);
    ledger->has_reserved = true;
    ledger->reserved_bytes = event->value;
    if (event->value > ledger->reserved_peak_bytes) {
        ledger->reserved_peak_bytes = event->value;
        ledger->reserved_peak_time_ns = event->time_ns;
        ledger->reserved_peak_used_bytes = 0;
    }
}

/* Memory of blocks that are older than the recording and are not in it. */
static void on_older_sample(struct tally *tally, const struct event *event)
{
    uint16_t index = tally_ledger_for(tally, event->process, event->pool, event->place);
    struct ledger *ledger;

    if (tally->has_failed)
        return;
    ledger = ledger_at(tally, index);
    ledger_stretch_end(ledger, tally->phase.now);
    if (!ledger->has_older_beside)
        ledger->older_beside_bytes = event->value;
    ledger->has_older_beside = true;
    ledger->older_beside_left_bytes = event->value;
}

static struct sample_row *sample_row_for(struct tally *tally, const struct event *event)
{
    uint64_t hash = hash_pair((uint64_t)event->text << 32 | event->place, event->process);
    size_t probe = 0;
    uint32_t found;
    struct sample_row *row;

    while (hash_index_next(&tally->sample_index, hash, &probe, &found)) {
        row = table_at(&tally->samples, found);
        if (row->counter == event->text && row->place == event->place &&
            row->process == event->process)
            return row;
    }
    row = hash_index_add_row(&tally->sample_index, hash, &tally->samples);
    if (!row)
        return NULL;
    *row = (struct sample_row){.process = event->process,
                               .place = event->place,
                               .counter = event->text,
                               .first_bytes = event->value,
                               .low_bytes = event->value,
                               .first_ns = event->time_ns};
    return row;
}

static void on_sample(struct tally *tally, const struct event *event)
{
    struct sample_row *row = sample_row_for(tally, event);

    if (!row) {
        tally->has_failed = true;
        return;
    }
    row->count++;
    row->last_bytes = event->value;
    row->last_ns = event->time_ns;
    if (event->value < row->low_bytes)
        row->low_bytes = event->value;
    if (event->value > row->high_bytes || row->count == 1) {
        row->high_bytes = event->value;
        row->high_ns = event->time_ns;
    }
}

enum { PINS_KEPT_LEAST = 1 << 20, PINS_AGE_PART = 5 };

/* Looked for again when the process is older by a quarter: few times, and the last not long
 * before its end. Without sites nobody could be named. */
static void find_pins(struct tally *tally, struct memory_account *account)
{
    const struct memory_account *before = account - 1;
    uint64_t age_ns = account->time_ns - model_process_at(tally->model, account->process)->start_ns;

    if (account > tally->accounts.rows && before->process == account->process)
        account->pins = before->pins;
    if (!tally->adds_up || tally->is_of_ledgers || !model_wants_sites(tally->model) ||
        memory_account_is_rough(account) ||
        memory_account_part(account, ACCOUNT_KEPT) < PINS_KEPT_LEAST ||
        account->pins.age_ns > age_ns - age_ns / PINS_AGE_PART)
        return;
    tally->has_failed |= !pinned_pages_find(tally, &account->pins);
    account->pins.age_ns = age_ns;
}

static void on_note(struct tally *tally, const struct event *event)
{
    struct memory_accounts *accounts = &tally->accounts;

    if (memory_accounts_note(accounts, tally->model, event))
        find_pins(tally, &accounts->rows[accounts->count - 1]);
    tally->has_failed |= accounts->has_failed;
}

/* Everything but the two hot kinds. */
static void on_other(struct tally *tally, const struct event *event)
{
    switch (event->kind) {
    case EVENT_ALLOC_FAILED:
        on_failed_alloc(tally, event);
        break;
    case EVENT_RESERVED:
        on_reserved(tally, event);
        break;
    case EVENT_SAMPLE:
        on_sample(tally, event);
        if (event->flags & EVENT_IS_OLDER)
            on_older_sample(tally, event);
        break;
    case EVENT_NOTE:
        on_note(tally, event);
        break;
    case EVENT_STEP_BEGIN:
    case EVENT_STEP_END:
        tally_step_event(tally, event);
        break;
    case EVENT_PAUSE:
        tally_pause(tally, event->value != 0);
        break;
    case EVENT_WINDOW_BEGIN:
        tally_settle(tally);
        tally_window_begin(tally, event);
        break;
    case EVENT_OPERATOR_BEGIN:
    case EVENT_OPERATOR_END:
    case EVENT_RANGE_BEGIN:
    case EVENT_RANGE_END:
    case EVENT_TAG_BEGIN:
    case EVENT_TAG_END:
    case EVENT_NN_MODULE_BEGIN:
    case EVENT_NN_MODULE_END:
        tally_context_event(tally, event);
        break;
    case EVENT_BLOCK_OWNER:
    case EVENT_BLOCK_NN_MODULE:
        tally_name_block(tally, event);
        break;
    default: /* launches, accesses, marks, segments, device events: counted, and nothing more yet */
        break;
    }
}

/* The bucket of a free has come by now, and tells what else it will need. */
HOT void free_comes(const struct tally *tally, const struct event *event, uint64_t hash)
{
    struct live_place place = live_set_find(&tally->live, hash, event->address);
    uint32_t group;

    if (!place.bucket)
        return;
    group = place.bucket->group[place.slot];
    __builtin_prefetch(&tally->group_ledgers[group]);
    if (is_observed(tally))
        tally->observer->soon(tally->observer->context, place.bucket->birth[place.slot]);
    if (tally->adds_up)
        __builtin_prefetch(group_at(tally, group), 1);
}

static inline uint32_t context_of(const struct tally *tally, const struct event *event)
{
    return event->thread < tally->thread_count ? tally->threads[event->thread].context : 0;
}

/* Where the group of an alloc is found. */
HOT void fetch_rows(const struct tally *tally, const struct event *event)
{
    uint32_t context = context_of(tally, event);

    __builtin_prefetch(tally_site_group(tally, event->site));
    if (context)
        __builtin_prefetch(&tally->group_cache[tally_group_slot(event, context)]);
}

/* That the alloc will be counted in; 0: it has to be looked for. */
HOT uint32_t group_soon(const struct tally *tally, const struct event *event)
{
    const struct site_group *first = tally_site_group(tally, event->site);
    uint32_t context = context_of(tally, event);

    return is_group_of_site(first, event, context)
               ? first->group
               : tally->group_cache[tally_group_slot(event, context)].group;
}

HOT void alloc_comes(const struct tally *tally, const struct event *event)
{
    uint32_t group = group_soon(tally, event);

    if (tally->adds_up)
        __builtin_prefetch(group_at(tally, group), 1);
    if (!tally->adds_up || is_observed(tally))
        __builtin_prefetch(&tally->group_ledgers[group]);
}

/* After the last stands what is fetched again for nothing. */
static void hash_all(const struct tally *tally, const struct event *events, size_t count,
                     uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++) {
        event_fetch_ahead(&events[i]);
        hashes[i] = live_hash(events[i].address);
    }
    for (size_t i = 0; i < FETCH_AHEAD; i++)
        hashes[count + i] = hashes[count - 1];
    for (size_t i = 0; i < FETCH_AHEAD && i < count; i++)
        live_set_prefetch(&tally->live, hashes[i]);
}

/* What the events LOOK_AHEAD and FETCH_AHEAD from here need beside their buckets. */
HOT void look_ahead(const struct tally *tally, const struct event *events, size_t left,
                    const uint64_t *hashes)
{
    if (left > FETCH_AHEAD && events[FETCH_AHEAD].kind == EVENT_ALLOC)
        fetch_rows(tally, &events[FETCH_AHEAD]);
    if (left <= LOOK_AHEAD)
        return;
    if (events[LOOK_AHEAD].kind == EVENT_FREE)
        free_comes(tally, &events[LOOK_AHEAD], hashes[LOOK_AHEAD]);
    else if (events[LOOK_AHEAD].kind == EVENT_ALLOC)
        alloc_comes(tally, &events[LOOK_AHEAD]);
}

/* Of the piece, of which some have been told: now and then, as hardly any event asks for it. */
HOT void count_births(struct tally *tally, size_t alloc_count, size_t *told_count)
{
    tally->processes[tally->process].birth_count += alloc_count - *told_count;
    *told_count = alloc_count;
}

HOT void feed_events(struct tally *tally, const struct event *events, size_t count, bool is_wide)
{
    uint64_t hashes[PIECE + FETCH_AHEAD];
    size_t alloc_count = 0, told_count = 0, free_count = 0;

    hash_all(tally, events, count, hashes);
    for (size_t i = 0; i < count; i++) {
        live_set_prefetch(&tally->live, hashes[i + FETCH_AHEAD]);
        if (is_wide)
            look_ahead(tally, events + i, count - i, hashes + i);
        tally->number++;
        if (events[i].kind == EVENT_ALLOC) {
            on_alloc(tally, &events[i], hashes[i]);
            alloc_count++;
        } else if (events[i].kind == EVENT_FREE) {
            on_free(tally, &events[i], hashes[i]);
            free_count++;
        } else {
            count_births(tally, alloc_count, &told_count);
            on_other(tally, &events[i]);
            if (events[i].flags & EVENT_IS_PUT_IN)
                tally->counts.events--;
            else
                tally->kind_counts[events[i].kind]++;
        }
    }
    tally_settle(tally);
    tally->kind_counts[EVENT_ALLOC] += alloc_count;
    count_births(tally, alloc_count, &told_count);
    tally->kind_counts[EVENT_FREE] += free_count;
}

/*
 * Whether what events need beside their buckets is too much for the nearest caches: groups, or what
 * an observer keeps of each block. If not, looking ahead costs more than it saves.
 */
static bool is_wide(const struct tally *tally)
{
    enum { wide_groups = 4096, wide_blocks = 8192 };

    return tally->group_count > wide_groups ||
           (is_observed(tally) && live_set_count(&tally->live) > wide_blocks);
}

static __attribute__((noinline)) void feed_piece_wide(struct tally *tally,
                                                      const struct event *events, size_t count)
{
    feed_events(tally, events, count, true);
}

static __attribute__((noinline)) void feed_piece(struct tally *tally, const struct event *events,
                                                 size_t count)
{
    feed_events(tally, events, count, false);
}

static void feed(struct tally *tally, const struct event *events, size_t count)
{
    if (is_wide(tally))
        feed_piece_wide(tally, events, count);
    else
        feed_piece(tally, events, count);
}

enum mt_result tally_feed(struct tally *tally, const struct event *events, size_t count,
                          struct mt_error *error)
{
    if (!count)
        return MT_OK;
    if (!tally->has_process || tally->process != events[0].process) {
        tally_process_end(tally);
        tally_process_begin(tally, events[0].process);
    }
    tally->counts.events += count;
    for (size_t i = 0; i < count && !tally->has_failed; i += PIECE)
        feed(tally, events + i, count - i < PIECE ? count - i : PIECE);
    if (tally->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %llu live blocks",
                            (unsigned long long)live_set_count(&tally->live));
    return MT_OK;
}

void tally_each_live(const struct tally *tally,
                     void (*visit)(void *context, const struct live_block *block), void *context)
{
    live_set_each(&tally->live, visit, context);
}

/* How many blocks there were at each peak: what its groups kept aside. */
static void count_peaks(struct tally *tally)
{
    for (size_t i = 0; i < tally->ledger_count; i++)
        tally->ledgers[i].peak_count = 0;
    for (size_t i = 1; i < tally->group_count; i++)
        tally->ledgers[tally->groups[i].ledger].peak_count += group_at_peak(tally, i).count;
}

static void count_older(struct tally *tally)
{
    for (size_t i = 1; i < tally->group_count; i++) {
        const struct group *group = &tally->groups[i];
        const struct group_detail *detail = table_at(&tally->details, i);
        struct ledger *ledger = &tally->ledgers[group->ledger];

        if (!detail->is_older)
            continue;
        ledger->older_bytes += group->alloc_bytes;
        ledger->older_count += group->alloc_count;
        ledger->older_left_bytes += group->live_bytes;
        ledger->older_left_count += group->live_count;
    }
}

void tally_finish(struct tally *tally)
{
    tally_process_end(tally);
    count_peaks(tally);
    count_older(tally);
}

struct model *tally_model(const struct tally *tally)
{
    return tally->model;
}

const struct tally_counts *tally_counts_of(const struct tally *tally)
{
    return &tally->counts;
}

size_t tally_live_bytes(const struct tally *tally)
{
    return live_set_bytes(&tally->live);
}

size_t tally_ledger_count(const struct tally *tally)
{
    return tally->ledger_count;
}

const struct ledger *tally_ledger_at(const struct tally *tally, size_t index)
{
    return ledger_at(tally, (uint32_t)index);
}

size_t tally_group_count(const struct tally *tally)
{
    return tally->group_count;
}

const struct group *tally_group_at(const struct tally *tally, size_t index)
{
    return group_at(tally, (uint32_t)index);
}

uint16_t tally_group_ledger(const struct tally *tally, uint32_t index)
{
    return tally->group_ledgers[index];
}

const struct group_detail *tally_detail_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->details, index);
}

const struct group_past *tally_past_at(const struct tally *tally, size_t group)
{
    return table_at(&tally->pasts, tally_detail_at(tally, group)->past);
}

size_t tally_usage_count(const struct tally *tally)
{
    return tally->usages.count;
}

const struct usage *tally_usage_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->usages, index);
}

size_t tally_step_count(const struct tally *tally)
{
    return tally->steps.count;
}

const struct step *tally_step_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->steps, index);
}

const struct step *tally_step_of(const struct tally *tally, uint16_t process, uint32_t index)
{
    const struct tally_process row = tally_process_at(tally, process);
    const struct step *step;

    if (!index || index > row.step_count)
        return NULL;
    step = tally_step_at(tally, row.first_step + index - 1);
    return step->process == process && step->index == index ? step : NULL;
}

const struct step_row *tally_step_row_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->step_rows, index);
}

const struct step_row *tally_step_row_of(const struct tally *tally, const struct step *step,
                                         uint16_t ledger)
{
    const struct step_row *first =
        step->row_count ? tally_step_row_at(tally, step->first_row) : NULL;

    if (!first || ledger < first->ledger || (size_t)ledger - first->ledger >= step->row_count)
        return NULL;
    return tally_step_row_at(tally, step->first_row + ledger - first->ledger);
}

size_t tally_sample_count(const struct tally *tally)
{
    return tally->samples.count;
}

const struct sample_row *tally_sample_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->samples, index);
}

const struct memory_accounts *tally_accounts(const struct tally *tally)
{
    return &tally->accounts;
}

size_t tally_failure_count(const struct tally *tally)
{
    return tally->failures.count;
}

const struct failure *tally_failure_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->failures, index);
}

size_t tally_baseline_count(const struct tally *tally)
{
    return tally->baselines.count;
}

const struct baseline *tally_baseline_at(const struct tally *tally, size_t index)
{
    return table_at(&tally->baselines, index);
}

struct tally_process tally_process_at(const struct tally *tally, uint16_t process)
{
    if (process < tally->process_count)
        return tally->processes[process];
    return (struct tally_process){0};
}

uint64_t tally_event_count(const struct tally *tally, enum event_kind kind)
{
    return tally->kind_counts[kind];
}

struct step_sample group_at_peak(const struct tally *tally, size_t index)
{
    const struct group *group = group_at(tally, index);
    const struct ledger *ledger = ledger_at(tally, group->ledger);
    bool is_kept = group->peak_epoch == ledger->peak_epoch;

    return (struct step_sample){
        .step = ledger->peak_step,
        .count = is_kept ? group->peak_count : group->live_count,
        .bytes = is_kept ? group->peak_bytes : group->live_bytes,
    };
}

uint64_t tally_older_left_count(const struct tally *tally)
{
    uint64_t count = 0;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        count += tally_ledger_at(tally, i)->older_left_count;
    return count;
}

bool tally_is_state(const struct tally *tally)
{
    struct model *model = tally_model(tally);

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        if (process->end_ns > process->start_ns)
            return false;
    }
    return tally_older_left_count(tally) > 0;
}
