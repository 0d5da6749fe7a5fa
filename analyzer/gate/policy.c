/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy file to rules. Each table of the file has a list of the keys it may have.
 */
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "nearest_name.h"
#include "quantity.h"
#include "sentence.h"
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

/* What stands behind a key, and what it is read into. */
enum key_shape {
    KEY_TABLE,      /* `read` does */
    KEY_LIMIT,      /* a rule of the kind `limit` */
    KEY_BUDGETS,    /* tables in double brackets, each a rule of the kind `limit` */
    KEY_COUNT,      /* int64_t */
    KEY_FLAG,       /* bool */
    KEY_TEXT,       /* const char * */
    KEY_SIZE,       /* uint64_t, bytes */
    KEY_SLOPE,      /* uint64_t, bytes per step */
    KEY_CONFIDENCE, /* double, one minus it */
};

struct key {
    const char *name;
    enum key_shape shape;
    enum rule_kind limit;
    size_t field, line; /* of struct policy; 0: the line is not kept */
    enum mt_result (*read)(struct reading *reading, const struct toml_node *value,
                           const struct scope *scope);
};

#define FIELD(member) offsetof(struct policy, member)

static enum mt_result complain_at(struct reading *reading, const struct toml_node *node,
                                  const char *what)
{
    return mt_error_set(reading->error, MT_USAGE, "%s:%u: %s: %s", reading->policy->path,
                        node->line, node->key ? node->key : "value", translated(what));
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

static enum mt_result read_key(struct reading *reading, const struct key *key,
                               const struct toml_node *value, const struct scope *scope);

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
        result = read_key(reading, key, node, scope);
        if (result != MT_OK)
            return result;
    }
    return MT_OK;
}

/* --- limits ------------------------------------------------------------------------------- */

static const struct {
    const char *rule, *what;
    bool is_share;
} kinds[RULE_KIND_COUNT] = {
#define CHECK(rule, id, sentence, to_do)
#define LIMIT(kind, rule, what, is_share, ...) [kind] = {rule, what, is_share},
#include "rules.def"
#undef LIMIT
#undef CHECK
};

bool kind_is_share(enum rule_kind kind)
{
    return kinds[kind].is_share;
}

const char *kind_rule(enum rule_kind kind)
{
    return kinds[kind].rule;
}

const char *kind_what(enum rule_kind kind)
{
    return kinds[kind].what;
}

static bool amount_read(const char *text, enum rule_kind kind, uint64_t *amount, const char **why)
{
    int64_t share;

    if (!kind_is_share(kind))
        return quantity_size(text, amount, why);
    if (!quantity_percent(text, &share, why))
        return false;
    *why = translated("this share cannot be negative");
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
        {.name = "max"}, {.name = "rel"}, {.name = "floor"}, {.name = "force"}, {0}};

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
        {"peak_live", KEY_LIMIT, .limit = RULE_PEAK_LIVE},
        {"peak_seen", KEY_LIMIT, .limit = RULE_PEAK_SEEN},
        {"peak_reserved", KEY_LIMIT, .limit = RULE_PEAK_RESERVED},
        {"frag", KEY_LIMIT, .limit = RULE_FRAGMENTATION},
        {0},
    };
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.pool);
}

static enum mt_result read_devices(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    static const struct key keys[] = {
        {"peak_live", KEY_LIMIT, .limit = RULE_PEAK_LIVE},
        {"peak_seen", KEY_LIMIT, .limit = RULE_PEAK_SEEN},
        {"peak_reserved", KEY_LIMIT, .limit = RULE_PEAK_RESERVED},
        {"frag", KEY_LIMIT, .limit = RULE_FRAGMENTATION},
        {"unattributed", KEY_LIMIT, .limit = RULE_UNATTRIBUTED},
        {"pool", KEY_TABLE, .read = read_pools},
        {0},
    };
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.device);
}

/* --- [process], [phase.backward], [ranks]
 * -------------------------------------------------------------- */

static enum mt_result read_phases(struct reading *reading, const struct toml_node *value,
                                  const struct scope *scope)
{
    static const struct key keys[] = {{"peak_live", KEY_LIMIT, .limit = RULE_PHASE}, {0}};
    struct scope inner = *scope;

    return read_named_tables(reading, value, keys, &inner, &inner.name);
}

static enum mt_result read_process(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    static const struct key keys[] = {
        {"resident", KEY_LIMIT, .limit = RULE_RESIDENT},
        {"shared_memory", KEY_LIMIT, .limit = RULE_SHARED},
        {"kept_by_malloc", KEY_LIMIT, .limit = RULE_KEPT},
        {0},
    };

    return read_table(reading, value, keys, scope);
}

static enum mt_result read_ranks(struct reading *reading, const struct toml_node *value,
                                 const struct scope *scope)
{
    static const struct key keys[] = {{"imbalance", KEY_LIMIT, .limit = RULE_RANKS}, {0}};

    return read_table(reading, value, keys, scope);
}

/* --- [[site]] and [[owner]] ----------------------------------------------------------------------
 */

