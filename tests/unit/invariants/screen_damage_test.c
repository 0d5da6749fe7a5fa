/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what a terminal shows: outlets that fill lines, and tables that are laid out.
 */
#include "death.h"
#include "outlet.c"
#include "table_layout.h"

static struct outlet *outlet, *cell, *quoted;
static size_t widths[] = {4, 0};
static struct table_layout layout;

static void make(void)
{
    static const struct terminal_look look = {.columns = 4, .has_colours = true};

    outlet = outlet_create(FOR_TERMINAL, NULL);
    cell = outlet_create(FOR_TERMINAL, NULL);
    quoted = outlet_create(FOR_JSON, NULL);
    outlet_show(outlet, &look);
    outlet_fill_begin(outlet);
    outlet_add(outlet, "one two");
    outlet_fill_end(outlet, 1);
    outlet_add(cell, "a long cell\n");
    outlet_add(quoted, "a long cell");
    layout = (struct table_layout){.widths = widths, .count = 2, .dropped_count = 1};
    table_layout_check(&layout);
}

DAMAGE(make, a_paragraph_in_a_paragraph, outlet_fill_begin(outlet); outlet_fill_begin(outlet))
DAMAGE(make, a_paragraph_that_never_began, outlet_fill_end(outlet, 0))
DAMAGE(make, another_terminal_in_a_paragraph, outlet_fill_begin(outlet);
       outlet_show(outlet, &cell->look))
DAMAGE(make, a_paragraph_after_the_end, outlet_fill_begin(outlet); outlet->fill_start = 1000;
       outlet_fill_end(outlet, 0))
DAMAGE(make, a_paragraph_that_never_ended, outlet_fill_begin(outlet); outlet_destroy(outlet))
DAMAGE(make, a_paragraph_that_is_taken_back, outlet_fill_begin(outlet); outlet_clear(outlet))
DAMAGE(make, a_file_that_is_taken_back, outlet->file = stdout; outlet_clear(outlet))
DAMAGE(make, a_style_that_is_none, outlet_style(outlet, STYLE_COUNT))
DAMAGE(make, a_cell_for_another_reader, outlet_append_short(outlet, quoted, 3))
DAMAGE(make, a_cell_with_colours, cell->look.has_colours = true;
       outlet_append_short(outlet, cell, 3))
DAMAGE(make, lines_of_itself, outlet_append_lines(outlet, outlet, 1))
DAMAGE(make, columns_dropped_and_shown, layout.dropped_count = 2; table_layout_check(&layout))
DAMAGE(make, no_column_left, widths[0] = 0; table_layout_check(&layout))

int main(void)
{
    return deaths_run();
}
