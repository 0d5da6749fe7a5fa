/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments for viewers of snapshots.
 */
#include "viz_segments.h"

#include <stdlib.h>

enum { granule_bytes = 2 << 20, shift_least = 9, shift_most = 32 };

/* What is known of a ledger while it is read. */
struct finding_ledger {
    struct viz_ledger result;
    struct range_set touched; /* by blocks */
    struct range_set wide;    /* what was ever told, with the blocks beside it */
    bool has_told;
    bool blocks_are_rows;
    uint64_t largest_bytes, last_index;
};

struct segment_finding {
    const struct export_request *request;
    struct finding_ledger *ledgers;
    bool has_failed;
};

bool viz_ledger_of(const struct export_request *request, const struct event *event,
                   uint16_t *ledger)
{
    return tally_ledger_find(request->question->tally, event->process, event->pool, event->place,
                             ledger);
}

static struct range range_of(uint64_t address, uint64_t size_bytes)
{
    return (struct range){address,
                          size_bytes > UINT64_MAX - address ? UINT64_MAX : address + size_bytes};
}

/* --- reading ------------------------------------------------------------------------------- */

/* What is in no segment cannot be drawn in one. */
static bool check_inside(struct viz_ledger *ledger, uint64_t address)
{
    size_t row = range_set_find(&ledger->segments, address);
    bool is_inside = row < ledger->segments.count && ledger->segments.rows[row].from <= address;

    ledger->is_told &= is_inside;
    return is_inside;
}

/* One stretch with those that it overlaps. */
static bool widen(struct range_set *wide, struct range range)
{
    size_t row = range_set_find(wide, range.from);

    if (range.from >= range.to)
        return true;
    if (row < wide->count && wide->rows[row].from < range.from)
        range.from = wide->rows[row].from;
    row = range_set_find(wide, range.to - 1);
    if (row < wide->count && wide->rows[row].from < range.to && wide->rows[row].to > range.to)
        range.to = wide->rows[row].to;
    return range_set_add(wide, range);
}

/* One stretch with its neighbours. */
static bool touch(struct range_set *touched, struct range range)
{
    size_t row;

    range.from -= range.from % granule_bytes;
    if (range.to <= UINT64_MAX - granule_bytes)
        range.to += (granule_bytes - range.to % granule_bytes) % granule_bytes;
    row = range_set_find(touched, range.from ? range.from - 1 : 0);
    if (row < touched->count && touched->rows[row].from <= range.from)
        range.from = touched->rows[row].from;
    if (row < touched->count && touched->rows[row].from <= range.from &&
        touched->rows[row].to >= range.to)
        return true;
    row = range_set_find(touched, range.to);
    if (row < touched->count && touched->rows[row].from <= range.to)
        range.to = touched->rows[row].to;
    return range_set_add(touched, range);
}

static bool on_born(void *context, const struct life *life)
{
    struct segment_finding *finding = context;
    struct finding_ledger *ledger = &finding->ledgers[life->ledger];

    if (life->size_bytes > ledger->largest_bytes)
        ledger->largest_bytes = life->size_bytes;
    ledger->last_index = life->index;
    if (!ledger->blocks_are_rows) {
        struct range block = range_of(life->address, life->size_bytes + !life->size_bytes);

        finding->has_failed |= !touch(&ledger->touched, block);
        if (!check_inside(&ledger->result, life->address))
            finding->has_failed |= !widen(&ledger->wide, block);
    } else {
        check_inside(&ledger->result, life->address);
    }
    return !finding->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct segment_finding *finding = context;

    check_inside(&finding->ledgers[life->ledger].result, life->address);
    return true;
}

static bool on_event(void *context, const struct event *event)
{
    struct segment_finding *finding = context;
    struct range range = range_of(event->address, event->value);
    struct viz_ledger *ledger;
    uint16_t index;

    if (!viz_ledger_of(finding->request, event, &index))
        return true;
    ledger = &finding->ledgers[index].result;
    ledger->is_mapped |= (event->flags & EVENT_IS_MAPPED) != 0;
    if (event->kind == EVENT_SEGMENT) {
        finding->ledgers[index].has_told = true;
        finding->has_failed |= !range_set_add(&ledger->segments, range) ||
                               !widen(&finding->ledgers[index].wide, range);
    } else {
        finding->has_failed |= !range_set_remove(&ledger->segments, range);
    }
    return !finding->has_failed;
}

