/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions, read and matched.
 */
#include "suppressions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nearest_name.h"
#include "policy.h"
#include "quantity.h"
#include "sentence.h"

/* --- matching --------------------------------------------------------------------------------- */

/* pattern: no ^ at its start; it must match from the first character of text on. */
static bool matches_here(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;

    for (;;) {
        if (*pattern == '$' && !pattern[1]) {
            if (!*text)
                return true;
        } else if (!*pattern) {
            return true;
        } else if (*pattern == '*') {
            star = ++pattern;
            retry = text;
            continue;
        } else if (*pattern == *text && *text) {
            pattern++;
            text++;
            continue;
        }
        if (!star || !*retry)
            return false;
        pattern = star;
        text = ++retry;
    }
}

bool pattern_matches(const char *pattern, const char *text)
{
    if (*pattern == '^')
        return matches_here(pattern + 1, text);
    for (;; text++) {
        if (matches_here(pattern, text))
            return true;
        if (!*text)
            return false;
    }
}

bool suppression_matches(const struct suppression *row, const char *label,
                         const struct symbol_frame *frames, size_t frame_count)
{
    if (pattern_matches(row->pattern, label))
        return true;
    for (size_t i = 0; i < frame_count; i++)
        if ((frames[i].function[0] && pattern_matches(row->pattern, frames[i].function)) ||
            (frames[i].file[0] && pattern_matches(row->pattern, frames[i].file)) ||
            (frames[i].module[0] && pattern_matches(row->pattern, frames[i].module)))
            return true;
    return false;
}

uint32_t date_today(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm date;

    if (!gmtime_r(&now, &date))
        return 0;
    return (uint32_t)(date.tm_year + 1900) * 10000 + (uint32_t)(date.tm_mon + 1) * 100 +
           (uint32_t)date.tm_mday;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    struct suppressions *suppressions;
    struct mt_error *error;
    unsigned line;
    char *at; /* of a terminated copy of the line */
};

static enum mt_result complain_at(const struct reading *reading, const char *what)
{
    return mt_error_set(reading->error, MT_USAGE, "%s:%u: %s", reading->suppressions->path,
                        reading->line, translated(what));
}

/* 2027-01-31, a day that exists. */
static bool date_read(const char *text, uint32_t *date)
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year, month, day;

    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' || strspn(text, "0123456789-") != 10)
        return false;
    year = (unsigned)strtoul(text, NULL, 10);
    month = (unsigned)strtoul(text + 5, NULL, 10);
    day = (unsigned)strtoul(text + 8, NULL, 10);
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    *date = year * 10000 + month * 100 + day;
    return true;
}

static enum mt_result set_reason(struct reading *reading, struct suppression *row, char *value)
{
    (void)reading;
    row->reason = value;
    return MT_OK;
}

static enum mt_result set_issue(struct reading *reading, struct suppression *row, char *value)
{
    (void)reading;
    row->issue = value;
    return MT_OK;
}

static enum mt_result set_until(struct reading *reading, struct suppression *row, char *value)
{
    return date_read(value, &row->until)
               ? MT_OK
               : complain_at(reading, "until: a day is expected, like 2027-01-31");
}

static enum mt_result set_max(struct reading *reading, struct suppression *row, char *value)
{
    const char *why;

    row->has_max = true;
    return quantity_size(value, &row->max_bytes, &why) ? MT_OK : complain_at(reading, why);
}

static const struct attribute {
    const char *name;
    enum mt_result (*set)(struct reading *reading, struct suppression *row, char *value);
} attributes[] = {{"reason", set_reason},
                  {"issue", set_issue},
                  {"until", set_until},
                  {"max", set_max},
                  {NULL, NULL}};

static const char *attribute_name_at(const void *context, size_t i)
{
    (void)context;
    return attributes[i].name;
}

/* name=value or name="value with blanks" */
static enum mt_result read_attribute(struct reading *reading, struct suppression *row)
{
    char *name = reading->at, *value = strchr(name, '='), *end;
    const char *nearest;

