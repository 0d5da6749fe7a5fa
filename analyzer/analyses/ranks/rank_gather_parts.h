/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of rank_gather.h share: one process on its way into a summary.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_GATHER_PARTS_H
#define LEAKTIDE_ANALYSES_RANK_GATHER_PARTS_H

#include "labels.h"
#include "rank_gather.h"

struct gathering {
    const struct question *question;
    const struct rank_wish *wish;
    struct summary *summary; /* of the wish */
    struct arena arena;      /* of labels */
    const char **keys;       /* of the processes */
    uint16_t *processes;     /* of the rows of `ranks` */
};

/* "pta", "acl (virtual)": without device and process. */
const char *gathered_pool(struct gathering *gathering, uint16_t ledger);
/* The key of the process, its pool and its device into a new row of the table. */
struct gathered_columns {
    enum summary_column process_key, pool, device;
};
size_t gathered_row(struct gathering *gathering, enum summary_table table,
                    struct gathered_columns columns, uint16_t ledger);

/* 16 hexadecimal digits. */
const char *gathered_site_key(struct gathering *gathering, struct who who);

/* rank_steps.c */
void gather_steps(struct gathering *gathering, uint16_t process);
/* Of the ledger, from the first judged step end to the last. */
uint64_t gathered_growth(const struct question *question, uint16_t ledger);

/* rank_growth.c: sites and findings of all processes. */
void gather_sites(struct gathering *gathering, const struct verdict *verdict);

/* rank_account.c: operators, counters, resident memory, refused requests. */
void gather_operators(struct gathering *gathering);
void gather_counters(struct gathering *gathering);
void gather_account(struct gathering *gathering, uint16_t process);
void gather_failures(struct gathering *gathering);

#endif
