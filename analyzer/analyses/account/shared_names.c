/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of shared memory that nobody unlinked: their memory stays when the last process has ended,
 * until the machine is started again.
 *
 * A name is a block of the process that made it. One that another process unlinked is still alive
 * there: what that process noted takes it away, whichever of the two is read first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "labels.h"
#include "list.h"

/* A single one may be meant to stay, and small ones do no harm. */
enum { REPEATED_LEAST = 4, SIZE_BITS_LEAST = 20 };

struct left_name {
    uint64_t address, bytes, born_ns;
    uint32_t group, name; /* name: text; 0: not known */
};

/* A note about one: that it was unlinked, or what it is called. */
struct noted_name {
    uint64_t address, time_ns;
    uint32_t name;
};

struct noted_names {
    struct noted_name *rows;
    size_t count, capacity;
};

struct shared_names {
    const struct question *question;
    struct left_name *left;
    size_t left_count, left_capacity;
    struct noted_names unlinked, told;
    bool has_any, has_failed; /* has_any: some were made */
};

/* What one site left. */
struct left_site {
    uint64_t bytes, count, largest_bytes;
    uint32_t group, name;
};

/* --- reading ------------------------------------------------------------------------------- */

static bool on_over(void *context, const struct life *life)
{
    struct shared_names *names = context;
    const struct ledger *ledger = tally_ledger_at(question_ledgers(names->question), life->ledger);

    if (life->freed_event ||
        model_pool_at(names->question->model, ledger->pool)->id != POOL_SHARED_NAME)
        return true;
    if (!list_has_room(&names->left, &names->left_capacity, names->left_count,
                       sizeof(*names->left))) {
        names->has_failed = true;
        return false;
    }
    names->left[names->left_count++] = (struct left_name){
        .address = life->address,
        .bytes = life->size_bytes,
        .born_ns = life->born_ns,
        .group = life->group,
    };
    return true;
}

static bool note_add(struct noted_names *noted, const struct event *event)
{
    if (!list_has_room(&noted->rows, &noted->capacity, noted->count, sizeof(*noted->rows)))
        return false;
    noted->rows[noted->count++] = (struct noted_name){event->address, event->time_ns, event->text};
    return true;
}

static bool on_note(void *context, const struct event *event)
{
    struct shared_names *names = context;
    const char *subject = model_text_at(names->question->model, event->detail);

    if (strcmp(subject, "shared memory unlinked") == 0)
        names->has_failed |= !note_add(&names->unlinked, event);
    else if (strcmp(subject, "shared memory named") == 0)
        names->has_failed |= !note_add(&names->told, event);
    return !names->has_failed;
}

static void *names_begin(const struct question *question, struct life_visitor *visitor)
{
    struct shared_names *names = calloc(1, sizeof(*names));

    if (!names)
        return NULL;
    names->question = question;
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        names->has_any |=
            model_pool_at(question->model, tally_ledger_at(question->tally, i)->pool)->id ==
            POOL_SHARED_NAME;
    if (names->has_any)
        *visitor = (struct life_visitor){
            .context = names, .over = on_over, .event = on_note, .event_kinds = 1U << EVENT_NOTE};
    return names;
}

/* --- which of them are left ---------------------------------------------------------------- */

