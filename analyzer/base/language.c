/* SPDX-License-Identifier: Apache-2.0 */
#include "language.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct message {
    const char *english, *other;
};

static struct message chinese[] = {
#include "zh_CN.inc"
};

enum { CHINESE_COUNT = sizeof(chinese) / sizeof(chinese[0]) };

static const struct message *catalogue; /* NULL: English */

static int by_english(const void *a, const void *b)
{
    return strcmp(((const struct message *)a)->english, ((const struct message *)b)->english);
}

static bool is_language(const char *name, const char *language)
{
    size_t length = strlen(language);

    return strncmp(name, language, length) == 0 && strchr("_.@-", name[length]);
}

bool language_choose(const char *name)
{
    bool is_chinese = is_language(name, "zh");

    if (!is_chinese && !is_language(name, "en") && !is_language(name, "C") &&
        !is_language(name, "POSIX"))
        return false;
    if (is_chinese)
        qsort(chinese, CHINESE_COUNT, sizeof(chinese[0]), by_english);
    catalogue = is_chinese ? chinese : NULL;
    return true;
}

void language_choose_usual(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (!value || !*value)
            continue;
        if (!language_choose(value))
            language_choose("en");
        return;
    }
}

bool language_is_english(void)
{
    return !catalogue;
}

const char *language_find(const char *english)
{
    const struct message wanted = {english, NULL}, *found;

    if (!catalogue || !english)
        return english;
    found = bsearch(&wanted, catalogue, CHINESE_COUNT, sizeof(wanted), by_english);
    return found ? found->other : english;
}
