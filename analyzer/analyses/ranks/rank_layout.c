/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_layout.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum summary_column column;
} dimensions[RANK_DIMENSIONS_MOST] = {
    {"tp", COLUMN_ranks_tp},
    {"pp", COLUMN_ranks_pp},
    {"dp", COLUMN_ranks_dp},
    {"ep", COLUMN_ranks_ep},
};

/* One "name=number"; returns what follows, or NULL. */
static const char *read_one(const char *text, struct rank_layout *layout)
{
    enum { most = 1 << 24 };
    size_t i = 0;
    char *end;
    unsigned long size;

    while (i < RANK_DIMENSIONS_MOST &&
           (strncmp(text, dimensions[i].name, 2) != 0 || text[2] != '='))
        i++;
    if (i == RANK_DIMENSIONS_MOST || text[3] < '0' || text[3] > '9')
        return NULL;
    size = strtoul(text + 3, &end, 10);
    for (size_t k = 0; k < layout->count; k++)
        if (layout->dimensions[k].column == dimensions[i].column)
            return NULL;
    if (size < 1 || size > most || (*end && *end != ','))
        return NULL;
    layout->dimensions[layout->count++] =
        (struct rank_dimension){dimensions[i].column, (uint64_t)size};
    return *end ? end + 1 : end;
}

enum mt_result rank_layout_read(const char *text, struct rank_layout *layout,
                                struct mt_error *error)
{
    *layout = (struct rank_layout){.count = 0};
    for (const char *at = text; at && *at;) {
        at = read_one(at, layout);
        if (!at)
            return mt_error_of(error, "parallel",
                               mt_error_set(error, MT_USAGE,
                                            "the layout %s: sizes of tp, dp, pp and ep are needed, "
                                            "what changes fastest first, as in tp=2,dp=8,pp=4",
                                            text));
    }
    return MT_OK;
}

void rank_layout_apply(const struct rank_layout *layout, struct summary *summary)
{
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++) {
        uint64_t number = summary_bytes(summary, COLUMN_ranks_rank, row);

        if (!summary_has(summary, COLUMN_ranks_rank, row))
            continue;
        for (size_t i = 0; i < layout->count; i++) {
            summary_put(summary, layout->dimensions[i].column, row,
                        number % layout->dimensions[i].size);
            number /= layout->dimensions[i].size;
        }
    }
}
