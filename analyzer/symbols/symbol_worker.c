/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF data, read by processes of their own.
 *
 *   parent  addresses ->             -> child: libdwarf
 *           <- for each its frames <-
 *
 * Debug data may come from anywhere, and older versions of libdwarf damage their memory when it is
 * not what it should be. So a child reads it: when that dies, or does not answer, there are no more
 * names from this file, and that is all. Texts that come back are kept once.
 *
 * Many addresses at once are asked of several children, as many as there are processors: what
 * takes long is to read the units they lie in, and each reads other units.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "keyed_table.h"
#include "memory_failures.h"
#include "symbol_child.h"
#include "table.h"

enum {
    answer_ms = 20000,
    hands_most = 4,
    hand_addresses = 1024,       /* fewer are not worth another child */
    file_most_bytes = 256 << 20, /* more is not read by several: each has it in memory */
};

/* An answer that came before its question. */
struct known {
    uint64_t address;
    uint32_t first, count; /* of symbols */
};

/* A child. */
struct hand {
    int socket; /* -1: it is gone */
    pid_t child;
    bool is_open;          /* it has said that it opened the file */
    const uint64_t *asked; /* what it has not answered yet */
    size_t asked_count;
};

struct worker {
    struct hand
        hands[hands_most]; /* the first answers all; the others help with what is expected */
    bool is_resting; /* the first has answered what was expected, and starts again when asked */
    const char *path;
    struct build_id recorded;
    struct arena arena;
    struct table texts; /* const char * */
    struct hash_index index;
    struct keyed_table knowns; /* struct known, by address */
    struct table symbols;      /* struct symbol */
    unsigned char message[message_bytes];
};

/* --- children ------------------------------------------------------------------------------ */

static bool hand_start(struct hand *hand, const char *path, struct build_id recorded)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    hand->child = fork();
    if (hand->child < 0 && errno == ENOMEM)
        memory_failure_note();
    if (hand->child == 0) {
        close(ends[0]);
        symbol_child_run(ends[1], path, recorded);
    }
    close(ends[1]);
    hand->socket = ends[0];
    return hand->child > 0;
}

