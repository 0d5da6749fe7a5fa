/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a command.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "outlet.h"
#include "screen.h"
#include "sentence.h"

enum { specs_most = 48, help_column = 30, word_most = 40, unknown_letter = '?' };

const struct option_spec common_options[] = {
    {OPTION_LANGUAGE, 0, "lang", "en|zh", "the language of text and pages (of LC_ALL, LANG)"},
    {OPTION_HELP, 'h', "help", NULL, "this text"},
    {0},
};

static const char *spec_name_at(const void *context, size_t i)
{
    return ((const struct option_spec *)context)[i].name;
}

/* Names that an option has elsewhere, with the same meaning; --help does not list them. */
static const struct {
    enum option_id id;
    const char *name;
} other_names[] = {
    {OPTION_OUTPUT_PATH, "output-path"}, {OPTION_OUTPUT, "output-path"}, {OPTION_WHY, "explain"}};

/* Tables of getopt_long: they end where the next row comes. Letters get a colon when they take a
 * value. */
struct tables {
    char *letters;
    struct option *longs;
};

static int needs_of(const struct option_spec *spec)
{
    if (!spec->argument)
        return no_argument;
    return *spec->argument == '[' ? optional_argument : required_argument;
}

static void add_to_tables(const struct option_spec *specs, struct tables *tables)
{
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        *tables->longs++ = (struct option){spec->name, needs_of(spec), NULL, 256 + (int)spec->id};
        for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
            if (other_names[i].id == spec->id)
                *tables->longs++ = (struct option){other_names[i].name, required_argument, NULL,
                                                   256 + (int)spec->id};
        if (!spec->letter)
            continue;
        *tables->letters++ = spec->letter;
        if (spec->argument)
            *tables->letters++ = ':';
    }
}

static void make_tables(const struct option_spec *specs, bool stops_at_operand, char *letters,
                        struct option *longs)
{
    struct tables tables = {letters, longs};

    if (stops_at_operand)
        *tables.letters++ = '+';
    *tables.letters++ = ':';
    add_to_tables(specs, &tables);
    add_to_tables(common_options, &tables);
    *tables.letters = 0;
    *tables.longs = (struct option){NULL, 0, NULL, 0};
}

static int id_of_letter(const struct option_spec *specs, int letter)
{
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (spec->letter == letter)
            return (int)spec->id;
    return specs == common_options ? -1 : id_of_letter(common_options, letter);
}

static enum mt_result say_unknown(const struct option_spec *specs, const char *command,
                                  const char *word, struct mt_error *error)
{
    char name[word_most + 1] = "";
    const char *nearest;
    size_t length;

    if (strncmp(word, "--", 2) != 0)
        return mt_error_set(error, MT_USAGE, "unknown option %s; see leaktide %s --help", word,
                            command);
    length = strcspn(word + 2, "=");
    snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
    nearest = nearest_name(name, spec_name_at, specs);
    if (nearest)
        return mt_error_set(error, MT_USAGE, "unknown option %s; did you mean --%s?", word,
                            nearest);
    return mt_error_set(error, MT_USAGE, "unknown option %s; see leaktide %s --help", word,
                        command);
}

/* Options that may be given more than once; each command has at most one of them. */
static const bool may_repeat[OPTION_COUNT] = {[OPTION_BASE] = true};

enum mt_result options_parse(const struct option_spec *specs, bool stops_at_operand, int argc,
                             char **argv, struct options *options, struct mt_error *error)
{
    char letters[3 * specs_most];
    struct option longs[specs_most];
    int found;

    memset(options, 0, sizeof(*options));
    make_tables(specs, stops_at_operand, letters, longs);
    opterr = 0;
    optind = 0; /* start again: glibc */
    while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        /* Of several letters in one word, optind is still at the word. */
        const char *word = argv[optind > 1 ? optind - 1 : 1];
        int id = found >= 256 ? found - 256 : id_of_letter(specs, found);

        if (found == ':')
            return mt_error_set(error, MT_USAGE, "%s needs a value", word);
        if (found == unknown_letter || id < 0)
            return say_unknown(specs, argv[0], word, error);
        options->values[id] = optarg ? optarg : "";
        if (!may_repeat[id])
            continue;
        if (options->repeated_count == OPTION_REPEATS_MOST)
            return mt_error_set(error, MT_USAGE, "%s is given more than %d times", word,
                                OPTION_REPEATS_MOST);
        options->repeated[options->repeated_count++] = optarg;
    }
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    return MT_OK;
}

