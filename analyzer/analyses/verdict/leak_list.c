/* SPDX-License-Identifier: Apache-2.0 */
#include "leak_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_words.h"
#include "list.h"
#include "site_caller.h"
#include "spread_leak.h"
#include "survivor_answers.h"

/* --- names ------------------------------------------------------------------------------------ */

/* Somebody who is judged, by the label that others may have, too. */
struct named {
    const char *label;
    uint32_t site;
    uint16_t ledger;
    uint64_t key;
    const char **name; /* where its own goes */
};

static int named_compare(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->label, b->label);

    if (order || a->ledger == b->ledger)
        return order;
    return a->ledger < b->ledger ? -1 : 1;
}

static size_t alike_from(const struct named *rows, size_t count)
{
    size_t alike = 1;

    while (alike < count && named_compare(&rows[0], &rows[alike]) == 0)
        alike++;
    return alike;
}

static bool is_name_of_other(const struct named *rows, size_t count, size_t own)
{
    for (size_t i = 0; i < count; i++)
        if (i != own && strcmp(*rows[i].name, *rows[own].name) == 0)
            return true;
    return false;
}

/* Who called them; and where that is the same, or they are too many to compare, their keys. */
static void name_alike(const struct question *question, struct arena *arena, struct named *rows,
                       size_t count)
{
    bool are_few = count <= SITES_ALIKE_MOST;
    uint32_t sites[SITES_ALIKE_MOST];

    for (size_t i = 0; are_few && i < count; i++)
        sites[i] = rows[i].site;
    for (size_t i = 0; i < count; i++)
        *rows[i].name =
            arena_format(arena, "%s%s", rows[i].label,
                         are_few ? site_caller(question, arena, rows[i].site, sites, count) : "");
    for (size_t i = 0; i < count; i++)
        if (!are_few || is_name_of_other(rows, count, i))
            *rows[i].name =
                arena_format(arena, "%s [%04" PRIx64 "]", *rows[i].name, rows[i].key & 0xffff);
}

static void name_all(const struct question *question, struct arena *arena, struct named *rows,
                     size_t count)
{
    qsort(rows, count, sizeof(*rows), named_compare);
    for (size_t i = 0; i < count;) {
        size_t alike = alike_from(rows + i, count - i);

        *rows[i].name = rows[i].label;
        if (alike > 1)
            name_alike(question, arena, rows + i, alike);
        i += alike;
    }
}

static struct named named_of(const struct question *question, struct arena *arena, struct who who,
                             uint16_t ledger, const char **name)
{
    return (struct named){.label = leak_who(question, arena, who),
                          .site = who.site,
                          .ledger = ledger,
                          .key = origin_id(question, &who),
                          .name = name};
}

static bool name_sites(const struct question *question, struct arena *arena,
                       const struct judged_list *sites)
{
    struct named *rows = malloc((sites->count + 1) * sizeof(*rows));

    for (size_t i = 0; rows && i < sites->count; i++) {
        struct judged *row = &sites->rows[i];

        rows[i] = named_of(question, arena, row->origin->who, row->origin->ledger, &row->name);
        row->key = rows[i].key;
    }
    if (rows)
        name_all(question, arena, rows, sites->count);
    free(rows);
    return rows != NULL;
}

static bool name_leaks(const struct question *question, struct arena *arena, struct leak *leaks,
                       size_t count)
{
    struct named *rows = malloc((count + 1) * sizeof(*rows));

    for (size_t i = 0; rows && i < count; i++)
        rows[i] = named_of(question, arena, leaks[i].who, leaks[i].ledger, &leaks[i].name);
    if (rows)
        name_all(question, arena, rows, count);
    free(rows);
    return rows != NULL;
}

/* --- leaks ------------------------------------------------------------------------------------ */

static void add(struct leak_list *list, const struct leak *leak)
{
    if (list_has_room(&list->rows, &list->capacity, list->count, sizeof(*list->rows)))
        list->rows[list->count++] = *leak;
    else
        list->has_failed = true;
}

