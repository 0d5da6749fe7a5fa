/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data file of heaptrack as an input: text in lines, packed with zstd or gzip.
 *
 *   v 10400 3            version of the program, of the file
 *   s 6 malloc           a text; since version 3 after its length
 *   i 55e0 1 2 3 1f      an address: module, function, file, line
 *   t 4 2                a stack: innermost address, the stack that called it
 *   a 20 7               a kind of block: size, stack
 *   + 0      - 0         such a block begins, ends
 *   c 1f4                milliseconds since the start
 *
 * Numbers are hexadecimal, and what is named counts from 1, kinds of blocks from 0. A block has no
 * address: it gets one of its kind that is not in use.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "byte_stream.h"
#include "input_kinds.h"
#include "sentence.h"
#include "table.h"

enum { newest_version = 3, inlined_most = 64, kind_shift = 32 };

/* The frames of an address: more than one where functions are inlined. */
struct heaptrack_address {
    uint32_t first_frame, frame_count; /* of frames; innermost first */
};

struct heaptrack_kind {
    uint64_t size_bytes;
    uint32_t site;
    uint32_t live_count; /* blocks of the kind that are alive */
};

struct heaptrack {
    char *path;
    struct model *model;
    struct byte_stream stream;
    struct arena arena;
    struct table texts, addresses, kinds;
    struct table frames; /* of the model, by address */
    struct table stacks; /* of the model */
    uint64_t version, line, time_ns, page_bytes;
    uint16_t process, pool, place;
    uint32_t thread, resident_text;
    enum mt_result result; /* told once the events before it are handed out */
    struct mt_error failure;
};

/* --- lines --------------------------------------------------------------------------------- */

struct words {
    const char *bytes, *end;
};

/* The next hexadecimal number; false if there is none. */
static bool take_hex(struct words *words, uint64_t *number)
{
    const char *first = words->bytes;
    uint64_t sum = 0;

    for (; words->bytes < words->end && *words->bytes != ' '; words->bytes++) {
        char c = *words->bytes;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 16;

        if (digit > 15 || sum >> 60)
            return false;
        sum = sum << 4 | digit;
    }
    *number = sum;
    if (words->bytes == first)
        return false;
    if (words->bytes < words->end)
        words->bytes++;
    return true;
}

static enum mt_result refuse(const struct heaptrack *heaptrack, enum mt_result result,
                             const char *why, struct mt_error *error)
{
    return mt_error_set(error, result, "%s: line %" PRIu64 ": %s", heaptrack->path, heaptrack->line,
                        translated(why));
}

static enum mt_result no_memory(const struct heaptrack *heaptrack, struct mt_error *error)
{
    return refuse(heaptrack, MT_NO_MEMORY, "no memory", error);
}

/* A number that names a row of the table, or 0. */
static bool take_row(struct words *words, const struct table *table, uint32_t *row)
{
    uint64_t number;

    if (!take_hex(words, &number) || number > table->count)
        return false;
    *row = (uint32_t)number;
    return true;
}

static enum mt_result take_text(struct heaptrack *heaptrack, struct words words,
                                struct mt_error *error)
{
    uint64_t size_bytes = (uint64_t)(words.end - words.bytes);
    uint32_t *text;

    if (heaptrack->version >= 3 &&
        (!take_hex(&words, &size_bytes) || size_bytes > (uint64_t)(words.end - words.bytes)))
        return refuse(heaptrack, MT_CORRUPT, "a text that is longer than its line", error);
    text = table_add(&heaptrack->texts);
    if (!text)
        return no_memory(heaptrack, error);
    *text = model_text(heaptrack->model, words.bytes, size_bytes);
    return MT_OK;
}

static uint32_t text_at(const struct heaptrack *heaptrack, uint32_t row)
{
    return row ? *(const uint32_t *)table_at(&heaptrack->texts, row - 1) : 0;
}

/*
 * "function file line", once for each function that is inlined there; the last may be "function"
 * alone. False if they are unknown.
 */
static bool take_function(struct heaptrack *heaptrack, struct words *words,
                          struct model_frame *frame)
{
    uint32_t function, file = 0;
    uint64_t line = 0;

    if (!take_row(words, &heaptrack->texts, &function) ||
        (words->bytes < words->end &&
         (!take_row(words, &heaptrack->texts, &file) || !take_hex(words, &line))))
        return false;
    frame->function = text_at(heaptrack, function);
    frame->file = text_at(heaptrack, file);
    frame->line = line <= UINT32_MAX ? (uint32_t)line : 0;
    return true;
}

