/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the verdict is as it is, and what is doubted: tables. Data have them always; people see them
 * where they ask, `leaktide leaks --why`.
 */
#ifndef LEAKTIDE_ANALYSES_WHY_TABLE_H
#define LEAKTIDE_ANALYSES_WHY_TABLE_H

#include "verdict.h"

void why_tables_add(const struct question *question, struct report *report,
                    const struct verdict *verdict);

#endif
