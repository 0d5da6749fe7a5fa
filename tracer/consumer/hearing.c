/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "hearing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts.h"
#include "clock.h"
#include "control_file.h"
#include "control_words.h"
#include "drain_workers.h"
#include "rings_socket.h"

enum {
    CALLERS_MOST = 16,
    STRANGERS_MOST = 8, /* of these: of other users, which may be no part of the run */
    READY_MOST = 32,
    TAKEN_MOST = 64,      /* callers in one look */
    PATIENCE_LOOKS = 500, /* then a caller that says nothing is sent away */
    LOOK_AT_FILE_MS = 200,
    BACKLOG = 128
};

/* Who has called and not yet said anything. */
struct caller {
    int call; /* -1: free */
    bool is_stranger;
    int looks_left;
    struct recorded *recorded; /* NULL: the run is meant */
};

static struct {
    const char *folder;
    uint64_t run_id;
    int descriptor; /* of run.rings */
    int run_socket;
    int waiting; /* for any of the sockets: epoll */
    struct caller callers[CALLERS_MOST];
} hearing;

/* --- sockets ------------------------------------------------------------------------------- */

static int listen_at(const char *prefix, unsigned long long number)
{
    struct sockaddr_un address;
    socklen_t length = mt_socket_address(&address, prefix, number);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listening >= 0 && (bind(listening, (const struct sockaddr *)&address, length) != 0 ||
                           listen(listening, BACKLOG) != 0)) {
        close(listening);
        return -1;
    }
    return listening;
}

static void wait_for(int socket, void *whose)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = whose};

    if (socket >= 0)
        epoll_ctl(hearing.waiting, EPOLL_CTL_ADD, socket, &event);
}

void hearing_begin(const char *folder, uint64_t run_id, int descriptor)
{
    hearing.folder = folder;
    hearing.run_id = run_id;
    hearing.descriptor = descriptor;
    hearing.waiting = epoll_create1(EPOLL_CLOEXEC);
    hearing.run_socket = listen_at(MT_SOCKET_RUN, (uint32_t)run_id);
    wait_for(hearing.run_socket, NULL);
    for (size_t i = 0; i < CALLERS_MOST; i++)
        hearing.callers[i].call = -1;
}

void hearing_add(struct recorded *recorded)
{
    if (!recorded->place->facts.is_controlled || !recorded->process_id)
        return;
    recorded->listening = listen_at(MT_SOCKET_PROCESS, (unsigned long long)recorded->process_id);
    wait_for(recorded->listening, recorded);
}

static void hang_up(struct caller *caller)
{
    close(caller->call);
    caller->call = -1;
}

void hearing_remove(struct recorded *recorded)
{
    for (size_t i = 0; i < CALLERS_MOST; i++)
        if (hearing.callers[i].call >= 0 && hearing.callers[i].recorded == recorded)
            hang_up(&hearing.callers[i]);
}

/* --- a process ----------------------------------------------------------------------------- */

/* Changes of that kind that the process has not taken yet. */
static uint32_t pending(const struct mt_rings_process *place, uint32_t kind)
{
    uint32_t taken = __atomic_load_n(&place->changes_taken, __ATOMIC_ACQUIRE), count = 0;
    uint32_t waiting = place->changes_posted - taken;

    for (uint32_t i = 0; i < waiting && i < MT_RINGS_CHANGES; i++, taken++) {
        struct control_change change;

        memcpy(&change, place->changes[taken % MT_RINGS_CHANGES].bytes, sizeof(change));
        count += change.kind == kind;
    }
    return count;
}

