/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A leak that may be spread so thin over sites that none of them can be judged: each step a new
 * one, as with generated code. Then only its ledger shows it.
 */
#ifndef LEAKTIDE_ANALYSES_SPREAD_LEAK_H
#define LEAKTIDE_ANALYSES_SPREAD_LEAK_H

#include "growth.h"

/* Survivors of many steps, most of them of at least ten sites that each left some in one or two
 * steps. A handful of buffers made at need, at a handful of sites, is no leak. */
bool is_spread_leak(const struct judged_list *sites, const struct judged *ledger);

#endif
