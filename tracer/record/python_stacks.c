/* SPDX-License-Identifier: Apache-2.0 */
#include "python_stacks.h"

#include "python_deaths.h"

#define MERGED_NUMBERS (UINT64_C(1) << 62)

void python_stacks_init(struct python_stacks *stacks, void *memory, size_t size_bytes)
{
    python_words_init(&stacks->words, memory, size_bytes);
}

/* --- frames of Python ------------------------------------------------------------------- */

/* Words and groups of all frames but the first `same`, for which they are known. */
static void note_python(struct python_stacks *stacks, uint32_t same, bool knows_deaths)
{
    uint16_t *groups = stacks->groups;
    uint32_t count = stacks->python_before[same];

    for (uint32_t i = same; i < stacks->frames.count; i++) {
        struct python_frame *frame = &stacks->frames.frames[i];

        if (frame->is_python) {
            if (!frame->word)
                frame->word = knows_deaths ? python_word(&stacks->words, frame)
                                           : python_word_by_contents(&stacks->words, frame);
            stacks->python[count] = frame->word;
            groups[count + 1] = (uint16_t)(groups[count] + (frame->is_entry || count == 0));
            count++;
        }
        stacks->python_before[i + 1] = (uint16_t)count;
    }
}

/* What was read anew is another, even where the same comes again. */
static void note_serials(struct python_stacks *stacks, uint32_t same)
{
    for (uint32_t i = same; i < stacks->frames.count; i++)
        stacks->serials[i + 1] = ++stacks->last_serial;
}

/* Reads the frames; returns how many words, the outermost, are those of the last stack. */
static uint32_t read_python(struct python_stacks *stacks)
{
    bool knows_deaths = python_deaths_are_seen();
    uint32_t same;

    if (!knows_deaths)
        python_frames_forget(&stacks->frames);
    same = python_frames_read(&stacks->frames);
    note_python(stacks, same, knows_deaths);
    note_serials(stacks, same);
    return stacks->python_before[same];
}

/* --- merging ---------------------------------------------------------------------------- */

/* Outermost first. */
struct merging {
    struct python_stacks *stacks;
    const struct unwind_stack *native;
    uint32_t python_count;
    uint32_t python_same, native_same; /* of the outermost: are those of the last stack */
    uint32_t next;                     /* frame of Python */
    int32_t surplus;                   /* groups before the first native frame, or less than 0 */
    uint32_t left_out;                 /* of the outermost: there are too many */
    uint32_t last_count;               /* of the stack before */
    uint32_t count, same_count;
    bool is_same;
};

static inline void put(struct merging *merging, uint64_t frame)
{
    struct python_stacks *stacks = merging->stacks;
    uint32_t count = merging->count;

    if (merging->left_out) {
        merging->left_out--;
        return;
    }
    merging->is_same &= count < merging->last_count && stacks->merged[count] == frame;
    merging->same_count += merging->is_same;
    if (!merging->is_same) {
        stacks->merged[count] = frame;
        stacks->hashes[count + 1] = unwind_hash(stacks->hashes[count], frame);
    }
    merging->count++;
}

static void put_groups(struct merging *merging, int32_t until)
{
    const struct python_stacks *stacks = merging->stacks;

    while (merging->next < merging->python_count && stacks->groups[merging->next + 1] <= until)
        put(merging, stacks->python[merging->next++]);
}

static inline struct merge_point here(const struct merging *merging)
{
    return (struct merge_point){(uint16_t)merging->count, (uint16_t)merging->next};
}

/* From the native frame `at` on; what is outside of it, and of its group, is merged. */
static void put_native(struct merging *merging, uint32_t at)
{
    struct python_stacks *stacks = merging->stacks;

    for (; at < merging->native->count; at++) {
        put_groups(merging, merging->surplus + stacks->loops[at + 1]);
        put(merging, merging->native->pcs[at]);
        stacks->points[at + 1] = here(merging);
    }
}

/* --- resuming --------------------------------------------------------------------------- */

