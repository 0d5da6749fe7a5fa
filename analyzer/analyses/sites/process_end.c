/* SPDX-License-Identifier: Apache-2.0 */
#include "process_end.h"

#include <signal.h>
#include <stddef.h>

#include "sentence.h"

/* Those that end programs. */
static const struct {
    int number;
    const char *name;
} signals[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
};

/* NULL: it has none here. */
static const char *signal_name(int number)
{
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (signals[i].number == number)
            return signals[i].name;
    return NULL;
}

bool process_exit_is_known(const struct model_process *process)
{
    return !process->end_signal &&
           (process->has_exited || process->ended_at_once || process->is_end_known);
}

bool process_ended_well(const struct model_process *process)
{
    return process_exit_is_known(process) && !process->exit_status;
}

bool process_ended_badly(const struct model_process *process)
{
    return process->end_signal || (process_exit_is_known(process) && process->exit_status);
}

const struct model_process *process_of_program(const struct question *question, uint16_t *process)
{
    struct model *model = tally_model(question->tally);
    const struct model_process *found = NULL;

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *row = model_process_at(model, (uint16_t)i);

        if (row->process_id != model_process_at(model, 0)->process_id ||
            row->input != model_process_at(model, 0)->input ||
            (found && found->start_ns > row->start_ns))
            continue;
        found = row;
        *process = (uint16_t)i;
    }
    return found;
}

const char *process_end_words(struct arena *arena, const struct model_process *process)
{
    const char *name = signal_name(process->end_signal);

    if (name)
        return sentence(arena, "was ended by signal %u (%s)", (unsigned)process->end_signal, name);
    if (process->end_signal)
        return sentence(arena, "was ended by signal %u", (unsigned)process->end_signal);
    return sentence(arena, "exited with %u", (unsigned)process->exit_status);
}
