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

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MT_RINGS_ASK "rings "

/* Fills the address; returns its length. prefix: "leaktide-run" or "leaktide". */
static inline socklen_t mt_socket_address(struct sockaddr_un *address, const char *prefix,
                                          unsigned long long number)
{
    int length;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    length =
        snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s-%llu", prefix, number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

#endif
