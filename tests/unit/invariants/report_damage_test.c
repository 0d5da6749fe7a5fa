/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of an answer, with its insides.
 */
#include <stdint.h>
#include <unistd.h>

#include "death.h"
#include "report.c"

static struct report *report;
static struct report_table *table;

/* One of each. */
static void make(void)
{
    static const uint64_t numbers[] = {1, 2};
    struct field fields[] = {{"site", "Site", value_text("train")},
                             {"bytes", "Bytes", value_bytes(8)}};
    static const struct report_frame frames[] = {
        {.function = "load", .file = "a.c", .module = ""},
        {.function = "main", .file = "a.c", .module = ""},
    };
    struct report_dataset *dataset;

    if (report_create("leaks", &report, NULL) != MT_OK)
        _exit(1);
    report_verdict(report, 1, "LEAK: it grows.");
    report_verdict(report, 2, "It grows much.");
    report_fact(report, "steps", "Steps", value_bytes(8));
    report_finding(report, "leak", "It grows.", fields, 2);
    report_note(report, 1, "A note.");
    table = report_table(report, "sites", "Sites", NULL);
    report_row(report, table, fields, 2);
    report_table_remark(report, table, "A remark.");
    dataset = report_dataset(report, "live", 1);
    report_dataset_numbers(report, dataset, "bytes", numbers, 2);
    report_fact(report, "stack", "Stack", report_stack(report, frames, 2));
    report_check(report);
}

static struct verdict_row *verdict(void)
{
    return table_at(&report->verdicts, 0);
}

static struct field *fact(void)
{
    return table_at(&report->facts, 0);
}

static struct finding *finding(void)
{
    return table_at(&report->findings, 0);
}

static struct report_dataset *dataset(void)
{
    return table_at(&report->datasets, 0);
}

static void row_of(const char *first, size_t count)
{
    struct field fields[] = {{first, "Site", value_text("train")},
                             {"bytes", "Bytes", value_bytes(8)}};

    report_row(report, table, fields, count);
}

#define LOOK(name, ...) DAMAGE(make, name, __VA_ARGS__; report_check(report))

LOOK(broken_value_kind, fact()->value.kind = VALUE_STACK + 1)
LOOK(broken_value_text_missing, fact()->value = value_text(NULL))
LOOK(broken_value_series, fact()->value.kind = VALUE_SERIES;
     fact()->value.series = &(struct report_series){.count = 1})
LOOK(broken_value_stack, fact()->value.kind = VALUE_STACK;
     fact()->value.stack = &(struct report_stack){.depth = 1})
LOOK(stack_depth, ((struct report_stack *)table_at(&report->stacks.stacks, 1))->depth = 1)
LOOK(stack_frame, ((struct report_stack *)table_at(&report->stacks.stacks, 1))->frame = NULL)
LOOK(frame_file, ((struct report_frame *)table_at(&report->stacks.frames, 0))->file = NULL)
LOOK(frame_sources, report->stacks.sources.count = 0)
LOOK(fact_key, fact()->key = "")
LOOK(table_name, table->name = "")
LOOK(table_title, table->title = NULL)
LOOK(table_columns, table->column_count = 0)
LOOK(column_key, table->columns[0].key = "")
LOOK(column_twice, table->columns[0].key = "bytes")
LOOK(remark, *(const char **)table_at(&table->remarks, 0) = NULL)
LOOK(verdict_sentence, verdict()->sentence = "")
LOOK(verdict_rank, verdict()->rank = 3)
LOOK(finding_kind, finding()->kind = NULL)
LOOK(finding_sentence, finding()->sentence = "")
LOOK(note, ((struct note_row *)table_at(&report->notes, 0))->sentence = NULL)
LOOK(outcome, report->outcome = REPORT_FOUND + 1)
LOOK(dataset_columns, dataset()->capacity = 0)
LOOK(dataset_column, dataset()->columns[0].numbers = NULL)
DAMAGE(make, row_too_short, row_of("site", 1))
DAMAGE(make, row_of_other_columns, row_of("owner", 2))

int main(void)
{
    return deaths_run();
}
