/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of the host heap, by place and block by block.
 */
#define _GNU_SOURCE
#include "host_leaks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "export.h"
#include "leak_index.h"
#include "leaktide/invariant.h"
#include "lives.h"
#include "memscope_stacks.h"
#include "outlet.h"
#include "trace_question.h"

#define SECOND_NS 1e9

/* One place in the program. */
struct place {
    struct leak_series series;
    uint64_t alloc_bytes, alloc_count, freed_bytes, freed_count, live_bytes, live_count;
    double freed_life_s, live_age_s; /* sums */
    uint64_t newest_live_ns;
    uint32_t site;
    struct leak_index index;
};

struct left_block {
    uint64_t address, size_bytes, born_ns;
    uint32_t site;
};

struct search {
    const struct host_leaks *what;
    struct outlet *overview, *blocks_out; /* of its files */
    const struct question *question;
    struct place *places; /* by site */
    size_t place_count;
    struct left_block *blocks;
    size_t block_count, block_capacity;
    uint64_t base_ns, end_ns, last_beat;
    uint64_t older_count; /* frees of blocks that are older than the recording */
    uint64_t small_count;
    bool has_failed;
    struct memscope_stacks stacks;
};

/* Up to these sizes; the last is open. */
static const uint64_t edges[] = {256, 1024, 4096, 32768, 262144, 1048576, UINT64_MAX};
static const char *const edge_names[] = {"up to 256 B",  "up to 1 KiB",   "up to 4 KiB",
                                         "up to 32 KiB", "up to 256 KiB", "up to 1 MiB",
                                         "larger"};
enum { edge_count = sizeof(edges) / sizeof(edges[0]), TOP = 10 };

/* --- reading ------------------------------------------------------------------------------------
 */

static bool is_host(const struct search *search, uint16_t ledger)
{
    const struct model *model = search->question->model;
    uint16_t pool = tally_ledger_at(search->question->tally, ledger)->pool;

    return model_pool_at(model, pool)->id == POOL_HOST;
}

static struct place *place_of(struct search *search, const struct life *life)
{
    uint32_t site = tally_detail_at(search->question->tally, life->group)->site;

    if (!is_host(search, life->ledger))
        return NULL;
    if (life->size_bytes < search->what->least_bytes) {
        search->small_count++;
        return NULL;
    }
    return site < search->place_count ? &search->places[site] : NULL;
}

static uint64_t beat_of(uint64_t time_ns)
{
    return time_ns / (uint64_t)SECOND_NS;
}

/* A change counts from the beat after it. */
static void change(struct search *search, struct place *place, uint64_t time_ns)
{
    leak_series_change(&place->series, beat_of(time_ns) + 1, search->last_beat,
                       (double)place->live_bytes);
}

static bool on_born(void *context, const struct life *life)
{
    struct search *search = context;
    struct place *place = place_of(search, life);

    if (!place)
        return true;
    place->site = tally_detail_at(search->question->tally, life->group)->site;
    place->alloc_bytes += life->size_bytes;
    place->alloc_count++;
    place->live_bytes += life->size_bytes;
    place->live_count++;
    change(search, place, life->born_ns);
    return true;
}

static bool keep_block(struct search *search, const struct life *life, uint32_t site)
{
    if (search->block_count == search->block_capacity) {
        size_t capacity = search->block_capacity ? search->block_capacity * 2 : 1024;
        struct left_block *larger = realloc(search->blocks, capacity * sizeof(*larger));

        if (!larger)
            return false;
        search->blocks = larger;
        search->block_capacity = capacity;
    }
    search->blocks[search->block_count++] =
        (struct left_block){life->address, life->size_bytes, life->born_ns, site};
    return true;
}

