/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets of a run's consumer, streams in the abstract name space: "leaktide-run-<lower half of
 * the run's number>" for the run, "leaktide-<pid>" for each recorded process.
 *
 * Who may not open run.rings by its path (after setuid, in a chroot) says MT_RINGS_ASK and the
 * whole number in hexadecimal, which only processes of the run know, and gets the descriptor. Both
 * sides look who the other one is.
 */
#ifndef LEAKTIDE_TRACER_RINGS_SOCKET_H
#define LEAKTIDE_TRACER_RINGS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MT_RINGS_ASK      "rings "
#define MT_SOCKET_RUN     "leaktide-run"
#define MT_SOCKET_PROCESS "leaktide"

/* Fills the address; returns its length. prefix: one of these. */
static inline socklen_t mt_socket_address(struct sockaddr_un *address, const char *prefix,
                                          unsigned long long number)
{
    int length;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    length =
        snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s-%llu", prefix, number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/*
 * Whether the other side is root, the user that this process is, or, with process not 0, the one
 * that that process has become. Anybody may take the name of a socket before its owner does.
 */
static inline bool mt_socket_is_trusted(int call, pid_t process)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    char path[32];
    struct stat status;

    if (getsockopt(call, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    if (peer.uid == 0 || peer.uid == getuid() || peer.uid == geteuid())
        return true;
    snprintf(path, sizeof(path), "/proc/%d", (int)process);
    return process && stat(path, &status) == 0 && status.st_uid == peer.uid;
}

#endif
