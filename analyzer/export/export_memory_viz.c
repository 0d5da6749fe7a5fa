/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as JSON for PyTorch's viewer, pytorch.org/memory_viz.
 *
 * Each ledger is a device there, in the order of `memtide_ledgers`; the recording is read once for
 * each. Every alloc has as its category what is thought of its site, and the viewer colours by it.
 * The viewer wants each block inside a segment, so there is one around all blocks of a ledger; and
 * when there are categories, one must be called "unknown".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "growth.h"
#include "json_text.h"
#include "labels.h"
#include "lives.h"
#include "origins.h"

#include "export.h"

/* Addresses that are numbers of rows are spread, so that blocks do not overlap. */
enum { row_shift = 32 };

struct viz_block {
    uint64_t address, size_bytes;
    uint32_t group;
};

struct viz {
    const struct export_request *request;
    const struct question *question;
    struct text_builder text;
    const char **categories; /* by group */
    bool has_segments, has_failed;
    /* Of the ledger that is being written. */
    uint16_t ledger;
    bool has_events, blocks_are_rows;
    uint64_t low_address, high_address;
    struct viz_block *left; /* alive at the end */
    size_t left_count, left_capacity;
};

/* --- categories ---------------------------------------------------------------------------- */

static bool judge_groups(struct viz *viz)
{
    size_t count = tally_group_count(viz->question->tally);
    struct judged_list list = {0};
    struct origins origins;
    bool is_good;

    viz->categories = calloc(count + 1, sizeof(*viz->categories));
    if (!viz->categories || !origins_init(&origins, viz->question, false))
        return false;
    is_good = growth_judge(viz->question, &origins, &list);
    for (size_t i = 0; is_good && i < list.count; i++)
        for (size_t g = 0; g < list.rows[i].origin->group_count; g++)
            viz->categories[list.rows[i].origin->groups[g]] =
                step_verdict_name(list.rows[i].judgement.verdict);
    growth_release(&list);
    origins_release(&origins);
    return is_good;
}

/* Where nothing is thought of it: is anything of it left? */
static const char *category_of(const struct viz *viz, uint32_t group)
{
    if (viz->categories[group])
        return viz->categories[group];
    return tally_group_at(viz->question->tally, group)->live_count ? "not released" : "released";
}

/* --- events -------------------------------------------------------------------------------- */

static void flush_text(struct viz *viz)
{
    fwrite(text_get(&viz->text), 1, viz->text.size_bytes, viz->request->out);
    viz->has_failed |= viz->text.has_failed;
    text_clear(&viz->text);
}

static void add_frame(struct viz *viz, const char *name, const char *file, uint32_t line)
{
    text_add(&viz->text, "{\"name\":");
    text_add_json(&viz->text, name);
    text_add(&viz->text, ",\"filename\":");
    text_add_json(&viz->text, file);
    text_add_format(&viz->text, ",\"line\":%" PRIu32 "}", line);
}

static void add_frames(struct viz *viz, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(viz->question->tally, group);
    const struct symbol_frame *frames;
    size_t count;

    frames = symbols_frames(viz->question->symbols, detail->site, &count);
    text_add(&viz->text, ",\"frames\":[");
    if (detail->operator_text) {
        add_frame(viz, model_text_at(viz->question->model, detail->operator_text), "operator", 0);
        text_add(&viz->text, count ? "," : "");
    }
    for (size_t i = 0; i < count; i++) {
        text_add(&viz->text, i ? "," : "");
        add_frame(viz, frames[i].function, *frames[i].file ? frames[i].file : frames[i].module,
                  frames[i].line);
    }
    text_add(&viz->text, "]");
}

static uint64_t address_of(const struct viz *viz, const struct life *life)
{
    return viz->blocks_are_rows ? life->address << row_shift : life->address;
}

