/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an alloc to its group and its ledger, and the totals of operators and modules.
 *
 * Most sites have one group: it stands in a row of the site, and is found there without a search.
 * Other groups are found by what they are.
 */
#include "tally_state.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

enum { ledger_max = UINT16_MAX };

static const size_t group_max = UINT32_MAX - 1;

/* False without memory. */
static bool site_groups_reach(struct tally *tally, uint32_t site)
{
    size_t capacity = tally->site_group_count;

    while (site >= capacity)
        if (!list_grow(&tally->site_groups, &capacity, sizeof(*tally->site_groups)))
            return false;
    memset(tally->site_groups + tally->site_group_count, 0,
           (capacity - tally->site_group_count) * sizeof(*tally->site_groups));
    tally->site_group_count = capacity;
    return true;
}

bool tally_rows_init(struct tally *tally)
{
    if (!stretch_init(&tally->group_stretch, group_max * sizeof(struct group)) ||
        !stretch_init(&tally->group_ledger_stretch, group_max * sizeof(uint16_t)) ||
        !stretch_init(&tally->ledger_stretch, ledger_max * sizeof(struct ledger)) ||
        !stretch_extend(&tally->group_stretch, sizeof(struct group)) ||
        !stretch_extend(&tally->group_ledger_stretch, sizeof(uint16_t)) ||
        !site_groups_reach(tally, 0))
        return false;
    tally->groups = tally->group_stretch.base;
    tally->group_ledgers = tally->group_ledger_stretch.base;
    tally->ledgers = tally->ledger_stretch.base;
    tally->group_count = 1; /* row 0: no group, no context */
    return table_add(&tally->details) && table_add(&tally->pasts) && table_add(&tally->contexts);
}

void tally_rows_release(struct tally *tally)
{
    hash_index_release(&tally->ledger_index);
    hash_index_release(&tally->group_index);
    stretch_release(&tally->group_stretch);
    stretch_release(&tally->group_ledger_stretch);
    stretch_release(&tally->ledger_stretch);
    if (!tally->known)
        free(tally->site_groups);
}

static struct ledger *ledger_add(struct tally *tally)
{
    if (tally->ledger_count >= ledger_max ||
        !stretch_extend(&tally->ledger_stretch, (tally->ledger_count + 1) * sizeof(struct ledger)))
        return NULL;
    return &tally->ledgers[tally->ledger_count++];
}

static const struct {
    uint16_t flag;
    enum ledger_kind kind;
} kinds_by_flag[] = {
    {MT_PLACE_VIRTUAL, LEDGER_VIRTUAL},   {MT_PLACE_MAPPING, LEDGER_MAPPING},
    {MT_PLACE_IMPORTED, LEDGER_IMPORTED}, {MT_PLACE_REGISTERED, LEDGER_REGISTERED},
    {MT_PLACE_VIEW, LEDGER_VIEW},
};

static enum ledger_kind kind_of(struct mt_place place)
{
    for (size_t i = 0; i < sizeof(kinds_by_flag) / sizeof(kinds_by_flag[0]); i++)
        if (place.flags & kinds_by_flag[i].flag)
            return kinds_by_flag[i].kind;
    return place.kind == MT_KIND_HOST && place.device >= 0 ? LEDGER_HOST : LEDGER_MEMORY;
}

/* What tells a ledger from the others. */
struct ledger_key {
    uint16_t process, pool;
    int32_t device;
    enum ledger_kind kind;
};

static struct ledger_key key_of(const struct tally *tally, uint16_t process, uint16_t pool,
                                uint16_t place)
{
    struct mt_place unpacked = model_place_at(tally->model, place);

    return (struct ledger_key){process, pool, unpacked.device, kind_of(unpacked)};
}

static uint64_t key_hash(const struct ledger_key *key)
{
    return hash_pair((uint64_t)(uint32_t)key->device << 32 | (uint32_t)key->pool << 8 |
                         (uint32_t)key->kind,
                     key->process);
}

static bool find_ledger(const struct tally *tally, const struct ledger_key *key, uint16_t *index)
{
    uint64_t hash = key_hash(key);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&tally->ledger_index, hash, &probe, &found)) {
        const struct ledger *row = ledger_at(tally, found);

        *index = (uint16_t)found;
        if (row->process == key->process && row->pool == key->pool && row->kind == key->kind &&
            row->device == key->device)
            return true;
    }
    return false;
}

