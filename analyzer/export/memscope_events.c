/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording as rows of msmemscope.
 *
 * A pool's size, `total`, is told by an event of its own that may come right after the alloc whose
 * row shows it: so the row of a block is held back until something else happens.
 */
#include "memscope_events.h"

#include <stdlib.h>
#include <string.h>

#include "driver_modules.h"
#include "live_set.h"
#include "lives.h"
#include "memscope_stacks.h"

enum { owner_most_bytes = 64, type_most_bytes = 32 };

struct ledger_state {
    uint64_t used_bytes, total_bytes;
    char type[type_most_bytes];         /* "PTA" */
    bool is_driver, is_host, is_pinned; /* is_host: of the processor, not of a device */
};

/* Of a thread's range that is open: what the recording and what the rows call it. */
struct open_range {
    uint64_t id, number;
    bool is_step;
};

struct rows {
    const struct export_request *request;
    const struct question *question;
    const struct memscope_sink *sink;
    struct memscope_stacks stacks;
    enum mt_result result;
    struct mt_error *error;
    uint64_t next_id;
    struct ledger_state *ledgers;
    size_t ledger_count;
    struct live_set live; /* birth: number of the alloc */
    /* Of the current process. */
    uint64_t process_id, base_ns, newest_ns; /* times of rows = base_ns + time */
    bool has_process;
    uint16_t process;
    struct open_range *ranges;
    size_t range_count, range_capacity;
    uint64_t begun_ranges;
    /* The row of a block that waits for its pool's size. */
    struct memscope_row held;
    bool is_holding;
    uint64_t held_time_ns;
    uint32_t held_ledger;
    size_t held_total; /* attribute */
    char held_owner[owner_most_bytes];
};

/* --- pools --------------------------------------------------------------------------------- */

static const struct {
    const char *pool, *type;
} known_types[] = {
    {"torch", "PTA"}, /* the allocator of PyTorch is that of torch_npu */
    {"host", "HOST"},
    {"host_pinned", "HOST"},
    {"hal_host", "HOST"}, /* the driver's own calls for it: it is pinned */
};

/* Where it has no name there, the pool's own in capitals. */
static const char *type_of_pool(const char *pool)
{
    for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++)
        if (strcmp(known_types[i].pool, pool) == 0)
            return known_types[i].type;
    return pool;
}

static void copy_upper(char *to, const char *from)
{
    size_t i = 0;

    for (; from[i] && i + 1 < type_most_bytes; i++)
        to[i] = (char)(from[i] >= 'a' && from[i] <= 'z' ? from[i] - 'a' + 'A' : from[i]);
    to[i] = 0;
}

static bool ledgers_init(struct rows *rows)
{
    const struct question *question = rows->question;

    rows->ledger_count = tally_ledger_count(question->tally);
    rows->ledgers = calloc(rows->ledger_count + 1, sizeof(*rows->ledgers));
    for (size_t i = 0; rows->ledgers && i < rows->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        const char *pool =
            model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));

        copy_upper(rows->ledgers[i].type, type_of_pool(pool));
        rows->ledgers[i].is_driver = strcmp(pool, "hal") == 0;
        rows->ledgers[i].is_pinned =
            strcmp(pool, "host_pinned") == 0 || strcmp(pool, "hal_host") == 0;
        rows->ledgers[i].is_host = strncmp(pool, "host", 4) == 0 || ledger->kind == LEDGER_HOST ||
                                   rows->ledgers[i].is_pinned;
    }
    return rows->ledgers != NULL;
}

/* --- rows ---------------------------------------------------------------------------------- */

static void send(struct rows *rows, struct memscope_row *row)
{
    row->id = rows->next_id++;
    if (rows->result == MT_OK)
        rows->result = rows->sink->row(rows->sink->context, row, rows->error);
}

static void send_held(struct rows *rows)
{
    if (rows->is_holding)
        send(rows, &rows->held);
    rows->is_holding = false;
}

static int32_t device_of(const struct rows *rows, const struct ledger_state *state, int32_t device)
{
    (void)rows;
    if (state && state->is_host)
        return MEMSCOPE_DEVICE_CPU;
    return device >= 0 ? device : MEMSCOPE_DEVICE_NONE;
}

