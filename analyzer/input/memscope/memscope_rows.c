/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of msleaks and msmemscope become records, and records events.
 */
#include "memscope_rows.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "memscope_runs.h"
#include "memscope_site.h"
#include "range_set.h"

enum { cached_places = 16, totals_max = 1024, seen_most_bytes = 23 };

/* Kinds of records that no single event is. */
enum { RECORD_STEP_RANGE = EVENT_KIND_COUNT, RECORD_STEP, RECORD_CALL, RECORD_CALL_END };

/* Ranges of marks are counted from 1; those of calls of Python from here. */
static const uint64_t call_ranges = UINT64_C(1) << 48;

struct place_row {
    struct mt_place place;
    uint16_t index;
};

/* The cell that a column had in the row before, and what it meant: most rows repeat it. */
struct seen {
    char bytes[seen_most_bytes];
    uint8_t size_bytes; /* 0: none */
    uint32_t meaning;
};

struct process_row {
    uint64_t process_id;
    uint16_t index;
};

struct pool_total {
    uint16_t process, pool, place;
    uint64_t bytes;
};

struct memscope_rows {
    struct model *model;
    uint32_t source;
    uint64_t time_unit; /* 0: the next row tells */
    struct memscope_runs *runs;
    uint64_t count, start_ns; /* of records; their least time */
    bool has_failed;
    struct memscope_attr_guess guesses[2]; /* of allocations, of all others */
    struct seen seen_process, seen_thread, seen_device, seen_pool;
    uint16_t seen_thread_process;
    struct process_row *processes;
    size_t process_count, process_capacity;
    struct place_row places[cached_places];
    size_t place_count;
    uint32_t pools[POOL_COUNT]; /* row of the model + 1 */
    struct memscope_sites sites;
    uint64_t call_count; /* of Python */
    uint64_t shadow_count, microsecond_files, unused_count;
    /* While events are handed out. */
    struct event pending[4];
    size_t pending_count, pending_next;
    struct pool_total *totals;
    size_t total_count, total_capacity;
    uint32_t *ranges; /* per process: of each range its text; 0 for a step */
    size_t range_count, range_capacity;
    uint64_t step_range, step_number;
    bool is_step_open;
    struct model_process *process; /* NULL: none yet */
    uint16_t process_index;
    struct range_set host_blocks; /* of the driver, by their first bytes */
    uint64_t system_ns;           /* the newest row of the system */
    uint32_t system_id;
    bool has_system;
};

/* --- cells that repeat --------------------------------------------------------------------- */

static inline bool seen_is(const struct seen *seen, struct attr_text cell)
{
    return seen->size_bytes == cell.size_bytes && cell.size_bytes &&
           memcmp(seen->bytes, cell.bytes, cell.size_bytes) == 0;
}

static uint32_t seen_set(struct seen *seen, struct attr_text cell, uint32_t meaning)
{
    seen->size_bytes = cell.size_bytes <= seen_most_bytes ? (uint8_t)cell.size_bytes : 0;
    if (seen->size_bytes)
        memcpy(seen->bytes, cell.bytes, seen->size_bytes);
    seen->meaning = meaning;
    return meaning;
}

/* --- names --------------------------------------------------------------------------------- */

/* Of pools with the same type, the first; POOL_UNKNOWN: none. */
static enum pool_id pool_id_of(struct attr_text type)
{
    for (size_t i = POOL_OTHER + 1; i < POOL_COUNT; i++) {
        const char *known = pool_by_id((enum pool_id)i)->type;

        if (known && attr_is(type, known))
            return (enum pool_id)i;
    }
    return POOL_UNKNOWN;
}

/* Looked up once. */
static uint16_t pool_known(struct memscope_rows *rows, enum pool_id id)
{
    if (!rows->pools[id])
        rows->pools[id] = 1u + model_known_pool(rows->model, id);
    return (uint16_t)(rows->pools[id] - 1);
}

