/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of strangers in formats that are read by programs.
 */
#ifndef LEAKTIDE_BASE_JSON_TEXT_H
#define LEAKTIDE_BASE_JSON_TEXT_H

#include <stddef.h>

#include "text_builder.h"

/* Length of the well-formed UTF-8 sequence here, 0 when there is none. bytes ends with a zero. */
size_t utf8_length(const unsigned char *bytes);

/* A character of Unicode as UTF-8. */
void text_add_code_point(struct text_builder *text, uint32_t code);

/* As it is; what is no UTF-8 becomes U+FFFD. */
void text_add_utf8(struct text_builder *text, const char *string);

/* In quotes, as harmless.h has it for JSON; what is no UTF-8 becomes U+FFFD. */
void text_add_json(struct text_builder *text, const char *string);

#endif
