/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures as a result code and one sentence: who fails writes the sentence, who called passes it
 * on.
 *
 * The format is the id of the message (sentence.h): it is looked up here, for all of the analyzer.
 */
#ifndef LEAKTIDE_BASE_ERROR_SENTENCE_H
#define LEAKTIDE_BASE_ERROR_SENTENCE_H

#include "leaktide/error.h"

/*
 * Writes the sentence and returns result, so that a failure is one line:
 * `return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));`
 * error may be NULL.
 */
enum mt_result mt_error_set(struct mt_error *error, enum mt_result result, const char *english, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Adds which member of an options struct is wrong, for a program that calls it by another name:
 * `return mt_error_of(error, "steps", mt_error_set(error, MT_USAGE, ...));`
 */
enum mt_result mt_error_of(struct mt_error *error, const char *option, enum mt_result result);

#endif
