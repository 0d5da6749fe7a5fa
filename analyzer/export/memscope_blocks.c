/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of blocks: taken, used, given back, left, refused; and the sums of their pools.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_modules.h"
#include "list.h"
#include "memscope_source.h"

/* --- pools --------------------------------------------------------------------------------- */

static void copy_upper(char *to, const char *from)
{
    size_t i = 0;

    for (; from[i] && i + 1 < MEMSCOPE_TYPE_BYTES; i++)
        to[i] = (char)(from[i] >= 'a' && from[i] <= 'z' ? from[i] - 'a' + 'A' : from[i]);
    to[i] = 0;
}

static void ledger_begin(const struct memscope_source *source, const struct ledger *ledger,
                         struct memscope_ledger *made)
{
    const struct model *model = source->question->model;
    const struct pool *pool = model_pool_at(model, ledger->pool);

    /* Where it has no name there, the pool's own in capitals. */
    copy_upper(made->type, pool->type
                               ? pool->type
                               : model_text_at(model, model_pool_name_at(model, ledger->pool)));
    made->is_driver = pool->id == POOL_HAL;
    made->is_below = pool_is_of_device(pool);
    made->is_pinned = pool->id == POOL_HOST_PINNED || pool->id == POOL_HAL_HOST;
    if (made->is_pinned && source->sink->names_pinned)
        copy_upper(made->type, "HOST_PINNED");
    made->is_host = pool->id == POOL_HOST || ledger->kind == LEDGER_HOST || made->is_pinned;
    made->device = made->is_host         ? MEMSCOPE_DEVICE_CPU
                   : ledger->device >= 0 ? ledger->device
                                         : MEMSCOPE_DEVICE_NONE;
}

bool memscope_ledgers_init(struct memscope_source *source)
{
    const struct tally *tally = source->question->tally;

    source->ledger_count = tally_ledger_count(tally);
    source->ledgers = calloc(source->ledger_count + 1, sizeof(*source->ledgers));
    for (size_t i = 0; source->ledgers && i < source->ledger_count; i++)
        ledger_begin(source, tally_ledger_at(tally, i), &source->ledgers[i]);
    return source->ledgers != NULL;
}

/* --- what a row says of a block ------------------------------------------------------------- */

static const char *page_name(uint8_t page)
{
    static const char *const names[] = {
        [MT_PAGE_UNKNOWN] = "normal",
        [MT_PAGE_NORMAL] = "normal",
        [MT_PAGE_HUGE] = "huge",
        [MT_PAGE_GIANT] = "giant",
    };

    return page < sizeof(names) / sizeof(names[0]) ? names[page] : "normal";
}

/* What the program said, else the module of the driver. */
static void add_owner(struct memscope_source *source, struct memscope_row *row,
                      const struct group_detail *detail, int32_t module_id)
{
    const char *module = module_id >= 0 ? driver_module_name((uint32_t)module_id) : NULL;

    if (detail->owner_text) {
        memscope_text(row, "owner", model_text_at(source->question->model, detail->owner_text));
    } else if (module) {
        snprintf(source->held_owner, sizeof(source->held_owner), "CANN@%s", module);
        memscope_text(row, "owner", source->held_owner);
    }
}

static void block_row(struct memscope_source *source, struct memscope_row *row, const char *event,
                      const struct life *life, uint64_t time_ns, uint32_t thread)
{
    const struct memscope_ledger *ledger = &source->ledgers[life->ledger];

    memscope_row_begin(source, row, event, ledger->type, time_ns, thread);
    row->device = ledger->device;
    row->has_pointer = true;
    row->pointer = life->address;
    memscope_number(row, "allocation_id", life->index + 1);
    memscope_address(row, "addr", life->address);
    memscope_number(row, "size", life->size_bytes);
}

/* A pool of a device says what it handed out and what it holds; the driver has no pool; of the
 * host's memory one sum is told. */
static void add_sums(struct memscope_source *source, struct memscope_row *row,
                     const struct memscope_ledger *ledger)
{
    source->held_total = 0;
    if (ledger->is_pinned)
        memscope_text(row, "pinned", "true");
    if (ledger->is_host && !ledger->is_pinned) {
        memscope_number(row, "total", ledger->used_bytes);
        return;
    }
    memscope_number(row, "used", ledger->used_bytes);
    if (!ledger->is_driver && !ledger->is_pinned) {
        source->held_total = row->attribute_count;
        memscope_number(row, "total", ledger->total_bytes);
    }
    memscope_add_readings(source, row, ledger);
}

