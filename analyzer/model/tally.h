/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a recording add up to: who holds how much, now, at the peak, step by step.
 *
 *   event -> block (live set) -> group -> ledger
 *
 * A group is everything that comes from one place in the program: (process, pool, place, site,
 * operator, owner). A ledger is a running total that means something: (process, device, pool),
 * with address space, mappings and views apart, so that no byte is counted twice. Events are fed
 * in batches, as a source hands them out; memory grows with live blocks, groups and steps, never
 * with events. All numbers are exact.
 *
 * The peak needs no second pass: a ledger counts its new highs, and a group that changes for the
 * first time after a high keeps aside what it held then.
 *
 * Threads are seldom read in perfect order. An alloc at an address that is alive takes the old
 * block as freed, and the free that comes late is swallowed; a free that comes a little before its
 * alloc is matched with it. Both only within TALLY_DISORDER_NS and between different threads; all
 * are counted.
 *
 * One thread at a time. The model must outlive the tally.
 */
#ifndef LEAKTIDE_MODEL_TALLY_H
#define LEAKTIDE_MODEL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "event.h"
#include "memory_accounts.h"
#include "model.h"
#include "step_series.h"

enum { TALLY_DISORDER_NS = 20000 };

struct tally;

/* Two places of one pool and device belong to different ledgers when their kinds differ. */
enum ledger_kind {
    LEDGER_MEMORY, /* counts as memory of its device */
    LEDGER_HOST,   /* host memory that a device reaches */
    LEDGER_VIRTUAL,
    LEDGER_MAPPING,
    LEDGER_IMPORTED,
    LEDGER_REGISTERED,
    LEDGER_VIEW,
    LEDGER_KIND_COUNT
};

/* What owners say of tensors, as the tracer does by identity: "model@optimizer_state". */
enum { TENSOR_IS_WEIGHT = 1, TENSOR_IS_GRADIENT = 2, TENSOR_IS_OPTIMIZER = 4 };

/* What a step is doing, by the names of its ranges and operators. */
enum step_phase { PHASE_OTHER, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_COUNT };

struct ledger {
    /* Hot: every event. */
    uint64_t live_bytes;
    uint64_t phase_peak_bytes; /* since the newest stretch began; at most step_peak_bytes */
    uint64_t step_peak_bytes;  /* since the newest step began; at most peak_bytes */
    uint64_t peak_bytes;
    uint64_t peak_epoch; /* how many new highs there were */
    uint64_t peak_time_ns;
    uint64_t peak_number; /* of the event, from 1 */
    uint32_t peak_group;  /* of the alloc that made the peak */
    uint32_t peak_phase;  /* text: innermost open range of its thread */
    uint32_t peak_step;   /* step index at the peak, as struct step */
    uint16_t process, pool;
    /* The key, and what is only brought up to date at step ends and at the end. */
    int32_t device; /* -1: none or unknown */
    enum ledger_kind kind;
    uint64_t live_count, peak_count;
    uint64_t alloc_count, alloc_bytes;
    uint64_t reserved_bytes, reserved_peak_bytes, reserved_peak_time_ns;
    uint64_t reserved_peak_used_bytes; /* in blocks while that much was reserved, at most */
    bool has_reserved;
    uint64_t failed_count;
    uint64_t era_alloc_bytes, era_alloc_count; /* alloc_* when the newest step end was */
    uint64_t phase_peaks_bytes[PHASE_COUNT];   /* of this step, of phases that are over */
    /* Older than the recording. Blocks: part of live_* and alloc_*; those that are left, at the end
     * only. What is held beside them is a number that the source tells, and no part of them. */
    uint64_t older_bytes, older_count;
    uint64_t older_left_bytes, older_left_count;
    /* Layers; the last two are known when its process has ended. */
    uint64_t cut_up_bytes; /* as of its groups */
    bool is_placed;        /* one of its blocks was seen to lie inside of another ledger's */
    bool is_reserved;      /* a recorded pool takes its memory from it */
    uint16_t below;        /* + 1: the ledger that its own is directly taken from; 0: none */
    bool has_older_beside;
    uint64_t older_beside_bytes, older_beside_left_bytes;
};

