/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy file to rules. Each table of the file has a list of the keys it may have.
 */
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest_name.h"
#include "quantity.h"
#include "toml.h"

enum { FIRST_BYTES = 1 << 14, FILE_MAX = 16 << 20 };

/* Who a rule is about, as the tables around it say. */
struct scope {
    const char *device, *pool, *name;
};

struct reading {
    struct policy *policy;
    struct policy_rule *last;
    struct mt_error *error;
};

/* A key of a table, and what reads its value. */
struct key {
    const char *name;
    enum mt_result (*read)(struct reading *reading, const struct toml_node *value,
                           const struct scope *scope);
};

static enum mt_result complain_at(struct reading *reading, const struct toml_node *node,
                                  const char *what)
{
    return mt_error_set(reading->error, MT_USAGE, "%s:%u: %s: %s", reading->policy->path,
                        node->line, node->key ? node->key : "value", what);
}

static const char *key_name_at(const void *context, size_t i)
{
    return ((const struct key *)context)[i].name;
}

static enum mt_result say_unknown(struct reading *reading, const struct key *keys,
                                  const struct toml_node *node)
{
    const char *nearest = nearest_name(node->key, key_name_at, keys);

    if (nearest)
        return mt_error_set(reading->error, MT_USAGE,
                            "%s:%u: there is no key %s here; did you mean %s?",
                            reading->policy->path, node->line, node->key, nearest);
    return mt_error_set(reading->error, MT_USAGE,
                        "%s:%u: there is no key %s here; %s and the like are known",
                        reading->policy->path, node->line, node->key, keys[0].name);
}

static enum mt_result read_table(struct reading *reading, const struct toml_node *table,
                                 const struct key *keys, const struct scope *scope)
{
    if (table->kind != TOML_TABLE)
        return complain_at(reading, table, "a table is expected");
    for (const struct toml_node *node = table->first; node; node = node->next) {
        const struct key *key = keys;
        enum mt_result result;

        while (key->name && strcmp(key->name, node->key) != 0)
            key++;
        if (!key->name)
            return say_unknown(reading, keys, node);
        result = key->read(reading, node, scope);
        if (result != MT_OK)
            return result;
    }
    return MT_OK;
}

/* --- limits ------------------------------------------------------------------------------- */

bool kind_is_share(enum rule_kind kind)
{
    return kind == RULE_FRAGMENTATION || kind == RULE_RANKS;
}

static bool amount_read(const char *text, enum rule_kind kind, uint64_t *amount, const char **why)
{
    int64_t share;

    if (!kind_is_share(kind))
        return quantity_size(text, amount, why);
    if (!quantity_percent(text, &share, why))
        return false;
    *why = "this share cannot be negative";
    *amount = (uint64_t)share;
    return share >= 0;
}

static enum mt_result read_amount(struct reading *reading, const struct toml_node *value,
                                  enum rule_kind kind, uint64_t *amount)
{
    const char *why;

    if (value->kind != TOML_STRING)
        return complain_at(reading, value,
                           kind_is_share(kind) ? "a share is a text, like \"8%\""
                                               : "a size is a text with its unit, like \"28 GiB\"");
    return amount_read(value->text, kind, amount, &why) ? MT_OK : complain_at(reading, value, why);
}

static enum mt_result read_boolean(struct reading *reading, const struct toml_node *value,
                                   bool *out)
{
    if (value->kind != TOML_BOOLEAN)
        return complain_at(reading, value, "true or false is expected");
    *out = value->boolean;
    return MT_OK;
}

static enum mt_result read_text(struct reading *reading, const struct toml_node *value,
                                const char **out)
{
    if (value->kind != TOML_STRING || !value->text[0])
        return complain_at(reading, value, "a text is expected");
    *out = value->text;
    return MT_OK;
}

static enum mt_result read_relative(struct reading *reading, const struct toml_node *value,
                                    struct policy_rule *rule)
{
    const char *why;

