/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How complete a recording is, and what had to be put right in it.
 */
#include "recording_notes.h"

static void note_if(struct report *report, uint64_t count, const char *sentence)
{
    if (count)
        report_note(report, count, sentence);
}

static void add_process_notes(const struct question *question, struct report *report)
{
    static const char *const reasons[MT_LOST_KINDS] = {
        [MT_LOST_DISK] = "events lost: the trace file could not be written",
        [MT_LOST_MEMORY] = "events lost: no memory for the ring of a thread",
        [MT_LOST_NESTED] = "events lost: made inside of the recorder, by a signal handler",
        [MT_LOST_MALFORMED] = "events lost: they did not read back",
        [MT_LOST_RECORDER] = "events lost: a ring was full and nobody emptied it",
    };
    struct model *model = tally_model(question->tally);
    uint64_t lost[MT_LOST_KINDS] = {0};
    uint64_t incomplete = 0;

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        incomplete += !process->is_complete;
        for (size_t kind = 0; kind < MT_LOST_KINDS; kind++)
            lost[kind] += process->lost_counts[kind];
    }
    for (size_t kind = 0; kind < MT_LOST_KINDS; kind++)
        note_if(report, lost[kind], reasons[kind] ? reasons[kind] : "events lost");
    note_if(report, model_lost_count(model),
            "events lost: of processes for which no trace could be made");
    note_if(
        report, incomplete,
        "process images that did not close their trace (exec, _exit, killed, or still running): "
        "read from what they left");
}

void analyse_notes(const struct question *question, struct report *report)
{
    const struct tally_counts *counts = tally_counts_of(question->tally);

    add_process_notes(question, report);
    for (size_t i = 0; i < model_note_count(question->model); i++) {
        uint64_t count;
        const char *sentence = model_note_at(question->model, i, &count);

        report_note(report, count, sentence);
    }
    note_if(report, counts->unknown_frees,
            "frees of blocks allocated before the recording, or by a call that is not recorded");
    note_if(report, counts->overwritten,
            "blocks whose address was handed out again without a free: taken as freed then");
    note_if(report, counts->late_frees + counts->early_frees,
            "pairs put in order: two threads passed on an address within 20 us");
    note_if(report, counts->unmatched_ends,
            "ends of operators, ranges, tags or steps without a beginning: left out");
    note_if(report, counts->merged_contexts,
            "operator or owner names too many to keep apart: their blocks have none");
}
