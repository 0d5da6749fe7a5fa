/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named stretches of time, as ranges and marks of the program, and operators, tell them.
 */
#include "phases.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

enum { phase_most = 4096, open_most = 4096 };

static int longest_first(const void *left, const void *right)
{
    const struct phase *a = left, *b = right;
    uint64_t length_a = a->end_ns - a->begin_ns, length_b = b->end_ns - b->begin_ns;

    if (length_a != length_b)
        return length_a > length_b ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static bool keep(struct phases *phases, const struct phase *phase)
{
    if (phase->end_ns - phase->begin_ns < phases->least_ns) {
        phases->left_out_count++;
        return true;
    }
    if (phases->count == phase_most) {
        qsort(phases->rows, phases->count, sizeof(*phases->rows), longest_first);
        phases->count /= 2;
        phases->left_out_count += phase_most - phases->count;
        phases->least_ns =
            phases->rows[phases->count - 1].end_ns - phases->rows[phases->count - 1].begin_ns + 1;
    }
    if (!list_has_room(&phases->rows, &phases->capacity, phases->count, sizeof(*phases->rows)))
        return false;
    phases->rows[phases->count++] = *phase;
    return true;
}

static bool begin(struct phases *phases, const struct event *event, uint64_t range_id)
{
    if (phases->open_count == open_most) {
        phases->left_out_count++;
        return true;
    }
    if (!list_has_room(&phases->open, &phases->open_capacity, phases->open_count,
                       sizeof(*phases->open)))
        return false;
    phases->open[phases->open_count++] = (struct phase){.begin_ns = event->time_ns,
                                                        .end_ns = event->time_ns,
                                                        .range_id = range_id,
                                                        .text = event->text,
                                                        .process = event->process};
    return true;
}

/* The newest open range of this id; ends that match nothing are passed over. */
static bool end(struct phases *phases, const struct event *event, uint64_t range_id)
{
    for (size_t i = phases->open_count; i-- > 0;) {
        struct phase phase = phases->open[i];

        if (phase.range_id != range_id || phase.process != event->process)
            continue;
        phases->open_count--;
        memmove(&phases->open[i], &phases->open[i + 1],
                (phases->open_count - i) * sizeof(*phases->open));
        phase.end_ns = event->time_ns > phase.begin_ns ? event->time_ns : phase.begin_ns;
        return keep(phases, &phase);
    }
    return true;
}

bool phases_put(struct phases *phases, const struct event *event)
{
    switch (event->kind) {
    case EVENT_RANGE_BEGIN:
        return begin(phases, event, event->address);
    case EVENT_RANGE_END:
        return end(phases, event, event->address);
    case EVENT_MARK:
        return keep(phases, &(struct phase){.begin_ns = event->time_ns,
                                            .end_ns = event->time_ns,
                                            .text = event->text,
                                            .process = event->process});
    default:
        return true;
    }
}

bool phases_put_operator(struct phases *phases, const struct event *event)
{
    if (event->kind == EVENT_OPERATOR_BEGIN)
        return begin(phases, event, event->thread);
    return event->kind != EVENT_OPERATOR_END || end(phases, event, event->thread);
}

bool phases_finish(struct phases *phases, uint64_t end_ns)
{
    for (; phases->open_count; phases->open_count--) {
        struct phase phase = phases->open[phases->open_count - 1];

        phase.end_ns = end_ns > phase.begin_ns ? end_ns : phase.begin_ns;
        if (!keep(phases, &phase))
            return false;
    }
    return true;
}

void phases_release(struct phases *phases)
{
    free(phases->rows);
    free(phases->open);
    *phases = (struct phases){0};
}
