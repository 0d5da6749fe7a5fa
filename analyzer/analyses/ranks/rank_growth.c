/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites of all processes, what the rules of leaks say of them, and the leaks as findings.
 */
#include "hash.h"
#include "hash_index.h"
#include "leak_words.h"
#include "ledger_layers.h"
#include "rank_gather_parts.h"

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

    if (!origins_init_of(&origins, gathering->question, ORIGINS_BY_SITE, group_is_own)) {
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

static void add_leak(struct gathering *gathering, const struct leak *leak)
{
    const struct question *question = gathering->question;
    struct summary *summary = gathering->summary;
    size_t row = summary_add(summary, SUMMARY_findings);

    summary_put_text(summary, COLUMN_findings_process_key, row, gathering->keys[leak->process]);
    summary_put_text(summary, COLUMN_findings_kind, row, "leak");
    summary_put_text(summary, COLUMN_findings_sentence, row,
                     leak_sentence(question, &gathering->arena, leak));
    summary_put_text(summary, COLUMN_findings_pool, row, gathered_pool(gathering, leak->ledger));
    summary_put_text(summary, COLUMN_findings_site_key, row,
                     gathered_site_key(gathering, leak->who));
    summary_put_text(summary, COLUMN_findings_site, row, leak->name);
    summary_put(summary, COLUMN_findings_bytes, row, leak->bytes);
    if (leak->rate_bytes)
        summary_put(summary, COLUMN_findings_growth_bytes_per_step, row, leak->rate_bytes);
    if (leak->row)
        summary_put(summary, COLUMN_findings_first_step, row,
                    step_number(question->tally, leak->process, leak->row->first_step));
}

/* How much of each process was judged, and why not all of it. */
static void put_judged(struct gathering *gathering, const struct verdict *verdict)
{
    struct summary *summary = gathering->summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_ranks); row++) {
        size_t count;
        const struct doubt *doubt =
            verdict_doubt_of(gathering->question, verdict, gathering->processes[row], &count);

        summary_put(summary, COLUMN_ranks_judged_count, row, count);
        summary_put_text(summary, COLUMN_ranks_unjudged, row,
                         doubt_word(doubt ? doubt->kind : DOUBT_NONE));
    }
}

void gather_sites(struct gathering *gathering, const struct verdict *verdict)
{
    const struct question *question = gathering->question;
    /* Steps that were only found do not say of a site that it is stable, where `leaks` cannot. */
    bool is_doubted =
        verdict && verdict->survivors && !growth_steps_decide(question) && verdict->doubt_count;
    const struct judged_list none = {0};

    if (!verdict) {
        gathering->summary->has_failed = true;
        return;
    }
    gather_judged_sites(gathering, is_doubted ? &none : verdict->sites);
    for (size_t i = 0; i < verdict->leak_count; i++)
        add_leak(gathering, &verdict->leaks[i]);
    put_judged(gathering, verdict);
}
