/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With one step or none: what the recorded time as a whole kept. Never called a leak.
 *
 *   at start + unreleased in the window - older blocks released in it = at end
 */
#include <inttypes.h>
#include <stdlib.h>

#include "inner_maker.h"
#include "labels.h"
#include "leak_analyses.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "ledger_order.h"
#include "missing.h"
#include "origins.h"
#include "process_end.h"
#include "sentence.h"
#include "window_account.h"
#include "window_say.h"

/* Of the process that has most. */
static uint32_t most_ended_steps(const struct question *question)
{
    uint32_t most = 0;

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        uint32_t count = tally_process_at(question->tally, (uint16_t)i).ended_step_count;

        most = count > most ? count : most;
    }
    return most;
}

static void add_ledger(const struct question *question, struct report *report,
                       struct report_table *table, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    struct window_account account = window_account_of(question->tally, index);
    bool is_known = account.is_released_known;
    int64_t growth = window_growth_bytes(&account);
    const struct field fields[] = {
        {"ledger", "ledger", value_text(label_ledger(question, report_arena(report), index))},
        {"start_bytes", "at start",
         account.is_older_known ? value_bytes(account.older_bytes) : value_none()},
        {"unreleased_bytes", "unreleased", value_bytes(account.unreleased_bytes)},
        {"unreleased_count", "blocks", value_count(account.unreleased_count)},
        {"older_released_bytes", "older, released",
         is_known ? value_bytes(account.released_bytes) : value_none()},
        {"older_released_count", "older blocks", value_count(account.released_count)},
        {"net_growth_bytes", "net growth",
         is_known ? value_change(VALUE_BYTES_CHANGE, growth) : value_none()},
        /* Of what is held beside blocks, only falls are seen, of one block or more. */
        {"net_growth_count", "net blocks",
         ledger->has_older_beside
             ? value_none()
             : value_change(VALUE_COUNT_CHANGE,
                            (int64_t)(account.unreleased_count - account.released_count))},
        {"end_bytes", "at end",
         is_known && account.is_older_known ? value_bytes(account.older_bytes + (uint64_t)growth)
                                            : value_none()},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_ledgers(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "window", "The recorded window", "Nothing was allocated.");

    size_t count, shown;
    uint16_t *order = ledger_order(question->tally, &count);

    shown = order ? ledgers_shown(question, order, count) : 0;
    for (size_t i = 0; i < shown; i++)
        add_ledger(question, report, table, order[i]);
    if (shown < count)
        report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
    free(order);
}

struct remaining {
    const struct origin *origin;
    struct step_sample alive;
};

static int remaining_compare(const void *left, const void *right)
{
    const struct remaining *a = left, *b = right;

    if (a->alive.bytes != b->alive.bytes)
        return a->alive.bytes > b->alive.bytes ? -1 : 1;
    if (a->alive.count != b->alive.count)
        return a->alive.count > b->alive.count ? -1 : 1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

/* What was made in the window and is alive at its end; of a state, what is held. */
static struct step_sample unreleased_of(const struct question *question,
                                        const struct origin *origin)
{
    const struct tally *tally = question->tally;
    bool has_older = tally_is_state(question->tally);
    struct step_sample sum = {0};

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct group *group = tally_group_at(tally, origin->groups[i]);

        if (tally_detail_at(tally, origin->groups[i])->is_older && !has_older)
            continue;
        sum.bytes += group->live_bytes;
        sum.count += group->live_count;
    }
    return sum;
}

static void remark_older(const struct question *question, struct report *report,
                         struct report_table *table)
{
    struct arena *texts = report_arena(report);
    uint64_t bytes = 0, count = tally_older_left_count(question->tally);

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        bytes += tally_ledger_at(question->tally, i)->older_left_bytes;
    if (count && !tally_is_state(question->tally))
        report_table_remark(report, table, "Not in this list: %s in %s older than the recording.",
                            label_size(texts, bytes), label_counted(texts, count, "block"));
}

static void add_remaining(const struct question *question, struct report *report,
                          const struct remaining *rows, size_t count)
{
    struct arena *texts = report_arena(report);
    struct report_table *table = report_table(
        report, "unreleased",
        tally_is_state(question->tally) ? "Held, by site" : "Still alive at the end, by site",
        tally_older_left_count(question->tally) ? "What was made in the recording was released."
                                                : "Everything was released.");
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct origin *origin = rows[i].origin;
        const struct field fields[] = {
            {"alive_bytes", "alive", value_bytes(rows[i].alive.bytes)},
            {"alive_count", "blocks", value_count(rows[i].alive.count)},
            {"site", "site", value_who(question, texts, origin->who)},
            {"operator", "operator", value_name(question, origin->who.operator_text)},
            {"owner", "owner", value_name(question, origin->who.owner_text)},
            {"ledger", "ledger", value_text(label_ledger(question, texts, origin->ledger))},
            {"stack", "stack",
             value_stack_of(question, report, origin_main_who(question, origin, origin_alive))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
    remark_older(question, report, table);
}

/* What was not released of a ledger, outside of the pools above it. Addresses and views are no
 * memory. */
static uint64_t own_unreleased(const struct tally *tally, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);
    uint64_t bytes = 0;

    if (!ledger_is_memory(ledger))
        return 0;
    if (!ledger_is_reserved(ledger))
        return window_account_of(tally, index).unreleased_bytes;
    for (uint32_t i = 1; i < tally_group_count(tally); i++)
        if (tally_group_at(tally, i)->ledger == index && group_is_judged(tally, i) &&
            !tally_detail_at(tally, i)->is_older)
            bytes += tally_group_at(tally, i)->live_bytes;
    return bytes;
}

static bool is_of_helper(const struct tally *tally, uint16_t ledger)
{
    return model_process_at(tally_model(tally), tally_ledger_at(tally, ledger)->process)->is_helper;
}

/* The ledger with most that was not released; the first, where nothing is left. Helpers stand last,
 * and are asked where there is nothing else. */
static bool most_unreleased(const struct tally *tally, uint16_t *best)
{
    size_t count;
    uint16_t *order = ledger_order(tally, &count);
    uint64_t most_bytes = 0;

    if (order && count)
        *best = order[0];
    for (size_t i = 0; order && i < count; i++) {
        uint64_t bytes = own_unreleased(tally, order[i]);

        if (is_of_helper(tally, order[i]) && !is_of_helper(tally, order[0]))
            break;
        if (bytes <= most_bytes)
            continue;
        most_bytes = bytes;
        *best = order[i];
    }
    free(order);
    return order && count;
}

/* "grew by 18.1 MiB", or what can be said without the sizes of older blocks. */
static const char *growth_words(struct report *report, const struct window_account *account)
{
    int64_t growth = window_growth_bytes(account);

    if (!account->is_released_known)
        return translated("may have grown");
    if (!growth)
        return translated("did not grow");
    return report_text(report, "%s by %s", translated(growth > 0 ? "grew" : "shrank"),
                       label_size(report_arena(report), (uint64_t)(growth > 0 ? growth : -growth)));
}

/* What was released of blocks that are older than the window. */
static const char *older_words(struct report *report, const struct window_account *account)
{
    struct arena *texts = report_arena(report);
    const char *blocks = label_counted(texts, account->released_count, "older block");

    if (!account->released_count)
        return "";
    if (!account->is_released_known)
        return report_text(report, ", less %s of unknown size released", blocks);
    return report_text(report, ", less %s in %s released",
                       label_size(texts, account->released_bytes), blocks);
}

/* The largest of a ledger; NULL: none. */
static const struct remaining *largest_of(const struct remaining *rows, size_t count,
                                          uint16_t ledger)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].origin->ledger == ledger)
            return &rows[i];
    return NULL;
}

