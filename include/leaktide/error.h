/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result codes, and one sentence for a person.
 *
 * Libraries return an enum mt_result and fill a struct mt_error; only a main() turns a result
 * into an exit code. The sentence says what and where: "run.mtt: chunk 7 at byte 4096: ...".
 */
#ifndef LEAKTIDE_ERROR_H
#define LEAKTIDE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mt_result {
    MT_OK = 0,
    MT_USAGE,   /* the caller asked for something that does not exist or make sense */
    MT_IO,      /* the system could not open, read or write something */
    MT_CORRUPT, /* the bytes are not what they claim to be */
    MT_UNSUPPORTED /* a newer version, or a kind that this build does not read */,
    MT_NOT_FOUND, /* nothing by that name or number */
    MT_NO_DATA,   /* readable, but too little to answer */
    MT_NO_MEMORY,
    MT_CANCELLED /* the caller's own function asked for it */
};

struct mt_error {
    char message[512]; /* always terminated; empty while all is well */
    /* The member of an options struct that is wrong, as "steps"; static. NULL: none is. */
    const char *option;
};

/*
 * Writes the sentence and returns result, so that a failure is one line:
 * `return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));`
 * error may be NULL.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline enum mt_result
mt_error_set(struct mt_error *error, enum mt_result result, const char *format, ...)
{
    if (error) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error->message, sizeof(error->message), format, arguments);
        va_end(arguments);
        error->option = NULL;
    }
    return result;
}

/*
 * Adds which member of an options struct is wrong, for a program that calls it by another name:
 * `return mt_error_of(error, "steps", mt_error_set(error, MT_USAGE, ...));`
 */
static inline enum mt_result mt_error_of(struct mt_error *error, const char *option,
                                         enum mt_result result)
{
    if (error)
        error->option = option;
    return result;
}

#ifdef __cplusplus
}
#endif

#endif
