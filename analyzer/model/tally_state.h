/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a tally, shared by its files and by nobody else.
 */
#ifndef LEAKTIDE_MODEL_TALLY_STATE_H
#define LEAKTIDE_MODEL_TALLY_STATE_H

#include "arena.h"
#include "hash_index.h"
#include "leaktide/invariant.h"
#include "live_set.h"
#include "memory_accounts.h"
#include "ordered_set.h"
#include "stretch.h"
#include "table.h"
#include "tally.h"

enum {
    GROUP_CACHE_BITS = 17,
    DISORDER_SLOTS = 512,
    CONTEXT_MAX = 100000,
    FAILURES_MAX = 256,
    SPENT_MAX = 64
};

enum group_flag {
    GROUP_TOUCHED = 1,   /* is in the list of those that changed since the newest step end */
    GROUP_HAS_USAGE = 2, /* of an operator or a module */
    GROUP_HAS_LAYERS = 4 /* others may lie in its blocks, or these in others' */
};

/* What the ledger knows of a group: how it was when the newest step had ended. */
struct touched_group {
    uint64_t alloc_bytes, alloc_count;
    uint32_t live_count;
    uint32_t group;
};

/* By site: the group that came first, which is mostly the only one. It is in no index. */
struct site_group {
    uint32_t context;
    uint32_t group; /* 0: none yet */
    uint16_t process, pool, place;
};

/* Of all others. Direct-mapped: what a thread allocates is mostly what it allocated before. */
struct group_cache_row {
    uint32_t site, context;
    uint16_t pool, place;
    uint32_t group; /* 0: empty */
};

/* An operator, an owner and a module of the model that were open together. Context 0 is none. */
struct context_row {
    uint32_t operator_text, owner_text, nn_module_text;
};

/* Texts of what is open on a thread, innermost last. */
struct open_stack {
    struct open_row {
        uint64_t range;
        uint32_t text;
    } * rows;
    size_t count, capacity;
};

struct thread_state {
    uint32_t context, phase;
    struct open_stack operators, owners, ranges, nn_modules;
};

/* Operators whose blocks are of those around them: by text, in each view, 1 + whether it is one; 0
 * where nobody looked yet. */
struct passed_operators {
    struct passed_text {
        uint8_t by_view[OPERATORS_OF_PROFILERS + 1];
    } * texts;
    size_t count;
};

/* Of the process. */
struct phase_state {
    enum step_phase now, by_range; /* what ranges say goes before what operators say */
    uint8_t *by_text;              /* by number: phase + 1, 0 where nobody looked yet */
    size_t text_count;
};

/* Of the process; backward: names that say so, by what they are the way back of. */
struct pass_state {
    struct pass *rows; /* since the newest step or optimizer */
    size_t count, capacity;
    bool is_backward; /* the last of them */
    struct hash_index backward;
};

/* A free that is still to come, or came too early. */
struct disorder {
    uint64_t address;
    uint64_t until_ns;   /* 0: empty */
    uint64_t size_bytes; /* of a free whose source tells it */
    uint32_t thread;
    uint16_t pool;
    enum disorder_kind { DISORDER_LATE_FREE, DISORDER_EARLY_FREE } kind;
};

/* A block of an older era that was freed, and is still to be taken from its cohort. */
struct spent_block {
    uint32_t group, birth;
    uint64_t size_bytes;
};

/* Blocks of the process by their addresses: tally_owners.c. */
struct address_order {
    bool is_kept;
    struct ordered_set set;     /* by pool, address from above, and birth; some are gone */
    struct ordered_key *recent; /* of blocks that came since */
    size_t recent_count, recent_capacity;
};

