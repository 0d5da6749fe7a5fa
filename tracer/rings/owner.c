/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "owner.h"

#include <linux/futex.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct mt_rings_owner), "it fits");

void owner_lock(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_lock(mutex);
}

enum owner_state owner_look(const struct mt_rings_owner *owner)
{
    uint32_t word = __atomic_load_n((const uint32_t *)owner, __ATOMIC_ACQUIRE);

    if (word & FUTEX_OWNER_DIED)
        return OWNER_DIED;
    return word & FUTEX_TID_MASK ? OWNER_LIVES : OWNER_NONE;
}
