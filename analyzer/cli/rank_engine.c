/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   TMPDIR/leaktide-ranks-XXXXXX/query.sql ──► engine ──► rows.parquet
 *                                                         said: its standard output and error
 */
#define _GNU_SOURCE /* nftw */
#include "rank_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error_sentence.h"
#include "leaktide/summaries.h"
#include "sentence.h"
#include "text_builder.h"

enum { open_folders = 8, not_there = 69, said_most = 400 };

/* Embedded files. Each way is tried in turn, and takes the folder as last word. */
extern const char ask_duckdb_command[], ask_duckdb_python[], ask_spark_python[];

struct way {
    const char *program, *script;
};

static const struct engine {
    const char *name, *label;
    struct way ways[3];
    const char *missing;
} engines[] = {
    {"duckdb",
     "DuckDB",
     {{"sh", ask_duckdb_command}, {"python3", ask_duckdb_python}},
     "--engine=duckdb needs the command duckdb, or the package duckdb of python3; neither is "
     "there"},
    {"spark",
     "Spark",
     {{"python3", ask_spark_python}},
     "--engine=spark needs the package pyspark of python3, which is not there"},
};

/* What is asked. */
struct wish {
    const struct engine *engine;
    const char *const *paths;
    size_t count;
    const char *parallel;
};

static const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
        if (strcmp(engines[i].name, name) == 0)
            return &engines[i];
    return NULL;
}

/* --- its folder --------------------------------------------------------------------------------
 */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static enum mt_result say_errno(const char *path, struct mt_error *error)
{
    return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
}

static enum mt_result make_folder(struct text_builder *folder, struct mt_error *error)
{
    const char *below = getenv("TMPDIR");
    char *path;

    text_add_format(folder, "%s/leaktide-ranks-XXXXXX", below && *below ? below : "/tmp");
    if (folder->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a query");
    path = (char *)(uintptr_t)text_get(folder);
    return mkdtemp(path) ? MT_OK : say_errno(path, error);
}

static enum mt_result write_query(const char *path, const struct wish *wish, struct mt_error *error)
{
    FILE *out = fopen(path, "w");
    enum mt_result result;

    if (!out)
        return say_errno(path, error);
    result = mt_summaries_query(wish->paths, wish->count, wish->engine->name, wish->parallel, out,
                                error);
    if (fclose(out) != 0 && result == MT_OK)
        result = say_errno(path, error);
    return result;
}

/* --- the engine --------------------------------------------------------------------------------
 */

static void become(const struct way *way, const char *folder, const char *said)
{
    const char *const words[] = {way->program, "-c", way->script, folder, NULL};
    int file = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(not_there);
}

/* Its exit status; -1: it could not be started, or was killed. */
static int run_way(const struct way *way, const char *folder, const char *said)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        become(way, folder, said);
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool tells_error(const char *line)
{
    return strstr(line, "Error") || strstr(line, "Exception");
}

/* What it failed for: the last line that tells of an error, else the last one. */
static enum mt_result say_failure(const struct engine *engine, const char *said,
                                  struct mt_error *error)
{
    char line[said_most] = "", last[said_most] = "?";
    bool is_error = false;
    FILE *in = fopen(said, "r");

    while (in && fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = 0;
        if (!line[strspn(line, " \t^")] || (is_error && !tells_error(line)))
            continue;
        memcpy(last, line, sizeof(last));
        is_error = tells_error(line);
    }
    if (in)
        fclose(in);
    return mt_error_set(error, MT_IO, "%s: %s", engine->label, last);
}

static enum mt_result run_engine(const struct engine *engine, const char *folder, const char *said,
                                 struct mt_error *error)
{
    int status = not_there;

    for (size_t i = 0; engine->ways[i].program && status == not_there; i++)
        status = run_way(&engine->ways[i], folder, said);
    if (status == not_there)
        return mt_error_set(error, MT_UNSUPPORTED, "%s", translated(engine->missing));
    return status == 0 ? MT_OK : say_failure(engine, said, error);
}

static enum mt_result ask_in(const char *folder, const struct wish *wish, struct mt_answer **out,
                             struct mt_error *error)
{
    struct text_builder query, said, rows;
    enum mt_result result = MT_OK;

    text_init(&query);
    text_init(&said);
    text_init(&rows);
    text_add_format(&query, "%s/query.sql", folder);
    text_add_format(&said, "%s/said", folder);
    text_add_format(&rows, "%s/rows.parquet", folder);
    if (query.has_failed || said.has_failed || rows.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for a query");
    if (result == MT_OK)
        result = write_query(text_get(&query), wish, error);
    if (result == MT_OK)
        result = run_engine(wish->engine, folder, text_get(&said), error);
    if (result == MT_OK)
        result = mt_summaries_returned(text_get(&rows), wish->engine->label, out, error);
    text_release(&query);
    text_release(&said);
    text_release(&rows);
    return result;
}

/* Paths are seen from the folder of the engine, too. */
static enum mt_result make_absolute(const char *const *paths, size_t count, char **absolute,
                                    struct mt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        absolute[i] = realpath(paths[i], NULL);
        if (!absolute[i])
            absolute[i] = strdup(paths[i]);
        if (!absolute[i])
            return mt_error_set(error, MT_NO_MEMORY, "no memory for a query");
    }
    return MT_OK;
}

static enum mt_result ask_wish(const struct wish *wish, struct mt_answer **out,
                               struct mt_error *error)
{
    struct text_builder folder;
    enum mt_result result;

    text_init(&folder);
    result = make_folder(&folder, error);
    if (result == MT_OK) {
        result = ask_in(text_get(&folder), wish, out, error);
        nftw(text_get(&folder), remove_entry, open_folders, FTW_DEPTH | FTW_PHYS);
    }
    text_release(&folder);
    return result;
}

enum mt_result rank_engine_ask(const char *name, const char *const *paths, size_t count,
                               const char *parallel, struct mt_answer **out, struct mt_error *error)
{
    char **absolute = calloc(count + 1, sizeof(*absolute));
    struct wish wish = {engine_find(name), (const char *const *)absolute, count, parallel};
    enum mt_result result;

    if (!absolute)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a query");
    result = wish.engine
                 ? make_absolute(paths, count, absolute, error)
                 : mt_error_set(error, MT_USAGE,
                                "%s: there is no such engine; duckdb and spark are known", name);
    if (result == MT_OK)
        result = ask_wish(&wish, out, error);
    for (size_t i = 0; i < count; i++)
        free(absolute[i]);
    free(absolute);
    return result;
}
