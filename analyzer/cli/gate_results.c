/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts to terminals, files and pages of the CI.
 */
#include "gate_results.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "screen.h"

static const char *format_at(const void *context, size_t i)
{
    (void)context;
    return mt_gate_format_at(i, NULL, NULL);
}

/* For people, even when there is a folder. */
static bool is_for_terminals(const char *format)
{
    return strcmp(format, "text") == 0 || strcmp(format, "github") == 0;
}

static size_t format_index(const char *word, size_t length)
{
    const char *name;
    size_t i = 0;

    while ((name = mt_gate_format_at(i, NULL, NULL)) &&
           (strlen(name) != length || memcmp(name, word, length) != 0))
        i++;
    return name ? i : GATE_FORMATS_MAX;
}

static int say_unknown(const char *word, size_t length)
{
    char name[32];
    const char *nearest;

    snprintf(name, sizeof(name), "%.*s", (int)length, word);
    nearest = nearest_name(name, format_at, NULL);
    return complain(EXIT_USAGE, "--format=%s: there is no such format; %s%s", name,
                    nearest ? "did you mean " : "see leaktide gate --help", nearest ? nearest : "");
}

static bool is_running_in_github(void)
{
    const char *word = getenv("GITHUB_ACTIONS");

    return word && strcmp(word, "true") == 0;
}

int gate_results_read(const char *formats, const char *folder, struct gate_results *results)
{
    size_t for_programs = 0;

    memset(results, 0, sizeof(*results));
    results->folder = folder;
    results->is_github = !formats && is_running_in_github();
    for (const char *word = formats ? formats : "text"; *word;) {
        size_t length = strcspn(word, ","), index = format_index(word, length);

        if (index == GATE_FORMATS_MAX)
            return say_unknown(word, length);
        results->is_wanted[index] = true;
        word += length;
        word += *word == ',';
    }
    if (results->is_github)
        results->is_wanted[format_index("github", 6)] = true;
    for (size_t i = 0; format_at(NULL, i); i++)
        for_programs += results->is_wanted[i] && !is_for_terminals(format_at(NULL, i));
    if (!folder && for_programs > 1)
        return complain(EXIT_USAGE, "--format: several formats need a folder: -o FOLDER");
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return complain(EXIT_USAGE, "%s: %s", folder, strerror(errno));
    return EXIT_FINE;
}

static int write_file(const struct mt_gate_verdict *verdict, const char *format, const char *path,
                      const char *mode)
{
    FILE *out = fopen(path, mode);
    struct mt_error error;
    enum mt_result result;

    if (!out)
        return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
    result = mt_gate_write(verdict, format, out, &error);
    if (fclose(out) != 0 && result == MT_OK)
        result = mt_error_set(&error, MT_IO, "%s: %s", path, strerror(errno));
    return result == MT_OK ? EXIT_FINE : complain(EXIT_USAGE, "%s", error.message);
}

static int write_format(const struct gate_results *results, const struct mt_gate_verdict *verdict,
                        size_t index)
{
    const char *file_name, *format = mt_gate_format_at(index, NULL, &file_name);
    struct mt_write_options how = {.size_bytes = sizeof(how)};
    char path[PATH_MAX];
    struct mt_error error;

    if (results->folder && !is_for_terminals(format)) {
        snprintf(path, sizeof(path), "%s/%s", results->folder, file_name);
        return write_file(verdict, format, path, "w");
    }
    if (strcmp(format, "text") == 0) {
        struct terminal_look look = screen_look(STDOUT_FILENO);

        how.columns = look.columns;
        how.flags =
            (look.has_colours ? MT_WRITE_COLOURS : 0) | (look.has_links ? MT_WRITE_LINKS : 0);
    }
    return mt_gate_write_with(verdict, format, &how, stdout, &error) == MT_OK
               ? EXIT_FINE
               : complain(EXIT_USAGE, "%s", error.message);
}

/* GitHub shows this file on the page of the run; other steps write to it too. */
static int append_summary(const struct gate_results *results, const struct mt_gate_verdict *verdict)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");

    if (!path || !*path || !(results->is_github || results->is_wanted[format_index("md", 2)]))
        return EXIT_FINE;
    return write_file(verdict, "md", path, "a");
}

int gate_results_write(const struct gate_results *results, const struct mt_gate_verdict *verdict)
{
    int code = EXIT_FINE;

    for (size_t i = 0; code == EXIT_FINE && format_at(NULL, i); i++)
        if (results->is_wanted[i])
            code = write_format(results, verdict, i);
    return code == EXIT_FINE ? append_summary(results, verdict) : code;
}