    if (value->kind != TOML_STRING)
        return complain_at(reading, value, "a share is a text, like \"+2%\"");
    if (!quantity_percent(value->text, &rule->relative, &why))
        return complain_at(reading, value, why);
    rule->has_relative = true;
    reading->policy->has_relative = true;
    return MT_OK;
}

/* One key of { max = ..., rel = ..., floor = ..., force = ... } */
static enum mt_result read_limit_key(struct reading *reading, const struct toml_node *value,
                                     struct policy_rule *rule)
{
    static const struct key keys[] = {
        {"max", NULL}, {"rel", NULL}, {"floor", NULL}, {"force", NULL}, {NULL, NULL}};

    if (strcmp(value->key, "max") == 0) {
        rule->has_max = true;
        return read_amount(reading, value, rule->kind, &rule->max);
    }
    if (strcmp(value->key, "rel") == 0)
        return read_relative(reading, value, rule);
    if (strcmp(value->key, "floor") == 0)
        return read_amount(reading, value, rule->kind, &rule->floor);
    if (strcmp(value->key, "force") == 0)
        return read_boolean(reading, value, &rule->is_forced);
    return say_unknown(reading, keys, value);
}

static enum mt_result add_rule(struct reading *reading, enum rule_kind kind,
                               const struct toml_node *value, const struct scope *scope)
{
    struct policy_rule *rule = arena_alloc(&reading->policy->arena, sizeof(*rule));
    enum mt_result result = MT_OK;

    if (!rule)
        return mt_error_set(reading->error, MT_NO_MEMORY, "no memory for the policy");
    *rule = (struct policy_rule){.kind = kind,
                                 .line = value->line,
                                 .device = scope->device,
                                 .pool = scope->pool,
                                 .name = scope->name};
    if (value->kind == TOML_TABLE) {
        for (const struct toml_node *node = value->first; node && result == MT_OK;
             node = node->next)
            result = read_limit_key(reading, node, rule);
    } else {
        rule->has_max = true;
        result = read_amount(reading, value, kind, &rule->max);
    }
    if (result == MT_OK && !rule->has_max && !rule->has_relative)
        return complain_at(reading, value, "a limit needs max or rel, or both");
    if (reading->last)
        reading->last->next = rule;
    else
        reading->policy->rules = rule;
    reading->last = rule;
    return result;
}

/* --- [device."npu:*"] and [device."npu:*".pool.pta] ------------------------------------------ */

static enum mt_result read_peak_live(struct reading *reading, const struct toml_node *value,
                                     const struct scope *scope)
{
    return add_rule(reading, RULE_PEAK_LIVE, value, scope);
}

static enum mt_result read_peak_reserved(struct reading *reading, const struct toml_node *value,
                                         const struct scope *scope)
{
    return add_rule(reading, RULE_PEAK_RESERVED, value, scope);
}

static enum mt_result read_fragmentation(struct reading *reading, const struct toml_node *value,
                                         const struct scope *scope)
{
    return add_rule(reading, RULE_FRAGMENTATION, value, scope);
}

static enum mt_result read_unattributed(struct reading *reading, const struct toml_node *value,
                                        const struct scope *scope)
{
    return add_rule(reading, RULE_UNATTRIBUTED, value, scope);
}

/* Each table in `tables` is about the pool, device or phase that its name is a glob of. */
static enum mt_result read_named_tables(struct reading *reading, const struct toml_node *tables,
                                        const struct key *keys, struct scope *scope,
                                        const char **name_in_scope)
{
    enum mt_result result = MT_OK;

    if (tables->kind != TOML_TABLE)
        return complain_at(reading, tables, "a table is expected");
    for (const struct toml_node *node = tables->first; node && result == MT_OK; node = node->next) {
        *name_in_scope = node->key;
        result = read_table(reading, node, keys, scope);
    }
    return result;
}

static enum mt_result read_pools(struct reading *reading, const struct toml_node *value,
                                 const struct scope *scope)
{
    static const struct key keys[] = {
        {"peak_live", read_peak_live},
        {"peak_reserved", read_peak_reserved},
        {"frag", read_fragmentation},
        {NULL, NULL},
    };
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.pool);
}

