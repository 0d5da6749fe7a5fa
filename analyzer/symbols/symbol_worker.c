/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF data, read by a process of its own.
 *
 *   parent  addresses ->             -> child: libdwarf
 *           <- for each its frames <-
 *
 * Debug data may come from anywhere, and older versions of libdwarf damage their memory when it is
 * not what it should be. So a child reads it: when that dies, or does not answer, there are no more
 * names from this file, and that is all. Texts that come back are kept once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "symbol_source.h"
#include "table.h"

enum {
    answer_ms = 20000,
    text_most_bytes = 4096,
    batch_most = 256, /* addresses in one message */
    message_bytes = 1 << 16,
    frame_most_bytes = 16 + 2 * text_most_bytes /* struct wire_frame and its texts */
};

/* An answer that came before its question. */
struct known {
    uint64_t address;
    uint32_t first, count; /* of symbols */
};

struct worker {
    int socket; /* -1: the child is gone */
    pid_t child;
    struct arena arena;
    struct table texts; /* const char * */
    struct hash_index index;
    struct table knowns, symbols; /* struct known, struct symbol */
    struct hash_index known_index;
    unsigned char message[message_bytes];
};

/* What is known of one function; its texts follow, without ends. */
struct wire_frame {
    uint64_t offset_bytes;
    uint32_t line;
    uint16_t name_bytes, file_bytes; /* more than text_most_bytes: not known */
};

_Static_assert(sizeof(struct wire_frame) == 16, "frame_most_bytes");

/* --- the child ----------------------------------------------------------------------------- */

static uint16_t put_text(unsigned char **out, const char *text)
{
    size_t length = text ? strnlen(text, text_most_bytes) : 0;

    if (!text)
        return UINT16_MAX;
    memcpy(*out, text, length);
    *out += length;
    return (uint16_t)length;
}

static void put_frame(unsigned char **out, const struct symbol *symbol)
{
    struct wire_frame frame = {.offset_bytes = symbol->offset_bytes, .line = symbol->line};
    unsigned char *head = *out;

    *out += sizeof(frame);
    frame.name_bytes = put_text(out, symbol->name);
    frame.file_bytes = put_text(out, symbol->file);
    memcpy(head, &frame, sizeof(frame));
}

/* A message is answers one behind the other: a count of frames, and they. */
struct sending {
    struct worker *worker;
    unsigned char *out;
    bool is_good;
};

static void flush(struct sending *sending)
{
    unsigned char *message = sending->worker->message;
    size_t size_bytes = (size_t)(sending->out - message);

    if (size_bytes && sending->is_good)
        sending->is_good =
            send(sending->worker->socket, message, size_bytes, MSG_NOSIGNAL) == (ssize_t)size_bytes;
    sending->out = message;
}

/* Of very long names, as many frames as a message has room for. */
static void put_answer(struct sending *sending, const struct symbol *found, size_t count)
{
    unsigned char *end = sending->worker->message + message_bytes, *head;

    if ((size_t)(end - sending->out) < 1 + count * frame_most_bytes)
        flush(sending);
    head = sending->out++;
    *head = 0;
    while (*head < count && end - sending->out >= frame_most_bytes)
        put_frame(&sending->out, &found[(*head)++]);
}

static void serve(struct worker *worker, const char *path, struct build_id recorded)
{
    uint64_t addresses[batch_most];
    struct sending sending = {worker, worker->message, true};
    struct symbol found[INLINED_MOST];
    void *state;
    ssize_t got = 1;

    *sending.out++ = (unsigned char)dwarf_symbol_source.open(path, recorded, &state);
    if (worker->message[0] != SYMBOLS_OPENED)
        got = 0;
    flush(&sending);
    while (got > 0 && sending.is_good) {
        got = recv(worker->socket, addresses, sizeof(addresses), 0);
        for (ssize_t i = 0; i < got / (ssize_t)sizeof(*addresses); i++)
            put_answer(&sending, found,
                       dwarf_symbol_source.find(state, addresses[i], found, INLINED_MOST));
        flush(&sending);
    }
}

/* Nothing of the parent's is run or written. The child ends when the parent's end is closed. */
static _Noreturn void child_run(struct worker *worker, const char *path, struct build_id recorded)
{
    const struct rlimit none = {0, 0};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        signal(deadly[i], SIG_DFL);
    /* What a library says when it gives up is of no use to anybody. */
    close(STDERR_FILENO);
    serve(worker, path, recorded);
    _exit(0);
}

/* --- the parent ---------------------------------------------------------------------------- */

