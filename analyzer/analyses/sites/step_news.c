/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is new when a step ends.
 *
 * The work is in proportion to the samples of the series, not to steps times origins: only where a
 * series has a sample did something change.
 */
#include "step_news.h"

#include <stdlib.h>

struct change {
    uint32_t step;
    int64_t bytes;
};

static int change_compare(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    return (a->step > b->step) - (a->step < b->step);
}

static size_t changes_of(const struct tally *tally, const struct origin *origin,
                         struct change *changes)
{
    size_t count = 0;

    for (size_t g = 0; g < origin->group_count; g++) {
        const struct step_series *series = &tally_past_at(tally, origin->groups[g])->series;
        uint64_t before = 0;

        for (size_t i = 0; i < series->count; i++) {
            changes[count++] = (struct change){series->samples[i].step,
                                               (int64_t)(series->samples[i].bytes - before)};
            before = series->samples[i].bytes;
        }
    }
    qsort(changes, count, sizeof(*changes), change_compare);
    return count;
}

static void keep_largest(const struct origin *origin, const struct change *changes, size_t count,
                         struct news *news, uint32_t last)
{
    for (size_t i = 0; i < count;) {
        uint32_t step = changes[i].step <= last ? changes[i].step : last;
        int64_t sum = 0;

        for (uint32_t same = changes[i].step; i < count && changes[i].step == same; i++)
            sum += changes[i].bytes;
        if (sum > 0 && (uint64_t)sum > news[step].grown_bytes)
            news[step] = (struct news){origin, (uint64_t)sum};
    }
}

bool step_news_of(const struct question *question, const struct origins *origins, uint16_t ledger,
                  struct news *news, uint32_t last)
{
    size_t most = 0;
    struct change *changes;

    for (size_t i = 0; i < origins->count; i++)
        most = origins->rows[i].group_count > most ? origins->rows[i].group_count : most;
    changes = malloc((most * STEP_SERIES_MAX + 1) * sizeof(*changes));
    if (!changes)
        return false;
    for (size_t i = 0; i < origins->count; i++) {
        size_t count;

        if (origins->rows[i].ledger != ledger)
            continue;
        count = changes_of(question->tally, &origins->rows[i], changes);
        keep_largest(&origins->rows[i], changes, count, news, last);
    }
    free(changes);
    return true;
}
