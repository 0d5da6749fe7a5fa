/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launcher and consumer survive what happens to files that they map: cut by somebody, or shared
 * with a copy (reflink, snapshot) when the disk is full. Each store would end them (SIGBUS).
 */
#ifndef LEAKTIDE_TRACER_BUS_ERRORS_H
#define LEAKTIDE_TRACER_BUS_ERRORS_H

#include <stdbool.h>

/* From now on, memory stands where a page of a file cannot be had. For the whole process. */
void bus_errors_survive(void);

/* In a child, before it becomes another program: as it was before. */
void bus_errors_as_before(void);

/* A page of memory does: what others write into the file is not seen there. */
bool bus_errors_came(void);

#endif
