/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap profile of jemalloc (prof:true, "heap_v2") as an input.
 *
 *   heap_v2/524288                    bytes between two samples
 *     t*: 28: 56637 [0: 0]            all: live blocks and bytes among the samples
 *   @ 0x7f00 0x7e00                   a stack, innermost first
 *     t*: 13: 6688 [0: 0]
 *     t0: ...                         the same by thread, which adds up to t*
 *   MAPPED_LIBRARIES:                 /proc/self/maps
 *
 * A block is sampled with probability 1 - exp(-size / rate), so what one stack holds is scaled by
 * that of its mean size, as jeprof does. It is one point in time: all blocks are made at time 0.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "byte_stream.h"
#include "input_kinds.h"
#include "sentence.h"
#include "table.h"

enum { blocks_most = 1 << 24, stack_shift = 32, frames_most = 512 };

static const char beginning[] = "heap_v2/";

struct jemalloc_stack {
    uint32_t site;
    uint64_t count, bytes; /* estimated, of all blocks that are alive */
};

struct jemalloc_library {
    uint64_t base, end;
    uint32_t path; /* text */
};

struct jemalloc {
    char *path;
    uint64_t odd_count; /* lines that make no sense */
    struct model *model;
    struct arena arena;
    struct table stacks, libraries;
    uint64_t rate, line, blocks;
    struct jemalloc_counts {
        uint64_t count, bytes;
    } all, added; /* of the samples: as the head says, as the stacks add up */
    uint16_t process, pool, place;
    uint32_t thread;
    size_t next_stack;
    uint64_t next_block;
};

/* --- the file ------------------------------------------------------------------------------ */

static enum mt_result refuse(const struct jemalloc *jemalloc, enum mt_result result,
                             const char *why, struct mt_error *error)
{
    return mt_error_set(error, result, "%s: line %" PRIu64 ": %s", jemalloc->path, jemalloc->line,
                        translated(why));
}

/* A number after the word at the beginning of text; false if there is none. */
static bool number_after(const char **text, const char *word, int base, uint64_t *number)
{
    size_t length = strlen(word);
    char *end;

    while (**text == ' ')
        ++*text;
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    while (**text == ' ')
        ++*text;
    *number = strtoull(*text, &end, base);
    if (end == *text || **text == '-')
        return false;
    *text = end;
    return true;
}

/* Innermost first. What is beyond the limit is cut off outside. */
static bool take_stack(struct jemalloc *jemalloc, const char *text)
{
    struct jemalloc_stack *row = table_add(&jemalloc->stacks);
    uint64_t addresses[frames_most];
    uint32_t stack = 0;
    unsigned count = 0;

    if (!row)
        return false;
    while (count < frames_most && number_after(&text, "0x", 16, &addresses[count]))
        count++;
    jemalloc->odd_count += count < frames_most && text[strspn(text, " \r")] != 0;
    while (count-- > 0)
        stack = model_stack(jemalloc->model, stack,
                            model_frame(jemalloc->model, (struct model_frame){
                                                             .process = jemalloc->process,
                                                             .kind = FRAME_NATIVE,
                                                             .address = addresses[count],
                                                         }));
    row->site = model_site(jemalloc->model,
                           (struct model_site){.process = jemalloc->process, .stack = stack});
    return true;
}

/* What was sampled stands for this much more. */
static enum mt_result take_counts(struct jemalloc *jemalloc, const char *text,
                                  struct mt_error *error)
{
    struct jemalloc_stack *stack;
    uint64_t count, bytes;
    double scale;

    if (!number_after(&text, "t*:", 10, &count) || !number_after(&text, ":", 10, &bytes) ||
        count > UINT32_MAX || bytes > UINT64_C(1) << 50 || (!count && bytes))
        return refuse(jemalloc, MT_CORRUPT, "no counts of blocks and bytes", error);
    if (!jemalloc->stacks.count)
        jemalloc->all = (struct jemalloc_counts){count, bytes};
    if (!jemalloc->stacks.count || !count)
        return MT_OK;
    jemalloc->added.count += count;
    jemalloc->added.bytes += bytes;
    stack = table_at(&jemalloc->stacks, jemalloc->stacks.count - 1);
    scale = 1 / (1 - exp(-((double)bytes / (double)count) / (double)jemalloc->rate));
    if (!(scale * (double)bytes < 1e18))
        return refuse(jemalloc, MT_CORRUPT, "blocks without a size", error);
    stack->count = (uint64_t)(scale * (double)count + 0.5);
    stack->bytes = (uint64_t)(scale * (double)bytes + 0.5);
    jemalloc->blocks += stack->count;
    if (jemalloc->blocks > blocks_most)
        return refuse(jemalloc, MT_UNSUPPORTED, "more than 16 million blocks are alive", error);
    return MT_OK;
}

