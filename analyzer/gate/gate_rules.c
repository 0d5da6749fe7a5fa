/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of rules, as programs that collect findings know them.
 */
#include <string.h>

#include "gate_writers.h"
#include "sentence.h"

const struct gate_rule gate_rules[] = {
#define CHECK(rule, id, sentence, to_do)                              {rule, id, sentence, to_do},
#define LIMIT(kind, rule, what, is_share, id, sentence, metric, help) {rule, id, sentence, NULL},
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

const char *gate_rule_help(size_t index)
{
    if (gate_rules[index].help)
        return translated(gate_rules[index].help);
    return translated("The message says how much over the limit it is, and which places in the "
                      "program hold it. Lower them, or agree to the new number with `leaktide "
                      "bless` where the limit is relative, or in the policy where it is not.");
}
