/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read before the sources that write for others: going round outlet.h does not compile in them.
 *
 * mt_writes_through_outlets() in cmake/LeaktideTargets.cmake puts it there.
 */
#ifndef LEAKTIDE_BASE_OUTLETS_ONLY_H
#define LEAKTIDE_BASE_OUTLETS_ONLY_H

#define _GNU_SOURCE /* as sources that ask for it do after this */
#include <stdio.h>  /* declares them, so it has to come first */

#include "outlet.h"

/* An attribute is called so, too: only calls are meant. */
#define printf(...) outlet_h_is_the_way_out
#pragma GCC poison fprintf vprintf vfprintf dprintf puts fputs putc fputc putchar fwrite

#endif
