/* SPDX-License-Identifier: Apache-2.0 */
#include "python_layout.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Objects that have a reference count and a type before what is their own. */
#define OBJECTS                                                                                    \
    .type = 8, .dealloc = 48, .bytes_length = 16, .bytes_first = 32, .text_length = 16,            \
    .text_state = 32, .text_width_bit = 2

/*
 * Source: Include/cpython/code.h, frameobject.h, pystate.h, unicodeobject.h and
 * Include/internal/pycore_frame.h of each version; the same on all 64-bit processors.
 */
// clang-format off
static const struct {
    int minor;
    struct python_layout layout;
} known[] = {
    /*   thread cframe prev code instr entry owner copy lasti name file line lines instrs        texts */
    {8,  {24,   -1,    24,  32,  104,  -1,   -1,   -1,  1,    112, 104, 40,  120,  0,   0, OBJECTS, 48, 72}},
    {9,  {24,   -1,    24,  32,  104,  -1,   -1,   -1,  1,    112, 104, 40,  120,  0,   0, OBJECTS, 48, 72}},
    {10, {24,   -1,    24,  32,  96,   -1,   -1,   -1,  2,    112, 104, 40,  120,  0,   0, OBJECTS, 48, 72}},
    {11, {56,   8,     48,  32,  56,   68,   -1,   -1,  0,    128, 112, 72,  136,  184, 0, OBJECTS, 48, 72}},
    {12, {56,   0,     8,   0,   56,   -1,   70,   -1,  0,    128, 112, 68,  136,  192, 0, OBJECTS, 40, 56}},
};

/*
 * Where in the offsets for debuggers the ones of each struct begin, in words of 64 bits. Within a
 * struct the order has not changed. Source: struct _Py_DebugOffsets in
 * Include/internal/pycore_runtime.h (3.13) and pycore_debug_offsets.h (since).
 */
static const struct told {
    int minor;
    uint8_t current_frame;      /* of the thread */
    uint8_t frame;              /* previous, executable, instr_ptr, localsplus, owner */
    uint8_t code;               /* filename, name, qualname, linetable, firstlineno */
    uint8_t object;             /* ob_type */
    uint8_t bytes;              /* ob_size, ob_sval */
    uint8_t text;               /* size, state, length, asciiobject_size */
    bool has_copies;            /* each thread may run a copy of a code's instructions */
    uint8_t dealloc[2];         /* with the lock, without it; 0: nobody has tried it */
} told[] = {
    {13, 23, 29, 35, 45, 65, 67, false, {48, 64}},
    {14, 26, 32, 40, 51, 75, 77, true,  {48, 0}},
    {15, 26, 40, 48, 59, 87, 89, true,  {48, 0}},
};
// clang-format on

/* Words after the first of a struct. */
enum {
    FRAME_CODE = 1,
    FRAME_INSTRUCTION = 2,
    FRAME_OWNER = 4,
    FRAME_COPY = 6,
    CODE_NAME = 2, /* co_qualname */
    CODE_LINES = 3,
    CODE_LINE = 4,
    CODE_INSTRUCTIONS = 8,
    CODE_COPIES = 9,
    TEXT_STATE = 1,
    TEXT_LENGTH = 2,
    TEXT_ASCII = 3
};

struct runtime_head {
    char cookie[8];
    uint64_t version;
    uint64_t is_free_threaded;
};

enum { RELEASE_CANDIDATE = 0xc, OFFSET_MOST = 4096, TEXT_POINTER_BYTES = 8 };

/* Before the first release candidate of a version its offsets may be others. */
static bool head_fits(const struct runtime_head *head, int minor)
{
    return memcmp(head->cookie, "xdebugpy", sizeof(head->cookie)) == 0 &&
           head->version >> 16 == (uint64_t)(3 << 8 | minor) &&
           (head->version >> 4 & 0xf) >= RELEASE_CANDIDATE && head->is_free_threaded <= 1;
}

static bool are_small(const uint64_t *words, uint32_t count)
{
    while (count && words[count - 1] < OFFSET_MOST)
        count--;
    return count == 0;
}

static bool offsets_fit(const uint64_t *words, const struct told *at)
{
    return are_small(words + at->current_frame, 1) &&
           are_small(words + at->frame, at->has_copies ? FRAME_COPY + 1 : FRAME_OWNER + 1) &&
           are_small(words + at->code, at->has_copies ? CODE_COPIES + 1 : CODE_INSTRUCTIONS + 1) &&
           are_small(words + at->object, 1) && are_small(words + at->bytes, 2) &&
           are_small(words + at->text, TEXT_ASCII + 1) && words[at->text] > TEXT_POINTER_BYTES;
}

static struct python_layout layout_told(const uint64_t *words, const struct told *at,
                                        bool is_free_threaded)
{
    const uint64_t *frame = words + at->frame, *code = words + at->code, *text = words + at->text;
    bool has_copies = at->has_copies && is_free_threaded;

    return (struct python_layout){
        .frame_of_thread = (uint16_t)words[at->current_frame],
        .frame_of_cframe = -1,
        .previous = (uint16_t)frame[0],
        .code = (uint16_t)frame[FRAME_CODE],
        .instruction = (uint16_t)frame[FRAME_INSTRUCTION],
        .entry = -1,
        .owner = (int16_t)frame[FRAME_OWNER],
        .copy = has_copies ? (int16_t)frame[FRAME_COPY] : -1,
        .file = (uint16_t)code[0],
        .name = (uint16_t)code[CODE_NAME],
        .lines = (uint16_t)code[CODE_LINES],
        .line = (uint16_t)code[CODE_LINE],
        .instructions_of_code = (uint16_t)code[CODE_INSTRUCTIONS],
        .copies = has_copies ? (uint16_t)code[CODE_COPIES] : 0,
        .type = (uint16_t)words[at->object],
        .dealloc = at->dealloc[is_free_threaded],
        .bytes_length = (uint16_t)words[at->bytes],
        .bytes_first = (uint16_t)words[at->bytes + 1],
        .text_state = (uint16_t)text[TEXT_STATE],
        .text_length = (uint16_t)text[TEXT_LENGTH],
        .text_width_bit = has_copies ? 8 : 2, /* `interned` is a byte where threads share it */
        .ascii = (uint16_t)text[TEXT_ASCII],
        .compact = (uint16_t)(text[0] - TEXT_POINTER_BYTES), /* PyUnicodeObject, but its last */
    };
}

static bool find_told(int minor, const void *runtime, struct python_layout *layout)
{
    const struct runtime_head *head = runtime;

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        if (told[i].minor != minor)
            continue;
        if (!head || !head_fits(head, minor) || !offsets_fit(runtime, &told[i]))
            return false;
        *layout = layout_told(runtime, &told[i], head->is_free_threaded);
        return true;
    }
    return false;
}

uint32_t python_version(const char *version)
{
    char *end;
    unsigned long major = strtoul(version, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

    return (uint32_t)((major < 255 ? major : 255) << 24 | (minor < 255 ? minor : 255) << 16);
}

bool python_layout_find(const char *version, const void *runtime, struct python_layout *layout)
{
    uint32_t hex = python_version(version);
    int minor = hex >> 16 & 0xff;

    if (hex >> 24 != 3)
        return false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].minor == minor) {
            *layout = known[i].layout;
            return true;
        }
    }
    return find_told(minor, runtime, layout);
}
