/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for a terminal: verdict first, then what was looked at, findings, tables, and what is
 * missing. Numbers to the right, words to the left, two blanks between columns.
 */
#include <string.h>

#include "cxx_name.h"
#include "report_writers.h"
#include "sentence.h"
#include "table_layout.h"
#include "text_builder.h"

enum { stacks_most = 3, stack_indent = 6, function_most_bytes = 120 };
enum { path_least = 24, line_number_most = 7, table_least = 7 };

/* Names of C++ fill pages; the whole is in the JSON. */
static void add_function(struct outlet *out, const char *function)
{
    struct text_builder name;

    text_init(&name);
    add_short_name(&name, function, function_most_bytes);
    outlet_words(out, text_get(&name));
    text_release(&name);
}

/* In the rest of the frame's line, or, if that is not much, in one of its own. 0: any. */
static size_t room_for_path(const struct outlet *out, const struct report_frame *frame)
{
    size_t columns = outlet_columns(out), taken = stack_indent + LAYOUT_GAP + line_number_most;
    size_t function = text_width(frame->function);

    if (!columns)
        return 0;
    if (function > function_most_bytes)
        function = function_most_bytes;
    if (taken + function + path_least > columns)
        function = LAYOUT_GAP;
    return columns > taken + function + path_least ? columns - taken - function
                                                   : (size_t)path_least;
}

/* "forward  net.py:12", "forward  (net.so)" */
static void add_frame(struct outlet *out, const struct report_frame *frame)
{
    add_function(out, frame->function);
    if (*frame->file) {
        outlet_add(out, "  ");
        outlet_place(out, frame->file, frame->line, room_for_path(out, frame));
    } else if (*frame->module &&
               strncmp(frame->function, frame->module, strlen(frame->module)) != 0) {
        outlet_add(out, "  (");
        outlet_words(out, frame->module);
        outlet_add(out, ")");
    }
    outlet_add_either(out, frame->is_inlined, "  inlined\n", "\n");
}

/* Where a stretch of folded frames ends that begins here; here, if the frame is not folded. */
static const struct report_stack *folded_end(const struct report_stack *at)
{
    while (at && at->frame->folded_as)
        at = at->caller;
    return at;
}

static size_t frames_between(const struct report_stack *first, const struct report_stack *end)
{
    return first->depth - (end ? end->depth : 0);
}

/* What the frames of a stretch are folded as, each name once; NULL: there are fewer. */
static const char *folded_as(const struct report_stack *first, const struct report_stack *end,
                             size_t index)
{
    for (const struct report_stack *at = first; at != end; at = at->caller) {
        const struct report_stack *before = first;

        while (before != at && strcmp(before->frame->folded_as, at->frame->folded_as) != 0)
            before = before->caller;
        if (before == at && !index--)
            return at->frame->folded_as;
    }
    return NULL;
}

/* "... 12 frames of the allocator, the C and C++ libraries" */
static void add_folded(struct outlet *out, const struct report_stack *first,
                       const struct report_stack *end)
{
    size_t count = frames_between(first, end);
    const char *whose;

    if (count == 1)
        outlet_sentence(out, "... %zu frame of ", count);
    else
        outlet_sentence(out, "... %zu frames of ", count);
    for (size_t i = 0; (whose = folded_as(first, end, i)); i++)
        outlet_format(out, "%s%s", i ? ", " : "", translated(whose));
    outlet_add(out, "\n");
}

/* One frame in a line, innermost first; stretches of what is folded are one line. */
static void add_stack(struct outlet *out, const struct report_stack *stack, size_t indent)
{
    const struct report_stack *next;

    for (const struct report_stack *at = stack; at; at = next) {
        next = folded_end(at);
        outlet_fill_begin(out);
        outlet_blanks(out, indent);
        if (next != at) {
            add_folded(out, at, next);
        } else {
            add_frame(out, at->frame);
            next = at->caller;
        }
        outlet_fill_end(out, indent + LAYOUT_GAP);
    }
}