/* --- lives ------------------------------------------------------------------------------- */

static bool keep(struct memscope_source *source, const struct life *life)
{
    const struct live_block block = {.address = life->address,
                                     .size_bytes = life->size_bytes,
                                     .group = life->group,
                                     .birth = (uint32_t)(life->index + 1)};

    if (live_set_put(&source->live, live_hash(life->address), &block) &&
        memscope_holder_add(source, life,
                            tally_detail_at(source->question->tally, life->group)->pool))
        return true;
    source->result = mt_error_set(source->error, MT_NO_MEMORY, "no memory for live blocks");
    return false;
}

/* The row that has been made where such rows are held. */
static void hold(struct memscope_source *source, uint16_t ledger, uint64_t time_ns)
{
    source->is_holding = true;
    source->held_ledger = ledger;
    source->held_time_ns = time_ns;
}

static void hold_birth(struct memscope_source *source, const struct life *life, uint64_t time_ns)
{
    const struct group_detail *detail = tally_detail_at(source->question->tally, life->group);
    struct mt_place place = model_place_at(source->question->model, detail->place);
    struct memscope_ledger *ledger = &source->ledgers[life->ledger];
    struct memscope_row *row = &source->held;

    ledger->used_bytes += life->size_bytes;
    if (ledger->used_bytes > ledger->used_peak_bytes)
        ledger->used_peak_bytes = ledger->used_bytes;
    block_row(source, row, "MALLOC", life, time_ns, life->thread);
    add_sums(source, row, ledger);
    add_owner(source, row, detail, ledger->is_driver ? place.module : -1);
    if (ledger->is_driver) {
        memscope_text(row, "page_type", page_name(place.page));
        memscope_text(row, "alloc_type", place.flags & MT_PLACE_HANDLE ? "create" : "alloc");
    }
    memscope_stacks_of(&source->stacks, detail->site, &row->python_stack, &row->c_stack);
    hold(source, life->ledger, time_ns);
}

static bool early_add(struct memscope_source *source, const struct life *life)
{
    if (!list_has_room(&source->early, &source->early_capacity, source->early_count,
                       sizeof(*source->early))) {
        source->result = mt_error_set(source->error, MT_NO_MEMORY, "no memory for early blocks");
        return false;
    }
    source->early[source->early_count++] = (struct memscope_early){*life, false};
    return true;
}

static void early_remove(struct memscope_source *source, const struct life *life)
{
    size_t low = 0, high = source->early_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (source->early[middle].life.index < life->index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < source->early_count)
        source->early[low].is_over = true;
}

void memscope_history_ends(struct memscope_source *source, const struct event *event)
{
    source->is_history = false;
    for (size_t i = 0; i < source->early_count; i++) {
        if (source->early[i].is_over)
            continue;
        memscope_row_send_held(source);
        hold_birth(source, &source->early[i].life, event->time_ns);
    }
    source->early_count = 0;
    memscope_row_send_held(source);
}

bool memscope_block_born(struct memscope_source *source, const struct life *life)
{
    memscope_row_send_held(source);
    if (!keep(source, life))
        return false;
    if (source->is_history)
        return early_add(source, life);
    hold_birth(source, life, life->born_ns);
    return source->result == MT_OK;
}

struct live_place memscope_block_at(const struct memscope_source *source, uint64_t address,
                                    uint16_t pool)
{
    struct live_place place = live_set_find(&source->live, live_hash(address), address);

    while (place.bucket &&
           tally_detail_at(source->question->tally, place.bucket->group[place.slot])->pool != pool)
        place = live_set_find_next(&source->live, address, place);
    return place;
}

static void drop(struct memscope_source *source, const struct life *life)
{
    const struct group_detail *detail = tally_detail_at(source->question->tally, life->group);
    struct live_place place = memscope_block_at(source, life->address, detail->pool);

    if (place.bucket)
        live_set_take(&source->live, live_hash(life->address), place);
    memscope_holder_remove(source, life, detail->pool);
}

