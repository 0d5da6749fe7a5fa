/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of plumbing.rules, terminated; made when memtide is built.
 */
#ifndef MEMTIDE_PLUMBING_RULES_H
#define MEMTIDE_PLUMBING_RULES_H

extern const char plumbing_rules[];

#endif
