/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who held the memory at the peak of each ledger, as a tree: framework, component, part.
 *
 *   PTA 56 MiB -- model 24 MiB -- weight 12 MiB
 *              |               `- gradient 12 MiB
 *              `- optimizer@state ...
 *
 * An owner such as "model@weight" is a path; memory of the driver is CANN@ and its module. Children
 * follow their parent, largest first.
 */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "arena.h"
#include "driver_modules.h"
#include "hash.h"
#include "hash_index.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_order.h"
#include "table.h"

static const char no_owner[] = "(no owner)";

enum { NO_PARENT = UINT32_MAX, PATH_MOST = 512 };

struct node {
    uint32_t parent;
    uint16_t ledger;
    uint16_t depth;
    const char *name; /* of this level */
    uint64_t bytes, count, alive_bytes;
};

struct tree {
    struct arena arena;
    struct table nodes;
    struct hash_index index;
    bool has_failed;
};

static void tree_init(struct tree *tree)
{
    memset(tree, 0, sizeof(*tree));
    arena_init(&tree->arena);
    table_init(&tree->nodes, &tree->arena, sizeof(struct node));
    hash_index_init(&tree->index);
}

static void tree_release(struct tree *tree)
{
    hash_index_release(&tree->index);
    arena_release(&tree->arena);
}

static struct node *node_at(const struct tree *tree, uint32_t index)
{
    return table_at(&tree->nodes, index);
}

static bool is_named(const struct node *node, const char *name, size_t length)
{
    return strncmp(node->name, name, length) == 0 && !node->name[length];
}

