/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot_words.h"

#include <string.h>

struct known_word {
    const char *text;
    enum word word;
    unsigned char length;
};

#define KNOWN_WORD(id, text) {text, WORD_##id, sizeof(text) - 1},
static const struct known_word known_words[] = {
    SNAPSHOT_KEYS(KNOWN_WORD) SNAPSHOT_DROPPED_KEYS(KNOWN_WORD) SNAPSHOT_VALUES(KNOWN_WORD)};
#undef KNOWN_WORD

/* Pickles name a word once and refer to it from then on, so this is not called often. */
enum word snapshot_word(const char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++)
        if (known_words[i].length == size_bytes && known_words[i].text[0] == bytes[0] &&
            memcmp(known_words[i].text, bytes, size_bytes) == 0)
            return known_words[i].word;
    return WORD_NONE;
}

const char *snapshot_word_text(enum word word)
{
    for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++)
        if (known_words[i].word == word)
            return known_words[i].text;
    return "";
}
