/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values become rows: dicts by their keys, lists by what is in them.
 */
#include "snapshot_tables.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot_stacks.h"

enum { partials_max = 1024, device_max = 4096, text_most_bytes = 4096 };

static const size_t entries_in_memory_bytes = 64 << 20;

/* The known keys of one dict. */
struct fields {
    uint64_t present; /* bit = enum word */
    uint32_t next_free;
    struct snapshot_value values[WORD_KEY_COUNT];
};

_Static_assert(WORD_KEY_COUNT <= 64, "keys are bits");

enum mt_result snapshot_tables_init(struct snapshot_tables *tables, struct model *model,
                                    uint16_t process, struct mt_error *error)
{
    memset(tables, 0, sizeof(*tables));
    tables->model = model;
    tables->process = process;
    arena_init(&tables->arena);
    table_init(&tables->objects, &tables->arena, sizeof(struct object));
    table_init(&tables->blocks, &tables->arena, sizeof(struct snapshot_block));
    table_init(&tables->segments, &tables->arena, sizeof(struct snapshot_segment));
    table_init(&tables->histories, &tables->arena, sizeof(struct snapshot_block));
    table_init(&tables->annotations, &tables->arena, sizeof(struct snapshot_annotation));
    table_init(&tables->children, &tables->arena, sizeof(uint32_t));
    table_init(&tables->partials, &tables->arena, sizeof(struct fields));
    tables->fields = calloc(1, sizeof(*tables->fields));
    tables->entries = snapshot_entries_create(entries_in_memory_bytes);
    if (!tables->fields || !tables->entries)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a snapshot");
    return MT_OK;
}

void snapshot_tables_release(struct snapshot_tables *tables)
{
    arena_release(&tables->arena);
    snapshot_entries_destroy(tables->entries);
    free(tables->fields);
    free(tables->waiting);
    tables->entries = NULL;
    tables->fields = NULL;
    tables->waiting = NULL;
}

static enum mt_result no_memory(const struct snapshot_tables *tables, struct mt_error *error)
{
    return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu events of a snapshot",
                        snapshot_entries_count(tables->entries));
}

/* --- values -------------------------------------------------------------------------------- */

struct snapshot_value value_number(uint64_t number)
{
    return (struct snapshot_value){.kind = VALUE_NUMBER, .number = number};
}

struct snapshot_value value_other(void)
{
    return (struct snapshot_value){.kind = VALUE_OTHER};
}

struct snapshot_value snapshot_text(struct snapshot_tables *tables, const char *bytes,
                                    size_t size_bytes)
{
    enum word word = snapshot_word(bytes, size_bytes);

    if (size_bytes > text_most_bytes)
        size_bytes = text_most_bytes;
    return (struct snapshot_value){
        .kind = VALUE_TEXT,
        .index = word ? 0 : model_text(tables->model, bytes, size_bytes),
        .word = (uint8_t)word,
    };
}

static struct snapshot_value object_add(struct snapshot_tables *tables, enum object_kind kind)
{
    uint32_t row = tables->free_objects ? tables->free_objects - 1 : 0;
    struct object *object;

    if (tables->free_objects) {
        object = table_at(&tables->objects, row);
        tables->free_objects = object->first;
    } else {
        object = table_add(&tables->objects);
        row = (uint32_t)(tables->objects.count - 1);
    }
    if (!object || row > MEMO_INDEX_MAX)
        return value_other();
    *object = (struct object){.kind = kind};
    return (struct snapshot_value){.kind = VALUE_OBJECT, .index = row};
}

/*
 * Nobody needs the object any more but the memo, for which it becomes something final. Not where
 * the memo gave it out again: a value of it may still lie on the stack.
 */
static void object_settle(struct snapshot_tables *tables, uint32_t row, struct memo_slot slot)
{
    struct object *object = table_at(&tables->objects, row);

    if (object->memo == OBJECT_IS_SHARED)
        return;
    if (object->memo)
        snapshot_memo_settle(tables->memo, object->memo - 1, row, slot);
    *object = (struct object){.kind = OBJECT_FREE, .first = tables->free_objects};
    tables->free_objects = row + 1;
}

void snapshot_remember(struct snapshot_tables *tables, struct snapshot_value object, size_t number)
{
    struct object *row = table_at(&tables->objects, object.index);

    row->memo = row->memo ? OBJECT_IS_SHARED : (uint32_t)number + 1;
}

