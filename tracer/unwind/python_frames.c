/* SPDX-License-Identifier: Apache-2.0 */
#include "python_frames.h"

#include "python_deaths.h"
#include "python_objects.h"

enum { OWNED_BY_LOOP = 3, NO_PLACE = PYTHON_FRAMES_MAX };

#define NO_FRAME ((const char *)1) /* no frame has this address, and NULL is the end */

/* --- one frame -------------------------------------------------------------------------- */

/* References to objects keep notes in bits that the address of an object has not. */
static inline const char *untagged(const char *reference)
{
    return (const char *)((uintptr_t)reference & ~(uintptr_t)7);
}

static inline const char *code_of(const struct python_layout *layout, const char *frame)
{
    return untagged(pointer_at(frame, layout->code));
}

static inline uint64_t instruction_of(const struct python_layout *layout, const char *frame)
{
    if (layout->lasti_bytes)
        return (uint32_t)number_at(frame, layout->instruction);
    return (uintptr_t)pointer_at(frame, layout->instruction);
}

/* What else is compared: the byte that says whether the frame is an entry, or who owns it. */
static inline int owner_at(const struct python_layout *layout)
{
    return layout->owner >= 0 ? layout->owner : layout->entry;
}

static inline uint8_t owner_of(const struct python_layout *layout, const char *frame)
{
    int at = owner_at(layout);

    return at >= 0 ? byte_at(frame, (size_t)at) : 1;
}

/* The innermost frame of this thread. */
static const char *innermost_frame(void)
{
    const struct python_layout *layout = &python_interpreter.layout;
    const char *thread = NULL, *holder;

    if (python_interpreter.is_initialized())
        thread = python_interpreter.this_thread();
    if (!thread)
        return NULL;
    holder = pointer_at(thread, layout->frame_of_thread);
    if (holder && layout->frame_of_cframe >= 0)
        holder = pointer_at(holder, (size_t)layout->frame_of_cframe);
    return holder;
}

static void fill(struct python_frame *known, const char *frame)
{
    const struct python_layout *layout = &python_interpreter.layout;
    const char *code = code_of(layout, frame);
    uint8_t owner = owner_of(layout, frame);
    bool is_of_loop = layout->owner >= 0 && owner >= OWNED_BY_LOOP;
    bool is_python =
        !is_of_loop && code && pointer_at(code, layout->type) == python_interpreter.code_type;

    *known = (struct python_frame){
        .frame = is_python || is_of_loop ? frame : NULL,
        .code = code,
        .instruction = instruction_of(layout, frame),
        .generation = python_generation(code),
        .owner = owner,
        .is_python = is_python,
        .is_entry = layout->lasti_bytes != 0 || (layout->entry >= 0 && owner),
    };
}

/* The instructions that the frame runs: the code's own, or this thread's copy of them. */
static const char *instructions_of(const struct python_frame *frame)
{
    const struct python_layout *layout = &python_interpreter.layout;
    const char *copies = layout->copy >= 0 ? pointer_at(frame->code, layout->copies) : NULL;
    int32_t copy = copies ? number_at(frame->frame, (size_t)layout->copy) : -1;

    if (copy >= 0 && copy < (intptr_t)pointer_at(copies, 0))
        return pointer_at(copies, sizeof(intptr_t) + (size_t)copy * sizeof(char *));
    return frame->code + layout->instructions_of_code;
}

int32_t python_frame_offset(const struct python_frame *frame)
{
    const struct python_layout *layout = &python_interpreter.layout;

    if (layout->lasti_bytes)
        return (int32_t)(uint32_t)frame->instruction * layout->lasti_bytes;
    return (int32_t)(frame->instruction - (uintptr_t)instructions_of(frame));
}

/* --- what is remembered ----------------------------------------------------------------- */

static inline uint16_t *place_slot(struct python_frames *known, const char *frame)
{
    uint32_t hash = (uint32_t)((uintptr_t)frame >> 3) * UINT32_C(0x9e3779b1);

    return &known->places[hash / (UINT32_MAX / PYTHON_FRAME_PLACES + 1)];
}

