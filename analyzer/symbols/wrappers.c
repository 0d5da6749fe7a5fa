/* SPDX-License-Identifier: Apache-2.0 */
#include "wrappers.h"

#include <stdint.h>
#include <string.h>

#include "hash.h"
#include "site_identity.h"

struct function {
    uint64_t key;
    uint32_t callers, files; /* since the newest round began */
    bool is_wrapper;
};

void wrappers_init(struct wrappers *wrappers)
{
    arena_init(&wrappers->arena);
    keyed_table_init(&wrappers->functions, &wrappers->arena, sizeof(struct function));
    keyed_table_init(&wrappers->pairs, &wrappers->arena, sizeof(uint64_t));
}

void wrappers_release(struct wrappers *wrappers)
{
    keyed_table_release(&wrappers->functions);
    keyed_table_release(&wrappers->pairs);
    arena_release(&wrappers->arena);
}

static uint64_t text_hash(const char *text)
{
    return hash_bytes(text, strlen(text));
}

/* NULL without memory. */
static struct function *function_row(struct wrappers *wrappers, uint64_t key)
{
    struct function *row = keyed_table_find(&wrappers->functions, key);

    return row ? row : keyed_table_add(&wrappers->functions, key);
}

/* Whether the pair was not there before; a pair that there is no memory for was. */
static bool pair_is_new(struct wrappers *wrappers, uint64_t pair)
{
    return !keyed_table_find(&wrappers->pairs, pair) && keyed_table_add(&wrappers->pairs, pair);
}

/* "(more frames were not asked for)" is no function. */
static bool has_name(const struct named_frame *frame)
{
    return *frame->function && *frame->function != '(';
}

/* The next one outward of the program's own native code with a name; count: there is none. */
static size_t caller_of(const struct named_frame *const *frames, size_t count, size_t index)
{
    for (size_t i = index + 1; i < count; i++)
        if (frames[i]->class == CLASS_NATIVE && has_name(frames[i]) &&
            strcmp(frames[i]->function, frames[index]->function) != 0)
            return i;
    return count;
}

/* Of a library that lost most of its names, the exported function says more than an offset. */
static size_t named_frame_of(const struct named_frame *const *frames, size_t count, size_t index)
{
    if (frames[index]->class != CLASS_NATIVE || *frames[index]->function || !*frames[index]->module)
        return index;
    for (size_t i = index + 1; i < count; i++)
        if (frames[i]->class == CLASS_NATIVE && has_name(frames[i]) &&
            strcmp(frames[i]->module, frames[index]->module) == 0)
            return i;
    return index;
}

/* Of a telling frame: whether a caller says more than it. */
static bool is_wrapper(const struct wrappers *wrappers, const struct named_frame *frame)
{
    const struct function *function;

    if (frame->class != CLASS_NATIVE || !*frame->function)
        return false;
    function = keyed_table_find(&wrappers->functions, frame->function_key);
    return function && function->is_wrapper;
}

bool wrappers_keep(const struct wrappers *wrappers, const struct named_frame *telling)
{
    bool may_be_named = telling->class == CLASS_NATIVE && !*telling->function && *telling->module;

    return !may_be_named && !is_wrapper(wrappers, telling);
}

size_t wrappers_telling(const struct wrappers *wrappers, const struct named_frame *const *frames,
                        size_t count)
{
    size_t telling = named_frame_of(frames, count, telling_frame(frames, count));

    while (is_wrapper(wrappers, frames[telling])) {
        size_t caller = caller_of(frames, count, telling);

        if (caller == count)
            break;
        telling = caller;
    }
    return telling;
}

void wrappers_see(struct wrappers *wrappers, const struct named_frame *const *frames, size_t count)
{
    size_t telling = wrappers_telling(wrappers, frames, count);
    size_t caller = caller_of(frames, count, telling);
    struct function *function;

    if (caller == count || frames[telling]->class != CLASS_NATIVE || !has_name(frames[telling]))
        return;
    function = function_row(wrappers, frames[telling]->function_key);
    if (!function)
        return;
    if (pair_is_new(wrappers, hash_pair(function->key, frames[caller]->function_key)))
        function->callers++;
    if (*frames[caller]->file &&
        pair_is_new(wrappers, hash_pair(function->key, text_hash(frames[caller]->file) | 1)))
        function->files++;
}

bool wrappers_find(struct wrappers *wrappers)
{
    bool is_new = false;

    for (size_t i = 0; i < wrappers->functions.rows.count; i++) {
        struct function *row = table_at(&wrappers->functions.rows, i);

        if (row->is_wrapper || row->callers < WRAPPER_CALLERS ||
            (row->files && row->files < WRAPPER_FILES))
            continue;
        row->is_wrapper = is_new = true;
    }
    return is_new;
}