void snapshot_share(struct snapshot_tables *tables, struct snapshot_value object)
{
    struct object *row = table_at(&tables->objects, object.index);

    row->memo = OBJECT_IS_SHARED;
}

struct snapshot_value snapshot_dict(struct snapshot_tables *tables)
{
    return object_add(tables, OBJECT_EMPTY_DICT);
}

struct snapshot_value snapshot_list(struct snapshot_tables *tables)
{
    return object_add(tables, OBJECT_EMPTY_LIST);
}

static struct object *object_of(const struct snapshot_tables *tables, struct snapshot_value value)
{
    return value.kind == VALUE_OBJECT ? table_at(&tables->objects, value.index) : NULL;
}

/* --- dicts become rows --------------------------------------------------------------------- */

static bool has(const struct fields *fields, enum word key)
{
    return fields->present >> key & 1;
}

/* 0 if it is not there. */
static uint64_t number_of(const struct fields *fields, enum word key)
{
    return has(fields, key) && fields->values[key].kind == VALUE_NUMBER ? fields->values[key].number
                                                                        : 0;
}

static bool is_number(const struct fields *fields, enum word key)
{
    return has(fields, key) && fields->values[key].kind == VALUE_NUMBER;
}

static enum word word_of(const struct fields *fields, enum word key)
{
    return has(fields, key) ? (enum word)fields->values[key].word : WORD_NONE;
}

/* The words of snapshots are seldom names of anything else, so they are not in the model yet. */
static uint32_t text_of(struct snapshot_tables *tables, const struct fields *fields, enum word key)
{
    struct snapshot_value value = has(fields, key) ? fields->values[key] : value_other();
    const char *spelling;

    if (value.kind != VALUE_TEXT)
        return 0;
    if (!value.word)
        return value.index;
    spelling = snapshot_word_text((enum word)value.word);
    return model_text(tables->model, spelling, strlen(spelling));
}

/* The site of the list of frames under this key, which is not needed after this. */
static uint32_t site_of(struct snapshot_tables *tables, const struct fields *fields)
{
    struct snapshot_value value =
        has(fields, WORD_FRAMES) ? fields->values[WORD_FRAMES] : value_other();
    struct object *list = object_of(tables, value);
    uint32_t site;

    if (!list)
        return value.kind == VALUE_STACK ? value.index : 0;
    site = snapshot_stack_site(tables, list);
    if (list->kind == OBJECT_STACK && site <= MEMO_INDEX_MAX)
        object_settle(tables, value.index, (struct memo_slot){MEMO_STACK, site});
    return site;
}

static int32_t device_of(const struct fields *fields)
{
    uint64_t number = number_of(fields, WORD_DEVICE);

    return number < device_max ? (int32_t)number : 0;
}

static struct snapshot_range range_of(const struct snapshot_tables *tables,
                                      const struct fields *fields, enum word key,
                                      enum object_kind kind)
{
    const struct object *list = has(fields, key) ? object_of(tables, fields->values[key]) : NULL;

    if (!list || list->kind != kind)
        return (struct snapshot_range){0, 0};
    return (struct snapshot_range){list->first, list->count};
}

static bool is_list_of(const struct snapshot_tables *tables, const struct fields *fields,
                       enum word key, enum object_kind kind)
{
    const struct object *list = has(fields, key) ? object_of(tables, fields->values[key]) : NULL;

    return list && (list->kind == kind || list->kind == OBJECT_EMPTY_LIST);
}

static enum mt_result add_entry(struct snapshot_tables *tables, const struct fields *fields,
                                struct mt_error *error)
{
    struct snapshot_entry entry;
    enum word action = word_of(fields, WORD_ACTION);
    bool is_oom = action == WORD_OOM;

    if (!is_number(fields, WORD_SIZE) || !is_number(fields, is_oom ? WORD_DEVICE_FREE : WORD_ADDR))
        return mt_error_set(error, MT_CORRUPT, "an event without an address or a size");
    if (action < WORD_ALLOC || action > WORD_ANNOTATE) {
        tables->unknown_actions++;
        action = WORD_NONE;
    }
    entry = (struct snapshot_entry){
        .address = number_of(fields, is_oom ? WORD_DEVICE_FREE : WORD_ADDR),
        .size_bytes = number_of(fields, WORD_SIZE),
        .time_us = number_of(fields, WORD_TIME_US),
        .stream = number_of(fields, WORD_STREAM),
        .has_time = is_number(fields, WORD_TIME_US),
        .action = (uint8_t)action,
        .site = site_of(tables, fields),
    };
    tables->odd_times += has(fields, WORD_TIME_US) && !entry.has_time;
    if (action == WORD_WORKSPACE_SNAPSHOT)
        tables->is_npu = true;
    if (!snapshot_entries_add(tables->entries, &entry))
        return no_memory(tables, error);
    return MT_OK;
}

