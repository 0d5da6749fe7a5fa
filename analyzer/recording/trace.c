/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open recording: its inputs, the readings that add it up, and the steps that are looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "event_reader.h"
#include "helpers.h"
#include "input_list.h"
#include "owner_source.h"
#include "read_ahead.h"
#include "reading_watch.h"
#include "stepping.h"
#include "symbols.h"
#include "tally.h"
#include "trace_question.h"
#include "verdict.h"

/* What is read. */
struct extent {
    struct trace_scope scope;
    const uint16_t *process; /* this one alone; NULL: all */
};

/* A short recording is read by one thread. */
enum { alone_events = 1 << 16 };

/* In the folder of a recording: names of its functions, so that they survive its programs. */
#define NAMES_FOLDER "names"

struct mt_trace {
    struct model *model;
    struct tally *tally;
    struct symbols *symbols;
    struct arena arena;
    struct input_list inputs; /* of whoever reads: the thread that reads ahead */
    struct read_ahead *ahead;
    struct reading_watch watch;
    struct event_source events;  /* the steps that are looked at are in it, once they are known */
    struct owned_blocks owned;   /* blocks that were given an owner later */
    struct owner_source *owners; /* NULL: none was */
    struct stepping stepping;
    bool is_of_ledgers;            /* the first reading */
    bool has_found;                /* steps that are still to be confirmed */
    struct pending_sums pending;   /* its context is NULL: nothing is */
    const char *question;          /* the only one that may be asked; NULL: any */
    bool has_pictures;             /* are part of it */
    uint16_t process;              /* that alone is read, if one is */
    struct process_use use;        /* of it, with the steps that the program marked */
    struct verdict_keeper kept;    /* what is thought of it */
    struct verdict_keeper *keeper; /* of kept */
};

static enum mt_result read_ahead_begin(struct mt_trace *trace,
                                       const struct mt_open_options *options,
                                       struct mt_error *error)
{
    struct event_source all = input_list_events(&trace->inputs);

    trace->ahead = read_ahead_create(&all, alone_events);
    if (!trace->ahead)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for batches of events");
    trace->events = read_ahead_events(trace->ahead);
    if (options->on_progress) {
        reading_watch_init(&trace->watch, &trace->events, options->on_progress,
                           options->progress_context);
        trace->events = reading_watch_events(&trace->watch);
    }
    return MT_OK;
}

/* Adds all up from where the source stands. */
static enum mt_result read_all(const struct event_source *events, struct tally *tally,
                               struct mt_error *error)
{
    struct event_reader reader;
    enum mt_result result = event_reader_begin(&reader, events, error);
    const struct event *batch;
    size_t count = 1;

    while (result == MT_OK && count) {
        result = event_reader_next(&reader, &batch, &count, error);
        if (result == MT_OK)
            result = tally_feed(tally, batch, count, error);
    }
    event_reader_end(&reader);
    return result;
}

/* Adds everything up again, with other steps or owners. */
static enum mt_result read_again(struct mt_trace *trace, struct tally **tally,
                                 struct mt_error *error)
{
    enum mt_result result = tally_create(trace->model, tally, error);

    if (result == MT_OK)
        result = trace->events.rewind(trace->events.context, error);
    if (result == MT_OK)
        result = read_all(&trace->events, *tally, error);
    if (result == MT_OK)
        tally_finish(*tally);
    return result;
}

/* Blocks that were given an owner later have it from their beginning. */
static enum mt_result owners_begin(struct mt_trace *trace, struct mt_error *error)
{
    enum mt_result result;

    if (trace->owned.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the owners of blocks");
    if (!trace->owned.count)
        return MT_OK;
    owned_blocks_settle(&trace->owned, trace->model);
    result = owner_source_create(&trace->events, &trace->owned, &trace->owners, error);
    if (result == MT_OK)
        trace->events = owner_source_events(trace->owners);
    return result;
}

/* *is_taken: the sums with these steps are those that count; else the steps that were found are
 * none. */
static enum mt_result read_stepped(struct mt_trace *trace, bool *is_taken, struct mt_error *error)
{
    struct tally *marked = trace->tally, *stepped = NULL;
    enum mt_result result = read_again(trace, &stepped, error);

