/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through whom was memory asked for? What was held at the peak and at the end, by call stack: from
 * the start of the program inward, and from who asked outward.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "cxx_name.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_order.h"
#include "origins.h"
#include "path_text.h"
#include "plain_analyses.h"
#include "readable_name.h"
#include "text_builder.h"

enum { detailed_ledgers = 3, names_depth_most = 40, name_most_bytes = 96 };

struct stacks {
    const struct question *question;
    struct report *report;
    struct call_tree tree;
    struct report_table *table;
    struct call_bytes whole; /* of the ledger */
    size_t row_count, left_out;
};

static unsigned percent(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)(((unsigned __int128)part * 100 + whole / 2) / whole) : 0;
}

/* "  forward (net.py:12)": the deeper, the further to the right. */
static const char *indented(const struct stacks *stacks, const struct symbol_frame *frame,
                            unsigned depth)
{
    const char *file = frame->is_python ? short_path(frame->file) : path_base(frame->file);
    struct text_builder text;
    const char *name;

    text_init(&text);
    text_add_char(&text, ' ', 2 * (depth < names_depth_most ? depth : names_depth_most));
    add_short_name(&text, frame->function, name_most_bytes);
    if (*file && frame->line)
        text_add_format(&text, " (%s:%" PRIu32 ")", file, frame->line);
    else if (*file || (*frame->module &&
                       strncmp(frame->function, frame->module, strlen(frame->module)) != 0))
        text_add_format(&text, " (%s)", *file ? file : frame->module);
    name = report_text(stacks->report, "%s", text_get(&text));
    text_release(&text);
    return name;
}

static void add_row(struct stacks *stacks, const struct call_node *node, unsigned depth)
{
    const struct symbol_frame *frame = &node->frame;
    const struct field fields[] = {
        {"peak_bytes", "at the peak", value_bytes(node->bytes.at_peak)},
        {"peak_percent", "share",
         value_number(VALUE_PERCENT, percent(node->bytes.at_peak, stacks->whole.at_peak))},
        {"end_bytes", "at the end", value_bytes(node->bytes.at_end)},
        {"end_percent", "share",
         value_number(VALUE_PERCENT, percent(node->bytes.at_end, stacks->whole.at_end))},
        {"call", "function", value_text(indented(stacks, frame, depth))},
        {"function", NULL, value_text(frame->function)},
        {"file", NULL, *frame->file ? value_text(frame->file) : value_none()},
        {"line", NULL, frame->line ? value_count(frame->line) : value_none()},
        {"module", NULL, *frame->module ? value_text(frame->module) : value_none()},
        {"depth", NULL, value_count(depth + 1)},
    };

    report_row(stacks->report, stacks->table, fields, sizeof(fields) / sizeof(fields[0]));
    stacks->row_count++;
}

static bool is_large_enough(const struct stacks *stacks, const struct call_bytes *bytes)
{
    unsigned least = stacks->question->least_percent;

    return percent(bytes->at_peak, stacks->whole.at_peak) >= least ||
           percent(bytes->at_end, stacks->whole.at_end) >= least;
}

/* Children largest first, each followed by its own. */
static void add_rows(struct stacks *stacks, uint32_t parent, unsigned depth)
{
    const struct question *question = stacks->question;
    size_t count;
    uint32_t *children;

    if (question->stack_depth && depth >= question->stack_depth)
        return;
    children = call_tree_children(&stacks->tree, parent, &count);
    for (size_t i = 0; i < count; i++) {
        const struct call_node *node = call_tree_at(&stacks->tree, children[i]);

        if (!is_large_enough(stacks, &node->bytes) ||
            (question->top && stacks->row_count >= question->top)) {
            stacks->left_out++;
            continue;
        }
        add_row(stacks, node, depth);
        add_rows(stacks, children[i], depth + 1);
    }
    free(children);
}

static void fill_tree(struct stacks *stacks, uint16_t ledger)
{
    const struct question *question = stacks->question;

    for (size_t i = 1; i < tally_group_count(question->tally); i++) {
        const struct group *group = tally_group_at(question->tally, i);
        const struct group_detail *detail = tally_detail_at(question->tally, i);
        struct call_bytes bytes = {group_at_peak(question->tally, i).bytes, group->live_bytes};
        const struct symbol_frame *frames;
        size_t count;

        if (group->ledger != ledger || (!bytes.at_peak && !bytes.at_end))
            continue;
        frames = symbols_frames(question->symbols, detail->site, &count);
        if (count)
            call_tree_add(&stacks->tree, frames, count, bytes);
        else
            call_tree_add(&stacks->tree,
                          &(struct symbol_frame){
                              .function = label_who(
                                  question, report_arena(stacks->report),
                                  (struct who){0, detail->operator_text, detail->owner_text, 0}),
                              .file = "",
                              .module = "",
                              .is_telling = true,
                          },
                          1, bytes);
    }
}

