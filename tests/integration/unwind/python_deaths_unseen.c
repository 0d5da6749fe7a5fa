/* SPDX-License-Identifier: Apache-2.0 */
/* In place of python_deaths.c: codes are known by their address alone. What must be found wrong. */
#include "python_deaths.h"

_Atomic uint32_t python_generations[PYTHON_GENERATIONS];
_Atomic uint64_t python_death_count;

void python_deaths_watch(const char *code_type, uint32_t dealloc)
{
    (void)code_type;
    (void)dealloc;
}

bool python_deaths_are_seen(void)
{
    return true;
}

bool python_is_dying(const char *code, uint32_t *generation)
{
    (void)code;
    (void)generation;
    return false;
}