/* " Most of it, 3.82 MiB in 1,000 blocks, was made by handle (server.cpp:16)." */
static const char *maker_words(const struct question *question, struct report *report,
                               const struct remaining *largest, uint64_t unreleased_bytes)
{
    struct arena *texts = report_arena(report);

    if (!largest || !who_is_known(largest->origin->who) ||
        (largest->alive.count == 1 && largest->alive.bytes == unreleased_bytes))
        return "";
    return report_text(
        report, " %s of it, %s in %s, was made by %s.",
        translated(largest->alive.bytes > unreleased_bytes / 2 ? "Most" : "The largest part"),
        label_size(texts, largest->alive.bytes),
        label_counted(texts, largest->alive.count, "block"),
        label_who(question, texts, largest->origin->who));
}

/* The ledger that holds most. */
static void say_state(const struct question *question, struct report *report,
                      const struct remaining *rows, size_t count)
{
    struct arena *texts = report_arena(report);
    const struct remaining *largest = NULL;
    uint64_t held_bytes = 0, held_count = 0;
    uint16_t most = 0;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->older_left_bytes <= held_bytes)
            continue;
        held_bytes = ledger->older_left_bytes;
        held_count = ledger->older_left_count;
        most = (uint16_t)i;
    }
    for (size_t i = 0; i < count && !largest; i++)
        if (rows[i].origin->ledger == most && who_is_known(rows[i].origin->who))
            largest = &rows[i];
    report_verdict(
        report, RANK_LEAKS, "A STATE without history, so no leak verdict: %s holds %s in %s%s.",
        label_ledger(question, texts, most), label_size(texts, held_bytes),
        label_counted(texts, held_count, "block"),
        largest ? report_text(report, "; the largest known part, %s, was made by %s%s",
                              label_size(texts, largest->alive.bytes),
                              label_who(question, texts, largest->origin->who),
                              inner_maker_words(question, texts, largest->origin, origin_alive))
                : translated("; who made them is not recorded"));
}

