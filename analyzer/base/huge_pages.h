/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a table is large and each look at it is at another place, the processor spends much of its
 * time on finding the page. There are fewer of huge pages.
 */
#ifndef LEAKTIDE_BASE_HUGE_PAGES_H
#define LEAKTIDE_BASE_HUGE_PAGES_H

#include <stddef.h>

/* Advice, for memory that was not touched yet. What is not large is left alone: it would take up
 * more than it needs. */
void huge_pages_want(void *memory, size_t size_bytes);

/*
 * For memory that is about to be used everywhere, each place read before it is written: a page that
 * is read first is a page of zeros that all share, and has to be exchanged when it is written,
 * which the other threads have to be told. Now all pages are there at once. Nothing where the
 * kernel does not know how (before Linux 5.14), or where it is little memory.
 */
void huge_pages_fill(void *memory, size_t size_bytes);

#endif
