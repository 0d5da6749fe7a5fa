/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the receiving end of mstx is put into a table of the program.
 */
#ifndef LEAKTIDE_TRACER_ASCEND_MSTX_H
#define LEAKTIDE_TRACER_ASCEND_MSTX_H

#include "ascend_abi.h"

/*
 * Puts our functions into the table that get() gives out. Each library has a table of its own,
 * older ones with fewer entries. Returns 0 on success.
 */
int mstx_inject(mstx_table_getter get);

#endif
