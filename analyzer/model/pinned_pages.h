/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks hold back of the memory that malloc could give to the system: the rest of the pages
 * that they are on. A page that is full holds back nothing, one with a single small block nearly
 * all of itself. The rest of a page is shared by its blocks, each the same.
 */
#ifndef LEAKTIDE_MODEL_PINNED_PAGES_H
#define LEAKTIDE_MODEL_PINNED_PAGES_H

#include "tally.h"

/*
 * Of the blocks of malloc that are alive now. Takes the time of sorting them: not to be done often.
 * Returns false where there is no memory; *pins stays as it is then.
 */
bool pinned_pages_find(const struct tally *tally, struct memory_pins *pins);

#endif
