/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the stack columns of a row to a site.
 *
 * A program allocates at few places, so stacks repeat: the site of a stack is remembered by the
 * hash of its text, in a table where a new one takes the place of an old one.
 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "memscope_site.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { site_rows = 1 << 12, depth_most = 1024 };

static struct attr_text trimmed(struct attr_text line)
{
    while (line.size_bytes && strchr(" \"\r", line.bytes[0])) {
        line.bytes++;
        line.size_bytes--;
    }
    while (line.size_bytes && strchr(" \"\r", line.bytes[line.size_bytes - 1]))
        line.size_bytes--;
    return line;
}

static bool is_missing(struct attr_text line)
{
    return !line.size_bytes || (line.size_bytes == 2 && memcmp(line.bytes, "NA", 2) == 0) ||
           (line.size_bytes == 3 && memcmp(line.bytes, "N/A", 3) == 0);
}

/* The next line that says something, without blanks and quotes; false after the last. */
static bool take_line(struct attr_text *rest, struct attr_text *line)
{
    while (rest->size_bytes) {
        const char *end = memchr(rest->bytes, '\n', rest->size_bytes);
        size_t length = end ? (size_t)(end - rest->bytes) : rest->size_bytes;

        *line = trimmed((struct attr_text){rest->bytes, length});
        length += end != NULL;
        rest->bytes += length;
        rest->size_bytes -= length;
        if (!is_missing(*line))
            return true;
    }
    return false;
}

static uint32_t text_of(struct model *model, const char *first, const char *end)
{
    return model_text(model, first, (size_t)(end - first));
}

/* The last `character` at or after first and before end; NULL if there is none. */
static const char *last_of(const char *first, const char *end, char character)
{
    return memrchr(first, character, (size_t)(end - first));
}

/* "/home/u/net.py(12): forward"; else the line is the name of a function. */
static struct model_frame python_frame(struct model *model, struct attr_text line)
{
    const char *first = line.bytes, *end = line.bytes + line.size_bytes;
    const char *colon = memmem(first, line.size_bytes, "): ", 3);
    const char *bracket = colon ? last_of(first, colon, '(') : NULL;
    struct model_frame frame = {.kind = FRAME_PYTHON};

    if (!bracket) {
        frame.function = text_of(model, first, end);
        return frame;
    }
    frame.file = text_of(model, first, bracket);
    frame.line = (uint32_t)strtoul(bracket + 1, NULL, 10); /* ends at the bracket */
    frame.function = text_of(model, colon + 3, end);
    return frame;
}

/* As backtrace_symbols() has it: "./train(layer+0x12) [0x561f866ef31d]", "./train(+0x131d) [...]"
 */
static struct model_frame native_frame(struct model *model, struct attr_text line)
{
    const char *first = line.bytes, *end = line.bytes + line.size_bytes;
    const char *close = last_of(first, end, ')');
    const char *bracket = memchr(first, '(', line.size_bytes);
    const char *plus = close ? last_of(first, close, '+') : NULL;
    struct model_frame frame = {.kind = FRAME_NATIVE};

    if (!bracket || !plus || plus < bracket) {
        frame.function = text_of(model, first, end);
        return frame;
    }
    frame.module = text_of(model, first, bracket);
    if (plus > bracket + 1)
        frame.function = text_of(model, bracket + 1, plus);
    else
        frame.address = strtoull(plus + 1, NULL, 16); /* ends at the bracket */
    return frame;
}

struct frames {
    uint32_t rows[depth_most]; /* innermost first */
    size_t count;
};

static void add_frames(struct frames *frames, struct model *model, uint16_t process,
                       struct attr_text stack,
                       struct model_frame (*read)(struct model *model, struct attr_text line))
{
    struct attr_text line;

    while (frames->count < depth_most && take_line(&stack, &line)) {
        struct model_frame frame = read(model, line);

        frame.process = process;
        frames->rows[frames->count++] = model_frame(model, frame);
    }
}

/* Where the two meet is not told: C comes first, as it is what Python called. */
static uint32_t make_site(struct model *model, uint16_t process, struct attr_text python,
                          struct attr_text native)
{
    struct frames frames;
    uint32_t stack = 0;

    frames.count = 0;
    add_frames(&frames, model, process, native, native_frame);
    add_frames(&frames, model, process, python, python_frame);
    while (frames.count-- > 0)
        stack = model_stack(model, stack, frames.rows[frames.count]);
    return model_site(model, (struct model_site){.process = process, .stack = stack});
}

uint32_t memscope_site(struct memscope_sites *sites, struct model *model, uint16_t process,
                       struct attr_text python, struct attr_text native)
{
    struct site_row *row;
    uint64_t hash;

    if (!python.size_bytes && !native.size_bytes)
        return 0;
    if (!sites->rows)
        sites->rows = calloc(site_rows, sizeof(*sites->rows));
    if (!sites->rows)
        return make_site(model, process, python, native);
    hash = hash_pair(hash_bytes(python.bytes, python.size_bytes),
                     hash_pair(hash_bytes(native.bytes, native.size_bytes), process)) |
           1;
    row = &sites->rows[hash >> 32 & (site_rows - 1)];
    if (row->hash != hash)
        *row = (struct site_row){hash, make_site(model, process, python, native)};
    return row->site;
}

void memscope_sites_release(struct memscope_sites *sites)
{
    free(sites->rows);
    sites->rows = NULL;
}
