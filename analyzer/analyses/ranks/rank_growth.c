/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites of all processes, what the rules of leaks say of them, and the leaks as findings.
 */
#include "growth.h"
#include "hash.h"
#include "hash_index.h"
#include "leak_doubt.h"
#include "leak_words.h"
#include "rank_gather_parts.h"
#include "survivor_answers.h"

enum { SITE_SHARE = 1000 };

/* Judged origins, by ledger and name: those of one site may be several, by the size of blocks. */
struct judged_names {
    const struct judged_list *list;
    struct hash_index index;
};

static uint64_t hash_of(uint16_t ledger, const char *name)
{
    return hash_pair(ledger, hash_bytes(name, strlen(name)));
}

static const char *name_of(struct gathering *gathering, struct who who)
{
    return label_who(gathering->question, &gathering->arena, who);
}

static void names_init(struct gathering *gathering, const struct judged_list *list,
                       struct judged_names *names)
{
    names->list = list;
    hash_index_init(&names->index);
    for (size_t i = 0; i < list->count; i++) {
        const struct origin *origin = list->rows[i].origin;

        if (!hash_index_add(&names->index, hash_of(origin->ledger, name_of(gathering, origin->who)),
                            (uint32_t)i))
            gathering->summary->has_failed = true;
    }
}

static const struct judged *judged_of(struct gathering *gathering, const struct judged_names *names,
                                      uint16_t ledger, const char *name)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&names->index, hash_of(ledger, name), &probe, &found)) {
        const struct judged *row = &names->list->rows[found];

        if (row->origin->ledger == ledger &&
            strcmp(name_of(gathering, row->origin->who), name) == 0)
            return row;
    }
    return NULL;
}

/* --- sites ------------------------------------------------------------------------------------ */

static void gather_site(struct gathering *gathering, const struct origin *origin,
                        const struct judged_names *names)
{
    const struct tally *tally = gathering->question->tally;
    struct summary *summary = gathering->summary;
    uint64_t peak_bytes = origin_at_peak(tally, origin).bytes;
    const char *name = name_of(gathering, origin->who);
    const struct judged *judged = judged_of(gathering, names, origin->ledger, name);
    struct step_sample alive;
    size_t row;

    if (!judged && (!peak_bytes ||
                    peak_bytes < tally_ledger_at(tally, origin->ledger)->peak_bytes / SITE_SHARE))
        return;
    alive = origin_alive(tally, origin);
    row = gathered_row(
        gathering, SUMMARY_sites,
        (struct gathered_columns){COLUMN_sites_process_key, COLUMN_sites_pool, COLUMN_sites_device},
        origin->ledger);
    summary_put_text(summary, COLUMN_sites_site_key, row,
                     gathered_site_key(gathering, origin->who));
    summary_put_text(summary, COLUMN_sites_site, row, name);
    summary_put(summary, COLUMN_sites_peak_bytes, row, peak_bytes);
    summary_put(summary, COLUMN_sites_end_bytes, row, alive.bytes);
    summary_put(summary, COLUMN_sites_end_count, row, alive.count);
    if (!judged)
        return;
    summary_put(summary, COLUMN_sites_growth_bytes_per_step, row,
                judged->judgement.growth_per_step);
    summary_put_text(summary, COLUMN_sites_verdict, row,
                     step_verdict_name(judged->judgement.verdict));
}

static void gather_judged_sites(struct gathering *gathering, const struct judged_list *list)
{
    struct judged_names names;
    struct origins origins;

    if (!origins_init(&origins, gathering->question, ORIGINS_BY_SITE)) {
        gathering->summary->has_failed = true;
        return;
    }
    names_init(gathering, list, &names);
    for (size_t i = 0; i < origins.count; i++)
        gather_site(gathering, &origins.rows[i], &names);
    hash_index_release(&names.index);
    origins_release(&origins);
}

/* --- leaks ------------------------------------------------------------------------------------ */

