/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of plumbing.rules, terminated; made when leaktide is built.
 */
#ifndef LEAKTIDE_PLUMBING_RULES_H
#define LEAKTIDE_PLUMBING_RULES_H

extern const char plumbing_rules[];

#endif
