/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be said of something that a rule looks for: it is there, it is not there, or what was
 * recorded cannot show it. A rule that takes the third for the second says more than it knows.
 */
#ifndef LEAKTIDE_EVIDENCE_VALUE_H
#define LEAKTIDE_EVIDENCE_VALUE_H

enum evidence_value { EVIDENCE_NO, EVIDENCE_YES, EVIDENCE_NOT_KNOWABLE };

#endif
