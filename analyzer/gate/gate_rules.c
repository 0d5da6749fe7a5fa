/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of rules, as programs that collect findings know them.
 */
#include <string.h>

#include "gate_writers.h"

const struct gate_rule gate_rules[] = {
    {"leak", "mem/leak", "Memory grows from step to step"},
    {"window_growth", "mem/growth", "The recorded time kept more memory than allowed"},
    {"peak_live", "mem/peak", "The highest point of a pool is over its limit"},
    {"peak_reserved", "mem/reserved", "A pool reserved more than its limit"},
    {"frag", "mem/fragmentation", "Too much of what is reserved is not used"},
    {"unattributed", "mem/unattributed", "Too much of the device is used by nobody known"},
    {"site", "mem/budget", "A call site holds more at the peak than its budget"},
    {"owner", "mem/owner-budget", "An owner holds more at the peak than its budget"},
    {"phase", "mem/phase", "The highest point of a phase is over its limit"},
    {"imbalance", "mem/imbalance", "One rank needs much more than the others"},
    {"trace_complete", "gate/complete", "The recording must be complete"},
    {"steps_min", "gate/steps", "The recording must have enough steps"},
    {"suppression", "gate/suppression", "Suppressions are deleted when they are not needed"},
};

const size_t gate_rule_count = sizeof(gate_rules) / sizeof(gate_rules[0]);

size_t gate_rule_index(const char *rule)
{
    size_t i = 0;

    while (i + 1 < gate_rule_count && strcmp(gate_rules[i].rule, rule) != 0)
        i++;
    return i;
}
