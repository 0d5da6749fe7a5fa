/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only at the start of a process image, and only where run.rings could not be opened by its path.
 * The run's number is known to its processes alone; who answers
 * must be root or the user that this process is.
 */
#define _GNU_SOURCE
#include "served_call.h"

#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "rings_socket.h"

enum { PATIENCE_MS = 500 };

static int descriptor_receive(int call)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *header;
    int descriptor = -1;

    if (recvmsg(call, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    return descriptor;
}

int served_call(uint64_t run_id)
{
    const struct timeval patience = {.tv_usec = PATIENCE_MS * 1000};
    struct sockaddr_un address;
    socklen_t length = mt_socket_address(&address, MT_SOCKET_RUN, (uint32_t)run_id);
    char line[64];
    int size = snprintf(line, sizeof(line), MT_RINGS_ASK "%llx\n", (unsigned long long)run_id);
    int call, descriptor = -1;

    if (!run_id)
        return -1;
    call = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (call < 0)
        return -1;
    setsockopt(call, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(call, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)); /* of connect, too */
    if (connect(call, (const struct sockaddr *)&address, length) == 0 &&
        mt_socket_is_trusted(call, 0) && send(call, line, (size_t)size, MSG_NOSIGNAL) == size)
        descriptor = descriptor_receive(call);
    close(call);
    return descriptor;
}