static int noted_compare(const void *left, const void *right)
{
    const struct noted_name *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void sort(struct noted_names *noted)
{
    if (noted->count)
        qsort(noted->rows, noted->count, sizeof(*noted->rows), noted_compare);
}

/* The first note about it since it was made, of sorted ones; NULL: there is none. */
static const struct noted_name *note_of(const struct noted_names *noted,
                                        const struct left_name *left)
{
    const struct noted_name wanted = {.address = left->address, .time_ns = left->born_ns};
    size_t low = 0, high = noted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (noted_compare(&noted->rows[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < noted->count && noted->rows[low].address == left->address ? &noted->rows[low]
                                                                           : NULL;
}

static int group_compare(const void *left, const void *right)
{
    const struct left_name *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static void drop_unlinked(struct shared_names *names)
{
    size_t kept = 0;

    sort(&names->unlinked);
    sort(&names->told);
    for (size_t i = 0; i < names->left_count; i++) {
        struct left_name *left = &names->left[i];
        const struct noted_name *told = note_of(&names->told, left);

        if (note_of(&names->unlinked, left))
            continue;
        left->name = told ? told->name : 0;
        names->left[kept++] = *left;
    }
    names->left_count = kept;
    if (kept)
        qsort(names->left, kept, sizeof(*names->left), group_compare);
}

/* --- by site ------------------------------------------------------------------------------- */

static int site_compare(const void *left, const void *right)
{
    const struct left_site *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* sites: room for as many as there are names. Returns how many there are, the largest first. */
static size_t sites_make(const struct shared_names *names, struct left_site *sites)
{
    size_t count = 0;

    for (size_t i = 0; i < names->left_count; i++) {
        const struct left_name *left = &names->left[i];
        struct left_site *site;

        if (!count || sites[count - 1].group != left->group)
            sites[count++] = (struct left_site){.group = left->group};
        site = &sites[count - 1];
        site->bytes += left->bytes;
        site->count++;
        if (left->name && (!site->name || left->bytes > site->largest_bytes)) {
            site->largest_bytes = left->bytes;
            site->name = left->name;
        }
    }
    if (count)
        qsort(sites, count, sizeof(*sites), site_compare);
    return count;
}

static struct who who_of(const struct question *question, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    return (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
}

static void add_site(const struct question *question, struct report *report,
                     struct report_table *table, const struct left_site *site)
{
    struct arena *texts = report_arena(report);
    const struct ledger *ledger =
        tally_ledger_at(question->tally, tally_group_ledger(question->tally, site->group));
    const struct field fields[] = {
        {"site", "made by", value_who(question, texts, who_of(question, site->group))},
        {"left_bytes", "left", value_bytes(site->bytes)},
        {"name_count", "names", value_count(site->count)},
        {"name", "one of them", value_name(question, site->name)},
        {"process", "of", value_text(label_process(question, texts, ledger->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

/* Somebody may still unlink them, as the manager of PyTorch's shared memory does. */
static bool is_somebody_running(const struct question *question)
{
    for (size_t i = 0; i < model_process_count(question->model); i++)
        if (!model_process_at(tally_model(question->tally), (uint16_t)i)->is_complete)
            return true;
    return false;
}

static void say(const struct question *question, struct report *report,
                const struct left_site *sites, size_t count)
{
    struct arena *texts = report_arena(report);
    uint64_t bytes = 0, names = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += sites[i].bytes;
        names += sites[i].count;
    }
    if (!(bytes >> SIZE_BITS_LEAST) || is_somebody_running(question))
        return;
    report_verdict(report, RANK_LEAKS,
                   "SHARED MEMORY: %s with %s not unlinked: this memory stays when the program has "
                   "ended. Most of it, %s in %" PRIu64 ", was made by %s%s%s. To do: shm_unlink, "
                   "unlink, or shmctl with IPC_RMID.",
                   label_counted(texts, names, "name"), label_size(texts, bytes),
                   label_size(texts, sites[0].bytes), sites[0].count,
                   label_who(question, texts, who_of(question, sites[0].group)),
                   sites[0].name ? ": " : "",
                   sites[0].name ? model_text_at(question->model, sites[0].name) : "");
    if (sites[0].count >= REPEATED_LEAST)
        report_outcome(report, REPORT_FOUND);
}

static void names_write(void *state, struct report *report)
{
    struct shared_names *names = state;
    const struct question *question = names->question;
    struct report_table *table;
    struct left_site *sites;
    size_t count, shown;

    if (!names->has_any)
        return;
    table = report_table(report, "shared_names", "Names of shared memory that are left", NULL);
    drop_unlinked(names);
    sites = malloc((names->left_count + 1) * sizeof(*sites));
    if (!sites || names->has_failed) {
        report_note(report, 0, "names of shared memory that are left: not enough memory");
        free(sites);
        return;
    }
    count = sites_make(names, sites);
    shown = rows_shown(question, count);
    for (size_t i = 0; i < shown; i++)
        add_site(question, report, table, &sites[i]);
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
    say(question, report, sites, count);
    free(sites);
}

static void names_release(void *state)
{
    struct shared_names *names = state;

    free(names->left);
    free(names->unlinked.rows);
    free(names->told.rows);
    free(names);
}

const struct block_analysis shared_names_analysis = {
    .name = "names of shared memory",
    .is_early = true,
    .begin = names_begin,
    .write = names_write,
    .release = names_release,
};
