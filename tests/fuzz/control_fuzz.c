/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What strangers say to a recording. The first byte tells how: 0, a line of leaktide ctl; 1, a
 * control file. Whatever it is, the answer and the change have their ends, and a change is a known
 * one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check_change(const struct control_change *change)
{
    if (change->kind > CHANGE_UNWATCH || !memchr(change->text, 0, sizeof(change->text)))
        abort();
    (void)control_pauses(change, 7, false);
}

static void say(char *line, uint8_t facts_bits)
{
    const struct mt_recording_facts facts = {.records_host = facts_bits & 1,
                                             .has_stacks = facts_bits >> 1 & 1,
                                             .has_python = facts_bits >> 2 & 1};
    char answer[CONTROL_ANSWER_BYTES] = "";
    struct control_change change;
    enum control_word word = control_understand(line, &facts, &change, answer, sizeof(answer));

    if (!memchr(answer, 0, sizeof(answer)))
        abort();
    if (word == CONTROL_WRONG && strncmp(answer, "error: ", 7) != 0)
        abort();
    if ((word == CONTROL_CHANGE || word == CONTROL_NOTHING) && strncmp(answer, "ok", 2) != 0)
        abort();
    check_change(&change);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char text[CONTROL_LINE_BYTES];
    struct control_change change;

    if (size_bytes < 1 || size_bytes > sizeof(text))
        return 0;
    memcpy(text, data + 1, size_bytes - 1);
    text[size_bytes - 1] = 0;
    if (data[0] == 1) {
        change = control_of_file(text, 3);
        check_change(&change);
    } else {
        say(text, data[0] >> 1);
    }
    return 0;
}
