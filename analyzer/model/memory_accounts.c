/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_accounts.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

static const char *const part_names[] = {
#define ACCOUNT_PART(id, key) key,
#include "leaktide/account_parts.def"
};

static const struct {
    const char *key, *title;
} cgroup_names[] = {
#define ACCOUNT_CGROUP(id, key, title) {key, title},
#include "leaktide/account_parts.def"
};

static const char *const figure_keys[] = {
#define ACCOUNT_FIGURE(id, key) key,
#include "leaktide/account_parts.def"
};

const char *account_part_name(enum account_part part)
{
    MT_ASSERT((size_t)part < ACCOUNT_PART_COUNT);
    return part_names[part];
}

const char *account_cgroup_key(enum account_cgroup_figure figure)
{
    MT_ASSERT((size_t)figure < ACCOUNT_CGROUP_COUNT);
    return cgroup_names[figure].key;
}

const char *account_cgroup_title(enum account_cgroup_figure figure)
{
    MT_ASSERT((size_t)figure < sizeof(cgroup_names) / sizeof(cgroup_names[0]));
    return cgroup_names[figure].title;
}

void memory_accounts_release(struct memory_accounts *accounts)
{
    for (size_t i = 0; i < accounts->count; i++)
        free(accounts->rows[i].rows);
    for (size_t i = 0; i < accounts->end_count; i++)
        free(accounts->ends[i].rows);
    free(accounts->rows);
    free(accounts->ends);
    free(accounts->open.rows);
    free(accounts->kills);
    memset(accounts, 0, sizeof(*accounts));
}

/* --- too many ------------------------------------------------------------------------------ */

size_t memory_accounts_of(const struct memory_accounts *accounts, uint16_t process, size_t *count)
{
    size_t first = 0, end;

    while (first < accounts->count && accounts->rows[first].process != process)
        first++;
    end = first;
    while (end < accounts->count && accounts->rows[end].process == process)
        end++;
    *count = end - first;
    return first;
}

const struct memory_account *memory_accounts_at_exit(const struct memory_accounts *accounts,
                                                     uint16_t process)
{
    for (size_t i = accounts->end_count; i; i--)
        if (accounts->ends[i - 1].process == process)
            return &accounts->ends[i - 1];
    return NULL;
}

struct memory_accounts_all memory_accounts_all_of(const struct memory_accounts *accounts,
                                                  uint16_t process)
{
    struct memory_accounts_all all = {.accounts = accounts,
                                      .at_exit = memory_accounts_at_exit(accounts, process)};

    all.first = memory_accounts_of(accounts, process, &all.row_count);
    all.count = all.row_count + (all.at_exit != NULL);
    return all;
}

size_t memory_accounts_highest(const struct memory_accounts *accounts, size_t first, size_t count)
{
    size_t highest = first;

    MT_ASSERT(count > 0);
    MT_ASSERT(first + count <= accounts->count);
    for (size_t i = first + 1; i < first + count; i++)
        if (accounts->rows[i].figures[ACCOUNT_FIGURE_RESIDENT] >
            accounts->rows[highest].figures[ACCOUNT_FIGURE_RESIDENT])
            highest = i;
    return highest;
}

/* Every second one goes. */
static void thin_out(struct memory_accounts *accounts, size_t first)
{
    size_t highest = memory_accounts_highest(accounts, first, accounts->count - first);
    size_t kept = first;

    MT_ASSERT(accounts->count - first > 2); /* the first, the newest, and one between */
    for (size_t i = first; i < accounts->count; i++) {
        if ((i - first) % 2 == 0 || i == highest || i + 1 == accounts->count)
            accounts->rows[kept++] = accounts->rows[i];
        else
            free(accounts->rows[i].rows);
    }
    accounts->count = kept;
}

/* Of one process they stand together, by time. */
static void accounts_check(const struct memory_accounts *accounts)
{
    const struct memory_account *newest =
        accounts->count ? &accounts->rows[accounts->count - 1] : NULL;

    MT_ASSERT(accounts->count <= accounts->capacity);
    MT_ASSERT(!newest || newest->row_count <= newest->row_capacity);
    MT_ASSERT(!newest || !newest->row_count || newest->rows);
    MT_ASSERT(accounts->count < 2 || newest[-1].process != newest->process ||
              newest[-1].time_ns <= newest->time_ns);
}

/* When the process was read: its notes came later. Not before the account before, which a broken
 * recording may say. */
static uint64_t taken_ns(const struct memory_accounts *accounts)
{
    const struct memory_account *open = &accounts->open;
    const struct memory_account *before =
        accounts->count ? &accounts->rows[accounts->count - 1] : NULL;
    uint64_t age_ns = open->figures[ACCOUNT_FIGURE_AGE_NS];
    uint64_t time_ns = open->time_ns > age_ns ? open->time_ns - age_ns : 0;

    return before && before->process == open->process && before->time_ns > time_ns ? before->time_ns
                                                                                   : time_ns;
}

/* The open one is the last of the list then. */
static bool account_move(struct memory_accounts *accounts, struct memory_account **list,
                         size_t *count, size_t *capacity)
{
    if (!list_has_room(list, capacity, *count, sizeof(**list))) {
        accounts->has_failed = true;
        return false;
    }
    accounts->open.time_ns = taken_ns(accounts);
    (*list)[(*count)++] = accounts->open;
    memset(&accounts->open, 0, sizeof(accounts->open));
    accounts->is_open = false;
    return true;
}