static bool is_odd_block(const struct fields *fields)
{
    enum word state = word_of(fields, WORD_STATE);

    return (has(fields, WORD_REQUESTED_SIZE) && !is_number(fields, WORD_REQUESTED_SIZE)) ||
           (state != WORD_INACTIVE && state != WORD_ACTIVE_ALLOCATED &&
            state != WORD_ACTIVE_PENDING_FREE && state != WORD_ACTIVE_AWAITING_FREE);
}

static enum mt_result add_block(struct snapshot_tables *tables, const struct fields *fields,
                                struct mt_error *error)
{
    struct snapshot_range past = range_of(tables, fields, WORD_HISTORY, OBJECT_HISTORIES);
    struct snapshot_block *block;

    if (!is_number(fields, WORD_SIZE))
        return mt_error_set(error, MT_CORRUPT, "a block without a size");
    tables->odd_count += is_odd_block(fields);
    block = table_add(&tables->blocks);
    if (!block)
        return no_memory(tables, error);
    *block = (struct snapshot_block){
        .address = is_number(fields, WORD_ADDRESS) ? number_of(fields, WORD_ADDRESS) : UINT64_MAX,
        .size_bytes = number_of(fields, WORD_SIZE),
        .requested_bytes = number_of(
            fields, is_number(fields, WORD_REQUESTED_SIZE) ? WORD_REQUESTED_SIZE : WORD_SIZE),
        .state = (uint8_t)word_of(fields, WORD_STATE),
        .site = site_of(tables, fields),
    };
    if (past.count) {
        const struct snapshot_block *newest = table_at(&tables->histories, past.first);

        block->site = newest->site;
        if (!is_number(fields, WORD_REQUESTED_SIZE))
            block->requested_bytes = newest->requested_bytes;
    }
    return MT_OK;
}

static enum mt_result add_history(struct snapshot_tables *tables, const struct fields *fields,
                                  struct mt_error *error)
{
    struct snapshot_block *row = table_add(&tables->histories);

    if (!row)
        return no_memory(tables, error);
    row->requested_bytes = number_of(fields, WORD_REAL_SIZE);
    row->site = site_of(tables, fields);
    return MT_OK;
}

static enum mt_result add_segment(struct snapshot_tables *tables, const struct fields *fields,
                                  struct mt_error *error)
{
    struct snapshot_range blocks = range_of(tables, fields, WORD_BLOCKS, OBJECT_BLOCKS);
    struct snapshot_segment *segment;

    if (!is_number(fields, WORD_ADDRESS) || !is_number(fields, WORD_TOTAL_SIZE))
        return mt_error_set(error, MT_CORRUPT, "a segment without an address or a total size");
    if (!is_number(fields, WORD_DEVICE))
        return mt_error_set(error, MT_CORRUPT, "a segment without a device");
    tables->odd_count += !is_list_of(tables, fields, WORD_BLOCKS, OBJECT_BLOCKS);
    if (number_of(fields, WORD_DEVICE) >= device_max)
        return mt_error_set(error, MT_CORRUPT, "a segment of device %llu",
                            (unsigned long long)number_of(fields, WORD_DEVICE));
    segment = table_add(&tables->segments);
    if (!segment)
        return no_memory(tables, error);
    *segment = (struct snapshot_segment){
        .address = number_of(fields, WORD_ADDRESS),
        .total_bytes = number_of(fields, WORD_TOTAL_SIZE),
        .stream = number_of(fields, WORD_STREAM),
        .first_block = blocks.first,
        .block_count = blocks.count,
        .device = device_of(fields),
        .is_expandable = number_of(fields, WORD_IS_EXPANDABLE) != 0,
    };
    return MT_OK;
}

static enum mt_result add_annotation(struct snapshot_tables *tables, const struct fields *fields,
                                     struct mt_error *error)
{
    struct snapshot_annotation *row = table_add(&tables->annotations);

