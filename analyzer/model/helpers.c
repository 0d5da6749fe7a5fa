/* SPDX-License-Identifier: Apache-2.0 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_SHARE = 32, ERRAND_SHARE = 4 };

static const uint64_t small_before_bytes = UINT64_C(1) << 20;

struct search {
    struct process_use *uses;
    size_t count;
    const struct process_use *meant;
    uint64_t meant_from_ns; /* when the first of its executable began */
    const struct process_use *busiest;
    uint64_t births; /* of all processes */
};

struct process_use helpers_use(const struct model *model, const struct tally *tally,
                               uint16_t process)
{
    const struct model_process *row = model_process_at((struct model *)model, process);
    struct process_use use = {
        .executable = model_text_at(model, row->executable),
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .has_steps = tally_process_at(tally, process).step_count != 0,
    };

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process != process ||
            (ledger->kind != LEDGER_MEMORY && ledger->kind != LEDGER_HOST))
            continue;
        use.has_device |= ledger->device >= 0;
        use.births += ledger->alloc_count;
        if (ledger->peak_bytes > use.peak_bytes)
            use.peak_bytes = ledger->peak_bytes;
    }
    return use;
}

static void find_busiest(struct search *search)
{
    search->busiest = search->uses;
    for (size_t i = 0; i < search->count; i++) {
        search->births += search->uses[i].births;
        if (search->uses[i].births > search->busiest->births)
            search->busiest = &search->uses[i];
    }
}

/* One that could be left out: not of that executable, without a device and without steps. */
static bool is_other(const struct process_use *use, const struct process_use *meant)
{
    return *use->executable && strcmp(use->executable, meant->executable) != 0 &&
           !use->has_device && !use->has_steps;
}

static void find_meant(struct search *search)
{
    search->meant = search->busiest; /* no errand */
    for (size_t i = 0; i < search->count; i++)
        if (!search->uses[i].is_errand && search->uses[i].peak_bytes > search->meant->peak_bytes)
            search->meant = &search->uses[i];
    search->meant_from_ns = UINT64_MAX;
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->uses[i].executable, search->meant->executable) == 0 &&
            search->uses[i].start_ns < search->meant_from_ns)
            search->meant_from_ns = search->uses[i].start_ns;
}

/* Of what leads to the program some is still being taken down when that begins. */
static bool is_mostly_before(const struct process_use *use, uint64_t time_ns)
{
    return use->end_ns <= time_ns ||
           (use->start_ns < time_ns && use->end_ns - time_ns <= time_ns - use->start_ns);
}

static bool is_helper(const struct search *search, const struct process_use *use)
{
    if (use->is_errand)
        return true;
    if (!is_other(use, search->meant))
        return false;
    if (is_mostly_before(use, search->meant_from_ns) && use->peak_bytes < small_before_bytes)
        return true;
    return use->peak_bytes < search->meant->peak_bytes / SMALL_SHARE;
}

static bool is_errand(const struct search *search, const struct process_use *use)
{
    const struct process_use *job = search->busiest;

    return job->births >= search->births / 2 && is_other(use, job) &&
           use->start_ns >= job->start_ns && use->end_ns <= job->end_ns &&
           use->end_ns - use->start_ns <= (job->end_ns - job->start_ns) / ERRAND_SHARE;
}

void helpers_find(struct process_use *uses, size_t count)
{
    struct search search = {.uses = uses, .count = count};

    if (count < 2)
        return;
    find_busiest(&search);
    for (size_t i = 0; i < count; i++)
        uses[i].is_errand = is_errand(&search, &uses[i]);
    find_meant(&search);
    for (size_t i = 0; i < count; i++)
        uses[i].is_helper = is_helper(&search, &uses[i]);
}

void helpers_mark(struct model *model, const struct tally *tally)
{
    size_t count = model_process_count(model);
    struct process_use *uses = count > 1 ? calloc(count, sizeof(*uses)) : NULL;

    if (!uses)
        return;
    for (size_t i = 0; i < count; i++)
        uses[i] = helpers_use(model, tally, (uint16_t)i);
    helpers_find(uses, count);
    for (size_t i = 0; i < count; i++) {
        model_process_at(model, (uint16_t)i)->is_errand = uses[i].is_errand;
        if (uses[i].is_helper)
            model_set_helper(model, (uint16_t)i);
    }
    free(uses);
}