/* Is what was merged outside of the native frame `at` what stands there now? */
static bool holds_before(const struct merging *merging, uint32_t at)
{
    const struct python_stacks *stacks = merging->stacks;
    uint32_t next = stacks->points[at].python_count;

    return next <= merging->python_same &&
           (next == merging->python_count ||
            stacks->groups[next + 1] > merging->surplus + stacks->loops[at]);
}

/* Frames of Python from `from` on that were put and are those that stand there up to a group. */
static uint32_t same_in_groups(const struct merging *merging, uint32_t from, uint32_t end,
                               int32_t until)
{
    uint32_t at = merging->python_same < end ? merging->python_same : end;

    while (at > from && merging->stacks->groups[at] > until)
        at--;
    return at > from ? at - from : 0;
}

static void resume(struct merging *merging, struct merge_point from, uint32_t further)
{
    merging->count = merging->same_count = from.count + further;
    merging->next = from.python_count + further;
}

/* Goes on where the last stack and this one part; returns the native frame to go on with. */
static uint32_t resume_merging(struct merging *merging)
{
    struct python_stacks *stacks = merging->stacks;
    struct merge_point from = {0, 0};
    uint32_t at = merging->native_same;
    bool has_begun = stacks->surplus == merging->surplus;
    uint32_t end;

    while (has_begun && !holds_before(merging, at))
        has_begun = at-- > 0;
    if (!has_begun) {
        end = stacks->points[0].python_count;
        resume(merging, from, same_in_groups(merging, 0, end, merging->surplus));
        put_groups(merging, merging->surplus);
        stacks->points[0] = here(merging);
        return 0;
    }
    from = stacks->points[at];
    end = at < stacks->native_count ? stacks->points[at + 1].python_count : 0;
    resume(merging, from,
           at < merging->native->count ? same_in_groups(merging, from.python_count, end,
                                                        merging->surplus + stacks->loops[at + 1])
                                       : 0);
    return at;
}

/* --- one stack -------------------------------------------------------------------------- */

/* Where no native stack was asked for, its one frame stands inside of all groups. */
static void count_loops(struct python_stacks *stacks, const struct unwind_stack *stack,
                        uint32_t same)
{
    for (uint32_t i = same; i < stack->count; i++)
        stacks->loops[i + 1] =
            (uint16_t)(stacks->loops[i] + (stack->number && python_runs_at(stack->pcs[i])));
}

/* From the innermost `count` frames of Python. */
static void merge_anew(struct merging *merging, uint32_t count)
{
    merging->next = merging->python_count - count;
    put_groups(merging, merging->surplus);
    merging->stacks->points[0] = here(merging);
    put_native(merging, 0);
}

static void give(const struct merging *merging, struct unwind_stack *stack)
{
    struct python_stacks *stacks = merging->stacks;

    stacks->merged_count = merging->count;
    stacks->native_count = stack->count;
    stacks->surplus = merging->surplus;
    stack->pcs = stacks->merged;
    stack->count = merging->count;
    stack->reused_count = merging->same_count;
    /* Not those of native stacks, of which one without frames of Python may follow. */
    stack->number = ++stacks->number | MERGED_NUMBERS;
    stack->hash = unwind_hash_end(stacks->hashes[merging->count]);
}

/* All is as it was when it was merged. */
static inline void note_merged(struct python_stacks *stacks)
{
    stacks->python_same = stacks->native_same = UINT32_MAX;
}

/*
 * What is asked for most: Python runs where it ran, and no native frames are wanted but the
 * caller, which stands inside of all frames of Python.
 */
static bool give_with_caller(struct python_stacks *stacks, bool was_native,
                             struct unwind_stack *stack)
{
    uint32_t count = stacks->merged_count - 1;
    uint64_t pc = stack->pcs[0];

    if (stack->number || was_native || !stacks->can_resume || stacks->python_same != count ||
        stacks->python_before[stacks->frames.count] != count)
        return false;
    stack->pcs = stacks->merged;
    stack->count = count + 1;
    stack->reused_count = count + (stacks->merged[count] == pc);
    stack->number = ++stacks->number | MERGED_NUMBERS;
    stacks->merged[count] = pc;
    stacks->hashes[count + 1] = unwind_hash(stacks->hashes[count], pc);
    stack->hash = unwind_hash_end(stacks->hashes[count + 1]);
    stack->name = NULL;
    note_merged(stacks);
    return true;
}