static struct memscope_row row_start(const struct rows *rows, const char *event, const char *type,
                                     uint64_t time_ns, uint32_t thread)
{
    return (struct memscope_row){
        .event = event,
        .type = type,
        .time_ns = rows->base_ns + time_ns,
        .process_id = rows->process_id,
        .thread_id = model_thread_at(rows->question->model, thread)->thread_id,
        .device = MEMSCOPE_DEVICE_NONE,
        .python_stack = "",
        .c_stack = "",
    };
}

/* What the process uses first: rows of no device go there, as the tool has them. */
static int32_t main_device(const struct rows *rows)
{
    for (size_t i = 0; i < rows->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(rows->question->tally, i);

        if (ledger->process == rows->process && ledger->device >= 0)
            return ledger->device;
    }
    return MEMSCOPE_DEVICE_NONE;
}

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
static void add_owner(struct rows *rows, struct memscope_row *row,
                      const struct group_detail *detail, int32_t module_id)
{
    const char *module = module_id >= 0 ? driver_module_name((uint32_t)module_id) : NULL;

    if (detail->owner_text) {
        memscope_text(row, "owner", model_text_at(rows->question->model, detail->owner_text));
    } else if (module) {
        snprintf(rows->held_owner, sizeof(rows->held_owner), "CANN@%s", module);
        memscope_text(row, "owner", rows->held_owner);
    }
}

static struct memscope_row block_row(struct rows *rows, const char *event, const struct life *life,
                                     uint64_t time_ns, uint32_t thread)
{
    const struct ledger_state *state = &rows->ledgers[life->ledger];
    struct memscope_row row = row_start(rows, event, state->type, time_ns, thread);

    row.device =
        device_of(rows, state, tally_ledger_at(rows->question->tally, life->ledger)->device);
    row.has_pointer = true;
    row.pointer = life->address;
    memscope_number(&row, "allocation_id", life->index + 1);
    memscope_address(&row, "addr", life->address);
    memscope_number(&row, "size", life->size_bytes);
    return row;
}

static void hold(struct rows *rows, const struct memscope_row *row, uint16_t ledger,
                 uint64_t time_ns)
{
    rows->held = *row;
    rows->is_holding = true;
    rows->held_ledger = ledger;
    rows->held_time_ns = time_ns;
}

/* A pool of a device says what it handed out and what it holds; the driver has no pool; of the
 * host's memory one sum is told. */
static void add_sums(struct rows *rows, struct memscope_row *row, const struct ledger_state *state)
{
    rows->held_total = 0;
    if (state->is_pinned)
        memscope_text(row, "pinned", "true");
    if (state->is_host && !state->is_pinned) {
        memscope_number(row, "total", state->used_bytes);
        return;
    }
    memscope_number(row, "used", state->used_bytes);
    if (state->is_driver || state->is_pinned)
        return;
    rows->held_total = row->attribute_count;
    memscope_number(row, "total", state->total_bytes);
}

/* --- blocks -------------------------------------------------------------------------------- */

static bool on_born(void *context, const struct life *life)
{
    struct rows *rows = context;
    const struct group_detail *detail = tally_detail_at(rows->question->tally, life->group);
    struct mt_place place = model_place_at(rows->question->model, detail->place);
    struct ledger_state *state = &rows->ledgers[life->ledger];
    struct live_block block = {.address = life->address,
                               .size_bytes = life->size_bytes,
                               .group = life->group,
                               .birth = (uint32_t)(life->index + 1)};
    struct memscope_row row;

    send_held(rows);
    if (!live_set_put(&rows->live, live_hash(life->address), &block)) {
        rows->result = mt_error_set(rows->error, MT_NO_MEMORY, "no memory for live blocks");
        return false;
    }
    state->used_bytes += life->size_bytes;
    row = block_row(rows, "MALLOC", life, life->born_ns, life->thread);
    add_sums(rows, &row, state);
    add_owner(rows, &row, detail, state->is_driver ? place.module : -1);
    if (state->is_driver) {
        memscope_text(&row, "page_type", page_name(place.page));
        memscope_text(&row, "alloc_type", place.flags & MT_PLACE_HANDLE ? "create" : "alloc");
    }
    memscope_stacks_of(&rows->stacks, detail->site, &row.python_stack, &row.c_stack);
    hold(rows, &row, life->ledger, life->born_ns);
    return rows->result == MT_OK;
}

/* A block of this pool at the address; its bucket is NULL when there is none. */
static struct live_place find_block(const struct rows *rows, uint64_t address, uint16_t pool)
{
    struct live_place place = live_set_find(&rows->live, live_hash(address), address);

