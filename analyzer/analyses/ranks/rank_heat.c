/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_heat.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path_text.h"
#include "rank_compare.h"
#include "sheet.h"

enum { CANDIDATES_MOST = 64 };

/* compared: ranks with a ledger, in the order of the set. */
struct heat {
    struct rank_set *set;
    struct report *report;
    const struct rank **compared;
    size_t count;
    size_t ranks_per_row, row_count;
    size_t *by_group; /* of compared: peers side by side */
    uint64_t *spare;
};

struct cell {
    uint64_t bytes, median_bytes;
    uint64_t rank; /* 1: the first of the row; 0: none */
};

struct cells {
    struct cell *cells; /* row by row */
    size_t column_count;
};

static uint64_t distance_of(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void put(const struct heat *heat, struct cells *cells, size_t rank, size_t column,
                uint64_t bytes, uint64_t median_bytes)
{
    size_t row = rank / heat->ranks_per_row;
    struct cell *cell = &cells->cells[row * cells->column_count + column];

    if (!cell->rank ||
        distance_of(bytes, median_bytes) > distance_of(cell->bytes, cell->median_bytes))
        *cell = (struct cell){
            .bytes = bytes, .median_bytes = median_bytes, .rank = 1 + rank % heat->ranks_per_row};
}

static void give_cells(const struct heat *heat, const struct cells *cells, const char *name)
{
    static const char *const keys[] = {"rank", "bytes", "median_bytes", NULL};
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < heat->row_count * cells->column_count; i++) {
        const struct cell *cell = &cells->cells[i];

        sheet_add(&sheet, (const uint64_t[]){cell->rank, cell->bytes, cell->median_bytes});
    }
    sheet_to_report(&sheet, heat->report, name);
}

/* --- groups of peers -------------------------------------------------------------------------- */

static size_t group_end(const struct heat *heat, size_t first)
{
    size_t end = first + 1;

    while (end < heat->count && heat->compared[heat->by_group[end]]->group ==
                                    heat->compared[heat->by_group[first]]->group)
        end++;
    return end;
}

static bool list_compared(struct heat *heat)
{
    const struct rank_set *set = heat->set;
    size_t *next;

    heat->compared = arena_alloc(&heat->set->arena, (set->count + 1) * sizeof(*heat->compared));
    heat->by_group = arena_alloc(&heat->set->arena, (set->count + 1) * sizeof(*heat->by_group));
    heat->spare = arena_alloc(&heat->set->arena, (set->count + 1) * sizeof(*heat->spare));
    next = arena_alloc(&heat->set->arena, (set->group_count + 2) * sizeof(*next));
    if (!heat->compared || !heat->by_group || !heat->spare || !next)
        return false;
    for (size_t i = 0; i < set->count; i++) {
        if (set->ranks[i].ledger == SIZE_MAX)
            continue;
        heat->compared[heat->count++] = &set->ranks[i];
        next[set->ranks[i].group + 1]++;
    }
    for (size_t group = 0; group < set->group_count; group++)
        next[group + 1] += next[group];
    for (size_t i = 0; i < heat->count; i++)
        heat->by_group[next[heat->compared[i]->group]++] = i;
    heat->ranks_per_row = (heat->count + RANK_HEAT_ROWS_MOST - 1) / RANK_HEAT_ROWS_MOST;
    heat->row_count =
        heat->count ? (heat->count + heat->ranks_per_row - 1) / heat->ranks_per_row : 0;
    return true;
}

/* --- rank by step ----------------------------------------------------------------------------- */

struct step_span {
    int64_t first, last;
};

static struct step_span steps_of(const struct heat *heat)
{
    struct step_span span = {INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < heat->count; i++) {
        const struct rank *rank = heat->compared[i];

        if (!rank->step_count)
            continue;
        if (rank->steps[0].number < span.first)
            span.first = rank->steps[0].number;
        if (rank->steps[rank->step_count - 1].number > span.last)
            span.last = rank->steps[rank->step_count - 1].number;
    }
    return span;
}

