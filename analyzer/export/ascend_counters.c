/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of counters, taken apart.
 */
#include "ascend_counters.h"

#include <stdio.h>
#include <string.h>

void counter_name_read(struct counter_name *counter, const char *text)
{
    static const struct {
        const char *word;
        enum counter_field field;
    } fields[] = {
        {" allocated", COUNTER_ALLOCATED},
        {" reserved", COUNTER_RESERVED},
        {" active", COUNTER_ACTIVE},
        {" ddr", COUNTER_DDR},
        {" hbm", COUNTER_HBM},
    };
    static const char module[] = "module ";
    size_t length = strlen(text), start = 0;

    *counter = (struct counter_name){.field = COUNTER_OTHER};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t word = strlen(fields[i].word);

        if (length <= word || strcmp(text + length - word, fields[i].word) != 0)
            continue;
        counter->field = fields[i].field;
        length -= word;
        break;
    }
    if (counter->field == COUNTER_RESERVED && strncmp(text, module, sizeof(module) - 1) == 0) {
        counter->field = COUNTER_MODULE;
        start = sizeof(module) - 1;
    }
    /* Words of a component hold no blank: "process resident" is the system's. */
    if (memchr(text + start, ' ', length - start))
        counter->field = COUNTER_OTHER;
    snprintf(counter->name, sizeof(counter->name), "%.*s", (int)(length - start), text + start);
}