    while (place.bucket &&
           tally_detail_at(rows->question->tally, place.bucket->group[place.slot])->pool != pool)
        place = live_set_find_next(&rows->live, address, place);
    return place;
}

/* The tool frees on paper, at the end, what the program did not. */
static bool on_over(void *context, const struct life *life)
{
    struct rows *rows = context;
    const struct group_detail *detail = tally_detail_at(rows->question->tally, life->group);
    struct ledger_state *state = &rows->ledgers[life->ledger];
    bool is_freed = life->freed_event != 0;
    uint64_t end_ns = rows->newest_ns > life->born_ns ? rows->newest_ns : life->born_ns + 1;
    uint64_t time_ns = is_freed ? life->freed_ns : end_ns;
    struct live_place place = find_block(rows, life->address, detail->pool);
    struct memscope_row row;

    send_held(rows);
    if (place.bucket)
        live_set_take(&rows->live, live_hash(life->address), place);
    row = block_row(rows, "FREE", life, time_ns, is_freed ? life->freeing_thread : life->thread);
    if (is_freed) {
        state->used_bytes -= life->size_bytes;
        add_sums(rows, &row, state);
        hold(rows, &row, life->ledger, time_ns);
    } else {
        memscope_text(&row, "shadow", "true");
        send(rows, &row);
    }
    return rows->result == MT_OK;
}

/* --- other events -------------------------------------------------------------------------- */

static void on_reserved(struct rows *rows, const struct event *event)
{
    struct ledger_state *state;
    bool is_first;
    uint16_t ledger;

    if (!tally_ledger_find(rows->question->tally, event->process, event->pool, event->place,
                           &ledger))
        return;
    state = &rows->ledgers[ledger];
    /* MindSpore tells the size of its pool behind the first block of it. */
    is_first = !state->total_bytes;
    state->total_bytes = event->value;
    if (rows->is_holding && rows->held_ledger == ledger && rows->held_total &&
        (is_first || rows->held_time_ns == event->time_ns))
        rows->held.attributes[rows->held_total].number = event->value;
}

/* Operators of ATB have a prefix, and a type of their own. */
static void send_operator(struct rows *rows, const struct event *event)
{
    static const char prefix[] = "atb::";
    bool is_begin = event->kind == EVENT_OPERATOR_BEGIN;
    const char *name = model_text_at(rows->question->model, event->text);
    bool is_atb = strncmp(name, prefix, sizeof(prefix) - 1) == 0;
    struct memscope_row row = row_start(rows, "OP_LAUNCH", is_begin ? "ATEN_START" : "ATEN_END",
                                        event->time_ns, event->thread);
    int32_t device = model_place_at(rows->question->model, event->place).device;

    if (is_atb)
        row.type = is_begin ? "ATB_START" : "ATB_END";
    row.name = event->text ? name + (is_atb ? sizeof(prefix) - 1 : 0) : NULL;
    row.device = device >= 0 ? device : main_device(rows);
    send(rows, &row);
}

static void send_named(struct rows *rows, const struct event *event, const char *group,
                       const char *type)
{
    struct memscope_row row = row_start(rows, group, type, event->time_ns, event->thread);
    int32_t device = model_place_at(rows->question->model, event->place).device;

    row.name = event->text ? model_text_at(rows->question->model, event->text) : NULL;
    row.device = device >= 0 ? device : main_device(rows);
    send(rows, &row);
}

static void send_mstx(struct rows *rows, const struct event *event, const char *type,
                      const char *name)
{
    struct memscope_row row = row_start(rows, "MSTX", type, event->time_ns, event->thread);

    row.name = name;
    row.name_is_quoted = true;
    row.device = main_device(rows);
    send(rows, &row);
}

static void range_begin(struct rows *rows, const struct event *event, bool is_step)
{
    if (rows->range_count == rows->range_capacity) {
        size_t capacity = rows->range_capacity ? rows->range_capacity * 2 : 16;
        struct open_range *larger = realloc(rows->ranges, capacity * sizeof(*larger));

        if (!larger) {
            rows->result = mt_error_set(rows->error, MT_NO_MEMORY, "no memory for open ranges");
            return;
        }
        rows->ranges = larger;
        rows->range_capacity = capacity;
    }
    rows->ranges[rows->range_count++] =
        (struct open_range){is_step ? event->value : event->address, ++rows->begun_ranges, is_step};
    send_mstx(rows, event, "Range_start",
              is_step ? "step start" : model_text_at(rows->question->model, event->text));
}