/* The lowest number that no cursor has passed; INT64_MAX: all are at the end. */
static int64_t next_number(const struct heat *heat, const size_t *cursors)
{
    int64_t lowest = INT64_MAX;

    for (size_t i = 0; i < heat->count; i++) {
        const struct rank *rank = heat->compared[i];

        if (cursors[i] < rank->step_count && rank->steps[cursors[i]].number < lowest)
            lowest = rank->steps[cursors[i]].number;
    }
    return lowest;
}

static bool is_at(const struct heat *heat, const size_t *cursors, size_t rank, int64_t number)
{
    const struct rank *row = heat->compared[rank];

    return cursors[rank] < row->step_count && row->steps[cursors[rank]].number == number;
}

/* Peers at one step. */
static void put_step(const struct heat *heat, struct cells *cells, size_t column, int64_t number,
                     size_t *cursors)
{
    for (size_t first = 0, end; first < heat->count; first = end) {
        size_t filled = 0;
        uint64_t median;

        end = group_end(heat, first);
        for (size_t i = first; i < end; i++) {
            size_t rank = heat->by_group[i];

            if (is_at(heat, cursors, rank, number))
                heat->spare[filled++] = heat->compared[rank]->steps[cursors[rank]].end_bytes;
        }
        median = filled ? rank_median(heat->spare, filled) : 0;
        for (size_t i = first; filled && i < end; i++) {
            size_t rank = heat->by_group[i];

            if (!is_at(heat, cursors, rank, number))
                continue;
            put(heat, cells, rank, column, heat->compared[rank]->steps[cursors[rank]].end_bytes,
                median);
            cursors[rank]++;
        }
    }
}

static void give_columns(const struct heat *heat, struct step_span span, size_t column_count)
{
    static const char *const keys[] = {"first", "last", NULL};
    struct sheet sheet = sheet_of(keys);
    uint64_t steps = (uint64_t)(span.last - span.first) + 1;

    for (size_t i = 0; i < column_count; i++)
        sheet_add(&sheet, (const uint64_t[]){
                              (uint64_t)span.first + (i * steps + column_count - 1) / column_count,
                              (uint64_t)span.first +
                                  ((i + 1) * steps + column_count - 1) / column_count - 1});
    sheet_to_report(&sheet, heat->report, "rank-step-columns");
}

static bool add_steps(const struct heat *heat)
{
    struct step_span span = steps_of(heat);
    uint64_t steps = span.first <= span.last ? (uint64_t)span.last - (uint64_t)span.first + 1 : 0;
    struct cells cells = {.column_count =
                              steps < RANK_HEAT_STEPS_MOST ? (size_t)steps : RANK_HEAT_STEPS_MOST};
    size_t *cursors;
    int64_t number;
    bool is_done;

    /* Numbers that a program may choose: so wide a span is none of steps. */
    if (!steps || span.first < 0 || steps > UINT32_MAX)
        return true;
    cells.cells = calloc(heat->row_count * cells.column_count, sizeof(*cells.cells));
    cursors = calloc(heat->count, sizeof(*cursors));
    while (cells.cells && cursors && (number = next_number(heat, cursors)) != INT64_MAX)
        put_step(heat, &cells,
                 (size_t)((uint64_t)(number - span.first) * cells.column_count / steps), number,
                 cursors);
    is_done = cells.cells && cursors;
    if (is_done) {
        give_columns(heat, span, cells.column_count);
        give_cells(heat, &cells, "rank-step-cells");
    }
    free(cursors);
    free(cells.cells);
    return is_done;
}

/* --- rank by site ----------------------------------------------------------------------------- */

struct site {
    int64_t name;       /* number of its text */
    uint64_t bytes;     /* over all ranks */
    uint64_t distance;  /* the largest */
    uint64_t *of_ranks; /* by compared */
};

/* compared index + 1 of the rank whose compared ledger the row is of; 0: of none. */
static size_t rank_of_site(const struct heat *heat, const size_t *places, size_t row)
{
    const struct summary *summary = &heat->set->summary;
    const struct rank *rank = rank_set_owner(heat->set, SUMMARY_sites, row);

    if (!rank || rank->ledger == SIZE_MAX ||
        summary_number(summary, COLUMN_sites_pool, row) !=
            summary_number(summary, COLUMN_ledgers_pool, rank->ledger) ||
        summary_number(summary, COLUMN_sites_device, row) !=
            summary_number(summary, COLUMN_ledgers_device, rank->ledger))
        return 0;
    return places[rank - heat->set->ranks];
}