static bool on_over(void *context, const struct life *life)
{
    struct search *search = context;
    struct place *place =
        life->size_bytes >= search->what->least_bytes ? place_of(search, life) : NULL;

    if (!place)
        return true;
    if (!life->freed_event) {
        place->live_age_s += (double)(search->end_ns - life->born_ns) / SECOND_NS;
        if (life->born_ns > place->newest_live_ns)
            place->newest_live_ns = life->born_ns;
        search->has_failed = !keep_block(search, life, place->site);
        return !search->has_failed;
    }
    place->freed_bytes += life->size_bytes;
    place->freed_count++;
    place->freed_life_s += (double)(life->freed_ns - life->born_ns) / SECOND_NS;
    place->live_bytes -= life->size_bytes;
    place->live_count--;
    change(search, place, life->freed_ns);
    return true;
}

/* --- judging ------------------------------------------------------------------------------------
 */

/* What came is what went and what is there. */
static void place_check(const struct place *place)
{
    MT_ASSERT(place->alloc_count == place->freed_count + place->live_count);
    MT_ASSERT(place->alloc_bytes == place->freed_bytes + place->live_bytes);
    MT_ASSERT(place->live_count || !place->live_bytes);
    MT_ASSERT(place->alloc_count || !place->site);
}

static void judge(const struct search *search, struct place *place)
{
    struct leak_facts facts = {
        .last_beat = search->last_beat,
        .alloc_bytes = (double)place->alloc_bytes,
        .live_bytes = (double)place->live_bytes,
        .live_count = (double)place->live_count,
        .freed_count = (double)place->freed_count,
        .live_age_s = place->live_count ? place->live_age_s / (double)place->live_count : 0,
        .freed_life_s = place->freed_count ? place->freed_life_s / (double)place->freed_count : 0,
        .newest_live_s = (double)place->newest_live_ns / SECOND_NS,
        .window_s = (double)search->end_ns / SECOND_NS,
    };

    place_check(place);
    leak_series_finish(&place->series, search->last_beat);
    place->index = leak_index_of(&place->series, &facts);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *first = *(struct place *const *)a, *second = *(struct place *const *)b;

    if (first->index.index != second->index.index)
        return first->index.index < second->index.index ? 1 : -1;
    return (first->live_bytes < second->live_bytes) - (first->live_bytes > second->live_bytes);
}

static int compare_blocks(const void *a, const void *b)
{
    const struct left_block *first = a, *second = b;

    if (first->size_bytes != second->size_bytes)
        return first->size_bytes < second->size_bytes ? 1 : -1;
    return (first->address > second->address) - (first->address < second->address);
}

/* --- writing ------------------------------------------------------------------------------------
 */

static void write_health(const struct search *search, size_t site_count)
{
    struct outlet *out = search->overview;
    uint64_t tracked = 0, unknown = 0;

    for (size_t i = 0; i < search->place_count; i++) {
        tracked += search->places[i].alloc_count;
        if (!i)
            unknown = search->places[i].alloc_count;
    }
    outlet_format(out,
                  "Data Health Analysis\n  Window %.3f s\n  Mode %s\n  Tracked %" PRIu64
                  " allocations\n  Distinct stacks %zu\n  Unattributed %" PRIu64
                  "\n  Truncated 0\n  Evicted 0\n  Overflow channel 0\n  Pre-window frees %" PRIu64
                  "\n  Sampling 1\n  Size threshold %" PRIu64 " B, %" PRIu64
                  " smaller blocks left out\n  Symbolized afterwards\n\n",
                  (double)search->end_ns / SECOND_NS, search->what->blocks ? "event" : "summary",
                  tracked, site_count, unknown, search->older_count, search->what->least_bytes,
                  search->small_count);
}

