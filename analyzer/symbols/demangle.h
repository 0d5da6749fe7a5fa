/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names as they were written.
 */
#ifndef LEAKTIDE_DEMANGLE_H
#define LEAKTIDE_DEMANGLE_H

/* For free(); NULL when it is not a C++ name, or nothing here can read it. */
char *demangle(const char *name);

#endif