static int by_bytes(const void *left, const void *right)
{
    const struct site *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static int by_distance(const void *left, const void *right)
{
    const struct site *a = left, *b = right;

    if (a->distance != b->distance)
        return a->distance > b->distance ? -1 : 1;
    return by_bytes(left, right);
}

/* The sites that hold most over all ranks; returns how many. */
static size_t choose_candidates(const struct heat *heat, const size_t *places, struct site *sites)
{
    const struct summary *summary = &heat->set->summary;
    size_t texts = summary->texts.count, count = 0;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++)
        if (rank_of_site(heat, places, row))
            sites[summary_number(summary, COLUMN_sites_site, row)].bytes +=
                summary_bytes(summary, COLUMN_sites_peak_bytes, row);
    for (size_t i = 0; i < texts; i++)
        sites[i].name = (int64_t)i;
    qsort(sites, texts, sizeof(*sites), by_bytes);
    while (count < texts && count < CANDIDATES_MOST && sites[count].bytes)
        count++;
    return count;
}

static void fill_sites(const struct heat *heat, const size_t *places, struct site *sites,
                       size_t count, size_t *site_of_text)
{
    const struct summary *summary = &heat->set->summary;

    for (size_t i = 0; i < count; i++)
        site_of_text[sites[i].name] = i + 1;
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++) {
        size_t place = rank_of_site(heat, places, row);
        size_t site = site_of_text[summary_number(summary, COLUMN_sites_site, row)];

        if (place && site)
            sites[site - 1].of_ranks[place - 1] +=
                summary_bytes(summary, COLUMN_sites_peak_bytes, row);
    }
}

/* Notes the largest distance, and fills a column; cells: NULL: none. */
static void visit_site(const struct heat *heat, struct site *site, struct cells *cells,
                       size_t column)
{
    for (size_t first = 0, end; first < heat->count; first = end) {
        uint64_t median;

        end = group_end(heat, first);
        for (size_t i = first; i < end; i++)
            heat->spare[i - first] = site->of_ranks[heat->by_group[i]];
        median = rank_median(heat->spare, end - first);
        for (size_t i = first; i < end; i++) {
            uint64_t bytes = site->of_ranks[heat->by_group[i]];

            if (distance_of(bytes, median) > site->distance)
                site->distance = distance_of(bytes, median);
            if (cells)
                put(heat, cells, heat->by_group[i], column, bytes, median);
        }
    }
}

static bool give_sites(const struct heat *heat, struct site *sites, size_t count)
{
    struct cells cells = {.column_count =
                              count < RANK_HEAT_SITES_MOST ? count : RANK_HEAT_SITES_MOST};
    const char **names = arena_alloc(&heat->set->arena, (count + 1) * sizeof(*names));
    bool is_done;

    for (size_t i = 0; i < count; i++)
        visit_site(heat, &sites[i], NULL, 0);
    qsort(sites, count, sizeof(*sites), by_distance);
    cells.cells = calloc(heat->row_count * cells.column_count, sizeof(*cells.cells));
    for (size_t i = 0; names && cells.cells && i < cells.column_count; i++) {
        visit_site(heat, &sites[i], &cells, i);
        names[i] = summary_text(&heat->set->summary, sites[i].name);
    }
    is_done = names && cells.cells;
    if (is_done) {
        report_dataset_texts(heat->report, report_dataset(heat->report, "rank-site-columns", 1),
                             "site", names, cells.column_count);
        give_cells(heat, &cells, "rank-site-cells");
    }
    free(cells.cells);
    return is_done;
}

static bool add_sites(const struct heat *heat)
{
    size_t texts = heat->set->summary.texts.count, count = 0;
    struct site *sites = calloc(texts + 1, sizeof(*sites));
    size_t *site_of_text = calloc(texts + 1, sizeof(*site_of_text));
    size_t *places = calloc(heat->set->count + 1, sizeof(*places));
    uint64_t *bytes = NULL;
    bool is_done = sites && site_of_text && places;

    for (size_t i = 0; is_done && i < heat->count; i++)
        places[heat->compared[i] - heat->set->ranks] = i + 1;
    if (is_done)
        count = choose_candidates(heat, places, sites);
    if (count) {
        bytes = calloc(count * heat->count, sizeof(*bytes));
        is_done = bytes != NULL;
    }
    if (bytes) {
        for (size_t i = 0; i < count; i++)
            sites[i].of_ranks = bytes + i * heat->count;
        fill_sites(heat, places, sites, count, site_of_text);
        is_done = give_sites(heat, sites, count);
    }
    free(bytes);
    free(places);
    free(site_of_text);
    free(sites);
    return is_done;
}