    *is_taken = result == MT_OK && stepping_confirm(&trace->stepping, stepped);
    if (!*is_taken) {
        trace->events = stepping_marked_events(&trace->stepping);
        tally_destroy(stepped);
        return result;
    }
    trace->tally = stepped;
    if (step_choice_is_made(&trace->stepping.choice) && !tally_step_count(stepped))
        result = mt_error_set(error, MT_NO_DATA,
                              "the recording has %zu steps, and none of those asked for",
                              tally_step_count(marked));
    tally_destroy(marked);
    return result;
}

/* What the first reading added up is right unless blocks have owners. */
static enum mt_result read_owned(struct mt_trace *trace, struct mt_error *error)
{
    if (!trace->owners)
        return MT_OK;
    tally_destroy(trace->tally);
    trace->tally = NULL;
    return read_again(trace, &trace->tally, error);
}

/* --- a reading that waits for the question ---------------------------------------------------- */

/* It is about sums that go. */
static void verdict_drop(struct mt_trace *trace)
{
    verdict_destroy(trace->kept.verdict);
    trace->kept.verdict = NULL;
}

/* What the first reading added up is replaced by the sums, or by nothing if they are not right. */
static void pending_settle(struct mt_trace *trace, struct question *question, struct tally *sums,
                           bool are_right)
{
    if (are_right) {
        verdict_drop(trace);
        tally_destroy(trace->tally);
        trace->tally = sums;
        trace->pending.context = NULL;
    } else {
        tally_destroy(sums);
    }
    question->tally = trace->tally;
    question->before = NULL;
}

/* Into new sums; visitors see the blocks meanwhile. */
static enum mt_result add_up_seen(struct mt_trace *trace, struct question *question,
                                  const struct life_visitor *visitors, size_t visitor_count,
                                  struct tally **sums, struct mt_error *error)
{
    enum mt_result result = tally_create(trace->model, sums, error);

    if (result != MT_OK)
        return result;
    question->before = trace->tally;
    question->tally = *sums;
    return lives_add_up(&trace->events, *sums, visitors, visitor_count, error);
}

static enum mt_result pending_read(void *context, struct question *question,
                                   const struct life_visitor *visitors, size_t visitor_count,
                                   bool *is_done, struct mt_error *error)
{
    struct mt_trace *trace = context;
    struct tally *sums = NULL;
    enum mt_result result =
        visitor_count ? add_up_seen(trace, question, visitors, visitor_count, &sums, error)
                      : read_again(trace, &sums, error);

    *is_done = false;
    if (result == MT_OK) {
        *is_done = !trace->has_found || stepping_confirm(&trace->stepping, sums);
        if (!*is_done)
            trace->events = stepping_marked_events(&trace->stepping);
        trace->has_found = *is_done && trace->has_found;
    }
    pending_settle(trace, question, sums, *is_done);
    return result;
}

const struct pending_sums *trace_pending(const struct mt_trace *trace)
{
    return trace->pending.context ? &trace->pending : NULL;
}

/* Windows have other peaks than the first reading saw. */
static bool may_wait(const struct mt_trace *trace, const struct extent *extent)
{
    return extent->scope.need == TRACE_BLOCKS && !trace->stepping.site_name &&
           !step_choice_is_made(&trace->stepping.choice);
}

/*
 * Where host memory is recorded, blocks are looked at whatever the steps are: the first reading
 * needs to find these and owners, and adds up only what is asked before the second one.
 */
static bool is_only_of_ledgers(const struct mt_trace *trace, const struct extent *extent,
                               const struct event *events, size_t count)
{
    if (!may_wait(trace, extent))
        return false;
    for (size_t i = 0; i < count; i++)
        if (tally_is_of_heap(trace->tally, &events[i]))
            return true;
    return false;
}

/* --- the first reading, and what follows it --------------------------------------------------- */

/* Adds up, and looks for steps. */
static enum mt_result read_first(struct mt_trace *trace, const struct extent *extent,
                                 struct mt_error *error)
{
    struct event_reader reader;
    enum mt_result result = event_reader_begin(&reader, &trace->events, error);
    const struct event *batch;
    size_t count = 1;

