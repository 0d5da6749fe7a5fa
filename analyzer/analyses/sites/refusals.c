/* SPDX-License-Identifier: Apache-2.0 */
#include "refusals.h"

#include "process_end.h"
#include "thresholds.h"

enum { WEIGHT_TOO_MUCH = 1, WEIGHT_MAPPING, WEIGHT_HEAP };

static const uint64_t SECOND_NS = 1000000000;

uint64_t refusal_limit_bytes(const struct model_process *process, enum memory_limit *limit)
{
    const uint64_t limits[] = {
        [LIMIT_MACHINE] = process->limits.machine_bytes,
        [LIMIT_ADDRESS] = process->limits.address_bytes,
        [LIMIT_DATA] = process->limits.data_bytes,
    };
    uint64_t least_bytes = 0;

    *limit = LIMIT_MACHINE;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i] && (!least_bytes || limits[i] < least_bytes)) {
            least_bytes = limits[i];
            *limit = (enum memory_limit)i;
        }
    return least_bytes;
}

static bool is_of_host(const struct model *model, uint16_t pool)
{
    return model_pool_at(model, pool)->family == FAMILY_HOST;
}

static bool is_too_much(const struct model *model, uint16_t process, uint16_t pool,
                        uint64_t size_bytes)
{
    enum memory_limit limit;
    uint64_t limit_bytes =
        refusal_limit_bytes(model_process_at((struct model *)model, process), &limit);

    return is_of_host(model, pool) && limit_bytes && size_bytes > limit_bytes;
}

static bool is_mapping(const struct model *model, uint16_t pool, bool is_virtual)
{
    enum pool_id id = model_pool_at(model, pool)->id;

    return is_virtual || id == POOL_MMAP || id == POOL_SHARED_MEMORY || id == POOL_MAPPED_FILE;
}

bool refusal_is_too_much(const struct model *model, const struct event *event)
{
    return is_too_much(model, event->process, event->pool, event->value);
}

bool refusals_are_apart(uint64_t first_ns, uint64_t second_ns)
{
    return second_ns > first_ns && second_ns - first_ns > REFUSAL_SECONDS_MAX * SECOND_NS;
}

bool refusal_episode_add(struct refusal_episode *episode, uint64_t time_ns, int weight)
{
    bool is_new = !episode->weight || refusals_are_apart(episode->last_ns, time_ns);
    bool tells = is_new || weight > episode->weight;

    episode->last_ns = time_ns;
    if (tells)
        episode->weight = weight;
    return tells;
}

static int weight_of(const struct tally *tally, const struct failure *failure)
{
    const struct ledger *ledger = tally_ledger_at(tally, failure->ledger);

    if (is_too_much(tally_model(tally), ledger->process, ledger->pool, failure->size_bytes))
        return WEIGHT_TOO_MUCH;
    return is_mapping(tally_model(tally), ledger->pool, ledger->kind == LEDGER_VIRTUAL)
               ? WEIGHT_MAPPING
               : WEIGHT_HEAP;
}

size_t refusal_of(const struct tally *tally, uint16_t process)
{
    struct refusal_episode episode = {0};
    size_t told = SIZE_MAX;

    for (size_t i = 0; i < tally_failure_count(tally); i++) {
        const struct failure *failure = tally_failure_at(tally, i);

        if (tally_ledger_at(tally, failure->ledger)->process == process &&
            refusal_episode_add(&episode, failure->time_ns, weight_of(tally, failure)))
            told = i;
    }
    return told;
}

/* It worked on: for more than a second, and made a sixteenth of its blocks. */
static bool went_on(const struct tally *tally, uint16_t process, const struct failure *failure)
{
    const struct model_process *ended = model_process_at(tally_model(tally), process);
    uint64_t births = tally_process_at(tally, process).birth_count;

    return refusals_are_apart(failure->time_ns, ended->end_ns) &&
           births - failure->birth_count > births / SMALL_SHARE;
}

/* Of its process. */
static const struct failure *newest_of(const struct tally *tally, uint16_t process)
{
    for (size_t i = tally_failure_count(tally); i-- > 0;)
        if (tally_ledger_at(tally, tally_failure_at(tally, i)->ledger)->process == process)
            return tally_failure_at(tally, i);
    return NULL;
}

/* What a device refuses is caught, told and left undone: a good end says nothing of it. */
enum refusal_fate refusal_fate(const struct tally *tally, const struct failure *failure)
{
    const struct ledger *ledger = tally_ledger_at(tally, failure->ledger);
    uint16_t process = ledger->process;

    if ((ledger->device < 0 && process_ended_well(model_process_at(tally_model(tally), process))) ||
        went_on(tally, process, newest_of(tally, process)))
        return REFUSAL_SURVIVED;
    return weight_of(tally, failure) == WEIGHT_TOO_MUCH ? REFUSAL_TOO_MUCH : REFUSAL_FATAL;
}

bool refusal_ended(const struct tally *tally, uint16_t process)
{
    size_t told = refusal_of(tally, process);
    const struct failure *failure = told == SIZE_MAX ? NULL : tally_failure_at(tally, told);

    return failure && tally_ledger_at(tally, failure->ledger)->device < 0 &&
           refusal_fate(tally, failure) == REFUSAL_FATAL;
}