static uint16_t pool_of(struct memscope_rows *rows, struct attr_text type, bool is_pinned)
{
    if (is_pinned)
        return pool_known(rows, POOL_HOST_PINNED);
    if (seen_is(&rows->seen_pool, type))
        return (uint16_t)rows->seen_pool.meaning;
    return (uint16_t)seen_set(&rows->seen_pool, type, pool_known(rows, pool_id_of(type)));
}

static uint8_t page_of(struct attr_text page)
{
    if (attr_is(page, "normal"))
        return MT_PAGE_NORMAL;
    if (attr_is(page, "huge"))
        return MT_PAGE_HUGE;
    return attr_is(page, "giant") ? MT_PAGE_GIANT : MT_PAGE_UNKNOWN;
}

static uint16_t place_for(struct memscope_rows *rows, struct mt_place place)
{
    uint64_t packed = mt_place_pack(place);

    for (size_t i = 0; i < rows->place_count; i++)
        if (mt_place_pack(rows->places[i].place) == packed)
            return rows->places[i].index;
    if (rows->place_count == cached_places)
        return model_place(rows->model, place);
    rows->places[rows->place_count] = (struct place_row){place, model_place(rows->model, place)};
    return rows->places[rows->place_count++].index;
}

static uint16_t place_of(struct memscope_rows *rows, struct attr_text device,
                         const struct memscope_attr *attr)
{
    struct mt_place place = {.device = -1, .page = page_of(attr->page), .module = attr->module};
    bool is_plain = place.page == MT_PAGE_UNKNOWN && place.module < 0;
    uint64_t number;

    if (is_plain && seen_is(&rows->seen_device, device))
        return (uint16_t)rows->seen_device.meaning;
    if (memscope_number(device.bytes, device.size_bytes, &number) && number < 1 << 15) {
        place.device = (int32_t)number;
        place.kind = MT_KIND_DEVICE;
    } else if (attr_is(device, "cpu") || attr_is(device, "host")) {
        place.kind = MT_KIND_HOST;
    }
    if (!is_plain)
        return place_for(rows, place);
    return (uint16_t)seen_set(&rows->seen_device, device, place_for(rows, place));
}

static uint16_t process_of(struct memscope_rows *rows, uint64_t process_id)
{
    /* The tool may be told to begin late and to stop early, and does not say so. */
    struct model_process process = {.process_id = process_id,
                                    .source = rows->source,
                                    .rank = -1,
                                    .is_complete = true,
                                    .is_window = true};
    struct process_row *row;

    for (size_t i = 0; i < rows->process_count; i++)
        if (rows->processes[i].process_id == process_id)
            return rows->processes[i].index;
    if (!list_has_room(&rows->processes, &rows->process_capacity, rows->process_count,
                       sizeof(*rows->processes))) {
        rows->has_failed = true;
        return 0;
    }
    row = &rows->processes[rows->process_count++];
    *row = (struct process_row){process_id, model_process(rows->model, &process)};
    return row->index;
}

static uint32_t thread_of(struct memscope_rows *rows, uint16_t process, uint64_t thread_id)
{
    return model_thread(rows->model,
                        (struct model_thread){.process = process, .thread_id = thread_id});
}

static uint64_t number_of(struct attr_text cell)
{
    uint64_t number;

    return memscope_number(cell.bytes, cell.size_bytes, &number) ? number : 0;
}

static uint16_t process_cell(struct memscope_rows *rows, struct attr_text cell)
{
    if (seen_is(&rows->seen_process, cell))
        return (uint16_t)rows->seen_process.meaning;
    return (uint16_t)seen_set(&rows->seen_process, cell, process_of(rows, number_of(cell)));
}

static uint32_t thread_cell(struct memscope_rows *rows, uint16_t process, struct attr_text cell)
{
    if (rows->seen_thread_process == process && seen_is(&rows->seen_thread, cell))
        return rows->seen_thread.meaning;
    rows->seen_thread_process = process;
    return seen_set(&rows->seen_thread, cell, thread_of(rows, process, number_of(cell)));
}

static uint32_t text_of(struct memscope_rows *rows, struct attr_text text)
{
    return text.size_bytes ? model_text(rows->model, text.bytes, text.size_bytes) : 0;
}