/* Facts have room for the exact number. */
static void add_fact_value(struct outlet *out, const struct value *value)
{
    if (value->kind == VALUE_BYTES)
        outlet_amount(out, text_add_size_exact, value->number);
    else
        report_put_value(out, value, SERIES_MOST);
}

/* A block of the answer, made apart: it may have to stay away for lack of lines. */
struct page {
    struct outlet *out, *block, *cell;
    const struct report_shown *shown;
    size_t lines;      /* so far */
    size_t left_count; /* blocks that stay away */
    bool is_cut;       /* columns, or parts of names */
};

static size_t line_count(const struct outlet *block)
{
    size_t size_bytes, count = 0;
    const char *text = outlet_text(block, &size_bytes);

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Of a table, its title, its columns and some rows are worth showing. */
static bool may_be_cut(const struct page *page, bool is_table)
{
    return is_table && !page->left_count && page->lines + table_least <= page->shown->lines;
}

/*
 * The block goes out when there is room for it and all before it, or it must; of a table, what
 * there is room for.
 */
static void page_add(struct page *page, bool must, bool is_table)
{
    size_t lines = line_count(page->block), room = lines;

    if (page->shown->lines && !must &&
        (page->left_count || page->lines + lines > page->shown->lines)) {
        room = may_be_cut(page, is_table) ? page->shown->lines - page->lines : 0;
        page->left_count += lines != 0;
    }
    outlet_append_lines(page->out, page->block, room);
    page->lines += room;
    outlet_clear(page->block);
}

static void add_cell(struct outlet *out, const struct table_layout *layout, size_t column,
                     const struct outlet *cell)
{
    size_t width = outlet_width(cell), room = layout->widths[column], blanks;

    if (!room)
        return;
    blanks = width < room ? room - width : 0;
    if (!layout->lefts[column])
        outlet_blanks(out, blanks);
    outlet_append_short(out, cell, column == layout->prose ? width : room);
    if (layout->lefts[column] && column + 1 < layout->count)
        outlet_blanks(out, blanks);
    if (column + 1 < layout->count)
        outlet_blanks(out, LAYOUT_GAP);
}

static void add_titles(struct outlet *out, const struct report_table_view *view,
                       const struct table_layout *layout, struct outlet *cell)
{
    outlet_style(out, STYLE_FAINT);
    outlet_blanks(out, LAYOUT_INDENT);
    for (size_t c = 0; c < view->column_count; c++) {
        outlet_clear(cell);
        outlet_words(cell, view->columns[c].title ? view->columns[c].title : "");
        add_cell(out, layout, c, cell);
    }
    outlet_end_line(out);
    outlet_style(out, STYLE_PLAIN);
}

static enum style cell_style(const struct report_table_view *view, size_t column,
                             const struct value *value)
{
    if (value->kind != VALUE_WORD || strcmp(view->columns[column].key, "verdict") != 0)
        return STYLE_PLAIN;
    return strstr(value->text, "leak") ? STYLE_BAD : STYLE_PLAIN;
}

/* Columns of the terminal before a cell. */
static size_t offset_of(const struct table_layout *layout, size_t column)
{
    size_t offset = LAYOUT_INDENT;

    for (size_t c = 0; c < column && c < layout->count; c++)
        offset += layout->widths[c] ? layout->widths[c] + LAYOUT_GAP : 0;
    return offset;
}

static void add_rows(struct outlet *out, const struct report *report, size_t table,
                     const struct table_layout *layout, const struct alike_rows *alike,
                     struct outlet *cell)
{
    struct report_table_view view = report_table_at(report, table);
    bool has_prose = layout->prose < layout->count && layout->widths[layout->prose];

    for (size_t r = 0; r < view.row_count; r++) {
        if (has_prose)
            outlet_fill_begin(out);
        outlet_blanks(out, LAYOUT_INDENT);
        for (size_t c = 0; c < view.column_count; c++) {
            const struct value *value = &report_row_at(report, table, r)[c];
            enum style style = cell_style(&view, c, value);

            outlet_clear(cell);
            report_put_value(cell, value,
                             layout->widths[c] ? layout->widths[c] : (size_t)SERIES_MOST);
            alike_rows_put(alike, r, c, cell);
            if (style != STYLE_PLAIN)
                outlet_style(out, style);
            add_cell(out, layout, c, cell);
            if (style != STYLE_PLAIN)
                outlet_style(out, STYLE_PLAIN);
        }
        outlet_end_line(out);
        if (has_prose)
            outlet_fill_end(out, offset_of(layout, layout->prose));
    }
}

static bool is_column(const struct report_table_view *view, size_t column, const char *key)
{
    return strcmp(view->columns[column].key, key) == 0;
}

/* Where the first rows come from: "From line 1, train (net.py:12)" and its frames. */
static void add_stacks(struct outlet *out, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t r = 0; r < view.row_count && r < stacks_most; r++) {
        const struct value *row = report_row_at(report, table, r);

        for (size_t c = 0; c < view.column_count; c++) {
            if (row[c].kind != VALUE_STACK)
                continue;
            outlet_fill_begin(out);
            outlet_sentence(out, "  Stack of line %zu", r + 1);
            for (size_t site = 0; site < view.column_count; site++)
                if (is_column(&view, site, "site") && value_is_text(&row[site])) {
                    outlet_add(out, ": ");
                    outlet_words(out, row[site].text);
                }
            outlet_add(out, "\n");
            outlet_fill_end(out, stack_indent);
            add_stack(out, row[c].stack, stack_indent);
        }
    }
}