/* Where the frame is remembered, among the outermost `count`; a table that forgets. */
static inline uint32_t place_of(struct python_frames *known, uint32_t count, const char *frame)
{
    uint32_t place;

    if (count && known->frames[count - 1].frame == frame)
        return count - 1;
    place = *place_slot(known, frame);
    return place < count && known->frames[place].frame == frame ? place : NO_PLACE;
}

static inline bool is_as_it_was(const struct python_layout *layout,
                                const struct python_frame *known, const char *frame, bool has_death)
{
    const char *code = code_of(layout, frame);

    return code == known->code && instruction_of(layout, frame) == known->instruction &&
           owner_of(layout, frame) == known->owner &&
           (!has_death || python_generation(code) == known->generation);
}

/*
 * While no code dies, the instruction of a frame tells its code and its owner, from 3.11 on:
 *
 *     code    instructions lie inside of their code object (co_code_adaptive is its last member;
 *             prev_instr is at first one unit before it, still inside). The code of a remembered
 *             frame was alive, as the frame keeps it, and is so still: so the same address is
 *             inside of the same object. That of the loop's own frame is one of the interpreter's
 *             (3.12: interpreter_trampoline; 3.13: an array, and there is no code).
 *     owner   of 3.12 and 3.13 counts only whether it is the loop. Only the loop's own frame runs
 *             these instructions (entry_frame in _PyEval_EvalFrameDefault).
 *
 * Of 3.11 a frame says by itself whether it is an entry: f() may be run by the loop of its caller
 * or by one of its own, by the same instruction. Instructions are two bytes, so bit 0 is free.
 *
 * A code that is just dying is no exception: its death moves python_death_count at its end, too.
 */
static inline bool is_told_by_instruction(const struct python_layout *layout)
{
    return !layout->lasti_bytes && owner_at(layout) >= 0;
}

static inline void note_check(struct python_frames *known, const struct python_frame *frame)
{
    bool has_entry = python_interpreter.layout.entry >= 0;

    known->checks[frame - known->frames] = (struct python_check){
        .frame = frame->frame ? frame->frame : NO_FRAME,
        .state = frame->instruction ^ (has_entry ? frame->owner : 0),
    };
}

/* On its way outward. */
struct look {
    const char *frame;      /* the next one; NULL: all were seen */
    uint32_t place;         /* of the outermost that was verified */
    uint32_t changed_place; /* of the outermost that had changed */
    bool has_death;
};

/*
 * From `at` outward over frames that are what they were and call each other as they did, to the
 * first that is not looked at. The address of the next frame comes from what is remembered, once it
 * was compared, so that the processor need not wait for one load after the other. A function of its
 * own: so all that it needs stays in registers.
 */
static __attribute__((always_inline)) inline READS_OBJECTS const struct python_check *
skip(const struct python_layout *layout, const struct python_check *outermost,
     const struct python_check *at, bool has_entry)
{
    const size_t instruction_at = layout->instruction, previous_at = layout->previous;
    const size_t entry_at = has_entry ? (size_t)layout->entry : 0;

    for (const char *frame = at->frame; at != outermost; at--) {
        uint64_t state = (uintptr_t)pointer_at(frame, instruction_at);
        const char *previous = at[-1].frame;

        state ^= has_entry ? byte_at(frame, entry_at) : 0;
        if (state != at->state || pointer_at(frame, previous_at) != previous)
            break;
        frame = previous;
    }
    return at;
}

static __attribute__((noinline)) const struct python_check *
skip_with_entries(const struct python_layout *layout, const struct python_check *outermost,
                  const struct python_check *at)
{
    return skip(layout, outermost, at, true);
}

static __attribute__((noinline)) const struct python_check *
skip_without_entries(const struct python_layout *layout, const struct python_check *outermost,
                     const struct python_check *at)
{
    return skip(layout, outermost, at, false);
}

static inline struct python_frame *skip_same(struct python_frames *known, struct python_frame *at)
{
    const struct python_layout *const layout = &python_interpreter.layout;
    const struct python_check *from = &known->checks[at - known->frames];

    from = layout->entry >= 0 ? skip_with_entries(layout, known->checks, from)
                              : skip_without_entries(layout, known->checks, from);
    return &known->frames[from - known->checks];
}