bool tally_ledger_find(const struct tally *tally, uint16_t process, uint16_t pool, uint16_t place,
                       uint16_t *index)
{
    struct ledger_key key = key_of(tally, process, pool, place);

    return find_ledger(tally, &key, index);
}

/* False without memory. */
static bool ledger_make(struct tally *tally, const struct ledger_key *key)
{
    struct ledger *row = ledger_add(tally);

    if (!row ||
        !hash_index_add(&tally->ledger_index, key_hash(key), (uint32_t)(tally->ledger_count - 1))) {
        tally->has_failed = true;
        return false;
    }
    row->process = key->process;
    row->pool = key->pool;
    row->device = key->device;
    row->kind = key->kind;
    return true;
}

uint16_t tally_ledger_for(struct tally *tally, uint16_t process, uint16_t pool, uint16_t place)
{
    struct ledger_key key = key_of(tally, process, pool, place);
    uint16_t index;

    if (find_ledger(tally, &key, &index))
        return index;
    return ledger_make(tally, &key) ? (uint16_t)(tally->ledger_count - 1) : 0;
}

/* Row + 1; 0 when there is no memory. */
static uint32_t usage_for(struct tally *tally, enum usage_kind kind, uint16_t ledger, uint32_t id)
{
    uint64_t hash = hash_pair((uint64_t)ledger << 8 | kind, id);
    size_t probe = 0;
    uint32_t found;
    struct usage *row;

    while (hash_index_next(&tally->usage_index, hash, &probe, &found)) {
        row = table_at(&tally->usages, found);
        if (row->kind == kind && row->ledger == ledger && row->id == id)
            return found + 1;
    }
    row = hash_index_add_row(&tally->usage_index, hash, &tally->usages);
    if (!row) {
        tally->has_failed = true;
        return 0;
    }
    row->kind = kind;
    row->ledger = ledger;
    row->id = id;
    return (uint32_t)tally->usages.count;
}

static void usage_add(struct usage *usage, uint64_t size_bytes, uint64_t time_ns)
{
    usage->live_bytes += size_bytes;
    usage->live_count++;
    usage->alloc_bytes += size_bytes;
    usage->alloc_count++;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->peak_bytes = usage->live_bytes;
        usage->peak_time_ns = time_ns;
    }
}

void tally_usage_change(struct tally *tally, uint32_t group, uint64_t size_bytes, bool is_alloc,
                        uint64_t time_ns)
{
    const struct group_detail *detail = table_at(&tally->details, group);
    uint32_t rows[] = {detail->operator_usage, detail->module_usage};

    for (size_t i = 0; i < 2; i++) {
        struct usage *usage;

        if (!rows[i])
            continue;
        usage = table_at(&tally->usages, rows[i] - 1);
        if (is_alloc) {
            usage_add(usage, size_bytes, time_ns);
        } else {
            usage->live_bytes -= size_bytes;
            usage->live_count--;
        }
    }
}

/* 0: somebody is known. */
static uint8_t size_class_of(const struct event *event, const struct context_row *context)
{
    return event->site || context->operator_text || context->owner_text || context->nn_module_text
               ? 0
               : tally_size_class(event->value);
}

static uint64_t group_hash(const struct event *event, const struct context_row *context)
{
    uint64_t names = (uint64_t)context->operator_text << 32 | context->owner_text |
                     size_class_of(event, context);
    uint64_t rest = (uint64_t)event->process << 32 | (uint32_t)event->pool << 16 | event->place;

    return hash_pair(hash_pair(names, event->site), hash_pair(rest, context->nn_module_text));
}

static bool is_older(const struct event *event)
{
    return event->flags & EVENT_IS_OLDER;
}

static bool is_group_of(const struct group_detail *detail, const struct event *event,
                        const struct context_row *context)
{
    return detail->site == event->site && detail->is_older == is_older(event) &&
           detail->process == event->process && detail->pool == event->pool &&
           detail->place == event->place && detail->operator_text == context->operator_text &&
           detail->owner_text == context->owner_text &&
           detail->nn_module_text == context->nn_module_text &&
           detail->size_class == size_class_of(event, context);
}