static void add_filled_table(struct page *page, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);
    size_t columns = page->shown->is_wide ? 0 : outlet_columns(page->block);
    struct table_layout layout;
    struct alike_rows alike;

    if (!alike_rows_make(&alike, report, table))
        outlet_fail(page->out);
    if (table_layout_make(&layout, report, table, &alike, columns, page->cell)) {
        add_titles(page->block, &view, &layout, page->cell);
        add_rows(page->block, report, table, &layout, &alike, page->cell);
        add_stacks(page->block, report, table);
    } else {
        outlet_fail(page->out);
    }
    page->is_cut |= layout.dropped_count || layout.is_shortened;
    table_layout_release(&layout);
    alike_rows_release(&alike);
}

static void add_title(struct outlet *out, const char *title)
{
    outlet_add(out, "\n");
    outlet_fill_begin(out);
    outlet_style(out, STYLE_STRONG);
    outlet_words(out, title);
    outlet_style(out, STYLE_PLAIN);
    outlet_add(out, "\n");
    outlet_fill_end(out, LAYOUT_INDENT);
}

/* A sentence of a paragraph of its own, two blanks in. */
static void add_line(struct outlet *out, const char *sentence)
{
    outlet_fill_begin(out);
    outlet_format(out, "  %s\n", sentence);
    outlet_fill_end(out, LAYOUT_INDENT);
}

static void add_table(struct page *page, const struct report *report, size_t table, bool is_first)
{
    struct report_table_view view = report_table_at(report, table);

    if (!report_tells_table(page->shown, &view))
        return;
    add_title(page->block, view.title);
    if (view.row_count)
        add_filled_table(page, report, table);
    else
        add_line(page->block, view.when_empty);
    for (size_t i = 0; i < view.remark_count; i++)
        add_line(page->block, report_remark_at(report, table, i));
    page_add(page, is_first, true);
}

static void add_facts(struct outlet *out, const struct report *report)
{
    bool is_first = true;
    size_t width = 0;

    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (fact->title && text_width(fact->title) > width)
            width = text_width(fact->title);
    }
    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (!fact->title)
            continue;
        outlet_add_either(out, is_first, "\n", "");
        is_first = false;
        outlet_fill_begin(out);
        outlet_words(out, fact->title);
        outlet_blanks(out, width - text_width(fact->title) + LAYOUT_GAP);
        add_fact_value(out, &fact->value);
        outlet_end_line(out);
        outlet_fill_end(out, width + LAYOUT_GAP);
    }
}