struct group {
    uint64_t live_bytes;
    uint64_t alloc_bytes, alloc_count;
    uint64_t peak_bytes; /* at its ledger's peak; read with group_at_peak() */
    uint64_t born_bytes; /* alive, from the current era */
    uint64_t peak_epoch;
    uint32_t live_count, peak_count, born_count;
    uint16_t ledger;
    uint16_t flags;
};

/* What is not needed at every event; same index as the group. */
struct group_detail {
    uint16_t process, pool, place;
    bool is_older; /* its blocks are older than the recording: EVENT_IS_OLDER */
    uint32_t site;
    uint64_t cut_up_bytes; /* of blocks in which a block of another pool lay: segments */
    uint64_t mapped_bytes; /* of handles that were made visible at an address */
    uint32_t operator_text, owner_text; /* 0: none */
    uint32_t nn_module_text;            /* path; 0: none */
    /* Where none of the three is known, blocks of one size are one group: tally_size_class(). 0:
     * one of them is. */
    uint8_t size_class;
    uint32_t operator_usage, module_usage; /* row + 1 of the usages, or 0 */
    uint32_t first_step;
    uint32_t past; /* row of the pasts; 0: nothing of it was ever alive when a step ended */
};

/* What became of a group from step to step. All zero for one that has none. */
struct group_past {
    /* The greatest age, in steps, at which a block was freed: ever, and
     * until the newest step end. */
    uint32_t freed_age, freed_age_at_end;
    /* Blocks that were born in a step and alive when it ended, summed over the steps that had any.
     */
    uint64_t left_bytes, left_count;
    uint32_t left_steps;
    uint32_t crossing_step, crossing_steps; /* the newest one, and how many, in which some of it was
                                               alive when the forward phase ended */
    uint64_t waiting_bytes, waiting_epoch;  /* group_waiting_bytes() at that high of the ledger */
    /* One that is alive at the end of the process, born near the middle of its steps. */
    uint32_t example_birth;                  /* step index */
    uint64_t example_address, example_bytes; /* 0: none */
    struct step_series series;               /* alive at step ends */
    struct cohorts cohorts;                  /* by birth */
};

/*
 * Class n holds blocks above 3/4 of 2^n and up to 3/2 of it: what people ask for, powers of two and
 * a little more, is in the middle, so that one request is one class however it was rounded.
 */
static inline uint8_t tally_size_class(uint64_t size_bytes)
{
    uint64_t thirds = size_bytes < 2 ? 1 : (size_bytes - 1) / 3; /* (3/4 2^n, 3/2 2^n] / 3 */

    return (uint8_t)(size_bytes < 4 ? 1 : 66 - __builtin_clzll(thirds));
}

/* What one operator, or one module of the driver, held in one ledger. */
struct usage {
    enum usage_kind { USAGE_OPERATOR, USAGE_MODULE } kind;
    uint16_t ledger;
    uint32_t id; /* operator: text; module: its number */
    uint64_t live_bytes, live_count;
    uint64_t peak_bytes, peak_time_ns;
    uint64_t alloc_bytes, alloc_count;
};

/*
 * Step 0 is the time before the first step of a process; step n > 0 is the n-th step that began
 * there. The time between two steps belongs to the later one.
 */
struct step {
    uint16_t process;
    bool is_ended;
    uint32_t index;
    uint64_t number; /* as the program counts */
    uint64_t begin_ns, end_ns;
    size_t first_row; /* of its step rows, one for each ledger of the process, when it ended */
    size_t row_count;
};

struct step_row {
    uint16_t ledger;
    uint64_t end_bytes, end_count;
    uint64_t peak_bytes;
    uint64_t reserved_bytes;                 /* at its end; 0: the pool does not tell */
    uint64_t alloc_bytes, alloc_count;       /* since the step end before */
    uint64_t phase_peaks_bytes[PHASE_COUNT]; /* 0: the step had no such phase */
};

/* Not of addresses, mappings, views and what others hold. */
static inline bool ledger_is_memory(const struct ledger *ledger)
{
    return ledger->kind == LEDGER_MEMORY || ledger->kind == LEDGER_HOST;
}

/* Whether blocks of one may lie in those of the other, or in what these mappings show: by their
 * pools, of one process and device. */