static bool account_close(struct memory_accounts *accounts)
{
    size_t first = accounts->count;

    if (accounts->open.figures[ACCOUNT_FIGURE_AT_EXIT]) {
        account_move(accounts, &accounts->ends, &accounts->end_count, &accounts->end_capacity);
        return false;
    }
    if (!account_move(accounts, &accounts->rows, &accounts->count, &accounts->capacity))
        return false;
    while (first &&
           accounts->rows[first - 1].process == accounts->rows[accounts->count - 1].process)
        first--;
    if (accounts->count - first > MEMORY_ACCOUNTS_MOST)
        thin_out(accounts, first);
    accounts_check(accounts);
    return true;
}

/* --- notes --------------------------------------------------------------------------------- */

static void account_begin(struct memory_accounts *accounts, const struct event *note)
{
    accounts->open.time_ns = note->time_ns;
    accounts->open.process = note->process;
    accounts->open.row_count = 0;
    accounts->open.cgroup_version = 0;
    memset(accounts->open.figures, 0, sizeof(accounts->open.figures));
    memset(accounts->open.cgroup, 0xff, sizeof(accounts->open.cgroup));
    accounts->is_open = true;
    accounts->open_row_count = note->address;
}

static void take_row(struct memory_accounts *accounts, const char *key, const struct event *note)
{
    struct memory_account *open = &accounts->open;
    size_t part = 0;

    while (part < ACCOUNT_PART_COUNT && strcmp(part_names[part], key) != 0)
        part++;
    if (part == ACCOUNT_PART_COUNT) /* of a newer recorder */
        part = ACCOUNT_UNEXPLAINED;
    if (!list_has_room(&open->rows, &open->row_capacity, open->row_count, sizeof(*open->rows))) {
        accounts->has_failed = true;
        return;
    }
    open->rows[open->row_count++] = (struct memory_row){
        .part = (enum account_part)part,
        .name = note->text,
        .resident_bytes = note->address,
        .proportional_bytes = note->value,
    };
}

static void take_figure(struct memory_account *open, const char *key, uint64_t number)
{
    for (size_t i = 0; i < ACCOUNT_FIGURE_COUNT; i++)
        if (strcmp(figure_keys[i], key) == 0)
            open->figures[i] = number;
}

static void take_cgroup(struct memory_account *open, const char *key, uint64_t number)
{
    for (size_t i = 0; i < ACCOUNT_CGROUP_COUNT; i++)
        if (strcmp(cgroup_names[i].key, key) == 0)
            open->cgroup[i] = number;
}

static void take_kill(struct memory_accounts *accounts, const struct event *note)
{
    if (!list_has_room(&accounts->kills, &accounts->kill_capacity, accounts->kill_count,
                       sizeof(*accounts->kills))) {
        accounts->has_failed = true;
        return;
    }
    accounts->kills[accounts->kill_count++] =
        (struct memory_kill){note->process, note->text, note->address, note->value};
}

bool memory_accounts_note(struct memory_accounts *accounts, const struct model *model,
                          const struct event *note)
{
    const size_t part_length = strlen(ACCOUNT_SUBJECT_PART);
    const char *subject, *text;
    bool is_new = false;

    if (note->detail == accounts->foreign && note->detail)
        return false;
    subject = model_text_at(model, note->detail);
    if (strcmp(subject, ACCOUNT_SUBJECT) == 0) {
        account_begin(accounts, note);
        return false;
    }
    if (strncmp(subject, ACCOUNT_SUBJECT " ", strlen(ACCOUNT_SUBJECT " ")) != 0) {
        accounts->foreign = note->detail;
        return false;
    }
    if (strcmp(subject, ACCOUNT_SUBJECT_KILLED) == 0)
        take_kill(accounts, note);
    if (!accounts->is_open || accounts->open.process != note->process)
        return false;
    text = model_text_at(model, note->text);
    if (strncmp(subject, ACCOUNT_SUBJECT_PART, part_length) == 0) {
        take_row(accounts, subject + part_length, note);
    } else if (strcmp(subject, ACCOUNT_SUBJECT_FIGURE) == 0) {
        take_figure(&accounts->open, text, note->address);
    } else if (strcmp(subject, ACCOUNT_SUBJECT_CGROUP) == 0) {
        take_cgroup(&accounts->open, text, note->address);
    } else if (strcmp(subject, ACCOUNT_SUBJECT_CGROUP_AT) == 0) {
        accounts->open.cgroup_path = note->text;
        accounts->open.cgroup_version = (int)note->address;
    } else if (strcmp(subject, ACCOUNT_SUBJECT_MAPPED) == 0 && accounts->open.row_count) {
        accounts->open.rows[accounts->open.row_count - 1].mapped_by = note->text;
    } else if (strcmp(subject, ACCOUNT_SUBJECT_END) == 0) {
        if (accounts->open.row_count == accounts->open_row_count)
            is_new = account_close(accounts);
        accounts->is_open = false;
    }
    return is_new;
}

uint64_t memory_account_part(const struct memory_account *account, enum account_part part)
{
    uint64_t sum = 0;

    MT_ASSERT(account->row_count <= account->row_capacity);
    for (size_t i = 0; i < account->row_count; i++)
        sum += account->rows[i].part == part ? account->rows[i].resident_bytes : 0;
    return sum;
}
