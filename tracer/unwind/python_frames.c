/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "python_frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>

#include "python_layout.h"
#include "python_lines.h"

/* Reads what sanitizers do not know. */
#define READS_OBJECTS __attribute__((no_sanitize("address", "thread", "undefined")))

enum { SHORT_TABLE_BYTES = 512, HASH_BLOCK_BYTES = 32, OWNED_BY_LOOP = 3 };

static struct {
    struct python_layout layout;
    int (*is_initialized)(void);
    void *(*this_thread)(void); /* NULL: it never ran Python */
    int (*line_of)(void *code, int offset_bytes);
    const void *code_type;
    uint64_t loop_start, loop_end;
} python;
static _Atomic bool is_here;
static _Atomic uint32_t unread;

/* --- finding it ------------------------------------------------------------------------- */

static void *symbol(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);

    if (!address)
        dlerror(); /* so that the program does not read our failure as its own */
    return address;
}

static void loop_find(void)
{
    void *loop = symbol("_PyEval_EvalFrameDefault");
    const ElfW(Sym) *entry = NULL;
    Dl_info info;

    if (loop && dladdr1(loop, &info, (void **)&entry, RTLD_DL_SYMENT) && entry) {
        python.loop_start = (uint64_t)(uintptr_t)loop;
        python.loop_end = python.loop_start + entry->st_size;
    }
}

static void functions_find(void)
{
    python.is_initialized = (int (*)(void))symbol("Py_IsInitialized");
    python.this_thread = (void *(*)(void))symbol("PyGILState_GetThisThreadState");
    python.line_of = (int (*)(void *, int))symbol("PyCode_Addr2Line");
    python.code_type = symbol("PyCode_Type");
    loop_find();
}

void python_find(void)
{
    const char *(*version)(void) = (const char *(*)(void))symbol("Py_GetVersion");
    bool has_layout;

    if (python_is_here() || !version)
        return;
    has_layout = python_layout_find(version(), symbol("_PyRuntime"), &python.layout);
    functions_find();
    if (has_layout && python.is_initialized && python.this_thread && python.line_of &&
        python.code_type)
        atomic_store_explicit(&is_here, true, memory_order_release);
    else
        atomic_store(&unread, python_version(version()));
}

uint32_t python_unread(void)
{
    return python_is_here() ? 0 : atomic_load(&unread);
}

bool python_is_here(void)
{
    return atomic_load_explicit(&is_here, memory_order_acquire);
}

bool python_runs_at(uint64_t pc)
{
    return pc - python.loop_start < python.loop_end - python.loop_start;
}

/* --- reading ---------------------------------------------------------------------------- */

static READS_OBJECTS const char *pointer_at(const char *object, size_t offset)
{
    return *(const char *const *)(object + offset);
}

static READS_OBJECTS int32_t number_at(const char *object, size_t offset)
{
    return *(const int32_t *)(object + offset);
}

static READS_OBJECTS uint8_t byte_at(const char *object, size_t offset)
{
    return *(const uint8_t *)(object + offset);
}

/* References to objects keep notes in bits that the address of an object has not. */
static const char *untagged(const char *reference)
{
    return (const char *)((uintptr_t)reference & ~(uintptr_t)7);
}

/* The innermost frame of this thread. */
static const char *innermost_frame(void)
{
    const struct python_layout *layout = &python.layout;
    const char *thread = python.is_initialized() ? python.this_thread() : NULL, *holder;

    if (!thread)
        return NULL;
    holder = pointer_at(thread, layout->frame_of_thread);
    if (holder && layout->frame_of_cframe >= 0)
        holder = pointer_at(holder, (size_t)layout->frame_of_cframe);
    return holder;
}

