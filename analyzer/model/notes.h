/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be said about a recording beside its answers: sentences with their counts.
 *
 * Sentences and rows are the notes' own, so whoever reads the recording and whoever looks names up
 * meanwhile can both note something. Any thread, any time; notes_at() when nobody adds any more.
 */
#ifndef LEAKTIDE_MODEL_NOTES_H
#define LEAKTIDE_MODEL_NOTES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"
#include "table.h"

struct notes {
    pthread_mutex_t mutex;
    struct arena arena;
    struct table rows;
    struct hash_index index;
};

void notes_init(struct notes *notes);
void notes_release(struct notes *notes);

/* The same sentence given twice adds up, unless only a sentence that is new counts. False: no
 * memory. */
bool notes_add(struct notes *notes, const char *sentence, uint64_t count, bool only_if_new);
size_t notes_count(const struct notes *notes);
/* index < notes_count(); lives as long as the notes. */
const char *notes_at(const struct notes *notes, size_t index, uint64_t *count);

#endif