static void hand_end(struct hand *hand)
{
    if (hand->socket >= 0)
        close(hand->socket);
    if (hand->child > 0) {
        kill(hand->child, SIGKILL); /* it only reads: there is nothing to wait for */
        while (waitpid(hand->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    *hand = (struct hand){.socket = -1};
}

static void helpers_end(struct worker *worker)
{
    for (size_t i = 1; i < hands_most; i++)
        hand_end(&worker->hands[i]);
}

/* How many children are worth their start. */
static size_t hands_for(const char *path, size_t address_count)
{
    size_t count = address_count / hand_addresses, processors = 1;
    struct stat status;
    cpu_set_t mask;

    if (stat(path, &status) != 0 || status.st_size > file_most_bytes)
        return 1;
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
        processors = (size_t)CPU_COUNT(&mask);
    if (count > processors)
        count = processors;
    return count > hands_most ? hands_most : count ? count : 1;
}

/* --- answers ------------------------------------------------------------------------------- */

/* The one copy of a text; NULL without memory. */
static const char *keep_text(struct worker *worker, const unsigned char *bytes, size_t size_bytes)
{
    uint64_t hash = hash_bytes(bytes, size_bytes);
    size_t probe = 0;
    uint32_t found;
    const char **row;
    char *copy;

    while (hash_index_next(&worker->index, hash, &probe, &found)) {
        row = table_at(&worker->texts, found);
        if (strncmp(*row, (const char *)bytes, size_bytes) == 0 && !(*row)[size_bytes])
            return *row;
    }
    copy = arena_text(&worker->arena, (const char *)bytes, size_bytes);
    row = copy ? hash_index_add_row(&worker->index, hash, &worker->texts) : NULL;
    if (row)
        *row = copy;
    return copy;
}

static bool take_text(struct worker *worker, const unsigned char **bytes, const unsigned char *end,
                      uint16_t size_bytes, const char **text)
{
    *text = NULL;
    if (size_bytes > text_most_bytes)
        return true;
    if (size_bytes > end - *bytes)
        return false;
    *text = keep_text(worker, *bytes, size_bytes);
    *bytes += size_bytes;
    return true;
}

/* The child may be damaged: what it says is a stranger's word. False when it makes no sense. */
static bool take_answer(struct worker *worker, const unsigned char **bytes,
                        const unsigned char *end, uint64_t address)
{
    struct known taken = {address, (uint32_t)worker->symbols.count, 0}, *known;
    unsigned count;

    if (*bytes >= end)
        return false;
    count = *(*bytes)++;
    if (count == no_memory_mark) {
        memory_failure_note();
        count = 0;
    }
    for (unsigned i = 0; i < count; i++) {
        struct symbol *symbol = table_add(&worker->symbols);
        struct wire_frame frame;

        if (!symbol || (size_t)(end - *bytes) < sizeof(frame))
            return false;
        memcpy(&frame, *bytes, sizeof(frame));
        *bytes += sizeof(frame);
        symbol->line = frame.line;
        symbol->offset_bytes = frame.offset_bytes;
        if (!take_text(worker, bytes, end, frame.name_bytes, &symbol->name) ||
            !take_text(worker, bytes, end, frame.file_bytes, &symbol->file))
            return false;
        taken.count++;
    }
    known = keyed_table_add(&worker->knowns, address);
    if (known)
        *known = taken;
    return known != NULL;
}

/* --- questions ----------------------------------------------------------------------------- */

/* Takes what a child says; it is ended when that makes no sense, and when it says no more. */
static void hear(struct worker *worker, struct hand *hand)
{
    ssize_t size_bytes = recv(hand->socket, worker->message, message_bytes, 0);
    const unsigned char *bytes = worker->message, *end = bytes + (size_bytes > 0 ? size_bytes : 0);
    bool is_good = size_bytes > 0;

    if (is_good && !hand->is_open) {
        hand->is_open = is_good = worker->message[0] == SYMBOLS_OPENED;
        if (worker->message[0] == no_memory_mark)
            memory_failure_note();
        bytes = end;
    }
    for (; is_good && bytes < end; hand->asked_count--)
        is_good = hand->asked_count && take_answer(worker, &bytes, end, *hand->asked++);
    if (!is_good)
        hand_end(hand);
}

/* Waits until one of the children that have something to say says it. False: none has. */
static bool hear_one(struct worker *worker, bool is_more)
{
    struct pollfd waits[hands_most];
    struct hand *hands[hands_most];
    nfds_t count = 0;
    int ready;

    for (size_t i = 0; i < hands_most; i++) {
        struct hand *hand = &worker->hands[i];

        if (hand->socket < 0 || (hand->is_open ? !hand->asked_count : !is_more))
            continue;
        hands[count] = hand;
        waits[count++] = (struct pollfd){.fd = hand->socket, .events = POLLIN};
    }
    if (!count)
        return false;
    do
        ready = poll(waits, count, answer_ms);
    while (ready < 0 && errno == EINTR);
    for (nfds_t i = 0; i < count; i++) {
        if (ready <= 0)
            hand_end(hands[i]);
        else if (waits[i].revents)
            hear(worker, hands[i]);
    }
    return true;
}

/* Gives a child that has nothing to do the next addresses; returns how many. */
static size_t ask(struct hand *hand, const uint64_t *addresses, size_t count)
{
    if (count > batch_most)
        count = batch_most;
    if (!count || hand->socket < 0 || !hand->is_open || hand->asked_count)
        return 0;
    if (send(hand->socket, addresses, count * sizeof(*addresses), MSG_NOSIGNAL) !=
        (ssize_t)(count * sizeof(*addresses))) {
        hand_end(hand);
        return 0;
    }
    hand->asked = addresses;
    hand->asked_count = count;
    return count;
}

static void ask_all(struct worker *worker, const uint64_t *addresses, size_t count)
{
    size_t next = 0;

    do {
        for (size_t i = 0; i < hands_most; i++)
            next += ask(&worker->hands[i], addresses + next, count - next);
    } while (hear_one(worker, next < count));
}

/* What the first child says of the file; the others may take their time. */
static enum symbol_open_result first_answer(struct worker *worker)
{
    struct hand *hand = &worker->hands[0];
    struct pollfd wait = {.fd = hand->socket, .events = POLLIN};
    unsigned char result = SYMBOLS_MISSING;
    int ready;

    do
        ready = poll(&wait, 1, answer_ms);
    while (ready < 0 && errno == EINTR);
    if (ready != 1 || recv(hand->socket, &result, 1, 0) != 1)
        return SYMBOLS_MISSING;
    if (result == no_memory_mark)
        memory_failure_note();
    if (result > SYMBOLS_CHANGED)
        return SYMBOLS_MISSING;
    hand->is_open = true;
    return result;
}

/* Where the names of what is shown are all known, which is nearly always, it does not come to this.
 */
static void wake(struct worker *worker)
{
    if (!worker->is_resting)
        return;
    worker->is_resting = false;
    if (hand_start(&worker->hands[0], worker->path, worker->recorded) &&
        first_answer(worker) != SYMBOLS_OPENED)
        hand_end(&worker->hands[0]);
}

/*
 * No child stays: as long as one is there, each page of memory that we write to for the first time
 * is copied.
 */
static void worker_expect(void *state, const uint64_t *addresses, size_t count)
{
    struct worker *worker = state;

    wake(worker);
    ask_all(worker, addresses, count);
    worker->is_resting = worker->hands[0].socket >= 0;
    helpers_end(worker);
    hand_end(&worker->hands[0]);
}

static size_t worker_find(void *state, uint64_t address, struct symbol *found, size_t most)
{
    struct worker *worker = state;
    const struct known *known = keyed_table_find(&worker->knowns, address);
    size_t count = 0;

    if (!known) {
        wake(worker);
        ask_all(worker, &address, 1);
        known = keyed_table_find(&worker->knowns, address);
    }
    for (; known && count < known->count && count < most; count++)
        found[count] = *(const struct symbol *)table_at(&worker->symbols, known->first + count);
    return count;
}

/* --- opening ------------------------------------------------------------------------------- */

static void worker_close(void *state)
{
    struct worker *worker = state;

    if (!worker)
        return;
    helpers_end(worker);
    hand_end(&worker->hands[0]);
    hash_index_release(&worker->index);
    keyed_table_release(&worker->knowns);
    arena_release(&worker->arena);
    free(worker);
}

static struct worker *worker_create(void)
{
    struct worker *worker = calloc(1, sizeof(*worker));

    if (!worker)
        return NULL;
    for (size_t i = 0; i < hands_most; i++)
        worker->hands[i].socket = -1;
    arena_init(&worker->arena);
    table_init(&worker->texts, &worker->arena, sizeof(const char *));
    keyed_table_init(&worker->knowns, &worker->arena, sizeof(struct known));
    table_init(&worker->symbols, &worker->arena, sizeof(struct symbol));
    hash_index_init(&worker->index);
    return worker;
}

/* For a child that is started later. */
static bool keep_file(struct worker *worker, const char *path, struct build_id recorded)
{
    unsigned char *bytes = arena_alloc(&worker->arena, recorded.size_bytes + 1);

    worker->path = arena_text(&worker->arena, path, strlen(path));
    if (!bytes || !worker->path)
        return false;
    if (recorded.size_bytes)
        memcpy(bytes, recorded.bytes, recorded.size_bytes);
    worker->recorded = (struct build_id){bytes, recorded.size_bytes};
    return true;
}

static enum symbol_open_result worker_open(const char *path, struct build_id recorded,
                                           size_t expected_count, void **state)
{
    struct worker *worker = worker_create();
    enum symbol_open_result result = SYMBOLS_MISSING;
    size_t count = hands_for(path, expected_count);

    if (!worker)
        return SYMBOLS_MISSING;
    if (!keep_file(worker, path, recorded)) {
        worker_close(worker);
        return SYMBOLS_MISSING;
    }
    for (size_t i = 0; i < count && hand_start(&worker->hands[i], path, recorded); i++)
        ;
    if (worker->hands[0].socket >= 0)
        result = first_answer(worker);
    if (result == SYMBOLS_OPENED)
        *state = worker;
    else
        worker_close(worker);
    return result;
}

const struct symbol_source isolated_dwarf_source = {"dwarf, isolated", worker_open,   worker_find,
                                                    worker_close,      worker_expect, NULL};
