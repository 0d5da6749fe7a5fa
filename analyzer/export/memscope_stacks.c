/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack columns of msmemscope.
 *
 *   Python: train.py(88): forward
 *   C:      /opt/lib/libtorch.so(at::empty+0x0) [0x4312f7], /home/u/train(+0x131d) [0x131d]
 *
 * As backtrace_symbols() has it, but for two things: how far into a function the call was is not
 * kept, and the address is that in the file, as addr2line takes it; where it is not known there is
 * none.
 */
#include "memscope_stacks.h"

#include <inttypes.h>
#include <string.h>

#include "text_builder.h"

struct stack_row {
    const char *python, *native; /* NULL: not made yet */
};

void memscope_stacks_init(struct memscope_stacks *stacks, const struct question *question)
{
    stacks->question = question;
    arena_init(&stacks->arena);
    table_init(&stacks->rows, &stacks->arena, sizeof(struct stack_row));
}

void memscope_stacks_release(struct memscope_stacks *stacks)
{
    arena_release(&stacks->arena);
}

static bool is_python(const struct symbol_frame *frame)
{
    size_t length = strlen(frame->file);

    return length > 3 && strcmp(frame->file + length - 3, ".py") == 0;
}

/* "0x131d" of "0x131d (train)" and of "train+0x131d"; NULL where the function has a name. */
static const char *offset_of(const struct symbol_frame *frame)
{
    size_t length = strlen(frame->module);

    if (strncmp(frame->function, "0x", 2) == 0)
        return frame->function;
    if (strncmp(frame->function, frame->module, length) == 0 &&
        strncmp(frame->function + length, "+0x", 3) == 0)
        return frame->function + length + 1;
    return NULL;
}

static void add_line(struct text_builder *text, const struct symbol_frame *frame)
{
    const char *offset = offset_of(frame);

    if (is_python(frame))
        text_add_format(text, "%s(%" PRIu32 "): %s", frame->file, frame->line, frame->function);
    else if (!*frame->module)
        text_add_format(text, "%s", frame->function);
    else if (offset)
        text_add_format(text, "%s(+%.*s)", frame->module_path, (int)strcspn(offset, " "), offset);
    else
        text_add_format(text, "%s(%s+0x0)", frame->module_path, frame->function);
    if (!is_python(frame) && frame->link_address)
        text_add_format(text, " [0x%" PRIx64 "]", frame->link_address);
    text_add(text, "\n");
}

static const char *keep(struct memscope_stacks *stacks, const struct text_builder *text)
{
    const char *kept = arena_text(&stacks->arena, text_get(text), text->size_bytes);

    return kept ? kept : "";
}

static void make(struct memscope_stacks *stacks, uint32_t site, struct stack_row *row)
{
    struct text_builder python, native;
    const struct symbol_frame *frames;
    size_t count;

    text_init(&python);
    text_init(&native);
    frames = symbols_frames(stacks->question->symbols, site, &count);
    for (size_t i = 0; i < count; i++)
        add_line(is_python(&frames[i]) ? &python : &native, &frames[i]);
    row->python = keep(stacks, &python);
    row->native = keep(stacks, &native);
    text_release(&python);
    text_release(&native);
}

void memscope_stacks_of(struct memscope_stacks *stacks, uint32_t site, const char **python,
                        const char **native)
{
    struct stack_row *row;

    *python = *native = "";
    if (!site)
        return;
    while (stacks->rows.count <= site)
        if (!table_add(&stacks->rows))
            return;
    row = table_at(&stacks->rows, site);
    if (!row->python)
        make(stacks, site, row);
    *python = row->python;
    *native = row->native;
}
