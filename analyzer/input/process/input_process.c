/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that runs as an input: its folder in /proc. It has no events but its account, taken
 * once, when it is opened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account.h"
#include "input_kinds.h"
#include "list.h"
#include "other_mappers.h"

enum { COMMAND_BYTES = 4096 };

struct process_input {
    struct model *model;
    struct event *events;
    size_t count, capacity, next;
    uint16_t process;
    uint32_t thread;
};

static int process_recognises(const char *path)
{
    static const char *const files[] = {"smaps", "statm", "status"};
    char name[PATH_MAX];
    struct stat status;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (snprintf(name, sizeof(name), "%s/%s", path, files[i]) >= (int)sizeof(name) ||
            stat(name, &status) != 0 || !S_ISREG(status.st_mode))
            return 0;
    }
    return 1;
}

/* --- who it is ----------------------------------------------------------------------------- */

static size_t file_text(const char *folder, const char *name, char *text)
{
    char path[PATH_MAX];
    ssize_t size = -1;
    int file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, text, COMMAND_BYTES - 1);
        close(file);
    }
    text[size > 0 ? size : 0] = 0;
    return size > 0 ? (size_t)size : 0;
}

static uint64_t status_number(const char *text, const char *key)
{
    const char *line = strstr(text, key);

    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* Words of a command line end with zeros. */
static uint32_t command_line(struct model *model, const char *folder)
{
    char text[COMMAND_BYTES];
    size_t size = file_text(folder, "cmdline", text);

    while (size && !text[size - 1])
        size--;
    for (size_t i = 0; i < size; i++)
        if (!text[i])
            text[i] = ' ';
    return model_text(model, text, size);
}

static void fill_model(struct process_input *input, const char *folder)
{
    char text[COMMAND_BYTES];
    struct model_process process = {.rank = -1, .is_complete = true};
    size_t size = file_text(folder, "comm", text);

    process.executable =
        model_text(input->model, text, size && text[size - 1] == '\n' ? size - 1 : size);
    process.command_line = command_line(input->model, folder);
    process.source = model_text(input->model, folder, strlen(folder));
    file_text(folder, "status", text);
    process.process_id = status_number(text, "\nPid:");
    process.parent_process_id = status_number(text, "\nPPid:");
    input->process = model_process(input->model, &process);
    input->thread =
        model_thread(input->model, (struct model_thread){.process = input->process,
                                                         .thread_id = process.process_id});
}

/* --- its account as events ----------------------------------------------------------------- */

static bool note_add(struct process_input *input, const struct account_note *note)
{
    if (!list_has_room(&input->events, &input->capacity, input->count, sizeof(*input->events)))
        return false;
    input->events[input->count++] = (struct event){
        .kind = EVENT_NOTE,
        .detail = model_text(input->model, note->subject, strlen(note->subject)),
        .text = model_text(input->model, note->text, strlen(note->text)),
        .address = note->first,
        .value = note->second,
        .place = model_place(input->model, mt_place_unpack(0)),
        .thread = input->thread,
        .process = input->process,
    };
    return true;
}

/* The pieces stand in the order of the rows. */
static bool notes_add_all(struct process_input *input, const struct account *account,
                          const struct shared_piece *pieces, size_t piece_count)
{
    size_t piece = 0;

    for (size_t i = 0; i < account_note_count(account); i++) {
        struct account_note note = account_note_at(account, i);
        const struct account_row *row = i && i <= account->row_count ? &account->rows[i - 1] : NULL;

        if (!note_add(input, &note))
            return false;
        if (!row || !row->inode || piece == piece_count)
            continue;
        note =
            (struct account_note){ACCOUNT_SUBJECT_MAPPED, text_get(&pieces[piece].mappers), 0, 0};
        if (pieces[piece++].mapper_count && !note_add(input, &note))
            return false;
    }
    return true;
}

static bool events_make(struct process_input *input, const struct account *account,
                        const char *folder)
{
    struct shared_piece *pieces = calloc(account->row_count + 1, sizeof(*pieces));
    size_t count = 0;
    bool is_made;

    if (!pieces)
        return false;
    for (size_t i = 0; i < account->row_count; i++) {
        if (!account->rows[i].inode)
            continue;
        pieces[count].device = account->rows[i].device;
        pieces[count].inode = account->rows[i].inode;
        text_init(&pieces[count++].mappers);
    }
    is_made =
        other_mappers_find(folder, pieces, count) && notes_add_all(input, account, pieces, count);
    for (size_t i = 0; i < count; i++) {
        is_made &= !pieces[i].mappers.has_failed;
        text_release(&pieces[i].mappers);
    }
    free(pieces);
    return is_made;
}

/* --- the reader ---------------------------------------------------------------------------- */

static void process_close(void *state)
{
    struct process_input *input = state;

    if (!input)
        return;
    free(input->events);
    free(input);
}

static enum mt_result refuse(const char *path, int number, struct mt_error *error)
{
    if (number == ENOMEM)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    if (number == ESRCH || number == ENOENT)
        return mt_error_set(error, MT_NOT_FOUND, "%s: the process has no memory, or has ended",
                            path);
    return mt_error_set(error, MT_IO, "%s: its memory may not be looked at: %s", path,
                        strerror(number));
}

static enum mt_result process_open(const char *path, struct model *model, void **state,
                                   struct mt_error *error)
{
    struct process_input *input = calloc(1, sizeof(*input));
    struct account account;
    int number;

    if (!input)
        return refuse(path, ENOMEM, error);
    input->model = model;
    number = account_take(path, ACCOUNT_WHOLE, NULL, &account);
    if (!number) {
        fill_model(input, path);
        if (!events_make(input, &account, path))
            number = ENOMEM;
        account_release(&account);
    }
    if (number) {
        process_close(input);
        return refuse(path, number, error);
    }
    *state = input;
    return model_status(model, error);
}

static enum mt_result process_next(void *state, struct event *batch, size_t capacity, size_t *count,
                                   struct mt_error *error)
{
    struct process_input *input = state;
    size_t left = input->count - input->next;

    *count = left < capacity ? left : capacity;
    memcpy(batch, input->events + input->next, *count * sizeof(*batch));
    input->next += *count;
    model_process_fill(input->model, input->process)->event_count += *count;
    return model_status(input->model, error);
}

const struct input_kind input_process = {
    .name = "running process",
    .contents = "where its resident memory is just now, from outside; no blocks, times or steps",
    .recognises = process_recognises,
    .open = process_open,
    .next = process_next,
    .close = process_close,
};