    if (!row)
        return no_memory(tables, error);
    row->time_us = number_of(fields, WORD_TIME_US);
    row->has_time = is_number(fields, WORD_TIME_US);
    row->name = text_of(tables, fields, WORD_NAME);
    row->device = device_of(fields);
    row->is_start = word_of(fields, WORD_STAGE) == WORD_START;
    return MT_OK;
}

/* The lists of a whole snapshot; a later dict of the kind wins. */
static void keep_top(struct snapshot_tables *tables, const struct fields *fields)
{
    const struct object *settings;

    tables->odd_count +=
        has(fields, WORD_SEGMENTS) && !is_list_of(tables, fields, WORD_SEGMENTS, OBJECT_SEGMENTS);
    tables->odd_count += has(fields, WORD_DEVICE_TRACES) &&
                         !is_list_of(tables, fields, WORD_DEVICE_TRACES, OBJECT_LISTS);
    tables->segments_found = range_of(tables, fields, WORD_SEGMENTS, OBJECT_SEGMENTS);
    tables->traces_found = range_of(tables, fields, WORD_DEVICE_TRACES, OBJECT_LISTS);
    tables->annotations_found =
        range_of(tables, fields, WORD_EXTERNAL_ANNOTATIONS, OBJECT_ANNOTATIONS);
    settings = has(fields, WORD_ALLOCATOR_SETTINGS)
                   ? object_of(tables, fields->values[WORD_ALLOCATOR_SETTINGS])
                   : NULL;
    tables->has_settings = settings && settings->kind == OBJECT_SETTINGS;
    tables->settings = tables->has_settings ? settings->first : 0;
    tables->has_host_part =
        range_of(tables, fields, WORD_HOST_SEGMENTS, OBJECT_SEGMENTS).count != 0;
}

#define BIT(word) (UINT64_C(1) << WORD_##word)

/* The first whose key is there tells what a dict is. */
static const struct {
    uint64_t keys;
    enum object_kind kind;
} kinds_by_key[] = {
    {BIT(ACTION), OBJECT_ENTRY},        {BIT(FILENAME), OBJECT_FRAME},
    {BIT(STATE), OBJECT_BLOCK},         {BIT(TOTAL_SIZE), OBJECT_SEGMENT},
    {BIT(REAL_SIZE), OBJECT_HISTORY},   {BIT(STAGE), OBJECT_ANNOTATION},
    {BIT(ALLOC_CONF), OBJECT_SETTINGS}, {BIT(SEGMENTS) | BIT(DEVICE_TRACES), OBJECT_TOP},
};

#undef BIT

static enum object_kind kind_of(const struct fields *fields)
{
    for (size_t i = 0; i < sizeof(kinds_by_key) / sizeof(kinds_by_key[0]); i++)
        if (fields->present & kinds_by_key[i].keys)
            return kinds_by_key[i].kind;
    return OBJECT_IGNORED;
}

/* What only events, blocks and segments have, without what each of them has. */
static bool looks_cut(const struct fields *fields)
{
    return has(fields, WORD_ADDR) || has(fields, WORD_ADDRESS) || has(fields, WORD_BLOCKS) ||
           has(fields, WORD_REQUESTED_SIZE) || has(fields, WORD_DEVICE_FREE);
}

static size_t rows_of(const struct snapshot_tables *tables, enum object_kind kind)
{
    switch (kind) {
    case OBJECT_ENTRY:
        return snapshot_entries_count(tables->entries);
    case OBJECT_BLOCK:
        return tables->blocks.count;
    case OBJECT_SEGMENT:
        return tables->segments.count;
    case OBJECT_HISTORY:
        return tables->histories.count;
    default:
        return tables->annotations.count;
    }
}

/* A dict that is complete. */
static enum mt_result add_row(struct snapshot_tables *tables, struct object *object,
                              const struct fields *fields, struct mt_error *error)
{
    enum object_kind kind = kind_of(fields);
    enum mt_result result = MT_OK;

    object->kind = kind;
    object->count = 1;
    if (kind == OBJECT_TOP || kind == OBJECT_IGNORED) {
        if (kind == OBJECT_TOP)
            keep_top(tables, fields);
        else
            tables->odd_count += looks_cut(fields);
        return MT_OK;
    }
    if (kind == OBJECT_SETTINGS) {
        object->first = text_of(tables, fields, WORD_ALLOC_CONF);
        return MT_OK;
    }
    if (kind == OBJECT_FRAME) {
        object->first =
            snapshot_frame(tables, text_of(tables, fields, WORD_NAME),
                           text_of(tables, fields, WORD_FILENAME), number_of(fields, WORD_LINE));
        return MT_OK;
    }
    object->first = (uint32_t)rows_of(tables, kind);
    if (kind == OBJECT_ENTRY)
        result = add_entry(tables, fields, error);
    else if (kind == OBJECT_BLOCK)
        result = add_block(tables, fields, error);
    else if (kind == OBJECT_SEGMENT)
        result = add_segment(tables, fields, error);
    else if (kind == OBJECT_HISTORY)
        result = add_history(tables, fields, error);
    else
        result = add_annotation(tables, fields, error);
    if (result != MT_OK)
        object->kind = OBJECT_IGNORED; /* it has no row */
    return result;
}

