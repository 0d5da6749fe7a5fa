/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control words of msmemscope, to a program that is being recorded.
 *
 * There, the program itself sums up what it holds; here its recording is read while it goes on, so
 * such words are answered with where it stands and the command that reads it.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "compat_command.h"
#include "control_call.h"
#include "outlet.h"
#include "text_builder.h"

static const struct control_word {
    const char *word; /* the beginning of what is said */
    const char *ours; /* NULL: nothing is asked of the program */
    const char *hint; /* printed after it */
} control_words[] = {
    {"display memory block", "status", "blocks one by one: leaktide blocks FOLDER"},
    {"display memory summary", "status", "by pool and site: leaktide report FOLDER"},
    {"display host_leak summary", "status", "what grows: leaktide leaks FOLDER"},
    {"display config", "status", NULL},
    {"display hook", "status", NULL},
    {"display analyzer", "status", NULL},
    {"help", NULL,
     "start, stop, step, snapshot, status, set events=LIST|steps=A-B|watch=A,B,\n"
     "display memory summary|memory block|host_leak summary|config|hook|analyzer, help, exit"},
    {"exit", NULL, "each command is a session of its own"},
};

static const struct control_word *find(const char *said)
{
    for (size_t i = 0; i < sizeof(control_words) / sizeof(control_words[0]); i++) {
        size_t length = strlen(control_words[i].word);

        if (strncmp(said, control_words[i].word, length) == 0 && strchr(" ", said[length]))
            return &control_words[i];
    }
    return NULL;
}

/* `set config --analysis=leaks` there is `set analysis=leaks` here; other words are the same. */
static int say(const struct compat_request *request, const char *said)
{
    static const char set_config[] = "set config --";
    struct text_builder ours;
    int status;

    if (strncmp(said, set_config, sizeof(set_config) - 1) != 0)
        return control_call(request->attach_pid, said);
    text_init(&ours);
    text_add(&ours, "set ");
    text_add(&ours, said + sizeof(set_config) - 1);
    status = control_call(request->attach_pid, text_get(&ours));
    text_release(&ours);
    return status;
}

int compat_control(const struct compat_request *request)
{
    const char *said = request->attach_command ? request->attach_command : "status";
    const struct control_word *known = find(said);
    int status = EXIT_FINE;

    if (!known)
        return say(request, said);
    if (known->ours)
        status = control_call(request->attach_pid, known->ours);
    if (status == EXIT_FINE && known->hint)
        outlet_print(stdout, "%s\n", known->hint);
    return status;
}