/* --- rows become records ------------------------------------------------------------------- */

enum mt_result memscope_rows_create(struct model *model, uint32_t source,
                                    struct memscope_rows **out, struct mt_error *error)
{
    struct memscope_rows *rows = calloc(1, sizeof(*rows));

    if (!rows)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read a memscope recording");
    rows->model = model;
    rows->source = source;
    rows->start_ns = UINT64_MAX;
    range_set_init(&rows->host_blocks);
    rows->runs = memscope_runs_create(memscope_runs_usual);
    if (!rows->runs) {
        free(rows);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read a memscope recording");
    }
    *out = rows;
    return MT_OK;
}

void memscope_rows_destroy(struct memscope_rows *rows)
{
    if (!rows)
        return;
    memscope_runs_destroy(rows->runs);
    memscope_sites_release(&rows->sites);
    free(rows->processes);
    free(rows->totals);
    free(rows->ranges);
    range_set_release(&rows->host_blocks);
    free(rows);
}

void memscope_rows_begin_file(struct memscope_rows *rows, uint64_t time_unit)
{
    rows->time_unit = time_unit;
}

static struct memscope_record *record_add(struct memscope_rows *rows, uint64_t time_ns)
{
    struct memscope_record *record = memscope_runs_put(rows->runs);

    if (!record) {
        rows->has_failed = true;
        return NULL;
    }
    rows->count++;
    rows->start_ns = time_ns < rows->start_ns ? time_ns : rows->start_ns;
    record->time_ns = time_ns;
    return record;
}

/* Columns that say ns held microseconds once: of today, those have 16 digits. */
static bool time_of(struct memscope_rows *rows, struct attr_text cell, uint64_t *time_ns)
{
    uint64_t time;

    if (!memscope_number(cell.bytes, cell.size_bytes, &time))
        return false;
    if (!rows->time_unit) {
        bool is_microseconds =
            time >= UINT64_C(1000000000000000) && time < UINT64_C(100000000000000000);

        rows->time_unit = is_microseconds ? 1000 : 1;
        rows->microsecond_files += is_microseconds;
    }
    if (time > UINT64_MAX / rows->time_unit)
        return false;
    *time_ns = time * rows->time_unit;
    return true;
}

/* Both words of a block's row, in the order of today or in that of the first version. */
static bool is_block(const struct attr_text *cells, const char *word, const char *lower_word)
{
    return attr_is(cells[COLUMN_EVENT], word) || attr_is(cells[COLUMN_TYPE], lower_word) ||
           attr_is(cells[COLUMN_EVENT], lower_word);
}

static void fill_block(struct memscope_rows *rows, struct memscope_record *record,
                       const struct attr_text *cells, const struct memscope_attr *attr)
{
    struct attr_text type = cells[COLUMN_TYPE];

    if (attr_is(type, "malloc") || attr_is(type, "free"))
        type = cells[COLUMN_EVENT];
    record->address = attr->address;
    record->value = attr->size_bytes;
    record->total = attr->has_total ? attr->total_bytes + 1 : 0;
    record->pool = pool_of(rows, type, attr->is_pinned);
    if (record->kind != EVENT_ALLOC)
        return;
    record->text = text_of(rows, attr->owner);
    record->site = memscope_site(&rows->sites, rows->model, record->process,
                                 cells[COLUMN_PYTHON_STACK], cells[COLUMN_C_STACK]);
}

static int kind_of_mstx(const struct attr_text *cells)
{
    if (attr_is(cells[COLUMN_TYPE], "Mark"))
        return EVENT_MARK;
    if (attr_is(cells[COLUMN_TYPE], "Range_end"))
        return EVENT_RANGE_END;
    if (!attr_is(cells[COLUMN_TYPE], "Range_start"))
        return -2;
    return attr_is(cells[COLUMN_NAME], "step start") ? RECORD_STEP_RANGE : EVENT_RANGE_BEGIN;
}

