/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a pickle without running it.
 *
 * The machine has a stack of values, a stack of marks (positions in the first) and a memo. Dicts
 * and lists are handed to the tables as soon as their items are on the stack, so the stack stays
 * small; C++ writes a list in one piece, and there it grows to the longest list.
 */
#include "pickle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "sentence.h"

enum {
    depth_max = 64,
    values_max = 1 << 25,
    memo_max = 1 << 26,
    memo_gap_max = 1 << 16,
    text_max_bytes = BYTE_STREAM_MOST
};

// clang-format off
#define PICKLE_KNOWN(X)                                                                            \
    X(0x80, PROTO) X(0x95, FRAME) X('.', STOP) X('(', MARK) X('0', POP) X('1', POP_MARK)           \
    X('N', NONE) X(0x88, NEWTRUE) X(0x89, NEWFALSE)                                                \
    X('K', BININT1) X('M', BININT2) X('J', BININT) X(0x8a, LONG1) X('G', BINFLOAT)                 \
    X('X', BINUNICODE) X(0x8c, SHORT_BINUNICODE) X(0x8d, BINUNICODE8)                              \
    X('U', SHORT_BINSTRING) X('T', BINSTRING)                                                      \
    X('C', SHORT_BINBYTES) X('B', BINBYTES) X(0x8e, BINBYTES8) X(0x96, BYTEARRAY8)                 \
    X(']', EMPTY_LIST) X('l', LIST) X('a', APPEND) X('e', APPENDS)                                 \
    X('}', EMPTY_DICT) X('d', DICT) X('s', SETITEM) X('u', SETITEMS)                               \
    X(')', EMPTY_TUPLE) X('t', TUPLE) X(0x85, TUPLE1) X(0x86, TUPLE2) X(0x87, TUPLE3)              \
    X('q', BINPUT) X('r', LONG_BINPUT) X(0x94, MEMOIZE) X('h', BINGET) X('j', LONG_BINGET)

/* Instructions that are refused, by name. */
#define PICKLE_REFUSED(X)                                                                          \
    X('c', GLOBAL) X(0x93, STACK_GLOBAL) X('R', REDUCE) X('b', BUILD) X('i', INST) X('o', OBJ)     \
    X(0x81, NEWOBJ) X(0x92, NEWOBJ_EX) X('P', PERSID) X('Q', BINPERSID)                            \
    X(0x82, EXT1) X(0x83, EXT2) X(0x84, EXT4) X(0x97, NEXT_BUFFER) X(0x98, READONLY_BUFFER)        \
    X('I', INT) X('L', LONG) X(0x8b, LONG4) X('F', FLOAT) X('S', STRING) X('V', UNICODE)           \
    X('g', GET) X('p', PUT) X('2', DUP) X(0x8f, EMPTY_SET) X(0x90, ADDITEMS) X(0x91, FROZENSET)
// clang-format on

#define PICKLE_CODE(code, name) PICKLE_##name = (code),
enum pickle_code { PICKLE_KNOWN(PICKLE_CODE) };
#undef PICKLE_CODE

struct pickle {
    struct byte_stream *stream;
    struct snapshot_tables *tables;
    struct snapshot_value *values;
    size_t value_count, value_capacity;
    size_t marks[depth_max];
    unsigned depth;
    struct snapshot_memo memo;
    struct snapshot_value *numbers; /* that are remembered: no pickler does that */
    size_t number_count, number_capacity;
    uint64_t instruction; /* where the current one begins */
    bool has_stopped;
};

static const char *refused_name(unsigned code)
{
#define PICKLE_NAME(code, name)                                                                    \
    case code:                                                                                     \
        return #name;
    switch (code) {
        PICKLE_REFUSED(PICKLE_NAME)
    default:
        return NULL;
    }
#undef PICKLE_NAME
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static enum mt_result
refuse(const struct pickle *pickle, enum mt_result result, struct mt_error *error,
       const char *format, ...)
{
    char why[300];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof(why), translated(format), arguments);
    va_end(arguments);
    return mt_error_set(error, result, "%s: pickle at byte %" PRIu64 ": %s", pickle->stream->path,
                        pickle->instruction, why);
}