bool ledger_may_lie_in(const struct model *model, const struct ledger *inner,
                       const struct ledger *outer);

/* Nobody uses more than a pool holds: numbers that say so are not to be trusted. */
static inline bool ledger_reserved_is_possible(const struct ledger *ledger)
{
    return !ledger->has_reserved || !ledger->reserved_peak_bytes ||
           ledger->reserved_peak_bytes >= ledger->peak_bytes;
}

/* Its blocks take up memory of the process itself. */
static inline bool ledger_is_of_process(const struct ledger *ledger)
{
    return ledger->device < 0 && ledger_is_memory(ledger);
}

struct sample_row {
    uint16_t process, place;
    uint32_t counter; /* text */
    uint64_t count;
    uint64_t first_bytes, last_bytes, low_bytes, high_bytes;
    uint64_t first_ns, last_ns, high_ns;
};

/* Of very many: the first ones, the first of each site, and the newest, which is the last row. */
struct failure {
    uint64_t time_ns, size_bytes, status;
    uint64_t number;      /* of all that failed, from 1 */
    uint64_t live_bytes;  /* of its ledger, then */
    uint64_t birth_count; /* of its process, then */
    uint32_t site, step;
    uint16_t ledger;
    bool is_only_newest; /* and makes room for the next one */
};

/* Frees of blocks that are older than the recording and were never seen, by ledger where the source
 * knows it, else by pool. */
struct baseline {
    uint16_t process, pool;
    bool has_ledger;
    uint16_t ledger;
    uint64_t count;
    uint64_t bytes; /* of those whose source tells the size */
};

struct tally_process {
    size_t first_step;          /* of the steps; those of one process stand together */
    uint32_t step_count;        /* begun */
    uint32_t ended_step_count;  /* = index of the newest ended step */
    uint32_t passed_step_count; /* more, that were not recorded whole */
    uint32_t epoch;             /* for cohort_at_step_end() of its groups */
    uint64_t live_count;        /* blocks alive at the end */
    uint64_t birth_count;       /* blocks that were made */
    uint8_t phases_seen;        /* bits of enum step_phase */
    uint8_t known_roles;        /* TENSOR_IS_...: some of its blocks have an owner that says so */
};

struct tally_counts {
    uint64_t events;     /* of the recording: what was put in does not count */
    uint64_t late_frees; /* swallowed: their block was taken as freed when its address came again */
    uint64_t early_frees; /* matched with the alloc that followed */
    uint64_t overwritten; /* alloc at a live address, and no free of the old block */
    uint64_t unknown_frees;
    uint64_t unmatched_ends;  /* of operators, tags, ranges and steps that never began */
    uint64_t merged_contexts; /* blocks whose operator or owner was one too many to keep apart */
    uint64_t live_peak_count; /* most blocks alive at once, in one process */
};

struct live_block; /* live_set.h */
struct owned_blocks;

/*
 * Is told of each block, and which group it belongs to. era: steps begun and ended before, as
 * struct step.
 */
struct tally_observer {
    void *context;
    bool adds_up; /* the tally has sums as well; else the observer takes their place */
    /* Returns a handle, which the block carries instead of its birth until it is gone. */
    uint32_t (*born)(void *context, const struct event *event, uint32_t group, uint32_t era);
    /* A free of this block comes soon: time to fetch what belongs to it. */
    void (*soon)(void *context, uint32_t handle);
    /* Freed by this event, or its address was handed out again by it. */
    void (*gone)(void *context, const struct event *event, const struct live_block *block,
                 uint32_t era);
    /* The number of its alloc, from 1 in the order of events, lower bits. May be NULL if nothing is
     * added up. */
    uint32_t (*birth)(void *context, uint32_t handle);
    /* What the step is doing changes with the event that is fed: of an operator, a range or a step.
     * May be NULL. */
    void (*phase)(void *context, enum step_phase phase);
};

enum mt_result tally_create(struct model *model, struct tally **out, struct mt_error *error);
void tally_destroy(struct tally *tally);

/*
 * Before the first event; the observer must outlive the last event. known: a finished tally of the
 * same events, which must outlive the tally: groups that it has keep their numbers and are not made
 * again. NULL: there is none, as where the tally adds up. Without an observer: nobody is told any
 * more; after the last event.
 */