static enum mt_result read_devices(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    static const struct key keys[] = {
        {"peak_live", read_peak_live}, {"peak_reserved", read_peak_reserved},
        {"frag", read_fragmentation},  {"unattributed", read_unattributed},
        {"pool", read_pools},          {NULL, NULL},
    };
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.device);
}

/* --- [phase.backward], [ranks] -----------------------------------------------------------------
 */

static enum mt_result read_phase_peak(struct reading *reading, const struct toml_node *value,
                                      const struct scope *scope)
{
    return add_rule(reading, RULE_PHASE, value, scope);
}

static enum mt_result read_phases(struct reading *reading, const struct toml_node *value,
                                  const struct scope *scope)
{
    static const struct key keys[] = {{"peak_live", read_phase_peak}, {NULL, NULL}};
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.name);
}

static enum mt_result read_imbalance(struct reading *reading, const struct toml_node *value,
                                     const struct scope *scope)
{
    return add_rule(reading, RULE_RANKS, value, scope);
}

static enum mt_result read_ranks(struct reading *reading, const struct toml_node *value,
                                 const struct scope *scope)
{
    static const struct key keys[] = {{"imbalance", read_imbalance}, {NULL, NULL}};

    return read_table(reading, value, keys, scope);
}

/* --- [[site]] and [[owner]] ----------------------------------------------------------------------
 */

/* Keys that say who is meant are read before the one that says how much. */
static enum mt_result read_budget(struct reading *reading, const struct toml_node *table,
                                  enum rule_kind kind)
{
    static const struct key keys[] = {
        {"match", NULL}, {"device", NULL}, {"pool", NULL}, {"live_at_peak", NULL}, {NULL, NULL}};
    struct scope scope = {"*", "*", NULL};
    const struct toml_node *limit = NULL;
    enum mt_result result = MT_OK;

    if (table->kind != TOML_TABLE)
        return complain_at(reading, table, "[[site]] and [[owner]] are tables in double brackets");
    for (const struct toml_node *node = table->first; node && result == MT_OK; node = node->next) {
        if (strcmp(node->key, "match") == 0)
            result = read_text(reading, node, &scope.name);
        else if (strcmp(node->key, "device") == 0)
            result = read_text(reading, node, &scope.device);
        else if (strcmp(node->key, "pool") == 0)
            result = read_text(reading, node, &scope.pool);
        else if (strcmp(node->key, "live_at_peak") == 0)
            limit = node;
        else
            return say_unknown(reading, keys, node);
    }
    if (result != MT_OK)
        return result;
    if (!scope.name || !limit)
        return mt_error_set(reading->error, MT_USAGE,
                            "%s:%u: a budget needs match and live_at_peak", reading->policy->path,
                            table->line);
    return add_rule(reading, kind, limit, &scope);
}

static enum mt_result read_budgets(struct reading *reading, const struct toml_node *array,
                                   enum rule_kind kind)
{
    enum mt_result result = MT_OK;

    if (array->kind != TOML_ARRAY)
        return complain_at(reading, array,
                           "each budget is a table of its own in double brackets: "
                           "[[site]] or [[owner]]");
    for (const struct toml_node *node = array->first; node && result == MT_OK; node = node->next)
        result = read_budget(reading, node, kind);
    return result;
}

static enum mt_result read_sites(struct reading *reading, const struct toml_node *value,
                                 const struct scope *scope)
{
    (void)scope;
    return read_budgets(reading, value, RULE_SITE);
}

static enum mt_result read_owners(struct reading *reading, const struct toml_node *value,
                                  const struct scope *scope)
{
    (void)scope;
    return read_budgets(reading, value, RULE_OWNER);
}

/* --- [require] ------------------------------------------------------------------------------- */

static enum mt_result read_count(struct reading *reading, const struct toml_node *value,
                                 int64_t *count)
{
    if (value->kind != TOML_INTEGER || value->integer < 0 || value->integer > 1000000000)
        return complain_at(reading, value, "a whole number from 0 to 1000000000 is expected");
    *count = value->integer;
    return MT_OK;
}

