/* SPDX-License-Identifier: Apache-2.0 */
/* A library that allocates at 16 places, for reload_library. */
#include <stdlib.h>

__attribute__((visibility("default"))) void allocate_everywhere(size_t size);

#define ONE     free(malloc(size));
#define FOUR    ONE ONE ONE ONE
#define SIXTEEN FOUR FOUR FOUR FOUR

void allocate_everywhere(size_t size)
{
    SIXTEEN
}
