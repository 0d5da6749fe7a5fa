/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket "memtide-<pid>" in the abstract name space, which leaves no file behind. One caller at a
 * time says one line and gets the answer. Only the user of this process and root are heard.
 */
#define _GNU_SOURCE
#include "control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, ANSWER_BYTES = 4096, PATIENCE_TICKS = 50 };

static struct {
    pid_t owner; /* a forked child opens its own */
    int listening;
    int caller;
    unsigned waited_ticks;
} control = {.listening = -1, .caller = -1};

static void drop(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

static void listen_as(pid_t process)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "memtide-%d", (int)process);

    drop(&control.listening);
    drop(&control.caller);
    control.owner = process;
    control.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (control.listening < 0)
        return;
    if (bind(control.listening, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0 ||
        listen(control.listening, 4) != 0)
        drop(&control.listening);
}

static bool is_trusted(int caller)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(caller, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static void take_caller(void)
{
    if (control.caller >= 0)
        return;
    control.caller = accept4(control.listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    control.waited_ticks = 0;
    if (control.caller >= 0 && !is_trusted(control.caller))
        drop(&control.caller);
}

/* A line in one piece, or the caller has gone. */
static void serve_caller(void)
{
    char line[LINE_BYTES], answer[ANSWER_BYTES] = "";
    ssize_t size = recv(control.caller, line, sizeof(line) - 1, 0);

    if (size < 0 && ++control.waited_ticks < PATIENCE_TICKS)
        return;
    if (size > 0) {
        line[size] = 0;
        line[strcspn(line, "\r\n")] = 0;
        control_obey(line, answer, sizeof(answer));
        (void)!send(control.caller, answer, strlen(answer), MSG_NOSIGNAL);
    }
    drop(&control.caller);
}

void control_socket_tick(void)
{
    pid_t process = getpid();

    if (control.owner != process)
        listen_as(process);
    if (control.listening < 0)
        return;
    take_caller();
    if (control.caller >= 0)
        serve_caller();
}