    if (!value || (size_t)(value - name) != strcspn(name, " \t="))
        return complain_at(reading, "expected name=value after the pattern: reason, issue, "
                                    "until, max");
    *value++ = '\0';
    if (*value == '"') {
        end = strchr(++value, '"');
        if (!end)
            return complain_at(reading, "the text in \" does not end");
    } else {
        end = value + strcspn(value, " \t");
    }
    reading->at = *end ? end + 1 : end;
    *end = '\0';
    for (const struct attribute *attribute = attributes; attribute->name; attribute++)
        if (strcmp(attribute->name, name) == 0)
            return attribute->set(reading, row, value);
    nearest = nearest_name(name, attribute_name_at, NULL);
    return mt_error_set(reading->error, MT_USAGE,
                        "%s:%u: there is no %s; reason, issue, until and max are known%s%s",
                        reading->suppressions->path, reading->line, name,
                        nearest ? ": did you mean " : "", nearest ? nearest : "");
}

/* The pattern ends at the first blank; one that holds blanks stands in quotes. */
static enum mt_result read_pattern(struct reading *reading, struct suppression *row)
{
    char *end;

    if (*reading->at == '"') {
        row->pattern = ++reading->at;
        end = strchr(reading->at, '"');
        if (!end)
            return complain_at(reading, "the pattern in \" does not end");
    } else {
        row->pattern = reading->at;
        end = reading->at + strcspn(reading->at, " \t");
    }
    reading->at = *end ? end + 1 : end;
    *end = '\0';
    if (!row->pattern[0])
        return complain_at(reading, "the pattern is empty: it would suppress everything");
    return MT_OK;
}

static enum mt_result read_line(struct reading *reading)
{
    static const char word[] = "leak:";
    struct suppression *row;
    enum mt_result result;

    if (strncmp(reading->at, word, sizeof(word) - 1) != 0)
        return complain_at(reading, "leak: and a pattern are expected");
    reading->at += sizeof(word) - 1;
    row = table_add(&reading->suppressions->rows);
    if (!row)
        return mt_error_set(reading->error, MT_NO_MEMORY, "no memory to read %s",
                            reading->suppressions->path);
    *row = (struct suppression){.reason = "", .issue = "", .line = reading->line};
    result = read_pattern(reading, row);
    while (result == MT_OK) {
        reading->at += strspn(reading->at, " \t");
        if (!*reading->at || *reading->at == '#')
            break;
        result = read_attribute(reading, row);
    }
    return result;
}

static enum mt_result read_lines(struct reading *reading, const char *text)
{
    enum mt_result result = MT_OK;

    while (result == MT_OK && *text) {
        size_t length = strcspn(text, "\n"), kept = length;

        reading->line++;
        while (kept && isspace((unsigned char)text[kept - 1]))
            kept--;
        reading->at = arena_text(&reading->suppressions->arena, text, kept);
        if (!reading->at)
            return mt_error_set(reading->error, MT_NO_MEMORY, "no memory to read %s",
                                reading->suppressions->path);
        reading->at += strspn(reading->at, " \t");
        if (*reading->at && *reading->at != '#')
            result = read_line(reading);
        text += length + (text[length] == '\n');
    }
    return result;
}

enum mt_result suppressions_open(const char *path, struct suppressions **out,
                                 struct mt_error *error)
{
    struct suppressions *suppressions = calloc(1, sizeof(*suppressions));
    struct reading reading = {.suppressions = suppressions, .error = error};
    const char *text;
    size_t size_bytes;
    enum mt_result result;

    if (!suppressions)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    arena_init(&suppressions->arena);
    table_init(&suppressions->rows, &suppressions->arena, sizeof(struct suppression));
    suppressions->path = arena_text(&suppressions->arena, path, strlen(path));
    if (!suppressions->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    else
        result = file_text(path, &suppressions->arena, &text, &size_bytes, error);
    if (result == MT_OK)
        result = read_lines(&reading, text);
    if (result != MT_OK) {
        suppressions_close(suppressions);
        return result;
    }
    *out = suppressions;
    return MT_OK;
}

void suppressions_close(struct suppressions *suppressions)
{
    if (!suppressions)
        return;
    arena_release(&suppressions->arena);
    free(suppressions);
}
