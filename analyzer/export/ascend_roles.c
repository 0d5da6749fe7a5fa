/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools by their names; where none is known, the largest.
 */
#include "ascend_roles.h"

#include <stdlib.h>
#include <string.h>

struct roles {
    const struct question *question;
    enum ascend_role *of; /* by ledger */
};

const char *ascend_pool_of(const struct question *question, const struct ledger *ledger)
{
    return model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));
}

const char *ascend_graph_of(const struct question *question, const struct ledger *ledger)
{
    return pool_rest(model_pool_at(question->model, ledger->pool),
                     ascend_pool_of(question, ledger));
}

/* What a framework has on the host is not in a profile. */
static enum ascend_role role_of_pool(const struct pool *pool)
{
    static const enum ascend_role roles[] = {
        [POOL_ROLE_FRAMEWORK] = ROLE_FRAMEWORK, [POOL_ROLE_GRAPH] = ROLE_GRAPH,
        [POOL_ROLE_WORKSPACE] = ROLE_WORKSPACE, [POOL_ROLE_PLAN] = ROLE_PLAN,
        [POOL_ROLE_HOST] = ROLE_NONE,
    };

    return pool->family == FAMILY_HOST ? ROLE_NONE : roles[pool->role];
}

/* Whether some ledger of the process is one of a profile, or has memory of a device. */
static bool has_such(const struct roles *roles, uint16_t process, bool has_role)
{
    const struct tally *tally = roles->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->process == process &&
            (has_role ? roles->of[i] != ROLE_NONE : tally_ledger_at(tally, i)->device >= 0))
            return true;
    return false;
}

static bool may_stand_in(const struct roles *roles, const struct ledger *ledger)
{
    return ledger->kind <= LEDGER_HOST &&
           (ledger->device >= 0 || !has_such(roles, ledger->process, false));
}

static bool is_largest(const struct roles *roles, size_t index)
{
    const struct tally *tally = roles->question->tally;
    const struct ledger *ledger = tally_ledger_at(tally, index);

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *other = tally_ledger_at(tally, i);

        if (i != index && other->process == ledger->process && other->device == ledger->device &&
            may_stand_in(roles, other) &&
            (other->peak_bytes > ledger->peak_bytes ||
             (other->peak_bytes == ledger->peak_bytes && i < index)))
            return false;
    }
    return true;
}

/* Where no framework has a pool in a process, the largest ledger of each device stands for one. */
static bool find_stand_ins(struct roles *roles)
{
    const struct tally *tally = roles->question->tally;
    size_t count = tally_ledger_count(tally);
    bool *stands = calloc(count + 1, sizeof(*stands));

    for (size_t i = 0; stands && i < count; i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        stands[i] = !has_such(roles, ledger->process, true) && may_stand_in(roles, ledger) &&
                    is_largest(roles, i);
    }
    for (size_t i = 0; stands && i < count; i++)
        if (stands[i])
            roles->of[i] = ROLE_FRAMEWORK;
    free(stands);
    return stands != NULL;
}

enum ascend_role *ascend_roles_create(const struct question *question)
{
    size_t count = tally_ledger_count(question->tally);
    struct roles roles = {question, calloc(count + 1, sizeof(*roles.of))};

    if (!roles.of)
        return NULL;
    for (size_t i = 0; i < count; i++)
        roles.of[i] =
            role_of_pool(model_pool_at(question->model, tally_ledger_at(question->tally, i)->pool));
    if (find_stand_ins(&roles))
        return roles.of;
    free(roles.of);
    return NULL;
}
