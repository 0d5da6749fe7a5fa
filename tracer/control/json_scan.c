/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks through the text from the beginning for each key: such files are short.
 */
#include "json_scan.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* After a text that begins at its quote. */
static const char *skip_text(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* The value of the key, after its colon; NULL when it is not there. */
static const char *find(const char *json, const char *key)
{
    size_t length = strlen(key);
    unsigned depth = 0;

    for (const char *at = json; *at;) {
        const char *begin = at;

        if (*at == '"') {
            at = skip_text(at);
            if (depth == 1 && (size_t)(at - begin) == length + 2 &&
                memcmp(begin + 1, key, length) == 0 && *skip_blanks(at) == ':')
                return skip_blanks(skip_blanks(at) + 1);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= depth && (*at == '}' || *at == ']');
        at++;
    }
    return NULL;
}

static bool is_end(const char *at)
{
    at = skip_blanks(at);
    return !*at || strchr(",}]", *at);
}

bool json_number(const char *json, const char *key, int64_t *value)
{
    const char *at = find(json, key);
    char *end;
    int64_t number;

    if (!at || !(*at == '-' || (*at >= '0' && *at <= '9')))
        return false;
    number = strtoll(at, &end, 10);
    if (!is_end(end))
        return false;
    *value = number;
    return true;
}

bool json_flag(const char *json, const char *key, bool *value)
{
    const char *at = find(json, key);

    if (!at || (strncmp(at, "true", 4) != 0 && strncmp(at, "false", 5) != 0))
        return false;
    *value = *at == 't';
    return true;
}

bool json_text(const char *json, const char *key, char *value, size_t value_bytes)
{
    const char *at = find(json, key), *end;
    size_t length;

    if (!at || *at != '"')
        return false;
    end = skip_text(at);
    length = (size_t)(end - at) >= 2 && end[-1] == '"' ? (size_t)(end - at) - 2 : 0;
    if (length >= value_bytes)
        length = value_bytes - 1;
    memcpy(value, at + 1, length);
    value[length] = 0;
    return true;
}

bool json_list_has(const char *json, const char *key, int64_t number, bool *has_any)
{
    const char *at = find(json, key);
    bool has_it = false;

    *has_any = false;
    if (!at || *at != '[')
        return false;
    for (at = skip_blanks(at + 1); *at && *at != ']';) {
        char *end;
        int64_t found = strtoll(at, &end, 10);

        if (end == at)
            break;
        *has_any = true;
        has_it |= found == number;
        at = skip_blanks(end);
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    return has_it;
}