static void put_action(struct viz *viz, const char *action, const struct life *life,
                       uint64_t time_ns)
{
    text_add_format(&viz->text,
                    "%s\n{\"action\":\"%s\",\"addr\":%" PRIu64 ",\"size\":%" PRIu64
                    ",\"stream\":0,\"time_us\":%" PRIu64,
                    viz->has_events ? "," : "", action, address_of(viz, life), life->size_bytes,
                    time_ns / 1000);
    viz->has_events = true;
}

static bool on_born(void *context, const struct life *life)
{
    struct viz *viz = context;
    uint64_t address = address_of(viz, life);

    if (life->ledger != viz->ledger)
        return true;
    if (address < viz->low_address)
        viz->low_address = address;
    if (address + life->size_bytes > viz->high_address)
        viz->high_address = address + life->size_bytes;
    put_action(viz, "alloc", life, life->born_ns);
    text_add(&viz->text, ",\"category\":");
    text_add_json(&viz->text, category_of(viz, life->group));
    add_frames(viz, life->group);
    text_add(&viz->text, "}");
    flush_text(viz);
    return !viz->has_failed;
}

static bool keep_left(struct viz *viz, const struct life *life)
{
    if (viz->left_count == viz->left_capacity) {
        size_t capacity = viz->left_capacity ? viz->left_capacity * 2 : 1024;
        struct viz_block *larger = realloc(viz->left, capacity * sizeof(*larger));

        if (!larger)
            return false;
        viz->left = larger;
        viz->left_capacity = capacity;
    }
    viz->left[viz->left_count++] =
        (struct viz_block){address_of(viz, life), life->size_bytes, life->group};
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct viz *viz = context;

    if (life->ledger != viz->ledger)
        return true;
    if (!life->freed_event) {
        viz->has_failed |= !keep_left(viz, life);
        return !viz->has_failed;
    }
    put_action(viz, "free_requested", life, life->freed_ns);
    text_add(&viz->text, ",\"frames\":[]}");
    put_action(viz, "free_completed", life, life->freed_ns);
    text_add(&viz->text, ",\"frames\":[]}");
    flush_text(viz);
    return !viz->has_failed;
}

/* --- segments ------------------------------------------------------------------------------ */

