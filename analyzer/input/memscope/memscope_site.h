/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the stack columns of a row to a site with a stack.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_SITE_H
#define LEAKTIDE_INPUT_MEMSCOPE_SITE_H

#include "memscope_attr.h"
#include "model.h"

struct memscope_sites {
    struct site_row {
        uint64_t hash; /* of a whole stack; 0: unused */
        uint32_t site;
    } * rows;
};

uint32_t memscope_site(struct memscope_sites *sites, struct model *model, uint16_t process,
                       struct attr_text python, struct attr_text native);
void memscope_sites_release(struct memscope_sites *sites);

#endif
