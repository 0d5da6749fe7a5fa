/* SPDX-License-Identifier: Apache-2.0 */
/* Between the entry of syscall, which differs by processor, and confinement.c. */
#ifndef LEAKTIDE_TRACER_CONFINEMENT_H
#define LEAKTIDE_TRACER_CONFINEMENT_H

/* The program is about to make one of the two calls by which a process confines itself. */
void confinement_before_syscall(long number, long first, long second, long third);

/* Sets errno; returns -1, as the C library's function does. */
long confinement_error(int error);

#endif
