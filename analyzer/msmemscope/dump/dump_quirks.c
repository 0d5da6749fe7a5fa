/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The known errors of msmemscope in rows of blocks; docs/msmemscope.md lists them all.
 */
#include "dump_quirks.h"

#include <string.h>

#include "dump_attributes.h"

void dump_quirks_apply(struct dump_quirks *quirks, struct memscope_row *row)
{
    const struct memscope_attribute *alloc_type = dump_attribute_find(row, "alloc_type");

    if (strcmp(row->type, "PTA_WORKSPACE") == 0)
        row->type = "PTA";
    if (alloc_type && strcmp(alloc_type->text, "alloc") == 0)
        dump_attribute_set_text(row, "page_type", "normal");
    if (strcmp(row->event, "MALLOC") == 0 && strcmp(row->type, "MINDSPORE") == 0 &&
        !quirks->has_mindspore) {
        quirks->has_mindspore = true;
        dump_attribute_set_number(row, "total", 0);
    }
}
