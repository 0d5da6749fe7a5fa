/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be said about a recording beside its answers.
 */
#include "notes.h"

#include <string.h>

#include "hash.h"

struct note_row {
    const char *sentence;
    uint64_t count;
};

void notes_init(struct notes *notes)
{
    pthread_mutex_init(&notes->mutex, NULL);
    arena_init(&notes->arena);
    table_init(&notes->rows, &notes->arena, sizeof(struct note_row));
    hash_index_init(&notes->index);
}

void notes_release(struct notes *notes)
{
    hash_index_release(&notes->index);
    arena_release(&notes->arena);
    pthread_mutex_destroy(&notes->mutex);
}

static struct note_row *find(const struct notes *notes, const char *sentence, uint64_t hash)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&notes->index, hash, &probe, &found)) {
        struct note_row *row = table_at(&notes->rows, found);

        if (strcmp(row->sentence, sentence) == 0)
            return row;
    }
    return NULL;
}

static bool add(struct notes *notes, const char *sentence, uint64_t hash, uint64_t count)
{
    const char *copy = arena_text(&notes->arena, sentence, strlen(sentence));
    struct note_row *row = copy ? hash_index_add_row(&notes->index, hash, &notes->rows) : NULL;

    if (row)
        *row = (struct note_row){copy, count};
    return row != NULL;
}

bool notes_add(struct notes *notes, const char *sentence, uint64_t count, bool only_if_new)
{
    uint64_t hash = hash_bytes(sentence, strlen(sentence));
    struct note_row *row;
    bool is_ok = true;

    pthread_mutex_lock(&notes->mutex);
    row = find(notes, sentence, hash);
    if (!row)
        is_ok = add(notes, sentence, hash, count);
    else if (!only_if_new)
        row->count += count;
    pthread_mutex_unlock(&notes->mutex);
    return is_ok;
}

size_t notes_count(const struct notes *notes)
{
    return table_count(&notes->rows);
}

const char *notes_at(const struct notes *notes, size_t index, uint64_t *count)
{
    const struct note_row *row = table_at(&notes->rows, index);

    *count = row->count;
    return row->sentence;
}
