/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Leak Suspicion Index that msmemscope gives a place in the program which takes memory of the
 * host: 0 to 100, from how its live bytes grow from second to second ("beat").
 *
 *   G  growth    slope of the live bytes, against all bytes taken per beat
 *   R  release   bytes never freed, against all bytes taken
 *   S  lifetime  how much older the live blocks are than the freed ones became
 *   P  pattern   whether the slope of late is steeper than before
 *   E  scale     how many blocks and bytes are left
 *
 *   LSI = 100 (0.26 G + 0.21 R + 0.12 S + 0.12 P + 0.29 E), suspected from 60 on
 *
 * It is kept so that numbers can be compared with those of the tool; it cannot see a place that
 * leaks one block of a thousand, and takes a cache that fills for a leak. Doubles, as there.
 *
 * A series is fed when its value changes; beats in between count with the value that holds.
 */
#ifndef LEAKTIDE_LEAK_INDEX_H
#define LEAKTIDE_LEAK_INDEX_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAK_WARM_UP_BEATS = 5, LEAK_RECENT_BEATS = 10, LEAK_POINTS_LEAST = 3 };

/* Sums of a least-squares line over beats [first, end). */
struct leak_line {
    double count, x, y, xx, xy;
};

/* The live bytes of one place. Zero-initialised; the last beat is known from the beginning. */
struct leak_series {
    uint64_t next_beat; /* beats before it are in the sums */
    double value;       /* holds since then */
    struct leak_line all, base, recent;
};

/* The value changes at this beat; beats never go back. last_beat: of the recording. */
void leak_series_change(struct leak_series *series, uint64_t beat, uint64_t last_beat,
                        double value);
/* After the last change. */
void leak_series_finish(struct leak_series *series, uint64_t last_beat);

/* Bytes per beat; false with fewer than LEAK_POINTS_LEAST beats. */
bool leak_line_slope(const struct leak_line *line, double *slope);

struct leak_facts {
    uint64_t last_beat;
    double alloc_bytes, live_bytes, live_count, freed_count;
    double live_age_s, freed_life_s; /* means */
    double newest_live_s;            /* when the newest of the live blocks was taken */
    double window_s;
};

struct leak_index {
    double growth, release, lifetime, pattern, scale;
    double index;  /* 0 to 100 */
    double slope;  /* bytes per beat */
    double points; /* beats that the slope is of */
    bool has_slope;
    bool is_suspected; /* 60 or more */
    bool is_resident;  /* it was there early, or nearly all of it is freed again */
};

struct leak_index leak_index_of(const struct leak_series *series, const struct leak_facts *facts);

#endif
