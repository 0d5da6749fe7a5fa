/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "symbol_child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dwarf_file.h"
#include "memory_failures.h"

struct sending {
    int socket;
    bool is_good;
    unsigned char *out;
    unsigned char message[message_bytes];
};

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

static void flush(struct sending *sending)
{
    size_t size_bytes = (size_t)(sending->out - sending->message);

    if (size_bytes && sending->is_good)
        sending->is_good = send(sending->socket, sending->message, size_bytes, MSG_NOSIGNAL) ==
                           (ssize_t)size_bytes;
    sending->out = sending->message;
}

/* Of very long names, as many frames as a message has room for. */
static void put_answer(struct sending *sending, const struct symbol *found, size_t count)
{
    unsigned char *end = sending->message + message_bytes, *head;

    if ((size_t)(end - sending->out) < 1 + count * frame_most_bytes)
        flush(sending);
    head = sending->out++;
    *head = 0;
    while (*head < count && end - sending->out >= frame_most_bytes)
        put_frame(&sending->out, &found[(*head)++]);
}

static void put_no_memory(struct sending *sending)
{
    if (sending->out == sending->message + message_bytes)
        flush(sending);
    *sending->out++ = no_memory_mark;
}

/* libdwarf does not say why it does not know: what it got no memory for is in errno. */
static bool ran_out_of_memory(void)
{
    return errno == ENOMEM || memory_failure_count() != 0;
}

static void serve(struct sending *sending, const char *path, struct build_id recorded)
{
    uint64_t addresses[batch_most];
    struct symbol found[INLINED_MOST];
    void *state;
    ssize_t got = 1;

    errno = 0;
    *sending->out++ = (unsigned char)dwarf_symbol_source.open(path, recorded, 0, &state);
    if (ran_out_of_memory())
        sending->message[0] = no_memory_mark;
    if (sending->message[0] != SYMBOLS_OPENED)
        got = 0;
    flush(sending);
    while (got > 0 && sending->is_good) {
        got = recv(sending->socket, addresses, sizeof(addresses), 0);
        for (ssize_t i = 0; i < got / (ssize_t)sizeof(*addresses); i++) {
            size_t count = dwarf_symbol_source.find(state, addresses[i], found, INLINED_MOST);

            if (ran_out_of_memory())
                put_no_memory(sending);
            else
                put_answer(sending, found, count);
        }
        flush(sending);
    }
}

/* Some versions of libdwarf use what they got no memory for. Other crashes need no word. */
static int socket_of_child = -1;

static _Noreturn void die(int signal_number)
{
    const unsigned char mark = no_memory_mark;

    if (errno == ENOMEM)
        send(socket_of_child, &mark, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    _exit(128 + signal_number);
}

_Noreturn void symbol_child_run(int socket, const char *path, struct build_id recorded)
{
    const struct rlimit none = {0, 0};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sending sending = {.socket = socket, .is_good = true};

    socket_of_child = socket;
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        signal(deadly[i], die);
    /* What a library says when it gives up is of no use to anybody. */
    close(STDERR_FILENO);
    dwarf_file_forget_memory();
    sending.out = sending.message;
    serve(&sending, path, recorded);
    _exit(0);
}