/* Bytes that are not there. */
static enum mt_result cut_short(const struct pickle *pickle, struct mt_error *error)
{
    if (byte_stream_status(pickle->stream, error) != MT_OK)
        return byte_stream_status(pickle->stream, error);
    return refuse(pickle, MT_CORRUPT, error, "the file ends in the middle of it");
}

static enum mt_result no_memory(const struct pickle *pickle, struct mt_error *error)
{
    return mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", pickle->stream->path);
}

/* Puts position and file before what the tables say. */
static enum mt_result explain(const struct pickle *pickle, enum mt_result result,
                              const struct mt_error *why, struct mt_error *error)
{
    if (result == MT_OK)
        return MT_OK;
    return refuse(pickle, result, error, "%s", why->message);
}

/* --- stack and memo ------------------------------------------------------------------------ */

static enum mt_result push_slowly(struct pickle *pickle, struct snapshot_value value,
                                  struct mt_error *error)
{
    if (pickle->value_count >= values_max)
        return refuse(pickle, MT_UNSUPPORTED, error, "more than %d values at once", values_max);
    if (!list_has_room(&pickle->values, &pickle->value_capacity, pickle->value_count,
                       sizeof(value)))
        return no_memory(pickle, error);
    pickle->values[pickle->value_count++] = value;
    return MT_OK;
}

static inline enum mt_result push(struct pickle *pickle, struct snapshot_value value,
                                  struct mt_error *error)
{
    if (pickle->value_count == pickle->value_capacity)
        return push_slowly(pickle, value, error);
    pickle->values[pickle->value_count++] = value;
    return MT_OK;
}

/* Values above the newest mark, or all of them. */
static inline size_t available(const struct pickle *pickle)
{
    return pickle->value_count - (pickle->depth ? pickle->marks[pickle->depth - 1] : 0);
}

/* How the memo knows a value. */
static bool slot_of(struct pickle *pickle, struct snapshot_value value, size_t number,
                    struct memo_slot *slot)
{
    *slot = (struct memo_slot){MEMO_OTHER, value.index};
    switch (value.kind) {
    case VALUE_TEXT:
        *slot = value.word ? (struct memo_slot){MEMO_WORD, value.word}
                           : (struct memo_slot){MEMO_TEXT, value.index};
        return value.index <= MEMO_INDEX_MAX;
    case VALUE_OBJECT:
        slot->kind = MEMO_OBJECT;
        snapshot_remember(pickle->tables, value, number);
        return true;
    case VALUE_STACK:
        slot->kind = MEMO_STACK;
        return true;
    case VALUE_NUMBER:
        *slot = (struct memo_slot){MEMO_NUMBER, (uint32_t)pickle->number_count};
        if (!list_has_room(&pickle->numbers, &pickle->number_capacity, pickle->number_count,
                           sizeof(*pickle->numbers)))
            return false;
        pickle->numbers[pickle->number_count++] = value;
        return pickle->number_count <= MEMO_INDEX_MAX;
    default:
        return true;
    }
}

static enum mt_result memo_put(struct pickle *pickle, uint64_t number, struct mt_error *error)
{
    struct memo_slot slot;

    if (!available(pickle))
        return refuse(pickle, MT_CORRUPT, error, "nothing to remember");
    if (number >= memo_max || number > pickle->memo.count + memo_gap_max)
        return refuse(pickle, MT_UNSUPPORTED, error, "it remembers number %" PRIu64, number);
    if (!slot_of(pickle, pickle->values[pickle->value_count - 1], number, &slot) ||
        !snapshot_memo_put(&pickle->memo, number, slot))
        return no_memory(pickle, error);
    return MT_OK;
}

static enum mt_result memo_get(struct pickle *pickle, uint64_t number, struct mt_error *error)
{
    struct memo_slot slot;
    struct snapshot_value value = value_other();