struct tally {
    struct model *model;
    /* Hot. */
    uint64_t disorder_until_ns; /* when the newest row of disorders is over */
    uint64_t number;            /* of the event that is fed, from 1 */
    uint64_t era_first;         /* number of the event that began the era */
    uint32_t era;               /* of the blocks made now */
    uint32_t epoch;             /* step ends so far, of all processes */
    uint16_t process;
    bool has_process;
    bool has_failed;                       /* no memory */
    uint64_t failed_count;                 /* requests */
    bool has_huge;                         /* a size: sums may have gone round */
    uint64_t left_count;                   /* blocks that were alive when their process ended */
    const struct tally_observer *observer; /* mostly NULL */
    bool adds_up;                          /* false: an observer does */
    bool is_of_ledgers;                    /* nobody asks for sites */
    const struct tally *known;             /* whose groups are not made again; mostly NULL */
    struct live_set live;
    struct group *groups;    /* in group_stretch */
    uint16_t *group_ledgers; /* the same as in the groups, closer together; in their stretch */
    size_t group_count;
    struct site_group *site_groups; /* row 0 is none; of `known` where that is one */
    size_t site_group_count;
    struct spent_block spent[SPENT_MAX];
    size_t spent_count;
    struct ledger *ledgers; /* in ledger_stretch */
    size_t ledger_count;
    struct thread_state *threads;
    size_t thread_count;
    struct phase_state phase;
    struct pass_state passes;
    struct passed_operators passed;
    struct group_cache_row group_cache[1 << GROUP_CACHE_BITS];
    struct disorder disorders[DISORDER_SLOTS];
    uint64_t kind_counts[EVENT_KIND_COUNT];
    struct tally_counts counts;
    struct touched_group *touched; /* that changed since the newest step end */
    size_t touched_count, touched_capacity;
    /* Cold. */
    struct stretch group_stretch, group_ledger_stretch, ledger_stretch;
    struct arena arena;
    struct table details, pasts, contexts, usages, steps, step_rows, samples, failures, baselines;
    struct hash_index ledger_index, group_index, context_index, usage_index, sample_index;
    struct tally_process *processes;
    size_t process_count;
    size_t process_first_ledger; /* ledgers of the current process start here */
    struct step *open_step;
    bool is_paused;       /* of this process */
    uint64_t passed_step; /* the newest that was not recorded whole; 0: none is open */
    uint64_t *era_firsts; /* by era of this process; the last is era_first */
    size_t era_capacity;
    struct owned_blocks *owned; /* of who are named; NULL: nobody asks */
    struct address_order order;
    struct memory_accounts accounts;
    struct ledger_layer *layers; /* by ledger */
    size_t layer_count;
};

static inline struct group *group_at(const struct tally *tally, uint32_t index)
{
    MT_ASSERT(index < tally->group_count);
    return &tally->groups[index];
}

static inline struct ledger *ledger_at(const struct tally *tally, uint32_t index)
{
    MT_ASSERT(index < tally->ledger_count);
    return &tally->ledgers[index];
}

/* The first group of the event's site, if it has one. */
static inline const struct site_group *tally_site_group(const struct tally *tally, uint32_t site)
{
    return &tally->site_groups[site < tally->site_group_count ? site : 0];
}

static inline bool is_group_of_site(const struct site_group *row, const struct event *event,
                                    uint32_t context)
{
    return row->group && row->context == context && row->process == event->process &&
           row->pool == event->pool && row->place == event->place &&
           !(event->flags & ~EVENT_IS_OF_DEVICE);
}

/* Sites are dense, so those of one context do not meet. */
static inline uint32_t tally_group_slot(const struct event *event, uint32_t context)
{
    return (event->site + context * 0x9e3779b1u + event->pool * 0x85ebca6bu) &
           ((1u << GROUP_CACHE_BITS) - 1);
}

/* Of the alloc of a block that is alive. Its birth has the lower bits, so one that 2^32 events
 * leave alive seems younger than it is. */
static inline uint64_t tally_number_of(const struct tally *tally, uint32_t birth)
{
    return tally->number - (uint32_t)((uint32_t)tally->number - birth);
}

/* What the block carries, where that is not its birth. */
static inline uint32_t tally_birth_of(const struct tally *tally, const struct live_block *block)
{
    return tally->observer ? tally->observer->birth(tally->observer->context, block->birth)
                           : block->birth;
}

static inline bool is_of_this_era(const struct tally *tally, uint32_t birth)
{
    return tally_number_of(tally, birth) >= tally->era_first;
}