/* The kind of record; -1: of no use, -2: of no known kind. */
static int kind_of(const struct attr_text *cells)
{
    struct attr_text event = cells[COLUMN_EVENT], type = cells[COLUMN_TYPE];

    if (is_block(cells, "MALLOC", "malloc"))
        return EVENT_ALLOC;
    if (is_block(cells, "FREE", "free"))
        return EVENT_FREE;
    if (attr_is(event, "ACCESS"))
        return EVENT_ACCESS;
    if (attr_is(event, "OP_LAUNCH") && attr_ends_with(type, "_END"))
        return EVENT_OPERATOR_END;
    if (attr_is(event, "OP_LAUNCH"))
        return attr_ends_with(type, "_START") ? EVENT_OPERATOR_BEGIN : -2;
    if (attr_is(event, "KERNEL_LAUNCH"))
        return attr_is(type, "KERNEL_LAUNCH") ? EVENT_LAUNCH : -1;
    if (attr_is(event, "MSTX"))
        return kind_of_mstx(cells);
    if (attr_is(event, "SYSTEM"))
        return attr_is(type, "STEP") ? (int)RECORD_STEP : EVENT_MARK;
    if (attr_is(event, "OOM_DETAIL"))
        return attr_is(type, "OOM_TRIGGER") ? EVENT_ALLOC_FAILED : -1;
    return attr_is(event, "SNAPSHOT") ? -1 : -2;
}

/* "Range end from id 4" */
static uint64_t range_id(struct attr_text name)
{
    size_t digits = 0;
    uint64_t id = 0;

    while (digits < name.size_bytes && name.bytes[name.size_bytes - 1 - digits] >= '0' &&
           name.bytes[name.size_bytes - 1 - digits] <= '9')
        digits++;
    memscope_number(name.bytes + name.size_bytes - digits, digits, &id);
    return id;
}

static void fill_other(struct memscope_rows *rows, struct memscope_record *record,
                       const struct attr_text *cells, const struct memscope_attr *attr)
{
    bool is_system = attr_is(cells[COLUMN_EVENT], "SYSTEM");

    record->text = text_of(rows, cells[is_system ? COLUMN_TYPE : COLUMN_NAME]);
    if (record->kind == EVENT_RANGE_END) {
        record->value = range_id(cells[COLUMN_NAME]);
    } else if (record->kind == EVENT_ALLOC_FAILED) {
        record->value = attr->requested_bytes;
        record->pool = pool_known(rows, POOL_HAL);
        record->site = memscope_site(&rows->sites, rows->model, record->process,
                                     cells[COLUMN_PYTHON_STACK], cells[COLUMN_C_STACK]);
    } else if (record->kind == EVENT_ACCESS) {
        record->address = attr->address;
        record->value = attr->size_bytes;
        record->pool = pool_of(rows, attr->pool, false);
    }
}

/* Old files have columns where newer ones have attributes. */
static bool complete(struct memscope_attr *attr, const struct attr_text *cells)
{
    if (!attr->has_address)
        attr->has_address = memscope_number(cells[COLUMN_POINTER].bytes,
                                            cells[COLUMN_POINTER].size_bytes, &attr->address);
    if (!attr->has_size)
        attr->has_size = memscope_number(cells[COLUMN_SIZE].bytes, cells[COLUMN_SIZE].size_bytes,
                                         &attr->size_bytes);
    if (!attr->has_total)
        attr->has_total = memscope_number(cells[COLUMN_RESERVED].bytes,
                                          cells[COLUMN_RESERVED].size_bytes, &attr->total_bytes);
    return attr->has_address && attr->has_size;
}

static void fill(struct memscope_rows *rows, struct memscope_record *record, int kind,
                 const struct attr_text *cells, const struct memscope_attr *attr)
{
    record->kind = (uint8_t)kind;
    record->is_system = attr_is(cells[COLUMN_EVENT], "SYSTEM");
    if (record->is_system)
        record->id = (uint32_t)number_of(cells[COLUMN_ID]);
    record->process = process_cell(rows, cells[COLUMN_PROCESS]);
    record->place = place_of(rows, cells[COLUMN_DEVICE], attr);
    record->thread = thread_cell(rows, record->process, cells[COLUMN_THREAD]);
    if (kind == EVENT_ALLOC || kind == EVENT_FREE)
        fill_block(rows, record, cells, attr);
    else
        fill_other(rows, record, cells, attr);
}

