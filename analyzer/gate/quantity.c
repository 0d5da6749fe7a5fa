/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with units. Fractions are kept as integers: millionths.
 */
#include "quantity.h"

#include <stddef.h>
#include <string.h>

#include "sentence.h"

enum { FRACTION = 1000000 };

static const struct unit {
    const char *name;
    uint64_t bytes;
} units[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)},
};

/* Digits, and maybe a dot and digits: the number in millionths. */
static const char *read_number(const char *text, uint64_t *whole, uint64_t *millionths)
{
    const char *at = text;
    uint64_t scale = FRACTION / 10;

    *whole = 0;
    *millionths = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*whole > UINT64_MAX / 10 - 1)
            return NULL;
        *whole = *whole * 10 + (uint64_t)(*at - '0');
    }
    if (at == text)
        return NULL;
    if (*at != '.')
        return at;
    at++;
    if (*at < '0' || *at > '9')
        return NULL;
    for (; *at >= '0' && *at <= '9'; at++, scale /= 10)
        *millionths += scale * (uint64_t)(*at - '0');
    return at;
}

static const struct unit *unit_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return &units[i];
    return NULL;
}

static bool size_read(const char *text, size_t length, uint64_t *bytes, const char **why)
{
    uint64_t whole, millionths;
    const char *end = text + length, *at = read_number(text, &whole, &millionths);
    const struct unit *unit;

    *why = translated("a size is a number and its unit, like \"28 GiB\"");
    if (!at || at > end)
        return false;
    while (at < end && *at == ' ')
        at++;
    if (at == end) {
        *why = translated(
            "a size needs a unit: B, KiB, MiB, GiB, TiB, or KB, MB, GB, TB for powers of 1000");
        *bytes = 0;
        return !whole && !millionths;
    }
    unit = unit_find(at, (size_t)(end - at));
    if (!unit) {
        *why = translated(
            "this unit is not known: B, KiB, MiB, GiB, TiB, or KB, MB, GB, TB for powers of "
            "1000");
        return false;
    }
    if (whole > (UINT64_MAX >> 1) / unit->bytes) {
        *why = translated("this size is larger than any memory");
        return false;
    }
    *bytes = whole * unit->bytes +
             (uint64_t)((__extension__(unsigned __int128) millionths) * unit->bytes / FRACTION);
    return true;
}

bool quantity_size(const char *text, uint64_t *bytes, const char **why)
{
    return size_read(text, strlen(text), bytes, why);
}

bool quantity_size_per_step(const char *text, uint64_t *bytes, const char **why)
{
    static const char ending[] = "/step";
    size_t length = strlen(text);

    if (length >= sizeof(ending) - 1 && strcmp(text + length - (sizeof(ending) - 1), ending) == 0)
        length -= sizeof(ending) - 1;
    while (length && text[length - 1] == ' ')
        length--;
    return size_read(text, length, bytes, why);
}

bool quantity_percent(const char *text, int64_t *hundredths, const char **why)
{
    bool is_negative = *text == '-';
    uint64_t whole, millionths;
    const char *at = read_number(text + (*text == '-' || *text == '+'), &whole, &millionths);

    *why = translated("a share is a number and %, like \"+2%\"");
    while (at && *at == ' ')
        at++;
    if (!at || strcmp(at, "%") != 0)
        return false;
    if (whole > PERCENT_MAX / PERCENT) {
        *why = translated("this share is too large");
        return false;
    }
    *hundredths = (int64_t)(whole * PERCENT + millionths / (FRACTION / PERCENT));
    if (is_negative)
        *hundredths = -*hundredths;
    return true;
}