/*
 * From a frame that is remembered outward, as long as frames call each other as they did. What has
 * changed is read anew in its place.
 */
static void verify(struct python_frames *known, struct look *look)
{
    const struct python_layout *const layout = &python_interpreter.layout;
    const bool can_skip = is_told_by_instruction(layout) && !look->has_death;
    struct python_frame *at = &known->frames[look->place];

    for (;; at--) {
        const char *frame;

        at = can_skip ? skip_same(known, at) : at;
        frame = at->frame;
        if (!is_as_it_was(layout, at, frame, look->has_death)) {
            fill(at, frame);
            note_check(known, at);
            look->changed_place = (uint32_t)(at - known->frames);
        }
        look->frame = pointer_at(frame, layout->previous);
        if (at == known->frames || !look->frame || look->frame != at[-1].frame)
            break;
    }
    look->place = (uint32_t)(at - known->frames);
}

/* --- reading ---------------------------------------------------------------------------- */

static void note_places(struct python_frames *known, uint32_t from)
{
    for (uint32_t i = from; i < known->count; i++)
        if (known->frames[i].frame)
            *place_slot(known, known->frames[i].frame) = (uint16_t)i;
}

/* From 3.12 on: a frame is an entry if the loop's own frame is what called it. */
static void note_entries(struct python_frames *known, uint32_t from)
{
    for (uint32_t i = from; i < known->count; i++)
        known->frames[i].is_entry = i && known->frames[i - 1].owner >= OWNED_BY_LOOP;
}

/* A stack that is too deep to be remembered: its inner frames. */
static uint32_t read_anew(struct python_frames *known)
{
    const size_t previous_at = python_interpreter.layout.previous;
    uint32_t place = PYTHON_FRAMES_MAX;

    for (const char *frame = innermost_frame(); frame && place;
         frame = pointer_at(frame, previous_at))
        fill(&known->frames[--place], frame);
    known->count = PYTHON_FRAMES_MAX;
    if (python_interpreter.layout.owner >= 0)
        note_entries(known, 0);
    return 0;
}

/* Puts what was read on top of the outermost `kept`. */
static uint32_t remember(struct python_frames *known, uint32_t kept, uint32_t fresh_count,
                         const struct look *look)
{
    uint32_t same = look->changed_place < kept ? look->changed_place : kept;

    for (uint32_t i = 0; i < fresh_count; i++) {
        known->frames[kept + i] = known->fresh[fresh_count - 1 - i];
        note_check(known, &known->frames[kept + i]);
    }
    known->count = known->known_count = kept + fresh_count;
    note_places(known, kept);
    if (python_interpreter.layout.owner >= 0)
        note_entries(known, same);
    return same;
}

uint32_t python_frames_read(struct python_frames *known)
{
    uint64_t deaths = atomic_load_explicit(&python_death_count, memory_order_acquire);
    struct look look = {.frame = innermost_frame(), .has_death = deaths != known->death_count};
    uint32_t inner = known->known_count, kept = 0, fresh_count = 0;

    known->known_count = 0; /* should this be left in its middle by a longjmp */
    known->death_count = deaths;
    while (look.frame) {
        uint32_t place = look.place = place_of(known, inner, look.frame);

        if (place == NO_PLACE) {
            if (fresh_count == PYTHON_FRAMES_MAX)
                return read_anew(known);
            fill(&known->fresh[fresh_count++], look.frame);
            look.frame = pointer_at(look.frame, python_interpreter.layout.previous);
            continue;
        }
        look.changed_place = PYTHON_FRAMES_MAX;
        verify(known, &look);
        if (!look.frame && look.place == 0) {
            kept = place + 1;
            break;
        }
        /* The frames part from those that are remembered: what was compared is taken along. */
        if (fresh_count + place + 1 - look.place > PYTHON_FRAMES_MAX)
            return read_anew(known);
        for (inner = look.place; place + 1 > inner; place--)
            known->fresh[fresh_count++] = known->frames[place];
    }
    if (kept + fresh_count > PYTHON_FRAMES_MAX)
        return read_anew(known);
    return remember(known, kept, fresh_count, &look);
}