/* The instructions that the frame runs: the code's own, or this thread's copy of them. */
static const char *instructions_of(const char *frame, const char *code)
{
    const struct python_layout *layout = &python.layout;
    const char *copies = layout->copy >= 0 ? pointer_at(code, layout->copies) : NULL;
    int32_t copy = copies ? number_at(frame, (size_t)layout->copy) : -1;

    if (copy >= 0 && copy < (intptr_t)pointer_at(copies, 0))
        return pointer_at(copies, sizeof(intptr_t) + (size_t)copy * sizeof(char *));
    return code + layout->instructions_of_code;
}

static int32_t instruction_of(const char *frame, const char *code)
{
    const struct python_layout *layout = &python.layout;

    if (layout->lasti_bytes)
        return number_at(frame, layout->instruction) * layout->lasti_bytes;
    return (int32_t)(pointer_at(frame, layout->instruction) - instructions_of(frame, code));
}

size_t python_frames_read(struct python_frame *frames, size_t most)
{
    const struct python_layout *layout = &python.layout;
    size_t count = 0;

    if (!python_is_here())
        return 0;
    for (const char *frame = innermost_frame(); frame && count < most;
         frame = pointer_at(frame, layout->previous)) {
        const char *code = untagged(pointer_at(frame, layout->code));

        if (layout->owner >= 0 && byte_at(frame, (size_t)layout->owner) >= OWNED_BY_LOOP) {
            if (count)
                frames[count - 1].is_entry = true;
            continue;
        }
        if (!code || pointer_at(code, layout->type) != python.code_type)
            continue;
        frames[count++] = (struct python_frame){
            .code = code,
            .offset_bytes = instruction_of(frame, code),
            .is_entry = layout->lasti_bytes != 0 ||
                        (layout->entry >= 0 && byte_at(frame, (size_t)layout->entry)),
        };
    }
    return count;
}

uint32_t python_line(const struct python_frame *frame)
{
    const struct python_layout *layout = &python.layout;
    const char *table;
    int line;

    if (!layout->lasti_bytes) {
        table = pointer_at(frame->code, layout->lines);
        return python_lines_find((const uint8_t *)table + layout->bytes_first,
                                 (uintptr_t)pointer_at(table, layout->bytes_length),
                                 number_at(frame->code, layout->line), frame->offset_bytes);
    }
    line = python.line_of((void *)(uintptr_t)frame->code, frame->offset_bytes);
    return line > 0 ? (uint32_t)line : 0;
}

/* --- texts ------------------------------------------------------------------------------ */

/* A compact str: how wide its characters are, and where. */
struct characters {
    const char *first;
    uint64_t count;
    uint32_t width_bytes; /* 1, 2, 4; 0: none that can be read */
    bool is_ascii;
};

static struct characters characters_of(const char *text)
{
    const struct python_layout *layout = &python.layout;
    uint32_t state = (uint32_t)number_at(text, layout->text_state) >> layout->text_width_bit;
    uint32_t width = state & 7;
    bool is_compact = state >> 3 & 1, is_ascii = state >> 4 & 1;

    if (!is_compact || (width != 1 && width != 2 && width != 4))
        return (struct characters){.first = NULL};
    return (struct characters){
        .first = text + (is_ascii ? layout->ascii : layout->compact),
        .count = (uint64_t)(uintptr_t)pointer_at(text, layout->text_length),
        .width_bytes = width,
        .is_ascii = is_ascii,
    };
}

static READS_OBJECTS uint32_t character_at(const struct characters *text, uint64_t index)
{
    switch (text->width_bytes) {
    case 1:
        return ((const uint8_t *)text->first)[index];
    case 2:
        return ((const uint16_t *)text->first)[index];
    default:
        return ((const uint32_t *)text->first)[index];
    }
}