/* Memory of a device, where it is mapped, and what a framework takes of the process's own. */
static bool has_layers(const struct tally *tally, const struct ledger *ledger)
{
    const struct pool *pool = model_pool_at(tally->model, ledger->pool);

    return tally->adds_up && !tally->is_of_ledgers &&
           (ledger->device >= 0 || pool->lies_in != pool->id) &&
           (ledger->kind == LEDGER_MEMORY || ledger->kind == LEDGER_HOST ||
            ledger->kind == LEDGER_MAPPING);
}

/* A level of the owner's path, but the first, is a role. */
static uint8_t role_of_owner(const char *owner)
{
    static const struct {
        const char *level;
        uint8_t role;
    } roles[] = {
        {"weight", TENSOR_IS_WEIGHT},
        {"gradient", TENSOR_IS_GRADIENT},
        {"optimizer_state", TENSOR_IS_OPTIMIZER},
    };

    while ((owner = strchr(owner, '@'))) {
        size_t length = strcspn(++owner, "@");

        for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
            if (strlen(roles[i].level) == length && strncmp(owner, roles[i].level, length) == 0)
                return roles[i].role;
    }
    return 0;
}

static bool group_fill(struct tally *tally, struct group *group, struct group_detail *detail)
{
    struct mt_place place = model_place_at(tally->model, detail->place);

    group->ledger = tally_ledger_for(tally, detail->process, detail->pool, detail->place);
    if (detail->owner_text && detail->process < tally->process_count)
        tally->processes[detail->process].known_roles |=
            role_of_owner(model_text_at(tally->model, detail->owner_text));
    if (detail->operator_text)
        detail->operator_usage =
            usage_for(tally, USAGE_OPERATOR, group->ledger, detail->operator_text);
    if (place.module >= 0)
        detail->module_usage =
            usage_for(tally, USAGE_MODULE, group->ledger, (uint32_t)place.module);
    if (detail->operator_usage || detail->module_usage)
        group->flags |= GROUP_HAS_USAGE;
    if (has_layers(tally, ledger_at(tally, group->ledger)))
        group->flags |= GROUP_HAS_LAYERS;
    return !tally->has_failed;
}

/* Of the groups that this tally made itself. */
static struct group_detail *own_detail(const struct tally *tally, uint32_t group)
{
    return table_at(&tally->details,
                    group - (tally->known ? (uint32_t)tally->known->group_count - 1 : 0));
}

/* The row of the site takes the group, if it is its first and such as an event is looked up for.
 * False without memory. */
static bool group_index_put(struct tally *tally, const struct event *event, uint32_t context,
                            uint64_t hash, uint32_t group)
{
    struct site_group *row;

    if (!event->site || event->flags & ~EVENT_IS_OF_DEVICE || tally->known)
        return hash_index_add(&tally->group_index, hash, group);
    if (!site_groups_reach(tally, event->site))
        return false;
    row = &tally->site_groups[event->site];
    if (row->group)
        return hash_index_add(&tally->group_index, hash, group);
    *row = (struct site_group){.context = context,
                               .group = group,
                               .process = event->process,
                               .pool = event->pool,
                               .place = event->place};
    return true;
}

static uint32_t group_add(struct tally *tally, const struct event *event, uint32_t context_index,
                          uint64_t hash)
{
    const struct context_row *context = table_at(&tally->contexts, context_index);
    uint32_t index = (uint32_t)tally->group_count;
    struct group_detail *detail;

    if (tally->group_count >= group_max ||
        !stretch_extend(&tally->group_stretch, (tally->group_count + 1) * sizeof(struct group)) ||
        !stretch_extend(&tally->group_ledger_stretch, (tally->group_count + 1) * sizeof(uint16_t)))
        return 0;
    detail = table_add(&tally->details);
    if (!detail || !group_index_put(tally, event, context_index, hash, index))
        return 0;
    *detail = (struct group_detail){.process = event->process,
                                    .pool = event->pool,
                                    .place = event->place,
                                    .is_older = is_older(event),
                                    .site = event->site,
                                    .operator_text = context->operator_text,
                                    .owner_text = context->owner_text,
                                    .nn_module_text = context->nn_module_text,
                                    .size_class = size_class_of(event, context),
                                    .first_step = tally->era};
    tally->group_count++;
    if (!group_fill(tally, group_at(tally, index), detail))
        return 0;
    tally->group_ledgers[index] = group_at(tally, index)->ledger;
    return index;
}