static void write_left(const struct search *search)
{
    struct outlet *out = search->overview;
    uint64_t counts[edge_count] = {0}, bytes[edge_count] = {0}, sum = 0;

    for (size_t i = 0; i < search->block_count; i++) {
        size_t edge = 0;

        while (search->blocks[i].size_bytes > edges[edge])
            edge++;
        counts[edge]++;
        bytes[edge] += search->blocks[i].size_bytes;
        sum += search->blocks[i].size_bytes;
    }
    outlet_format(out, "Total Unfreed\n  %" PRIu64 " B in %zu blocks\n\n", sum,
                  search->block_count);
    outlet_format(out, "Unfreed Block Size Distribution\n");
    for (size_t i = 0; i < edge_count; i++)
        outlet_format(out, "  %-14s %12" PRIu64 " blocks %16" PRIu64 " B\n", edge_names[i],
                      counts[i], bytes[i]);
    outlet_add(out, "\n");
}

static void write_stack(struct search *search, uint32_t site)
{
    const char *python, *native;

    memscope_stacks_of(&search->stacks, site, &python, &native);
    if (!*python && !*native)
        python = "(unresolved stack)";
    for (size_t i = 0; i < 2; i++)
        for (const char *line = i ? native : python; *line;) {
            size_t length = strcspn(line, "\n");

            outlet_format(search->overview, "       %.*s\n", (int)length, line);
            line += length + (line[length] != 0);
        }
}

static void write_place(struct search *search, size_t number, const struct place *place)
{
    const struct leak_index *index = &place->index;

    outlet_format(search->overview,
                  "  %zu. [%s] LSI %.0f  Growth %.2f  Release %.2f  Lifetime %.2f  Pattern %.2f  "
                  "Scale %.2f  unfreed/alloc %.2f\n"
                  "     unfreed %" PRIu64 "B(%" PRIu64 " blocks) | alloc %" PRIu64 "x%" PRIu64
                  "B, freed %" PRIu64 "x%" PRIu64 "B\n"
                  "     growth %.1fB/beat  pts %.0f  degraded -  stack 0x%" PRIx32 "\n",
                  number, index->is_suspected ? "suspected_leak" : "growth_watch", index->index,
                  index->growth, index->release, index->lifetime, index->pattern, index->scale,
                  index->release, place->live_bytes, place->live_count, place->alloc_count,
                  place->alloc_count ? place->alloc_bytes / place->alloc_count : 0,
                  place->freed_count,
                  place->freed_count ? place->freed_bytes / place->freed_count : 0, index->slope,
                  index->points, place->site);
    write_stack(search, place->site);
}

static void write_places(struct search *search, struct place **order, size_t count)
{
    struct outlet *out = search->overview;
    size_t shown = 0, resident_count = 0;
    uint64_t resident_bytes = 0;

    outlet_format(out, "TOP %d Leak Sites\n", TOP);
    for (size_t i = 0; i < count; i++) {
        if (order[i]->index.is_resident) {
            resident_count++;
            resident_bytes += order[i]->live_bytes;
        } else if (shown < TOP) {
            write_place(search, ++shown, order[i]);
        }
    }
    outlet_format(out, "%s\nResident baselines\n  %zu places, %" PRIu64 " B\n\n",
                  shown ? "" : "  none\n", resident_count, resident_bytes);
}

/* What we make of it: the index is the tool's. */
static void write_note(struct mt_trace *trace, struct outlet *out)
{
    struct mt_answer *answer = NULL;

    outlet_format(out, "NOTE\n  The index is that of msmemscope. What leaktide says:\n");
    if (mt_trace_ask(trace, "leaks", NULL, &answer, NULL) != MT_OK)
        return;
    for (size_t i = 0; i < mt_answer_verdict_count(answer); i++)
        outlet_format(out, "  %s\n", mt_answer_verdict_at(answer, i));
    mt_answer_close(answer);
}

