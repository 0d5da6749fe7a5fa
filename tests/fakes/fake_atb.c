/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runner of ATB: its name is a std::string, short ones in the object, long ones on the heap. It
 * allocates from the driver when it runs.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_ascend.h"

struct fake_runner {
    const char *name;
    void *block;
};

struct string {
    char *bytes;
    size_t size_bytes;
    char local[16];
};

/* As operator delete of C++; the fakes are C. */
void fake_delete(void *block) __asm__("_ZdlPv");
void fake_delete(void *block)
{
    free(block);
}

struct string
fake_name(const struct fake_runner *runner) __asm__("_ZNK3atb6Runner16GetOperationNameB5cxx11Ev");
struct string fake_name(const struct fake_runner *runner)
{
    struct string name = {.size_bytes = strlen(runner->name)};

    name.bytes = name.size_bytes < sizeof(name.local) ? name.local : malloc(name.size_bytes + 1);
    if (name.bytes != name.local && !name.bytes)
        abort();
    memcpy(name.bytes, runner->name, name.size_bytes);
    return name;
}

int fake_execute(struct fake_runner *runner,
                 void *pack) __asm__("_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE");
int fake_execute(struct fake_runner *runner, void *pack)
{
    return pack ? 7 : halMemAlloc(&runner->block, 4096, 1u << HAL_KIND_SHIFT);
}
