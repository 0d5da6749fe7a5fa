/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory is for. A table of words, and a table of lives.
 */
#define _GNU_SOURCE /* strcasestr */
#include "category.h"

#include <string.h>

#include "driver_modules.h"
#include "ledger_layers.h"
#include "sentence.h"
#include "thresholds.h"

enum {
    SAID = 100,
    SURE = 90,
    LIKELY = 75,
    PERHAPS = 60,
    STEPS_LEAST = 3 /* ended ones; with fewer, lives tell nothing */
};

const char *category_name(enum category category)
{
    static const char *const names[CATEGORY_COUNT] = {
        [CATEGORY_WEIGHTS] = "weights",
        [CATEGORY_OPTIMIZER] = "optimizer state",
        [CATEGORY_GRADIENTS] = "gradients",
        [CATEGORY_ACTIVATIONS] = "activations",
        [CATEGORY_TEMPORARY] = "temporary",
        [CATEGORY_KV_CACHE] = "kv cache",
        [CATEGORY_COMMUNICATION] = "communication",
        [CATEGORY_WORKSPACE] = "workspace",
        [CATEGORY_KEPT] = "kept from steps",
        [CATEGORY_ROLLING] = "for several steps",
        [CATEGORY_THROUGHOUT] = "held throughout",
        [CATEGORY_RESERVED] = "reserved by a pool",
        [CATEGORY_OLDER] = "older than the recording",
        [CATEGORY_UNKNOWN] = "unknown",
    };

    return names[category];
}

const char *category_label(struct arena *texts, enum category category, bool is_said)
{
    const char *name = translated(category_name(category));

    return is_said || category > CATEGORY_ACTIVATIONS
               ? name
               : arena_format(texts, "%s%s", translated("probably "), name);
}

/* In owners, pools and modules of the driver. */
static const struct {
    const char *word;
    enum category category;
} words[] = {
    {"optimizer", CATEGORY_OPTIMIZER}, {"gradient", CATEGORY_GRADIENTS},
    {"weight", CATEGORY_WEIGHTS},      {"parameter", CATEGORY_WEIGHTS},
    {"@buffer", CATEGORY_WEIGHTS},     {"activation", CATEGORY_ACTIVATIONS},
    {"kv_cache", CATEGORY_KV_CACHE},   {"kvcache", CATEGORY_KV_CACHE},
    {"workspace", CATEGORY_WORKSPACE}, {"hccl", CATEGORY_COMMUNICATION},
    {"nccl", CATEGORY_COMMUNICATION},  {"hccp", CATEGORY_COMMUNICATION},
};

static enum category category_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(name, words[i].word))
            return words[i].category;
    return CATEGORY_UNKNOWN;
}

static const char *pool_name(const struct question *question, const struct group_detail *detail)
{
    return model_text_at(question->model, model_pool_name_at(question->model, detail->pool));
}

static enum category category_said(const struct question *question,
                                   const struct group_detail *detail)
{
    const char *module =
        driver_module_name((uint32_t)model_place_at(question->model, detail->place).module);
    enum category category = CATEGORY_UNKNOWN;

    if (detail->owner_text)
        category = category_of_name(model_text_at(question->model, detail->owner_text));
    if (category == CATEGORY_UNKNOWN)
        category = category_of_name(pool_name(question, detail));
    return category == CATEGORY_UNKNOWN && module ? category_of_name(module) : category;
}

/* Functions that ask for memory of one kind, wherever they are called: parts of their names, and of
 * names of their files. */
static const struct {
    const char *function, *file;
    enum category category;
} makers[] = {
    /* Of libraries of mathematics, for each handle and stream: PyTorch for CUDA, torch_npu. */
    {"getNewWorkspace", "", CATEGORY_WORKSPACE},
    {"BlasLtWorkspace", "", CATEGORY_WORKSPACE},
    {"BlasHandle", "", CATEGORY_WORKSPACE},
    {"WorkspaceAllocator", "", CATEGORY_WORKSPACE},
    {"empty_workspace", "", CATEGORY_WORKSPACE},
    {"allocate_workspace", "", CATEGORY_WORKSPACE},
    {"create_weights", "", CATEGORY_WEIGHTS},
    /* vLLM and what is built on it, SGLang, transformers. Classes are there from Python 3.11 on. */
    {"allocate_kv_cache", "", CATEGORY_KV_CACHE},
    {"KVCacheManager.", "", CATEGORY_KV_CACHE},
    {"TokenToKVPool", "", CATEGORY_KV_CACHE},
    {"", "mem_cache/memory_pool", CATEGORY_KV_CACHE},
    {"DynamicCache", "", CATEGORY_KV_CACHE},
    {"DynamicLayer", "", CATEGORY_KV_CACHE},
    {"StaticCache", "", CATEGORY_KV_CACHE},
    {"StaticLayer", "", CATEGORY_KV_CACHE},
    {"SlidingWindowCache", "", CATEGORY_KV_CACHE},
    {"QuantizedCache", "", CATEGORY_KV_CACHE},
    {"", "transformers/cache_utils.py", CATEGORY_KV_CACHE},
};