/* The tool frees on paper, at the end, what the program did not. */
bool memscope_block_over(struct memscope_source *source, const struct life *life)
{
    struct memscope_ledger *ledger = &source->ledgers[life->ledger];
    bool is_freed = life->freed_event != 0;
    uint64_t end_ns = source->newest_ns > life->born_ns ? source->newest_ns : life->born_ns + 1;
    uint64_t time_ns = is_freed ? life->freed_ns : end_ns;
    struct memscope_row *row = &source->held;

    memscope_row_send_held(source);
    drop(source, life);
    if (source->is_history) {
        early_remove(source, life);
        return true;
    }
    block_row(source, row, "FREE", life, time_ns, is_freed ? life->freeing_thread : life->thread);
    if (is_freed) {
        ledger->used_bytes -= life->size_bytes;
        add_sums(source, row, ledger);
        hold(source, life->ledger, time_ns);
    } else {
        memscope_text(row, "shadow", "true");
        memscope_row_send(source, row);
    }
    return source->result == MT_OK;
}

/* --- events ------------------------------------------------------------------------------ */

/* That of the event; NULL: no block was ever in it. */
static struct memscope_ledger *ledger_of(struct memscope_source *source, const struct event *event)
{
    uint16_t ledger;
    bool is_there = tally_ledger_find(source->question->tally, event->process, event->pool,
                                      event->place, &ledger);

    return is_there ? &source->ledgers[ledger] : NULL;
}

/* MindSpore tells the size of its pool after the first block of it. */
void memscope_take_reserved(struct memscope_source *source, const struct event *event)
{
    struct memscope_ledger *ledger = ledger_of(source, event);
    const struct memscope_ledger *driver =
        ledger ? memscope_driver_of(source, ledger->device) : NULL;
    bool is_first = ledger && !ledger->total_bytes;

    if (!ledger)
        return;
    ledger->total_bytes = event->value;
    ledger->driver_bytes = driver ? driver->used_bytes : 0;
    if (event->value > ledger->total_peak_bytes)
        ledger->total_peak_bytes = event->value;
    if (source->is_holding && &source->ledgers[source->held_ledger] == ledger &&
        source->held_total && (is_first || source->held_time_ns == event->time_ns))
        source->held.attributes[source->held_total].number = event->value;
}

static const char *access_type(uint8_t flags)
{
    if (flags & EVENT_IS_WRITE)
        return "WRITE";
    return flags & EVENT_IS_READ ? "READ" : "UNKNOWN";
}

/* "torch.float32 torch.Size([2, 3])"; the copy of the type lives as long as the row. */
static void add_tensor(struct memscope_row *row, const char *tensor, char *dtype)
{
    const char *blank = strchr(tensor, ' ');
    size_t length = blank ? (size_t)(blank - tensor) : 0;

    if (!blank || length >= MEMSCOPE_TYPE_BYTES)
        return;
    memcpy(dtype, tensor, length);
    dtype[length] = 0;
    memscope_text(row, "dtype", dtype);
    memscope_text(row, "shape", blank + 1);
}

/* Of no living block: nothing, as readers join it with its block. */
void memscope_take_access(struct memscope_source *source, const struct event *event)
{
    const struct model *model = source->question->model;
    struct live_place place = memscope_holder_of(source, event->address, event->pool);
    const struct memscope_ledger *ledger;
    struct memscope_row row;
    char dtype[MEMSCOPE_TYPE_BYTES];

    if (!place.bucket)
        return;
    ledger =
        &source->ledgers[tally_group_at(source->question->tally, place.bucket->group[place.slot])
                             ->ledger];
    memscope_row_begin(source, &row, "ACCESS", access_type(event->flags), event->time_ns,
                       event->thread);
    row.name = event->text ? model_text_at(model, event->text) : NULL;
    row.device = ledger->device;
    row.has_pointer = true;
    row.pointer = event->address;
    memscope_number(&row, "allocation_id", place.bucket->birth[place.slot]);
    memscope_address(&row, "addr", event->address);
    memscope_number(&row, "size", event->value);
    memscope_text(&row, "type", ledger->type);
    if (event->detail)
        add_tensor(&row, model_text_at(model, event->detail), dtype);
    memscope_row_send(source, &row);
}

/* What halMemAlloc was told, as far as the place says it. */
static uint64_t driver_flag(struct mt_place place)
{
    static const uint64_t kinds[] = {
        [MT_KIND_UNKNOWN] = 0, [MT_KIND_DEVICE] = 1, [MT_KIND_HOST] = 2,
        [MT_KIND_SHARED] = 0,  [MT_KIND_DVPP] = 3,
    };
    uint64_t kind = place.kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[place.kind] : 0;

    return (uint64_t)(place.device >= 0 ? place.device : 0) | kind << 10 |
           (uint64_t)(place.page == MT_PAGE_HUGE) << 17 |
           (uint64_t)(place.page == MT_PAGE_GIANT) << 31 |
           (uint64_t)(place.module >= 0 ? place.module : 0) << 56;
}

