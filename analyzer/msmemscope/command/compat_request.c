/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the words of a command line, of msleaks or msmemscope, into a request.
 *
 *   msmemscope --analysis=leaks python train.py --level=kernel --lr 0.1 --steps=3
 *              `--- ours ----'                  `--- ours ---' `- the program's -'
 *
 * After the program, the first option that is not known, and all after it, is the program's. A
 * "--" ends ours anywhere.
 */
#define _GNU_SOURCE
#include "compat_request.h"

#include <string.h>
#include <sys/stat.h>

#include "compat_options.h"

struct reader {
    struct compat_request *request;
    int argc, next; /* of argv: the next word */
    char **argv;
    bool is_over; /* what follows is the program's */
    struct mt_error *error;
};

static enum mt_result say(const struct reader *reader, const char *word, const char *hint)
{
    const struct compat_generation *generation = reader->request->generation;

    return mt_error_set(reader->error, MT_USAGE, "[%s] %s: %s%s; see %s --help",
                        generation->program, generation->error_word, word, hint,
                        generation->program);
}

/* U+FF0C, which Chinese keyboards make, separates like a comma. NULL when there is no memory. */
static const char *ascii_commas(struct compat_request *request, const char *value)
{
    char *copy = arena_text(&request->arena, value, strlen(value)), *to = copy;

    for (const char *from = copy; copy && *from;) {
        bool is_wide = strncmp(from, "\xef\xbc\x8c", 3) == 0;

        *to++ = is_wide ? ',' : *from;
        from += is_wide ? 3 : 1;
    }
    if (copy)
        *to = 0;
    return copy;
}

static const struct compat_option *resolve(struct compat_request *request,
                                           const struct compat_option *option)
{
    if (!option->stands_for)
        return option;
    if (request->generation->name == COMPAT_MSMEMSCOPE)
        text_add_format(&request->notes,
                        "[%s] Deprecation: '--%s' is deprecated, use '--%s' instead.\n",
                        request->generation->program, option->name, option->stands_for);
    return compat_option_of_name(option->stands_for, strlen(option->stands_for), false);
}

static enum mt_result apply(struct reader *reader, const struct compat_option *option,
                            const char *value)
{
    struct compat_request *request = reader->request;
    const struct compat_generation *generation = request->generation;
    struct text_builder why;
    enum mt_result result = MT_OK;

    option = resolve(request, option);
    if (value && option->is_list)
        value = ascii_commas(request, value);
    text_init(&why);
    if ((option->argument && !value) || !option->set(request, value, &why))
        result = mt_error_set(
            reader->error, MT_USAGE, "[%s] %s: invalid %s input. --%s=%s%s", generation->program,
            generation->error_word, option->subject, option->name, text_get(&why),
            request->program_count ? "; if it is the program's own, write -- before the program"
                                   : "");
    text_release(&why);
    return result;
}

/* The value of an option that has none in its own word; NULL when there is no other word. */
static const char *next_word(struct reader *reader)
{
    return reader->next < reader->argc ? reader->argv[reader->next++] : NULL;
}

static void take_operand(struct reader *reader, char *word)
{
    reader->request->program[reader->request->program_count++] = word;
}

/* After the program, what is not known is the program's, with all that follows. */
static enum mt_result unknown(struct reader *reader, char *word)
{
    if (!reader->request->program_count)
        return say(reader, word, ": there is no such option");
    reader->is_over = true;
    take_operand(reader, word);
    return MT_OK;
}

static enum mt_result read_long(struct reader *reader, char *word)
{
    size_t length = strcspn(word + 2, "=");
    const struct compat_option *option =
        compat_option_of_name(word + 2, length, !reader->request->program_count);
    const char *value = word[2 + length] ? word + 3 + length : NULL;

    if (!option || (value && !option->argument && reader->request->program_count))
        return unknown(reader, word);
    if (value && !option->argument)
        return say(reader, word, ": this option takes no value");
    if (option->argument && !value) {
        value = next_word(reader);
        if (!value)
            return say(reader, word, " needs a value");
    }
    return apply(reader, option, value);
}

/* All letters of the word, up to one that takes the rest as its value, are known. */
static bool knows_letters(const struct reader *reader, const char *letters)
{
    for (; *letters; letters++) {
        const struct compat_option *option =
            compat_option_of_letter(reader->request->generation->name, *letters);

        if (!option)
            return false;
        if (option->argument)
            return true;
    }
    return true;
}

static enum mt_result read_letters(struct reader *reader, char *word)
{
    struct compat_request *request = reader->request;
    enum mt_result result = MT_OK;

    if (!knows_letters(reader, word + 1))
        return unknown(reader, word);
    if (request->program_count)
        text_add_format(&request->notes,
                        "[%s] Note: %s after the program was taken as ours; write -- before the "
                        "program if it is the program's\n",
                        request->generation->program, word);
    for (const char *letter = word + 1; *letter && result == MT_OK; letter++) {
        const struct compat_option *option =
            compat_option_of_letter(request->generation->name, *letter);
        const char *value = NULL;

        if (option->argument) {
            value = letter[1] ? letter + 1 : next_word(reader);
            if (!value)
                return say(reader, word, " needs a value");
        }
        result = apply(reader, option, value);
        if (option->argument)
            break;
    }
    return result;
}