static bool add_frame(struct heaptrack *heaptrack, struct heaptrack_address *address,
                      struct model_frame frame)
{
    uint32_t *row = table_add(&heaptrack->frames);

    if (!row)
        return false;
    *row = model_frame(heaptrack->model, frame);
    address->frame_count++;
    return true;
}

static enum mt_result take_address(struct heaptrack *heaptrack, struct words words,
                                   struct mt_error *error)
{
    struct heaptrack_address *address = table_add(&heaptrack->addresses);
    struct model_frame frame = {.process = heaptrack->process, .kind = FRAME_NATIVE};
    uint32_t module;

    if (!take_hex(&words, &frame.address) || !take_row(&words, &heaptrack->texts, &module))
        return refuse(heaptrack, MT_CORRUPT, "an address of an unknown module", error);
    if (!address)
        return no_memory(heaptrack, error);
    address->first_frame = (uint32_t)heaptrack->frames.count;
    frame.module = text_at(heaptrack, module);
    while (words.bytes < words.end && address->frame_count < inlined_most) {
        struct model_frame inlined = frame;

        if (!take_function(heaptrack, &words, &inlined))
            return refuse(heaptrack, MT_CORRUPT, "an address of an unknown function", error);
        if (!add_frame(heaptrack, address, inlined))
            return no_memory(heaptrack, error);
    }
    if (!address->frame_count && !add_frame(heaptrack, address, frame))
        return no_memory(heaptrack, error);
    return MT_OK;
}

static uint32_t stack_at(const struct heaptrack *heaptrack, uint32_t row)
{
    return row ? *(const uint32_t *)table_at(&heaptrack->stacks, row - 1) : 0;
}

/* A stack's caller was written before it. */
static enum mt_result take_stack(struct heaptrack *heaptrack, struct words words,
                                 struct mt_error *error)
{
    uint32_t address_row, parent, stack;
    uint32_t *row;

    if (!take_row(&words, &heaptrack->addresses, &address_row) ||
        !take_row(&words, &heaptrack->stacks, &parent))
        return refuse(heaptrack, MT_CORRUPT, "a stack of unknown addresses", error);
    stack = stack_at(heaptrack, parent);
    if (address_row) {
        const struct heaptrack_address *address = table_at(&heaptrack->addresses, address_row - 1);

        for (uint32_t i = address->frame_count; i-- > 0;)
            stack = model_stack(
                heaptrack->model, stack,
                *(const uint32_t *)table_at(&heaptrack->frames, address->first_frame + i));
    }
    row = table_add(&heaptrack->stacks);
    if (!row)
        return no_memory(heaptrack, error);
    *row = stack;
    return MT_OK;
}

static enum mt_result take_kind(struct heaptrack *heaptrack, struct words words,
                                struct mt_error *error)
{
    struct heaptrack_kind row = {0};
    struct heaptrack_kind *kind;
    uint32_t stack;

    if (!take_hex(&words, &row.size_bytes) || !take_row(&words, &heaptrack->stacks, &stack))
        return refuse(heaptrack, MT_CORRUPT, "a block with an unknown stack", error);
    kind = table_add(&heaptrack->kinds);
    if (!kind)
        return no_memory(heaptrack, error);
    row.site =
        model_site(heaptrack->model, (struct model_site){.process = heaptrack->process,
                                                         .stack = stack_at(heaptrack, stack)});
    *kind = row;
    return MT_OK;
}

/* --- events -------------------------------------------------------------------------------- */

static struct event event_of(const struct heaptrack *heaptrack, enum event_kind kind)
{
    return (struct event){.time_ns = heaptrack->time_ns,
                          .kind = (uint8_t)kind,
                          .thread = heaptrack->thread,
                          .pool = heaptrack->pool,
                          .place = heaptrack->place,
                          .process = heaptrack->process};
}

static enum mt_result take_block(struct heaptrack *heaptrack, struct words words, bool is_alloc,
                                 struct event *event, struct mt_error *error)
{
    struct heaptrack_kind *kind;
    uint64_t row;

    if (!take_hex(&words, &row) || row >= heaptrack->kinds.count)
        return refuse(heaptrack, MT_CORRUPT, "a block of an unknown kind", error);
    kind = table_at(&heaptrack->kinds, row);
    if (!is_alloc && !kind->live_count) {
        model_note(heaptrack->model, 1, "frees of blocks that the file does not know");
        return MT_OK;
    }
    if (is_alloc && kind->live_count == UINT32_MAX)
        return refuse(heaptrack, MT_CORRUPT, "more blocks of one kind than there can be", error);
    kind->live_count -= !is_alloc;
    *event = event_of(heaptrack, is_alloc ? EVENT_ALLOC : EVENT_FREE);
    event->address = (row + 1) << kind_shift | kind->live_count;
    event->value = kind->size_bytes;
    if (is_alloc)
        event->site = kind->site;
    kind->live_count += is_alloc;
    return MT_OK;
}

