/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that say what the frames of a stack are.
 */
#include "site_rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plumbing_rules.h"

enum { line_most_bytes = 1024 };

const struct frame_class_facts frame_classes[FRAME_CLASS_COUNT] = {
    [CLASS_START] = {"start", "the start of the program", true, ID_NOTHING},
    [CLASS_ALLOCATOR] = {"allocator", "the allocator", true, ID_NOTHING},
    [CLASS_INTERPRETER] = {"interpreter", "the interpreter", true, ID_NOTHING},
    [CLASS_LIBRARY] = {"library", "the C and C++ libraries", true, ID_ENTRY},
    [CLASS_MACHINERY] = {"machinery", "the framework's machinery", true, ID_ENTRY},
    [CLASS_NATIVE] = {"native", "native code", false, ID_EVERYTHING},
    [CLASS_OPERATOR] = {"operator", "operators", false, ID_EVERYTHING},
    [CLASS_STDLIB] = {"stdlib", "Python's own modules", true, ID_ENTRY},
    [CLASS_BACKWARD] = {"backward", "the backward pass", false, ID_EVERYTHING},
    [CLASS_FRAMEWORK] = {"framework", "the framework", true, ID_ENTRY},
    [CLASS_PACKAGE] = {"package", "packages", false, ID_EVERYTHING},
    [CLASS_PROGRAM] = {"program", "the program", false, ID_EVERYTHING},
};

enum rule_where { WHERE_NATIVE, WHERE_PYTHON, WHERE_FILE, WHERE_MODULE, WHERE_COUNT };

static const char *const where_names[WHERE_COUNT] = {"native", "python", "file", "module"};

struct rule {
    enum frame_class class;
    enum rule_where where;
    const char *pattern; /* lower case and with / for \ when it is about a file */
};

static char path_char(char c)
{
    return c == '\\' ? '/' : (char)tolower((unsigned char)c);
}

static bool char_fits(char pattern, char c, bool is_path)
{
    return c && pattern == (is_path ? path_char(c) : c);
}

/* A star takes as little as it can; when the rest then does not fit, it takes one more. */
static bool pattern_fits(const char *pattern, const char *text, bool is_path)
{
    const char *after_star = NULL, *star_text = NULL;

    while (*pattern || *text) {
        if (*pattern == '*') {
            after_star = ++pattern;
            star_text = text;
        } else if (char_fits(*pattern, *text, is_path)) {
            pattern++;
            text++;
        } else if (after_star && *star_text) {
            pattern = after_star;
            text = ++star_text;
        } else {
            return false;
        }
    }
    return true;
}

static const char *word_of(const struct frame_words *words, enum rule_where where)
{
    switch (where) {
    case WHERE_NATIVE:
        return words->is_python ? "" : words->function;
    case WHERE_PYTHON:
        return words->is_python ? words->function : "";
    case WHERE_FILE:
        return words->file;
    default:
        return words->module;
    }
}

enum frame_class site_rules_class(const struct site_rules *rules, const struct frame_words *words)
{
    for (size_t i = 0; i < rules->rules.count; i++) {
        const struct rule *rule = table_at(&rules->rules, i);
        const char *word = word_of(words, rule->where);

        if (*word && pattern_fits(rule->pattern, word, rule->where == WHERE_FILE))
            return rule->class;
    }
    return words->is_python ? CLASS_PROGRAM : CLASS_NATIVE;
}

void site_rules_init(struct site_rules *rules)
{
    arena_init(&rules->arena);
    table_init(&rules->rules, &rules->arena, sizeof(struct rule));
}

void site_rules_release(struct site_rules *rules)
{
    arena_release(&rules->arena);
}

/* The word at *text, which is moved past it and the blanks that follow. */
static size_t take_word(const char **text, const char **word)
{
    size_t length = strcspn(*text, " \t");

    *word = *text;
    *text += length;
    *text += strspn(*text, " \t");
    return length;
}

static bool is_word(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static enum mt_result rule_read(const char *line, struct rule *rule, struct mt_error *error)
{
    const char *rest = line, *word;
    size_t length = take_word(&rest, &word);
    unsigned class = 0, where = 0;

    while (class < FRAME_CLASS_COUNT && !is_word(word, length, frame_classes[class].name))
        class ++;
    if (class == FRAME_CLASS_COUNT)
        return mt_error_set(error, MT_USAGE, "there is no class %.*s", (int)length, word);
    length = take_word(&rest, &word);
    while (where < WHERE_COUNT && !is_word(word, length, where_names[where]))
        where++;
    if (where == WHERE_COUNT)
        return mt_error_set(error, MT_USAGE,
                            "expected native, python, file or module after the class");
    if (!*rest)
        return mt_error_set(error, MT_USAGE, "the pattern is missing");
    *rule = (struct rule){(enum frame_class) class, (enum rule_where)where, rest};
    return MT_OK;
}

static enum mt_result rule_add(struct site_rules *rules, const char *line, struct mt_error *error)
{
    struct rule read;
    enum mt_result result = rule_read(line, &read, error);
    struct rule *rule;
    char *pattern;

    if (result != MT_OK)
        return result;
    rule = table_add(&rules->rules);
    pattern = arena_text(&rules->arena, read.pattern, strlen(read.pattern));
    if (!rule || !pattern)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for rules");
    for (char *c = pattern; read.where == WHERE_FILE && *c; c++)
        *c = path_char(*c);
    read.pattern = pattern;
    *rule = read;
    return MT_OK;
}

/* Without blanks around it, and without a line end. */
static char *trimmed(char *line)
{
    size_t length;

    line += strspn(line, " \t");
    length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    return line;
}

static enum mt_result stream_read(struct site_rules *rules, FILE *file, const char *path,
                                  struct mt_error *error)
{
    enum mt_result result = MT_OK;
    char line[line_most_bytes];

    for (unsigned number = 1; result == MT_OK && fgets(line, sizeof(line), file); number++) {
        bool is_whole = strchr(line, '\n') || feof(file);
        char *text = trimmed(line);
        struct mt_error why;

        if (!is_whole)
            return mt_error_set(error, MT_USAGE, "%s: line %u: longer than %d bytes", path, number,
                                line_most_bytes - 2);
        if (!*text || *text == '#')
            continue;
        result = rule_add(rules, text, &why);
        if (result != MT_OK)
            mt_error_set(error, result, "%s: line %u: %s", path, number, why.message);
    }
    if (result == MT_OK && ferror(file))
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    return result;
}

enum mt_result site_rules_add_file(struct site_rules *rules, const char *path,
                                   struct mt_error *error)
{
    FILE *file = fopen(path, "r");
    enum mt_result result;

    if (!file)
        return mt_error_of(error, "site_rules",
                           mt_error_set(error, MT_USAGE, "the rules for naming sites, %s: %s", path,
                                        strerror(errno)));
    result = stream_read(rules, file, path, error);
    fclose(file);
    return result;
}

enum mt_result site_rules_add_built_in(struct site_rules *rules, struct mt_error *error)
{
    FILE *file = fmemopen((void *)(uintptr_t)plumbing_rules, strlen(plumbing_rules), "r");
    enum mt_result result;

    if (!file)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for rules");
    result = stream_read(rules, file, "plumbing.rules", error);
    fclose(file);
    return result;
}
