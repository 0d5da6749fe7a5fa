/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks keep a segment from being given back: the cheapest first.
 */
#ifndef LEAKTIDE_ANALYSES_SEGMENT_PINS_H
#define LEAKTIDE_ANALYSES_SEGMENT_PINS_H

#include "fragments.h"
#include "labels.h"

/* Segments with blocks and holes; least to free for most to gain first. */
struct segment_pins {
    const struct fragment_moment *moment;
    const struct segment **rows;
    size_t count;
};

/* False without memory. The moment must outlive it. */
bool segment_pins_init(struct segment_pins *pins, const struct fragment_moment *moment);
void segment_pins_release(struct segment_pins *pins);

struct who pin_who(const struct question *question, uint32_t group);
/* The site of the largest block in it. */
const char *pin_site(const struct question *question, struct report *report,
                     const struct fragment_moment *moment, const struct segment *segment);
/* A table "pinned segments of LEDGER"; when: "when most was unused". */
void segment_pins_show(const struct segment_pins *pins, const struct question *question,
                       struct report *report, uint16_t ledger, const char *when);

/* What a site keeps from being given back: holes of segments that it alone has blocks in. */
struct site_pin {
    struct who who;
    uint64_t hole_bytes, live_bytes;
    size_t segment_count;
};

/* Most holes first. */
struct site_pins {
    struct site_pin *rows;
    size_t count;
};

/* False without memory. */
bool site_pins_init(struct site_pins *pins, const struct question *question,
                    const struct fragment_moment *moment);
void site_pins_release(struct site_pins *pins);

#endif