    for (bool is_first = true; result == MT_OK && count; is_first = false) {
        result = event_reader_next(&reader, &batch, &count, error);
        if (result != MT_OK || !count)
            break;
        trace->is_of_ledgers |= is_first && is_only_of_ledgers(trace, extent, batch, count);
        if (is_first && trace->is_of_ledgers)
            tally_want_ledgers(trace->tally);
        result = tally_feed(trace->tally, batch, count, error);
        if (trace->stepping.finder)
            step_finder_feed(trace->stepping.finder, batch, count);
    }
    event_reader_end(&reader);
    return result;
}

/* A second reading takes the place of the first, where owners or other steps are known by then. */
static enum mt_result read_chosen(struct mt_trace *trace, const struct extent *extent,
                                  struct mt_error *error)
{
    bool is_changed = false, is_taken = false;
    enum mt_result result;

    tally_finish(trace->tally);
    helpers_mark(trace->model, trace->tally);
    if (trace->process < model_process_count(trace->model))
        trace->use = helpers_use(trace->model, trace->tally, trace->process);
    result = owners_begin(trace, error);
    if (result == MT_OK)
        result = stepping_begin(&trace->stepping, trace->model, trace->symbols, &trace->events,
                                &is_changed, error);
    if (result == MT_OK &&
        (trace->is_of_ledgers || ((is_changed || trace->owners) && may_wait(trace, extent)))) {
        trace->has_found = is_changed;
        trace->pending = (struct pending_sums){trace, pending_read};
        return MT_OK;
    }
    if (result == MT_OK && is_changed)
        result = read_stepped(trace, &is_taken, error);
    if (result == MT_OK && !is_taken)
        result = read_owned(trace, error);
    return result;
}

static enum mt_result stepping_read(struct mt_trace *trace, const struct mt_open_options *options,
                                    struct mt_error *error)
{
    return stepping_init(&trace->stepping, trace->model, options->steps, &options->schedule,
                         options->step_site, error);
}

/* Of each input, also of one that has none. */
static const char *const *name_folders_of(struct mt_trace *trace, const char *const *paths,
                                          size_t count)
{
    const char **folders = arena_alloc(&trace->arena, (count + 1) * sizeof(*folders));

    for (size_t i = 0; folders && i < count; i++)
        folders[i] = arena_format(&trace->arena, "%s/" NAMES_FOLDER, paths[i]);
    return folders;
}

static enum mt_result symbols_begin(struct mt_trace *trace, const char *const *paths, size_t count,
                                    const struct mt_open_options *options, struct mt_error *error)
{
    enum mt_result result = symbols_create(trace->model, &trace->symbols, error);
    const char *const *folders = name_folders_of(trace, paths, count);

    if (result != MT_OK)
        return result;
    if (!folders)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for names of folders");
    return symbols_configure(trace->symbols,
                             &(struct symbols_options){
                                 .rule_files = options->site_rules,
                                 .sysroot = options->sysroot,
                                 .debug_folders = options->debug_folders,
                                 .name_folders = folders,
                                 .name_folder_count = count,
                                 .asks_servers = options->asks_debug_servers,
                             },
                             error);
}

static enum mt_result operators_choose(struct model *model, const struct mt_open_options *options,
                                       struct mt_error *error)
{
    bool is_list = options->question && strcmp(options->question, "ops") == 0;
    const char *view = options->operators ? options->operators : is_list ? "profiler" : "caller";

    if (strcmp(view, "profiler") == 0)
        model_set_operators(model, OPERATORS_OF_PROFILERS);
    else if (strcmp(view, "caller") != 0)
        return mt_error_of(
            error, "operators",
            mt_error_set(error, MT_USAGE, "operators: %s is neither profiler nor caller", view));
    return MT_OK;
}

/* Everything that reading needs. */
static enum mt_result begin_all(struct mt_trace *trace, const char *const *paths, size_t count,
                                const struct mt_open_options *options, struct extent extent,
                                struct mt_error *error)
{
    enum mt_result result = model_create(&trace->model, error);