static enum category category_of_maker(const struct symbol_frame *frame)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (strstr(frame->function, makers[i].function) && strstr(frame->file, makers[i].file))
            return makers[i].category;
    return CATEGORY_UNKNOWN;
}

/* A method of one, or code of its file; what builds model and optimizer is neither. */
static bool is_of_optimizer(const struct symbol_frame *frame)
{
    return strstr(frame->file, "/optim/") || strstr(frame->file, "/optimizer") ||
           strcasestr(frame->function, "optimizer.") || strcasestr(frame->function, "optimizer::");
}

/* What its frames say; they are named only of what weighs something at the peak. */
struct makers_said {
    enum category category;
    bool is_backward, is_optimizer;
};

static bool is_heavy(const struct question *question, size_t group)
{
    const struct tally *tally = question->tally;

    return group_at_peak(tally, group).bytes >=
           tally_ledger_at(tally, tally_group_at(tally, group)->ledger)->peak_bytes / 100;
}

static struct makers_said makers_say(const struct question *question, size_t group, uint32_t site)
{
    struct makers_said said = {.category = CATEGORY_UNKNOWN};
    const struct symbol_frame *frames;
    size_t count;

    if (!site || !is_heavy(question, group))
        return said;
    frames = symbols_frames(question->symbols, site, &count);
    for (size_t i = 0; i < count; i++) {
        if (said.category == CATEGORY_UNKNOWN)
            said.category = category_of_maker(&frames[i]);
        said.is_backward |= strcasestr(frames[i].function, "backward") != NULL;
        said.is_optimizer |= is_of_optimizer(&frames[i]);
    }
    return said;
}

/* In names of operators and functions, innermost first: what asks for memory says what for. */
static const struct {
    const char *word;
    enum category category;
} callers[] = {
    {"backward", CATEGORY_GRADIENTS},
    {"_grad", CATEGORY_GRADIENTS},
    {"forward", CATEGORY_ACTIVATIONS},
};

static enum category category_of_caller(const char *name)
{
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        if (strcasestr(name, callers[i].word))
            return callers[i].category;
    return CATEGORY_UNKNOWN;
}

/* Only of what weighs something at the peak: frames have to be named for it. */
static struct category_guess guess_by_callers(const struct question *question, size_t group,
                                              const struct group_detail *detail)
{
    enum category category =
        category_of_caller(model_text_at(question->model, detail->operator_text));
    const struct symbol_frame *frames;
    size_t count;

    if (category == CATEGORY_UNKNOWN && is_heavy(question, group)) {
        frames = symbols_frames(question->symbols, detail->site, &count);
        for (size_t i = 0; category == CATEGORY_UNKNOWN && i < count; i++) {
            category = category_of_caller(frames[i].function);
            if (category == CATEGORY_UNKNOWN && is_of_optimizer(&frames[i]))
                category = CATEGORY_OPTIMIZER;
        }
    }
    return category == CATEGORY_UNKNOWN
               ? (struct category_guess){CATEGORY_UNKNOWN, 0, GROUND_LIVES}
               : (struct category_guess){category, PERHAPS, GROUND_CALLERS};
}

/*
 * Ledgers of which lives tell nothing about tensors. The driver's, and what a pool takes memory
 * from: it is cut up. A program's heap: all that it imports is held throughout, too. Memory of the
 * host that a runtime hands out: batches on their way, counters.
 */
static bool is_without_tensors(const struct question *question, uint16_t ledger_index)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, ledger_index);
    enum pool_role role = model_pool_at(question->model, ledger->pool)->role;

    return role == POOL_ROLE_DRIVER || role == POOL_ROLE_HOST ||
           (role == POOL_ROLE_RUNTIME && ledger->device < 0) || ledger_is_reserved(ledger);
}

/* Whether a way back, or a step of an optimizer, is known of the process, or of who asked. */
struct seen {
    bool backward, optimizer;
};

static bool is_backward(const struct question *question, const struct group_detail *detail)
{
    const char *name = model_text_at(question->model, detail->operator_text);

    return strcasestr(name, "backward") || strcasestr(name, "grad");
}

static struct seen seen_of(const struct question *question, const struct group_detail *detail,
                           const struct makers_said *told)
{
    uint8_t phases = tally_process_at(question->tally, detail->process).phases_seen;

    return (struct seen){
        .backward =
            phases & 1u << PHASE_BACKWARD || told->is_backward || is_backward(question, detail),
        .optimizer = phases & 1u << PHASE_OPTIMIZER || told->is_optimizer,
    };
}

/* Alive at step ends: each step leaves some to the next. */
static struct category_guess guess_left(const struct question *question,
                                        const struct group_detail *detail,
                                        const struct group_past *past, bool may_be_gradients)
{
    uint32_t steps = tally_process_at(question->tally, detail->process).ended_step_count;

    if (may_be_gradients && past->freed_age_at_end == 1 && past->left_steps + 1 >= steps)
        return (struct category_guess){
            CATEGORY_GRADIENTS, is_backward(question, detail) ? SURE : PERHAPS, GROUND_LIVES};
    if (past->freed_age_at_end)
        return (struct category_guess){CATEGORY_ROLLING, LIKELY, GROUND_LIVES};
    return (struct category_guess){CATEGORY_KEPT, LIKELY, GROUND_LIVES};
}

