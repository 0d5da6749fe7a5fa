/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the tables of a snapshot to events in time order.
 *
 *   baseline, at time 0: blocks that are older than the history, and the memory reserved then
 *   then events of all devices and annotations, merged by time
 *
 * A snapshot is two views: the history of the last events, and the segments when it was written.
 * What is alive in the segments or freed in the history, but never allocated there, is older than
 * the history. The reserved memory is known at the end and counted back from there.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_REPLAY_H
#define LEAKTIDE_INPUT_SNAPSHOT_REPLAY_H

#include "event.h"
#include "snapshot_tables.h"

struct snapshot_replay;

/* The tables must outlive it. MT_CORRUPT: they contradict themselves. */
enum mt_result snapshot_replay_create(const struct snapshot_tables *tables, const char *path,
                                      struct snapshot_replay **out, struct mt_error *error);
void snapshot_replay_destroy(struct snapshot_replay *replay);

/* 0 is the end. */
size_t snapshot_replay_next(struct snapshot_replay *replay, struct event *batch, size_t capacity);

#endif
