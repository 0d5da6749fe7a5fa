/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How complete a recording is, and what had to be put right in it.
 */
#include "recording_notes.h"

#include "labels.h"
#include "sentence.h"

struct notes {
    struct report *report;
    const char *name; /* before each; NULL: there is one recording only */
};

static void add_note(const struct notes *notes, uint64_t count, const char *sentence)
{
    report_note(notes->report, count,
                notes->name
                    ? report_text(notes->report, "%s: %s", notes->name, translated(sentence))
                    : sentence);
}

static void note_if(const struct notes *notes, uint64_t count, const char *sentence)
{
    if (count)
        add_note(notes, count, sentence);
}

static void add_process_notes(const struct question *question, const struct notes *notes)
{
    static const char *const reasons[MT_LOST_KINDS] = {
        [MT_LOST_DISK] = "events lost: the trace file could not be written",
        [MT_LOST_MEMORY] = "events lost: no memory for the ring of a thread",
        [MT_LOST_NESTED] = "events lost: made inside of the recorder, by a signal handler",
        [MT_LOST_MALFORMED] = "events lost: they did not read back",
        [MT_LOST_RECORDER] = "events lost: a ring was full and nobody emptied it",
        [MT_LOST_STOPPED] = "events lost: a ring was full while the process that empties it "
                            "(leaktide-drain) was stopped",
        [MT_LOST_WAITING] = "events lost: a ring was full while the process that empties it "
                            "(leaktide-drain) waited for a disk for more than 60 s",
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
        note_if(notes, lost[kind], reasons[kind] ? reasons[kind] : "events lost");
    note_if(notes, model_lost_count(model),
            "events lost: of processes for which no trace could be made");
    note_if(
        notes, incomplete,
        "process images that did not close their trace (exec, _exit, killed, or still running): "
        "read from what they left");
}

static void add_impossible(const struct question *question, const struct notes *notes)
{
    struct arena *texts = report_arena(notes->report);

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        if (!ledger_reserved_is_possible(tally_ledger_at(question->tally, i)))
            add_note(notes, 0,
                     report_text(notes->report,
                                 "%s: more was in use than it says it reserved: what it reserved "
                                 "is not used for any verdict",
                                 label_ledger(question, texts, (uint16_t)i)));
}

static void add_notes(const struct question *question, const struct notes *notes)
{
    const struct tally_counts *counts = tally_counts_of(question->tally);

    add_process_notes(question, notes);
    add_impossible(question, notes);
    for (size_t i = 0; i < model_note_count(question->model); i++) {
        uint64_t count;
        const char *sentence = model_note_at(question->model, i, &count);

        add_note(notes, count, sentence);
    }
    note_if(notes, counts->unknown_frees,
            "frees of blocks allocated before the recording, or by a call that is not recorded");
    note_if(notes, counts->overwritten,
            "blocks whose address was handed out again without a free: taken as freed then");
    note_if(notes, counts->late_frees + counts->early_frees,
            "pairs put in order: two threads passed on an address within 20 us");
    note_if(notes, counts->unmatched_ends,
            "ends of operators, ranges, tags or steps without a beginning: left out");
    note_if(notes, counts->merged_contexts,
            "operator or owner names too many to keep apart: their blocks have none");
}

void analyse_notes(const struct question *question, struct report *report)
{
    add_notes(question, &(struct notes){report, NULL});
}

void analyse_notes_of(const struct question *question, const char *name, struct report *report)
{
    add_notes(question, &(struct notes){report, name});
}