static void print_spec(const struct option_spec *spec, struct outlet *name, struct outlet *out)
{
    size_t width;

    outlet_clear(name);
    if (spec->letter)
        outlet_format(name, "  -%c, --%s", spec->letter, spec->name);
    else
        outlet_format(name, "      --%s", spec->name);
    if (spec->argument)
        outlet_format(name, "%s%s", *spec->argument == '[' ? "" : "=", spec->argument);
    width = outlet_width(name);
    outlet_fill_begin(out);
    outlet_append(out, name);
    outlet_blanks(out, width < help_column ? help_column - width : 2);
    outlet_words(out, translated(spec->meaning));
    outlet_add(out, "\n");
    outlet_fill_end(out, help_column);
}

bool options_print(const struct option_spec *specs, FILE *file)
{
    struct outlet *out = outlet_create(FOR_TERMINAL, file);
    struct outlet *name = outlet_create(FOR_TERMINAL, NULL);
    struct terminal_look look = screen_look(fileno(file));

    outlet_show(out, &look);
    for (const struct option_spec *spec = specs; spec->name; spec++)
        print_spec(spec, name, out);
    for (const struct option_spec *spec = common_options; spec->name; spec++)
        print_spec(spec, name, out);
    if (!outlet_destroy(name))
        outlet_fail(out);
    return outlet_destroy(out);
}

enum mt_result option_number(const char *name, const char *value, size_t most, size_t *number,
                             struct mt_error *error)
{
    unsigned long long read;
    char *end;

    if (!value)
        return MT_OK;
    errno = 0;
    read = strtoull(value, &end, 10);
    if (errno || *value < '0' || *value > '9' || *end || read > most)
        return mt_error_set(error, MT_USAGE, "--%s=%s: a whole number from 0 to %zu is needed",
                            name, value, most);
    *number = (size_t)read;
    return MT_OK;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* A decimal number and a unit, exactly; false for anything else. */
static bool read_scaled(const char *value, const struct unit *units, uint64_t *number)
{
    unsigned __int128 digits = 0, scale = 1;
    const char *c = value;

    for (bool is_fraction = false; (*c >= '0' && *c <= '9') || (*c == '.' && !is_fraction); c++) {
        is_fraction |= *c == '.';
        if (*c == '.')
            continue;
        if (digits > UINT64_MAX)
            return false;
        digits = digits * 10 + (unsigned)(*c - '0');
        scale *= is_fraction ? 10 : 1;
    }
    while (units->name && strcmp(units->name, c) != 0)
        units++;
    if (!units->name || *value < '0' || *value > '9' || digits > UINT64_MAX ||
        digits * units->factor / scale > UINT64_MAX)
        return false;
    *number = (uint64_t)(digits * units->factor / scale);
    return true;
}

enum mt_result option_size(const char *name, const char *value, uint64_t *size_bytes,
                           struct mt_error *error)
{
    static const struct unit units[] = {
        {"", 1},          {"B", 1},        {"K", 1 << 10},   {"KB", 1 << 10}, {"KiB", 1 << 10},
        {"M", 1 << 20},   {"MB", 1 << 20}, {"MiB", 1 << 20}, {"G", 1 << 30},  {"GB", 1 << 30},
        {"GiB", 1 << 30}, {"k", 1 << 10},  {"m", 1 << 20},   {"g", 1 << 30},  {NULL, 0},
    };

    if (!value || read_scaled(value, units, size_bytes))
        return MT_OK;
    return mt_error_set(error, MT_USAGE, "--%s=%s: a size is needed, such as 4096, 64K or 1.5G",
                        name, value);
}

enum mt_result option_time(const char *name, const char *value, uint64_t *time_ns,
                           struct mt_error *error)
{
    static const struct unit units[] = {
        {"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
    };

    if (!value || read_scaled(value, units, time_ns))
        return MT_OK;
    return mt_error_set(error, MT_USAGE,
                        "--%s=%s: a time is needed, such as 1.25s, 300ms or nanoseconds", name,
                        value);
}

const char *option_of_member(const char *member)
{
    static const struct {
        const char *member, *option;
    } names[] = {
        {"steps", "steps"},
        {"schedule.active", "active"},
        {"step_site", "step-site"},
        {"operators", "operators"},
        {"site_rules", "site-rules"},
        {"sysroot", "sysroot"},
        {"debug_folders", "debug-dir"},
        {"allocator_settings", "try"},
        {"policy_path", "policy"},
        {"table", "table"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].member, member) == 0)
            return names[i].option;
    return NULL;
}