static enum mt_result read_steps_min(struct reading *reading, const struct toml_node *value,
                                     const struct scope *scope)
{
    int64_t count = 0;
    enum mt_result result = read_count(reading, value, &count);

    (void)scope;
    reading->policy->require.steps_min = (uint64_t)count;
    reading->policy->require.steps_line = value->line;
    return result;
}

static enum mt_result read_warm_up(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    int64_t count = 0;
    enum mt_result result = read_count(reading, value, &count);

    (void)scope;
    reading->policy->require.warm_up_steps = (int)count;
    return result;
}

static enum mt_result read_complete(struct reading *reading, const struct toml_node *value,
                                    const struct scope *scope)
{
    (void)scope;
    return read_boolean(reading, value, &reading->policy->require.is_complete_needed);
}

static enum mt_result read_require(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    static const struct key keys[] = {
        {"steps_min", read_steps_min},
        {"warmup", read_warm_up},
        {"trace_complete", read_complete},
        {NULL, NULL},
    };

    return read_table(reading, value, keys, scope);
}

/* --- [leak] ---------------------------------------------------------------------------------- */

static enum mt_result read_confidence(struct reading *reading, const struct toml_node *value,
                                      const struct scope *scope)
{
    (void)scope;
    if (value->kind != TOML_FRACTION || value->fraction < 0.99 || value->fraction >= 1)
        return complain_at(reading, value,
                           "a number from 0.99, as leaks are judged anyway, to "
                           "below 1 is expected");
    reading->policy->leak.chance_max = 1 - value->fraction;
    return MT_OK;
}

static enum mt_result read_slope(struct reading *reading, const struct toml_node *value,
                                 const struct scope *scope)
{
    const char *why;

    (void)scope;
    if (value->kind != TOML_STRING)
        return complain_at(reading, value, "a slope is a text, like \"64 KiB/step\"");
    if (!quantity_size_per_step(value->text, &reading->policy->leak.slope_min, &why))
        return complain_at(reading, value, why);
    return MT_OK;
}

static enum mt_result read_caches(struct reading *reading, const struct toml_node *value,
                                  const struct scope *scope)
{
    (void)scope;
    return read_boolean(reading, value, &reading->policy->leak.allows_caches);
}

static enum mt_result read_window_growth(struct reading *reading, const struct toml_node *value,
                                         const struct scope *scope)
{
    (void)scope;
    reading->policy->leak.has_window_growth = true;
    reading->policy->leak.window_line = value->line;
    return read_amount(reading, value, RULE_PEAK_LIVE, &reading->policy->leak.window_growth);
}

static enum mt_result read_leak(struct reading *reading, const struct toml_node *value,
                                const struct scope *scope)
{
    static const struct key keys[] = {
        {"confidence", read_confidence},
        {"min_slope", read_slope},
        {"allow_cache_growth", read_caches},
        {"window_growth", read_window_growth},
        {NULL, NULL},
    };

    reading->policy->leak.is_asked = true;
    reading->policy->leak.line = value->line;
    return read_table(reading, value, keys, scope);
}

/* --- [baseline] and [suppress] -----------------------------------------------------------------
 */

static enum mt_result read_baseline_file(struct reading *reading, const struct toml_node *value,
                                         const struct scope *scope)
{
    (void)scope;
    return read_text(reading, value, &reading->policy->baseline_path);
}

static enum mt_result read_baseline(struct reading *reading, const struct toml_node *value,
                                    const struct scope *scope)
{
    static const struct key keys[] = {{"file", read_baseline_file}, {NULL, NULL}};

    return read_table(reading, value, keys, scope);
}

static enum mt_result read_suppressions_file(struct reading *reading, const struct toml_node *value,
                                             const struct scope *scope)
{
    (void)scope;
    return read_text(reading, value, &reading->policy->suppressions_path);
}