static enum mt_result take_time(struct heaptrack *heaptrack, struct words words,
                                struct mt_error *error)
{
    uint64_t ms;

    if (!take_hex(&words, &ms) || ms >= UINT64_MAX / 1000000)
        return refuse(heaptrack, MT_CORRUPT, "a time that is no number", error);
    if (ms * 1000000 > heaptrack->time_ns)
        heaptrack->time_ns = ms * 1000000;
    return MT_OK;
}

static enum mt_result take_resident(struct heaptrack *heaptrack, struct words words,
                                    struct event *event, struct mt_error *error)
{
    uint64_t pages;

    if (!take_hex(&words, &pages))
        return refuse(heaptrack, MT_CORRUPT, "a size that is no number", error);
    if (!heaptrack->page_bytes || pages > UINT64_MAX / heaptrack->page_bytes)
        return MT_OK;
    *event = event_of(heaptrack, EVENT_SAMPLE);
    event->text = heaptrack->resident_text;
    event->value = pages * heaptrack->page_bytes;
    return MT_OK;
}

/* event->kind stays EVENT_KIND_COUNT where a line makes none. */
static enum mt_result take_line(struct heaptrack *heaptrack, const char *line, size_t size_bytes,
                                struct event *event, struct mt_error *error)
{
    struct words words = {size_bytes > 2 ? line + 2 : line + size_bytes, line + size_bytes};
    struct model_process *process = model_process_fill(heaptrack->model, heaptrack->process);

    switch (size_bytes ? line[0] : '#') {
    case 's':
        return take_text(heaptrack, words, error);
    case 'i':
        return take_address(heaptrack, words, error);
    case 't':
        return take_stack(heaptrack, words, error);
    case 'a':
        return take_kind(heaptrack, words, error);
    case '+':
    case '-':
        return take_block(heaptrack, words, line[0] == '+', event, error);
    case 'c':
        return take_time(heaptrack, words, error);
    case 'R':
        return take_resident(heaptrack, words, event, error);
    case 'I':
        if (!take_hex(&words, &heaptrack->page_bytes))
            return refuse(heaptrack, MT_CORRUPT, "a size that is no number", error);
        return MT_OK;
    case 'X':
        process->command_line =
            model_text(heaptrack->model, words.bytes, (size_t)(words.end - words.bytes));
        return MT_OK;
    case 'A':
        model_note(heaptrack->model, 0,
                   "heaptrack was attached to a running program: what it "
                   "held before is not known");
        return MT_OK;
    case 'm':
        return refuse(heaptrack, MT_UNSUPPORTED,
                      "a raw file of heaptrack; heaptrack_interpret makes the other of it", error);
    case '#':
    case 'S':
        return MT_OK;
    default:
        return refuse(heaptrack, MT_CORRUPT, "a line of an unknown kind", error);
    }
}

/* Half a number is another number. */
static enum mt_result refuse_open_line(const struct heaptrack *heaptrack, struct mt_error *error)
{
    enum mt_result result = byte_stream_status(&heaptrack->stream, error);

    if (result != MT_OK)
        return result;
    return refuse(heaptrack, MT_CORRUPT, "the file ends in the middle of it", error);
}

static enum mt_result heaptrack_next(void *state, struct event *batch, size_t capacity,
                                     size_t *count, struct mt_error *error)
{
    struct heaptrack *heaptrack = state;
    struct model_process *process = model_process_fill(heaptrack->model, heaptrack->process);
    size_t made = 0;

    *count = 0;
    while (made < capacity && heaptrack->result == MT_OK) {
        size_t size_bytes;
        const char *line = byte_stream_line(&heaptrack->stream, &size_bytes);
        enum mt_result result;

        if (!line) {
            result = made ? MT_OK : byte_stream_status(&heaptrack->stream, error);
            if (result != MT_OK)
                return result;
            process->is_complete = true;
            break;
        }
        heaptrack->line++;
        batch[made].kind = EVENT_KIND_COUNT;
        result = heaptrack->stream.is_line_open
                     ? refuse_open_line(heaptrack, &heaptrack->failure)
                     : take_line(heaptrack, line, size_bytes, &batch[made], &heaptrack->failure);
        if (result != MT_OK) {
            heaptrack->result = result;
            break;
        }
        made += batch[made].kind != EVENT_KIND_COUNT;
    }
    if (!made && heaptrack->result != MT_OK)
        return mt_error_set(error, heaptrack->result, "%s", heaptrack->failure.message);
    *count = made;
    process->end_ns = heaptrack->time_ns;
    process->event_count += made;
    return model_status(heaptrack->model, error);
}