/* "7f00-7f10 r-xp 00001000 08:01 123   /usr/lib/libc.so.6" */
static bool take_mapping(struct jemalloc *jemalloc, const char *text)
{
    struct jemalloc_library *library = NULL;
    const char *path = strchr(text, '/');
    uint64_t base, end;
    uint32_t name;

    if (!*text)
        return true;
    if (!number_after(&text, "", 16, &base) || !number_after(&text, "-", 16, &end) || end <= base) {
        jemalloc->odd_count++;
        return true;
    }
    if (!path)
        return true;
    name = model_text(jemalloc->model, path, strlen(path));
    if (jemalloc->libraries.count)
        library = table_at(&jemalloc->libraries, jemalloc->libraries.count - 1);
    if (library && library->path == name && end > library->end) {
        library->end = end;
        return true;
    }
    library = table_add(&jemalloc->libraries);
    if (!library)
        return false;
    *library = (struct jemalloc_library){.base = base, .end = end, .path = name};
    return true;
}

static enum mt_result take_line(struct jemalloc *jemalloc, const char *text, bool *in_mappings,
                                struct mt_error *error)
{
    bool is_good = true;

    if (strncmp(text, "MAPPED_LIBRARIES:", 17) == 0)
        *in_mappings = true;
    else if (*in_mappings)
        is_good = take_mapping(jemalloc, text);
    else if (text[0] == '@')
        is_good = take_stack(jemalloc, text + 1);
    else if (strstr(text, "t*:"))
        return take_counts(jemalloc, text, error);
    else
        jemalloc->odd_count += strncmp(text + strspn(text, " "), "t", 1) != 0 && *text != 0;
    return is_good ? MT_OK : refuse(jemalloc, MT_NO_MEMORY, "no memory", error);
}

/* A number that was cut off is another one; stacks that are missing are missing from the sum. */
static enum mt_result check_end(const struct jemalloc *jemalloc, const struct byte_stream *stream,
                                struct mt_error *error)
{
    enum mt_result result = byte_stream_status(stream, error);

    if (result != MT_OK)
        return result;
    if (stream->is_line_open)
        return refuse(jemalloc, MT_CORRUPT, "the file ends in the middle of it", error);
    if (jemalloc->added.count < jemalloc->all.count || jemalloc->added.bytes < jemalloc->all.bytes)
        return mt_error_set(error, MT_CORRUPT,
                            "%s: line %" PRIu64 ": the profile ends with %" PRIu64 " of %" PRIu64
                            " sampled blocks: it was cut short",
                            jemalloc->path, jemalloc->line, jemalloc->added.count,
                            jemalloc->all.count);
    return MT_OK;
}

static enum mt_result read_lines(struct jemalloc *jemalloc, struct byte_stream *stream,
                                 struct mt_error *error)
{
    enum mt_result result = MT_OK;
    bool in_mappings = false;
    const char *line;
    size_t size_bytes;

    while (result == MT_OK && (line = byte_stream_line(stream, &size_bytes))) {
        char text[4096];
        size_t length = size_bytes < sizeof(text) - 1 ? size_bytes : sizeof(text) - 1;
        const char *rest = text;

        memcpy(text, line, length);
        text[length] = 0;
        if (stream->is_line_open) {
            jemalloc->line++;
            break;
        }
        if (!jemalloc->line++) {
            if (!number_after(&rest, beginning, 10, &jemalloc->rate) || !jemalloc->rate)
                result = refuse(jemalloc, MT_CORRUPT, "no heap_v2 profile of jemalloc", error);
        } else {
            result = take_line(jemalloc, text, &in_mappings, error);
        }
    }
    if (result == MT_OK)
        result = check_end(jemalloc, stream, error);
    if (result == MT_CORRUPT && jemalloc->blocks && model_wants_partial(jemalloc->model)) {
        model_note_damage(jemalloc->model, error);
        result = MT_OK;
    }
    if (result == MT_OK)
        model_add_share(jemalloc->model, PART_ROWS,
                        (struct model_share){jemalloc->odd_count, jemalloc->line});
    if (result == MT_OK && !in_mappings)
        model_note(jemalloc->model, 0, "%s ends without its list of libraries: sites have no names",
                   jemalloc->path);
    return result;
}

/* --- modules ------------------------------------------------------------------------------- */

/* A program that is not relocatable is linked for the addresses it has. */
static void add_modules(struct jemalloc *jemalloc)
{
    static const uint64_t fixed_base = 0x400000;

    for (size_t i = 0; i < jemalloc->libraries.count; i++) {
        const struct jemalloc_library *library = table_at(&jemalloc->libraries, i);
        struct model_module module = {.process = jemalloc->process,
                                      .base = library->base,
                                      .size_bytes = library->end - library->base,
                                      .bias = library->base == fixed_base ? 0 : library->base,
                                      .unloaded_ns = UINT64_MAX,
                                      .path = library->path};

        model_module(jemalloc->model, &module);
    }
}