/* Done by the process before its next event. A pause holds at once. */
static bool post(struct mt_rings_process *place, const struct control_change *change)
{
    uint32_t taken = __atomic_load_n(&place->changes_taken, __ATOMIC_ACQUIRE);
    bool was_paused = __atomic_load_n(&place->attention, __ATOMIC_RELAXED) & MT_ATTENTION_PAUSED;
    bool is_paused = control_pauses(change, place->header.step_count, was_paused);

    if (place->changes_posted - taken >= MT_RINGS_CHANGES)
        return false;
    memcpy(place->changes[place->changes_posted % MT_RINGS_CHANGES].bytes, change, sizeof(*change));
    __atomic_store_n(&place->changes_posted, place->changes_posted + 1, __ATOMIC_RELEASE);
    __atomic_fetch_or(&place->attention,
                      MT_ATTENTION_CHANGES | (is_paused ? MT_ATTENTION_PAUSED : 0),
                      __ATOMIC_ACQ_REL);
    if (!is_paused)
        __atomic_fetch_and(&place->attention, ~(uint32_t)MT_ATTENTION_PAUSED, __ATOMIC_ACQ_REL);
    return true;
}

static void say_step(const struct mt_rings_process *place, char *answer)
{
    snprintf(answer, CONTROL_ANSWER_BYTES, "ok step %" PRIu64 "\n",
             place->header.step_count + pending(place, CHANGE_STEP));
}

static void take_snapshot(struct recorded *recorded, const char *name, char *answer)
{
    recorded_sample_now(recorded);
    accounts_want(recorded);
    __atomic_store_n(&recorded->place->counters_wanted, UINT32_MAX, __ATOMIC_RELAXED);
    own_stream_mark(&recorded->stream, name, "leaktide");
    drain_process(recorded);
    recorded_publish(recorded);
    snprintf(answer, CONTROL_ANSWER_BYTES, "ok all that is recorded is on disk\n");
}

static void say_status(struct recorded *recorded, char *answer)
{
    uint32_t attention = __atomic_load_n(&recorded->place->attention, __ATOMIC_RELAXED);
    struct control_status status = {
        .is_paused = attention & MT_ATTENTION_PAUSED,
        .process_id = recorded->place->process_id,
        .header = recorded->trace.header,
        .event_count = recorded->trace.header->event_count,
        .folder = hearing.folder,
    };
    size_t length;

    recorded_publish(recorded);
    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        status.lost_count += recorded->trace.header->lost_counts[i];
    control_say_status(&status, answer, CONTROL_ANSWER_BYTES);
    length = strlen(answer);
    accounts_say(recorded, clock_now_ns(CLOCK_MONOTONIC), answer + length,
                 CONTROL_ANSWER_BYTES - length);
}

static void answer_for(struct recorded *recorded, char *line, char *answer)
{
    struct mt_rings_process *place = recorded->place;
    const struct mt_recording_facts facts = place->facts; /* the process's own memory may change */
    struct control_change change;
    enum control_word word =
        control_understand(line, &facts, &change, answer, CONTROL_ANSWER_BYTES);

    if ((word == CONTROL_CHANGE || word == CONTROL_STEP) && !post(place, &change)) {
        snprintf(answer, CONTROL_ANSWER_BYTES,
                 "error: the program has recorded nothing since the last %d commands: repeat "
                 "this one when it goes on\n",
                 MT_RINGS_CHANGES);
        return;
    }
    if (word == CONTROL_STEP)
        say_step(place, answer);
    else if (word == CONTROL_SNAPSHOT)
        take_snapshot(recorded, change.text, answer);
    else if (word == CONTROL_STATUS)
        say_status(recorded, answer);
}

/* --- the run ------------------------------------------------------------------------------- */

static void hand_out(int call)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    char byte = 'r';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &hearing.descriptor, sizeof(int));
    (void)!sendmsg(call, &message, MSG_NOSIGNAL);
}

static void answer_for_run(int call, const char *line)
{
    size_t word = strlen(MT_RINGS_ASK);

    if (strncmp(line, MT_RINGS_ASK, word) == 0 && strtoull(line + word, NULL, 16) == hearing.run_id)
        hand_out(call);
}

/* A line in one piece, or the caller has gone. */
static void serve(struct caller *caller)
{
    char line[CONTROL_LINE_BYTES], answer[CONTROL_ANSWER_BYTES] = "";
    ssize_t size = recv(caller->call, line, sizeof(line) - 1, 0);

    if (size < 0 && --caller->looks_left > 0)
        return;
    if (size > 0) {
        line[size] = 0;
        line[strcspn(line, "\r\n")] = 0;
        if (!caller->recorded)
            answer_for_run(caller->call, line);
        else
            answer_for(caller->recorded, line, answer);
        (void)!send(caller->call, answer, strlen(answer), MSG_NOSIGNAL);
    }
    hang_up(caller);
}