/* One of a finding, and the share of all that are written as this one. */
struct shown_stack {
    const struct report_stack *stack;
    bool has_share;
    uint64_t percent;
};

static bool is_folded_alike(const struct report_stack *a, const struct report_stack *a_end,
                            const struct report_stack *b, const struct report_stack *b_end)
{
    const char *whose;
    size_t i = 0;

    if (frames_between(a, a_end) != frames_between(b, b_end))
        return false;
    for (; (whose = folded_as(a, a_end, i)); i++) {
        const char *other = folded_as(b, b_end, i);

        if (!other || strcmp(whose, other) != 0)
            return false;
    }
    return !folded_as(b, b_end, i);
}

/* They differ, if at all, in what is folded. */
static bool is_written_alike(const struct report_stack *a, const struct report_stack *b)
{
    while (a && b) {
        const struct report_stack *a_end = folded_end(a), *b_end = folded_end(b);

        if (a_end == a && b_end == b) {
            if (a->frame != b->frame)
                return false;
            a_end = a->caller;
            b_end = b->caller;
        } else if (a_end == a || b_end == b || !is_folded_alike(a, a_end, b, b_end)) {
            return false;
        }
        a = a_end;
        b = b_end;
    }
    return a == b;
}

static size_t shown_put(struct shown_stack *shown, size_t count, struct shown_stack stack)
{
    for (size_t i = 0; i < count; i++) {
        if (is_written_alike(shown[i].stack, stack.stack)) {
            shown[i].percent += stack.percent;
            return count;
        }
    }
    if (count < stacks_most)
        shown[count++] = stack;
    return count;
}

/* Those of a finding that are written in different ways, at most stacks_most. The share of a stack
 * is the fact before it. */
static size_t shown_stacks(const struct finding *finding, struct shown_stack *shown)
{
    size_t count = 0;

    for (size_t i = 0; i < finding->fact_count; i++) {
        const struct value *value = &finding->facts[i].value;
        struct shown_stack stack = {.stack = value->stack};

        if (value->kind != VALUE_STACK || !value->stack)
            continue;
        if (i && finding->facts[i - 1].value.kind == VALUE_PERCENT) {
            stack.has_share = true;
            stack.percent = finding->facts[i - 1].value.number;
        }
        count = shown_put(shown, count, stack);
    }
    return count;
}

/* "85 %:", where there are several. */
static void add_stacks_of(struct outlet *out, const struct finding *finding)
{
    struct shown_stack shown[stacks_most];
    size_t count = shown_stacks(finding, shown);

    for (size_t i = 0; i < count; i++) {
        bool has_share = count > 1 && shown[i].has_share;

        if (has_share) {
            outlet_blanks(out, stack_indent);
            report_put_value(out,
                             &(struct value){.kind = VALUE_PERCENT, .number = shown[i].percent}, 0);
            outlet_add(out, ":\n");
        }
        add_stack(out, shown[i].stack, has_share ? stack_indent + LAYOUT_GAP : stack_indent);
    }
}

static bool has_stack(const struct finding *finding)
{
    for (size_t i = 0; i < finding->fact_count; i++)
        if (finding->facts[i].value.kind == VALUE_STACK)
            return true;
    return false;
}

/* The only finding is what the verdict says: a screen has better use for its lines. */
static void add_only_finding(struct outlet *out, const struct finding *finding)
{
    if (!has_stack(finding))
        return;
    add_title(out, translated("Call stack"));
    add_stacks_of(out, finding);
}

/* Word for word a sentence of the verdict, and no stack to it. */
static bool is_said(const struct report *report, const struct finding *finding)
{
    for (size_t i = 0; i < report_verdict_count(report); i++)
        if (strcmp(report_verdict_at(report, i), finding->sentence) == 0)
            return !has_stack(finding);
    return false;
}