static bool is_number(struct attr_text cell)
{
    uint64_t ignored;

    return memscope_number(cell.bytes, cell.size_bytes, &ignored);
}

/* Pools may be new to this reader, and so may other kinds of rows; a type that no version could
 * have written is damage. The first version wrote "acl init". */
static bool is_type(struct attr_text cell)
{
    for (size_t i = 0; i < cell.size_bytes; i++) {
        unsigned char letter = (unsigned char)cell.bytes[i] | 32u;

        if ((letter < 'a' || letter > 'z') && cell.bytes[i] != '_' && cell.bytes[i] != ' ')
            return false;
    }
    return cell.size_bytes > 0;
}

/* Whose the row is, and where it happened. */
static bool makes_sense(const struct attr_text *cells)
{
    struct attr_text device = cells[COLUMN_DEVICE], thread = cells[COLUMN_THREAD];

    return is_number(cells[COLUMN_PROCESS]) && (is_number(thread) || attr_is(thread, "N/A")) &&
           (is_number(device) || attr_is(device, "N/A") || attr_is(device, "cpu") ||
            attr_is(device, "host")) &&
           is_type(cells[COLUMN_TYPE]);
}

bool memscope_rows_add(struct memscope_rows *rows, const struct attr_text *cells)
{
    struct memscope_attr attr;
    struct memscope_record *record;
    uint64_t time_ns;
    int kind = kind_of(cells);
    bool is_of_block;

    if (kind == -1) {
        rows->unused_count += is_type(cells[COLUMN_TYPE]);
        return is_type(cells[COLUMN_TYPE]);
    }
    if (!time_of(rows, cells[COLUMN_TIME], &time_ns) || kind == -2)
        return false;
    memscope_attr_read(&attr, cells[COLUMN_ATTR].bytes, cells[COLUMN_ATTR].size_bytes,
                       &rows->guesses[kind != EVENT_ALLOC]);
    is_of_block = kind == EVENT_ALLOC || kind == EVENT_FREE;
    if (!makes_sense(cells) || (is_of_block && !complete(&attr, cells)))
        return false;
    /* The tool frees on paper, at the end, what the program did not. */
    rows->shadow_count += attr.is_shadow;
    if (attr.is_shadow)
        return true;
    record = record_add(rows, time_ns);
    if (record)
        fill(rows, record, kind, cells, &attr);
    return true;
}

static void call_record(struct memscope_rows *rows, const struct memscope_call *call, int kind)
{
    struct memscope_record *record =
        record_add(rows, kind == RECORD_CALL ? call->start_ns : call->end_ns);

    if (!record)
        return;
    record->kind = (uint8_t)kind;
    record->address = call_ranges + rows->call_count;
    record->process = process_of(rows, call->process_id);
    record->text = text_of(rows, call->function);
    record->thread = thread_of(rows, record->process, call->thread_id);
}

void memscope_rows_add_call(struct memscope_rows *rows, const struct memscope_call *call)
{
    rows->call_count++;
    call_record(rows, call, RECORD_CALL);
    if (call->end_ns)
        call_record(rows, call, RECORD_CALL_END);
}

/* --- records become events ----------------------------------------------------------------- */

static void note(const struct memscope_rows *rows)
{
    struct model *model = rows->model;

    if (rows->shadow_count)
        model_note(model, rows->shadow_count,
                   "blocks that were never freed; the tool wrote a free for each at exit, which is "
                   "not counted");
    if (rows->microsecond_files)
        model_note(model, rows->microsecond_files,
                   "files whose times are microseconds, though their header says ns");
    if (rows->unused_count)
        model_note(model, rows->unused_count, "rows of kinds that nothing is computed from");
    model_note(model, 0,
               "a memscope recording ends without the blocks that lived when a program was killed");
}