    if (result == MT_OK && options->is_partial)
        model_want_partial(trace->model);
    if (result == MT_OK && extent.scope.need == TRACE_TOTALS)
        model_want_no_sites(trace->model);
    if (result == MT_OK)
        model_want_loads(trace->model, extent.scope.loads);
    if (result == MT_OK && extent.process)
        model_want_process(trace->model, *extent.process);
    if (result == MT_OK)
        result = operators_choose(trace->model, options, error);
    if (result == MT_OK)
        result = input_list_init(&trace->inputs, trace->model, paths, count, error);
    if (result == MT_OK)
        result = read_ahead_begin(trace, options, error);
    if (result == MT_OK)
        result = tally_create(trace->model, &trace->tally, error);
    if (result == MT_OK)
        result = symbols_begin(trace, paths, count, options, error);
    if (result == MT_OK)
        result = stepping_read(trace, options, error);
    return result;
}

static enum mt_result read_everything(struct mt_trace *trace, const struct extent *extent,
                                      struct mt_error *error)
{
    const struct input_list *inputs = &trace->inputs;
    enum mt_result result;

    if (model_wants_sites(trace->model))
        tally_keep_owners(trace->tally, &trace->owned);
    result = read_first(trace, extent, error);
    reading_watch_expect(&trace->watch, trace_event_count(trace));
    if (result == MT_OK)
        result = read_chosen(trace, extent, error);
    if (result == MT_OK)
        result = model_status(trace->model, error);
    if (result == MT_OK && !trace_event_count(trace) && inputs->damage_result != MT_OK)
        result = mt_error_set(error, inputs->damage_result, "%s", inputs->damage.message);
    return result;
}

static enum mt_result open_whole(const char *const *paths, size_t count,
                                 const struct mt_open_options *options, struct extent extent,
                                 struct mt_trace **out, struct mt_error *error)
{
    struct mt_trace *trace = calloc(1, sizeof(*trace));
    enum mt_result result;

    if (!trace)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", count ? paths[0] : "it");
    arena_init(&trace->arena);
    trace->keeper = &trace->kept;
    trace->question = options->question;
    trace->has_pictures = options->ask_flags & MT_ASK_PICTURES;
    trace->process = extent.process ? *extent.process : 0;
    result = begin_all(trace, paths, count, options, extent, error);
    if (result == MT_OK)
        result = read_everything(trace, &extent, error);
    if (result != MT_OK) {
        trace_close(trace);
        return result;
    }
    *out = trace;
    return MT_OK;
}

static bool asks_for_steps(const struct mt_open_options *options)
{
    return options->steps || options->step_site || options->schedule.active;
}

/* Without sites; but requests that failed are shown with theirs. */
static enum mt_result open_totals(const char *const *paths, size_t count,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error)
{
    struct mt_open_options marked = *options;
    struct mt_trace *trace;
    enum mt_result result;

