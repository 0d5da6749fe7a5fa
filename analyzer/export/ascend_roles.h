/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each ledger is in a profile of torch_npu or MindSpore.
 */
#ifndef LEAKTIDE_ASCEND_ROLES_H
#define LEAKTIDE_ASCEND_ROLES_H

#include "analysis.h"

enum ascend_role {
    ROLE_NONE,
    ROLE_FRAMEWORK,
    ROLE_WORKSPACE,
    ROLE_GRAPH, /* the graph engine */
    ROLE_PLAN   /* a static graph, whose times are numbers of nodes */
};

/* By ledger, in an array that the caller frees; NULL without memory. */
enum ascend_role *ascend_roles_create(const struct question *question);

/* "static graph 0" is that of graph "0"; for a ROLE_PLAN. */
const char *ascend_graph_of(const struct question *question, const struct ledger *ledger);

/* "pta" */
const char *ascend_pool_of(const struct question *question, const struct ledger *ledger);

#endif
