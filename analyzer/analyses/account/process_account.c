/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the rest? What the driver counts for a process on a device, split:
 *
 *   process = pools of the framework + modules of the driver + what nobody accounts for
 *
 * The driver's module APP is what the program itself took; the framework's pools took theirs
 * there, so they are shown in its place, and what is left of it beside them.
 */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "labels.h"
#include "sentence.h"

#define PROCESS_COUNTER "APP reserved"
#define DEVICE_COUNTER  "Device reserved"
#define APP_COUNTER     "module APP reserved"
#define MODULE_BEGIN    "module "
#define RESERVED_END    " reserved"

static const uint64_t component_least_bytes = UINT64_C(100) << 20;

/* At the end of the recording, and at most; the most of several parts need not be at one time. */
struct amount {
    uint64_t last_bytes, highest_bytes;
};

struct part {
    const char *name;
    struct amount amount;
};

struct account {
    const struct sample_row *process; /* the counter */
    struct part *parts;               /* largest first */
    size_t count;
    struct amount known; /* all parts */
};

static const char *counter_name(const struct question *question, const struct sample_row *row)
{
    return model_text_at(question->model, row->counter);
}

static struct amount amount_of(const struct sample_row *row)
{
    return (struct amount){row->last_bytes, row->high_bytes};
}

static int32_t device_of(const struct question *question, const struct sample_row *row)
{
    return model_place_at(question->model, row->place).device;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* "module HCCL reserved": "HCCL". */
static const char *short_name(struct report *report, const char *counter)
{
    size_t length = strlen(counter), end = strlen(RESERVED_END);

    if (begins_with(counter, MODULE_BEGIN))
        counter += strlen(MODULE_BEGIN), length -= strlen(MODULE_BEGIN);
    return length > end ? report_text(report, "%.*s", (int)(length - end), counter) : counter;
}

static void add_part(struct account *account, const char *name, struct amount amount)
{
    if (!amount.highest_bytes)
        return;
    account->parts[account->count++] = (struct part){name, amount};
    account->known.last_bytes += amount.last_bytes;
    account->known.highest_bytes += amount.highest_bytes;
}

static struct amount amount_less(struct amount whole, struct amount part)
{
    return (struct amount){
        whole.last_bytes > part.last_bytes ? whole.last_bytes - part.last_bytes : 0,
        whole.highest_bytes > part.highest_bytes ? whole.highest_bytes - part.highest_bytes : 0,
    };
}

static bool is_beside(const struct sample_row *a, const struct sample_row *b)
{
    return a->process == b->process && a->place == b->place;
}

/* What the pools of the framework reserved there. The graph engine's is in its own module. */
static struct amount add_pools(const struct question *question, struct report *report,
                               struct account *account, bool has_modules)
{
    static const char *const counters[] = {"PTA reserved", "WORKSPACE reserved",
                                           "MindSpore reserved", "GE reserved"};
    size_t wanted = sizeof(counters) / sizeof(counters[0]) - has_modules;
    struct amount sum = {0};

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        const char *name = counter_name(question, row);

        for (size_t k = 0; k < wanted && is_beside(row, account->process); k++) {
            if (strcmp(name, counters[k]) != 0)
                continue;
            add_part(account, report_text(report, "pool %s", short_name(report, name)),
                     amount_of(row));
            sum.last_bytes += row->last_bytes;
            sum.highest_bytes += row->high_bytes;
        }
    }
    return sum;
}

static void add_modules(const struct question *question, struct report *report,
                        struct account *account)
{
    bool has_modules = false;
    struct amount pools;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++)
        has_modules |=
            is_beside(tally_sample_at(question->tally, i), account->process) &&
            begins_with(counter_name(question, tally_sample_at(question->tally, i)), MODULE_BEGIN);
    pools = add_pools(question, report, account, has_modules);
    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        const char *name = counter_name(question, row);

        if (!is_beside(row, account->process) || !begins_with(name, MODULE_BEGIN))
            continue;
        if (strcmp(name, APP_COUNTER) == 0)
            add_part(account, translated("module APP, beside the pools"),
                     amount_less(amount_of(row), pools));
        else
            add_part(account, report_text(report, "module %s", short_name(report, name)),
                     amount_of(row));
    }
}

static int part_compare(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->amount.highest_bytes != b->amount.highest_bytes)
        return a->amount.highest_bytes > b->amount.highest_bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool account_init(const struct question *question, struct report *report,
                         const struct sample_row *process, struct account *account)
{
    size_t most = tally_sample_count(question->tally);

    *account = (struct account){.process = process, .parts = malloc(most * sizeof(struct part))};
    if (!account->parts)
        return false;
    add_modules(question, report, account);
    qsort(account->parts, account->count, sizeof(*account->parts), part_compare);
    return true;
}