/* An end without a beginning is not told. */
static void range_end(struct rows *rows, const struct event *event, bool is_step)
{
    uint64_t id = is_step ? event->value : event->address;
    char name[48];

    for (size_t i = rows->range_count; i-- > 0;) {
        if (rows->ranges[i].is_step != is_step || rows->ranges[i].id != id)
            continue;
        snprintf(name, sizeof(name), "Range end from id %llu",
                 (unsigned long long)rows->ranges[i].number);
        rows->ranges[i] = rows->ranges[--rows->range_count];
        send_mstx(rows, event, "Range_end", name);
        return;
    }
}

/* Rows of the tool itself, when the recording came from it. */
static bool is_of_system(const char *name)
{
    static const char *const names[] = {"ACL_INIT", "ACL_FINI", "START_TRACE", "STOP_TRACE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Only the beginning and the end of the runtime are told. */
static void on_device(struct rows *rows, const struct event *event)
{
    static const struct {
        const char *call, *type;
    } calls[] = {{"aclInit", "ACL_INIT"}, {"aclFinalize", "ACL_FINI"}};
    const char *name = model_text_at(rows->question->model, event->text);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(name, calls[i].call) == 0) {
            struct memscope_row row =
                row_start(rows, "SYSTEM", calls[i].type, event->time_ns, event->thread);

            send(rows, &row);
        }
}

static void on_mark(struct rows *rows, const struct event *event)
{
    const char *name = model_text_at(rows->question->model, event->text);
    struct memscope_row row;

    if (!is_of_system(name)) {
        send_mstx(rows, event, "Mark", name);
        return;
    }
    row = row_start(rows, "SYSTEM", name, event->time_ns, event->thread);
    send(rows, &row);
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

    if (!blank || length >= type_most_bytes)
        return;
    memcpy(dtype, tensor, length);
    dtype[length] = 0;
    memscope_text(row, "dtype", dtype);
    memscope_text(row, "shape", blank + 1);
}

static void on_access(struct rows *rows, const struct event *event)
{
    struct memscope_row row =
        row_start(rows, "ACCESS", access_type(event->flags), event->time_ns, event->thread);
    char dtype[type_most_bytes];
    struct live_place place = find_block(rows, event->address, event->pool);
    const struct ledger_state *state;
    uint16_t ledger;

    if (!place.bucket)
        return; /* readers join it with its block */
    ledger = tally_group_at(rows->question->tally, place.bucket->group[place.slot])->ledger;
    state = &rows->ledgers[ledger];
    row.name = event->text ? model_text_at(rows->question->model, event->text) : NULL;
    row.device = device_of(rows, state, tally_ledger_at(rows->question->tally, ledger)->device);
    row.has_pointer = true;
    row.pointer = event->address;
    memscope_number(&row, "allocation_id", place.bucket->birth[place.slot]);
    memscope_address(&row, "addr", event->address);
    memscope_number(&row, "size", event->value);
    memscope_text(&row, "type", state->type);
    if (event->detail)
        add_tensor(&row, model_text_at(rows->question->model, event->detail), dtype);
    send(rows, &row);
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

static void on_failed_alloc(struct rows *rows, const struct event *event)
{
    struct memscope_row row =
        row_start(rows, "OOM_DETAIL", "OOM_TRIGGER", event->time_ns, event->thread);
    struct mt_place place = model_place_at(rows->question->model, event->place);
    const char *pool = model_text_at(rows->question->model,
                                     model_pool_name_at(rows->question->model, event->pool));

    row.name = "OOM_Trigger";
    row.device = place.device >= 0 ? place.device : main_device(rows);
    if (strcmp(pool, "hal") == 0)
        pool = place.flags & MT_PLACE_HANDLE ? "halMemCreate" : "halMemAlloc";
    memscope_text(&row, "func", pool);
    memscope_number(&row, "req_size", event->value);
    memscope_number(&row, "flag", driver_flag(place));
    memscope_stacks_of(&rows->stacks, event->site, &row.python_stack, &row.c_stack);
    send(rows, &row);
}

/* Of a block that is older than the recording: a row without an alloc. */
static void on_free(struct rows *rows, const struct event *event)
{
    struct ledger_state *state;
    struct memscope_row row;
    uint16_t ledger;

    if (find_block(rows, event->address, event->pool).bucket ||
        !tally_ledger_find(rows->question->tally, event->process, event->pool, event->place,
                           &ledger))
        return;
    send_held(rows);
    state = &rows->ledgers[ledger];
    row = row_start(rows, "FREE", state->type, event->time_ns, event->thread);
    row.device = device_of(rows, state, tally_ledger_at(rows->question->tally, ledger)->device);
    row.has_pointer = true;
    row.pointer = event->address;
    memscope_address(&row, "addr", event->address);
    memscope_number(&row, "size", event->value);
    send(rows, &row);
}

static void on_other(struct rows *rows, const struct event *event)
{
    switch (event->kind) {
    case EVENT_OPERATOR_BEGIN:
    case EVENT_OPERATOR_END:
        send_operator(rows, event);
        break;
    case EVENT_LAUNCH:
        send_named(rows, event, "KERNEL_LAUNCH", "KERNEL_LAUNCH");
        break;
    case EVENT_STEP_BEGIN:
        if (!event->address) /* else it is a range, which has a row of its own */
            range_begin(rows, event, true);
        break;
    case EVENT_RANGE_BEGIN:
        range_begin(rows, event, false);
        break;
    case EVENT_DEVICE:
        on_device(rows, event);
        break;
    case EVENT_RANGE_END:
    case EVENT_STEP_END:
        range_end(rows, event, event->kind == EVENT_STEP_END);
        break;
    case EVENT_MARK:
        on_mark(rows, event);
        break;
    case EVENT_ACCESS:
        on_access(rows, event);
        break;
    case EVENT_ALLOC_FAILED:
        on_failed_alloc(rows, event);
        break;
    default:
        break;
    }
}

static void process_begin(struct rows *rows, const struct event *event)
{
    const struct model_process *process = model_process_at(rows->request->model, event->process);

    rows->has_process = true;
    rows->process = event->process;
    /* Where the recording does not tell: a number that keeps processes apart. */
    rows->process_id = process->process_id ? process->process_id : event->process + 1u;
    rows->base_ns = export_realtime_base(process);
    if (!rows->base_ns)
        rows->base_ns = 1; /* readers want times greater than 0 */
    rows->range_count = 0;
    rows->begun_ranges = 0;
}

static bool on_event(void *context, const struct event *event)
{
    struct rows *rows = context;

    if (!rows->has_process || rows->process != event->process)
        process_begin(rows, event);
    rows->newest_ns = event->time_ns;
    switch (event->kind) {
    case EVENT_ALLOC:
    case EVENT_TAG_BEGIN:
    case EVENT_TAG_END:
    case EVENT_SAMPLE:
    case EVENT_SEGMENT:
    case EVENT_SEGMENT_GONE:
    case EVENT_FREE_WAITS:
        break;
    case EVENT_FREE:
        on_free(rows, event);
        break;
    case EVENT_RESERVED:
        on_reserved(rows, event);
        break;
    default:
        send_held(rows);
        on_other(rows, event);
    }
    return rows->result == MT_OK;
}

/* Blocks that are left end with the process. */
static bool on_process_over(void *context, uint16_t process)
{
    struct rows *rows = context;
    uint64_t end_ns = model_process_at(rows->request->model, process)->end_ns;

    send_held(rows);
    if (end_ns > rows->newest_ns)
        rows->newest_ns = end_ns;
    return true;
}

enum mt_result memscope_rows_read(const struct export_request *request,
                                  const struct memscope_sink *sink, struct mt_error *error)
{
    struct rows rows = {
        .request = request, .question = request->question, .sink = sink, .error = error};
    const struct life_visitor visitor = {
        .context = &rows,
        .born = on_born,
        .over = on_over,
        .event = on_event,
        .process_over = on_process_over,
    };
    struct mt_error trouble = {{0}};
    enum mt_result result = MT_NO_MEMORY;

    memscope_stacks_init(&rows.stacks, request->question);
    if (ledgers_init(&rows) && live_set_init(&rows.live)) {
        result = lives_read(request->question->events, request->model, &visitor, &trouble);
        send_held(&rows);
    } else {
        mt_error_set(&trouble, MT_NO_MEMORY, "no memory for ledgers");
    }
    if (rows.result == MT_OK && result != MT_OK)
        rows.result = mt_error_set(error, result, "%s", trouble.message);
    memscope_stacks_release(&rows.stacks);
    live_set_release(&rows.live);
    free(rows.ledgers);
    free(rows.ranges);
    return rows.result;
}
