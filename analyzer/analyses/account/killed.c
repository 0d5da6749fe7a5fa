/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that the kernel killed when its cgroup had no memory left: where its memory was, and
 * who held it.
 *
 * The kernel counts for the cgroup alone. It is taken to have chosen, of the recorded processes
 * that ended there without an exit, those that were largest: so it chooses itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "killed.h"
#include "labels.h"
#include "resident_rise.h"
#include "sentence.h"

enum { PARTS_SAID = 3, NO_LIMIT_BITS = 63 };

bool was_killed_for_memory(const struct question *question, uint16_t process)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);

    for (size_t i = 0; i < accounts->kill_count; i++)
        if (accounts->kills[i].process == process)
            return true;
    return false;
}

bool cgroup_has_limit(uint64_t limit_bytes)
{
    return !(limit_bytes >> NO_LIMIT_BITS);
}

const char *cgroup_limit_words(struct report *report, uint64_t limit_bytes)
{
    return cgroup_has_limit(limit_bytes)
               ? report_text(report, " (limit %s)", label_size(report_arena(report), limit_bytes))
               : "";
}

/* One that was killed. */
struct victim {
    const struct memory_kill *kill;
    const struct memory_account *account;         /* the last; NULL: there was none */
    uint64_t end_ns, resident_bytes, resident_ns; /* as last seen; 0: nobody looked */
};

/* What one site held. */
struct holding {
    uint32_t group;
    uint64_t bytes, count;
};

/* --- which of them ------------------------------------------------------------------------- */

static void look_at_samples(const struct question *question, struct victim *victim)
{
    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (row->process != victim->kill->process || row->last_ns < victim->resident_ns ||
            strcmp(model_text_at(question->model, row->counter), "process resident") != 0)
            continue;
        victim->resident_ns = row->last_ns;
        victim->resident_bytes = row->last_bytes;
    }
}

static struct victim victim_of(const struct question *question, const struct memory_kill *kill)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    struct victim victim = {
        .kill = kill,
        .end_ns = model_process_at(tally_model(question->tally), kill->process)->end_ns};
    size_t count, first = memory_accounts_of(accounts, kill->process, &count);

    if (count) {
        victim.account = &accounts->rows[first + count - 1];
        victim.resident_ns = victim.account->time_ns;
        victim.resident_bytes = victim.account->figures[ACCOUNT_FIGURE_RESIDENT];
    }
    look_at_samples(question, &victim);
    return victim;
}

/* Of one cgroup together, the largest first. */
static int victim_compare(const void *left, const void *right)
{
    const struct victim *a = left, *b = right;

    if (a->kill->path != b->kill->path)
        return a->kill->path < b->kill->path ? -1 : 1;
    if (a->resident_bytes != b->resident_bytes)
        return a->resident_bytes > b->resident_bytes ? -1 : 1;
    return (a->kill->process > b->kill->process) - (a->kill->process < b->kill->process);
}

static int larger_first(const void *left, const void *right)
{
    const struct victim *a = left, *b = right;

    if (a->resident_bytes != b->resident_bytes)
        return a->resident_bytes > b->resident_bytes ? -1 : 1;
    return (a->kill->process > b->kill->process) - (a->kill->process < b->kill->process);
}

/* Of each cgroup as many as were killed there. Returns how many there are. */
static size_t choose(struct victim *victims, size_t count)
{
    size_t kept = 0, chosen = 0;

    qsort(victims, count, sizeof(*victims), victim_compare);
    for (size_t i = 0; i < count; i++) {
        if (i && victims[i].kill->path != victims[i - 1].kill->path)
            chosen = 0;
        if (chosen++ < victims[i].kill->kills)
            victims[kept++] = victims[i];
    }
    qsort(victims, kept, sizeof(*victims), larger_first);
    return kept;
}

/* --- who held it --------------------------------------------------------------------------- */

static bool is_of_host(const struct ledger *ledger)
{
    return ledger->device < 0 && (ledger->kind == LEDGER_MEMORY || ledger->kind == LEDGER_HOST);
}

