/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be true, if there is no mistake in this program: MT_ASSERT(condition).
 *
 * A build with NDEBUG (release) has no code of it. In any other, a condition that does not hold is
 * written to standard error, as one line with file and line, and the program aborts. That calls
 * write() and abort() alone, so it may stand in hooks and in signal handlers, too.
 *
 * What the world can do (a damaged file, no memory) is no assertion but a result: error.h.
 */
#ifndef LEAKTIDE_INVARIANT_H
#define LEAKTIDE_INVARIANT_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef NDEBUG

/* Looked at by the compiler, so that what it names is used; never evaluated. */
#define MT_ASSERT(condition) ((void)sizeof(!(condition)))
enum { MT_ASSERTS = 0 }; /* whether looking at a whole structure is worth the time */

#else

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noreturn, cold, noinline, unused)) static void mt_assert_failed(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        abort();
    abort();
}

enum { MT_ASSERTS = 1 };

#define MT_ASSERT_TEXT(number) #number
#define MT_ASSERT_LINE(file, number, condition)                                                    \
    file ":" MT_ASSERT_TEXT(number) ": not so: " condition "\n"
#define MT_ASSERT(condition)                                                                       \
    (__builtin_expect(!!(condition), 1)                                                            \
         ? (void)0                                                                                 \
         : mt_assert_failed(MT_ASSERT_LINE(__FILE__, __LINE__, #condition)))

#endif

#ifdef __cplusplus
}
#endif

#endif