    if (number >= pickle->memo.count)
        return refuse(pickle, MT_CORRUPT, error, "it refers to number %" PRIu64 " of %zu", number,
                      pickle->memo.count);
    slot = snapshot_memo_at(&pickle->memo, number);
    switch (slot.kind) {
    case MEMO_TEXT:
        return push(pickle, (struct snapshot_value){.kind = VALUE_TEXT, .index = slot.index},
                    error);
    case MEMO_WORD:
        return push(pickle,
                    (struct snapshot_value){.kind = VALUE_TEXT, .word = (uint8_t)slot.index},
                    error);
    case MEMO_STACK:
        return push(pickle, (struct snapshot_value){.kind = VALUE_STACK, .index = slot.index},
                    error);
    case MEMO_NUMBER:
        return push(pickle, pickle->numbers[slot.index], error);
    case MEMO_OBJECT:
        value = (struct snapshot_value){.kind = VALUE_OBJECT, .index = slot.index};
        snapshot_share(pickle->tables, value);
        return push(pickle, value, error);
    case MEMO_USED:
        return refuse(pickle, MT_UNSUPPORTED, error, "an event or a block in two lists");
    default:
        return push(pickle, value, error);
    }
}

/* --- numbers and texts --------------------------------------------------------------------- */

static inline uint64_t number_at(const unsigned char *bytes, unsigned count)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < count; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

/* An unsigned number of so many bytes. */
static enum mt_result take_number(struct pickle *pickle, unsigned count, uint64_t *number,
                                  struct mt_error *error)
{
    const unsigned char *bytes = byte_stream_take(pickle->stream, count);

    *number = 0;
    if (!bytes)
        return cut_short(pickle, error);
    *number = number_at(bytes, count);
    return MT_OK;
}

/* Two's complement of any length: those that fit into 64 bits, with or without a sign. */
static enum mt_result push_long(struct pickle *pickle, struct mt_error *error)
{
    uint64_t count, number;
    const unsigned char *bytes;
    enum mt_result result = take_number(pickle, 1, &count, error);

    if (result != MT_OK)
        return result;
    bytes = byte_stream_take(pickle->stream, count);
    if (!bytes)
        return cut_short(pickle, error);
    if (count > 9 || (count == 9 && bytes[8]))
        return refuse(pickle, MT_UNSUPPORTED, error, "a number of more than 64 bits");
    number = number_at(bytes, count < 8 ? (unsigned)count : 8);
    if (count && count < 8 && bytes[count - 1] & 0x80)
        number |= UINT64_MAX << 8 * count;
    return push(pickle, value_number(number), error);
}

/* Is the value that comes the text of a key that nobody asks for? */
static bool is_unwanted(const struct pickle *pickle)
{
    const struct snapshot_value *top;

    if (!available(pickle))
        return false;
    top = pickle->values + pickle->value_count - 1;
    return top->kind == VALUE_TEXT && word_is_dropped_key((enum word)top->word);
}

static enum mt_result push_bytes(struct pickle *pickle, unsigned length_bytes, bool is_text,
                                 struct mt_error *error)
{
    uint64_t size_bytes;
    const unsigned char *bytes;
    enum mt_result result = take_number(pickle, length_bytes, &size_bytes, error);

    if (result != MT_OK)
        return result;
    if (size_bytes > text_max_bytes)
        return refuse(pickle, MT_UNSUPPORTED, error, "a text of %" PRIu64 " bytes", size_bytes);
    bytes = byte_stream_take(pickle->stream, size_bytes);
    if (!bytes)
        return cut_short(pickle, error);
    if (!is_text || is_unwanted(pickle))
        return push(pickle, value_other(), error);
    return push(pickle, snapshot_text(pickle->tables, (const char *)bytes, size_bytes), error);
}

static enum mt_result skip_frame_length(struct pickle *pickle, struct mt_error *error)
{
    return byte_stream_take(pickle->stream, 8) ? MT_OK : cut_short(pickle, error);
}

static enum mt_result check_protocol(struct pickle *pickle, struct mt_error *error)
{
    uint64_t protocol;
    enum mt_result result = take_number(pickle, 1, &protocol, error);

