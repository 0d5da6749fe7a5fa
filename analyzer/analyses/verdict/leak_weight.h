/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much has to stay in a process, in all of its pools together, to be called a leak. What is
 * lighter is a remark. One rule for survivors and for steps; docs/verdicts.md: Weight.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_WEIGHT_H
#define LEAKTIDE_ANALYSES_LEAK_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

/* How large a process is: the peaks of its pools, of all together; a fork is as large as the
 * process whose memory it shares. */
uint64_t leak_process_bytes(const struct tally *tally, uint16_t process);

/* loop_bytes: asked for by the loop; peak_bytes: leak_process_bytes(). */
bool leak_is_light(uint64_t bytes, uint64_t loop_bytes, uint64_t peak_bytes);

/* How much would not be light. */
uint64_t leak_least_bytes(uint64_t loop_bytes, uint64_t peak_bytes);

/* What stays of each marked step was not learned, however large the process is. */
bool leak_of_each_step_is_light(uint64_t bytes, uint64_t loop_bytes, uint64_t peak_bytes);

/* One line, beside a leak: too little to be a finding of its own. all_bytes: of what leaks. */
bool leak_is_beside(uint64_t bytes, uint64_t all_bytes);

#endif
