/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about a request that failed: by why it did not fit.
 */
#include <inttypes.h>

#include "failed_request.h"
#include "labels.h"
#include "ledger_figures.h"

/* Times what the whole device had in use. */
enum { absurd_times = 16 };

static const char *size(const struct evidence *evidence, uint64_t bytes)
{
    return label_size(report_arena(evidence->report), bytes);
}

static const char *who(const struct evidence *evidence, struct who who)
{
    return label_who(evidence->question, report_arena(evidence->report), who);
}

/* The most that any pool of the device ever had. */
static uint64_t most_held(const struct evidence *evidence)
{
    const struct tally *tally = evidence->question->tally;
    const struct ledger *failed = tally_ledger_at(tally, evidence->failed->failure->ledger);
    uint64_t most_bytes = 0;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        uint64_t held_bytes = ledger_figures_of(evidence->question, (uint16_t)i).held_bytes;

        if (ledger->process == failed->process && ledger->device == failed->device &&
            held_bytes > most_bytes)
            most_bytes = held_bytes;
    }
    return most_bytes;
}

static void look_for_absurd_request(const struct rule *rule, const struct evidence *evidence,
                                    struct advices *advices)
{
    uint64_t most_bytes;

    if (!evidence->failed)
        return;
    most_bytes = most_held(evidence);
    if (most_bytes && evidence->failed->failure->size_bytes / absurd_times >= most_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s were asked for at once, %s times the most that a pool of this "
                               "device ever held",
                               size(evidence, evidence->failed->failure->size_bytes),
                               label_count(report_arena(evidence->report),
                                           evidence->failed->failure->size_bytes / most_bytes)),
                   0, false);
}

/* Without it, there would have been room. */
static void look_for_growth_until_full(const struct rule *rule, const struct evidence *evidence,
                                       struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->since_step && failed->grown_bytes &&
        (failed->unused_bytes < failed->failure->size_bytes || !failed->knows_pieces) &&
        failed->grown_bytes + failed->unused_bytes >= failed->failure->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s grew by %s since step %" PRIu32
                               "; without that the request would have had room",
                               who(evidence, failed->grown), size(evidence, failed->grown_bytes),
                               failed->since_step),
                   failed->grown_bytes, false);
}

static void look_for_pieces_too_small(const struct rule *rule, const struct evidence *evidence,
                                      struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->knows_pieces && failed->unused_bytes >= failed->failure->size_bytes &&
        failed->largest_piece_bytes < failed->failure->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s were unused, but in no piece above %s: %s would have fitted",
                               size(evidence, failed->unused_bytes),
                               size(evidence, failed->largest_piece_bytes),
                               size(evidence, failed->failure->size_bytes)),
                   failed->unused_bytes, true);
}

static void look_for_waiting_blocks(const struct rule *rule, const struct evidence *evidence,
                                    struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->waiting_bytes &&
        failed->waiting_bytes + failed->unused_bytes >= failed->failure->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s were freed but waited for another stream; with them the request "
                               "would have had room",
                               size(evidence, failed->waiting_bytes)),
                   failed->waiting_bytes, true);
}

static void look_for_too_little(const struct rule *rule, const struct evidence *evidence,
                                struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->knows_pools && failed->unused_bytes < failed->failure->size_bytes &&
        failed->holder_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s more than the pools had unused were needed; %s held the most, "
                               "%s",
                               size(evidence, failed->failure->size_bytes - failed->unused_bytes),
                               who(evidence, failed->holder), size(evidence, failed->holder_bytes)),
                   0, false);
}

/* The first that has its evidence is the one that speaks. */
const struct rule failure_rules[] = {
    {"absurd request",
     "look at how its size is computed: bytes or elements, a wrong shape, a "
     "negative number taken as unsigned",
     look_for_absurd_request, false},
    {"growth until full", "stop this growth; leaktide leaks says whether it is a leak",
     look_for_growth_until_full, false},
    {"pieces too small",
     "let segments grow (expandable_segments:True), or keep blocks that stay away from those that "
     "go; leaktide frag says who keeps the segments",
     look_for_pieces_too_small, false},
    {"blocks that wait",
     "let fewer blocks wait for other streams: record_stream() late, or synchronise before large "
     "requests",
     look_for_waiting_blocks, false},
    {"too little memory",
     "make room: smaller batches, or what leaktide peak lists under what would lower it",
     look_for_too_little, false},
    {NULL, NULL, NULL, false},
};