void memscope_take_failed_alloc(struct memscope_source *source, const struct event *event)
{
    const struct model *model = source->question->model;
    struct mt_place place = model_place_at(model, event->place);
    const char *pool = model_text_at(model, model_pool_name_at(model, event->pool));
    int32_t device = place.device >= 0 ? place.device : source->main_device;
    struct memscope_row row;

    if (model_pool_at(model, event->pool)->family == FAMILY_HOST) /* its rows are of devices */
        return;
    if (model_pool_at(model, event->pool)->id == POOL_HAL) {
        pool = place.flags & MT_PLACE_HANDLE ? "halMemCreate" : "halMemAlloc";
        memscope_send_snapshot(source, event, device, event->site, "OOM_Snapshot");
    }
    memscope_row_begin(source, &row, "OOM_DETAIL", "OOM_TRIGGER", event->time_ns, event->thread);
    row.name = "OOM_Trigger";
    row.device = device;
    memscope_text(&row, "func", pool);
    memscope_number(&row, "req_size", event->value);
    memscope_number(&row, "flag", driver_flag(place));
    memscope_stacks_of(&source->stacks, event->site, &row.python_stack, &row.c_stack);
    memscope_row_send(source, &row);
}

/* Of a block that is older than the recording: a row without an alloc. */
void memscope_take_older_free(struct memscope_source *source, const struct event *event)
{
    const struct memscope_ledger *ledger = ledger_of(source, event);
    struct memscope_row row;

    if (!ledger || ledger->older_id ||
        memscope_block_at(source, event->address, event->pool).bucket)
        return;
    memscope_row_send_held(source);
    memscope_row_begin(source, &row, "FREE", ledger->type, event->time_ns, event->thread);
    row.device = ledger->device;
    row.has_pointer = true;
    row.pointer = event->address;
    memscope_address(&row, "addr", event->address);
    memscope_number(&row, "size", event->value);
    memscope_row_send(source, &row);
}

/* --- what is older, as a sum ---------------------------------------------------------------- */

/* Beyond all blocks that have a life. */
#define OLDER_FIRST_ID  (UINT64_C(1) << 40)
#define OLDER_ADDRESSES (UINT64_C(1) << 50)

static void older_row(struct memscope_source *source, struct memscope_row *row, const char *event,
                      const struct memscope_ledger *ledger)
{
    memscope_row_begin(source, row, event, ledger->type, source->newest_ns, 0);
    row->device = ledger->device;
    row->has_pointer = true;
    row->pointer = OLDER_ADDRESSES | (uint64_t)(ledger - source->ledgers) << 44;
    memscope_number(row, "allocation_id", ledger->older_id);
    memscope_address(row, "addr", row->pointer);
    memscope_number(row, "size", ledger->older_bytes);
}

static void older_free(struct memscope_source *source, struct memscope_ledger *ledger)
{
    struct memscope_row row;

    older_row(source, &row, "FREE", ledger);
    ledger->used_bytes -= ledger->older_bytes;
    add_sums(source, &row, ledger);
    memscope_row_send(source, &row);
}

static void older_make(struct memscope_source *source, struct memscope_ledger *ledger)
{
    struct memscope_row row;

    ledger->older_id = OLDER_FIRST_ID + ++source->older_count;
    older_row(source, &row, "MALLOC", ledger);
    ledger->used_bytes += ledger->older_bytes;
    add_sums(source, &row, ledger);
    snprintf(source->held_owner, sizeof(source->held_owner), "%s@older than the recording",
             ledger->type);
    memscope_text(&row, "owner", source->held_owner);
    memscope_row_send(source, &row);
}

void memscope_take_older(struct memscope_source *source, const struct event *event)
{
    struct memscope_ledger *ledger = ledger_of(source, event);

    if (!ledger || ledger->older_bytes == event->value)
        return;
    if (ledger->older_bytes)
        older_free(source, ledger);
    ledger->older_bytes = event->value;
    if (ledger->older_bytes)
        older_make(source, ledger);
}

void memscope_older_over(struct memscope_source *source, uint16_t process)
{
    for (size_t i = 0; i < source->ledger_count; i++) {
        struct memscope_row row;

        if (!source->ledgers[i].older_bytes ||
            tally_ledger_at(source->question->tally, i)->process != process)
            continue;
        older_row(source, &row, "FREE", &source->ledgers[i]);
        memscope_text(&row, "shadow", "true");
        memscope_row_send(source, &row);
    }
}
