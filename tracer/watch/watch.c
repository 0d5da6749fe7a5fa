/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a slot's fields are read between two looks at its state that agree, so what is dumped
 * is one tensor and not the mixture of two.
 *
 *   free -> WRITING -> READY of this generation -> free -> ...
 */
#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ascend_device.h"
#include "leaktide/invariant.h"
#include "option_values.h"
#include "tensor_dump.h"

enum {
    TENSORS_MAX = 64,
    OPERATOR_SHOWN_MOST = 96, /* in the name of a file */
    DEPTH_MAX = 8,
    OUTPUTS_MAX = 8,
    COUNTED_MAX = 1024, /* operators, a power of two */
    FAILURES_MAX = 3,
    FILE_NAME_BYTES = 256,
    STATE_FREE = 0, /* the low two bits; above them the generation */
    STATE_WRITING = 1,
    STATE_READY = 2,
    STATE_MASK = 3,
    GENERATION = 4
};

/* What is told of a tensor. */
struct tensor {
    uint64_t address, size_bytes;
    uint32_t index; /* number of the output, or how many of this name came before */
    bool is_of_operator;
    char name[WATCH_NAME_MOST + 1];
};

static struct slot {
    _Atomic uint64_t state;
    _Atomic int64_t dumps_left; /* negative: no limit */
    _Atomic uint32_t failures;  /* in a row */
    struct tensor tensor;
} slots[TENSORS_MAX];

/* What --watch asks for. Written before is_chosen, or by a control word between operators. */
static struct choice {
    char start[OPTION_NAME_MOST + 1], end[OPTION_NAME_MOST + 1];
    int64_t output; /* -1: all */
    bool is_whole;
} choice = {.output = -1};
static atomic_bool is_chosen;

atomic_bool watch_is_used;

/* How often an operator was watched, by its name. */
static struct {
    _Atomic uint64_t hash;
    _Atomic uint64_t count;
} counted[COUNTED_MAX];

/* Of a thread. Operators nest; deeper ones than DEPTH_MAX have the number 0. */
struct open_operators {
    uint64_t numbers[DEPTH_MAX];
    struct {
        uint64_t address, size_bytes;
    } outputs[OUTPUTS_MAX]; /* of START */
    uint32_t depth, output_count;
    bool is_in_start;
};

static __thread struct open_operators open_operators __attribute__((tls_model("initial-exec")));

/* --- what is asked for ------------------------------------------------------------------------
 */

static struct text word_take(const char **rest)
{
    struct text word = {*rest, strcspn(*rest, ",")};

    *rest += word.size_bytes;
    *rest += **rest == ',';
    return word;
}

/* "op" or "op:7"; operators may have colons in their names. */
static int64_t output_take(struct text *word)
{
    size_t digits = 0;
    int64_t number = 0;

    while (digits < word->size_bytes && word->bytes[word->size_bytes - 1 - digits] >= '0' &&
           word->bytes[word->size_bytes - 1 - digits] <= '9')
        digits++;
    if (!digits || digits > 9 || digits == word->size_bytes ||
        word->bytes[word->size_bytes - 1 - digits] != ':')
        return -1;
    for (size_t i = word->size_bytes - digits; i < word->size_bytes; i++)
        number = number * 10 + (word->bytes[i] - '0');
    word->size_bytes -= digits + 1;
    return number;
}

bool watch_choose(const char *value)
{
    const char *rest = value;
    struct choice chosen = {.output = -1};
    bool has_comma = strchr(value, ',') != NULL;
    struct text start = word_take(&rest), end = word_take(&rest);

    chosen.output = output_take(&start);
    if (!has_comma || !end.size_bytes || start.size_bytes > OPTION_NAME_MOST ||
        end.size_bytes > OPTION_NAME_MOST || (*rest && strcmp(rest, "full-content") != 0))
        return false;
    memcpy(chosen.start, start.bytes, start.size_bytes);
    memcpy(chosen.end, end.bytes, end.size_bytes);
    chosen.is_whole = *rest != 0;
    atomic_store(&is_chosen, false);
    choice = chosen;
    atomic_store(&is_chosen, true);
    atomic_store(&watch_is_used, true);
    return true;
}

static bool is_equal(struct text text, const char *word)
{
    return text.size_bytes == strlen(word) && memcmp(text.bytes, word, text.size_bytes) == 0;
}

/* By its name, as a framework or as ATB calls it, or by its path. */
static bool is_operator(const struct watched_operator *told, const char *wanted)
{
    static const char prefix[] = "atb::";
    struct text name = told->name;

    if (!*wanted)
        return false;
    if (is_equal(name, wanted) || (told->path.size_bytes && is_equal(told->path, wanted)))
        return true;
    if (name.size_bytes < sizeof(prefix) || memcmp(name.bytes, prefix, sizeof(prefix) - 1) != 0)
        return false;
    return is_equal((struct text){name.bytes + 5, name.size_bytes - 5}, wanted);
}

/* --- tensors ----------------------------------------------------------------------------------
 */