static int holding_compare(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* rows: room for as many as there are groups. */
static size_t holdings_of(const struct question *question, uint16_t process, struct holding *rows)
{
    const struct tally *tally = question->tally;
    size_t count = 0;

    for (uint32_t i = 1; i < tally_group_count(tally); i++) {
        const struct group *group = tally_group_at(tally, i);
        const struct ledger *ledger = tally_ledger_at(tally, group->ledger);

        if (ledger->process == process && group->live_count && is_of_host(ledger))
            rows[count++] = (struct holding){i, group->live_bytes, group->live_count};
    }
    if (count)
        qsort(rows, count, sizeof(*rows), holding_compare);
    return count;
}

static struct who who_of(const struct question *question, uint32_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    return (struct who){detail->site, detail->operator_text, detail->owner_text,
                        detail->size_class};
}

static void add_holding(const struct question *question, struct report *report,
                        struct report_table *table, const struct holding *holding)
{
    struct arena *texts = report_arena(report);
    const struct field fields[] = {
        {"site", "who", value_who(question, texts, who_of(question, holding->group))},
        {"held_bytes", "held", value_bytes(holding->bytes)},
        {"block_count", "blocks", value_count(holding->count)},
        {"ledger", "ledger",
         value_text(
             label_ledger(question, texts, tally_group_ledger(question->tally, holding->group)))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

/* Returns the largest; of no group where nothing is recorded. */
static struct holding show_holdings(const struct question *question, struct report *report,
                                    const struct victim *victim)
{
    struct report_table *table = report_table(report, "killed_holders",
                                              "Who held memory when the "
                                              "kernel killed it",
                                              NULL);
    struct holding *rows = malloc((tally_group_count(question->tally) + 1) * sizeof(*rows));
    struct holding largest = {0};
    size_t count = rows ? holdings_of(question, victim->kill->process, rows) : 0;
    size_t shown = rows_shown(question, count);

    if (!rows)
        report_note(report, 0, "oom: not enough memory");
    for (size_t i = 0; i < shown; i++)
        add_holding(question, report, table, &rows[i]);
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
    if (count)
        largest = rows[0];
    free(rows);
    return largest;
}

/* --- in words ------------------------------------------------------------------------------ */

/* "60.0 MiB blocks of malloc, 3.00 MiB code and its data" */
static const char *parts_words(struct report *report, const struct memory_account *account)
{
    bool is_said[ACCOUNT_PART_COUNT] = {false};
    const char *words = "";

    for (int i = 0; i < PARTS_SAID; i++) {
        uint64_t most_bytes = 0;
        int most = 0;

        for (int part = 0; part < ACCOUNT_PART_COUNT; part++)
            if (!is_said[part] && memory_account_part(account, part) > most_bytes) {
                most_bytes = memory_account_part(account, part);
                most = part;
            }
        if (!most_bytes)
            break;
        is_said[most] = true;
        words = report_text(report, "%s%s%s %s", words, i ? ", " : "",
                            label_size(report_arena(report), most_bytes),
                            translated(account_part_name(most)));
    }
    return words;
}

/* There is none, or a sample since then was larger by an eighth. */
static bool is_account_old(const struct victim *victim)
{
    uint64_t bytes = victim->account ? victim->account->figures[ACCOUNT_FIGURE_RESIDENT] : 0;

    return victim->resident_bytes > bytes + bytes / 8;
}

static void say(const struct question *question, struct report *report, const struct victim *victim,
                const struct holding *largest)
{
    struct arena *texts = report_arena(report);

    report_verdict(report, RANK_LEAKS,
                   "KILLED: the kernel ended %s, as there was no memory left in its cgroup %s%s.",
                   label_process(question, texts, victim->kill->process),
                   model_text_at(question->model, victim->kill->path),
                   cgroup_limit_words(report, victim->kill->limit));
    if (victim->account)
        report_verdict(report, RANK_LEAKS, "Its last account, %s before the end: %s resident: %s.",
                       label_duration(texts, risen_bytes(victim->account->time_ns, victim->end_ns)),
                       label_size(texts, victim->account->figures[ACCOUNT_FIGURE_RESIDENT]),
                       parts_words(report, victim->account));
    if (is_account_old(victim))
        report_verdict(report, RANK_LEAKS, "It had %s resident, %s before the end.",
                       label_size(texts, victim->resident_bytes),
                       label_duration(texts, risen_bytes(victim->resident_ns, victim->end_ns)));
    if (largest->group)
        report_verdict(
            report, RANK_LEAKS, "Most of what it held at the end, %s in %s, was made by %s.",
            label_size(texts, largest->bytes), label_counted(texts, largest->count, "block"),
            label_who(question, texts, who_of(question, largest->group)));
}

static void add_victim(const struct question *question, struct report *report,
                       struct report_table *table, const struct victim *victim)
{
    struct arena *texts = report_arena(report);
    bool has_limit = cgroup_has_limit(victim->kill->limit);
    bool is_seen = victim->resident_bytes != 0;
    const struct field fields[] = {
        {"process", "process", value_text(label_process(question, texts, victim->kill->process))},
        {"time_ns", "at", value_time(victim->end_ns)},
        {"resident_bytes", "resident",
         is_seen ? value_bytes(victim->resident_bytes) : value_none()},
        {"seen_ns", "as of", is_seen ? value_time(victim->resident_ns) : value_none()},
        {"limit_bytes", "limit", has_limit ? value_bytes(victim->kill->limit) : value_none()},
        {"cgroup", "cgroup", value_name(question, victim->kill->path)},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void analyse_killed(const struct question *question, struct report *report)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    struct victim *victims = malloc((accounts->kill_count + 1) * sizeof(*victims));
    struct report_table *table;
    struct holding largest;
    size_t count = 0;

    for (size_t i = 0; victims && i < accounts->kill_count; i++)
        if (!model_process_at(tally_model(question->tally), accounts->kills[i].process)->has_exited)
            victims[count++] = victim_of(question, &accounts->kills[i]);
    if (!victims)
        report_note(report, 0, "oom: not enough memory");
    count = count ? choose(victims, count) : 0;
    if (count) {
        table = report_table(report, "killed", "Processes that the kernel killed for memory", NULL);
        for (size_t i = 0; i < count; i++)
            add_victim(question, report, table, &victims[i]);
        largest = show_holdings(question, report, &victims[0]);
        say(question, report, &victims[0], &largest);
    }
    free(victims);
}