/* Returns how many bytes, at most 4. */
static size_t utf8_put(char *out, uint32_t character)
{
    static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    if (count == 1) {
        *out = (char)character;
        return 1;
    }
    for (size_t i = count; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    *out = (char)(heads[count] | character);
    return count;
}

static size_t text_copy(const char *object, char *text, size_t size_bytes)
{
    struct characters from = characters_of(object);
    size_t length = 0;

    for (uint64_t i = 0; i < from.count && length + 4 <= size_bytes; i++)
        length += utf8_put(text + length, character_at(&from, i));
    return length;
}

size_t python_function(const char *code, char *text, size_t size_bytes)
{
    return text_copy(pointer_at(code, python.layout.name), text, size_bytes);
}

size_t python_file(const char *code, char *text, size_t size_bytes)
{
    return text_copy(pointer_at(code, python.layout.file), text, size_bytes);
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0xd6e8feb86659fd93);
}

static READS_OBJECTS uint64_t object_word(const char *bytes)
{
    return *(const uint64_t *)(const void *)bytes;
}

/* Four sums side by side: one multiplication need not wait for the one before. */
static uint64_t blocks_hash(uint64_t hash, const char *bytes, uint64_t count)
{
    uint64_t first = hash, second = hash + 1, third = hash + 2, fourth = hash + 3;

    for (; count; count--, bytes += HASH_BLOCK_BYTES) {
        first = mixed(first ^ first >> 32, object_word(bytes));
        second = mixed(second ^ second >> 32, object_word(bytes + 8));
        third = mixed(third ^ third >> 32, object_word(bytes + 16));
        fourth = mixed(fourth ^ fourth >> 32, object_word(bytes + 24));
    }
    first = mixed(first ^ first >> 32, second);
    third = mixed(third ^ third >> 32, fourth);
    return mixed(first ^ first >> 32, third);
}

/* Looks at every stride-th word, and at all bytes after the last whole one. */
static READS_OBJECTS uint64_t bytes_hash(uint64_t hash, const char *bytes, uint64_t size_bytes,
                                         uint64_t stride)
{
    uint64_t word = 0, rest = size_bytes % 8, at = 0;

    hash = mixed(hash, size_bytes);
    if (stride == 1 && size_bytes >= HASH_BLOCK_BYTES) {
        hash = blocks_hash(hash, bytes, size_bytes / HASH_BLOCK_BYTES);
        at = size_bytes / HASH_BLOCK_BYTES * HASH_BLOCK_BYTES;
    }
    for (; at + 8 <= size_bytes; at += 8 * stride)
        hash = mixed(hash ^ hash >> 32, object_word(bytes + at));
    for (; rest; rest--)
        word = word << 8 | (uint8_t)bytes[size_bytes - rest];
    return mixed(hash ^ hash >> 32, word);
}

/* Every character counts: names are short, and this is what tells two codes apart. */
static uint64_t text_hash(uint64_t hash, const char *object)
{
    struct characters text = characters_of(object);

    return bytes_hash(hash, text.first, text.count * text.width_bytes, 1);
}

uint64_t python_line_key(const struct python_frame *frame)
{
    const struct python_layout *layout = &python.layout;
    const char *table = pointer_at(frame->code, layout->lines);
    uint64_t size_bytes = (uint64_t)(uintptr_t)pointer_at(table, layout->bytes_length);
    uint64_t hash = mixed((uint64_t)number_at(frame->code, layout->line),
                          (uint64_t)(uint32_t)frame->offset_bytes);

    if (size_bytes <= SHORT_TABLE_BYTES)
        return bytes_hash(hash, table + layout->bytes_first, size_bytes, 1);
    hash = mixed(hash, (uintptr_t)frame->code);
    return bytes_hash(hash, table + layout->bytes_first, size_bytes,
                      1 + size_bytes / SHORT_TABLE_BYTES);
}

struct python_identity python_identify(const char *code)
{
    const struct python_layout *layout = &python.layout;
    uint64_t hash = text_hash(1, pointer_at(code, layout->name));

    return (struct python_identity){
        .names = text_hash(hash, pointer_at(code, layout->file)),
        .line = (uint64_t)number_at(code, layout->line),
    };
}
