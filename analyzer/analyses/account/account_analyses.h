/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the memory and what for, up to the total of the device.
 */
#ifndef LEAKTIDE_ANALYSES_ACCOUNT_ANALYSES_H
#define LEAKTIDE_ANALYSES_ACCOUNT_ANALYSES_H

#include "analysis.h"

void analyse_categories(const struct question *question, struct report *report);
void analyse_owner_tree(const struct question *question, struct report *report);
void analyse_device_account(const struct question *question, struct report *report);
void analyse_process_account(const struct question *question, struct report *report);
void analyse_components(const struct question *question, struct report *report);
/* What grew, and where most is if that is no block; nothing where there is no account. */
void analyse_resident_in_short(const struct question *question, struct report *report);
void analyse_resident(const struct question *question, struct report *report);
/* Processes that the kernel killed for memory, and who held it; nothing where there is none. */
void analyse_killed(const struct question *question, struct report *report);
/* Which module of the model holds the memory; where none is known, how to record it, or nothing. */
void analyse_layers(const struct question *question, struct report *report);
void analyse_layers_if_known(const struct question *question, struct report *report);
/* How the program ended, if not well; after what was refused. */
void analyse_death(const struct question *question, struct report *report);
void analyse_modules(const struct question *question, struct report *report);
void analyse_modules_verdict(const struct question *question, struct report *report);

extern const struct block_analysis others_on_device_analysis;
/* What of shared memory has a name that nobody unlinked. */
extern const struct block_analysis shared_names_analysis;

#endif