    if (result != MT_OK)
        return result;
    if (protocol < 2 || protocol > 5)
        return refuse(pickle, MT_UNSUPPORTED, error, "protocol %" PRIu64 ", and leaktide reads 2-5",
                      protocol);
    return MT_OK;
}

static enum mt_result push_float(struct pickle *pickle, struct mt_error *error)
{
    if (!byte_stream_take(pickle->stream, 8))
        return cut_short(pickle, error);
    return push(pickle, value_other(), error);
}

/* --- lists, dicts, tuples ------------------------------------------------------------------ */

static enum mt_result push_mark(struct pickle *pickle, struct mt_error *error)
{
    if (pickle->depth == depth_max)
        return refuse(pickle, MT_UNSUPPORTED, error, "lists and dicts nested more than %d deep",
                      depth_max);
    pickle->marks[pickle->depth++] = pickle->value_count;
    return MT_OK;
}

/* Ends the newest mark: *items are the values above it. */
static enum mt_result pop_mark(struct pickle *pickle, struct snapshot_value **items, size_t *count,
                               struct mt_error *error)
{
    size_t mark;

    if (!pickle->depth)
        return refuse(pickle, MT_CORRUPT, error, "the end of a list that never began");
    mark = pickle->marks[--pickle->depth];
    *items = pickle->values + mark;
    *count = pickle->value_count - mark;
    pickle->value_count = mark;
    return MT_OK;
}

/* The value below is a list or a dict, and gets the count values that were just popped. */
static enum mt_result fill(struct pickle *pickle, bool is_dict, const struct snapshot_value *items,
                           size_t count, struct mt_error *error)
{
    struct mt_error why = {.message = ""};
    struct snapshot_value target;
    enum mt_result result;

    if (!available(pickle))
        return refuse(pickle, MT_CORRUPT, error, "items without a list or a dict");
    target = pickle->values[pickle->value_count - 1];
    if (is_dict)
        result = snapshot_set(pickle->tables, target, items, count, &why);
    else
        result = snapshot_append(pickle->tables, target, items, count, &why);
    return explain(pickle, result, &why, error);
}

static enum mt_result fill_from_mark(struct pickle *pickle, bool is_dict, struct mt_error *error)
{
    struct snapshot_value *items = NULL;
    size_t count = 0;
    enum mt_result result = pop_mark(pickle, &items, &count, error);

    return result == MT_OK ? fill(pickle, is_dict, items, count, error) : result;
}

static enum mt_result fill_with(struct pickle *pickle, bool is_dict, size_t count,
                                struct mt_error *error)
{
    if (available(pickle) < count)
        return refuse(pickle, MT_CORRUPT, error, "too few values");
    pickle->value_count -= count;
    return fill(pickle, is_dict, pickle->values + pickle->value_count, count, error);
}

static enum mt_result push_container(struct pickle *pickle, bool is_dict, struct mt_error *error)
{
    struct snapshot_value value =
        is_dict ? snapshot_dict(pickle->tables) : snapshot_list(pickle->tables);

    if (value.kind != VALUE_OBJECT)
        return no_memory(pickle, error);
    return push(pickle, value, error);
}

/* LIST and DICT: the old way, items first. */
static enum mt_result make_from_mark(struct pickle *pickle, bool is_dict, struct mt_error *error)
{
    struct mt_error why = {.message = ""};
    struct snapshot_value *items = NULL, made;
    size_t count = 0;
    enum mt_result result = pop_mark(pickle, &items, &count, error);

    if (result != MT_OK)
        return result;
    made = is_dict ? snapshot_dict(pickle->tables) : snapshot_list(pickle->tables);
    if (made.kind != VALUE_OBJECT)
        return no_memory(pickle, error);
    result = is_dict ? snapshot_set(pickle->tables, made, items, count, &why)
                     : snapshot_append(pickle->tables, made, items, count, &why);
    if (result != MT_OK)
        return explain(pickle, result, &why, error);
    return push(pickle, made, error);
}

