/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a verdict as OpenMetrics out, for dashboards and GitLab's metrics reports.
 *
 * Source: OpenMetrics 1.0. Samples of one family stand together, as it wants.
 */
#include <inttypes.h>
#include <string.h>

#include "gate_writers.h"

static const struct family {
    enum rule_kind kind;
    const char *name, *help;
} families[] = {
#define CHECK(rule, id, sentence, to_do)
#define LIMIT(kind, rule, what, is_share, id, sentence, metric, help) {kind, metric, help},
#include "rules.def"
#undef LIMIT
#undef CHECK
};

static void add_label(struct outlet *out, const char *name, const char *value)
{
    outlet_format(out, "%s=\"%s\"", name, value);
}

static void add_head(struct outlet *out, const char *name, const char *help)
{
    const char *unit = strrchr(name, '_') + 1;

    outlet_format(out, "# TYPE %s gauge\n", name);
    if (strcmp(unit, "bytes") == 0 || strcmp(unit, "ratio") == 0)
        outlet_format(out, "# UNIT %s %s\n", name, unit);
    outlet_format(out, "# HELP %s %s\n", name, help);
}

static void add_sample(const struct gate_verdict *verdict, struct outlet *out,
                       const struct family *family, const struct measure *measure)
{
    uint64_t value = measure_spread(&verdict->measures, measure).median;

    outlet_format(out, "%s{", family->name);
    add_label(out, "device", measure->device);
    outlet_add(out, ",");
    add_label(out, "pool", measure->pool);
    if (measure->name[0]) {
        outlet_add(out, ",");
        add_label(out, family->kind == RULE_OWNER ? "owner" : "phase", measure->name);
    }
    if (kind_is_share(family->kind))
        outlet_format(out, "} %" PRIu64 ".%04" PRIu64 "\n", value / 10000, value % 10000);
    else
        outlet_format(out, "} %" PRIu64 "\n", value);
}

static void add_family(const struct gate_verdict *verdict, struct outlet *out,
                       const struct family *family)
{
    bool is_first = true;

    for (size_t i = 0; i < measures_count(&verdict->measures); i++) {
        const struct measure *measure = measures_at(&verdict->measures, i);

        if (measure->kind != family->kind)
            continue;
        if (is_first)
            add_head(out, family->name, family->help);
        is_first = false;
        add_sample(verdict, out, family, measure);
    }
}

static void add_counts(const struct gate_verdict *verdict, struct outlet *out)
{
    add_head(out, "leaktide_gate_checks", "Checks of the memory gate, by outcome.");
    for (int i = 0; i < CASE_OUTCOME_COUNT; i++)
        if (i != CASE_REMARK)
            outlet_format(out, "leaktide_gate_checks{outcome=\"%s\"} %zu\n",
                          case_outcome_word((enum case_outcome)i), verdict->counts[i]);
}

/* Without leaks there is no sample of one: that is good where it says 1 here. */
static void add_leaks_judged(const struct gate_verdict *verdict, struct outlet *out)
{
    bool is_asked = false, is_judged = false, is_unsure = false;

    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);
        bool is_leak = strcmp(row->rule, "leak") == 0;

        is_asked = is_asked || is_leak || strcmp(row->rule, "window_growth") == 0;
        is_judged = is_judged || is_leak;
        is_unsure = is_unsure || (is_leak && row->outcome == CASE_UNSURE);
    }
    if (!is_asked)
        return;
    add_head(out, "leaktide_leaks_judged", "Whether leaks were judged; 0: nobody can say.");
    outlet_format(out, "leaktide_leaks_judged %d\n", is_judged && !is_unsure);
}

static void add_leaks(const struct gate_verdict *verdict, struct outlet *out)
{
    if (!verdict->leaks.count)
        return;
    add_head(out, "leaktide_leak_per_step_bytes", "Growth of a leaking site.");
    for (size_t i = 0; i < verdict->leaks.count; i++) {
        const struct gate_leak *leak = table_at(&verdict->leaks, i);

        outlet_add(out, "leaktide_leak_per_step_bytes{");
        add_label(out, "device", leak->device);
        outlet_add(out, ",");
        add_label(out, "pool", leak->pool);
        outlet_add(out, ",");
        add_label(out, "site", leak->where.function);
        outlet_add(out, ",");
        add_label(out, "key", leak->key);
        if (leak->growth_per_step)
            outlet_format(out, "} %" PRIu64 "\n", leak->growth_per_step);
        else
            outlet_add(out, "} NaN\n"); /* a leak of a loop whose turns are not known */
    }
}

void gate_write_openmetrics(const struct gate_verdict *verdict, struct outlet *out)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (families[i].name)
            add_family(verdict, out, &families[i]);
    add_leaks_judged(verdict, out);
    add_leaks(verdict, out);
    add_counts(verdict, out);
    outlet_add(out, "# EOF\n");
}
