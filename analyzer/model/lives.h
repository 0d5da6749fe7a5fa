/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a recording, one by one, each with its whole life: a second reading, for answers
 * that sums cannot give.
 *
 * Blocks are distinguished, and put in groups, by a tally of its own, so every number agrees with
 * the first reading: `group` and `ledger` are indexes of the first tally as well. Memory grows with
 * blocks that are alive at once: 40 bytes for each beside the live set.
 */
#ifndef LEAKTIDE_MODEL_LIVES_H
#define LEAKTIDE_MODEL_LIVES_H

#include <stdint.h>

#include "event_source.h"
#include "tally.h"

struct life {
    uint64_t address, size_bytes;
    uint64_t born_ns;
    uint64_t freed_ns; /* UINT64_MAX: alive at the end of its process */
    uint64_t index;    /* counts from 0 in the order of births */
    /* Events count from 1 in the order of reading: the same event may end one life and begin
     * another. freed_event 0: alive at the end of its process. */
    uint64_t born_event, freed_event;
    uint32_t group;     /* of the tally */
    uint32_t born_step; /* index as struct step */
    uint32_t freed_step;
    uint32_t thread, freeing_thread;
    uint32_t stream; /* of the device, a text; 0: not known */
    uint16_t ledger;
};

struct life_visitor {
    void *context;
    /* Any may be NULL. Return false to stop the reading. */
    bool (*born)(void *context, const struct life *life);    /* freed_* are not known yet */
    bool (*over)(void *context, const struct life *life);    /* freed, or the process ended */
    bool (*event)(void *context, const struct event *event); /* before born and over */
    /* The step is doing something else from this event on: of an operator, a range or a step.
     * Before born and over of the events after it. PHASE_OTHER outside of steps. */
    bool (*phase)(void *context, enum step_phase phase, uint64_t event);
    /* After the last event of a process, before its living blocks are given to `over`. */
    bool (*process_over)(void *context, uint16_t process);
    uint32_t event_kinds; /* that `event` is told of: bits 1 << enum event_kind; 0: every kind */
};

/* MT_OK also when the visitor stopped it; else as event_source, or MT_NO_MEMORY. */
enum mt_result lives_read(const struct event_source *events, struct model *model,
                          const struct life_visitor *visitor, struct mt_error *error);

enum { LIFE_VISITORS_MOST = 32 };

/* The same for several at once, which are told of everything one after the other. One that stops
 * is left alone from then on; the reading ends when all of them have. first: the tally of the first
 * reading, which saves making its groups again; NULL: there is none. */
enum mt_result lives_read_together(const struct event_source *events, struct model *model,
                                   const struct tally *first, const struct life_visitor *visitors,
                                   size_t visitor_count, struct mt_error *error);

/*
 * The same, and adds up what it reads: sums is an empty tally, and finished afterwards. During the
 * reading it knows the groups and ledgers that were met so far. One that stops does not end the
 * reading.
 */
enum mt_result lives_add_up(const struct event_source *events, struct tally *sums,
                            const struct life_visitor *visitors, size_t visitor_count,
                            struct mt_error *error);

#endif
