/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording made of a list of events, for tests of analyses.
 *
 *     struct event_list list;
 *     event_list_init(&list);
 *     event_list_add(&list, (struct event){.kind = EVENT_ALLOC, .time_ns = 5, ...});
 *     ask(event_list_question(&list));
 *     event_list_release(&list);
 *
 * Time goes on by a microsecond with each event that has none. Running out of memory ends the test.
 */
#ifndef LEAKTIDE_TESTS_EVENT_LIST_H
#define LEAKTIDE_TESTS_EVENT_LIST_H

#include <stddef.h>

#include "analysis.h"

struct event_list {
    struct model *model;
    struct tally *tally;
    struct symbols *symbols;
    struct event *events;
    size_t count, capacity, given;
    struct event_source source;
    struct question question;
    uint16_t pool, device; /* "pta"; device 0 */
    uint16_t process;      /* of events that are added */
    uint64_t time_ns;
};

void event_list_init(struct event_list *list);
void event_list_release(struct event_list *list);

uint32_t event_list_text(struct event_list *list, const char *text);
/* A site of that name. */
uint32_t event_list_site(struct event_list *list, const char *name);
/* In "pta" on device 0, if the event does not say otherwise. */
void event_list_add(struct event_list *list, struct event event);
void event_list_alloc(struct event_list *list, uint64_t address, uint64_t size_bytes,
                      uint32_t site);
void event_list_free(struct event_list *list, uint64_t address);
void event_list_access(struct event_list *list, uint64_t address);
void event_list_step(struct event_list *list, enum event_kind kind, uint64_t number);
void event_list_operator(struct event_list *list, enum event_kind kind, const char *name);

/* Once, after the last event; as the public interface would ask. */
const struct question *event_list_question(struct event_list *list);

#endif
