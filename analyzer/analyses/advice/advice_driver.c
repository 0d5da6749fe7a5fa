/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about memory that only the driver counts: communication, and modules that grow.
 */
#include <inttypes.h>
#include <string.h>

#include "advice_looks.h"
#include "labels.h"

enum { buffers_percent = 5 /* of what the driver counts for the process */ };

#define MODULE_GROWTH_LEAST (UINT64_C(64) << 20)

static const char *counter_name(const struct evidence *evidence, const struct sample_row *row)
{
    return model_text_at(evidence->question->model, row->counter);
}

/* "HCCL" of "module HCCL reserved"; NULL for other counters. */
static const char *module_of(const struct evidence *evidence, const struct sample_row *row)
{
    static const char start[] = "module ", end[] = " reserved";
    const char *name = counter_name(evidence, row);
    size_t length = strlen(name);

    if (strncmp(name, start, sizeof(start) - 1) != 0 || length < sizeof(start) + sizeof(end) - 2 ||
        strcmp(name + length - (sizeof(end) - 1), end) != 0)
        return NULL;
    return report_text(evidence->report, "%.*s", (int)(length - sizeof(start) - sizeof(end) + 2),
                       name + sizeof(start) - 1);
}

static uint64_t process_bytes(const struct evidence *evidence, uint16_t process)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);

        if (row->process == process && strcmp(counter_name(evidence, row), "APP reserved") == 0)
            return row->high_bytes;
    }
    return 0;
}

void advice_look_for_buffers(const struct rule *rule, const struct evidence *evidence,
                             struct advices *advices)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);
        const char *module = module_of(evidence, row);
        uint64_t whole_bytes = process_bytes(evidence, row->process);

        if (!module || strcmp(module, "HCCL") != 0 || !whole_bytes ||
            percent_of(row->high_bytes, whole_bytes) < buffers_percent)
            continue;
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "communication (HCCL) holds %s, %u %% of what the driver "
                               "counts for %s",
                               label_size(evidence->report, row->high_bytes),
                               percent_of(row->high_bytes, whole_bytes),
                               label_process(evidence->question, evidence->report, row->process)),
                   row->high_bytes / 2, true);
    }
}

/* APP is the framework's own memory, which its pools tell better. */
void advice_look_for_module_growth(const struct rule *rule, const struct evidence *evidence,
                                   struct advices *advices)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);
        const char *module = module_of(evidence, row);

        if (!module || strcmp(module, "APP") == 0 || row->last_bytes < row->first_bytes ||
            row->last_bytes - row->first_bytes < MODULE_GROWTH_LEAST)
            continue;
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "module %s grew by %s, to %s, outside of the pools", module,
                               label_size(evidence->report, row->last_bytes - row->first_bytes),
                               label_size(evidence->report, row->last_bytes)),
                   row->last_bytes - row->first_bytes, true);
    }
}
