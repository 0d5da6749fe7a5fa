/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody wants to know next: why a key is what it is, and how to live with it.
 */
#ifndef LEAKTIDE_GATE_GATE_EXPLAIN_H
#define LEAKTIDE_GATE_GATE_EXPLAIN_H

#include "judge.h"
#include "outlet.h"

/* MT_NOT_FOUND, with the key that looks most like it. */
enum mt_result gate_explain(const struct gate *gate, const struct gate_verdict *verdict,
                            const char *key, struct outlet *out, struct mt_error *error);

/* A line for each leak that failed. */
void gate_add_suppressions(const struct gate_verdict *verdict, struct outlet *out);

#endif