/* The largest branch of a tree where none has half. */
static void say_largest(struct stacks *stacks, uint16_t ledger)
{
    size_t count;
    uint32_t *children = call_tree_children(&stacks->tree, 0, &count);
    const struct call_node *largest = count ? call_tree_at(&stacks->tree, children[0]) : NULL;

    if (largest)
        report_verdict(stacks->report, RANK_PEAK,
                       "No branch of the calls had half of %s at its peak; the largest, %s, had "
                       "%s (%u %%).",
                       label_ledger(stacks->question, report_arena(stacks->report), ledger),
                       indented(stacks, &largest->frame, 0),
                       label_size(report_arena(stacks->report), largest->bytes.at_peak),
                       percent(largest->bytes.at_peak, stacks->whole.at_peak));
    free(children);
}

/* "main > train > forward": as long as one branch has most of the peak. */
static void say_path(struct stacks *stacks, uint16_t ledger)
{
    struct call_bytes held = {0, 0};
    const char *path = "";
    uint32_t node = 0;
    size_t count = 1;

    for (unsigned depth = 0; count && depth < names_depth_most; depth++) {
        uint32_t *children = call_tree_children(&stacks->tree, node, &count);
        const struct call_node *largest = count ? call_tree_at(&stacks->tree, children[0]) : NULL;

        if (!largest || percent(largest->bytes.at_peak, stacks->whole.at_peak) < 50) {
            free(children);
            break;
        }
        node = children[0];
        held = largest->bytes;
        path = report_text(stacks->report, "%s%s%s", path, *path ? " > " : "",
                           largest->frame.function);
        free(children);
    }
    if (node)
        report_verdict(stacks->report, RANK_PEAK,
                       "%s (%u %%) of %s at its peak was asked for through %s.",
                       label_size(report_arena(stacks->report), held.at_peak),
                       percent(held.at_peak, stacks->whole.at_peak),
                       label_ledger(stacks->question, report_arena(stacks->report), ledger), path);
    else
        say_largest(stacks, ledger);
}

static void add_tree(const struct question *question, struct report *report, uint16_t ledger,
                     bool is_bottom_up, bool is_first)
{
    struct stacks stacks = {.question = question, .report = report};
    const char *label = label_ledger(question, report_arena(report), ledger);

    call_tree_init(&stacks.tree, is_bottom_up);
    fill_tree(&stacks, ledger);
    if (stacks.tree.has_failed) {
        report_note(report, 0, "stacks: not enough memory to add them up");
    } else {
        struct ledger_figures figures = ledger_figures_of(question, ledger);

        stacks.whole = call_tree_at(&stacks.tree, 0)->bytes;
        stacks.whole.at_peak += figures.unseen_peak_bytes;
        stacks.whole.at_end += figures.unseen_end_bytes;
        stacks.table = report_ledger_table(
            report, is_bottom_up ? "bottom_up" : "top_down", label,
            report_text(report,
                        is_bottom_up ? "%s from who asked outward to the callers"
                                     : "%s from the start of the program inward",
                        label),
            NULL);
        add_rows(&stacks, 0, 0);
        if (is_first && stacks.whole.at_peak)
            say_path(&stacks, ledger);
        if (stacks.left_out)
            report_table_remark(report, stacks.table, "... and %zu smaller or further branches.",
                                stacks.left_out);
    }
    call_tree_release(&stacks.tree);
}

/* Whether any site of the recording is more than a place. */
static bool has_stacks(const struct question *question)
{
    return model_stack_count(question->model) > 1;
}

void analyse_stacks(const struct question *question, struct report *report)
{
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    if (!order) {
        report_note(report, 0, "stacks: not enough memory to list ledgers");
        return;
    }
    if (!count || !tally_ledger_at(question->tally, order[0])->alloc_count)
        report_verdict(report, RANK_PEAK, "Nothing was allocated.");
    if (!has_stacks(question))
        report_note(report, 0, "the recording has no call stacks: a site is the place of one call");
    for (size_t i = 0; i < count && i < detailed_ledgers; i++) {
        if (!tally_ledger_at(question->tally, order[i])->alloc_count ||
            !ledger_is_detailed(question->tally, order[0], order[i]))
            continue;
        add_tree(question, report, order[i], false, i == 0);
        add_tree(question, report, order[i], true, false);
    }
    free(order);
}