static enum mt_result read_word(struct reader *reader, char *word)
{
    if (reader->is_over || word[0] != '-' || !word[1]) {
        take_operand(reader, word);
        return MT_OK;
    }
    if (strcmp(word, "--") == 0) {
        reader->is_over = true;
        return MT_OK;
    }
    return word[1] == '-' ? read_long(reader, word) : read_letters(reader, word);
}

/* A folder of ours: its files are written once more. */
static bool is_recording(const char *path)
{
    struct stat entry;

    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

static bool asks_offline(const struct compat_request *request)
{
    return request->input_count == 1 && !request->wants_compare && !request->program_count &&
           (request->has_recording || request->dump.analyses == DUMP_BIT_LEAKS ||
            request->dump.analyses == DUMP_BIT_INEFFICIENT);
}

static enum mt_result say_wrong_inputs(const struct reader *reader)
{
    const struct compat_request *request = reader->request;
    struct stat entry;

    if (request->input_count == 1 && !request->wants_compare && !request->program_count &&
        stat(request->inputs[0], &entry) != 0)
        return say(reader, request->inputs[0], ": there is no such file or folder");
    return say(reader, "Please use compare command with correct input paths!",
               request->wants_compare ? " --input-path names two files"
                                      : " --input-path is for --compare");
}

/* What fits together, and whether there is anything to do. */
static enum mt_result check(struct reader *reader)
{
    struct compat_request *request = reader->request;

    if (request->wants_help || request->wants_version)
        return MT_OK;
    request->has_recording = request->input_count == 1 && is_recording(request->inputs[0]);
    if (request->wants_compare != (request->input_count == 2) || request->input_count > 2 ||
        (request->input_count == 1 && !asks_offline(request)))
        return say_wrong_inputs(reader);
    if (request->wants_compare && request->dump.levels == (DUMP_BIT_OP | DUMP_BIT_KERNEL))
        return say(reader, "--compare", " looks at one level: op or kernel");
    if (request->attach_command && !request->attach_pid)
        return say(reader, "--command", " needs --pid");
    if (request->program_count || request->wants_compare || request->attach_pid ||
        asks_offline(request))
        return MT_OK;
    return say(reader, "there is no program to record", "");
}

static void set_defaults(struct compat_request *request, const struct compat_generation *generation)
{
    *request = (struct compat_request){
        .generation = generation,
        .has_process_folders = generation->has_process_folders,
        .dump = {.levels = DUMP_BIT_OP,
                 .events = DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_LAUNCH,
                 .analyses = DUMP_BIT_LEAKS,
                 .oom_top = 10,
                 .has_all_devices = true,
                 .table = generation->dump_prefix},
        .watch = {.start = "", .end = "", .output_id = UINT32_MAX},
        .offline = {.idle_threshold = 3000},
        .output_path = generation->output_folder,
        .log_level = generation->name == COMPAT_MSLEAKS ? COMPAT_WARNING : COMPAT_INFO,
        .sample_rate = 1,
    };
    text_init(&request->notes);
    arena_init(&request->arena);
}

enum mt_result compat_request_read(struct compat_request *request,
                                   const struct compat_generation *generation, int argc,
                                   char **argv, struct mt_error *error)
{
    struct reader reader = {
        .request = request, .argc = argc, .next = 1, .argv = argv, .error = error};
    enum mt_result result = MT_OK;

    set_defaults(request, generation);
    request->program = arena_alloc(&request->arena, ((size_t)argc + 1) * sizeof(*request->program));
    if (!request->program)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the command line");
    while (result == MT_OK && reader.next < argc)
        result = read_word(&reader, argv[reader.next++]);
    if (result == MT_OK)
        result = check(&reader);
    if (result != MT_OK)
        compat_request_release(request);
    return result;
}

void compat_request_release(struct compat_request *request)
{
    text_release(&request->notes);
    arena_release(&request->arena);
}

uint32_t compat_events_needed(const struct compat_request *request)
{
    static const struct {
        uint32_t analysis, events;
    } needs[] = {
        {DUMP_BIT_LEAKS, DUMP_BIT_ALLOC | DUMP_BIT_FREE},
        {DUMP_BIT_DECOMPOSE, DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_ACCESS},
        {DUMP_BIT_INEFFICIENT, DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_ACCESS | DUMP_BIT_LAUNCH},
        {DUMP_BIT_OOM, DUMP_BIT_ALLOC | DUMP_BIT_FREE},
    };
    uint32_t events = request->dump.events;

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (request->dump.analyses & needs[i].analysis)
            events |= needs[i].events;
    if (events & DUMP_BIT_ACCESS || events & DUMP_BIT_ALLOC || events & DUMP_BIT_FREE)
        events |= DUMP_BIT_ALLOC | DUMP_BIT_FREE;
    return events;
}
