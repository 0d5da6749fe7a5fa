/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What analyses find of blocks, in a reading before the one that writes.
 */
#include "dump_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_attributes.h"
#include "list.h"

enum { BIT_USED = DUMP_INEFFICIENT_ALL + 1 }; /* below it: bits of enum dump_inefficient */

static uint8_t bits_of(const struct dump_findings *findings, uint64_t allocation)
{
    return allocation < findings->count ? findings->bits[allocation] : 0;
}

static bool add_bits(struct dump_findings *findings, uint64_t allocation, uint8_t bits)
{
    if (!list_reach(&findings->bits, &findings->count, allocation, sizeof(*findings->bits)))
        return false;
    findings->bits[allocation] |= bits;
    return true;
}

bool dump_findings_begin(struct dump_findings *findings, bool has_judge)
{
    findings->is_looking = true;
    findings->judge = has_judge ? inefficiency_create(INEFFICIENCY_IDLE_DEFAULT) : NULL;
    return !has_judge || findings->judge;
}

bool dump_findings_end(struct dump_findings *findings)
{
    bool is_ok = true;

    for (size_t i = 0; findings->judge && is_ok && i < inefficiency_count(findings->judge); i++) {
        uint32_t types, allocation = inefficiency_at(findings->judge, i, &types);

        is_ok = !allocation || add_bits(findings, allocation, (uint8_t)types);
    }
    inefficiency_destroy(findings->judge);
    findings->judge = NULL;
    findings->is_looking = false;
    return is_ok;
}

void dump_findings_release(struct dump_findings *findings)
{
    inefficiency_destroy(findings->judge);
    free(findings->bits);
}

bool dump_findings_take(struct dump_findings *findings, const struct inefficiency_event *event)
{
    return !findings->judge || inefficiency_take(findings->judge, event);
}

bool dump_findings_use(struct dump_findings *findings, uint64_t allocation)
{
    return !findings->is_looking || !allocation || add_bits(findings, allocation, BIT_USED);
}

/*
 * PTA@ops: its pool, that operators use it, and what the program called it. A label that names a
 * part of the model stands where the tool's own labels of it stand.
 */
void dump_findings_add_owner(struct dump_findings *findings, struct memscope_row *made,
                             const struct memscope_row *row, uint64_t allocation)
{
    const struct memscope_attribute *label = dump_attribute_find(row, "owner");
    const char *name = label ? label->text : NULL;
    bool is_model = name && strncmp(name, "model@", 6) == 0;
    bool is_used = bits_of(findings, allocation) & BIT_USED;

    if (strcmp(row->type, "HAL") == 0)
        snprintf(findings->owner, DUMP_OWNER_BYTES, "%s", name ? name : "CANN@UNKNOWN");
    else
        snprintf(findings->owner, DUMP_OWNER_BYTES, "%s%s%s%s", row->type,
                 is_used && !is_model ? "@ops" : "", name ? "@" : "", name ? name : "");
    memscope_text(made, "owner", findings->owner);
}

void dump_findings_add_types(struct dump_findings *findings, struct memscope_row *made,
                             uint64_t allocation)
{
    uint32_t types = bits_of(findings, allocation) & DUMP_INEFFICIENT_ALL;

    if (!types)
        return;
    inefficiency_names(types, findings->types);
    memscope_text(made, "inefficient_type", findings->types);
}
