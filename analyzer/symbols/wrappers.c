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
    table_init(&wrappers->functions, &wrappers->arena, sizeof(struct function));
    table_init(&wrappers->pairs, &wrappers->arena, sizeof(uint64_t));
    hash_index_init(&wrappers->function_index);
    hash_index_init(&wrappers->pair_index);
}

void wrappers_release(struct wrappers *wrappers)
{
    hash_index_release(&wrappers->function_index);
    hash_index_release(&wrappers->pair_index);
    arena_release(&wrappers->arena);
}

static uint64_t text_hash(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static struct function *function_find(const struct wrappers *wrappers, uint64_t key)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&wrappers->function_index, key, &probe, &found)) {
        struct function *row = table_at(&wrappers->functions, found);

        if (row->key == key)
            return row;
    }
    return NULL;
}

/* NULL without memory. */
static struct function *function_row(struct wrappers *wrappers, uint64_t key)
{
    struct function *row = function_find(wrappers, key);

    if (row)
        return row;
    row = table_add(&wrappers->functions);
    if (!row)
        return NULL;
    *row = (struct function){.key = key};
    return hash_index_add(&wrappers->function_index, key, (uint32_t)(wrappers->functions.count - 1))
               ? row
               : NULL;
}

/* Whether the pair was not there before; a pair that there is no memory for was. */
static bool pair_is_new(struct wrappers *wrappers, uint64_t pair)
{
    size_t probe = 0;
    uint32_t found;
    uint64_t *row;

    while (hash_index_next(&wrappers->pair_index, pair, &probe, &found))
        if (*(const uint64_t *)table_at(&wrappers->pairs, found) == pair)
            return false;
    row = table_add(&wrappers->pairs);
    if (!row)
        return false;
    *row = pair;
    return hash_index_add(&wrappers->pair_index, pair, (uint32_t)(wrappers->pairs.count - 1));
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
    function = function_find(wrappers, frame->function_key);
    return function && function->is_wrapper;
}

bool wrappers_keep(const struct wrappers *wrappers, const struct named_frame *telling)
{
    return (telling->class != CLASS_NATIVE || *telling->function) && !is_wrapper(wrappers, telling);
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

    for (size_t i = 0; i < wrappers->functions.count; i++) {
        struct function *row = table_at(&wrappers->functions, i);

        if (row->is_wrapper || row->callers < WRAPPER_CALLERS ||
            (row->files && row->files < WRAPPER_FILES))
            continue;
        row->is_wrapper = is_new = true;
    }
    return is_new;
}
