/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decimal is read as its whole part, its fraction as an integer, and how many digits that has.
 */
#include "csv_number.h"

#include <string.h>
#include <strings.h>

#include "eight_digits.h"

enum { fraction_digits_max = 18, exponent_max = 40, safe_digits = 19 };

struct decimal {
    uint64_t whole, fraction;
    unsigned digits; /* of the fraction */
    bool is_negative, is_scientific;
};

static const uint64_t powers[] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
};

struct csv_field csv_trim(struct csv_field field)
{
    while (field.size_bytes && (*field.bytes == ' ' || *field.bytes == '\t')) {
        field.bytes++;
        field.size_bytes--;
    }
    while (field.size_bytes &&
           (field.bytes[field.size_bytes - 1] == ' ' || field.bytes[field.size_bytes - 1] == '\t'))
        field.size_bytes--;
    return field;
}

static inline bool is_digit(char character)
{
    return (unsigned char)(character - '0') < 10;
}

static inline bool is_missing(struct csv_field field)
{
    if (field.size_bytes && is_digit(*field.bytes))
        return false;
    return !field.size_bytes ||
           (field.size_bytes == 3 && strncasecmp(field.bytes, "N/A", 3) == 0) ||
           (field.size_bytes == 4 &&
            (strncasecmp(field.bytes, "NULL", 4) == 0 || strncasecmp(field.bytes, "None", 4) == 0));
}

/* Digits at *bytes into *value; false when they are too many. */
static inline bool read_whole(const char **bytes, const char *end, uint64_t *value)
{
    const char *at = *bytes;
    const char *safe_end = end - at > safe_digits ? at + safe_digits : end;
    uint64_t sum = 0, eight;

    for (; safe_end - at >= 8 && eight_digits(at, &eight); at += 8)
        sum = sum * 100000000 + eight;
    for (; at < safe_end && is_digit(*at); at++)
        sum = sum * 10 + (unsigned)(*at - '0');
    for (; at < end && is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *bytes = at;
    *value = sum;
    return true;
}

static inline void read_fraction(const char **bytes, const char *end, struct decimal *decimal)
{
    const char *at = *bytes;
    const char *kept_end = end - at > fraction_digits_max ? at + fraction_digits_max : end;
    uint64_t fraction = 0, eight;

    for (; kept_end - at >= 8 && eight_digits(at, &eight); at += 8)
        fraction = fraction * 100000000 + eight;
    for (; at < kept_end && is_digit(*at); at++)
        fraction = fraction * 10 + (unsigned)(*at - '0');
    decimal->fraction = fraction;
    decimal->digits = (unsigned)(at - *bytes);
    while (at < end && is_digit(*at))
        at++;
    *bytes = at;
}

/* Moves the point. */
static bool shift(struct decimal *decimal, bool is_down, unsigned places)
{
    for (; places; places--) {
        unsigned digit;

        if (is_down) {
            if (decimal->digits < fraction_digits_max) {
                decimal->fraction += decimal->whole % 10 * powers[decimal->digits++];
            } else {
                decimal->fraction =
                    decimal->fraction / 10 + decimal->whole % 10 * powers[decimal->digits - 1];
            }
            decimal->whole /= 10;
            continue;
        }
        digit = decimal->digits ? (unsigned)(decimal->fraction / powers[decimal->digits - 1]) : 0;
        if (decimal->whole > (UINT64_MAX - digit) / 10)
            return false;
        decimal->whole = decimal->whole * 10 + digit;
        if (decimal->digits)
            decimal->fraction %= powers[--decimal->digits];
    }
    return true;
}

static enum csv_cell read_exponent(const char *at, const char *end, struct decimal *decimal)
{
    bool is_down = at < end && *at == '-';
    uint64_t places;
    const char *digits;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    digits = at;
    if (!read_whole(&at, end, &places) || at == digits || at != end)
        return CSV_CELL_BAD;
    decimal->is_scientific = true;
    if (places > exponent_max)
        return CSV_CELL_TOO_LARGE;
    return shift(decimal, is_down, (unsigned)places) ? CSV_CELL_NUMBER : CSV_CELL_TOO_LARGE;
}

static enum csv_cell read_decimal(struct csv_field field, struct decimal *decimal)
{
    const char *at, *end, *start;

    field = csv_trim(field);
    *decimal = (struct decimal){0};
    if (is_missing(field))
        return CSV_CELL_MISSING;
    at = field.bytes;
    end = at + field.size_bytes;
    if (*at == '-' || *at == '+')
        decimal->is_negative = *at++ == '-';
    start = at;
    if (!read_whole(&at, end, &decimal->whole))
        return CSV_CELL_TOO_LARGE;
    if (at < end && *at == '.') {
        at++;
        start++;
        read_fraction(&at, end, decimal);
    }
    if (at == start)
        return CSV_CELL_BAD;
    if (at < end && (*at == 'e' || *at == 'E'))
        return read_exponent(at + 1, end, decimal);
    return at == end ? CSV_CELL_NUMBER : CSV_CELL_BAD;
}

/* fraction / 10^digits * unit; half is what is added before the division. */
static uint64_t scale_fraction(const struct decimal *decimal, uint64_t unit, uint64_t half)
{
    uint64_t power = powers[decimal->digits];

    if (!decimal->fraction)
        return 0;
    if (unit == power)
        return decimal->fraction;
    if (decimal->fraction <= (UINT64_MAX - half) / unit)
        return (decimal->fraction * unit + half) / power;
    return (uint64_t)(((unsigned __int128)decimal->fraction * unit + half) / power);
}

static enum csv_cell scale(const struct decimal *decimal, uint64_t unit, uint64_t half,
                           uint64_t *value)
{
    uint64_t low;

    if (!unit)
        unit = 1;
    low = scale_fraction(decimal, unit, half);
    if (decimal->whole > (UINT64_MAX - low) / unit)
        return CSV_CELL_TOO_LARGE;
    *value = decimal->whole * unit + low;
    return decimal->is_negative && *value ? CSV_CELL_NEGATIVE : CSV_CELL_NUMBER;
}

bool csv_is_missing(struct csv_field field)
{
    return is_missing(csv_trim(field));
}

enum csv_cell csv_time(struct csv_field field, uint64_t unit, uint64_t *value)
{
    struct decimal decimal;
    enum csv_cell cell = read_decimal(field, &decimal);

    if (decimal.is_scientific && cell != CSV_CELL_BAD)
        return CSV_CELL_ROUNDED;
    return cell == CSV_CELL_NUMBER ? scale(&decimal, unit, 0, value) : cell;
}

enum csv_cell csv_size(struct csv_field field, uint64_t unit, uint64_t *value)
{
    struct decimal decimal;
    enum csv_cell cell = read_decimal(field, &decimal);

    if (cell != CSV_CELL_NUMBER)
        return cell;
    return scale(&decimal, unit, powers[decimal.digits] / 2, value);
}

int32_t csv_device(struct csv_field field)
{
    const char *colon;
    uint64_t number;

    field = csv_trim(field);
    colon = memchr(field.bytes, ':', field.size_bytes);
    if (colon) {
        field.size_bytes -= (size_t)(colon + 1 - field.bytes);
        field.bytes = colon + 1;
    }
    if (csv_size(field, 1, &number) != CSV_CELL_NUMBER || number > 65534)
        return -1;
    return (int32_t)number;
}