static int block_compare(const void *left, const void *right)
{
    const struct viz_block *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static void add_gap(struct viz *viz, uint64_t address, uint64_t size_bytes, bool is_first)
{
    text_add_format(&viz->text,
                    "%s\n{\"address\":%" PRIu64 ",\"size\":%" PRIu64
                    ",\"requested_size\":0,\"state\":\"inactive\",\"frames\":[]}",
                    is_first ? "" : ",", address, size_bytes);
}

/* Blocks stand side by side in a segment: what is between them is inactive. */
static void put_blocks(struct viz *viz)
{
    uint64_t address = viz->low_address;
    bool is_first = true;

    for (size_t i = 0; i < viz->left_count; i++) {
        const struct viz_block *block = &viz->left[i];

        if (block->address < address)
            continue; /* within the one before: a handle, or a number of another kind */
        if (block->address > address) {
            add_gap(viz, address, block->address - address, is_first);
            is_first = false;
        }
        text_add_format(&viz->text,
                        "%s\n{\"address\":%" PRIu64 ",\"size\":%" PRIu64
                        ",\"requested_size\":%" PRIu64 ",\"state\":\"active_allocated\"",
                        is_first ? "" : ",", block->address, block->size_bytes, block->size_bytes);
        add_frames(viz, block->group);
        text_add(&viz->text, "}");
        is_first = false;
        address = block->address + block->size_bytes;
        flush_text(viz);
    }
    if (address < viz->high_address)
        add_gap(viz, address, viz->high_address - address, is_first);
}

static void put_segment(struct viz *viz)
{
    uint64_t live_bytes = tally_ledger_at(viz->question->tally, viz->ledger)->live_bytes;

    if (viz->low_address > viz->high_address)
        return;
    if (viz->left_count)
        qsort(viz->left, viz->left_count, sizeof(*viz->left), block_compare);
    text_add_format(&viz->text,
                    "%s\n{\"device\":%u,\"address\":%" PRIu64 ",\"total_size\":%" PRIu64
                    ",\"allocated_size\":%" PRIu64 ",\"active_size\":%" PRIu64
                    ",\"requested_size\":%" PRIu64
                    ",\"stream\":0,\"segment_type\":\"large\",\"is_expandable\":true,\"frames\":[],"
                    "\"blocks\":[",
                    viz->has_segments ? "," : "", viz->ledger, viz->low_address,
                    viz->high_address - viz->low_address, live_bytes, live_bytes, live_bytes);
    viz->has_segments = true;
    put_blocks(viz);
    text_add(&viz->text, "]}");
    flush_text(viz);
}

/* --- all of it ----------------------------------------------------------------------------- */

struct viz_segment {
    uint64_t low_address, high_address;
    struct viz_block *left;
    size_t left_count;
};

static enum mt_result put_trace(struct viz *viz, uint16_t ledger, struct viz_segment *segment,
                                struct mt_error *error)
{
    const struct life_visitor visitor = {.context = viz, .born = on_born, .over = on_over};
    uint16_t process = tally_ledger_at(viz->question->tally, ledger)->process;
    enum mt_result result;

    viz->ledger = ledger;
    viz->blocks_are_rows = model_process_at(viz->request->model, process)->blocks_are_rows;
    viz->low_address = UINT64_MAX;
    viz->high_address = 0;
    viz->left = NULL;
    viz->left_count = viz->left_capacity = 0;
    fprintf(viz->request->out,
            "%s\n[{\"action\":\"snapshot\",\"addr\":0,\"size\":0,\"stream\":0,\"time_us\":0,"
            "\"category\":\"unknown\",\"frames\":[]}",
            ledger ? "," : "");
    viz->has_events = true;
    result = lives_read(viz->question->events, viz->request->model, &visitor, error);
    fputs("]", viz->request->out);
    *segment =
        (struct viz_segment){viz->low_address, viz->high_address, viz->left, viz->left_count};
    return result;
}

static void put_names(struct viz *viz)
{
    text_add(&viz->text, "{\"memtide_ledgers\":[");
    for (size_t i = 0; i < tally_ledger_count(viz->question->tally); i++) {
        text_add(&viz->text, i ? "," : "");
        text_add_json(&viz->text, label_ledger(viz->question, viz->request->labels, (uint16_t)i));
    }
    text_add(&viz->text, "],\"device_traces\":[");
    flush_text(viz);
}

static enum mt_result put_all(struct viz *viz, struct viz_segment *segments, struct mt_error *error)
{
    size_t count = tally_ledger_count(viz->question->tally);
    enum mt_result result = MT_OK;

    put_names(viz);
    for (size_t i = 0; i < count && result == MT_OK; i++)
        result = put_trace(viz, (uint16_t)i, &segments[i], error);
    fputs("],\"segments\":[", viz->request->out);
    for (size_t i = 0; i < count && result == MT_OK; i++) {
        viz->ledger = (uint16_t)i;
        viz->low_address = segments[i].low_address;
        viz->high_address = segments[i].high_address;
        viz->left = segments[i].left;
        viz->left_count = segments[i].left_count;
        put_segment(viz);
    }
    fputs("]}\n", viz->request->out);
    if (result == MT_OK && viz->has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    return result;
}

enum mt_result export_memory_viz(const struct export_request *request, struct mt_error *error)
{
    struct viz viz = {.request = request, .question = request->question};
    size_t count = tally_ledger_count(request->question->tally);
    struct viz_segment *segments = calloc(count + 1, sizeof(*segments));
    enum mt_result result;

    text_init(&viz.text);
    if (segments && judge_groups(&viz))
        result = put_all(&viz, segments, error);
    else
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to write a snapshot");
    for (size_t i = 0; segments && i < count; i++)
        free(segments[i].left);
    free(segments);
    free(viz.categories);
    text_release(&viz.text);
    return result;
}