/* The verdict stands a few lines above: what it says is not said again. */
static void add_findings(struct outlet *out, const struct report *report)
{
    size_t number = 0;

    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        if (is_said(report, finding))
            continue;
        if (!number++)
            add_title(out, translated("Findings"));
        outlet_fill_begin(out);
        outlet_format(out, "  %zu. %s\n", number, finding->sentence);
        outlet_fill_end(out, 5);
        if (i < stacks_most)
            add_stacks_of(out, finding);
    }
}

/* Counts in a column of their own: a sentence then needs no singular and no plural. */
static void add_notes(struct outlet *out, const struct report *report, struct outlet *counted)
{
    size_t width = 0;

    if (!report_note_count(report))
        return;
    add_title(out, translated("Data quality"));
    for (int pass = 0; pass < 2; pass++) { /* measure, then write */
        for (size_t i = 0; i < report_note_count(report); i++) {
            uint64_t count;
            const char *sentence = report_note_at(report, i, &count);

            outlet_clear(counted);
            if (count)
                outlet_amount(counted, text_add_count, count);
            if (pass == 0) {
                width = outlet_width(counted) > width ? outlet_width(counted) : width;
                continue;
            }
            outlet_fill_begin(out);
            outlet_blanks(out, LAYOUT_INDENT + width - outlet_width(counted));
            outlet_append(out, counted);
            outlet_format(out, "%s%s\n", width ? "  " : "", sentence);
            outlet_fill_end(out, LAYOUT_INDENT + width + (width ? LAYOUT_GAP : 0));
        }
    }
}

/* What a narrow or a short terminal does not show. */
static void add_rest(const struct page *page)
{
    struct outlet *out = page->out;

    if (!page->left_count && !page->is_cut)
        return;
    outlet_add(out, "\n");
    outlet_fill_begin(out);
    outlet_style(out, STYLE_FAINT);
    if (page->left_count)
        outlet_sentence(out, "%zu more %s: -v shows all.", page->left_count,
                        page->left_count == 1 ? "part" : "parts");
    if (page->left_count && page->is_cut)
        outlet_add(out, " ");
    if (page->is_cut)
        outlet_sentence(out, "Columns and names are cut to fit: --wide shows all.");
    outlet_style(out, STYLE_PLAIN);
    outlet_end_line(out);
    outlet_fill_end(out, 0);
}

static void add_page(struct page *page, const struct report *report)
{
    bool is_first = true;

    for (size_t i = 0; i < report_verdict_count(report); i++) {
        outlet_fill_begin(page->block);
        outlet_headline(page->block, report_verdict_at(report, i));
        outlet_add(page->block, "\n");
        outlet_fill_end(page->block, LAYOUT_INDENT);
    }
    page_add(page, true, false);
    add_facts(page->block, report);
    page_add(page, true, false);
    if (page->shown->lines && report_finding_count(report) == 1)
        add_only_finding(page->block, report_finding_at(report, 0));
    else if (report_finding_count(report))
        add_findings(page->block, report);
    page_add(page, !report_table_count(report), false);
    for (size_t i = 0; i < report_table_count(report); i++) {
        add_table(page, report, i, is_first);
        is_first = false;
    }
    add_notes(page->block, report, page->cell);
    page_add(page, false, false);
    add_rest(page);
}

void report_write_text(const struct report *report, const struct report_shown *shown,
                       struct outlet *out)
{
    struct page page = {.out = out,
                        .block = outlet_create(FOR_TERMINAL, NULL),
                        .cell = outlet_create(FOR_TERMINAL, NULL),
                        .shown = shown};

    outlet_show(page.block, &shown->look);
    add_page(&page, report);
    if (!outlet_destroy(page.cell))
        outlet_fail(out);
    if (!outlet_destroy(page.block))
        outlet_fail(out);
}
