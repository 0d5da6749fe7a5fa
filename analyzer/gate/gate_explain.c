/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key from all sides: what was said of it, its value in each recording, the baseline, who holds
 * it, the stack.
 */
#include "gate_explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nearest_name.h"
#include "sentence.h"
#include "verdict.h"

enum { HOLDERS = 10 };

static const char *key_at(const void *context, size_t i)
{
    const struct gate_verdict *verdict = context;

    if (i < gate_case_count(verdict))
        return gate_case_at(verdict, i)->key;
    i -= gate_case_count(verdict);
    return i < measures_count(&verdict->measures) ? measures_at(&verdict->measures, i)->key : NULL;
}

static void add_amount(struct outlet *out, enum rule_kind kind, uint64_t amount)
{
    if (kind_is_share(kind))
        outlet_format(out, "%" PRIu64 ".%02" PRIu64 " %%", amount / 100, amount % 100);
    else
        outlet_amount(out, text_add_size_exact, amount);
}

static void add_values(struct outlet *out, const struct gate *gate, const struct measure *measure)
{
    for (size_t i = 0; i < gate->recording_count; i++) {
        outlet_format(out, "  %s: ", gate->recordings[i].path);
        if (measure->is_known[i])
            add_amount(out, measure->kind, measure->values[i]);
        else
            outlet_add(out, "not there");
        outlet_add(out, "\n");
    }
}

static void add_baseline(struct outlet *out, const struct gate *gate, const struct measure *measure)
{
    const struct baseline_row *row =
        gate->baseline ? baseline_find(gate->baseline, measure->key) : NULL;

    if (!gate->baseline)
        return;
    outlet_format(out, "  baseline %s", gate->baseline->path);
    if (row) {
        outlet_format(out, ":%u: ", row->line);
        add_amount(out, measure->kind, row->value);
        outlet_format(out, ", from %zu recordings", row->spread.count);
    } else {
        outlet_add(out, ": not there");
    }
    outlet_add(out, "\n");
}

struct holder {
    const struct measure *site;
    uint64_t bytes;
};

static int holder_compare(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return strcmp(a->site->key, b->site->key);
}

static void add_holders(struct outlet *out, const struct gate *gate,
                        const struct gate_verdict *verdict, const struct measure *measure)
{
    size_t count = 0, all = measures_count(&verdict->measures);
    struct holder *rows = malloc((all + 1) * sizeof(*rows));

    for (size_t i = 0; rows && i < all; i++) {
        const struct measure *site = measures_at(&verdict->measures, i);

        if (site->kind == RULE_SITE && strcmp(site->device, measure->device) == 0 &&
            strcmp(site->pool, measure->pool) == 0)
            rows[count++] = (struct holder){site, measure_spread(&verdict->measures, site).median};
    }
    if (rows && count)
        qsort(rows, count, sizeof(*rows), holder_compare);
    for (size_t i = 0; i < count && i < HOLDERS; i++) {
        const struct baseline_row *base =
            gate->baseline ? baseline_find(gate->baseline, rows[i].site->key) : NULL;

        if (!i)
            outlet_sentence(out, "  held at the peak by\n");
        outlet_add(out, "    ");
        outlet_amount(out, text_add_size, rows[i].bytes);
        outlet_format(out, "  %s", rows[i].site->name);
        if (gate->baseline) {
            outlet_add(out, " (was ");
            outlet_amount(out, text_add_size, base ? base->value : 0);
            outlet_add(out, ")");
        }
        outlet_format(out, "  [%s]\n", rows[i].site->key);
    }
    free(rows);
}

/* The key, or a part of it: "npu:0/pta/peak_live/growth" of "npu:0/pta/peak_live". */
static bool is_about(const char *row_key, const char *key)
{
    size_t length = strlen(key);

    return strncmp(row_key, key, length) == 0 && (!row_key[length] || row_key[length] == '/');
}

static void add_cases(struct outlet *out, const struct gate_verdict *verdict, const char *key,
                      bool *is_known)
{
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (!is_about(row->key, key))
            continue;
        *is_known = true;
        outlet_format(out, "  %s: %s\n", translated(case_outcome_name(row->outcome)),
                      row->sentence);
        if (row->policy_line)
            outlet_format(out, "  rule at %s:%u\n", verdict->policy_path, row->policy_line);
    }
}

