/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of mstx that are steps.
 *
 *   train_step_7        words that say nothing of their own, one that means a step, a number
 *   ~~~~~ ~~~~ ~
 */
#include "ascend_mstx.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv_table.h"
#include "database.h"

/* --- messages ------------------------------------------------------------------------------ */

struct word {
    const char *bytes;
    size_t size_bytes;
};

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The next run of letters or of digits; what is between them does not matter. */
static bool next_word(const char **at, const char *end, struct word *word)
{
    const char *from;

    while (*at < end && !is_letter(**at) && !is_digit(**at))
        (*at)++;
    from = *at;
    while (*at < end && (is_digit(*from) ? is_digit(**at) : is_letter(**at)))
        (*at)++;
    *word = (struct word){from, (size_t)(*at - from)};
    return *at > from;
}

static bool is_one_of(struct word word, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == word.size_bytes &&
            strncasecmp(*words, word.bytes, word.size_bytes) == 0)
            return true;
    return false;
}

/* False when it is longer than any number of a step. */
static bool read_number(struct word word, uint64_t *number)
{
    enum { digits_most = 18 };

    if (word.size_bytes > digits_most)
        return false;
    *number = 0;
    for (size_t i = 0; i < word.size_bytes; i++)
        *number = *number * 10 + (uint64_t)(word.bytes[i] - '0');
    return true;
}

bool mstx_step_read(const char *bytes, size_t size_bytes, uint64_t *number)
{
    static const char *const before[] = {"train", "training", "global", "profiler", NULL};
    static const char *const steps[] = {"step",         "iter",      "iteration",  "trainstep",
                                        "profilerstep", "trainiter", "globalstep", NULL};
    static const char *const behind[] = {"start", "begin", "range", NULL};
    const char *at = bytes, *end = bytes + size_bytes;
    struct word word;

    *number = MSTX_NO_NUMBER;
    do {
        if (!next_word(&at, end, &word))
            return false;
    } while (is_one_of(word, before));
    if (!is_one_of(word, steps))
        return false;
    while (next_word(&at, end, &word))
        if (is_digit(*word.bytes) ? *number != MSTX_NO_NUMBER || !read_number(word, number)
                                  : !is_one_of(word, behind))
            return false;
    return true;
}

static bool add(struct ascend_steps *steps, struct csv_field message, uint64_t begin_ns,
                uint64_t end_ns)
{
    struct ascend_step step = {.begin_ns = begin_ns, .end_ns = end_ns};

    return end_ns <= begin_ns || !mstx_step_read(message.bytes, message.size_bytes, &step.number) ||
           ascend_step_add(steps, step);
}

/* --- msprof_tx_*.csv ----------------------------------------------------------------------- */

enum tx_column { START_TIME, END_TIME, MESSAGE, TX_COLUMNS };

static const struct csv_column tx_columns[TX_COLUMNS] = {
    [START_TIME] = {"Start_time", true},
    [END_TIME] = {"End_time", true},
    [MESSAGE] = {"message", true},
};

static bool add_csv_row(struct ascend_steps *steps, const struct csv_table *table,
                        const struct csv_row *row)
{
    uint64_t begin_ns, end_ns;

    if (csv_time(csv_at(table, row, START_TIME), table->columns[START_TIME].unit, &begin_ns) !=
            CSV_CELL_NUMBER ||
        csv_time(csv_at(table, row, END_TIME), table->columns[END_TIME].unit, &end_ns) !=
            CSV_CELL_NUMBER)
        return true;
    return add(steps, csv_at(table, row, MESSAGE), begin_ns, end_ns);
}

enum mt_result ascend_steps_from_mstx_csv(const char *path, struct ascend_steps *steps,
                                          struct mt_error *error)
{
    return ascend_steps_from_csv(path, tx_columns, TX_COLUMNS, add_csv_row, steps, error);
}

/* --- MSTX_EVENTS --------------------------------------------------------------------------- */

static enum mt_result add_table_row(struct database_query *query, void *context,
                                    struct mt_error *error)
{
    struct csv_field message;

    message.bytes = database_text(query, 0, &message.size_bytes);
    if (add(context, message, (uint64_t)database_integer(query, 1),
            (uint64_t)database_integer(query, 2)))
        return MT_OK;
    return mt_error_set(error, MT_NO_MEMORY, "too many steps");
}

enum mt_result ascend_steps_from_mstx_table(const char *path, struct ascend_steps *steps,
                                            struct mt_error *error)
{
    struct database *database;
    enum mt_result result = database_open_partial(path, steps->model, &database, error);

    if (result != MT_OK)
        return result;
    result = database_each_row(database,
                               "SELECT s.value, m.startNs, m.endNs FROM MSTX_EVENTS m"
                               " JOIN STRING_IDS s ON s.id = m.message"
                               " WHERE m.startNs > 0 AND m.endNs > m.startNs",
                               add_table_row, steps, error);
    database_close(database);
    return result;
}

/* --- numbers ------------------------------------------------------------------------------- */

static int by_begin(const void *left, const void *right)
{
    const struct ascend_step *a = left, *b = right;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

void ascend_mstx_number(struct ascend_steps *steps)
{
    bool has_numbers = false;
    size_t count = 0;

    for (size_t i = 0; i < steps->count; i++)
        has_numbers |= steps->rows[i].number != MSTX_NO_NUMBER;
    if (steps->count)
        qsort(steps->rows, steps->count, sizeof(*steps->rows), by_begin);
    for (size_t i = 0; i < steps->count; i++) {
        struct ascend_step step = steps->rows[i];

        if (has_numbers && step.number == MSTX_NO_NUMBER)
            continue;
        if (!has_numbers)
            step.number = count + 1;
        steps->rows[count++] = step;
    }
    steps->count = count;
}
