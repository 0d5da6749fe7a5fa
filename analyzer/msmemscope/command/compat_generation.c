/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two names of the tool.
 */
#include <string.h>

#include "compat_request.h"
#include "path_text.h"

static const struct compat_generation generations[COMPAT_NAMES] = {
    {.name = COMPAT_MSLEAKS,
     .program = "msleaks",
     .version = "8.3.0",
     .error_word = "ERROR",
     .output_folder = "leaksDumpResults",
     .dump_prefix = "leaks_dump",
     .process_prefix = "msleaks"},
    {.name = COMPAT_MSMEMSCOPE,
     .program = "msmemscope",
     .version = "26.0.0",
     .error_word = "Error",
     .output_folder = "memscopeDumpResults",
     .dump_prefix = "memscope_dump",
     .process_prefix = "msmemscope",
     .has_process_folders = true},
};

const struct compat_generation *compat_generation_find(const char *program)
{
    const char *name = path_base(program);

    for (size_t i = 0; i < COMPAT_NAMES; i++) {
        size_t length = strlen(generations[i].program);

        if (strncmp(name, generations[i].program, length) == 0 &&
            (!name[length] || strcmp(name + length, ".bin") == 0))
            return &generations[i];
    }
    return NULL;
}
