/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a job, from a recording or from summaries, and who is compared with whom.
 *
 *     rank_set_init(&set, false);
 *     summary_read(reader, folder, &set.summary, &error);
 *     rank_set_take(&set);                                  after each folder
 *     rank_set_finish(&set);
 *
 * A process that is there twice counts once, and so does the number of a rank. All are compared in
 * the pool that holds most, each with its peers: the ranks of the same pipeline stage and expert
 * group, where these are known and enough.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_SET_H
#define LEAKTIDE_ANALYSES_RANK_SET_H

#include "summary.h"

enum { RANK_NONE = -1 };

/* RANK_SHARE and the like: from where on a difference counts. */
enum rank_number {
#define RANK_NUMBER(name, value) RANK_##name = (value),
#include "rank_rules.def"
};

struct rank_step {
    int64_t number;
    uint64_t end_bytes;
};

struct rank {
    size_t row;                    /* of the table of ranks */
    int64_t number;                /* RANK_NONE: not known */
    size_t ledger;                 /* row of the one that is compared; SIZE_MAX: none */
    size_t group;                  /* of its peers, among all groups */
    const struct rank_step *steps; /* by number */
    size_t step_count;
};

struct rank_set {
    struct summary summary;
    /* Of each row of each table: the row of its rank + 1; 0: of none, or it is there twice. */
    uint32_t *owners[SUMMARY_TABLE_COUNT];
    size_t owner_capacity[SUMMARY_TABLE_COUNT];
    size_t taken_rows[SUMMARY_TABLE_COUNT];
    uint32_t *row_of_key; /* by number of text: row of ranks + 1 */
    size_t row_of_key_capacity;
    uint32_t *index_of_row; /* of ranks: index of ranks[] + 1; 0: left out */
    size_t index_of_row_capacity;

    bool are_summaries;
    struct rank *ranks; /* all that count; by number, then as they were read */
    size_t count;
    size_t compared_count; /* have a ledger */
    const char *pool;      /* that is compared */
    size_t group_count;
    bool has_stages;      /* groups are of a pipeline stage, or expert group */
    bool mixes_stages;    /* stages are known, and one has too few ranks: all are one group */
    bool has_hosts;       /* several */
    bool has_devices;     /* memory of devices is compared; else of the host */
    uint64_t *held_bytes; /* of each row of ranks: who of several is the rank */
    size_t twice_count;   /* processes that were there before; the first: */
    size_t twice_row;     /* row of ranks */
    struct rank_step *steps;
    struct arena arena;
};

/* are_summaries: of a job, in which a number is one rank; columns that no sentence needs are left
 * out. */
void rank_set_init(struct rank_set *set, bool are_summaries);
/* Before anything is read: columns that no sentence about ranks needs. */
void rank_set_want(struct rank_set *set, const enum summary_column *columns, size_t count);
void rank_set_release(struct rank_set *set);

/* Rows that came into the summary since the last time are of one place. */
void rank_set_take(struct rank_set *set);
/* False without memory. */
bool rank_set_finish(struct rank_set *set);

/* Asserts that ranks, their rows, ledgers, groups and steps name each other. Of a finished set. */
void rank_set_check(const struct rank_set *set);

/* The rank whose row it is; NULL: none. */
const struct rank *rank_set_owner(const struct rank_set *set, enum summary_table table, size_t row);

/* "rank 3 on host-7", or what the process is called; without the host where all are on one. */
const char *rank_label(const struct rank_set *set, struct arena *arena, const struct rank *rank);
/* -1: not known. */
int64_t rank_place(const struct rank_set *set, enum summary_column column, const struct rank *rank);

#endif
