/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "account_taker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "leaktide/invariant.h"
#include "own_memory.h"
#include "rings_file.h"

enum taker_state { TAKER_IDLE, TAKER_ASKED, TAKER_DONE };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    _Atomic int state; /* enum taker_state */
    bool has_thread;
    pid_t process;
    enum account_depth depth;
    struct own_memory_of own;
    uint32_t *read;         /* futex of who waits; NULL: nobody does */
    struct account account; /* the thread's while it is asked for one */
    int error;
} taker = {.mutex = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};

static void *take_accounts(void *nothing)
{
    (void)nothing;
    prctl(PR_SET_NAME, "leaktide-accnt");
    for (;;) {
        char folder[64];

        pthread_mutex_lock(&taker.mutex);
        while (atomic_load(&taker.state) != TAKER_ASKED)
            pthread_cond_wait(&taker.asked, &taker.mutex);
        pthread_mutex_unlock(&taker.mutex);
        snprintf(folder, sizeof(folder), "/proc/%d", (int)taker.process);
        taker.error = account_take(folder, taker.depth,
                                   &(struct account_own){taker.own.ranges, MT_RINGS_OWN_RANGES},
                                   &taker.account);
        if (taker.read) {
            shared_store(taker.read, 1);
            shared_wake(taker.read);
        }
        atomic_store(&taker.state, TAKER_DONE);
    }
    return NULL;
}

void own_memory_read(const struct mt_rings_process *place, struct own_memory_of *own)
{
    for (int i = 0; i < MT_RINGS_OWN_RANGES; i++) {
        uint64_t word = __atomic_load_n(&place->own_ranges[i], __ATOMIC_ACQUIRE);
        struct own_range range = own_range_of(word);

        own->ranges[i] = (struct account_range){range.start, range.end};
    }
}

bool account_taker_is_idle(void)
{
    return atomic_load(&taker.state) == TAKER_IDLE;
}

static bool thread_start(void)
{
    pthread_t thread;

    if (!taker.has_thread && pthread_create(&thread, NULL, take_accounts, NULL) == 0) {
        pthread_detach(thread);
        taker.has_thread = true;
    }
    return taker.has_thread;
}

bool account_taker_ask(pid_t process, const struct mt_rings_process *place,
                       enum account_depth depth, uint32_t *read)
{
    MT_ASSERT(account_taker_is_idle());
    if (!thread_start())
        return false;
    pthread_mutex_lock(&taker.mutex);
    taker.process = process;
    taker.depth = depth;
    taker.read = read;
    own_memory_read(place, &taker.own);
    atomic_store(&taker.state, TAKER_ASKED);
    pthread_cond_signal(&taker.asked);
    pthread_mutex_unlock(&taker.mutex);
    return true;
}

bool account_taker_poll(struct account *account, int *error)
{
    if (atomic_load(&taker.state) != TAKER_DONE)
        return false;
    *account = taker.account;
    *error = taker.error;
    atomic_store(&taker.state, TAKER_IDLE);
    return true;
}
