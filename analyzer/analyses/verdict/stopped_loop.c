/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that was over before its program was.
 */
#include "stopped_loop.h"

#include "leak_weight.h"
#include "thresholds.h"

void stopped_loop_see(struct stopped_loop *loop, struct who who, const struct overdue *overdue,
                      uint64_t allocated_bytes, uint64_t lasted_ns, uint64_t after_ns)
{
    if (overdue->reason != OVERDUE_YES || overdue->is_fading)
        return;
    stopped_loop_add(loop, who, overdue, allocated_bytes, lasted_ns, after_ns,
                     lasted_ns >= after_ns);
}

bool stopped_loop_is_before_rest(uint64_t lasted_ns, uint64_t after_ns)
{
    return after_ns / LARGE_SHARE >= lasted_ns;
}

void stopped_loop_add(struct stopped_loop *loop, struct who who, const struct overdue *overdue,
                      uint64_t allocated_bytes, uint64_t lasted_ns, uint64_t after_ns, bool is_main)
{
    loop->bytes += overdue->bytes;
    if (is_main)
        loop->main_bytes += overdue->bytes;
    loop->count += overdue->count;
    loop->allocated_bytes += allocated_bytes;
    if (overdue->bytes <= loop->who_bytes)
        return;
    loop->who = who;
    loop->who_bytes = overdue->bytes;
    loop->lasted_ns = lasted_ns;
    loop->after_ns = after_ns;
}

bool stopped_loop_is_heavy(const struct stopped_loop *loop, uint64_t peak_bytes)
{
    return (loop->main_bytes >= peak_bytes / SMALL_SHARE ||
            loop->bytes >= peak_bytes / MOST_SHARE) &&
           !leak_is_light(loop->bytes, loop->allocated_bytes, peak_bytes);
}
