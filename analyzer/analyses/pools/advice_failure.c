/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about a request that failed: by why it did not fit.
 */
#include "failed_request.h"
#include "labels.h"
#include "sentence.h"

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

static void look_for_absurd_request(const struct rule *rule, const struct evidence *evidence,
                                    struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->most_held_bytes &&
        failed->size_bytes / absurd_times >= failed->most_held_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               failed->limit_bytes
                                   ? translated("%s were asked for at once, %s times the most "
                                                "that a pool of this process ever held")
                                   : translated("%s were asked for at once, %s times the most "
                                                "that a pool of this device ever held"),
                               failed_request_size(failed, report_arena(evidence->report)),
                               label_count(report_arena(evidence->report),
                                           failed->size_bytes / failed->most_held_bytes)),
                   0, false);
}

/* Without it, there would have been room. Pieces that were too small are the lesser cause if they
 * are less, all together. */
static void look_for_growth_until_full(const struct rule *rule, const struct evidence *evidence,
                                       struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->since && failed->grown_bytes &&
        (failed->unused_bytes < failed->size_bytes || !failed->knows_pieces ||
         failed->unused_bytes < failed->grown_bytes) &&
        failed->grown_bytes + failed->unused_bytes + failed->room_bytes >= failed->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s grew by %s since %s; without that the request would have had "
                               "room",
                               who(evidence, failed->grown), size(evidence, failed->grown_bytes),
                               failed->since),
                   failed->grown_bytes, false);
}

static void look_for_pieces_too_small(const struct rule *rule, const struct evidence *evidence,
                                      struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->knows_pieces && failed->unused_bytes >= failed->size_bytes &&
        failed->largest_piece_bytes < failed->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s were unused, but in no piece above %s: %s would have fitted",
                               size(evidence, failed->unused_bytes),
                               size(evidence, failed->largest_piece_bytes),
                               size(evidence, failed->size_bytes)),
                   failed->unused_bytes, true);
}

static void look_for_waiting_blocks(const struct rule *rule, const struct evidence *evidence,
                                    struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;

    if (failed && failed->waiting_bytes &&
        failed->waiting_bytes + failed->unused_bytes >= failed->size_bytes)
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s were freed but waited for another stream; with them the request "
                               "would have had room",
                               size(evidence, failed->waiting_bytes)),
                   failed->waiting_bytes, true);
}

/* "24.0 MiB more than the pools had unused and the device had left were needed" */
static const char *shortage(const struct evidence *evidence, uint64_t bytes)
{
    const char *words =
        evidence->failed->room_bytes
            ? translated("%s more than the pools had unused and the device had left "
                         "were needed")
            : translated("%s more than the pools had unused were needed");

    return report_text(evidence->report, words, size(evidence, bytes));
}

static void look_for_too_little(const struct rule *rule, const struct evidence *evidence,
                                struct advices *advices)
{
    const struct failed_request *failed = evidence->failed;
    uint64_t there_bytes = failed ? failed->unused_bytes + failed->room_bytes : 0;
    const char *words;

    if (!failed || !failed->knows_pools || there_bytes >= failed->size_bytes)
        return;
    words = shortage(evidence, failed->size_bytes - there_bytes);
    if (failed->holder_bytes)
        words = report_text(evidence->report, "%s; %s held the most, %s", words,
                            who(evidence, failed->holder), size(evidence, failed->holder_bytes));
    advice_add(advices, rule, words, 0, false);
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
