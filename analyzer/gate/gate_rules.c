/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of rules, as programs that collect findings know them.
 */
#include <string.h>

#include "gate_writers.h"

const struct gate_rule gate_rules[] = {
#define CHECK(rule, id, sentence)                                     {rule, id, sentence},
#define LIMIT(kind, rule, what, is_share, id, sentence, metric, help) {rule, id, sentence},
#include "rules.def"
#undef LIMIT
#undef CHECK
};

const size_t gate_rule_count = sizeof(gate_rules) / sizeof(gate_rules[0]);

size_t gate_rule_index(const char *rule)
{
    size_t i = 0;

    while (i + 1 < gate_rule_count && strcmp(gate_rules[i].rule, rule) != 0)
        i++;
    return i;
}