/* --- who calls ----------------------------------------------------------------------------- */

static uint32_t stranger_count(void)
{
    uint32_t count = 0;

    for (size_t i = 0; i < CALLERS_MOST; i++)
        count += hearing.callers[i].call >= 0 && hearing.callers[i].is_stranger;
    return count;
}

/* The stranger that has said nothing for longest; NULL: there is none. */
static struct caller *oldest_stranger(void)
{
    struct caller *oldest = NULL;

    for (struct caller *c = hearing.callers; c < hearing.callers + CALLERS_MOST; c++)
        if (c->call >= 0 && c->is_stranger && (!oldest || c->looks_left < oldest->looks_left))
            oldest = c;
    return oldest;
}

/* A free seat, or that of a stranger, who is sent away; NULL: all are of our own users. */
static struct caller *seat_for(bool is_stranger)
{
    struct caller *seat = NULL;

    if (!is_stranger || stranger_count() < STRANGERS_MOST)
        for (size_t i = 0; i < CALLERS_MOST && !seat; i++)
            if (hearing.callers[i].call < 0)
                seat = &hearing.callers[i];
    if (seat)
        return seat;
    seat = oldest_stranger();
    if (seat)
        hang_up(seat);
    return seat;
}

/* Of who asks for the run, its number is asked; who asks for a process must be trusted. */
static void take_caller(int call, struct recorded *recorded)
{
    struct caller caller = {
        .call = call,
        .is_stranger = !mt_socket_is_trusted(call, recorded ? recorded->process_id : 0),
        .looks_left = PATIENCE_LOOKS,
        .recorded = recorded,
    };
    struct caller *seat;

    if (!caller.is_stranger || !recorded)
        serve(&caller); /* who has spoken already needs no seat */
    else
        hang_up(&caller);
    if (caller.call < 0)
        return;
    seat = seat_for(caller.is_stranger);
    if (seat)
        *seat = caller;
    else
        hang_up(&caller);
}

/* All that wait: a line that is full keeps others from calling. */
static void take_callers(int listening, struct recorded *recorded)
{
    for (int i = 0; i < TAKEN_MOST; i++) {
        int call = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (call < 0)
            return;
        take_caller(call, recorded);
    }
}

void hearing_look(void)
{
    struct epoll_event ready[READY_MOST];
    int count = epoll_wait(hearing.waiting, ready, READY_MOST, 0);

    for (int i = 0; i < count; i++) {
        struct recorded *recorded = ready[i].data.ptr;

        take_callers(recorded ? recorded->listening : hearing.run_socket, recorded);
    }
    for (size_t i = 0; i < CALLERS_MOST; i++)
        if (hearing.callers[i].call >= 0)
            serve(&hearing.callers[i]);
}

/* --- control files ------------------------------------------------------------------------- */

/* False: not yet. A file that says nothing is done with. */
static bool read_and_post(struct mt_rings_process *place, const char *path)
{
    struct control_change change;

    return control_file_read(path, place->facts.rank, &change) != 0 || post(place, &change);
}

void hearing_look_at_file(struct recorded *recorded, uint64_t now_ns)
{
    char path[MT_RINGS_CONTROL_FILE];
    struct stat status;
    int64_t written_ns;

    if (!recorded->place->facts.control_file[0] || now_ns < recorded->next_file_look_ns)
        return;
    recorded->next_file_look_ns = now_ns + LOOK_AT_FILE_MS * MILLISECOND_NS;
    snprintf(path, sizeof(path), "%.*s", MT_RINGS_CONTROL_FILE - 1,
             recorded->place->facts.control_file);
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    written_ns = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    if (written_ns != recorded->place->control_file_ns && read_and_post(recorded->place, path))
        recorded->place->control_file_ns = written_ns; /* another consumer knows it then, too */
}