enum mt_result memscope_rows_sort(struct memscope_rows *rows, const char *path,
                                  struct mt_error *error)
{
    enum mt_result result;

    if (rows->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the rows of %s", path);
    if (!rows->count && model_share_of(rows->model, PART_ROWS).missing)
        return mt_error_set(error, MT_CORRUPT, "%s: none of its rows makes sense", path);
    if (!rows->count)
        return mt_error_set(error, MT_NO_DATA, "%s: no events", path);
    result = memscope_runs_end(rows->runs, error);
    if (result != MT_OK)
        return result;
    for (size_t i = 0; i < rows->process_count; i++)
        model_process_fill(rows->model, rows->processes[i].index)->start_realtime_ns =
            rows->start_ns;
    note(rows);
    return MT_OK;
}

static void pend(struct memscope_rows *rows, const struct memscope_record *record,
                 struct event event)
{
    event.time_ns = record->time_ns - rows->start_ns;
    event.thread = record->thread;
    event.process = record->process;
    event.place = record->place;
    event.pool = record->pool;
    rows->pending[rows->pending_count++] = event;
}

/* What the pool holds from below, when it changes. */
static void pend_total(struct memscope_rows *rows, const struct memscope_record *record)
{
    struct pool_total *total = NULL;

    for (size_t i = 0; i < rows->total_count && !total; i++)
        if (rows->totals[i].pool == record->pool && rows->totals[i].place == record->place &&
            rows->totals[i].process == record->process)
            total = &rows->totals[i];
    if (!total && rows->total_count == totals_max)
        return;
    if (!total) {
        if (!list_has_room(&rows->totals, &rows->total_capacity, rows->total_count,
                           sizeof(*rows->totals)))
            return;
        total = &rows->totals[rows->total_count++];
        *total = (struct pool_total){record->process, record->pool, record->place, 0};
    }
    if (total->bytes == record->total)
        return;
    total->bytes = record->total;
    pend(rows, record, (struct event){.kind = EVENT_RESERVED, .value = record->total - 1});
}

/* The driver's memory on the host is a pool of its own. Its frees do not say where they are. */
static void find_host(struct memscope_rows *rows, struct memscope_record *record)
{
    struct range block = {record->address, record->address + 1};
    struct range_set *host = &rows->host_blocks;
    enum mt_place_kind place = model_place_at(rows->model, record->place).kind;

    if (record->pool + 1u != rows->pools[POOL_HAL])
        return;
    if (record->kind == EVENT_ALLOC && place == MT_KIND_HOST) {
        record->pool = pool_known(rows, POOL_HAL_HOST);
        rows->has_failed |= !range_set_add(host, block);
    } else if (host->count) {
        size_t found = range_set_find(host, record->address);

        if (record->kind == EVENT_FREE && found < host->count &&
            host->rows[found].from <= record->address)
            record->pool = pool_known(rows, POOL_HAL_HOST);
        rows->has_failed |= !range_set_remove(host, block);
    }
}

static void pend_block(struct memscope_rows *rows, const struct memscope_record *row)
{
    struct memscope_record found = *row, *record = &found;
    bool has_owner = record->text != 0;
    bool has_device = model_place_at(rows->model, record->place).kind != MT_KIND_UNKNOWN;

    find_host(rows, record);
    if (has_owner)
        pend(rows, record, (struct event){.kind = EVENT_TAG_BEGIN, .text = record->text});
    pend(rows, record,
         (struct event){.kind = record->kind,
                        .flags = has_device ? EVENT_IS_OF_DEVICE : 0,
                        .address = record->address,
                        .value = record->value,
                        .site = record->site});
    if (has_owner)
        pend(rows, record, (struct event){.kind = EVENT_TAG_END});
    if (record->total)
        pend_total(rows, record);
}

static void pend_step(struct memscope_rows *rows, const struct memscope_record *record)
{
    if (rows->is_step_open)
        pend(rows, record, (struct event){.kind = EVENT_STEP_END, .value = rows->step_number});
    rows->is_step_open = true;
    pend(rows, record, (struct event){.kind = EVENT_STEP_BEGIN, .value = ++rows->step_number});
}

static bool range_add(struct memscope_rows *rows, uint32_t text)
{
    if (!list_has_room(&rows->ranges, &rows->range_capacity, rows->range_count,
                       sizeof(*rows->ranges)))
        return false;
    rows->ranges[rows->range_count++] = text;
    return true;
}

/* Ids count from 1 in the order of the beginnings. */
static void pend_range_end(struct memscope_rows *rows, const struct memscope_record *record)
{
    bool is_known = record->value && record->value <= rows->range_count;

    if (is_known && rows->ranges[record->value - 1]) {
        pend(rows, record, (struct event){.kind = EVENT_RANGE_END, .address = record->value});
        return;
    }
    if (is_known && record->value != rows->step_range)
        return; /* a later step has begun already */
    if (rows->is_step_open)
        pend(rows, record, (struct event){.kind = EVENT_STEP_END, .value = rows->step_number});
    rows->is_step_open = false;
}

static void pend_record(struct memscope_rows *rows, const struct memscope_record *record)
{
    switch (record->kind) {
    case EVENT_ALLOC:
    case EVENT_FREE:
        pend_block(rows, record);
        break;
    case RECORD_STEP_RANGE:
        range_add(rows, 0);
        rows->step_range = rows->range_count;
        pend_step(rows, record);
        break;
    case RECORD_STEP:
        pend_step(rows, record);
        break;
    case EVENT_RANGE_BEGIN:
        range_add(rows, record->text);
        pend(rows, record,
             (struct event){
                 .kind = record->kind, .text = record->text, .address = rows->range_count});
        break;
    case EVENT_RANGE_END:
        pend_range_end(rows, record);
        break;
    case RECORD_CALL:
        pend(rows, record,
             (struct event){
                 .kind = EVENT_RANGE_BEGIN, .text = record->text, .address = record->address});
        break;
    case RECORD_CALL_END:
        pend(rows, record, (struct event){.kind = EVENT_RANGE_END, .address = record->address});
        break;
    default:
        pend(rows, record,
             (struct event){.kind = record->kind,
                            .address = record->address,
                            .value = record->value,
                            .text = record->text,
                            .site = record->site});
        break;
    }
}

/* A row of the system is in the file of each device. */
static bool is_repeated(struct memscope_rows *rows, const struct memscope_record *record)
{
    bool is_known =
        rows->has_system && rows->system_ns == record->time_ns && rows->system_id == record->id;

    rows->has_system = true;
    rows->system_ns = record->time_ns;
    rows->system_id = record->id;
    return is_known;
}

static void process_begin(struct memscope_rows *rows, uint16_t process)
{
    rows->process = model_process_fill(rows->model, process);
    rows->process_index = process;
    rows->range_count = 0;
    rows->step_number = 0;
    rows->is_step_open = false;
    rows->has_system = false;
    range_set_release(&rows->host_blocks);
    range_set_init(&rows->host_blocks);
}

static void take_record(struct memscope_rows *rows, const struct memscope_record *record)
{
    if (!rows->process || rows->process_index != record->process)
        process_begin(rows, record->process);
    rows->pending_count = rows->pending_next = 0;
    if (!record->is_system || !is_repeated(rows, record))
        pend_record(rows, record);
    rows->process->event_count += rows->pending_count;
    rows->process->end_ns = record->time_ns - rows->start_ns;
}

enum mt_result memscope_rows_next(struct memscope_rows *rows, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    const struct memscope_record *record;
    enum mt_result result;

    for (*count = 0; *count < capacity;) {
        if (rows->pending_next == rows->pending_count) {
            result = memscope_runs_next(rows->runs, &record, error);
            if (result != MT_OK || !record)
                return result;
            take_record(rows, record);
            if (rows->has_failed)
                return mt_error_set(error, MT_NO_MEMORY, "no memory to read a memscope recording");
            continue;
        }
        /* A batch never mixes two processes. */
        if (*count && batch[0].process != rows->process_index)
            break;
        batch[(*count)++] = rows->pending[rows->pending_next++];
    }
    return MT_OK;
}
