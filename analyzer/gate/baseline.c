/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines, read and written.
 */
#include "baseline.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "text_builder.h"

static const char first_line[] = "# leaktide baseline 1";
static const char rest_of_sites[] = "site/rest"; /* what those held that have no line */

/* --- reading ---------------------------------------------------------------------------------- */

struct line {
    const char *path;
    const char *start, *end;
    unsigned number;
};

static void trim(const char **start, const char **end)
{
    while (*start < *end && isspace((unsigned char)**start))
        (*start)++;
    while (*end > *start && isspace((unsigned char)(*end)[-1]))
        (*end)--;
}

static bool number_read(const char *start, const char *end, uint64_t *number)
{
    *number = 0;
    for (const char *at = start; at < end; at++) {
        if (*at < '0' || *at > '9' || *number > (UINT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    return start < end;
}

/* "n=3 min=1 max=2 name of the site": n, min and max may be missing. */
static void read_remark(struct baseline_file *baseline, struct baseline_row *row, const char *start,
                        const char *end)
{
    uint64_t n = 0, low = row->value, high = row->value;
    struct {
        const char *word;
        uint64_t *number;
    } words[] = {{"n=", &n}, {"min=", &low}, {"max=", &high}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i].word);
        const char *stop;

        trim(&start, &end);
        stop = start;
        while (stop < end && *stop != ' ')
            stop++;
        if ((size_t)(stop - start) > length && memcmp(start, words[i].word, length) == 0 &&
            number_read(start + length, stop, words[i].number))
            start = stop;
    }
    trim(&start, &end);
    row->name = arena_text(&baseline->arena, start, (size_t)(end - start));
    row->spread =
        (struct measure_spread){.low = low, .median = row->value, .high = high, .count = (size_t)n};
}

static enum mt_result read_line(struct baseline_file *baseline, const struct line *line,
                                struct mt_error *error)
{
    const char *remark = NULL, *equals = NULL;
    const char *key_start = line->start, *key_end, *value_start, *value_end;
    struct baseline_row *row;

    /* Names of owners and pools may hold either sign; the last = before the last " # " counts. */
    for (const char *at = line->start; at < line->end; at++) {
        if (*at == '#' && at > line->start && at[-1] == ' ' && equals && !remark)
            remark = at;
        if (*at == '=' && !remark)
            equals = at;
    }
    if (!equals)
        return mt_error_set(error, MT_USAGE, "%s:%u: \"key = number\" is expected", line->path,
                            line->number);
    key_end = equals;
    value_start = equals + 1;
    value_end = remark ? remark : line->end;
    trim(&key_start, &key_end);
    trim(&value_start, &value_end);
    if (key_start == key_end || key_end[-1] == '=')
        return mt_error_set(error, MT_USAGE, "%s:%u: \"key = number\" is expected", line->path,
                            line->number);
    row = table_add(&baseline->rows);
    if (row)
        *row = (struct baseline_row){
            .key = arena_text(&baseline->arena, key_start, (size_t)(key_end - key_start)),
            .line = line->number};
    if (!row || !row->key)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", line->path);
    if (!number_read(value_start, value_end, &row->value))
        return mt_error_set(error, MT_USAGE, "%s:%u: expected a whole number after =", line->path,
                            line->number);
    read_remark(baseline, row, remark ? remark + 1 : line->end, line->end);
    return row->name ? MT_OK
                     : mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", line->path);
}

static enum mt_result read_lines(struct baseline_file *baseline, const char *text,
                                 struct mt_error *error)
{
    struct line line = {.path = baseline->path, .end = text};
    enum mt_result result = MT_OK;

    if (strncmp(text, first_line, sizeof(first_line) - 1) != 0)
        return mt_error_set(
            error, MT_USAGE,
            "%s:1: this is no baseline: it should begin with \"%s\"; leaktide bless "
            "writes one",
            baseline->path, first_line);
    while (result == MT_OK && *line.end) {
        const char *next = strchr(line.end, '\n');

        line.start = line.end;
        line.end = next ? next : line.start + strlen(line.start);
        line.number++;
        trim(&line.start, &line.end);
        if (line.start < line.end && *line.start != '#')
            result = read_line(baseline, &line, error);
        line.end = next ? next + 1 : "";
    }
    return result;
}

/* In the order of the file, which a merge of two branches may have changed. */
static enum mt_result check_twice(const struct baseline_file *baseline, struct mt_error *error)
{
    for (size_t i = 1; i < baseline->rows.count; i++) {
        const struct baseline_row *row = table_at(&baseline->rows, i);
        const struct baseline_row *first = baseline_find(baseline, row->key);

        if (first != row)
            return mt_error_set(error, MT_USAGE, "%s:%u: %s is there twice, first on line %u",
                                baseline->path, row->line, row->key, first->line);
    }
    return MT_OK;
}

enum mt_result baseline_open(const char *path, struct baseline_file **out, struct mt_error *error)
{
    struct baseline_file *baseline = calloc(1, sizeof(*baseline));
    const char *text;
    size_t size_bytes;
    enum mt_result result;

    if (!baseline)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    arena_init(&baseline->arena);
    table_init(&baseline->rows, &baseline->arena, sizeof(struct baseline_row));
    baseline->path = arena_text(&baseline->arena, path, strlen(path));
    if (!baseline->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    else
        result = file_text(path, &baseline->arena, &text, &size_bytes, error);
    if (result == MT_OK)
        result = read_lines(baseline, text, error);
    if (result == MT_OK)
        result = check_twice(baseline, error);
    if (result != MT_OK) {
        baseline_close(baseline);
        return result;
    }
    if (MT_ASSERTS)
        baseline_check(baseline);
    *out = baseline;
    return MT_OK;
}

static bool add_measured(struct baseline_file *baseline, const struct measures *measures,
                         const struct measure *measure)
{
    struct baseline_row *row = table_add(&baseline->rows);
    struct measure_spread spread = measure_spread(measures, measure);

    if (!row)
        return false;
    *row = (struct baseline_row){
        .key = arena_copy(&baseline->arena, measure->key),
        .value = spread.median,
        .spread = spread,
        .name = arena_copy(&baseline->arena, measure->name),
        .line = (unsigned)baseline->rows.count,
    };
    return !baseline->arena.has_failed;
}

enum mt_result baseline_of_measures(const struct measures *measures, const char *path,
                                    struct baseline_file **out, struct mt_error *error)
{
    struct baseline_file *baseline = calloc(1, sizeof(*baseline));
    bool is_whole = baseline != NULL;

    if (baseline) {
        arena_init(&baseline->arena);
        table_init(&baseline->rows, &baseline->arena, sizeof(struct baseline_row));
        baseline->path = arena_copy(&baseline->arena, path);
        baseline->is_whole = true;
        is_whole = !baseline->arena.has_failed;
    }
    for (size_t i = 0; is_whole && i < measures_count(measures); i++)
        is_whole = add_measured(baseline, measures, measures_at(measures, i));
    if (!is_whole) {
        baseline_close(baseline);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    }
    if (MT_ASSERTS)
        baseline_check(baseline);
    *out = baseline;
    return MT_OK;
}

void baseline_close(struct baseline_file *baseline)
{
    if (!baseline)
        return;
    arena_release(&baseline->arena);
    free(baseline);
}

const struct baseline_row *baseline_find(const struct baseline_file *baseline, const char *key)
{
    for (size_t i = 0; i < baseline->rows.count; i++) {
        const struct baseline_row *row = table_at(&baseline->rows, i);

        if (strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

/* "npu:0/pta/<name>" */
static const struct baseline_row *row_of_pool(const struct baseline_file *baseline,
                                              const struct measure *site, const char *name)
{
    struct text_builder key;
    const struct baseline_row *row;

    text_init(&key);
    text_add_format(&key, "%s/%s/%s", site->device, site->pool, name);
    row = baseline_find(baseline, text_get(&key));
    text_release(&key);
    return row;
}

uint64_t baseline_site_floor(const struct baseline_file *baseline, const struct measure *site)
{
    const struct baseline_row *peak = row_of_pool(baseline, site, kind_rule(RULE_PEAK_LIVE));

    return peak ? peak->value / BASELINE_LEAST_PART : 0;
}

uint64_t baseline_site_most(const struct baseline_file *baseline, const struct measure *site)
{
    const struct baseline_row *rest = row_of_pool(baseline, site, rest_of_sites);
    uint64_t floor = baseline_site_floor(baseline, site);

    if (baseline->is_whole)
        return 0;
    return rest && rest->value < floor ? rest->value : floor;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct chosen {
    const char *key;
    const struct measure *measure; /* of the rest of a pool's sites the largest of all */
    struct measure_spread spread;
};

/* Sites of one pool together, the largest first; everything else in front. */
static int by_pool_and_size(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;
    int order = (a->measure->kind == RULE_SITE) - (b->measure->kind == RULE_SITE);

    if (!order && a->measure->kind != RULE_SITE)
        return strcmp(a->measure->key, b->measure->key);
    if (!order)
        order = strcmp(a->measure->device, b->measure->device);
    if (!order)
        order = strcmp(a->measure->pool, b->measure->pool);
    if (!order)
        order = (a->spread.median < b->spread.median) - (a->spread.median > b->spread.median);
    return order ? order : strcmp(a->measure->key, b->measure->key);
}

static int by_key(const void *left, const void *right)
{
    return strcmp(((const struct chosen *)left)->key, ((const struct chosen *)right)->key);
}

/* The peak of the site's pool; 0: not known. */
static uint64_t peak_of(const struct chosen *rows, size_t count, const struct measure *site)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].measure->kind == RULE_PEAK_LIVE &&
            strcmp(rows[i].measure->device, site->device) == 0 &&
            strcmp(rows[i].measure->pool, site->pool) == 0)
            return rows[i].spread.median;
    return 0;
}

static bool is_of_pool(const struct chosen *row, const struct measure *site)
{
    return strcmp(row->measure->device, site->device) == 0 &&
           strcmp(row->measure->pool, site->pool) == 0;
}

static void add_to_rest(struct measure_spread *rest, struct measure_spread site)
{
    rest->low += site.low;
    rest->median += site.median;
    rest->high += site.high;
}

/* Keeps everything but the small sites, which are one row of each pool behind the others: there is
 * room for it. */
static size_t drop_small_sites(struct chosen *rows, size_t count, struct arena *texts)
{
    struct chosen *rests = rows + count;
    size_t kept = 0, rest_count = 0, sites = 0;

    for (size_t i = 0; i < count; i++) {
        const struct measure *now = rows[i].measure;

        if (now->kind == RULE_SITE) {
            if (!rest_count || !is_of_pool(&rests[rest_count - 1], now)) {
                rests[rest_count++] = (struct chosen){
                    arena_format(texts, "%s/%s/%s", now->device, now->pool, rest_of_sites), now,
                    (struct measure_spread){.count = rows[i].spread.count}};
                sites = 0;
            }
            if (++sites > BASELINE_SITES ||
                rows[i].spread.median < peak_of(rows, kept, now) / BASELINE_LEAST_PART) {
                add_to_rest(&rests[rest_count - 1].spread, rows[i].spread);
                continue;
            }
        }
        rows[kept++] = rows[i];
    }
    memmove(rows + kept, rests, rest_count * sizeof(*rows));
    return kept + rest_count;
}

static void write_row(const struct chosen *row, struct outlet *out)
{
    outlet_format(out, "%s = %" PRIu64 "  # n=%zu min=%" PRIu64 " max=%" PRIu64, row->key,
                  row->spread.median, row->spread.count, row->spread.low, row->spread.high);
    if (row->measure->kind == RULE_SITE && row->key == row->measure->key)
        outlet_format(out, " %s", row->measure->where.function);
    outlet_add(out, "\n");
}

static bool rows_choose(const struct measures *measures, struct chosen *rows, size_t *count,
                        struct arena *texts)
{
    *count = measures_count(measures);
    for (size_t i = 0; i < *count; i++) {
        const struct measure *measure = measures_at(measures, i);

        rows[i] = (struct chosen){measure->key, measure, measure_spread(measures, measure)};
    }
    qsort(rows, *count, sizeof(*rows), by_pool_and_size);
    *count = drop_small_sites(rows, *count, texts);
    if (!texts->has_failed)
        qsort(rows, *count, sizeof(*rows), by_key);
    return !texts->has_failed;
}

bool baseline_write(const struct measures *measures, FILE *file)
{
    struct outlet *out = outlet_create(FOR_TERMINAL, file);
    struct chosen *rows = malloc((2 * measures_count(measures) + 1) * sizeof(*rows));
    struct arena texts;
    size_t count;

    arena_init(&texts);
    if (!rows || !rows_choose(measures, rows, &count, &texts)) {
        arena_release(&texts);
        free(rows);
        outlet_destroy(out);
        errno = ENOMEM;
        return false;
    }
    outlet_sentence(out,
                    "%s: bytes, shares in hundredths of a percent; written by leaktide bless, "
                    "reviewed like code\n",
                    first_line);
    for (size_t i = 0; i < count; i++)
        write_row(&rows[i], out);
    arena_release(&texts);
    free(rows);
    return outlet_destroy(out) && fflush(file) == 0;
}