static void add_code(struct outlet *out, const struct place_in_code *where)
{
    if (!where->function[0])
        return;
    outlet_format(out, "  in %s", where->function);
    if (where->file[0])
        outlet_format(out, " at %s:%" PRIu32, where->file, where->line);
    outlet_add(out, "\n");
}

/* The rule that decided about the leak of the key, in each recording: as `leaktide leaks --why`. */
static void add_why(struct outlet *out, const struct gate *gate, const struct verdict *verdict,
                    size_t recording, uint64_t key)
{
    const struct question *question = &gate->recordings[recording].question;
    struct arena texts;

    arena_init(&texts);
    for (size_t i = 0; i < verdict->leak_count; i++) {
        struct why why;

        if (verdict->leaks[i].key != key)
            continue;
        why = verdict_why(question, &verdict->leaks[i]);
        outlet_format(out, "  %s: %s\n", gate->recordings[recording].path,
                      why_sentence(&texts, &why));
    }
    arena_release(&texts);
}

static void add_whys(struct outlet *out, const struct gate *gate, const char *key)
{
    const char *id = strrchr(key, '/');

    for (size_t i = 0; id && i < gate->recording_count; i++) {
        const struct question *question = &gate->recordings[i].question;
        const struct verdict *verdict =
            gate->recordings[i].summary ? NULL : verdict_borrow(question);

        if (verdict)
            add_why(out, gate, verdict, i, strtoull(id + 1, NULL, 16));
        verdict_give_back(question, verdict);
    }
}

static const struct gate_leak *leak_find(const struct gate_verdict *verdict, const char *key)
{
    for (size_t i = 0; i < verdict->leaks.count; i++) {
        const struct gate_leak *row = table_at(&verdict->leaks, i);

        if (strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

/* Also of a case that is about its growth. */
static const struct measure *measure_for(const struct gate_verdict *verdict, const char *key)
{
    for (size_t i = 0; i < measures_count(&verdict->measures); i++)
        if (is_about(key, measures_at(&verdict->measures, i)->key))
            return measures_at(&verdict->measures, i);
    return NULL;
}

enum mt_result gate_explain(const struct gate *gate, const struct gate_verdict *verdict,
                            const char *key, struct outlet *out, struct mt_error *error)
{
    const struct measure *measure = measure_for(verdict, key);
    const struct gate_leak *leak = leak_find(verdict, key);
    bool is_known = measure || leak;
    const char *nearest;

    outlet_format(out, "%s\n", key);
    add_cases(out, verdict, key, &is_known);
    if (!is_known) {
        nearest = nearest_name(key, key_at, verdict);
        return mt_error_set(error, MT_NOT_FOUND, "there is no key %s%s%s%s", key,
                            nearest ? "; did you mean " : "; the format json lists all",
                            nearest ? nearest : "", nearest ? "?" : "");
    }
    if (measure) {
        add_values(out, gate, measure);
        add_baseline(out, gate, measure);
        add_code(out, &measure->where);
        if (measure->kind == RULE_PEAK_LIVE || measure->kind == RULE_PEAK_RESERVED)
            add_holders(out, gate, verdict, measure);
    }
    if (leak) {
        outlet_sentence(out, "  found in %zu of %zu recordings\n", leak->repeat_count,
                        gate->recording_count);
        add_code(out, &leak->where);
        add_whys(out, gate, key);
    }
    return MT_OK;
}

void gate_add_suppressions(const struct gate_verdict *verdict, struct outlet *out)
{
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);
        const struct gate_leak *leak = leak_find(verdict, row->key);

        if (row->outcome != CASE_FAILED || !leak)
            continue;
        outlet_format(out, "# %s\n", row->sentence);
        outlet_add(out, "leak:");
        outlet_words_for(out, FOR_PATTERN,
                         leak->where.function[0] ? leak->where.function : leak->where.label);
        outlet_sentence(out, " reason=\"why this is known\" max=\"");
        outlet_format(out, "%" PRIu64 " B\"\n", leak->alive_bytes);
    }
}