/* --- opening ------------------------------------------------------------------------------- */

/* "v 10400 3"; 0x10200 alone is version 1, and older files are version 0. */
static bool take_version(const char *line, size_t size_bytes, uint64_t *version)
{
    struct words words = {line + 2, line + size_bytes};
    uint64_t program;

    if (size_bytes < 3 || line[0] != 'v' || line[1] != ' ' || !take_hex(&words, &program))
        return false;
    if (!take_hex(&words, version))
        *version = program == 0x10200;
    return words.bytes == words.end;
}

static int heaptrack_recognises(const char *path)
{
    unsigned char bytes[64];
    size_t size_bytes = byte_stream_begin(path, bytes, sizeof(bytes));
    const unsigned char *end = size_bytes ? memchr(bytes, '\n', size_bytes) : NULL;
    uint64_t version;

    return end && take_version((const char *)bytes, (size_t)(end - bytes), &version);
}

static void heaptrack_close(void *state)
{
    struct heaptrack *heaptrack = state;

    if (!heaptrack)
        return;
    byte_stream_close(&heaptrack->stream);
    arena_release(&heaptrack->arena);
    free(heaptrack->path);
    free(heaptrack);
}

static void fill_model(struct heaptrack *heaptrack)
{
    struct model *model = heaptrack->model;
    struct model_process process = {
        .source = model_text(model, heaptrack->path, strlen(heaptrack->path)), .rank = -1};

    heaptrack->process = model_process(model, &process);
    heaptrack->pool = model_known_pool(model, POOL_HOST);
    heaptrack->place = model_place(model, mt_place_unpack(0));
    heaptrack->thread = model_thread(model, (struct model_thread){.process = heaptrack->process});
    heaptrack->resident_text = model_text(model, "resident", 8);
    arena_init(&heaptrack->arena);
    table_init(&heaptrack->texts, &heaptrack->arena, sizeof(uint32_t));
    table_init(&heaptrack->addresses, &heaptrack->arena, sizeof(struct heaptrack_address));
    table_init(&heaptrack->frames, &heaptrack->arena, sizeof(uint32_t));
    table_init(&heaptrack->stacks, &heaptrack->arena, sizeof(uint32_t));
    table_init(&heaptrack->kinds, &heaptrack->arena, sizeof(struct heaptrack_kind));
    model_note(model, 0, "heaptrack keeps no addresses, no threads, and times in steps of 10 ms");
}

static enum mt_result read_version(struct heaptrack *heaptrack, struct mt_error *error)
{
    size_t size_bytes;
    const char *line = byte_stream_line(&heaptrack->stream, &size_bytes);

    heaptrack->line = 1;
    if (!line || !take_version(line, size_bytes, &heaptrack->version))
        return refuse(heaptrack, MT_CORRUPT, "no version of heaptrack", error);
    if (heaptrack->version < 1 || heaptrack->version > newest_version)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "%s: version %" PRIu64 " of the format; leaktide reads 1 to %d",
                            heaptrack->path, heaptrack->version, newest_version);
    return MT_OK;
}

static enum mt_result heaptrack_open(const char *path, struct model *model, void **state,
                                     struct mt_error *error)
{
    struct heaptrack *heaptrack = calloc(1, sizeof(*heaptrack));
    enum mt_result result;

    if (heaptrack)
        heaptrack->path = strdup(path);
    if (!heaptrack || !heaptrack->path) {
        free(heaptrack);
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    }
    heaptrack->model = model;
    fill_model(heaptrack);
    result = byte_stream_open(&heaptrack->stream, heaptrack->path, error);
    if (result == MT_OK)
        result = read_version(heaptrack, error);
    if (result == MT_OK)
        result = model_status(model, error);
    if (result != MT_OK) {
        heaptrack_close(heaptrack);
        return result;
    }
    *state = heaptrack;
    return MT_OK;
}

const struct input_kind input_heaptrack = {
    .name = "heaptrack data file",
    .contents = "every block of the host heap with its innermost function; no addresses, threads "
                "or steps",
    .recognises = heaptrack_recognises,
    .open = heaptrack_open,
    .next = heaptrack_next,
    .close = heaptrack_close,
};
