/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp.h"

#include <stddef.h>

const void *stamp_only_thread;

/*
 * Several is never taken back: whoever reads that waits, which is always right. Before anything is
 * recorded, and on a machine without a counter, nobody is noted, so that this is asked each time.
 */
__attribute__((noinline)) void stamp_meets_thread(const struct thread_state *thread)
{
    const void *only = NULL;

    if (!clock_has_counter)
        return;
    if (!__atomic_compare_exchange_n(&stamp_only_thread, &only, (const void *)thread, 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
        only != thread)
        __atomic_store_n(&stamp_only_thread, &stamp_only_thread, __ATOMIC_SEQ_CST);
}