    marked.step_site = "";
    result = open_whole(paths, count, &marked, (struct extent){{TRACE_TOTALS, LOADS_WHOLE}, NULL},
                        &trace, error);
    if (result != MT_OK)
        return result;
    if (tally_event_count(trace->tally, EVENT_ALLOC_FAILED)) {
        trace_close(trace);
        return open_whole(paths, count, &marked, (struct extent){{TRACE_SUMS, LOADS_WHOLE}, NULL},
                          out, error);
    }
    *out = trace;
    return MT_OK;
}

enum mt_result trace_open(const char *const *paths, size_t count,
                          const struct mt_open_options *options, struct trace_scope scope,
                          struct mt_trace **out, struct mt_error *error)
{
    if (scope.need == TRACE_TOTALS && asks_for_steps(options))
        scope.need = TRACE_SUMS;
    if (scope.need == TRACE_TOTALS)
        return open_totals(paths, count, options, out, error);
    return open_whole(paths, count, options, (struct extent){scope, NULL}, out, error);
}

enum mt_result trace_open_process(const char *path, uint16_t process,
                                  const struct mt_open_options *options, struct mt_trace **out,
                                  struct mt_error *error)
{
    return open_whole(&path, 1, options, (struct extent){{TRACE_SUMS, LOADS_WHOLE}, &process}, out,
                      error);
}

enum mt_result trace_allows(const struct mt_trace *trace, const char *question, bool has_pictures,
                            struct mt_error *error)
{
    if (!trace->question || (question && strcmp(trace->question, question) == 0 &&
                             (trace->has_pictures || !has_pictures)))
        return MT_OK;
    return mt_error_set(error, MT_USAGE, "the recording was opened for the question %s alone",
                        trace->question);
}

void trace_close(struct mt_trace *trace)
{
    if (!trace)
        return;
    verdict_drop(trace);
    read_ahead_destroy(trace->ahead);
    input_list_release(&trace->inputs);
    stepping_release(&trace->stepping);
    owner_source_destroy(trace->owners);
    owned_blocks_release(&trace->owned);
    symbols_destroy(trace->symbols);
    arena_release(&trace->arena); /* after the symbols, which borrow from it */
    tally_destroy(trace->tally);
    model_destroy(trace->model);
    free(trace);
}

struct process_use trace_process_use(const struct mt_trace *trace)
{
    return trace->use;
}

struct model *trace_model(const struct mt_trace *trace)
{
    return trace->model;
}

const char *trace_path(const struct mt_trace *trace)
{
    return trace->inputs.path_count ? trace->inputs.paths[0] : "";
}

bool trace_has_input(const struct mt_trace *trace, const char *path)
{
    return input_list_holds(&trace->inputs, path);
}

uint64_t trace_lost_count(const struct mt_trace *trace)
{
    uint64_t sum = model_lost_count(trace->model);

    for (size_t i = 0; i < model_process_count(trace->model); i++)
        for (size_t kind = 0; kind < MT_LOST_KINDS; kind++)
            sum += model_process_at(trace->model, (uint16_t)i)->lost_counts[kind];
    return sum;
}

bool trace_is_complete(const struct mt_trace *trace)
{
    return !model_is_incomplete(trace->model) && trace_lost_count(trace) == 0;
}

uint64_t trace_event_count(const struct mt_trace *trace)
{
    return tally_counts_of(trace->tally)->events;
}

struct question trace_question(const struct mt_trace *trace)
{
    return (struct question){
        .tally = trace->tally,
        .model = trace->model,
        .symbols = trace->symbols,
        .events = &trace->events,
        .source_kind = trace->inputs.source_kind,
        .steps = &trace->stepping.rule,
        .step_name = trace->stepping.site_name,
        .has_chosen_steps = step_choice_is_made(&trace->stepping.choice),
        .warm_up_steps = WARM_UP_DEFAULT,
        .margin_percent = NEAR_PEAK_PERCENT,
        .blocks = {.most_bytes = UINT64_MAX, .to_ns = UINT64_MAX},
        .keeper = trace->keeper,
    };
}

void trace_begin(struct mt_trace *trace)
{
    reading_watch_allow(&trace->watch);
}

enum mt_result trace_end(const struct mt_trace *trace, enum mt_result result,
                         struct mt_error *error)
{
    if (trace->watch.is_cancelled)
        return mt_error_set(error, MT_CANCELLED, "reading was cancelled");
    return result == MT_OK ? model_status(trace->model, error) : result;
}

enum mt_result trace_keep_names(struct mt_trace *trace, struct mt_error *error)
{
    const char *folder = arena_format(&trace->arena, "%s/" NAMES_FOLDER, trace_path(trace));

    if (trace->inputs.path_count != 1 || trace->arena.has_failed)
        return mt_error_set(error, MT_USAGE, "names are kept in the folder of one recording");
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return mt_error_set(error, MT_IO, "%s: %s", folder, strerror(errno));
    symbols_keep(trace->symbols, folder);
    return MT_OK;
}
