/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which module is, or was, at an address of a process.
 *
 * All modules of the model by process and address, made when the first address is asked for, and
 * anew when the model has more. A model knows for most of its frames which module they are in: this
 * is for the others, such as those of functions that run while their module is being loaded. One
 * thread at a time.
 */
#ifndef LEAKTIDE_SYMBOLS_MODULE_PLACES_H
#define LEAKTIDE_SYMBOLS_MODULE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

struct module_places {
    const struct model *model;
    struct module_place *rows; /* by process and first address */
    size_t count;
};

void module_places_init(struct module_places *places, const struct model *model);
void module_places_release(struct module_places *places);

/*
 * The newest that was there at that time; if none was then, the newest that ever was there. NULL:
 * there was none, or no memory to find it.
 */
const struct model_module *module_places_at(struct module_places *places, uint16_t process,
                                            uint64_t address, uint64_t time_ns);

#endif