static size_t add_leak(struct gathering *gathering, uint16_t ledger, struct who who,
                       const char *sentence, uint64_t bytes)
{
    struct summary *summary = gathering->summary;
    uint16_t process = tally_ledger_at(gathering->question->tally, ledger)->process;
    size_t row = summary_add(summary, SUMMARY_findings);

    summary_put_text(summary, COLUMN_findings_process_key, row, gathering->keys[process]);
    summary_put_text(summary, COLUMN_findings_kind, row, "leak");
    summary_put_text(summary, COLUMN_findings_sentence, row, sentence);
    summary_put_text(summary, COLUMN_findings_pool, row, gathered_pool(gathering, ledger));
    summary_put_text(summary, COLUMN_findings_site_key, row, gathered_site_key(gathering, who));
    summary_put_text(summary, COLUMN_findings_site, row, name_of(gathering, who));
    summary_put(summary, COLUMN_findings_bytes, row, bytes);
    return row;
}

static void gather_step_leaks(struct gathering *gathering, const struct judged_list *list)
{
    const struct question *question = gathering->question;

    for (size_t i = 0; i < list->verdict_counts[VERDICT_LEAK]; i++) {
        const struct judged *row = &list->rows[i];
        size_t added;

        if (growth_is_told(question->symbols, list, i))
            continue;
        added = add_leak(gathering, row->origin->ledger, row->origin->who,
                         leak_sentence(question, &gathering->arena, list, row), row->weight_bytes);
        summary_put(gathering->summary, COLUMN_findings_growth_bytes_per_step, added,
                    row->judgement.growth_per_step);
        summary_put(gathering->summary, COLUMN_findings_first_step, added,
                    step_number(question->tally, row->steps.process, row->first_step));
    }
}

static void gather_survivors(struct gathering *gathering, const struct survivors *survivors)
{
    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];
        size_t count = survivors_are_leak(process) ? survivors_leak_count(process) : 0;

        for (size_t k = 0; k < count; k++) {
            const struct survivor_origin *origin = &process->origins[k];

            add_leak(gathering, origin->stacks[0].ledger, origin->stacks[0].who,
                     survivor_sentence(gathering->question, &gathering->arena, process, origin),
                     origin->bytes);
        }
    }
}

/* How much of each process was judged, and why not all of it. */
static void put_judged(struct gathering *gathering, const struct survivors *survivors,
                       const struct judged_list *list)
{
    struct summary *summary = gathering->summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++) {
        uint16_t process = gathering->processes[row];
        size_t count = list->origins_of_processes ? list->origins_of_processes[process] : 0;
        enum leak_doubt doubt =
            leak_doubt_of_process(gathering->question, survivors, process, &count);

        summary_put(summary, COLUMN_ranks_judged_count, row, count);
        summary_put_text(summary, COLUMN_ranks_unjudged, row, leak_doubt_word(doubt));
    }
}

void gather_sites(struct gathering *gathering, const struct survivors *survivors)
{
    const struct question *question = gathering->question;
    bool do_stacks_decide = leak_stacks_decide(question, survivors);
    /* Steps that were only found do not say of a site that it is stable, where `leaks` cannot. */
    bool is_doubted = survivors && !growth_steps_decide(question) &&
                      leak_doubt_of(question, survivors) != LEAK_DOUBT_NONE;
    const struct judged_list none = {0};
    struct judged_list list = {0};
    struct origins origins;

    if (!origins_init(&origins, question, ORIGINS_BY_SIZE)) {
        gathering->summary->has_failed = true;
        return;
    }
    if (growth_longest_steps(question).last && !growth_judge(question, &origins, survivors, &list))
        gathering->summary->has_failed = true;
    gather_judged_sites(gathering, is_doubted ? &none : &list);
    if (do_stacks_decide)
        gather_survivors(gathering, survivors);
    else
        gather_step_leaks(gathering, &list);
    put_judged(gathering, survivors, &list);
    growth_release(&list);
    origins_release(&origins);
}
