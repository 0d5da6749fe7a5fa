/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "account_taker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "leaktide/invariant.h"
#include "rings_file.h"

enum taker_state { TAKER_IDLE, TAKER_ASKED, TAKER_DONE };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    _Atomic int state; /* enum taker_state */
    bool has_thread;
    pid_t process;
    enum account_depth depth;
    struct account_waiter waiter; /* is_read NULL: nobody waits */
    struct account account;       /* the thread's while it is asked for one */
    int error;
} taker = {.mutex = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};

/* Who does not wait any more may be gone, and its words another process's. */
static void waiter_answer(void)
{
    if (shared_load(taker.waiter.waits)) {
        shared_store(taker.waiter.is_read, 1);
        shared_wake(taker.waiter.is_read);
    } else if (!taker.error) {
        account_release(&taker.account);
        taker.error = ECANCELED;
    }
}

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
        taker.error = account_take(folder, taker.depth, &taker.account);
        if (taker.waiter.is_read)
            waiter_answer();
        atomic_store(&taker.state, TAKER_DONE);
    }
    return NULL;
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

bool account_taker_ask(pid_t process, enum account_depth depth, const struct account_waiter *waiter)
{
    MT_ASSERT(account_taker_is_idle());
    if (!thread_start())
        return false;
    pthread_mutex_lock(&taker.mutex);
    taker.process = process;
    taker.depth = depth;
    taker.waiter = waiter ? *waiter : (struct account_waiter){.is_read = NULL};
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
