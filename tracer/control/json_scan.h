/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values of a small JSON object, without memory: for option files of other tools.
 *
 * Only keys of the outermost object are found. False: there is no such key, or its value is of
 * another kind; *value is then as before.
 */
#ifndef LEAKTIDE_TRACER_JSON_SCAN_H
#define LEAKTIDE_TRACER_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool json_number(const char *json, const char *key, int64_t *value);
bool json_flag(const char *json, const char *key, bool *value);
/* Cut if it is longer; escapes are kept as they stand. */
bool json_text(const char *json, const char *key, char *value, size_t value_bytes);
/* Whether the list holds the number; *has_any: whether it holds one at all. */
bool json_list_has(const char *json, const char *key, int64_t number, bool *has_any);

#endif
