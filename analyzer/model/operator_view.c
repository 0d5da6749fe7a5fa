/* SPDX-License-Identifier: Apache-2.0 */
#include "operator_view.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "leaktide/profiler_step.h"

/* What only allocates: names without namespace and overload; those that end in * are beginnings. */
static const char *const helpers[] = {
    "empty*", "new_empty*", "_empty*", "resize_", "resize_as_", "_resize_output_", "_to_copy",
};

/* "empty_strided" of "aten::empty_strided", "aten::empty.memory_format" and, as Python calls it,
 * "torch._ops.aten.empty.memory_format"; NULL: no operator of a library. */
static const char *base_of(const char *name, size_t *length)
{
    static const char python[] = "torch._ops.";
    const char *base = strstr(name, "::");

    if (strncmp(name, python, sizeof(python) - 1) == 0) {
        base = strchr(name + sizeof(python) - 1, '.');
        base = base ? base + 1 : NULL;
    } else if (base) {
        base += 2;
    }
    *length = base ? strcspn(base, ".") : 0;
    return base;
}

static bool is_helper(const char *base, size_t length)
{
    for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
        size_t stem = strcspn(helpers[i], "*");

        if (length >= stem && strncmp(base, helpers[i], stem) == 0 &&
            (helpers[i][stem] || length == stem))
            return true;
    }
    return false;
}

bool operator_is_passed(enum operator_view view, const char *name)
{
    size_t length;
    uint64_t number;
    const char *base;

    if (strcmp(name, "empty_tensor") == 0 || mt_profiler_step(name, strlen(name), &number))
        return true;
    base = view == OPERATORS_OF_CALLERS ? base_of(name, &length) : NULL;
    return base && is_helper(base, length);
}