/* --- dicts that are filled key by key ------------------------------------------------------ */

/* A dict that got its keys one by one is complete when it is used. */
static enum mt_result complete(struct snapshot_tables *tables, struct snapshot_value value,
                               struct mt_error *error)
{
    struct object *object = object_of(tables, value);
    struct fields *fields;
    uint32_t row;

    if (!object || object->kind != OBJECT_PARTIAL)
        return MT_OK;
    row = object->first;
    fields = table_at(&tables->partials, row);
    fields->next_free = tables->free_partials;
    tables->free_partials = row + 1;
    return add_row(tables, object, fields, error);
}

static struct fields *partial_of(struct snapshot_tables *tables, struct object *object)
{
    struct fields *fields;

    if (object->kind == OBJECT_PARTIAL)
        return table_at(&tables->partials, object->first);
    if (tables->free_partials) {
        object->first = tables->free_partials - 1;
        fields = table_at(&tables->partials, object->first);
        tables->free_partials = fields->next_free;
    } else {
        if (tables->partials.count == partials_max || !table_add(&tables->partials))
            return NULL;
        object->first = (uint32_t)(tables->partials.count - 1);
        fields = table_at(&tables->partials, object->first);
    }
    object->kind = OBJECT_PARTIAL;
    fields->present = 0;
    return fields;
}

static enum mt_result put_fields(struct snapshot_tables *tables, struct fields *fields,
                                 const struct snapshot_value *items, size_t count,
                                 struct mt_error *error)
{
    for (size_t i = 0; i + 1 < count; i += 2) {
        unsigned key = items[i].word;
        enum mt_result result = complete(tables, items[i + 1], error);

        if (result != MT_OK)
            return result;
        if (!key || key >= WORD_KEY_COUNT)
            continue;
        fields->present |= UINT64_C(1) << key;
        fields->values[key] = items[i + 1];
    }
    return MT_OK;
}

enum mt_result snapshot_set(struct snapshot_tables *tables, struct snapshot_value dict,
                            const struct snapshot_value *items, size_t count,
                            struct mt_error *error)
{
    struct object *object = object_of(tables, dict);
    struct fields *fields = tables->fields;
    bool is_whole = count > 2;
    enum mt_result result;

    if (!object || (object->kind != OBJECT_EMPTY_DICT && object->kind != OBJECT_PARTIAL &&
                    object->kind != OBJECT_IGNORED))
        return mt_error_set(error, MT_CORRUPT, "items for something that is not an open dict");
    if (count % 2)
        return mt_error_set(error, MT_CORRUPT, "a key without a value");
    if (object->kind == OBJECT_IGNORED || !count)
        return MT_OK;
    if (object->kind == OBJECT_PARTIAL || !is_whole) {
        is_whole = false;
        fields = partial_of(tables, object);
        if (!fields)
            return mt_error_set(error, MT_UNSUPPORTED, "more than %d dicts that are not complete",
                                partials_max);
    } else {
        fields->present = 0;
    }
    result = put_fields(tables, fields, items, count, error);
    if (result != MT_OK || !is_whole)
        return result;
    return add_row(tables, object, fields, error);
}

/* --- lists --------------------------------------------------------------------------------- */

static enum object_kind list_of(enum object_kind kind)
{
    switch (kind) {
    case OBJECT_ENTRY:
        return OBJECT_ENTRIES;
    case OBJECT_BLOCK:
        return OBJECT_BLOCKS;
    case OBJECT_SEGMENT:
        return OBJECT_SEGMENTS;
    case OBJECT_HISTORY:
        return OBJECT_HISTORIES;
    case OBJECT_ANNOTATION:
        return OBJECT_ANNOTATIONS;
    case OBJECT_FRAME:
        return OBJECT_FRAMES;
    case OBJECT_EMPTY_LIST:
    case OBJECT_ENTRIES:
        return OBJECT_LISTS;
    default:
        return OBJECT_IGNORED;
    }
}