static void add_row(const struct question *question, struct arena *arena, struct leak_list *list,
                    const struct judged *row, bool is_spread)
{
    add(list, &(struct leak){
                  .process = row->steps.process,
                  .ledger = row->origin->ledger,
                  .who = row->origin->who,
                  .name = row->name ? row->name : leak_who(question, arena, row->origin->who),
                  .key = origin_id(question, &row->origin->who),
                  .rate_bytes = row->judgement.growth_per_step,
                  .least_rate_bytes = row->judgement.growth_per_step,
                  .bytes = row->grown_bytes,
                  .count = row->judgement.is_one_growing_block ? 0 : row->survivor_count,
                  .alive_bytes = row->alive.bytes,
                  .row = row,
                  .is_spread = is_spread,
              });
}

static void add_by_steps(const struct question *question, const struct verdict *judged,
                         struct arena *arena, struct leak_list *list)
{
    const struct judged_list *sites = judged->sites, *ledgers = judged->ledgers;

    for (size_t i = 0; i < sites->verdict_counts[VERDICT_LEAK]; i++)
        add_row(question, arena, list, &sites->rows[i], false);
    for (size_t i = 0; i < ledgers->verdict_counts[VERDICT_LEAK]; i++)
        if (is_spread_leak(sites, &ledgers->rows[i]))
            add_row(question, arena, list, &ledgers->rows[i], true);
}

/* However its loop turns: no turn is shorter than from one birth to the next. */
static uint64_t least_rate_of(const struct survivor_origin *origin)
{
    uint64_t births = 0;

    for (size_t i = 0; i < origin->stack_count; i++)
        births =
            origin->stacks[i].overdue.births > births ? origin->stacks[i].overdue.births : births;
    return births ? origin->bytes / births : 0;
}

static void add_survivors(const struct question *question, struct leak_list *list,
                          const struct survivor_process *process,
                          const struct survivor_origin *origin)
{
    const struct survivor_stack *first = &origin->stacks[0];

    add(list, &(struct leak){
                  .process = process->process,
                  .ledger = first->ledger,
                  .who = first->who,
                  .key = origin_id(question, &first->who),
                  .is_by_turn = true,
                  .rate_bytes = survivors_per_turn(process, origin),
                  .least_rate_bytes = least_rate_of(origin),
                  .bytes = origin->bytes,
                  .count = first->overdue.is_growing ? 0 : origin->count,
                  .alive_bytes = origin->bytes,
                  .loop = process,
                  .survivors = origin,
              });
}

static void add_by_stacks(const struct question *question, const struct survivors *survivors,
                          struct leak_list *list)
{
    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];
        size_t count = survivors_leak_count(process);

        for (size_t k = 0; k < count; k++)
            add_survivors(question, list, process, &process->origins[k]);
    }
}

/* --- workers of one job ---------------------------------------------------------------------- */

static bool is_same_program(const struct question *question, uint16_t a, uint16_t b)
{
    struct model *model = tally_model(question->tally);

    return model_process_at(model, a)->executable == model_process_at(model, b)->executable &&
           model_process_at(model, a)->is_helper == model_process_at(model, b)->is_helper;
}

static uint32_t program_count(const struct question *question, uint16_t process)
{
    uint32_t count = 0;

    for (size_t i = 0; i < model_process_count(question->model); i++)
        count += is_same_program(question, (uint16_t)i, process);
    return count;
}

static void count_twins(const struct question *question, struct leak_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct leak *leak = &list->rows[i];

        leak->process_count = 1;
        leak->program_count = program_count(question, leak->process);
        leak->bytes_in_all = leak->bytes;
        for (size_t k = 0; leak->loop && k < list->count; k++) {
            const struct leak *other = &list->rows[k];

            if (other->key != leak->key || other->process == leak->process ||
                !is_same_program(question, other->process, leak->process))
                continue;
            leak->process_count++;
            leak->bytes_in_all += other->bytes;
            leak->is_told_by_heavier |= k < i;
        }
    }
}

void leak_list_make(const struct question *question, const struct verdict *judged,
                    struct arena *arena, struct leak_list *list)
{
    if (judged->is_by_stacks) {
        add_by_stacks(question, judged->survivors, list);
        count_twins(question, list);
        list->has_failed |= !name_leaks(question, arena, list->rows, list->count);
        return;
    }
    list->has_failed |= !name_sites(question, arena, judged->sites);
    add_by_steps(question, judged, arena, list);
}