/* Nothing that is in a tuple of a snapshot is needed. */
static enum mt_result make_tuple(struct pickle *pickle, size_t count, struct mt_error *error)
{
    if (available(pickle) < count)
        return refuse(pickle, MT_CORRUPT, error, "too few values");
    pickle->value_count -= count;
    return push(pickle, value_other(), error);
}

static enum mt_result drop_to_mark(struct pickle *pickle, struct mt_error *error)
{
    struct snapshot_value *items = NULL;
    size_t count = 0;

    return pop_mark(pickle, &items, &count, error);
}

static enum mt_result make_tuple_from_mark(struct pickle *pickle, struct mt_error *error)
{
    enum mt_result result = drop_to_mark(pickle, error);

    return result == MT_OK ? push(pickle, value_other(), error) : result;
}

/* --- the machine --------------------------------------------------------------------------- */

static enum mt_result refuse_code(struct pickle *pickle, unsigned code, struct mt_error *error)
{
    const char *name = refused_name(code);

    if (name)
        return refuse(pickle, MT_UNSUPPORTED, error,
                      "instruction %s is not one that a memory snapshot needs; it is not run",
                      name);
    return refuse(pickle, MT_CORRUPT, error, "0x%02x is no instruction", code);
}

static enum mt_result run_number(struct pickle *pickle, unsigned count, bool is_signed,
                                 struct mt_error *error)
{
    uint64_t number;
    enum mt_result result = take_number(pickle, count, &number, error);

    if (result != MT_OK)
        return result;
    if (is_signed)
        number = (uint64_t)(int64_t)(int32_t)(uint32_t)number;
    return push(pickle, value_number(number), error);
}

static enum mt_result run_memo(struct pickle *pickle, unsigned count, bool is_put,
                               struct mt_error *error)
{
    uint64_t index;
    enum mt_result result = take_number(pickle, count, &index, error);

    if (result != MT_OK)
        return result;
    return is_put ? memo_put(pickle, index, error) : memo_get(pickle, index, error);
}

/* Texts, containers and what is rare. */
static enum mt_result run_other(struct pickle *pickle, unsigned code, struct mt_error *error)
{
    switch (code) {
    case PICKLE_PROTO:
        return check_protocol(pickle, error);
    case PICKLE_FRAME:
        return skip_frame_length(pickle, error);
    case PICKLE_STOP:
        pickle->has_stopped = true;
        return MT_OK;
    case PICKLE_POP:
        if (!available(pickle))
            return refuse(pickle, MT_CORRUPT, error, "too few values");
        pickle->value_count--;
        return MT_OK;
    case PICKLE_POP_MARK:
        return drop_to_mark(pickle, error);
    case PICKLE_BINFLOAT:
        return push_float(pickle, error);
    case PICKLE_SHORT_BINUNICODE:
    case PICKLE_SHORT_BINSTRING:
        return push_bytes(pickle, 1, true, error);
    case PICKLE_BINUNICODE:
    case PICKLE_BINSTRING:
        return push_bytes(pickle, 4, true, error);
    case PICKLE_BINUNICODE8:
        return push_bytes(pickle, 8, true, error);
    case PICKLE_SHORT_BINBYTES:
        return push_bytes(pickle, 1, false, error);
    case PICKLE_BINBYTES:
        return push_bytes(pickle, 4, false, error);
    case PICKLE_BINBYTES8:
    case PICKLE_BYTEARRAY8:
        return push_bytes(pickle, 8, false, error);
    case PICKLE_LIST:
        return make_from_mark(pickle, false, error);
    case PICKLE_DICT:
        return make_from_mark(pickle, true, error);
    case PICKLE_EMPTY_TUPLE:
        return make_tuple(pickle, 0, error);
    case PICKLE_TUPLE1:
        return make_tuple(pickle, 1, error);
    case PICKLE_TUPLE3:
        return make_tuple(pickle, 3, error);
    case PICKLE_TUPLE:
        return make_tuple_from_mark(pickle, error);
    default:
        return refuse_code(pickle, code, error);
    }
}