/* Among those that are in an index; 0: it is not there. */
static uint32_t group_find(const struct tally *tally, const struct event *event,
                           const struct context_row *context, uint64_t hash)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&tally->group_index, hash, &probe, &found))
        if (is_group_of(own_detail(tally, found), event, context))
            return found;
    return 0;
}

/* The group of an event whose site has none yet is new; but sites of `known` are not ours. */
static bool may_be_indexed(const struct tally *tally, const struct event *event)
{
    return tally->known || !event->site || event->flags & ~EVENT_IS_OF_DEVICE ||
           tally_site_group(tally, event->site)->group;
}

uint32_t tally_group_for(struct tally *tally, const struct event *event, uint32_t context_index)
{
    const struct context_row *context = table_at(&tally->contexts, context_index);
    uint64_t hash = group_hash(event, context);
    uint32_t group = 0;

    if (tally->known)
        group = group_find(tally->known, event, context, hash);
    if (!group && may_be_indexed(tally, event))
        group = group_find(tally, event, context, hash);
    if (!group)
        group = group_add(tally, event, context_index, hash);
    if (group && !(event->flags & ~EVENT_IS_OF_DEVICE) && !size_class_of(event, context))
        tally->group_cache[tally_group_slot(event, context_index)] =
            (struct group_cache_row){.site = event->site,
                                     .context = context_index,
                                     .pool = event->pool,
                                     .place = event->place,
                                     .group = group};
    return group;
}

/* --- groups of ledgers alone ----------------------------------------------------------------- */

bool tally_is_of_heap(const struct tally *tally, const struct event *event)
{
    struct mt_place place = model_place_at(tally->model, event->place);

    return event->kind == EVENT_ALLOC && ledger_is_heap(kind_of(place), place.device);
}

void tally_want_ledgers(struct tally *tally)
{
    MT_ASSERT(!tally->observer && tally->adds_up);
    tally->is_of_ledgers = true;
}

uint32_t tally_ledger_group(struct tally *tally, const struct event *event, uint32_t context)
{
    struct event plain = *event;
    struct group_cache_row *cached;

    plain.site = 0;
    plain.value = 1; /* all sizes are one class */
    cached = &tally->group_cache[tally_group_slot(&plain, context)];
    if (!cached->group || cached->context != context || cached->pool != event->pool ||
        cached->place != event->place || event->flags & ~EVENT_IS_OF_DEVICE)
        *cached = (struct group_cache_row){.context = context,
                                           .pool = event->pool,
                                           .place = event->place,
                                           .group = tally_group_for(tally, &plain, context)};
    return cached->group;
}

/* --- groups that are known ------------------------------------------------------------------ */

static bool ledgers_copy(struct tally *tally, const struct tally *known)
{
    for (size_t i = 0; i < known->ledger_count; i++) {
        const struct ledger *from = ledger_at(known, (uint32_t)i);
        const struct ledger_key key = {from->process, from->pool, from->device, from->kind};

        if (!ledger_make(tally, &key))
            return false;
    }
    return true;
}

void tally_observe(struct tally *tally, const struct tally_observer *observer,
                   const struct tally *known)
{
    size_t count = known ? known->group_count : 0;

    tally->observer = observer;
    tally->adds_up = !observer || observer->adds_up;
    MT_ASSERT(!known || !tally->adds_up);
    if (!known)
        return;
    if (!stretch_extend(&tally->group_stretch, count * sizeof(struct group)) ||
        !stretch_extend(&tally->group_ledger_stretch, count * sizeof(uint16_t)) ||
        !ledgers_copy(tally, known)) {
        tally->has_failed = true;
        return;
    }
    memcpy(tally->group_ledgers, known->group_ledgers, count * sizeof(uint16_t));
    tally->group_count = count;
    free(tally->site_groups);
    tally->site_groups = known->site_groups;
    tally->site_group_count = known->site_group_count;
    tally->known = known;
}