/* --- opening ------------------------------------------------------------------------------- */

static int jemalloc_recognises(const char *path)
{
    unsigned char bytes[sizeof(beginning) - 1];

    return byte_stream_begin(path, bytes, sizeof(bytes)) == sizeof(bytes) &&
           memcmp(bytes, beginning, sizeof(bytes)) == 0;
}

static void jemalloc_close(void *state)
{
    struct jemalloc *jemalloc = state;

    if (!jemalloc)
        return;
    arena_release(&jemalloc->arena);
    free(jemalloc->path);
    free(jemalloc);
}

static void fill_model(struct jemalloc *jemalloc)
{
    struct model *model = jemalloc->model;
    struct model_process process = {.source =
                                        model_text(model, jemalloc->path, strlen(jemalloc->path)),
                                    .rank = -1,
                                    .is_complete = true};

    jemalloc->process = model_process(model, &process);
    jemalloc->pool = model_known_pool(model, POOL_HOST);
    jemalloc->place = model_place(model, mt_place_unpack(0));
    jemalloc->thread = model_thread(model, (struct model_thread){.process = jemalloc->process});
    arena_init(&jemalloc->arena);
    table_init(&jemalloc->stacks, &jemalloc->arena, sizeof(struct jemalloc_stack));
    table_init(&jemalloc->libraries, &jemalloc->arena, sizeof(struct jemalloc_library));
}

static enum mt_result read_profile(struct jemalloc *jemalloc, struct mt_error *error)
{
    struct byte_stream stream;
    enum mt_result result = byte_stream_open(&stream, jemalloc->path, error);

    if (result != MT_OK)
        return result;
    result = read_lines(jemalloc, &stream, error);
    byte_stream_close(&stream);
    if (result != MT_OK)
        return result;
    if (!jemalloc->blocks)
        return mt_error_set(error, MT_NO_DATA, "%s: a profile without live blocks", jemalloc->path);
    add_modules(jemalloc);
    model_note(jemalloc->model, 0,
               "a heap profile is one point in time; counts and bytes are estimated from samples, "
               "one in %" PRIu64 " B",
               jemalloc->rate);
    return model_status(jemalloc->model, error);
}

static enum mt_result jemalloc_open(const char *path, struct model *model, void **state,
                                    struct mt_error *error)
{
    struct jemalloc *jemalloc = calloc(1, sizeof(*jemalloc));
    enum mt_result result;

    if (jemalloc)
        jemalloc->path = strdup(path);
    if (!jemalloc || !jemalloc->path) {
        free(jemalloc);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    }
    jemalloc->model = model;
    fill_model(jemalloc);
    result = read_profile(jemalloc, error);
    if (result != MT_OK) {
        jemalloc_close(jemalloc);
        return result;
    }
    *state = jemalloc;
    return MT_OK;
}

/* --- events -------------------------------------------------------------------------------- */

/* Blocks of the mean size; the first ones are larger by a byte until the sum is right. */
static enum mt_result jemalloc_next(void *state, struct event *batch, size_t capacity,
                                    size_t *count, struct mt_error *error)
{
    struct jemalloc *jemalloc = state;

    *count = 0;
    while (*count < capacity && jemalloc->next_stack < jemalloc->stacks.count) {
        const struct jemalloc_stack *stack = table_at(&jemalloc->stacks, jemalloc->next_stack);

        if (jemalloc->next_block == stack->count) {
            jemalloc->next_stack++;
            jemalloc->next_block = 0;
            continue;
        }
        batch[(*count)++] = (struct event){
            .kind = EVENT_ALLOC,
            .address = (jemalloc->next_stack + 1) << stack_shift | jemalloc->next_block,
            .value =
                stack->bytes / stack->count + (jemalloc->next_block < stack->bytes % stack->count),
            .site = stack->site,
            .thread = jemalloc->thread,
            .pool = jemalloc->pool,
            .place = jemalloc->place,
            .process = jemalloc->process,
        };
        jemalloc->next_block++;
    }
    model_process_fill(jemalloc->model, jemalloc->process)->event_count += *count;
    return model_status(jemalloc->model, error);
}

const struct input_kind input_jemalloc = {
    .name = "jemalloc heap profile",
    .contents = "what each call site of the host heap holds at one point in time, estimated from "
                "samples; no times, frees or steps",
    .recognises = jemalloc_recognises,
    .open = jemalloc_open,
    .next = jemalloc_next,
    .close = jemalloc_close,
};
