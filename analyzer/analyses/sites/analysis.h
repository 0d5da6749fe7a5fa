/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to a recording, and how it is answered: into a report.
 *
 * An analysis reads the tally and adds verdicts, findings and tables. It stands in the folder of
 * its topic, which uses this folder and no other topic.
 *
 * One that has to see the blocks themselves needs the recording read again. All such analyses of a
 * question share one reading: each says first what it wants to see, then the recording is read,
 * then all write into the report, in the order of the list.
 */
#ifndef LEAKTIDE_ANALYSIS_H
#define LEAKTIDE_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "event_source.h"
#include "lives.h"
#include "report.h"
#include "step_source.h"
#include "symbols.h"
#include "tally.h"

enum { WARM_UP_DEFAULT = -1, NEAR_PEAK_PERCENT = 5 };

struct rank_wish; /* rank_gather.h */

/* Which blocks are listed: those for which all of it is true. */
struct block_filter {
    const char *name; /* part of the name of the site, operator or owner; NULL: any */
    uint64_t least_bytes, most_bytes;
    /* Alive at some time in [from, to]; since the start of the run, or since 1970. */
    uint64_t from_ns, to_ns;
};

/* Of a recording: what is thought of it, and for which question. analyses/verdict/verdict.h */
struct verdict_keeper {
    struct verdict *verdict; /* NULL: nobody has asked */
    int warm_up_steps;
};

struct question {
    const struct tally *tally;
    /* While a reading adds up what it tells to visitors: the sums of the one before, whole, as
     * question_ledgers() gives them; else NULL. */
    const struct tally *before;
    const struct model *model;
    struct symbols *symbols;
    const struct event_source *events; /* for a second reading: lives.h */
    const char *source_kind;           /* "leaktide run" */
    size_t top;                        /* rows of a list; 0: all */
    const struct step_rule *steps;     /* where they come from; NULL: marks */
    const char *step_name;             /* asked for; NULL: none */
    bool has_chosen_steps;             /* some were left out on request */
    int warm_up_steps;                 /* not judged; WARM_UP_DEFAULT: chosen */
    unsigned margin_percent;           /* near a peak: at most so much below it */
    struct block_filter blocks;
    unsigned stack_depth;           /* calls from the start, or from who asked; 0: all */
    unsigned least_percent;         /* branches that are smaller are left out */
    const char *allocator_settings; /* tried beside the usual ones; NULL: none */
    bool is_for_pictures;           /* read once more for what a picture needs */
    const char *picture_name;       /* before the names of its datasets; NULL: none */
    const char *parallel;           /* how ranks are numbered; NULL: not known */
    const struct rank_wish *wish;   /* a summary that is to be filled; NULL: none is wanted */
    const char *why; /* of which sites people are told why: a part of their names; NULL: of none */
    struct verdict_keeper *keeper; /* NULL: the verdict is made for each who asks */
};

/* Ledgers with their peaks, and accounts: whole at any time, and with the numbers of the tally. */
static inline const struct tally *question_ledgers(const struct question *question)
{
    return question->before ? question->before : question->tally;
}

/*
 * Sums that are still to be added up, with steps and owners that the first reading found: visitors
 * may see the blocks in the same reading. Until then the question's are those of ledgers alone.
 */
struct pending_sums {
    void *context;
    /*
     * question: its sums are replaced. *is_done: they are right, and the visitors saw everything;
     * else what seemed to be steps is none, and all begin anew: the next call reads without them.
     */
    enum mt_result (*read)(void *context, struct question *question,
                           const struct life_visitor *visitors, size_t visitor_count, bool *is_done,
                           struct mt_error *error);
};

/* One that sees every block. */
struct block_analysis {
    const char *name; /* before what is said when it fails: "near the peak" */
    /* It needs no sums of steps before the last block, and of ledgers those of question_ledgers();
     * and it takes groups that come up while it sees blocks. */
    bool is_early;
    /* Returns a state of its own, NULL when there is no memory; a visitor that is left as it is
     * sees nothing. Nothing is written yet. Analyses with the same begin() share one state. */
    void *(*begin)(const struct question *question, struct life_visitor *visitor);
    /* After the last block; not when the reading failed. */
    void (*write)(void *state, struct report *report);
    void (*release)(void *state);
};

/* Either of the two. */
struct analysis {
    void (*write)(const struct question *question, struct report *report);
    const struct block_analysis *of_blocks;
};

/* Runs a list, and then another, with one reading for both. further: NULL: none. */
void analyses_run(const struct analysis *analyses, const struct analysis *further,
                  const struct question *question, struct report *report);
/* The same where sums are pending. Results are those of the reading; what only one analysis could
 * not do is a note in the report. The question's own sums may be gone afterwards. */
enum mt_result analyses_run_pending(const struct analysis *analyses, const struct analysis *further,
                                    const struct question *question,
                                    const struct pending_sums *pending, struct report *report,
                                    struct mt_error *error);
/* All that see blocks are early ones. */
bool analyses_are_early(const struct analysis *analyses);

/* Order of the verdicts' sentences. */
enum verdict_rank {
    RANK_INCOMPLETE = -1, /* before all others, of a comparison too: missing.h */
    RANK_LEAKS,
    RANK_PEAK,
    RANK_NO_GROWTH, /* no leak verdict, and nothing to look at */
    RANK_RESIDENT,
    RANK_FRAGMENTATION,
    RANK_STEPS,
    RANK_OPERATORS,
    RANK_MODULES,
    RANK_TOTALS
};

#endif