static enum mt_result append_row(struct object *list, uint32_t row, struct mt_error *error)
{
    if (!list->count)
        list->first = row;
    else if (row != list->first + list->count)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "a list whose parts were written in another order");
    list->count++;
    return MT_OK;
}

static enum mt_result append_object(struct snapshot_tables *tables, struct object *list,
                                    uint32_t index, struct mt_error *error)
{
    const struct object *item = table_at(&tables->objects, index);
    enum object_kind kind = list_of((enum object_kind)item->kind);
    uint32_t *child;

    if (kind == OBJECT_IGNORED || list->kind == OBJECT_IGNORED)
        return MT_OK;
    if (list->kind == OBJECT_EMPTY_LIST)
        list->kind = kind;
    else if (list->kind != kind)
        return mt_error_set(error, MT_CORRUPT, "a list of things of different kinds");
    if (kind == OBJECT_FRAMES)
        return snapshot_stack_append(tables, list, item->first, error);
    if (kind != OBJECT_LISTS) {
        enum mt_result result = append_row(list, item->first, error);

        object_settle(tables, index, (struct memo_slot){MEMO_USED, 0});
        return result;
    }
    child = table_add(&tables->children);
    if (!child)
        return no_memory(tables, error);
    *child = index;
    return append_row(list, (uint32_t)(tables->children.count - 1), error);
}

enum mt_result snapshot_append(struct snapshot_tables *tables, struct snapshot_value list,
                               const struct snapshot_value *items, size_t count,
                               struct mt_error *error)
{
    struct object *object = object_of(tables, list);
    enum mt_result result = MT_OK;

    if (!object || object->kind < OBJECT_EMPTY_LIST)
        return mt_error_set(error, MT_CORRUPT, "items for something that is not a list");
    for (size_t i = 0; i < count && result == MT_OK; i++) {
        if (items[i].kind != VALUE_OBJECT)
            continue;
        result = complete(tables, items[i], error);
        if (result == MT_OK)
            result = append_object(tables, object, items[i].index, error);
    }
    return result;
}

void snapshot_fill_open(struct snapshot_tables *tables, struct snapshot_value target,
                        const struct snapshot_value *items, size_t count)
{
    const struct object *object = object_of(tables, target);
    struct mt_error ignored;

    if (!object)
        return;
    if (object->kind >= OBJECT_EMPTY_LIST) {
        snapshot_append(tables, target, items, count, &ignored);
        return;
    }
    /* After the last pair: the only item of a list, or a key. */
    if (count % 2 && count > 1 && items[count - 2].kind == VALUE_OBJECT)
        snapshot_append(tables, items[count - 2], &items[count - 1], 1, &ignored);
    snapshot_set(tables, target, items, count - count % 2, &ignored);
}

/* --- the end ------------------------------------------------------------------------------- */

static bool has_events(const struct snapshot_tables *tables)
{
    for (uint32_t i = 0; i < tables->traces_found.count; i++) {
        const uint32_t *child = table_at(&tables->children, tables->traces_found.first + i);
        const struct object *trace = table_at(&tables->objects, *child);

        if (trace->kind == OBJECT_ENTRIES)
            return true;
    }
    return false;
}

enum mt_result snapshot_tables_finish(struct snapshot_tables *tables, struct snapshot_value root,
                                      struct mt_error *error)
{
    const struct object *object;
    enum mt_result result = complete(tables, root, error);

    if (result != MT_OK)
        return result;
    object = object_of(tables, root);
    if (object && object->kind == OBJECT_SEGMENTS)
        tables->segments_found = (struct snapshot_range){object->first, object->count};
    else if (!object || object->kind != OBJECT_TOP)
        return mt_error_set(error, MT_UNSUPPORTED, "no memory snapshot of PyTorch or torch_npu");
    if (tables->traces_found.count > device_max)
        return mt_error_set(error, MT_CORRUPT, "traces of %u devices",
                            (unsigned)tables->traces_found.count);
    if (!tables->segments_found.count && !has_events(tables))
        return mt_error_set(error, MT_NO_DATA,
                            "an empty snapshot: no segments and no events (was the history of "
                            "allocations switched on?)");
    return MT_OK;
}