/* Alive when steps end, and none of them left it: made before the first one, never freed. */
static bool is_held_throughout(const struct group_detail *detail, const struct group_past *past)
{
    return !past->left_steps && detail->first_step == 0 && past->series.count &&
           !past->freed_age_at_end;
}

static struct category_guess guess_segments(const struct group_detail *detail,
                                            const struct group_past *past)
{
    if (is_held_throughout(detail, past))
        return (struct category_guess){CATEGORY_THROUGHOUT, SURE, GROUND_LIVES};
    if (past->left_steps)
        return (struct category_guess){past->freed_age_at_end ? CATEGORY_ROLLING : CATEGORY_KEPT,
                                       LIKELY, GROUND_LIVES};
    return (struct category_guess){CATEGORY_TEMPORARY, detail->first_step ? LIKELY : PERHAPS,
                                   GROUND_LIVES};
}

/*
 * first_step 0 is before the first step; optimizers make their state in the first one, if there is
 * one. Roles that owners tell of are known by them: no life adds to these.
 */
static struct category_guess guess_tensors(const struct question *question,
                                           const struct group_detail *detail,
                                           const struct group_past *past, struct seen seen)
{
    struct tally_process process = tally_process_at(question->tally, detail->process);

    if (is_held_throughout(detail, past))
        return process.known_roles & TENSOR_IS_WEIGHT
                   ? (struct category_guess){CATEGORY_THROUGHOUT, SURE, GROUND_LIVES}
                   : (struct category_guess){CATEGORY_WEIGHTS, LIKELY, GROUND_LIVES};
    if (past->left_steps == 1 && detail->first_step == 1 && !past->freed_age_at_end &&
        seen.optimizer && !(process.known_roles & TENSOR_IS_OPTIMIZER))
        return (struct category_guess){CATEGORY_OPTIMIZER, LIKELY, GROUND_LIVES};
    if (past->left_steps)
        return guess_left(question, detail, past,
                          seen.backward && !(process.known_roles & TENSOR_IS_GRADIENT));
    if (past->crossing_steps && past->crossing_steps + 1 >= process.ended_step_count)
        return (struct category_guess){CATEGORY_ACTIVATIONS, SURE, GROUND_LIVES};
    return (struct category_guess){CATEGORY_TEMPORARY, detail->first_step ? LIKELY : PERHAPS,
                                   GROUND_LIVES};
}

/* Most of what it held at the peak was made before a backward pass, which freed it. */
static struct category_guess guess_by_passes(const struct question *question, size_t group)
{
    uint64_t held_bytes = group_at_peak(question->tally, group).bytes;
    uint64_t waiting_bytes = group_waiting_bytes(question->tally, group);

    return waiting_bytes > held_bytes / MOST_SHARE
               ? (struct category_guess){CATEGORY_ACTIVATIONS,
                                         (unsigned)(SURE * waiting_bytes / held_bytes),
                                         GROUND_BACKWARD}
               : (struct category_guess){CATEGORY_UNKNOWN, 0, GROUND_LIVES};
}

static struct category_guess guess_without_lives(const struct question *question, size_t group,
                                                 const struct group_detail *detail,
                                                 bool has_tensors)
{
    struct category_guess guess = {.category = CATEGORY_UNKNOWN};

    if (has_tensors && !detail->is_older)
        guess = guess_by_passes(question, group);
    if (has_tensors && guess.category == CATEGORY_UNKNOWN)
        guess = guess_by_callers(question, group, detail);
    return guess.category == CATEGORY_UNKNOWN && detail->is_older
               ? (struct category_guess){CATEGORY_OLDER, SAID, GROUND_LIVES}
               : guess;
}

struct category_guess category_of(const struct question *question, size_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    uint32_t steps = tally_process_at(question->tally, detail->process).ended_step_count;
    enum category said = category_said(question, detail);
    bool has_tensors =
        !is_without_tensors(question, tally_group_at(question->tally, group)->ledger);
    struct makers_said told;

    if (group_is_reserved(question, group))
        return (struct category_guess){CATEGORY_RESERVED, SAID, GROUND_LIVES};
    if (said != CATEGORY_UNKNOWN)
        return (struct category_guess){said, SAID, GROUND_LIVES};
    if (detail->is_older && !detail->site && !detail->operator_text)
        return (struct category_guess){CATEGORY_OLDER, SAID, GROUND_LIVES}; /* no more is known */
    told = has_tensors ? makers_say(question, group, detail->site)
                       : (struct makers_said){.category = CATEGORY_UNKNOWN};
    if (told.category != CATEGORY_UNKNOWN)
        return (struct category_guess){told.category, SURE, GROUND_CALLERS};
    if (steps < STEPS_LEAST)
        return guess_without_lives(question, group, detail, has_tensors);
    if (!has_tensors)
        return guess_segments(detail, tally_past_at(question->tally, group));
    return guess_tensors(question, detail, tally_past_at(question->tally, group),
                         seen_of(question, detail, &told));
}
