/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records a program: the request becomes the words of `leaktide run`.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "compat_command.h"
#include "compat_files.h"
#include "compat_layout.h"

enum { RUN_WORDS_MOST = 16 };

/* The words of leaktide run, as they are added; texts are released with it. */
struct run_words {
    struct text_builder texts[RUN_WORDS_MOST];
    size_t count;
};

static struct text_builder *word_add(struct run_words *words, const char *text)
{
    struct text_builder *word = &words->texts[words->count++];

    text_init(word);
    text_add(word, text);
    return word;
}

static void words_release(struct run_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        text_release(&words->texts[i]);
}

/*
 * Host memory of the driver is recorded with its device memory, so that is what both npu and cpu
 * ask for; the heap of the program is another matter.
 */
static void add_device(struct run_words *words, const struct compat_request *request)
{
    bool has_heap = (request->dump.analyses & DUMP_BIT_HOST_LEAKS) != 0;

    word_add(words, has_heap ? "--device=npu,cpu" : "--device=npu");
}

static void add_events(struct run_words *words, const struct compat_request *request)
{
    static const struct {
        uint32_t event;
        const char *word;
    } names[] = {{DUMP_BIT_LAUNCH, ",launch"}, {DUMP_BIT_ACCESS, ",access"}};
    struct text_builder *word = word_add(words, "--events=alloc,free");
    uint32_t events = compat_events_needed(request);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (events & names[i].event)
            text_add(word, names[i].word);
}

static void add_stacks(struct run_words *words, const struct compat_request *request)
{
    uint32_t c = request->dump.c_depth, python = request->dump.python_depth;
    struct text_builder *word;

    if (!c && !python) {
        word_add(words, "--call-stack=c"); /* not in its files: for the questions of leaktide */
        return;
    }
    word = word_add(words, "--call-stack=");
    if (c)
        text_add_format(word, "c:%u%s", c, python ? "," : "");
    if (python)
        text_add_format(word, "python:%u", python);
}

static void add_watch(struct run_words *words, const struct compat_watch *watch)
{
    struct text_builder *word;

    if (!watch->is_wanted)
        return;
    word = word_add(words, "--watch=");
    text_add(word, watch->start);
    if (watch->has_output_id)
        text_add_format(word, ":%u", watch->output_id);
    text_add_format(word, ",%s%s", watch->end, watch->has_full_content ? ",full-content" : "");
}

/* The original knows the weights of optimizers alone. */
static void pass_weights(void)
{
    const char *old = getenv("LEAKTIDE_OPTIONS");
    struct text_builder text;

    text_init(&text);
    text_add_format(&text, "%s%s--weights=no", old ? old : "", old ? " " : "");
    setenv("LEAKTIDE_OPTIONS", text_get(&text), 1);
    text_release(&text);
}

static int run_words(struct run_words *words, const struct compat_request *request)
{
    char *argv[RUN_WORDS_MOST + 1] = {NULL};
    struct options options;
    struct mt_error error;

    for (size_t i = 0; i < words->count; i++)
        argv[i] = words->texts[i].bytes;
    if (options_parse(command_run.options, true, (int)words->count, argv, &options, &error) !=
        MT_OK)
        return complain(EXIT_USAGE, "%s", error.message);
    options.operands = request->program;
    options.operand_count = request->program_count;
    return command_run.run(&command_run, &options);
}

/* <folder>/<name>_<time>_<our process>.leaktide: what the program wrote, before it is put in form.
 */
static enum mt_result trace_folder_name(const struct compat_request *request, char *path,
                                        size_t path_bytes, struct mt_error *error)
{
    char stamp[COMPAT_STAMP_BYTES];
    enum mt_result result = compat_folders_make(request->output_path, error);

    if (result != MT_OK)
        return result;
    compat_stamp(time(NULL), stamp);
    if (snprintf(path, path_bytes, "%s/%s_%s_%d.leaktide", request->output_path,
                 request->generation->program, stamp, (int)getpid()) >= (int)path_bytes)
        return mt_error_set(error, MT_USAGE, "--output-path: the path is too long");
    return MT_OK;
}

int compat_record(const struct compat_request *request)
{
    struct run_words words = {.count = 0};
    char folder[PATH_MAX];
    struct mt_error error;
    size_t process_count;
    int status;

    if (trace_folder_name(request, folder, sizeof(folder), &error) != MT_OK)
        return complain(EXIT_USAGE, "%s", error.message);
    word_add(&words, "run");
    text_add(word_add(&words, "--output-path="), folder);
    add_device(&words, request);
    add_events(&words, request);
    add_stacks(&words, request);
    add_watch(&words, &request->watch);
    if (request->is_deferred)
        word_add(&words, "--collect-mode=history");
    if (request->log_level >= COMPAT_ERROR)
        word_add(&words, "--quiet");
    pass_weights();
    status = run_words(&words, request);
    words_release(&words);
    if (!compat_files_write(request, folder, &process_count) && status == EXIT_FINE)
        status = EXIT_INPUT;
    rmdir(request->output_path); /* only when nothing came into it */
    return status;
}
