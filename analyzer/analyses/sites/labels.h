/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers, origins and steps as people name them. Texts live in the arena that is handed in; what
 * it has no memory for is "", and the arena remembers.
 */
#ifndef LEAKTIDE_ANALYSES_LABELS_H
#define LEAKTIDE_ANALYSES_LABELS_H

#include "analysis.h"
#include "arena.h"

bool ends_with(const char *text, const char *end);

/* "python3 4711" */
const char *label_process(const struct question *question, struct arena *arena, uint16_t process);

/* Of those that are no helpers (helpers.h). */
static inline size_t process_count_meant(const struct question *question)
{
    return model_process_count(question->model) - model_helper_count(question->model);
}

/* How many rows of a list of `count` to show. */
static inline size_t rows_shown(const struct question *question, size_t count)
{
    return question->top && question->top < count ? question->top : count;
}

/* The same of ledgers in their order: where not all are shown, those of helpers are not. */
size_t ledgers_shown(const struct question *question, const uint16_t *order, size_t count);

/* Hundredths, rounded. */
static inline unsigned percent_of(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)(((unsigned __int128)part * 100 + whole / 2) / whole) : 0;
}

/* "hal" */
const char *label_pool(const struct question *question, const struct ledger *ledger);

/* "virtual", "mapping"; "" for memory of its own, and where the name of the pool says it. */
const char *label_kind(const char *pool, enum ledger_kind kind);

/* "hal device 0"; with " (virtual)" and the like where it is not memory of its own, and with
 * ", python3 4711" where the recording has several processes beside helpers, and for those. */
const char *label_ledger(const struct question *question, struct arena *arena, uint16_t ledger);

struct who {
    uint32_t site, operator_text, owner_text;
    uint8_t size_class; /* where none of these is known: tally_size_class(); else 0 */
};

static inline bool who_is_known(struct who who)
{
    return who.site || who.operator_text || who.owner_text;
}

/* The call site, else the operator, else the owner, else "(unknown)", of which size. */
const char *label_who(const struct question *question, struct arena *arena, struct who who);

/* A label of a site, a cell of a table; data have null for "(unknown)". */
struct value value_site(const char *label);
struct value value_who(const struct question *question, struct arena *arena, struct who who);

/*
 * A sentence for a site of a library in host memory whose callers leaktide run did not record: it
 * is not where somebody would look for the mistake. NULL for any other.
 */
const char *label_unseen_callers(const struct question *question, struct arena *arena,
                                 uint16_t ledger, struct who who);

/* Who called there, for a report; missing where only the call site is known. */
struct value value_stack_of(const struct question *question, struct report *report, struct who who);

/* Missing when the text is none. */
struct value value_name(const struct question *question, uint32_t text);

/* " in step 7", " before the first step" or "", if the process of the ledger has no steps. */
const char *label_in_step(const struct question *question, struct arena *arena, uint16_t process,
                          uint32_t step_index);

/* As the program counts; the index itself where there is no such step. */
uint64_t step_number(const struct tally *tally, uint16_t process, uint32_t index);

/* As words for sentences. */
const char *label_size(struct arena *arena, uint64_t bytes);
/* "2.10 min" */
const char *label_duration(struct arena *arena, uint64_t ns);
/* "0.316 s after the start"; where the source tells no times, "at event 316" */
const char *label_moment(const struct question *question, struct arena *arena, uint64_t ns);
/* "+412 MiB" */
const char *label_size_change(struct arena *arena, int64_t change);
/* Hundredths of a percent: "8.05 %"; with its sign "+8.05 %". */
const char *label_share(struct arena *arena, uint64_t hundredths);
const char *label_share_change(struct arena *arena, int64_t hundredths);
const char *label_count(struct arena *arena, uint64_t count);
/* "1 block", "1,234 blocks" */
const char *label_counted(struct arena *arena, uint64_t count, const char *one);

#endif
