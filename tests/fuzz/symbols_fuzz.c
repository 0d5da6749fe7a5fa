/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a program with symbols and debug data: whatever is asked of it, it answers.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debug_files.h"
#include "symbol_source.h"

enum { base = 0x401000, asked_bytes = 0x400, step_bytes = 7, text_most_bytes = 1 << 28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void ask(const struct symbol_source *source, const char *path)
{
    const struct build_id any = {NULL, 0};
    struct symbol found[INLINED_MOST];
    void *state;

    if (source->open(path, any, 0, &state) != SYMBOLS_OPENED)
        return;
    for (uint64_t i = 0; i < asked_bytes; i += step_bytes) {
        size_t count = source->find(state, base + i, found, INLINED_MOST);

        for (size_t f = 0; f < count; f++) /* texts end somewhere */
            if ((found[f].name && strlen(found[f].name) > text_most_bytes) ||
                (found[f].file && strlen(found[f].file) > text_most_bytes))
                abort();
    }
    source->close(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    const struct debug_places places = {NULL, NULL, 0};
    struct debug_files files;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size_bytes) != (ssize_t)size_bytes)
        abort();
    debug_files_find(&files, &places, path, (struct build_id){NULL, 0});
    debug_files_release(&files);
    ask(&elf_symbol_source, path);
    ask(&isolated_dwarf_source, path);
    close(descriptor);
    return 0;
}
