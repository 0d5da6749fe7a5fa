/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest of many blocks.
 */
#include "block_list.h"

#include <stdlib.h>

#include "labels.h"
#include "leaktide/invariant.h"

void block_list_init(struct block_list *list, size_t most)
{
    *list = (struct block_list){.most = most && most < BLOCK_LIST_MAX ? most : BLOCK_LIST_MAX};
}

void block_list_release(struct block_list *list)
{
    free(list->rows);
    *list = (struct block_list){0};
}

static int life_compare(const void *left, const void *right)
{
    const struct life *a = left, *b = right;

    if (a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void sift_up(struct block_list *list, const struct life *life)
{
    size_t index = list->count++;

    MT_ASSERT(list->count <= list->most);
    while (index && life_compare(life, &list->rows[(index - 1) / 2]) > 0) {
        list->rows[index] = list->rows[(index - 1) / 2];
        index = (index - 1) / 2;
    }
    list->rows[index] = *life;
}

/* In the place of the least. */
static void sift_down(struct block_list *list, const struct life *life)
{
    size_t index = 0;

    for (;;) {
        size_t child = index * 2 + 1;

        if (child >= list->count)
            break;
        if (child + 1 < list->count && life_compare(&list->rows[child + 1], &list->rows[child]) > 0)
            child++;
        if (life_compare(&list->rows[child], life) <= 0)
            break;
        list->rows[index] = list->rows[child];
        index = child;
    }
    list->rows[index] = *life;
}

bool block_list_put(struct block_list *list, const struct life *life)
{
    if (!list->rows)
        list->rows = malloc(list->most * sizeof(*list->rows));
    if (!list->rows)
        return false;
    if (!list->all_count || life->size_bytes < list->smallest_bytes)
        list->smallest_bytes = life->size_bytes;
    if (life->size_bytes > list->largest_bytes)
        list->largest_bytes = life->size_bytes;
    list->all_count++;
    list->all_bytes += life->size_bytes;
    if (list->count < list->most)
        sift_up(list, life);
    else if (life_compare(life, &list->rows[0]) < 0)
        sift_down(list, life);
    MT_ASSERT(list->count <= list->all_count);
    return true;
}

static void show(const struct life *life, const struct question *question, struct report *report,
                 struct report_table *table, uint64_t whole_bytes)
{
    struct arena *texts = report_arena(report);
    const struct group_detail *detail = tally_detail_at(question->tally, life->group);
    const struct model_process *process =
        model_process_at(tally_model(question->tally), detail->process);
    struct who who = {detail->site, detail->operator_text, detail->owner_text, 0};
    const struct field fields[] = {
        {"size_bytes", "size", value_bytes(life->size_bytes)},
        {"share_percent", "share",
         whole_bytes ? value_number(VALUE_PERCENT, percent_of(life->size_bytes, whole_bytes))
                     : value_none()},
        {"site", "site", value_who(question, texts, who)},
        {"operator", "operator", value_name(question, who.operator_text)},
        {"owner", "owner", value_name(question, who.owner_text)},
        {"born_ns", "from", value_time(life->born_ns)},
        {"freed_ns", "to",
         life->freed_ns == UINT64_MAX ? value_none() : value_time(life->freed_ns)},
        {"row", "row",
         process->blocks_are_rows ? value_step(model_block_row(life->address)) : value_none()},
        {"address", "address",
         process->blocks_are_rows
             ? value_none()
             : value_text(report_text(report, "0x%llx", (unsigned long long)life->address))},
        {"ledger", "ledger", value_text(label_ledger(question, texts, life->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void block_list_show(struct block_list *list, const struct question *question,
                     struct report *report, struct report_table *table, uint64_t whole_bytes)
{
    struct arena *texts = report_arena(report);
    uint64_t rest_bytes = list->all_bytes;

    if (list->count)
        qsort(list->rows, list->count, sizeof(*list->rows), life_compare);
    for (size_t i = 0; i < list->count; i++) {
        show(&list->rows[i], question, report, table, whole_bytes);
        rest_bytes -= list->rows[i].size_bytes;
    }
    MT_ASSERT(list->count < list->all_count || !rest_bytes);
    if (list->count < list->all_count)
        report_table_remark(report, table, "... and %s in %s.", label_size(texts, rest_bytes),
                            label_counted(texts, list->all_count - list->count, "more block"));
}