/* --- the ranks -------------------------------------------------------------------------------- */

/* The link from the folder where the page will lie; whole where there is none. */
static const char *link_to(const struct heat *heat, const struct rank_pages *pages,
                           const char *page)
{
    char folder[PATH_MAX];
    struct text_builder text;
    const char *link;

    if (!pages->from || !realpath(pages->from, folder))
        return arena_copy(&heat->set->arena, page);
    text_init(&text);
    text_add_relative_path(&text, folder, page);
    link = text.has_failed ? "" : arena_copy(&heat->set->arena, text_get(&text));
    text_release(&text);
    return link;
}

/* "": there is none. */
static const char *page_of(const struct heat *heat, const struct rank_pages *pages,
                           const struct rank *rank)
{
    const char *key = summary_text_at(&heat->set->summary, COLUMN_ranks_process_key, rank->row);
    char whole[PATH_MAX];

    for (size_t i = 0; i < pages->folder_count; i++) {
        const char *path = arena_format(&heat->set->arena, "%s/" RANK_PAGES_FOLDER "/%s.html",
                                        pages->folders[i], key);

        if (realpath(path, whole))
            return link_to(heat, pages, whole);
    }
    return "";
}

/* What a reader sees of a rank that was chosen. */
static bool add_ranks(const struct heat *heat, const struct rank_pages *pages)
{
    static const char *const keys[] = {"name", "host_name", "source", "page", "pool"};
    enum { TEXTS = sizeof(keys) / sizeof(keys[0]) };
    const struct summary *summary = &heat->set->summary;
    struct report_dataset *dataset = report_dataset(heat->report, "rank-rows", TEXTS + 4);
    const char **texts = calloc(TEXTS * heat->count, sizeof(*texts));
    uint64_t *peaks = calloc(heat->count, sizeof(*peaks));
    const uint64_t per_row = heat->ranks_per_row;
    const uint64_t share = RANK_SHARE, least = RANK_LEAST_BYTES;
    bool is_done = texts && peaks;

    for (size_t i = 0; is_done && i < heat->count; i++) {
        const struct rank *rank = heat->compared[i];

        texts[i] = rank_label(heat->set, &heat->set->arena, rank);
        texts[heat->count + i] = summary_text_at(summary, COLUMN_ranks_host, rank->row);
        texts[2 * heat->count + i] = summary_text_at(summary, COLUMN_ranks_source, rank->row);
        texts[3 * heat->count + i] = page_of(heat, pages, rank);
        texts[4 * heat->count + i] = summary_text_at(summary, COLUMN_ledgers_name, rank->ledger);
        peaks[i] = summary_bytes(summary, COLUMN_ledgers_peak_bytes, rank->ledger);
    }
    if (is_done) {
        for (size_t i = 0; i < TEXTS; i++)
            report_dataset_texts(heat->report, dataset, keys[i], texts + i * heat->count,
                                 heat->count);
        report_dataset_numbers(heat->report, dataset, "peak_bytes", peaks, heat->count);
        report_dataset_numbers(heat->report, dataset, "ranks_per_row", &per_row, 1);
        report_dataset_numbers(heat->report, dataset, "share", &share, 1);
        report_dataset_numbers(heat->report, dataset, "least_bytes", &least, 1);
    }
    free(peaks);
    free(texts);
    return is_done;
}

void rank_heat_add(struct rank_set *set, const struct rank_pages *pages, struct report *report)
{
    struct heat heat = {.set = set, .report = report};
    bool is_done = list_compared(&heat);

    if (is_done && heat.count < 2)
        return;
    if (!is_done || !add_ranks(&heat, pages) || !add_steps(&heat) || !add_sites(&heat))
        report_note(report, 0, "ranks: not enough memory to compare");
}