static uint32_t node_for(struct tree *tree, uint16_t ledger, uint32_t parent, const char *name,
                         size_t length)
{
    uint64_t hash = hash_pair(hash_bytes(name, length), (uint64_t)ledger << 32 | parent);
    size_t probe = 0;
    uint32_t found;
    struct node *node;
    char *copy;

    while (hash_index_next(&tree->index, hash, &probe, &found)) {
        node = node_at(tree, found);
        if (node->parent == parent && node->ledger == ledger && is_named(node, name, length))
            return found;
    }
    found = (uint32_t)tree->nodes.count;
    copy = arena_alloc(&tree->arena, length + 1);
    node = copy ? hash_index_add_row(&tree->index, hash, &tree->nodes) : NULL;
    if (!node) {
        tree->has_failed = true;
        return NO_PARENT;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    *node = (struct node){
        .parent = parent,
        .ledger = ledger,
        .name = copy,
        .depth = parent == NO_PARENT ? 0 : (uint16_t)(node_at(tree, parent)->depth + 1)};
    return found;
}

/* Adds to each level of a path "a@b@c". */
static void path_add(struct tree *tree, uint16_t ledger, const char *path, const struct node *sums)
{
    uint32_t parent = NO_PARENT;

    while (!tree->has_failed) {
        size_t length = strcspn(path, "@");
        struct node *node;

        parent = node_for(tree, ledger, parent, path, length);
        if (tree->has_failed)
            return;
        node = node_at(tree, parent);
        node->bytes += sums->bytes;
        node->count += sums->count;
        node->alive_bytes += sums->alive_bytes;
        if (!path[length])
            return;
        path += length + 1;
    }
}

/* The names that msmemscope gives to what pools belong to. */
static const char *framework_of(const struct question *question, uint16_t pool)
{
    const char *owner = model_pool_at(question->model, pool)->owner;

    return owner ? owner
                 : model_text_at(question->model, model_pool_name_at(question->model, pool));
}

/* Without an owner: the module of the driver, else "(no owner)". */
static const char *component_of(const struct question *question, const struct group_detail *detail)
{
    int32_t module = model_place_at(question->model, detail->place).module;
    const char *name = module < 0 ? NULL : driver_module_name((uint32_t)module);

    if (detail->owner_text)
        return model_text_at(question->model, detail->owner_text);
    return name ? name : no_owner;
}

/* "PTA@model@weight"; an owner that names the framework itself is not named twice. */
static void path_of(const struct question *question, const struct group_detail *detail, char *path)
{
    const char *framework = framework_of(question, detail->pool);
    const char *component = component_of(question, detail);
    size_t length = strlen(framework);
    bool is_whole = strncmp(component, framework, length) == 0 && component[length] == '@';

    if (is_whole)
        snprintf(path, PATH_MOST, "%s", component);
    else
        snprintf(path, PATH_MOST, "%s@%s", *framework ? framework : "(unnamed)", component);
}

static void tree_fill(const struct question *question, struct tree *tree)
{
    char path[PATH_MOST];

    for (size_t i = 1; i < tally_group_count(question->tally); i++) {
        const struct group *group = tally_group_at(question->tally, i);
        struct step_sample held = group_at_peak(question->tally, i);
        struct node sums = {
            .bytes = held.bytes, .count = held.count, .alive_bytes = group->live_bytes};

        if (!sums.bytes && !sums.alive_bytes)
            continue;
        path_of(question, tally_detail_at(question->tally, i), path);
        path_add(tree, group->ledger, path, &sums);
    }
}

static void add_node(const struct question *question, struct report *report,
                     struct report_table *table, const struct tree *tree, uint32_t index,
                     const char *path)
{
    const struct node *node = node_at(tree, index);
    uint64_t whole = ledger_figures_of(question, node->ledger).peak_bytes;
    const struct field fields[] = {
        {"owner", "owner", value_text(path)},
        {"held_bytes", "held", value_bytes(node->bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, node->bytes * 100 / (whole ? whole : 1))},
        {"block_count", "blocks", value_count(node->count)},
        {"alive_bytes", "alive at end", value_bytes(node->alive_bytes)},
        {"ledger", "ledger",
         value_text(label_ledger(question, report_arena(report), node->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static int node_compare(const void *left, const void *right, void *context)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct node *node_a = node_at(context, a), *node_b = node_at(context, b);

    if (node_a->bytes != node_b->bytes)
        return node_a->bytes > node_b->bytes ? -1 : 1;
    return (a > b) - (a < b);
}

/* Nobody of several is worth a row; nobody at all is not. */
static bool is_all_of_it(const struct tree *tree, const struct node *node)
{
    return node->parent != NO_PARENT && strcmp(node->name, no_owner) == 0 &&
           node->bytes == node_at(tree, node->parent)->bytes;
}

/* order: all nodes, largest first. Depth is bounded by the length of a path. */
static void add_children(const struct question *question, struct report *report,
                         struct report_table *table, const struct tree *tree, const uint32_t *order,
                         uint16_t ledger, uint32_t parent, const char *parent_path)
{
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const struct node *node = node_at(tree, order[i]);
        const char *path;

        if (node->parent != parent || node->ledger != ledger || is_all_of_it(tree, node))
            continue;
        path = *parent_path ? report_text(report, "%s@%s", parent_path, node->name) : node->name;
        add_node(question, report, table, tree, order[i], path);
        add_children(question, report, table, tree, order, ledger, order[i], path);
    }
}

void analyse_owner_tree(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "owner_tree", "Owners, at the peak of each ledger", NULL);
    struct tree tree;
    uint32_t *order;
    uint16_t *ledgers;
    size_t count, shown;

    tree_init(&tree);
    tree_fill(question, &tree);
    order = malloc((tree.nodes.count + 1) * sizeof(*order));
    ledgers = ledger_order(question->tally, &count);
    if (order && ledgers && !tree.has_failed) {
        for (size_t i = 0; i < tree.nodes.count; i++)
            order[i] = (uint32_t)i;
        qsort_r(order, tree.nodes.count, sizeof(*order), node_compare, &tree);
        shown = rows_shown(question, count);
        for (size_t i = 0; i < shown; i++)
            add_children(question, report, table, &tree, order, ledgers[i], NO_PARENT, "");
        if (shown < count)
            report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
    } else {
        report_note(report, 0, "breakdown: not enough memory for the owners");
    }
    free(order);
    free(ledgers);
    tree_release(&tree);
}