/* What nearly all of a snapshot is made of. */
static inline enum mt_result run(struct pickle *pickle, unsigned code, struct mt_error *error)
{
    switch (code) {
    case PICKLE_MARK:
        return push_mark(pickle, error);
    case PICKLE_BINGET:
        return run_memo(pickle, 1, false, error);
    case PICKLE_LONG_BINGET:
        return run_memo(pickle, 4, false, error);
    case PICKLE_BINPUT:
        return run_memo(pickle, 1, true, error);
    case PICKLE_LONG_BINPUT:
        return run_memo(pickle, 4, true, error);
    case PICKLE_MEMOIZE:
        return memo_put(pickle, pickle->memo.count, error);
    case PICKLE_BININT1:
        return run_number(pickle, 1, false, error);
    case PICKLE_BININT2:
        return run_number(pickle, 2, false, error);
    case PICKLE_BININT:
        return run_number(pickle, 4, true, error);
    case PICKLE_LONG1:
        return push_long(pickle, error);
    case PICKLE_NONE:
        return push(pickle, value_other(), error);
    case PICKLE_NEWTRUE:
    case PICKLE_NEWFALSE:
        return push(pickle, value_number(code == PICKLE_NEWTRUE), error);
    case PICKLE_TUPLE2:
        return make_tuple(pickle, 2, error);
    case PICKLE_EMPTY_DICT:
        return push_container(pickle, true, error);
    case PICKLE_EMPTY_LIST:
        return push_container(pickle, false, error);
    case PICKLE_SETITEMS:
        return fill_from_mark(pickle, true, error);
    case PICKLE_APPENDS:
        return fill_from_mark(pickle, false, error);
    case PICKLE_SETITEM:
        return fill_with(pickle, true, 2, error);
    case PICKLE_APPEND:
        return fill_with(pickle, false, 1, error);
    default:
        return run_other(pickle, code, error);
    }
}

static enum mt_result run_all(struct pickle *pickle, struct mt_error *error)
{
    while (!pickle->has_stopped) {
        const unsigned char *code;
        enum mt_result result;

        pickle->instruction = byte_stream_offset(pickle->stream);
        code = byte_stream_take(pickle->stream, 1);
        if (!code)
            return cut_short(pickle, error);
        result = run(pickle, *code, error);
        if (result != MT_OK)
            return result;
    }
    return MT_OK;
}

/*
 * After damage, what is open is closed: each mark's values go into the list or dict below it. An
 * item that is itself unfinished is left out.
 */
static void close_open(struct pickle *pickle)
{
    struct mt_error ignored;

    while (pickle->depth && pickle->values) {
        struct snapshot_value *items = NULL;
        size_t count = 0;

        pop_mark(pickle, &items, &count, &ignored);
        if (!pickle->value_count)
            continue;
        snapshot_fill_open(pickle->tables, pickle->values[pickle->value_count - 1], items, count);
    }
    if (pickle->value_count > 1)
        snapshot_fill_open(pickle->tables, pickle->values[0], pickle->values + 1,
                           pickle->value_count - 1);
}

enum mt_result pickle_read(struct byte_stream *stream, struct snapshot_tables *tables,
                           struct snapshot_value *root, struct mt_error *error)
{
    struct pickle pickle = {.stream = stream, .tables = tables};
    enum mt_result result;

    /* The stack is there before the first value: lists and dicts may be empty. */
    if (!list_has_room(&pickle.values, &pickle.value_capacity, 0, sizeof(*pickle.values)))
        return no_memory(&pickle, error);
    tables->memo = &pickle.memo;
    result = run_all(&pickle, error);

    if (result == MT_OK && (pickle.depth || pickle.value_count != 1))
        result = refuse(&pickle, MT_CORRUPT, error, "it ends with %zu values, not one",
                        pickle.value_count);
    if (result == MT_CORRUPT && pickle.value_count && model_wants_partial(tables->model)) {
        model_note_damage(tables->model, error);
        close_open(&pickle);
        result = MT_OK;
    }
    if (result == MT_OK)
        *root = pickle.values[0];
    tables->memo = NULL;
    snapshot_memo_release(&pickle.memo);
    free(pickle.values);
    free(pickle.numbers);
    return result;
}