static void write_blocks(struct search *search)
{
    struct outlet *out = search->blocks_out;

    outlet_format(out, "addr,size,alloc_ts,Call Stack(C),Call Stack(Python)\n");
    for (size_t i = 0; i < search->block_count; i++) {
        const struct left_block *block = &search->blocks[i];
        const char *python, *native;

        memscope_stacks_of(&search->stacks, block->site, &python, &native);
        outlet_format(out, "0x%016" PRIx64 ",%" PRIu64 ",%" PRIu64 ",", block->address,
                      block->size_bytes, search->base_ns + block->born_ns);
        outlet_words_for(out, FOR_CSV_LINES, *native ? native : "(unresolved stack)");
        outlet_add(out, ",");
        outlet_words_for(out, FOR_CSV_LINES, python);
        outlet_add(out, "\n");
    }
}

static bool write_all(struct search *search, struct mt_trace *trace)
{
    struct place **order = malloc((search->place_count + 1) * sizeof(*order));
    size_t count = 0, site_count = 0;

    if (!order)
        return false;
    for (size_t i = 0; i < search->place_count; i++) {
        site_count += search->places[i].alloc_count > 0;
        if (!search->places[i].live_count)
            continue;
        judge(search, &search->places[i]);
        order[count++] = &search->places[i];
    }
    qsort(order, count, sizeof(*order), compare_places);
    if (search->block_count)
        qsort(search->blocks, search->block_count, sizeof(*search->blocks), compare_blocks);
    write_health(search, site_count);
    write_left(search);
    write_places(search, order, count);
    write_note(trace, search->overview);
    if (search->what->blocks)
        write_blocks(search);
    free(order);
    return true;
}

/* --- all ----------------------------------------------------------------------------------------
 */

static bool has_host_heap(const struct search *search)
{
    for (size_t i = 0; i < tally_ledger_count(search->question->tally); i++)
        if (is_host(search, (uint16_t)i) &&
            tally_ledger_at(search->question->tally, i)->alloc_count)
            return true;
    return false;
}

static void count_older(struct search *search)
{
    const struct model *model = search->question->model;

    for (size_t i = 0; i < tally_baseline_count(search->question->tally); i++) {
        const struct baseline *baseline = tally_baseline_at(search->question->tally, i);

        if (model_pool_at(model, baseline->pool)->id == POOL_HOST)
            search->older_count += baseline->count;
    }
}

static void find_window(struct search *search, struct model *model)
{
    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        search->base_ns = export_realtime_base(process);
        if (process->end_ns > search->end_ns)
            search->end_ns = process->end_ns;
    }
    search->last_beat = beat_of(search->end_ns);
}

enum mt_result host_leaks_write(struct mt_trace *trace, const struct host_leaks *what,
                                struct mt_error *error)
{
    struct question question = trace_question(trace);
    struct model *model = trace_model(trace);
    struct search search = {.what = what, .question = &question};
    const struct life_visitor visitor = {.context = &search, .born = on_born, .over = on_over};
    enum mt_result result;

    if (!has_host_heap(&search))
        return mt_error_set(error, MT_NO_DATA, "no block of the host heap was recorded");
    search.place_count = model_site_count(model);
    search.places = calloc(search.place_count + 1, sizeof(*search.places));
    if (!search.places)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for places");
    search.overview = outlet_create(FOR_TERMINAL, what->overview);
    search.blocks_out = what->blocks ? outlet_create(FOR_CSV, what->blocks) : NULL;
    find_window(&search, model);
    count_older(&search);
    memscope_stacks_init(&search.stacks, &question);
    result = lives_read(question.events, model, &visitor, error);
    if (result == MT_OK && (search.has_failed || !write_all(&search, trace)))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for blocks that are left");
    if (!outlet_destroy(search.overview) && result == MT_OK)
        result = mt_error_set(error, MT_IO, "the report on the host heap cannot be written");
    if (what->blocks && !outlet_destroy(search.blocks_out) && result == MT_OK)
        result = mt_error_set(error, MT_IO, "the list of blocks cannot be written");
    memscope_stacks_release(&search.stacks);
    free(search.places);
    free(search.blocks);
    return result;
}
