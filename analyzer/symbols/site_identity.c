/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack stands for.
 */
#include "site_identity.h"

#include <stdbool.h>
#include <string.h>

#include "hash.h"
#include "leaktide/invariant.h"
#include "readable_name.h"

/* A frame that is among so many before it is recursion: f calls g calls f. */
enum { recursion_depth = 16 };

struct identity {
    uint64_t hash;
    uint64_t kept[recursion_depth]; /* the newest frames that count */
    size_t kept_count;
};

size_t operator_entry(const struct named_frame *const *frames, size_t count, size_t index)
{
    size_t entry = index;

    MT_ASSERT(index < count && frames[index]->class == CLASS_OPERATOR);
    for (size_t i = index + 1; i < count; i++) {
        if (frames[i]->class == CLASS_OPERATOR)
            entry = i;
        else if (!frame_classes[frames[i]->class].is_plumbing)
            break;
    }
    return entry;
}

size_t telling_frame(const struct named_frame *const *frames, size_t count)
{
    size_t best = 0;

    MT_ASSERT(count);
    for (size_t i = 1; i < count; i++)
        if (frames[i]->class > frames[best]->class)
            best = i;
    return frames[best]->class == CLASS_OPERATOR ? operator_entry(frames, count, best) : best;
}

static uint64_t text_hash(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static uint64_t place_hash(const struct named_frame *frame)
{
    return text_hash(*frame->file ? base_of_path(frame->file) : frame->module);
}

void frame_identity(struct named_frame *frame)
{
    uint64_t function = *frame->function ? text_hash(frame->function) : 0;

    frame->identity_key = hash_pair(function, place_hash(frame));
    frame->function_key =
        hash_pair(function, text_hash(*frame->file ? frame->file : frame->module));
}

/* A frame without a name that names the site is told apart by its address. */
static uint64_t key_of(const struct named_frame *frame, bool is_telling)
{
    return is_telling && !*frame->function ? hash_pair(frame->address, place_hash(frame))
                                           : frame->identity_key;
}

static void keep(struct identity *identity, uint64_t key)
{
    size_t count = identity->kept_count < recursion_depth ? identity->kept_count : recursion_depth;

    for (size_t i = 0; i < count; i++)
        if (identity->kept[i] == key)
            return;
    identity->kept[identity->kept_count++ % recursion_depth] = key;
    identity->hash = hash_pair(identity->hash, key);
}

/* From the outermost frame inward to `last`, so that "called from outside" is the frame before. */
static void keep_frames(struct identity *identity, const struct named_frame *const *frames,
                        size_t count, enum id_part least, size_t last)
{
    bool is_outside = false; /* a frame that counts, and no stretch since */

    for (size_t i = count; i-- > last;) {
        enum id_part part = frame_classes[frames[i]->class].id_part;

        if (part == ID_EVERYTHING || (part == ID_ENTRY && is_outside) || least == part)
            keep(identity, key_of(frames[i], i == last));
        is_outside = part == ID_EVERYTHING || (is_outside && part == ID_NOTHING);
    }
}

bool is_entry(const struct named_frame *called)
{
    return called->is_python && frame_classes[called->class].id_part == ID_ENTRY;
}

/* train() calls optimizer.step() as well as torch.load(): these are two. */
static void keep_entry(struct identity *identity, const struct named_frame *const *frames,
                       size_t telling)
{
    const struct named_frame *called = telling ? frames[telling - 1] : NULL;

    if (called && is_entry(called))
        keep(identity, key_of(called, false));
}

uint64_t stack_identity(const struct named_frame *const *frames, size_t count)
{
    struct identity identity = {0};
    size_t telling = telling_frame(frames, count);

    keep_frames(&identity, frames, count, ID_EVERYTHING, telling);
    keep_entry(&identity, frames, telling);
    if (!identity.kept_count) /* plumbing through and through: then that is what counts */
        keep_frames(&identity, frames, count, ID_ENTRY, telling);
    if (!identity.kept_count)
        keep_frames(&identity, frames, count, ID_NOTHING, telling);
    return identity.hash | 1;
}
