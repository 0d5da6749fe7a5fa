/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_sql.h"

#include <inttypes.h>
#include <string.h>

#include "rank_compare.h"
#include "rank_deaths.h"
#include "summary_files.h"

extern const char rank_rules_sql[];

/* --- dialects: how the files of a table are named ----------------------------------------------
 */

struct dialect {
    const char *name;
    char quote; /* around a path; doubled inside it */
    /* Of one pattern, and of all of them. */
    const char *before, *after, *between, *first, *last;
    /* Around the steps, each of which has its name between step and step_name. */
    const char *begin, *step, *step_name, *end_step, *between_steps, *done;
};

/* Spark copies a step wherever it is named, and those that it names in turn: thirty times two and
 * more. So each step becomes a table, which is written once. Summaries of a newer leaktide have
 * columns that those of an older one lack: their schemas are merged. */
#define SPARK_DATABASE "leaktide_ranks"
#define WITHOUT_FILE   "'/[^/]*$', '') AS folder FROM "

static const struct dialect dialects[] = {
    {"duckdb", '\'', "", "", ", ",
     "SELECT *, regexp_replace(filename, " WITHOUT_FILE "read_parquet([",
     "], FILENAME = TRUE, UNION_BY_NAME = TRUE) WHERE filename NOT LIKE '%" SUMMARY_PARTIAL "%'",
     "WITH ", "", " AS (", ")", ", ", ""},
    {"spark", '`', "SELECT *, regexp_replace(_metadata.file_path, " WITHOUT_FILE "parquet.",
     " WHERE _metadata.file_path NOT LIKE '%" SUMMARY_PARTIAL "%'", " UNION ALL ", "", "",
     "SET spark.sql.parquet.mergeSchema = true;\nCREATE DATABASE " SPARK_DATABASE
     ";\nUSE " SPARK_DATABASE ";\n",
     "CREATE TABLE ", " USING parquet AS", ";", "",
     ";\nUSE default;\nDROP DATABASE " SPARK_DATABASE " CASCADE;"},
};

const char *rank_sql_dialect_at(size_t index)
{
    return index < sizeof(dialects) / sizeof(dialects[0]) ? dialects[index].name : NULL;
}

static const struct dialect *dialect_find(const char *name)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    return NULL;
}

/* --- where the files are -----------------------------------------------------------------------
 */

/* Folders, or patterns of them: "job/summaries/" with a star after it. */
struct places {
    struct summary_folders found;
    const char **patterns;
    size_t count;
};

static void add_pattern(struct places *places, const char *pattern)
{
    if (!places->count || strcmp(places->patterns[places->count - 1], pattern) != 0)
        places->patterns[places->count++] = pattern;
}

/* Folders side by side are one pattern; an operand that is itself a summary is its own. */
static void add_folder(struct places *places, const struct rank_sources *sources, const char *path)
{
    const char *name = strrchr(path, '/');

    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->paths[i], path) == 0)
            name = NULL;
    add_pattern(places, name
                            ? arena_format(&places->found.arena, "%.*s/*", (int)(name - path), path)
                            : path);
}

static void add_unknown(struct places *places, const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    add_pattern(places, arena_format(&places->found.arena, "%.*s/*", (int)length, path));
}

static bool places_find(struct places *places, const struct rank_sources *sources)
{
    struct mt_error ignored;

    for (size_t i = 0; i < sources->count; i++)
        if (summary_folders_find(sources->paths[i], &places->found, &ignored) == MT_NO_MEMORY)
            return false;
    places->patterns =
        arena_alloc(&places->found.arena,
                    (places->found.count + sources->count + 1) * sizeof(*places->patterns));
    if (!places->patterns)
        return false;
    for (size_t i = 0; i < places->found.count; i++)
        add_folder(places, sources, places->found.paths[i]);
    for (size_t i = 0; !places->found.count && i < sources->count; i++)
        add_unknown(places, sources->paths[i]);
    return !places->found.arena.has_failed;
}

static void add_quoted(struct text_builder *text, const char *pattern, const char *table,
                       char quote)
{
    text_add_bytes(text, &quote, 1);
    for (const char *c = pattern; *c; c++) {
        if (*c == quote)
            text_add_bytes(text, c, 1);
        text_add_bytes(text, c, 1);
    }
    text_add_format(text, "/%s.parquet%c", table, quote);
}

/* --- the query ---------------------------------------------------------------------------------
 */

struct query {
    const struct rank_sources *sources;
    const struct dialect *dialect;
    struct places places;
    struct text_builder *text;
    size_t step_count;
};

static void add_table(struct query *query, const char *table)
{
    const struct dialect *dialect = query->dialect;

    text_add(query->text, dialect->first);
    for (size_t i = 0; i < query->places.count; i++) {
        text_add(query->text, i ? dialect->between : "");
        text_add(query->text, dialect->before);
        add_quoted(query->text, query->places.patterns[i], table, dialect->quote);
        text_add(query->text, dialect->after);
    }
    text_add(query->text, dialect->last);
}

