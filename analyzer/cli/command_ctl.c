/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide ctl: speaks to a program that is being recorded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands.h"
#include "control_call.h"
#include "outlet.h"
#include "rings_socket.h"
#include "text_builder.h"

enum { ANSWER_BYTES = 4096, PATIENCE_MS = 10000 };

static const struct option_spec options[] = {
    {0, 0, NULL, NULL, NULL},
};

/* The consumer of the run listens in the abstract name space. */
static int connect_to(int32_t process)
{
    struct sockaddr_un address;
    socklen_t length = mt_socket_address(&address, MT_SOCKET_PROCESS, (unsigned long long)process);
    int call = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (call >= 0 && connect(call, (const struct sockaddr *)&address, length) != 0) {
        close(call);
        return -1;
    }
    return call;
}

/* What it answers until it hangs up; false when nothing comes. */
static bool receive(int call, char *answer, size_t answer_bytes)
{
    struct pollfd wait = {.fd = call, .events = POLLIN};
    size_t size = 0;

    while (size + 1 < answer_bytes && poll(&wait, 1, PATIENCE_MS) > 0) {
        ssize_t got = recv(call, answer + size, answer_bytes - size - 1, 0);

        if (got <= 0)
            break;
        size += (size_t)got;
    }
    answer[size] = 0;
    return size > 0;
}

int control_call(int32_t process, const char *line)
{
    char answer[ANSWER_BYTES];
    int call = connect_to(process);
    bool is_answered;

    if (call < 0 && kill(process, 0) != 0 && errno == ESRCH)
        return complain(EXIT_INPUT, "process %d: there is no such process", (int)process);
    if (call < 0)
        return complain(
            EXIT_INPUT,
            "process %d: no recorder answers: it is not recorded, has recorded nothing yet, "
            "or runs with --control=no",
            (int)process);
    if (!mt_socket_is_trusted(call, process)) {
        close(call);
        return complain(EXIT_INPUT,
                        "process %d: somebody else answers for it, who is not to be believed",
                        (int)process);
    }
    is_answered = send(call, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line) &&
                  receive(call, answer, sizeof(answer));
    close(call);
    if (!is_answered)
        return complain(EXIT_INPUT, "process %d: no answer; it may be another user's, or stopped",
                        (int)process);
    if (strncmp(answer, "ok", 2) != 0) {
        answer[strcspn(answer, "\n")] = 0;
        return complain(EXIT_USAGE, "process %d: %s", (int)process, answer);
    }
    outlet_print_lines(stdout, answer);
    return EXIT_FINE;
}

static int run(const struct command *command, const struct options *given)
{
    struct text_builder line;
    char *end = NULL;
    long process = given->operand_count ? strtol(given->operands[0], &end, 10) : 0;
    int status;

    if (given->operand_count < 2 || !end || *end || process < 1 || process > INT_MAX)
        return complain(EXIT_USAGE, "%s needs a process and a word: leaktide ctl PID status",
                        command->name);
    text_init(&line);
    for (size_t i = 1; i < given->operand_count; i++)
        text_add_format(&line, "%s%s", i > 1 ? " " : "", given->operands[i]);
    status = control_call((int32_t)process, text_get(&line));
    text_release(&line);
    return status;
}

const struct command command_ctl = {
    .name = "ctl",
    .examples = "  leaktide ctl 4711 status\n"
                "  leaktide ctl 4711 set steps=100-120\n",
    .operands = "PID WORD...",
    .meaning = "speak to a program that is being recorded",
    .options = options,
    .run = run,
    .remark = "  start, stop        record, or pause: frees of what was recorded still are\n"
              "  step               the next step begins\n"
              "  snapshot [NAME]    read the counters now, and write everything to disk\n"
              "  status             what is going on\n"
              "  set steps=A-B      record only these; all ends it\n"
              "  set NAME=VALUE     as the option: events, level, call-stack, device,\n"
              "                     collect-mode, analysis, watch",
};