/* The tensor of a slot and the state it was read in; false: there is none. */
static bool slot_read(struct slot *slot, struct tensor *tensor, uint64_t *state)
{
    *state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if ((*state & STATE_MASK) != STATE_READY)
        return false;
    *tensor = slot->tensor;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->state, memory_order_relaxed) == *state;
}

/* Only what was read: a slot that has another tensor by now stays. */
static bool slot_clear(struct slot *slot, uint64_t state)
{
    uint64_t next = (state & ~(uint64_t)STATE_MASK) + GENERATION;

    return atomic_compare_exchange_strong(&slot->state, &state, next | STATE_FREE);
}

static struct slot *slot_take(void)
{
    for (size_t i = 0; i < TENSORS_MAX; i++) {
        uint64_t state = atomic_load(&slots[i].state);

        if ((state & STATE_MASK) == STATE_FREE &&
            atomic_compare_exchange_strong(&slots[i].state, &state, state | STATE_WRITING))
            return &slots[i];
    }
    return NULL;
}

static bool tensor_add(const struct tensor *tensor, int64_t dumps)
{
    struct slot *slot = slot_take();

    MT_ASSERT(tensor->address && tensor->size_bytes);
    MT_ASSERT(memchr(tensor->name, 0, sizeof(tensor->name)));
    if (!slot) {
        tensor_trouble("%s is not watched: there are %d tensors already", tensor->name,
                       TENSORS_MAX);
        return false;
    }
    slot->tensor = *tensor;
    atomic_store(&slot->dumps_left, dumps < 0 ? -1 : dumps);
    atomic_store(&slot->failures, 0);
    atomic_store_explicit(&slot->state,
                          (atomic_load(&slot->state) & ~(uint64_t)STATE_MASK) | STATE_READY,
                          memory_order_release);
    atomic_store(&watch_is_used, true);
    return true;
}

/* What a name of a file and a cell of a csv can be. */
static void name_copy(char *to, size_t room, struct text from)
{
    size_t length = from.size_bytes < room - 1 ? from.size_bytes : room - 1;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from.bytes[i];

        to[i] = c < ' ' || strchr("/,\"\\", c) ? '.' : (char)c;
    }
    to[length] = 0;
}

static uint32_t tensors_of_name(const char *name)
{
    struct tensor tensor;
    uint64_t state;
    uint32_t count = 0;

    for (size_t i = 0; i < TENSORS_MAX; i++)
        count += slot_read(&slots[i], &tensor, &state) && strcmp(tensor.name, name) == 0;
    return count;
}

bool watch_add(const struct watched_range *range)
{
    struct tensor tensor = {.address = range->address, .size_bytes = range->size_bytes};

    if (!range->address || !range->size_bytes ||
        range->address + range->size_bytes < range->address)
        return false;
    watch_remove(range->address);
    name_copy(tensor.name, sizeof(tensor.name), range->name);
    tensor.index = tensors_of_name(tensor.name);
    return tensor_add(&tensor, range->dumps);
}

bool watch_remove(uint64_t address)
{
    struct tensor tensor;
    uint64_t state;
    bool is_removed = false;

    for (size_t i = 0; i < TENSORS_MAX; i++)
        if (slot_read(&slots[i], &tensor, &state) && !tensor.is_of_operator &&
            tensor.address == address)
            is_removed |= slot_clear(&slots[i], state);
    return is_removed;
}

void watch_forget(uint64_t address, uint64_t size_bytes)
{
    struct tensor tensor;
    uint64_t state;

    for (size_t i = 0; i < TENSORS_MAX; i++) {
        if (!slot_read(&slots[i], &tensor, &state))
            continue;
        if (tensor.address >= address + (size_bytes ? size_bytes : 1) ||
            address >= tensor.address + tensor.size_bytes)
            continue;
        if (slot_clear(&slots[i], state) && !tensor.is_of_operator)
            tensor_trouble("%s is no longer watched: its block was freed", tensor.name);
    }
}

static void operator_tensors_forget(void)
{
    struct tensor tensor;
    uint64_t state;

    for (size_t i = 0; i < TENSORS_MAX; i++)
        if (slot_read(&slots[i], &tensor, &state) && tensor.is_of_operator)
            slot_clear(&slots[i], state);
}

static bool has_tensors(void)
{
    for (size_t i = 0; i < TENSORS_MAX; i++)
        if ((atomic_load_explicit(&slots[i].state, memory_order_relaxed) & STATE_MASK) ==
            STATE_READY)
            return true;
    return false;
}

/* --- operators --------------------------------------------------------------------------------
 */