/* tally_check.c: asserts that what is kept twice is the same; and the same of all other rows. */
void tally_check(const struct tally *tally);
/* tally_rows_check.c */
void tally_rows_check(const struct tally *tally);

/* tally_groups.c */
bool tally_rows_init(struct tally *tally);
void tally_rows_release(struct tally *tally);
/* From an alloc to its group; 0 when there is no memory. */
uint32_t tally_group_for(struct tally *tally, const struct event *event, uint32_t context);
/* The same where nobody asks for sites. */
uint32_t tally_ledger_group(struct tally *tally, const struct event *event, uint32_t context);
uint16_t tally_ledger_for(struct tally *tally, uint16_t process, uint16_t pool, uint16_t place);
void tally_usage_change(struct tally *tally, uint32_t group, uint64_t size_bytes, bool is_alloc,
                        uint64_t time_ns);

/* tally_context.c: what is open on a thread. NULL when there is no memory. */
struct thread_state *tally_thread(struct tally *tally, uint32_t thread);
void tally_context_event(struct tally *tally, const struct event *event);
void tally_threads_release(struct tally *tally);

/* tally_layers.c: of groups that have layers. */
void tally_layers_born(struct tally *tally, const struct live_block *block);
void tally_layers_gone(struct tally *tally, const struct live_block *block);
/* The process has ended: which of its ledgers lie in which. */
void tally_layers_settle(struct tally *tally);
void tally_layers_release(struct tally *tally);

/* tally_owners.c: an address is named; and, while the order is kept, a block begins. */
void tally_name_block(struct tally *tally, const struct event *event);
void tally_order_block(struct tally *tally, const struct live_block *block);
void address_order_release(struct address_order *order);

/* tally_steps.c */
uint32_t tally_era_of(const struct tally *tally, uint32_t birth);
bool tally_touch(struct tally *tally, uint32_t index);
/* Made if it is not there; NULL without memory. */
struct group_past *tally_past_for(struct tally *tally, uint32_t group);
/* Takes the spent blocks from their cohorts: before anything looks at those. */
void tally_settle(struct tally *tally);
void tally_step_event(struct tally *tally, const struct event *event);
/* Steps that begin in a pause, or are open when it begins, were not recorded whole: they are none.
 */
void tally_pause(struct tally *tally, bool is_paused);
void tally_process_begin(struct tally *tally, uint16_t process);
void tally_process_end(struct tally *tally);

/* tally_phases.c: after an event of a range or an operator; and when a step begins or ends. */
void tally_phase_event(struct tally *tally, const struct thread_state *thread,
                       const struct event *event);
void tally_phase_set(struct tally *tally, enum step_phase phase);
/* Before the phase, what is reserved, or what is beside the blocks changes: the peak since the last
 * such change is that of the phase, and may be what was used when most was reserved. */
void ledger_stretch_end(struct ledger *ledger, enum step_phase phase);
void tally_phases_release(struct tally *tally);

/* tally_passes.c: a step or an optimizer begins. */
void tally_passes_begin(struct tally *tally);
/* A name, once, that is of a way back. */
void tally_pass_name(struct tally *tally, uint32_t text);
/* What goes on, by a name. */
void tally_pass_event(struct tally *tally, enum step_phase phase, uint32_t text);
/* Of groups that have layers. */
void tally_pass_gone(struct tally *tally, const struct live_block *block);
void tally_passes_release(struct tally *tally);

/* tally_window.c */
void tally_window_begin(struct tally *tally, const struct event *event);

/* tally_disorder.c: true when the free is the late one of a block that is gone already. */
bool tally_swallows_free(struct tally *tally, const struct event *event, uint64_t hash);
/* True when this alloc was freed by an event that came before it. */
bool tally_was_freed_early(struct tally *tally, const struct event *event, uint64_t hash);
void tally_expect_free(struct tally *tally, const struct event *event, uint64_t hash);
void tally_unknown_free(struct tally *tally, const struct event *event, uint64_t hash);

#endif
