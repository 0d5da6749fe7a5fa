/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of the memory of processes, as their notes tell them: docs/process-account.md.
 *
 * Of a process that has very many, the first, the highest and the newest stay, and of the others
 * so many that they are spread evenly. One thread.
 */
#ifndef LEAKTIDE_MODEL_MEMORY_ACCOUNTS_H
#define LEAKTIDE_MODEL_MEMORY_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "leaktide/account_parts.h"
#include "model.h"

enum { MEMORY_ACCOUNTS_MOST = 512 }; /* of a process */

struct memory_row {
    enum account_part part;
    uint32_t name;      /* text; 0: the part has no names */
    uint32_t mapped_by; /* text: other processes; 0: none, or not known */
    uint64_t resident_bytes, proportional_bytes;
};

/* Whose blocks hold back most of what malloc keeps: pinned_pages.h. */
struct memory_pins {
    uint32_t group; /* of the tally; 0: not looked at yet */
    uint64_t bytes, block_count;
    uint64_t all_bytes; /* that all blocks hold back */
    uint64_t age_ns;    /* of the process, then */
};

struct memory_account {
    uint64_t time_ns;
    uint16_t process;
    int cgroup_version;   /* 0: none */
    uint32_t cgroup_path; /* text */
    uint64_t figures[ACCOUNT_FIGURE_COUNT];
    uint64_t cgroup[ACCOUNT_CGROUP_COUNT]; /* UINT64_MAX: not known */
    struct memory_row *rows;
    size_t row_count, row_capacity;
    /* When this one was taken, or an earlier one of the process of at least four fifths of its
     * age. */
    struct memory_pins pins;
};

/* The kernel killed processes of a cgroup for memory while this one, which has ended, ran. */
struct memory_kill {
    uint16_t process;
    uint32_t path; /* text: of the cgroup */
    uint64_t kills;
    uint64_t limit; /* UINT64_MAX: none, or not known */
};

struct memory_accounts {
    struct memory_account *rows; /* process after process, by time */
    size_t count, capacity;
    struct memory_account *ends; /* at the exits of processes; not among the rows */
    size_t end_count, end_capacity;
    struct memory_account open; /* its end has not come yet */
    size_t open_row_count;      /* that it says it has */
    bool is_open, has_failed;   /* no memory */
    uint32_t foreign;           /* text: a subject of notes about something else */
    struct memory_kill *kills;
    size_t kill_count, kill_capacity;
};

void memory_accounts_release(struct memory_accounts *accounts);

/* Of any note. An account of which a part is missing says nothing. True: there is a new one, the
 * last of the rows. */
bool memory_accounts_note(struct memory_accounts *accounts, const struct model *model,
                          const struct event *note);

/* The accounts of a process: *count of them from the index that is returned. */
size_t memory_accounts_of(const struct memory_accounts *accounts, uint16_t process, size_t *count);
/* What it held at its exit, after what was to be done there; NULL: not known. */
const struct memory_account *memory_accounts_at_exit(const struct memory_accounts *accounts,
                                                     uint16_t process);
/* Those of the process by time, and after them that of its exit: *count of them. */
struct memory_accounts_all {
    const struct memory_accounts *accounts;
    const struct memory_account *at_exit; /* NULL: not known */
    size_t first, row_count, count;
};
struct memory_accounts_all memory_accounts_all_of(const struct memory_accounts *accounts,
                                                  uint16_t process);
static inline const struct memory_account *memory_accounts_at(const struct memory_accounts_all *all,
                                                              size_t index)
{
    return index < all->row_count ? &all->accounts->rows[all->first + index] : all->at_exit;
}

/* The highest one of those, by what is resident; count > 0. */
size_t memory_accounts_highest(const struct memory_accounts *accounts, size_t first, size_t count);

/* Heaps and plain mappings were not looked into: their blocks are in ACCOUNT_HEAP or ANONYMOUS. */
static inline bool memory_account_is_rough(const struct memory_account *account)
{
    return (account->figures[ACCOUNT_FIGURE_DOUBTS] & ACCOUNT_IS_ROUGH) != 0;
}

/* Whether an account with split heaps says what the rough one would: its process was about as
 * large. From so much more on, the recorder takes an account of a new peak. */
static inline bool memory_account_stands_for(const struct memory_account *whole,
                                             const struct memory_account *rough)
{
    enum { near_share = 16 };
    uint64_t bytes = rough->figures[ACCOUNT_FIGURE_RESIDENT];
    uint64_t whole_bytes = whole->figures[ACCOUNT_FIGURE_RESIDENT];
    uint64_t apart = whole_bytes > bytes ? whole_bytes - bytes : bytes - whole_bytes;

    return apart <= bytes / near_share;
}

uint64_t memory_account_part(const struct memory_account *account, enum account_part part);

/* "kept free by malloc" */
const char *account_part_name(enum account_part part);
const char *account_cgroup_key(enum account_cgroup_figure figure);
const char *account_cgroup_title(enum account_cgroup_figure figure);

#endif
