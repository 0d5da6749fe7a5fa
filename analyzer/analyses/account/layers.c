/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layer of the model holds the memory: docs/breakdown.md.
 */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "labels.h"
#include "layer_sums.h"
#include "ledger_figures.h"
#include "ledger_order.h"
#include "sentence.h"

struct layer_view {
    const struct question *question;
    struct report *report;
    struct model_layers gathered, cut, joined;
    uint16_t *order; /* of ledgers */
    size_t ledger_count;
};

static int layer_compare(const void *left, const void *right, void *context)
{
    const struct model_layer *a = model_layer_at(context, *(const uint32_t *)left);
    const struct model_layer *b = model_layer_at(context, *(const uint32_t *)right);

    if (a->held_bytes != b->held_bytes)
        return a->held_bytes > b->held_bytes ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Whether any layer of the ledger is known: else a row for what is outside says nothing. */
static bool has_layers(const struct model_layers *layers, uint16_t ledger)
{
    for (size_t i = 0; i < layers->rows.count; i++)
        if (model_layer_at(layers, i)->ledger == ledger && *model_layer_at(layers, i)->path)
            return true;
    return false;
}

/* Of one ledger, largest first: their numbers, for free(). NULL without memory. */
static uint32_t *layers_order(const struct model_layers *layers, uint16_t ledger, size_t *count)
{
    uint32_t *order = malloc((layers->rows.count + 1) * sizeof(*order));

    *count = 0;
    for (size_t i = 0; order && i < layers->rows.count; i++)
        if (model_layer_at(layers, i)->ledger == ledger)
            order[(*count)++] = (uint32_t)i;
    if (order)
        qsort_r(order, *count, sizeof(*order), layer_compare, (void *)layers);
    return order;
}

/* What a 0 of the others may stand for. */
static uint64_t unknown_bytes(const struct model_layer *layer)
{
    return layer->by_category[CATEGORY_UNKNOWN] + layer->by_category[CATEGORY_OLDER];
}

static uint64_t other_bytes(const struct model_layer *layer)
{
    return layer->held_bytes - layer->by_category[CATEGORY_WEIGHTS] -
           layer->by_category[CATEGORY_GRADIENTS] - layer->by_category[CATEGORY_OPTIMIZER] -
           layer->by_category[CATEGORY_ACTIVATIONS] - unknown_bytes(layer);
}

static void add_layer(const struct layer_view *view, struct report_table *table,
                      const struct model_layer *layer)
{
    uint64_t whole = ledger_figures_of(view->question, layer->ledger).peak_bytes;
    const struct field fields[] = {
        {"layer", "layer",
         *layer->path ? value_text(layer->path) : value_unknown(translated("(outside of layers)"))},
        {"layer_count", "layers", *layer->path ? value_count(layer->count) : value_none()},
        {"held_bytes", "held", value_bytes(layer->held_bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, layer->held_bytes * 100 / (whole ? whole : 1))},
        {"weights_bytes", "weights", value_bytes(layer->by_category[CATEGORY_WEIGHTS])},
        {"gradients_bytes", "gradients", value_bytes(layer->by_category[CATEGORY_GRADIENTS])},
        {"optimizer_bytes", "optimizer", value_bytes(layer->by_category[CATEGORY_OPTIMIZER])},
        {"activations_bytes", "activations", value_bytes(layer->by_category[CATEGORY_ACTIVATIONS])},
        {"other_bytes", "other", value_bytes(other_bytes(layer))},
        {"unknown_bytes", "not known", value_bytes(unknown_bytes(layer))},
        {"grown_bytes", "grown", value_change(VALUE_BYTES_CHANGE, layer->grown_bytes)},
        {"alive_bytes", "alive at end", value_bytes(layer->alive_bytes)},
        {"ledger", "ledger",
         value_text(label_ledger(view->question, report_arena(view->report), layer->ledger))},
    };

    report_row(view->report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static bool add_ledger(const struct layer_view *view, struct report_table *table,
                       const struct model_layers *layers, uint16_t ledger)
{
    size_t count, shown;
    uint32_t *order = layers_order(layers, ledger, &count);

    if (!order)
        return false;
    shown = rows_shown(view->question, count);
    for (size_t i = 0; i < shown; i++)
        add_layer(view, table, model_layer_at(layers, order[i]));
    if (shown < count)
        report_table_remark(view->report, table, "... and %zu more layers of %s.", count - shown,
                            label_ledger(view->question, report_arena(view->report), ledger));
    free(order);
    return true;
}

static void fill_table(const struct layer_view *view, struct report_table *table,
                       const struct model_layers *layers)
{
    for (size_t i = 0; i < view->ledger_count; i++)
        if (ledger_matters(view->question->tally, view->order[0], view->order[i]) &&
            has_layers(layers, view->order[i]) && !add_ledger(view, table, layers, view->order[i]))
            report_note(view->report, 0, "layers: not enough memory");
    report_table_remark(view->report, table,
                        "Of a layer whose parts are shown: what it asked for itself. Grown: alive "
                        "when the last judged step ended, less the first.");
}

/* What most of it is for, where it is known. */
static enum category largest_category(const struct model_layer *layer)
{
    enum category best = CATEGORY_UNKNOWN;

    for (int i = 0; i < CATEGORY_UNKNOWN; i++)
        if (layer->by_category[i] > layer->by_category[best])
            best = (enum category)i;
    return best;
}

/* The largest of a ledger that has a path; NULL: none. */
static const struct model_layer *largest_of(const struct model_layers *layers, uint16_t ledger)
{
    const struct model_layer *best = NULL;

    for (size_t i = 0; i < layers->rows.count; i++) {
        const struct model_layer *layer = model_layer_at(layers, i);

        if (layer->ledger == ledger && *layer->path &&
            (!best || layer->held_bytes > best->held_bytes))
            best = layer;
    }
    return best && best->held_bytes ? best : NULL;
}

static const char *label_layer(const struct layer_view *view, const struct model_layer *layer)
{
    if (layer->count < 2)
        return layer->path;
    return report_text(view->report, translated("%s (%zu layers)"), layer->path,
                       (size_t)layer->count);
}

static void add_verdict(const struct layer_view *view, uint16_t ledger)
{
    struct arena *texts = report_arena(view->report);
    const struct model_layer *layer = largest_of(&view->joined, ledger);
    enum category category;

    if (!layer)
        return;
    category = largest_category(layer);
    report_verdict(view->report, RANK_OPERATORS,
                   "LAYERS: %s held %s of the %s of %s at its peak; the most of it: %s, %s.",
                   label_layer(view, layer), label_size(texts, layer->held_bytes),
                   label_size(texts, ledger_figures_of(view->question, ledger).peak_bytes),
                   label_ledger(view->question, texts, ledger), translated(category_name(category)),
                   label_size(texts, layer->by_category[category]));
}

static uint64_t held_by_largest(const struct layer_view *view, uint16_t ledger)
{
    const struct model_layer *layer = largest_of(&view->joined, ledger);

    return layer ? layer->held_bytes : 0;
}

/* Ledgers whose layers hold the most come first: "host" is all that a process asked malloc for, and
 * may be larger than the pool of its framework. */
static void order_by_layers(struct layer_view *view)
{
    for (size_t i = 1; i < view->ledger_count; i++) {
        uint16_t ledger = view->order[i];
        size_t to = i;

        for (; to && held_by_largest(view, view->order[to - 1]) < held_by_largest(view, ledger);
             to--)
            view->order[to] = view->order[to - 1];
        view->order[to] = ledger;
    }
}

static void write_layers(struct layer_view *view)
{
    order_by_layers(view);
    if (view->ledger_count)
        add_verdict(view, view->order[0]);
    if (view->joined.rows.count < view->cut.rows.count)
        fill_table(view,
                   report_table(view->report, "layer_kinds",
                                "Layers that differ in their number alone, at the peak", NULL),
                   &view->joined);
    fill_table(view,
               report_table(view->report, "layers",
                            "Layers of the model, at the peak of each ledger", NULL),
               &view->cut);
}

static bool has_failed(const struct layer_view *view)
{
    return !view->order || view->gathered.has_failed || view->cut.has_failed ||
           view->joined.has_failed;
}

void analyse_layers_if_known(const struct question *question, struct report *report)
{
    struct layer_view view = {.question = question, .report = report};

    if (!model_layers_are_known(question))
        return;
    model_layers_gather(&view.gathered, question);
    model_layers_cut(&view.cut, &view.gathered,
                     question->stack_depth ? question->stack_depth
                                           : model_layers_depth(&view.gathered, question->top));
    model_layers_join(&view.joined, &view.cut);
    view.order = ledger_order(question->tally, &view.ledger_count);
    if (has_failed(&view))
        report_note(report, 0, "layers: not enough memory");
    else
        write_layers(&view);
    free(view.order);
    model_layers_release(&view.joined);
    model_layers_release(&view.cut);
    model_layers_release(&view.gathered);
}

void analyse_layers(const struct question *question, struct report *report)
{
    if (model_layers_are_known(question))
        analyse_layers_if_known(question, report);
    else
        report_verdict(
            report, RANK_OPERATORS,
            "No layers: nothing in the recording says which module of a model asked. "
            "Record with leaktide run --layers=yes; with torch.profiler, with_stack=True.");
}
