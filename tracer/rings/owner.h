/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A robust mutex that a thread locks once and never unlocks. The kernel marks it when the thread
 * ends, however that comes about: by pthread_exit of the first thread, by kill -9, by exec; and in
 * every name space. So others need no number of the process, which may be somebody else's by then.
 */
#ifndef LEAKTIDE_TRACER_OWNER_H
#define LEAKTIDE_TRACER_OWNER_H

#include <pthread.h>

#include "leaktide/rings.h"

enum owner_state { OWNER_NONE, OWNER_LIVES, OWNER_DIED };

/* In memory that processes share. By the thread that is to be watched, until its end. */
void owner_lock(pthread_mutex_t *mutex);

/* Of any process, without a call. OWNER_NONE: nobody locked it yet. */
enum owner_state owner_look(const struct mt_rings_owner *owner);

#endif