/* What the summary says, or the layout that is given with the question. */
static void add_place(struct query *query, enum summary_column column)
{
    const struct rank_layout *layout = &query->sources->layout;
    const char *name = summary_columns[column].name;
    uint64_t below = 1;

    for (size_t i = 0; i < layout->count; below *= layout->dimensions[i++].size) {
        if (layout->dimensions[i].column != column)
            continue;
        text_add_format(query->text,
                        "coalesce(CAST((rank - rank %% %" PRIu64 ") / %" PRIu64
                        " AS BIGINT) %% %" PRIu64 ", %s, -1)",
                        below, below, layout->dimensions[i].size, name);
        return;
    }
    text_add_format(query->text, "coalesce(%s, -1)", name);
}

static void expand(struct query *query, const char *template);

static void add_measure(struct query *query, const struct rank_measure *measure)
{
    const char *value = summary_columns[measure->column].name;
    bool is_named = measure->table != SUMMARY_ledgers;
    const char *name = is_named ? summary_columns[measure->name_column].name : "";

    text_add_format(query->text,
                    "  SELECT '%s' AS measure, %s%s AS name, %" PRIu64
                    " AS least, %d AS counts_less, %s.process_key, ",
                    measure->word, is_named ? "t." : "''", name, measure->least,
                    measure->counts_less, is_named ? "t" : "c");
    if (!is_named) {
        text_add_format(query->text, "c.%s AS value FROM compared c", value);
        return;
    }
    text_add_format(query->text, "CAST(sum(t.%s) AS BIGINT) AS value FROM (", value);
    add_table(query, summary_table_names[measure->table]);
    text_add(query->text, ") t JOIN compared c ON t.process_key = c.process_key AND t.folder = "
                          "c.folder\n  WHERE ");
    expand(query, measure->counts_sql);
    text_add_format(query->text, " GROUP BY t.%s, t.process_key", name);
}

static void add_measures(struct query *query)
{
    for (size_t i = 0; i < RANK_MEASURE_COUNT; i++) {
        text_add(query->text, i ? "\n  UNION ALL\n" : "");
        add_measure(query, &rank_measures[i]);
    }
}

static void add_measure_place(struct query *query)
{
    text_add(query->text, "CASE d.measure");
    for (size_t i = 0; i < RANK_MEASURE_COUNT; i++)
        text_add_format(query->text, " WHEN '%s' THEN %zu", rank_measures[i].word, i);
    text_add(query->text, " END");
}

/* Numbers, words of measures and tables go by their names. */
static bool add_named(struct query *query, const char *name)
{
    static const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
#define RANK_NUMBER(name, value) {#name, value},
#include "rank_rules.def"
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strcmp(numbers[i].name, name) == 0) {
            text_add_format(query->text, "%" PRIu64, numbers[i].number);
            return true;
        }
    for (size_t i = 0; i < RANK_MEASURE_COUNT; i++)
        if (strcmp(rank_measures[i].name, name) == 0) {
            text_add(query->text, rank_measures[i].word);
            return true;
        }
    for (size_t i = 0; i < SUMMARY_TABLE_COUNT; i++)
        if (strcmp(summary_table_names[i], name) == 0) {
            add_table(query, summary_table_names[i]);
            return true;
        }
    return false;
}

static void begin_step(struct query *query, const char *name)
{
    const struct dialect *dialect = query->dialect;

    text_add(query->text, query->step_count++ ? dialect->between_steps : dialect->begin);
    text_add(query->text, dialect->step);
    text_add(query->text, name);
    text_add(query->text, dialect->step_name);
}

static void add_part(struct query *query, const char *name)
{
    if (strncmp(name, "step ", 5) == 0)
        begin_step(query, name + 5);
    else if (strcmp(name, "end") == 0)
        text_add(query->text, query->dialect->end_step);
    else if (strcmp(name, "done") == 0)
        text_add(query->text, query->dialect->done);
    else if (strcmp(name, "pp") == 0)
        add_place(query, COLUMN_ranks_pp);
    else if (strcmp(name, "ep") == 0)
        add_place(query, COLUMN_ranks_ep);
    else if (strcmp(name, "TELLS_ENDS") == 0)
        text_add(query->text, RANK_TELLS_ENDS);
    else if (strcmp(name, "measures") == 0)
        add_measures(query);
    else if (strcmp(name, "measure_place") == 0)
        add_measure_place(query);
    else {
        bool is_known = add_named(query, name);

        MT_ASSERT(is_known);
        (void)is_known;
    }
}

/* The template with each {name} replaced; what replaces it is not looked at again. */
static void expand(struct query *query, const char *template)
{
    enum { name_most = 32 };
    const char *open;

    for (; (open = strchr(template, '{')); template = strchr(open, '}') + 1) {
        char name[name_most] = "";
        size_t length = strcspn(open + 1, "}");

        MT_ASSERT(length < name_most);
        memcpy(name, open + 1, length);
        text_add_bytes(query->text, template, (size_t)(open - template));
        add_part(query, name);
    }
    text_add(query->text, template);
}

enum mt_result rank_sql_write(const struct rank_sources *sources, const char *dialect,
                              struct text_builder *text, struct mt_error *error)
{
    struct query query = {.sources = sources, .dialect = dialect_find(dialect), .text = text};

    if (!query.dialect)
        return mt_error_set(error, MT_USAGE,
                            "%s: there is no such engine; duckdb and spark are known", dialect);
    summary_folders_init(&query.places.found);
    if (places_find(&query.places, sources))
        expand(&query, rank_rules_sql);
    else
        text->has_failed = true;
    summary_folders_release(&query.places.found);
    return text->has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a query") : MT_OK;
}
