/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a verdict is as it is: of each heavy stack, or site, the rule that decided and by how much.
 * why.def is the table of rules.
 */
#ifndef LEAKTIDE_ANALYSES_WHY_H
#define LEAKTIDE_ANALYSES_WHY_H

#include "labels.h"
#include "overdue.h"

enum why_rule {
#define WHY(rule, word, unit, sentence) WHY_##rule,
#include "why.def"
#undef WHY
    WHY_COUNT
};

struct why {
    enum why_rule rule;
    uint64_t measured, needed; /* in the unit of the rule */
    struct who who;
    uint16_t process, ledger;
    size_t row;          /* of a stack, while its process is read: survivor_row_at() */
    uint64_t births;     /* of its blocks; of a site 0: see its steps */
    uint64_t freed_age;  /* of the oldest that was freed: in births of the process, or in steps */
    uint64_t count;      /* older than any that was freed */
    uint64_t left_bytes; /* alive at the end of its life */
};

/* The heaviest of a process; the arena's. */
struct why_list {
    struct why *rows; /* by left_bytes, once it is sorted */
    size_t count;
};

enum { WHY_ROWS_MOST = 64 };

/* Of a stack that was judged by itself. */
struct why why_of_stack(const struct overdue *overdue, bool is_import);
/* rows: room for WHY_ROWS_MOST; keeps the heaviest. */
void why_add(struct why_list *list, const struct why *why);
void why_sort(struct why_list *list);

const char *why_word(enum why_rule rule);
/* In the language of the reader. */
const char *why_sentence(struct arena *arena, const struct why *why);

#endif