/*
 * What all frames of Python mean for a merged stack: those outside of the innermost by their
 * serial, and the innermost, whose instruction changes from event to event, by its word.
 */
static inline void python_state(const struct python_stacks *stacks, uint64_t state[2])
{
    uint32_t count = stacks->frames.count;
    const struct python_frame *innermost = &stacks->frames.frames[count ? count - 1 : 0];

    state[0] = count ? 2 * stacks->serials[count - 1] + innermost->is_entry : 0;
    state[1] = count ? innermost->word : 0;
}

/*
 * Is the stack one that was merged and named? If it is not, it will be: then it notes what it is
 * merged with. names: of the native stack
 */
static inline bool is_named(const struct python_stacks *stacks, uint32_t first_name,
                            struct unwind_names *names, struct unwind_stack *stack)
{
    uint64_t state[2];

    python_state(stacks, state);
    stack->name = &names->merged_name;
    if (names->merged_name >= first_name && names->merged_with[0] == state[0] &&
        names->merged_with[1] == state[1])
        return true;
    names->merged_name = 0;
    names->merged_with[0] = state[0];
    names->merged_with[1] = state[1];
    return false;
}

/* What the frames have in common with those that were merged last, and all in between had. */
static inline void note_common_python(struct python_stacks *stacks)
{
    uint32_t python_same;

    if (stacks->is_noting)
        python_frames_forget(&stacks->frames); /* this was left in its middle by a longjmp */
    stacks->is_noting = true;
    python_same = read_python(stacks);
    if (python_same < stacks->python_same)
        stacks->python_same = python_same;
    stacks->is_noting = false;
}

/* The same of the native frames, once they are laid out. */
static inline void note_common_native(struct python_stacks *stacks,
                                      const struct unwind_stack *stack)
{
    bool is_next = stack->number && stack->number == stacks->native_number + 1;
    uint32_t native_same = is_next ? stack->reused_count : 0;

    if (native_same < stacks->native_same)
        stacks->native_same = native_same;
    stacks->native_number = stack->number;
}

bool python_stacks_merge(struct python_stacks *stacks, struct unwind_thread *thread, uint32_t most,
                         uint32_t first_name, struct unwind_stack *stack)
{
    struct unwind_names *names = (struct unwind_names *)(void *)stack->name;
    struct merging merging = {.stacks = stacks, .native = stack, .is_same = true};
    bool was_native = stacks->native_number != 0, is_whole, can_resume;
    uint32_t wanted;

    note_common_python(stacks);
    if (stack->pcs)
        note_common_native(stacks, stack);
    merging.python_count = stacks->python_before[stacks->frames.count];
    if (stack->pcs && merging.python_count <= most && give_with_caller(stacks, was_native, stack))
        return false;
    wanted = merging.python_count < most ? merging.python_count : most;
    if (stack->count + wanted > MT_STACK_FRAMES_MAX) {
        merging.left_out = stack->count + wanted - MT_STACK_FRAMES_MAX;
        stack->flags = (stack->flags & ~(uint32_t)UNWIND_COMPLETE) | UNWIND_TRUNCATED;
    }
    is_whole = wanted == merging.python_count && !merging.left_out;
    stack->name = NULL; /* that of the native stack */
    if (names && is_whole && is_named(stacks, first_name, names, stack))
        return true;
    if (!stack->pcs) {
        unwind_lay_out(thread, stack);
        note_common_native(stacks, stack);
    }
    merging.python_same = stacks->python_same;
    merging.native_same = stacks->native_same;
    merging.last_count = stacks->merged_count;
    count_loops(stacks, stack, merging.native_same);
    merging.surplus = stacks->groups[merging.python_count] - stacks->loops[stack->count];
    can_resume = is_whole && stacks->can_resume;
    stacks->can_resume = false; /* should this be left in its middle by a longjmp */
    stacks->merged_count = 0;
    if (can_resume)
        put_native(&merging, resume_merging(&merging));
    else
        merge_anew(&merging, wanted);
    give(&merging, stack);
    note_merged(stacks);
    stacks->can_resume = is_whole;
    return false;
}
