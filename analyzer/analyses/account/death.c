/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program ended, where that was no good end, and why as far as that is known.
 */
#include <signal.h>

#include "account_analyses.h"
#include "killed.h"
#include "labels.h"
#include "process_end.h"
#include "refusals.h"
#include "sentence.h"

enum { SHELL_SIGNALS = 128, SIGNAL_MOST = 64 };

/* That it was not for memory: the kernel counts in the control group whom it ended for that. */
static const char *cgroup_words(const struct question *question, struct report *report,
                                uint16_t process)
{
    const struct memory_accounts *accounts = tally_accounts(question->tally);
    const struct memory_account *account;
    size_t count, first = memory_accounts_of(accounts, process, &count);

    if (!count)
        return "";
    account = &accounts->rows[first + count - 1];
    if (account->cgroup[ACCOUNT_CGROUP_OOM_KILLS] == UINT64_MAX)
        return "";
    return report_text(report,
                       ", and the kernel ended no process of its cgroup%s for want of memory "
                       "while it ran",
                       cgroup_limit_words(report, account->cgroup[ACCOUNT_CGROUP_LIMIT]));
}

static void say_killed(const struct question *question, struct report *report, uint16_t process)
{
    report_verdict(report, RANK_LEAKS,
                   "KILLED FROM OUTSIDE: %s was ended by signal 9 (SIGKILL). No request for memory "
                   "had failed%s.",
                   label_process(question, report_arena(report), process),
                   cgroup_words(question, report, process));
}

/* A shell says so of what it started. */
static const char *signal_of_status(struct report *report, const struct model_process *ended)
{
    unsigned status = ended->end_signal ? 0 : ended->exit_status;

    if (status <= SHELL_SIGNALS || status > SHELL_SIGNALS + SIGNAL_MOST)
        return "";
    return report_text(report, ", as a shell does where signal %u ended what it ran",
                       status - SHELL_SIGNALS);
}

/* An exit status alone is a fact of the recording: many programs have one that is no death. */
static void say_died(const struct question *question, struct report *report, uint16_t process,
                     const struct model_process *ended)
{
    struct arena *texts = report_arena(report);

    if (!ended->end_signal && !*signal_of_status(report, ended))
        return;
    report_verdict(report, RANK_LEAKS, "DIED: %s %s%s.", label_process(question, texts, process),
                   process_end_words(texts, ended), signal_of_status(report, ended));
}

static void say_died_of(const struct question *question, struct report *report, uint16_t process,
                        const struct model_process *ended, const struct failure *failure)
{
    struct arena *texts = report_arena(report);
    uint64_t after_ns = ended->end_ns > failure->time_ns ? ended->end_ns - failure->time_ns : 0;

    report_verdict(report, RANK_LEAKS, "DIED: %s %s%s, %s after that request.",
                   label_process(question, texts, process), process_end_words(texts, ended),
                   signal_of_status(report, ended), label_duration(texts, after_ns));
}

void analyse_death(const struct question *question, struct report *report)
{
    uint16_t process;
    const struct model_process *ended = process_of_program(question, &process);
    size_t told;

    if (!ended || !process_ended_badly(ended) || was_killed_for_memory(question, process))
        return;
    told = refusal_of(question->tally, process);
    if (told != SIZE_MAX &&
        refusal_fate(question->tally, tally_failure_at(question->tally, told)) != REFUSAL_SURVIVED)
        say_died_of(question, report, process, ended, tally_failure_at(question->tally, told));
    else if (ended->end_signal == SIGKILL)
        say_killed(question, report, process);
    else
        say_died(question, report, process, ended);
}
