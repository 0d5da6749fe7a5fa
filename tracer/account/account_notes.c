/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     account
 *     account part blocks        of each row
 *     account figure             of each figure
 *     account cgroup path        where there is a cgroup
 *     account cgroup             of each figure that is known
 *     account end
 */
#include <string.h>

#include "account.h"
#include "leaktide/invariant.h"

static const char *const part_subjects[] = {
#define ACCOUNT_PART(id, key) ACCOUNT_SUBJECT_PART key,
#include "leaktide/account_parts.def"
};

static const char *const figure_keys[] = {
#define ACCOUNT_FIGURE(id, key) key,
#include "leaktide/account_parts.def"
};

static const char *const cgroup_keys[] = {
#define ACCOUNT_CGROUP(id, key, title) key,
#include "leaktide/account_parts.def"
};

const char *account_part_key(enum account_part part)
{
    return part_subjects[part] + strlen(ACCOUNT_SUBJECT_PART);
}

static size_t cgroup_note_count(const struct account *account)
{
    size_t count = account->cgroup.version != 0;

    for (size_t i = 0; account->cgroup.version && i < ACCOUNT_CGROUP_COUNT; i++)
        count += account->cgroup.figures[i] != UINT64_MAX;
    return count;
}

size_t account_note_count(const struct account *account)
{
    return 2 + account->row_count + ACCOUNT_FIGURE_COUNT + cgroup_note_count(account);
}

/* index: of the notes of the cgroup. */
static struct account_note cgroup_note(const struct account *account, size_t index)
{
    size_t i = 0;

    if (!index--)
        return (struct account_note){ACCOUNT_SUBJECT_CGROUP_AT, account->cgroup.path,
                                     (uint64_t)account->cgroup.version, 0};
    while (account->cgroup.figures[i] == UINT64_MAX || index--)
        i++;
    return (struct account_note){ACCOUNT_SUBJECT_CGROUP, cgroup_keys[i], account->cgroup.figures[i],
                                 0};
}

struct account_note account_note_at(const struct account *account, size_t index)
{
    MT_ASSERT(index < account_note_count(account));
    if (!index--)
        return (struct account_note){ACCOUNT_SUBJECT, "", account->row_count, 0};
    if (index < account->row_count) {
        const struct account_row *row = &account->rows[index];

        return (struct account_note){part_subjects[row->part], row->name, row->resident_bytes,
                                     row->proportional_bytes};
    }
    index -= account->row_count;
    if (index < ACCOUNT_FIGURE_COUNT)
        return (struct account_note){ACCOUNT_SUBJECT_FIGURE, figure_keys[index],
                                     account->figures[index], 0};
    index -= ACCOUNT_FIGURE_COUNT;
    if (index < cgroup_note_count(account))
        return cgroup_note(account, index);
    return (struct account_note){ACCOUNT_SUBJECT_END, "", 0, 0};
}