void tally_observe(struct tally *tally, const struct tally_observer *observer,
                   const struct tally *known);

/* Host memory: what growth without steps is looked for in. */
static inline bool ledger_is_heap(enum ledger_kind kind, int32_t device)
{
    return kind == LEDGER_MEMORY && device < 0;
}
/* An alloc of it. */
bool tally_is_of_heap(const struct tally *tally, const struct event *event);
/* Before the first event: sums of ledgers, samples, accounts and who is named, but none of sites,
 * operators and phases; groups are by ledger and owner. Not with an observer. */
void tally_want_ledgers(struct tally *tally);

/* Before the first event: who is named while it is alive is put there. Not with an observer. blocks
 * must outlive the last event. */
void tally_keep_owners(struct tally *tally, struct owned_blocks *blocks);

/* Events in time order within a process; a batch never mixes two. MT_NO_MEMORY ends it. */
enum mt_result tally_feed(struct tally *tally, const struct event *events, size_t count,
                          struct mt_error *error);
/* What is alive now, in no order. */
void tally_each_live(const struct tally *tally,
                     void (*visit)(void *context, const struct live_block *block), void *context);
/* Call once after the last event. */
void tally_finish(struct tally *tally);

struct model *tally_model(const struct tally *tally);
const struct tally_counts *tally_counts_of(const struct tally *tally);
size_t tally_live_bytes(const struct tally *tally); /* memory of the live set itself */

size_t tally_ledger_count(const struct tally *tally);
const struct ledger *tally_ledger_at(const struct tally *tally, size_t index);
/* The ledger of such events, in *index; false when there were none. */
bool tally_ledger_find(const struct tally *tally, uint16_t process, uint16_t pool, uint16_t place,
                       uint16_t *index);
/* Groups count from 1: group 0 does not exist, so loops run over 1 .. count - 1. */
size_t tally_group_count(const struct tally *tally);
const struct group *tally_group_at(const struct tally *tally, size_t index);
/* The ledger of the group, without a look at the rest of it. */
uint16_t tally_group_ledger(const struct tally *tally, uint32_t index);
const struct group_detail *tally_detail_at(const struct tally *tally, size_t index);
const struct group_past *tally_past_at(const struct tally *tally, size_t group);
size_t tally_usage_count(const struct tally *tally);
const struct usage *tally_usage_at(const struct tally *tally, size_t index);
size_t tally_step_count(const struct tally *tally);
const struct step *tally_step_at(const struct tally *tally, size_t index);
/* By what struct step calls its index; NULL: the process has no such step. Takes no search. */
const struct step *tally_step_of(const struct tally *tally, uint16_t process, uint32_t index);
const struct step_row *tally_step_row_at(const struct tally *tally, size_t index);
/* Of the ledger when the step ended; NULL: the step is open, or the ledger was not there yet. Takes
 * no search either. */
const struct step_row *tally_step_row_of(const struct tally *tally, const struct step *step,
                                         uint16_t ledger);
size_t tally_sample_count(const struct tally *tally);
const struct sample_row *tally_sample_at(const struct tally *tally, size_t index);
/* Where the memory of the processes was, at some moments. */
const struct memory_accounts *tally_accounts(const struct tally *tally);
size_t tally_failure_count(const struct tally *tally);
const struct failure *tally_failure_at(const struct tally *tally, size_t index);
size_t tally_baseline_count(const struct tally *tally);
const struct baseline *tally_baseline_at(const struct tally *tally, size_t index);
/* Zeros for a process without events. */
struct tally_process tally_process_at(const struct tally *tally, uint16_t process);
/* Blocks that are older than the recording, and left at its end. */
uint64_t tally_older_left_count(const struct tally *tally);
/* There is one moment only, and what was held then: a snapshot without its history. */
bool tally_is_state(const struct tally *tally);
/* Of the recording: what was put in does not count. */
uint64_t tally_event_count(const struct tally *tally, enum event_kind kind);

/* Bytes and blocks of the group when its ledger was highest. */
struct step_sample group_at_peak(const struct tally *tally, size_t group);
/* Of these: what was made outside of a backward pass, and freed during one (tally_passes.c). */
uint64_t group_waiting_bytes(const struct tally *tally, size_t group);

#endif
