/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a caching allocator, as PYTORCH_CUDA_ALLOC_CONF and PYTORCH_NPU_ALLOC_CONF have
 * them: "key:value,key:value".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caching_allocator.h"

enum { max_split_least_mb = 21, divisions_most = 64, mb_most = 1 << 30 };

struct word {
    const char *bytes;
    size_t size_bytes;
};

static bool is_word(struct word word, const char *text)
{
    return strlen(text) == word.size_bytes && memcmp(word.bytes, text, word.size_bytes) == 0;
}

/* 0: no number from 1 to most. */
static uint64_t number_of(struct word word, uint64_t most)
{
    uint64_t number = 0;

    for (size_t i = 0; i < word.size_bytes; i++) {
        if (word.bytes[i] < '0' || word.bytes[i] > '9' || number > most)
            return 0;
        number = number * 10 + (uint64_t)(word.bytes[i] - '0');
    }
    return number > most ? 0 : number;
}

static enum mt_result read_expandable(struct word value, struct allocator_settings *settings,
                                      struct mt_error *error)
{
    if (!is_word(value, "True") && !is_word(value, "False"))
        return mt_error_set(error, MT_USAGE, "expandable_segments is True or False, not %.*s",
                            (int)value.size_bytes, value.bytes);
    settings->is_expandable = is_word(value, "True");
    return MT_OK;
}

static enum mt_result read_max_split(struct word value, struct allocator_settings *settings,
                                     struct mt_error *error)
{
    uint64_t mb = number_of(value, mb_most);

    if (mb < max_split_least_mb)
        return mt_error_set(error, MT_USAGE, "max_split_size_mb is a number above 20, not %.*s",
                            (int)value.size_bytes, value.bytes);
    settings->max_split_bytes = mb << 20;
    return MT_OK;
}

static enum mt_result read_divisions(struct word value, struct allocator_settings *settings,
                                     struct mt_error *error)
{
    uint64_t divisions = number_of(value, divisions_most);

    if (value.size_bytes && value.bytes[0] == '[')
        return mt_error_set(error, MT_USAGE,
                            "roundup_power2_divisions is modelled as one number, not as a list");
    if (!divisions || (divisions & (divisions - 1)))
        return mt_error_set(error, MT_USAGE,
                            "roundup_power2_divisions is a power of two up to %d, not %.*s",
                            divisions_most, (int)value.size_bytes, value.bytes);
    settings->roundup_divisions = (uint32_t)divisions;
    return MT_OK;
}

static const struct {
    const char *name;
    enum mt_result (*read)(struct word value, struct allocator_settings *settings,
                           struct mt_error *error); /* NULL: it is not modelled */
    bool is_harmless;                               /* and does not matter for what is reserved */
} keys[] = {
    {"expandable_segments", read_expandable, false},
    {"max_split_size_mb", read_max_split, false},
    {"roundup_power2_divisions", read_divisions, false},
    {"garbage_collection_threshold", NULL, false},
    {"page_size", NULL, false},
    {"segment_size_mb", NULL, false},
    {"backend", NULL, true},
    {"release_lock_on_cudamalloc", NULL, true},
    {"pinned_use_cuda_host_register", NULL, true},
    {"pinned_num_register_threads", NULL, true},
    {"graph_capture_record_stream_reuse", NULL, true},
    {"base_addr_aligned_kb", NULL, true},
};

/* As far as a comma that is in no brackets. */
static size_t length_of_pair(const char *text)
{
    size_t length = 0;
    int depth = 0;

    for (; text[length] && (depth || text[length] != ','); length++)
        depth += (text[length] == '[') - (text[length] == ']');
    return length;
}

static enum mt_result read_pair(struct word pair, struct allocator_settings *settings,
                                struct mt_error *error)
{
    const char *colon = memchr(pair.bytes, ':', pair.size_bytes);
    struct word key = {pair.bytes, colon ? (size_t)(colon - pair.bytes) : pair.size_bytes};

    struct word value = colon ? (struct word){colon + 1, pair.size_bytes - key.size_bytes - 1}
                              : (struct word){"", 0};

    for (size_t i = 0; colon && i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!is_word(key, keys[i].name))
            continue;
        if (keys[i].read)
            return keys[i].read(value, settings, error);
        if (keys[i].is_harmless || is_word(value, "0") || is_word(value, "0.0"))
            return MT_OK;
        return mt_error_set(error, MT_USAGE,
                            "%s is not modelled: it depends on more than the requests",
                            keys[i].name);
    }
    return mt_error_set(error, MT_USAGE,
                        "%.*s is no setting that is known; expandable_segments:True, "
                        "max_split_size_mb:N and roundup_power2_divisions:N are",
                        (int)pair.size_bytes, pair.bytes);
}

enum mt_result allocator_settings_read(const char *text, struct allocator_settings *settings,
                                       struct mt_error *error)
{
    struct allocator_settings read = *settings;
    enum mt_result result = MT_OK;

    while (*text && result == MT_OK) {
        struct word pair = {text, length_of_pair(text)};

        result = read_pair(pair, &read, error);
        text += pair.size_bytes;
        text += *text == ',';
    }
    if (result == MT_OK)
        *settings = read;
    return result;
}