static void child_end(struct worker *worker)
{
    if (worker->socket >= 0)
        close(worker->socket);
    worker->socket = -1;
    if (worker->child > 0) {
        kill(worker->child, SIGKILL); /* it only reads: there is nothing to wait for */
        while (waitpid(worker->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    worker->child = 0;
}

/* How many bytes came; 0 when the child is gone or does not answer, and then it is ended. */
static size_t answer_read(struct worker *worker)
{
    struct pollfd wait = {.fd = worker->socket, .events = POLLIN};
    ssize_t size_bytes = -1;
    int ready;

    do
        ready = poll(&wait, 1, answer_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 1)
        size_bytes = recv(worker->socket, worker->message, message_bytes, 0);
    if (size_bytes > 0)
        return (size_t)size_bytes;
    child_end(worker);
    return 0;
}

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
    row = copy ? table_add(&worker->texts) : NULL;
    if (!row)
        return NULL;
    *row = copy;
    hash_index_add(&worker->index, hash, (uint32_t)(worker->texts.count - 1));
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
    struct known *known = *bytes < end ? table_add(&worker->knowns) : NULL;
    unsigned count = known ? *(*bytes)++ : 0;

    if (!known)
        return false;
    *known = (struct known){address, (uint32_t)worker->symbols.count, 0};
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
        known->count++;
    }
    return hash_index_add(&worker->known_index, hash_u64(address),
                          (uint32_t)(worker->knowns.count - 1));
}

static void ask(struct worker *worker, const uint64_t *addresses, size_t count)
{
    size_t answered = 0;

    if (worker->socket < 0)
        return;
    if (send(worker->socket, addresses, count * sizeof(*addresses), MSG_NOSIGNAL) !=
        (ssize_t)(count * sizeof(*addresses))) {
        child_end(worker);
        return;
    }
    while (answered < count) {
        const unsigned char *bytes = worker->message;
        const unsigned char *end = bytes + answer_read(worker);

        if (bytes == end)
            return;
        for (; bytes < end && answered < count; answered++)
            if (!take_answer(worker, &bytes, end, addresses[answered])) {
                child_end(worker);
                return;
            }
    }
}

static void worker_expect(void *state, const uint64_t *addresses, size_t count)
{
    for (size_t i = 0; i < count; i += batch_most)
        ask(state, addresses + i, count - i < batch_most ? count - i : batch_most);
}

static const struct known *known_find(const struct worker *worker, uint64_t address)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&worker->known_index, hash_u64(address), &probe, &found)) {
        const struct known *known = table_at(&worker->knowns, found);

        if (known->address == address)
            return known;
    }
    return NULL;
}

static size_t worker_find(void *state, uint64_t address, struct symbol *found, size_t most)
{
    struct worker *worker = state;
    const struct known *known = known_find(worker, address);
    size_t count = 0;

    if (!known) {
        ask(worker, &address, 1);
        known = known_find(worker, address);
    }
    for (; known && count < known->count && count < most; count++)
        found[count] = *(const struct symbol *)table_at(&worker->symbols, known->first + count);
    return count;
}

static void worker_close(void *state)
{
    struct worker *worker = state;

    if (!worker)
        return;
    child_end(worker);
    hash_index_release(&worker->index);
    hash_index_release(&worker->known_index);
    arena_release(&worker->arena);
    free(worker);
}

static bool child_start(struct worker *worker, const char *path, struct build_id recorded)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    worker->child = fork();
    worker->socket = ends[worker->child == 0];
    close(ends[worker->child != 0]);
    if (worker->child == 0)
        child_run(worker, path, recorded);
    return worker->child > 0;
}

static enum symbol_open_result worker_open(const char *path, struct build_id recorded, void **state)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    enum symbol_open_result result = SYMBOLS_MISSING;

    if (!worker)
        return SYMBOLS_MISSING;
    worker->socket = -1;
    arena_init(&worker->arena);
    table_init(&worker->texts, &worker->arena, sizeof(const char *));
    table_init(&worker->knowns, &worker->arena, sizeof(struct known));
    table_init(&worker->symbols, &worker->arena, sizeof(struct symbol));
    hash_index_init(&worker->index);
    hash_index_init(&worker->known_index);
    if (child_start(worker, path, recorded) && answer_read(worker))
        result = worker->message[0] <= SYMBOLS_CHANGED ? worker->message[0] : SYMBOLS_MISSING;
    if (result == SYMBOLS_OPENED)
        *state = worker;
    else
        worker_close(worker);
    return result;
}

const struct symbol_source isolated_dwarf_source = {"dwarf, isolated", worker_open, worker_find,
                                                    worker_close, worker_expect};
