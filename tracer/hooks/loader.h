/* SPDX-License-Identifier: Apache-2.0 */
/* Between the entries of dlopen and dlmopen, which differ by processor, and loader.c. */
#ifndef LEAKTIDE_TRACER_LOADER_H
#define LEAKTIDE_TRACER_LOADER_H

/* Writes down what is loaded now; returns the real function, to jump to. */
void *loader_before_dlopen(void);
void *loader_before_dlmopen(void);

#endif
