/* SPDX-License-Identifier: Apache-2.0 */
#include "why_table.h"

#include <inttypes.h>
#include <string.h>

/* What people are not shown has no title. */
static const char *title(const struct question *question, const char *words)
{
    return question->why ? words : NULL;
}

static bool is_asked_for(const struct question *question, const char *name)
{
    return !question->why || strstr(name, question->why);
}

static void add_why(const struct question *question, struct report *report,
                    struct report_table *table, const struct why *why, const char *name)
{
    struct arena *texts = report_arena(report);
    bool is_of_stack = why->births > 0;
    const struct field fields[] = {
        {"site", title(question, "site"), value_site(name)},
        {"rule", NULL, value_word(why_word(why->rule))},
        {"why", title(question, "why"), value_text(why_sentence(texts, why))},
        {"left_bytes", title(question, "left"), value_bytes(why->left_bytes)},
        {"birth_count", title(question, "births"),
         is_of_stack ? value_count(why->births) : value_none()},
        {"overdue_count", title(question, "older"), value_count(why->count)},
        {"oldest_freed_birth_count", NULL,
         is_of_stack ? value_count(why->freed_age) : value_none()},
        {"oldest_freed_step_count", NULL, is_of_stack ? value_none() : value_count(why->freed_age)},
        {"measured", NULL, value_count(why->measured)},
        {"needed", NULL, value_count(why->needed)},
        {"judged_by", NULL, value_word(is_of_stack ? "stack" : "steps")},
        {"ledger", title(question, "ledger"),
         value_text(label_ledger(question, texts, why->ledger))},
        {"stack", NULL, value_stack_of(question, report, why->who)},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_stacks(const struct question *question, struct report *report,
                       struct report_table *table, const struct why_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = label_who(question, report_arena(report), list->rows[i].who);

        if (is_asked_for(question, name))
            add_why(question, report, table, &list->rows[i], name);
    }
}

static void add_sites(const struct question *question, struct report *report,
                      struct report_table *table, const struct verdict *verdict)
{
    const struct judged_list *sites = verdict->sites;

    for (size_t i = 0; i < sites->count && i < WHY_ROWS_MOST; i++) {
        struct why why = verdict_why_of(&sites->rows[i], growth_steps_needed(question));

        if (is_asked_for(question, sites->rows[i].name))
            add_why(question, report, table, &why, sites->rows[i].name);
    }
}

static void add_whys(const struct question *question, struct report *report,
                     const struct verdict *verdict)
{
    struct report_table *table = report_table(report, "why", "Why", NULL);

    if (!verdict->is_by_stacks)
        add_sites(question, report, table, verdict);
    for (size_t i = 0; verdict->survivors && i < verdict->survivors->process_count; i++)
        add_stacks(question, report, table, &verdict->survivors->processes[i].whys);
}

static void add_doubts(const struct question *question, struct report *report,
                       const struct verdict *verdict)
{
    struct arena *texts = report_arena(report);
    struct report_table *table =
        report_table(report, "doubts", "What cannot be said, and what to do", NULL);

    for (size_t i = 0; i < verdict->doubt_count; i++) {
        const struct doubt *doubt = &verdict->doubts[i];
        const struct field fields[] = {
            {"doubt", title(question, "doubt"), value_word(doubt_word(doubt->kind))},
            {"sentence", title(question, "sentence"),
             value_text(doubt_sentence(question, texts, doubt))},
            {"bytes", NULL, doubt->bytes ? value_bytes(doubt->bytes) : value_none()},
            {"process", NULL, value_text(label_process(question, texts, doubt->process))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

void why_tables_add(const struct question *question, struct report *report,
                    const struct verdict *verdict)
{
    add_doubts(question, report, verdict);
    add_whys(question, report, verdict);
}