static enum mt_result read_suppress(struct reading *reading, const struct toml_node *value,
                                    const struct scope *scope)
{
    static const struct key keys[] = {{"file", read_suppressions_file}, {NULL, NULL}};

    return read_table(reading, value, keys, scope);
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum mt_result read_policy(struct reading *reading, const struct toml_node *root)
{
    static const struct key keys[] = {
        {"require", read_require},   {"device", read_devices},
        {"leak", read_leak},         {"site", read_sites},
        {"owner", read_owners},      {"phase", read_phases},
        {"ranks", read_ranks},       {"baseline", read_baseline},
        {"suppress", read_suppress}, {NULL, NULL},
    };
    static const struct scope everything = {"*", "*", "*"};
    enum mt_result result = read_table(reading, root, keys, &everything);
    const struct policy *policy = reading->policy;

    if (result == MT_OK && !policy->rules && !policy->leak.is_asked && !policy->require.steps_min)
        return mt_error_set(reading->error, MT_USAGE,
                            "%s: there is no rule in it, so nothing would be judged; begin with "
                            "[device.\"*\"] and peak_live = \"28 GiB\"",
                            policy->path);
    return result;
}

/* All that is left of the file; NULL without memory. At most FILE_MAX + 1 bytes. */
static char *read_rest(FILE *file, size_t *size_bytes)
{
    size_t capacity = FIRST_BYTES;
    char *bytes = malloc(capacity), *larger;

    *size_bytes = 0;
    while (bytes) {
        *size_bytes += fread(bytes + *size_bytes, 1, capacity - *size_bytes, file);
        if (*size_bytes < capacity || capacity > FILE_MAX)
            break;
        capacity *= 2;
        larger = realloc(bytes, capacity);
        if (!larger)
            free(bytes);
        bytes = larger;
    }
    return bytes;
}

enum mt_result file_text(const char *path, struct arena *arena, const char **text,
                         size_t *size_bytes, struct mt_error *error)
{
    FILE *file = fopen(path, "rb");
    enum mt_result result = MT_OK;
    char *bytes;

    if (!file)
        return mt_error_set(error, errno == ENOENT ? MT_NOT_FOUND : MT_IO, "%s: %s", path,
                            strerror(errno));
    bytes = read_rest(file, size_bytes);
    if (ferror(file))
        result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    else if (*size_bytes > FILE_MAX)
        result =
            mt_error_set(error, MT_USAGE, "%s: larger than 16 MiB: this is no such file", path);
    *text = bytes && result == MT_OK ? arena_text(arena, bytes, *size_bytes) : NULL;
    if (result == MT_OK && !*text)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    free(bytes);
    fclose(file);
    return result;
}

static enum mt_result policy_read(struct policy *policy, struct mt_error *error)
{
    struct reading reading = {.policy = policy, .error = error};
    struct toml_node *root = NULL;
    const char *text;
    size_t size_bytes;
    enum mt_result result = file_text(policy->path, &policy->arena, &text, &size_bytes, error);

    if (result == MT_OK)
        result = toml_read(policy->path, text, size_bytes, &policy->arena, &root, error);
    return result == MT_OK ? read_policy(&reading, root) : result;
}

enum mt_result policy_open(const char *path, struct policy **out, struct mt_error *error)
{
    struct policy *policy = calloc(1, sizeof(*policy));
    enum mt_result result = MT_NO_MEMORY;

    if (policy) {
        arena_init(&policy->arena);
        policy->path = arena_text(&policy->arena, path, strlen(path));
        policy->require.warm_up_steps = -1;
        policy->require.is_complete_needed = true;
        policy->leak.chance_max = 0.01;
        policy->leak.allows_caches = true;
    }
    if (!policy || !policy->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to read %s", path);
    else
        result = policy_read(policy, error);
    if (result != MT_OK) {
        policy_close(policy);
        return result;
    }
    *out = policy;
    return MT_OK;
}

void policy_close(struct policy *policy)
{
    if (!policy)
        return;
    arena_release(&policy->arena);
    free(policy);
}
