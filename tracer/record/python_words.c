/* SPDX-License-Identifier: Apache-2.0 */
#include "python_words.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "leaktide/frames.h"
#include "python_deaths.h"
#include "recorder.h"

static _Atomic uint64_t last_code_id; /* of the process and, as they copy it, of its children */

void python_words_init(struct python_words *words, void *memory, size_t size_bytes)
{
    size_t slot_max = PYTHON_CODE_FIRST_SLOTS;
    const size_t bytes_a_slot = sizeof(*words->slots) + sizeof(*words->codes) / 2;

    assert(size_bytes >= PYTHON_CODES_MIN_BYTES);
    while (slot_max <= UINT32_MAX / 4 && 2 * slot_max * bytes_a_slot <= size_bytes)
        slot_max *= 2;
    words->codes = memory;
    words->slots = (uint32_t *)(void *)(words->codes + slot_max / 2);
    words->slot_max = (uint32_t)slot_max;
    words->slot_count = PYTHON_CODE_FIRST_SLOTS;
}

/* --- codes ------------------------------------------------------------------------------ */

/* Where its place stands, or would stand. */
static uint32_t *slot_of(struct python_words *words, struct python_identity identity)
{
    uint64_t hash = identity.names + identity.line * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = words->slot_count - 1, at = (uint32_t)(hash >> 32) & mask;

    for (; words->slots[at]; at = (at + 1) & mask) {
        const struct known_code *code = &words->codes[words->slots[at] - 1];

        if (code->identity.names == identity.names && code->identity.line == identity.line)
            break;
    }
    return &words->slots[at];
}

/* Room for one more: twice as many slots, or all codes are forgotten. */
static void make_room(struct python_words *words)
{
    if (2 * (words->code_count + 1) <= words->slot_count)
        return;
    memset(words->slots, 0, words->slot_count * sizeof(*words->slots));
    if (words->slot_count < words->slot_max)
        words->slot_count *= 2;
    else
        words->code_count = 0;
    for (uint32_t i = 0; i < words->code_count; i++)
        *slot_of(words, words->codes[i].identity) = i + 1;
}

/* function, file: ids of their texts */
static uint64_t code_write(uint64_t function, uint64_t file)
{
    uint64_t id = atomic_fetch_add(&last_code_id, 1) + 1;

    recorder_push(MT_RECORD_code, (uint64_t[]){id, function, file});
    return id;
}

static uint64_t code_add(struct python_words *words, const char *code,
                         struct python_identity identity)
{
    struct text text = {words->text, python_function(code, words->text, sizeof(words->text))};
    uint64_t function = recorder_text(text), id;

    text.size_bytes = python_file(code, words->text, sizeof(words->text));
    id = code_write(function, recorder_text(text));
    make_room(words);
    words->codes[words->code_count++] = (struct known_code){identity, id};
    *slot_of(words, identity) = words->code_count;
    return id;
}

static uint64_t code_id(struct python_words *words, const char *code)
{
    struct python_identity identity = python_identify(code);
    uint32_t place = *slot_of(words, identity);

    return place ? words->codes[place - 1].id : code_add(words, code, identity);
}

/* --- words ------------------------------------------------------------------------------ */

uint64_t python_word_by_contents(struct python_words *words, const struct python_frame *frame)
{
    int32_t offset_bytes = python_frame_offset(frame);
    uint64_t id = code_id(words, frame->code), key = python_line_key(frame->code, offset_bytes);
    struct line_slot *slot = &words->lines[((key ^ id) >> 40) % PYTHON_LINE_SLOTS];
    struct python_line_place start = {0, 0, 0};

    if (slot->code_id != id || slot->key != key)
        *slot = (struct line_slot){id, key, python_line(frame->code, offset_bytes, &start)};
    return mt_frame_of_code(id, slot->line);
}

static inline struct word_slot *set_of(struct python_words *words, const struct python_frame *frame)
{
    uint64_t hash =
        (frame->instruction ^ (uintptr_t)frame->code >> 3) * UINT64_C(0x9e3779b97f4a7c15);

    return words->words[(hash >> 32) % PYTHON_WORD_SETS];
}

static inline uint64_t find(const struct word_slot *set, const struct python_frame *frame,
                            uint32_t generation)
{
    for (int way = 0; way < PYTHON_WORD_WAYS; way++)
        if (set[way].code == frame->code && set[way].instruction == frame->instruction &&
            set[way].generation == generation)
            return set[way].word;
    return 0;
}

/* The texts of a code that dies may be gone. It has a name of its own, if it was not known. */
static uint64_t word_of_dying(struct python_words *words, const struct python_frame *frame,
                              uint32_t generation)
{
    uint64_t word = find(set_of(words, frame), frame, generation);

    if (word)
        return word;
    if (!words->dying_id)
        words->dying_id = code_write(recorder_text(text_of("(code that is being freed)")), 0);
    return mt_frame_of_code(words->dying_id, 0);
}

static uint32_t line_of(struct python_words *words, const struct python_frame *frame)
{
    uint64_t hash = ((uintptr_t)frame->code >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    struct line_place *known = &words->places[(hash >> 32) % PYTHON_LINE_PLACES];

    if (known->code != frame->code || known->generation != frame->generation)
        *known = (struct line_place){frame->code, frame->generation, {0, 0, 0}};
    return python_line(frame->code, python_frame_offset(frame), &known->place);
}

static __attribute__((noinline)) uint64_t learn(struct python_words *words,
                                                const struct python_frame *frame)
{
    struct word_slot *set = set_of(words, frame);
    uint32_t generation;
    uint64_t word;

    if (python_is_dying(frame->code, &generation))
        return word_of_dying(words, frame, generation);
    word = mt_frame_of_code(code_id(words, frame->code), line_of(words, frame));
    set[1] = set[0];
    set[0] = (struct word_slot){frame->code, frame->instruction, word, frame->generation};
    return word;
}

uint64_t python_word(struct python_words *words, const struct python_frame *frame)
{
    uint64_t word = find(set_of(words, frame), frame, frame->generation);

    return __builtin_expect(word != 0, 1) ? word : learn(words, frame);
}