/* FNV-1a; 0 is no operator. */
static uint64_t name_hash(struct text name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.size_bytes; i++)
        hash = (hash ^ (unsigned char)name.bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

/* From 1; all operators that find no room share the last count. */
static uint64_t run_number(struct text name)
{
    uint64_t hash = name_hash(name);
    size_t at = (size_t)(hash & (COUNTED_MAX - 1));

    for (size_t probe = 0; probe < COUNTED_MAX - 1; probe++) {
        uint64_t found = 0;

        if (atomic_compare_exchange_strong(&counted[at].hash, &found, hash) || found == hash)
            break;
        at = (at + 1) & (COUNTED_MAX - 1);
    }
    return atomic_fetch_add(&counted[at].count, 1) + 1;
}

/* False: it was to be read only so often, and that is done. */
static bool dump_take(struct slot *slot)
{
    int64_t left = atomic_load(&slot->dumps_left);

    while (left > 0)
        if (atomic_compare_exchange_strong(&slot->dumps_left, &left, left - 1))
            return true;
    return left < 0;
}

static void dump_one(struct slot *slot, const struct tensor *tensor, uint64_t state,
                     const struct tensor_dump *like)
{
    struct tensor_dump dump = *like;

    dump.address = tensor->address;
    dump.size_bytes = tensor->size_bytes;
    if (tensor_dump(&dump)) {
        atomic_store_explicit(&slot->failures, 0, memory_order_relaxed);
    } else if (atomic_fetch_add(&slot->failures, 1) + 1 >= FAILURES_MAX &&
               slot_clear(slot, state)) {
        tensor_trouble("%s is no longer watched: it could not be read %d times in a row",
                       tensor->name, FAILURES_MAX);
    }
}

/* {device}_{thread}_{operator}_{run}-{tensor}_{number}_{before|after}.bin */
static void dump_all(const struct watched_operator *told, uint64_t number, const char *when)
{
    char shown[OPERATOR_SHOWN_MOST + 1], name[FILE_NAME_BYTES];
    struct tensor_dump dump = {
        .device = ascend_current_device(), .name = name, .is_whole = choice.is_whole};
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    struct tensor tensor;
    uint64_t state;

    if (!tensor_dump_prepare(told->stream))
        return;
    name_copy(shown, sizeof(shown), told->path.size_bytes ? told->path : told->name);
    for (size_t i = 0; i < TENSORS_MAX; i++) {
        if (!slot_read(&slots[i], &tensor, &state) || !dump_take(&slots[i]))
            continue;
        snprintf(name, sizeof(name), "%" PRId32 "_%" PRIu32 "_%s_%" PRIu64 "-%s_%" PRIu32 "_%s.bin",
                 dump.device, thread, shown, number, tensor.name, tensor.index, when);
        dump_one(&slots[i], &tensor, state, &dump);
    }
}

/* What START has just made is watched from here on, in place of what it made before. */
static void outputs_adopt(const struct watched_operator *told)
{
    struct open_operators *open = &open_operators;
    struct tensor tensor = {.is_of_operator = true};

    MT_ASSERT(open->output_count <= OUTPUTS_MAX);
    operator_tensors_forget();
    name_copy(tensor.name, sizeof(tensor.name), told->path.size_bytes ? told->path : told->name);
    for (uint32_t i = 0; i < open->output_count; i++) {
        if (choice.output >= 0 && choice.output != i)
            continue;
        tensor.address = open->outputs[i].address;
        tensor.size_bytes = open->outputs[i].size_bytes;
        tensor.index = i;
        tensor_add(&tensor, -1);
    }
    if (!open->output_count || choice.output >= (int64_t)open->output_count)
        tensor_trouble("%s reported %" PRIu32 " outputs: there is nothing to watch", tensor.name,
                       open->output_count);
    open->output_count = 0;
    open->is_in_start = false;
}

void watch_output(uint64_t address, uint64_t size_bytes)
{
    struct open_operators *open = &open_operators;

    if (!open->is_in_start || !address || !size_bytes)
        return;
    for (uint32_t i = 0; i < open->output_count; i++)
        if (open->outputs[i].address == address)
            return;
    if (open->output_count < OUTPUTS_MAX) {
        open->outputs[open->output_count].address = address;
        open->outputs[open->output_count++].size_bytes = size_bytes;
    }
}

void watch_operator_begin(const struct watched_operator *started)
{
    struct open_operators *open = &open_operators;
    int saved_errno = errno;
    uint64_t number = 0;

    if (atomic_load(&is_chosen) && is_operator(started, choice.start)) {
        open->is_in_start = true;
        open->output_count = 0;
    }
    if (has_tensors() && !recorder_is_paused()) {
        number = run_number(started->name);
        dump_all(started, number, "before");
    }
    if (open->depth < DEPTH_MAX)
        open->numbers[open->depth] = number;
    open->depth++;
    errno = saved_errno;
}

void watch_operator_end(const struct watched_operator *ended)
{
    struct open_operators *open = &open_operators;
    int saved_errno = errno;
    uint64_t number = 0;

    if (open->depth && --open->depth < DEPTH_MAX)
        number = open->numbers[open->depth];
    if (open->is_in_start && is_operator(ended, choice.start))
        outputs_adopt(ended);
    if (has_tensors() && !recorder_is_paused())
        dump_all(ended, number ? number : run_number(ended->name), "after");
    if (atomic_load(&is_chosen) && is_operator(ended, choice.end))
        operator_tensors_forget();
    errno = saved_errno;
}