/* --- what is made of it -------------------------------------------------------------------- */

uint64_t viz_address(const struct viz_ledger *ledger, const struct life *life)
{
    return ledger->row_shift ? (life->index + 1) << ledger->row_shift : life->address;
}

/* So far that no row reaches the next. */
static unsigned shift_of(uint64_t largest_bytes)
{
    unsigned shift = shift_least;

    while (shift < shift_most && (largest_bytes - 1) >> shift)
        shift++;
    return shift;
}

static bool make_up(struct finding_ledger *ledger)
{
    struct viz_ledger *result = &ledger->result;

    range_set_release(&result->segments);
    if (ledger->has_told && !ledger->blocks_are_rows) { /* they do not hold all blocks */
        result->segments = ledger->wide;
        range_set_init(&ledger->wide);
        return true;
    }
    result->is_mapped = true;
    if (!ledger->blocks_are_rows) {
        result->segments = ledger->touched;
        range_set_init(&ledger->touched);
        return true;
    }
    if (!ledger->largest_bytes)
        return true;
    result->row_shift = shift_of(ledger->largest_bytes);
    return range_set_add(&result->segments,
                         (struct range){UINT64_C(1) << result->row_shift,
                                        (ledger->last_index + 2) << result->row_shift});
}

/* Pages of a mapping go on in their neighbours: they are one segment. */
static void join_neighbours(struct range_set *segments)
{
    size_t count = 0;

    for (size_t i = 0; i < segments->count; i++)
        if (count && segments->rows[count - 1].to == segments->rows[i].from)
            segments->rows[count - 1].to = segments->rows[i].to;
        else
            segments->rows[count++] = segments->rows[i];
    segments->count = count;
}

static struct finding_ledger *begin(const struct export_request *request)
{
    const struct tally *tally = request->question->tally;
    size_t count = tally_ledger_count(tally);
    struct finding_ledger *ledgers = calloc(count + 1, sizeof(*ledgers));

    for (size_t i = 0; ledgers && i < count; i++) {
        uint16_t process = tally_ledger_at(tally, i)->process;

        ledgers[i].result.is_told = true; /* until a block is found in none */
        ledgers[i].blocks_are_rows = model_process_at(request->model, process)->blocks_are_rows;
    }
    return ledgers;
}

/* What was found, and the findings are gone. */
static struct viz_ledger *finish(struct finding_ledger *ledgers, size_t count)
{
    struct viz_ledger *results = calloc(count + 1, sizeof(*results));
    bool is_good = results != NULL;

    for (size_t i = 0; i < count; i++) {
        if (is_good && !ledgers[i].result.is_told)
            is_good = make_up(&ledgers[i]);
        if (ledgers[i].result.is_mapped)
            join_neighbours(&ledgers[i].result.segments);
        range_set_release(&ledgers[i].touched);
        range_set_release(&ledgers[i].wide);
        if (results)
            results[i] = ledgers[i].result;
        else
            range_set_release(&ledgers[i].result.segments);
    }
    free(ledgers);
    if (is_good)
        return results;
    viz_segments_destroy(results, count);
    return NULL;
}

enum mt_result viz_segments_create(const struct export_request *request, struct viz_ledger **out,
                                   struct mt_error *error)
{
    struct segment_finding finding = {.request = request, .ledgers = begin(request)};
    const struct life_visitor visitor = {
        .context = &finding,
        .born = on_born,
        .over = on_over,
        .event = on_event,
        .event_kinds = 1u << EVENT_SEGMENT | 1u << EVENT_SEGMENT_GONE,
    };
    struct viz_ledger *ledgers = NULL;
    enum mt_result result = MT_NO_MEMORY;

    if (finding.ledgers) {
        result = lives_read(request->question->events, request->model, &visitor, error);
        ledgers = finish(finding.ledgers, tally_ledger_count(request->question->tally));
    }
    if (result == MT_NO_MEMORY || finding.has_failed || !ledgers)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for segments");
    if (result != MT_OK) {
        viz_segments_destroy(ledgers, tally_ledger_count(request->question->tally));
        return result;
    }
    *out = ledgers;
    return MT_OK;
}

void viz_segments_destroy(struct viz_ledger *ledgers, size_t count)
{
    for (size_t i = 0; ledgers && i < count; i++)
        range_set_release(&ledgers[i].segments);
    free(ledgers);
}
