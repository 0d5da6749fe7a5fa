/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runner of ATB: its name and its path are std::string, short ones in the object, long ones on
 * the heap. It allocates from the driver when it runs.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_ascend.h"

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

static struct string string_of(const char *text)
{
    struct string string = {.size_bytes = strlen(text)};

    string.bytes =
        string.size_bytes < sizeof(string.local) ? string.local : malloc(string.size_bytes + 1);
    if (string.bytes != string.local && !string.bytes)
        abort();
    memcpy(string.bytes, text, string.size_bytes);
    return string;
}

struct string fake_name(const struct fake_atb_runner *runner) __asm__(
    "_ZNK3atb6Runner16GetOperationNameB5cxx11Ev");
struct string fake_name(const struct fake_atb_runner *runner)
{
    return string_of(runner->name);
}

struct string fake_path(const struct fake_atb_runner *runner) __asm__(
    "_ZNK3atb6Runner16GetSaveTensorDirB5cxx11Ev");
struct string fake_path(const struct fake_atb_runner *runner)
{
    return string_of(runner->path);
}

int fake_execute(struct fake_atb_runner *runner,
                 void *pack) __asm__("_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE");
int fake_execute(struct fake_atb_runner *runner, void *pack)
{
    (void)pack;
    return runner->fails ? 7 : halMemAlloc(&runner->block, 4096, 1u << HAL_KIND_SHIFT);
}