static void add_row(const struct question *question, struct report *report,
                    struct report_table *table, const struct account *account, const char *name,
                    struct amount amount)
{
    struct amount whole = amount_of(account->process);
    const struct field fields[] = {
        {"part", "part", value_text(name)},
        {"highest_bytes", "highest", value_bytes(amount.highest_bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, percent_of(amount.highest_bytes, whole.highest_bytes))},
        {"last_bytes", "at end", value_bytes(amount.last_bytes)},
        {"device", "device", value_step((uint64_t)device_of(question, account->process))},
        {"process", "process",
         value_text(label_process(question, report_arena(report), account->process->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

/* What the driver counts for the whole device is more than this process. */
static void add_others(const struct question *question, struct report *report,
                       struct report_table *table, const struct account *account)
{
    struct arena *texts = report_arena(report);
    struct amount whole = amount_of(account->process);

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (is_beside(row, account->process) &&
            strcmp(counter_name(question, row), DEVICE_COUNTER) == 0 &&
            row->high_bytes > whole.highest_bytes)
            report_table_remark(
                report, table,
                "Others on device %" PRId32
                ": the driver counts %s more for it than for %s, other programs and "
                "its own.",
                device_of(question, row), label_size(texts, row->high_bytes - whole.highest_bytes),
                label_process(question, texts, account->process->process));
    }
}

static void add_account(const struct question *question, struct report *report,
                        struct report_table *table, const struct account *account)
{
    struct amount whole = amount_of(account->process);

    add_row(question, report, table, account, "process", whole);
    for (size_t i = 0; i < account->count; i++)
        add_row(question, report, table, account, account->parts[i].name, account->parts[i].amount);
    if (account->known.highest_bytes > whole.highest_bytes) {
        report_table_remark(
            report, table,
            "The parts are %s more than the process: they were not highest at one "
            "time, or are of another run.",
            label_size(report_arena(report), account->known.highest_bytes - whole.highest_bytes));
        return;
    }
    add_row(question, report, table, account, "unattributed", amount_less(whole, account->known));
}

static void say_account(const struct question *question, struct report *report,
                        const struct account *account)
{
    struct arena *texts = report_arena(report);
    struct amount whole = amount_of(account->process);
    struct amount rest = amount_less(whole, account->known);

    if (!account->count)
        return;
    if (account->known.highest_bytes > whole.highest_bytes) {
        report_verdict(report, RANK_MODULES,
                       "%s holds %s of device %" PRId32
                       ", but pools and modules add up to %s: they do not belong together.",
                       label_process(question, texts, account->process->process),
                       label_size(texts, whole.highest_bytes),
                       device_of(question, account->process),
                       label_size(texts, account->known.highest_bytes));
        return;
    }
    report_verdict(
        report, RANK_MODULES,
        "%s holds %s of device %" PRId32 ": %s in %s (%u %%) is the largest part; %s "
        "(%u %%) is in no pool or module.",
        label_process(question, texts, account->process->process),
        label_size(texts, whole.highest_bytes), device_of(question, account->process),
        label_size(texts, account->parts[0].amount.highest_bytes), account->parts[0].name,
        percent_of(account->parts[0].amount.highest_bytes, whole.highest_bytes),
        label_size(texts, rest.highest_bytes), percent_of(rest.highest_bytes, whole.highest_bytes));
}

void analyse_process_account(const struct question *question, struct report *report)
{
    struct report_table *table = report_table(
        report, "process_account", "What the process holds, as the driver counts it", NULL);

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        struct account account;

        if (strcmp(counter_name(question, row), PROCESS_COUNTER) != 0 || !row->high_bytes)
            continue;
        if (!account_init(question, report, row, &account)) {
            report_note(report, 0, "process account: not enough memory");
            return;
        }
        add_account(question, report, table, &account);
        add_others(question, report, table, &account);
        say_account(question, report, &account);
        free(account.parts);
    }
}

/* --- components ---------------------------------------------------------------------------- */

/* The sum of two pools is no component. */
static bool is_component(const char *counter)
{
    size_t length = strlen(counter), end = strlen(RESERVED_END);

    return length > end && strcmp(counter + length - end, RESERVED_END) == 0 &&
           !strchr(counter, '+');
}

static int sample_compare(const void *left, const void *right, void *context)
{
    const struct sample_row *a = tally_sample_at(context, *(const size_t *)left);
    const struct sample_row *b = tally_sample_at(context, *(const size_t *)right);

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->high_bytes != b->high_bytes)
        return a->high_bytes > b->high_bytes ? -1 : 1;
    return (a->counter > b->counter) - (a->counter < b->counter);
}

static void add_component(const struct question *question, struct report *report,
                          struct report_table *table, const struct sample_row *row)
{
    const char *name = counter_name(question, row);
    bool is_process = strcmp(name, PROCESS_COUNTER) == 0;
    bool is_card = strcmp(name, DEVICE_COUNTER) == 0;
    const struct field fields[] = {
        {"component", "component", value_text(is_process ? "process" : short_name(report, name))},
        {"kind", "of",
         value_word(is_process                        ? "process"
                    : is_card                         ? "card"
                    : begins_with(name, MODULE_BEGIN) ? "module"
                                                      : "pool")},
        {"peak_bytes", "peak", value_bytes(row->high_bytes)},
        {"peak_ns", "first at", value_time(row->high_ns)},
        {"device", "device", value_step((uint64_t)device_of(question, row))},
        {"process", "process",
         value_text(label_process(question, report_arena(report), row->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void analyse_components(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "components", "Components of 100 MiB and more", NULL);
    size_t total = tally_sample_count(question->tally), count = 0;
    size_t *order = malloc((total + 1) * sizeof(*order));

    for (size_t i = 0; order && i < total; i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (row->high_bytes >= component_least_bytes && is_component(counter_name(question, row)))
            order[count++] = i;
    }
    if (order)
        qsort_r(order, count, sizeof(*order), sample_compare, (void *)question->tally);
    for (size_t i = 0; i < count; i++)
        add_component(question, report, table, tally_sample_at(question->tally, order[i]));
    free(order);
}
