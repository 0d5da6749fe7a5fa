/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widths of columns. Where they do not fit, what repeats goes first, unless it alone says who; then
 * columns go by their rank until the rest does with its texts cut to a length that still says
 * something, and only then those that say how much. Texts get what room is left.
 */
#include "table_layout.h"

#include <stdlib.h>

#include "column_ranks.h"
#include "leaktide/invariant.h"
#include "report_writers.h"

enum { TEXT_LEAST = 24, TEXT_LEAST_OF_ALL = 8, SERIES_LEAST = 8 };

/* The first value of a column that is known; NULL when none is. */
static const struct value *first_known(const struct report *report, size_t table, size_t column)
{
    struct report_table_view view = report_table_at(report, table);

    for (size_t i = 0; i < view.row_count; i++) {
        const struct value *value = &report_row_at(report, table, i)[column];

        if (value->kind != VALUE_NONE && value->kind != VALUE_STACK)
            return value;
    }
    return NULL;
}

static size_t column_width(const struct report *report, size_t table, size_t column,
                           const struct alike_rows *alike, struct outlet *scratch)
{
    struct report_table_view view = report_table_at(report, table);
    size_t width = text_width(view.columns[column].title);

    for (size_t i = 0; i < view.row_count; i++) {
        size_t cell;

        outlet_clear(scratch);
        report_put_value(scratch, &report_row_at(report, table, i)[column], SERIES_MOST);
        alike_rows_put(alike, i, column, scratch);
        cell = outlet_width(scratch);
        width = cell > width ? cell : width;
    }
    return width;
}

static bool is_word(const struct value *value)
{
    return value_is_text(value) || value->kind == VALUE_SERIES || value->kind == VALUE_FLAG;
}

static size_t least_of(size_t width, size_t least)
{
    return width < least ? width : least;
}

static size_t width_of(const size_t *widths, size_t count)
{
    size_t all = 0, shown = 0;

    for (size_t c = 0; c < count; c++) {
        all += widths[c];
        shown += widths[c] != 0;
    }
    return LAYOUT_INDENT + all + (shown ? (shown - 1) * LAYOUT_GAP : 0);
}

/* The leftmost of what repeats, where no column shown says who; their count where one does. */
static size_t column_that_says_who(const struct report_table_view *view, const size_t *widths)
{
    size_t repeats = view->column_count;

    for (size_t c = view->column_count; c-- > 0;) {
        enum column_rank rank = column_rank(view->columns[c].key);

        if (widths[c] && rank == RANK_WHO)
            return view->column_count;
        if (widths[c] && rank == RANK_REPEATS)
            repeats = c;
    }
    return repeats;
}

/* The one of this rank or more that goes first; their count when there is none, or one is left. */
static size_t column_to_drop(const struct report_table_view *view, const size_t *widths,
                             enum column_rank least_rank)
{
    size_t worst = view->column_count, shown = 0, who = column_that_says_who(view, widths);
    enum column_rank worst_rank = least_rank;

    for (size_t c = 0; c < view->column_count; c++) {
        enum column_rank rank = column_rank(view->columns[c].key);

        if (!widths[c])
            continue;
        shown++;
        if (rank < worst_rank || c == who)
            continue;
        worst = c;
        worst_rank = rank;
    }
    return shown > 1 ? worst : view->column_count;
}

/* Until these widths fit. */
static void drop(struct table_layout *layout, const struct report_table_view *view, size_t *least,
                 const size_t *widths, size_t columns, enum column_rank least_rank)
{
    while (width_of(widths, layout->count) > columns) {
        size_t dropped = column_to_drop(view, widths, least_rank);

        if (dropped == layout->count)
            return;
        least[dropped] = layout->widths[dropped] = 0;
        layout->dropped_count++;
    }
}

/* Texts are cut by turns, the widest first. */
static void shorten(struct table_layout *layout, const size_t *least, size_t columns)
{
    while (width_of(layout->widths, layout->count) > columns) {
        size_t widest = layout->count;

        for (size_t c = 0; c < layout->count; c++)
            if (layout->widths[c] > least[c] &&
                (widest == layout->count || layout->widths[c] > layout->widths[widest]))
                widest = c;
        if (widest == layout->count)
            return;
        layout->widths[widest]--;
        layout->is_shortened |= widest != layout->prose;
    }
}

static void fit(struct table_layout *layout, const struct report_table_view *view, size_t *least,
                size_t columns)
{
    drop(layout, view, least, layout->widths, columns, RANK_REPEATS);
    drop(layout, view, least, least, columns, RANK_USUAL);
    for (size_t c = 0; c < layout->count; c++)
        if (layout->lefts[c])
            least[c] = least_of(least[c], TEXT_LEAST_OF_ALL);
    drop(layout, view, least, least, columns, RANK_HOW_MUCH);
    shorten(layout, least, columns);
}

void table_layout_check(const struct table_layout *layout)
{
    size_t shown = 0;

    for (size_t c = 0; c < layout->count; c++)
        shown += layout->widths[c] != 0;
    MT_ASSERT(shown + layout->dropped_count <= layout->count);
    MT_ASSERT(shown || !layout->dropped_count); /* one column stays */
}

bool table_layout_make(struct table_layout *layout, const struct report *report, size_t table,
                       const struct alike_rows *alike, size_t columns, struct outlet *scratch)
{
    struct report_table_view view = report_table_at(report, table);
    size_t count = view.column_count, *least = calloc(count, sizeof(*least));

    *layout = (struct table_layout){.widths = calloc(count, sizeof(size_t)),
                                    .lefts = calloc(count, sizeof(bool)),
                                    .count = count,
                                    .prose = count};
    if (count && column_is_prose(view.columns[count - 1].key))
        layout->prose = count - 1;
    for (size_t c = 0; least && layout->widths && layout->lefts && c < count; c++) {
        const struct value *known = view.columns[c].title ? first_known(report, table, c) : NULL;

        if (!known)
            continue;
        layout->widths[c] = column_width(report, table, c, alike, scratch);
        layout->lefts[c] = is_word(known);
        least[c] = layout->widths[c];
        if (value_is_text(known))
            least[c] = least_of(least[c], TEXT_LEAST);
        if (known->kind == VALUE_SERIES)
            least[c] = least_of(least[c], SERIES_LEAST);
    }
    if (columns && least && layout->widths && layout->lefts)
        fit(layout, &view, least, columns);
    if (least && layout->widths)
        table_layout_check(layout);
    free(least);
    return least && layout->widths && layout->lefts;
}

void table_layout_release(struct table_layout *layout)
{
    free(layout->widths);
    free(layout->lefts);
}
