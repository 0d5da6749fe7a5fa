/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of timelines for viewers.
 */
#include <stdint.h>

#include "death.h"
#include "timeline.c"

static void nothing(void *context, const struct timeline_track *track)
{
    (void)context;
    (void)track;
}

static const struct timeline_writer writer = {.track = nothing};
static struct timeline timeline;
static struct open_track track;

static void make(void)
{
    timeline.writer = &writer;
}

DAMAGE(make, track_twice, tell(&timeline, &track, (struct timeline_track){.name = "a"});
       tell(&timeline, &track, (struct timeline_track){.name = "a"}))
DAMAGE(make, track_parent,
       tell(&timeline, &track, (struct timeline_track){.name = "a", .parent = 1}))
DAMAGE(make, track_name, tell(&timeline, &track, (struct timeline_track){.parent = 0}))

int main(void)
{
    return deaths_run();
}
