/* SPDX-License-Identifier: Apache-2.0 */
#include "helpers.h"

#include <stdlib.h>

enum { SMALL_SHARE = 32, ERRAND_SHARE = 4 };

static const uint64_t small_before_bytes = UINT64_C(1) << 20;

/* What is known of each process, and of the one that is meant. */
struct search {
    struct model *model;
    struct holding {
        uint64_t peak_bytes; /* of its largest ledger */
        uint64_t births;     /* of all of them */
        bool has_device;
    } * holdings;
    size_t count;
    size_t meant;
    uint64_t meant_from_ns; /* when the first of its executable began */
    size_t busiest;
    uint64_t births; /* of all processes */
};

static void hold(struct search *search, const struct ledger *ledger)
{
    struct holding *holding = &search->holdings[ledger->process];

    if (ledger->kind != LEDGER_MEMORY && ledger->kind != LEDGER_HOST)
        return;
    holding->has_device |= ledger->device >= 0;
    holding->births += ledger->alloc_count;
    search->births += ledger->alloc_count;
    if (ledger->peak_bytes > holding->peak_bytes)
        holding->peak_bytes = ledger->peak_bytes;
}

static uint32_t executable_of(const struct search *search, size_t process)
{
    return model_process_at(search->model, (uint16_t)process)->executable;
}

static void find_busiest(struct search *search)
{
    for (size_t i = 1; i < search->count; i++)
        if (search->holdings[i].births > search->holdings[search->busiest].births)
            search->busiest = i;
}

/* One that could be left out: not of that executable, without a device and without steps. */
static bool is_other(const struct search *search, const struct tally *tally, size_t process,
                     size_t meant)
{
    uint32_t executable = executable_of(search, process);

    return executable && executable != executable_of(search, meant) &&
           !search->holdings[process].has_device &&
           !tally_process_at(tally, (uint16_t)process).step_count;
}

static void find_meant(struct search *search)
{
    search->meant = search->busiest; /* no errand */
    for (size_t i = 0; i < search->count; i++)
        if (!model_process_at(search->model, (uint16_t)i)->is_errand &&
            search->holdings[i].peak_bytes > search->holdings[search->meant].peak_bytes)
            search->meant = i;
    search->meant_from_ns = UINT64_MAX;
    for (size_t i = 0; i < search->count; i++) {
        uint64_t start_ns = model_process_at(search->model, (uint16_t)i)->start_ns;

        if (executable_of(search, i) == executable_of(search, search->meant) &&
            start_ns < search->meant_from_ns)
            search->meant_from_ns = start_ns;
    }
}

static bool is_helper(const struct search *search, const struct tally *tally, size_t process)
{
    const struct model_process *row = model_process_at(search->model, (uint16_t)process);
    const struct holding *holding = &search->holdings[process];

    if (row->is_errand)
        return true;
    if (!is_other(search, tally, process, search->meant))
        return false;
    if (row->end_ns <= search->meant_from_ns && holding->peak_bytes < small_before_bytes)
        return true;
    return holding->peak_bytes < search->holdings[search->meant].peak_bytes / SMALL_SHARE;
}

static bool is_errand(const struct search *search, const struct tally *tally, size_t process)
{
    const struct model_process *row = model_process_at(search->model, (uint16_t)process);
    const struct model_process *job = model_process_at(search->model, (uint16_t)search->busiest);

    return search->holdings[search->busiest].births >= search->births / 2 &&
           is_other(search, tally, process, search->busiest) && row->start_ns >= job->start_ns &&
           row->end_ns <= job->end_ns &&
           row->end_ns - row->start_ns <= (job->end_ns - job->start_ns) / ERRAND_SHARE;
}

void helpers_mark(struct model *model, const struct tally *tally)
{
    struct search search = {.model = model, .count = model_process_count(model)};

    if (search.count < 2)
        return;
    search.holdings = calloc(search.count, sizeof(*search.holdings));
    if (!search.holdings)
        return;
    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        hold(&search, tally_ledger_at(tally, i));
    find_busiest(&search);
    for (size_t i = 0; i < search.count; i++)
        model_process_at(model, (uint16_t)i)->is_errand = is_errand(&search, tally, i);
    find_meant(&search);
    for (size_t i = 0; i < search.count; i++)
        if (is_helper(&search, tally, i))
            model_set_helper(model, (uint16_t)i);
    free(search.holdings);
}