/* Keys that say who is meant are read before the one that says how much. */
static enum mt_result read_budget(struct reading *reading, const struct toml_node *table,
                                  enum rule_kind kind)
{
    static const struct key keys[] = {
        {.name = "match"}, {.name = "device"}, {.name = "pool"}, {.name = "live_at_peak"}, {0}};
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

/* --- [require] ------------------------------------------------------------------------------- */

static enum mt_result read_count(struct reading *reading, const struct toml_node *value,
                                 int64_t *count)
{
    if (value->kind != TOML_INTEGER || value->integer < 0 || value->integer > 1000000000)
        return complain_at(reading, value, "a whole number from 0 to 1000000000 is expected");
    *count = value->integer;
    return MT_OK;
}

static enum mt_result read_require(struct reading *reading, const struct toml_node *value,
                                   const struct scope *scope)
{
    static const struct key keys[] = {
        {"steps_min", KEY_COUNT, .field = FIELD(require.steps_min),
         .line = FIELD(require.steps_line)},
        {"warmup", KEY_COUNT, .field = FIELD(require.warm_up_steps)},
        {"trace_complete", KEY_FLAG, .field = FIELD(require.is_complete_needed)},
        {0},
    };

    return read_table(reading, value, keys, scope);
}

/* --- [leak] ---------------------------------------------------------------------------------- */

static enum mt_result read_confidence(struct reading *reading, const struct toml_node *value,
                                      double *chance_max)
{
    if (value->kind != TOML_FRACTION || value->fraction < 0.99 || value->fraction >= 1)
        return complain_at(reading, value, "a number from 0.99 to below 1 is expected");
    *chance_max = 1 - value->fraction;
    return MT_OK;
}

static enum mt_result read_slope(struct reading *reading, const struct toml_node *value,
                                 uint64_t *slope)
{
    const char *why;

    if (value->kind != TOML_STRING)
        return complain_at(reading, value, "a slope is a text, like \"64 KiB/step\"");
    return quantity_size_per_step(value->text, slope, &why) ? MT_OK
                                                            : complain_at(reading, value, why);
}

static enum mt_result read_leak(struct reading *reading, const struct toml_node *value,
                                const struct scope *scope)
{
    static const struct key keys[] = {
        {"confidence", KEY_CONFIDENCE, .field = FIELD(leak.chance_max)},
        {"min_slope", KEY_SLOPE, .field = FIELD(leak.slope_min)},
        {"allow_cache_growth", KEY_FLAG, .field = FIELD(leak.allows_caches)},
        {"window_growth", KEY_SIZE, .field = FIELD(leak.window_growth),
         .line = FIELD(leak.window_line)},
        {0},
    };

    reading->policy->leak.is_asked = true;
    reading->policy->leak.line = value->line;
    return read_table(reading, value, keys, scope);
}

/* --- [baseline] and [suppress] --------------------------------------------------------------- */

static enum mt_result read_baseline(struct reading *reading, const struct toml_node *value,
                                    const struct scope *scope)
{
    static const struct key keys[] = {{"file", KEY_TEXT, .field = FIELD(baseline_path)},
                                      {"runs", KEY_TEXT, .field = FIELD(baseline_path)},
                                      {"last", KEY_COUNT, .field = FIELD(baseline_runs_most)},
                                      {0}};

    return read_table(reading, value, keys, scope);
}

static enum mt_result read_suppress(struct reading *reading, const struct toml_node *value,
                                    const struct scope *scope)
{
    static const struct key keys[] = {{"file", KEY_TEXT, .field = FIELD(suppressions_path)}, {0}};

    return read_table(reading, value, keys, scope);
}

/* --- a value, as the row of its key says ------------------------------------------------------ */

static enum mt_result read_key(struct reading *reading, const struct key *key,
                               const struct toml_node *value, const struct scope *scope)
{
    void *field = (char *)reading->policy + key->field;

    if (key->line)
        *(unsigned *)((char *)reading->policy + key->line) = value->line;
    switch (key->shape) {
    case KEY_TABLE:
        return key->read(reading, value, scope);
    case KEY_LIMIT:
        return add_rule(reading, key->limit, value, scope);
    case KEY_BUDGETS:
        return read_budgets(reading, value, key->limit);
    case KEY_COUNT:
        return read_count(reading, value, field);
    case KEY_FLAG:
        return read_boolean(reading, value, field);
    case KEY_TEXT:
        return read_text(reading, value, field);
    case KEY_SIZE:
        return read_amount(reading, value, RULE_PEAK_LIVE, field);
    case KEY_SLOPE:
        return read_slope(reading, value, field);
    case KEY_CONFIDENCE:
        return read_confidence(reading, value, field);
    }
    return MT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum mt_result read_policy(struct reading *reading, const struct toml_node *root)
{
    static const struct key keys[] = {
        {"require", KEY_TABLE, .read = read_require},
        {"device", KEY_TABLE, .read = read_devices},
        {"leak", KEY_TABLE, .read = read_leak},
        {"site", KEY_BUDGETS, .limit = RULE_SITE},
        {"owner", KEY_BUDGETS, .limit = RULE_OWNER},
        {"phase", KEY_TABLE, .read = read_phases},
        {"process", KEY_TABLE, .read = read_process},
        {"ranks", KEY_TABLE, .read = read_ranks},
        {"baseline", KEY_TABLE, .read = read_baseline},
        {"suppress", KEY_TABLE, .read = read_suppress},
        {0},
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
        result = mt_error_set(error, MT_USAGE,
                              "%s: larger than 16 MiB, the limit for files of a gate", path);
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
        policy->leak.chance_max = 1;
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
    if (MT_ASSERTS)
        policy_check(policy);
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
