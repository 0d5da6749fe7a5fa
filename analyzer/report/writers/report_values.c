/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value as people read it.
 */
#include <inttypes.h>

#include "report_writers.h"
#include "sentence.h"
#include "text_builder.h"

/* A bar for each number; where there are too many, each bar is the highest of its share. */
static void add_sparkline(struct outlet *out, const struct report_series *series, size_t most)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t count, shown;
    enum value_kind kind;
    const uint64_t *numbers = report_series_numbers(series, &count, &kind);
    uint64_t highest = 0;

    for (size_t i = 0; i < count; i++)
        highest = numbers[i] > highest ? numbers[i] : highest;
    shown = count < most ? count : most;
    for (size_t bar = 0; bar < shown; bar++) {
        uint64_t high = 0;

        for (size_t i = bar * count / shown; i < (bar + 1) * count / shown; i++)
            high = numbers[i] > high ? numbers[i] : high;
        outlet_words(out, bars[highest ? (unsigned __int128)high * 7 / highest : 0]);
    }
}

static void add_change(struct outlet *out, const struct value *value)
{
    uint64_t magnitude = value->change < 0 ? 0 - (uint64_t)value->change : (uint64_t)value->change;

    outlet_words(out, value->change < 0 ? "-" : value->change > 0 ? "+" : "");
    if (value->kind == VALUE_BYTES_CHANGE)
        outlet_amount(out, text_add_size, magnitude);
    else
        outlet_amount(out, text_add_count, magnitude);
}

void report_put_value(struct outlet *out, const struct value *value, size_t series_most)
{
    switch (value->kind) {
    case VALUE_NONE:
        outlet_add(out, "-");
        break;
    case VALUE_TEXT:
    case VALUE_UNKNOWN:
        outlet_words(out, value->text);
        break;
    case VALUE_WORD:
        outlet_words(out, translated(value->text));
        break;
    case VALUE_BYTES:
        outlet_amount(out, text_add_size, value->number);
        break;
    case VALUE_COUNT:
        outlet_amount(out, text_add_count, value->number);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        add_change(out, value);
        break;
    case VALUE_TIME_NS:
        outlet_amount(out, text_add_time, value->number);
        break;
    case VALUE_DURATION_NS:
        outlet_amount(out, text_add_duration, value->number);
        break;
    case VALUE_EVENT:
        outlet_words(out, translated("event "));
        outlet_number(out, value->number);
        break;
    case VALUE_EVENT_COUNT:
        outlet_amount(out, text_add_count, value->number);
        outlet_words(out, translated(value->number == 1 ? " event" : " events"));
        break;
    case VALUE_STEP:
        outlet_format(out, "%" PRIu64, value->number);
        break;
    case VALUE_PERCENT:
        outlet_format(out, "%" PRIu64 " %%", value->number);
        break;
    case VALUE_SERIES:
        add_sparkline(out, value->series, series_most);
        break;
    case VALUE_FLAG:
        outlet_add_either(out, value->number, "yes", "no");
        break;
    case VALUE_STACK:
        break; /* has lines of its own: add_stack() */
    }
}