/* A window that hardly grew has no news of leaks: its peak is said first. */
static int rank_of(const struct question *question, uint16_t ledger,
                   const struct window_account *account)
{
    enum { share_least = 10 };
    int64_t growth = window_growth_bytes(account);

    return account->is_released_known &&
                   growth < (int64_t)(ledger_figures_of(question, ledger).peak_bytes / share_least)
               ? RANK_NO_GROWTH
               : RANK_LEAKS;
}

/* "host grew by 432 KiB in the recorded window (432 KiB in 113 blocks not released)." */
static const char *window_words(const struct question *question, struct report *report,
                                uint16_t ledger, const struct window_account *account,
                                const struct remaining *largest)
{
    struct arena *texts = report_arena(report);

    return report_text(report, "%s %s in the recorded window (%s in %s not released%s).%s",
                       label_ledger(question, texts, ledger), growth_words(report, account),
                       label_size(texts, account->unreleased_bytes),
                       label_counted(texts, account->unreleased_count, "block"),
                       older_words(report, account),
                       maker_words(question, report, largest, account->unreleased_bytes));
}

/* A program that broke off is to be mended first; marks would not have helped. */
static void say_window(const struct question *question, struct report *report, int rank,
                       const char *words)
{
    struct arena *texts = report_arena(report);
    uint16_t number;
    const struct model_process *program = process_of_program(question, &number);

    if (program && process_ended_badly(program))
        report_verdict(report, RANK_LEAKS, "No leak verdict, as %s %s before a loop was seen: %s",
                       label_process(question, texts, number), process_end_words(texts, program),
                       words);
    else
        report_verdict(report, rank,
                       "No steps, so no leak verdict: %s Mark steps, or name what begins one, to "
                       "find leaks.",
                       words);
}

static void add_verdict(const struct question *question, struct report *report,
                        const struct remaining *rows, size_t count)
{
    const struct remaining *largest;
    const char *unseen = NULL;
    uint16_t best = 0;
    int rank;

    report_outcome(report, REPORT_NO_DATA);
    if (tally_is_state(question->tally)) {
        say_state(question, report, rows, count);
        return;
    }
    if (most_unreleased(question->tally, &best)) {
        struct window_account account = window_account_of(question->tally, best);

        largest = largest_of(rows, count, best);
        rank = rank_of(question, best, &account);
        if (largest)
            unseen =
                label_unseen_callers(question, report_arena(report), best, largest->origin->who);
        say_window(question, report, rank, window_words(question, report, best, &account, largest));
        if (unseen)
            report_verdict(report, rank, "%s", unseen);
    } else {
        report_verdict(report, RANK_LEAKS, "No leak verdict: %s",
                       no_blocks_sentence(question, report_arena(report)));
    }
}

/* Sites with something unreleased, the largest first; for free(). NULL without memory. */
static struct remaining *remaining_of(const struct question *question,
                                      const struct origins *origins, size_t *count)
{
    struct remaining *rows = malloc((origins->count + 1) * sizeof(*rows));

    *count = 0;
    for (size_t i = 0; rows && i < origins->count; i++) {
        rows[*count] =
            (struct remaining){&origins->rows[i], unreleased_of(question, &origins->rows[i])};
        *count += rows[*count].alive.count > 0;
    }
    if (rows)
        qsort(rows, *count, sizeof(*rows), remaining_compare);
    return rows;
}

typedef void (*remaining_user)(const struct question *question, struct report *report,
                               const struct remaining *rows, size_t count);

static void with_remaining(const struct question *question, struct report *report,
                           remaining_user use)
{
    struct origins origins;
    struct remaining *rows;
    size_t count;

    if (!origins_init_of(&origins, question, ORIGINS_BY_SITE, group_is_own)) {
        report_note(report, 0, "window: not enough memory to list sites");
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    rows = remaining_of(question, &origins, &count);
    if (rows)
        use(question, report, rows, count);
    free(rows);
    origins_release(&origins);
}

void window_say(const struct question *question, struct report *report)
{
    /* With steps, or one, the leaks say whether they can judge. */
    if (!most_ended_steps(question))
        with_remaining(question, report, add_verdict);
}

void analyse_window(const struct question *question, struct report *report)
{
    if (most_ended_steps(question) > 1)
        return;
    add_ledgers(question, report);
    with_remaining(question, report, add_remaining);
}
