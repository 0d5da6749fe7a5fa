/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analyzer knows of addresses of a file, in the manner of llvm-symbolizer.
 *
 *     symbolize file < addresses
 *     symbolize --stripped-python file < addresses
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_files.h"
#include "symbol_source.h"

static void print_address(const struct symbol_source *source, void *state, uint64_t address)
{
    struct symbol found[INLINED_MOST];
    size_t count = source->find(state, address, found, INLINED_MOST);

    printf("0x%" PRIx64 "\n", address);
    for (size_t i = 0; i < count; i++)
        printf("%s\n%s:%" PRIu32 "\n", found[i].name ? found[i].name : "??",
               found[i].file ? found[i].file : "??", found[i].line);
    printf("\n");
}

/* Names of a CPython that has none. */
static int print_interpreter(const char *path)
{
    const struct symbol_source *source = &interpreter_symbol_source;
    const struct build_id any = {NULL, 0};
    uint64_t address;
    void *state;

    if (source->open(path, any, 0, &state) != SYMBOLS_OPENED) {
        fprintf(stderr, "symbolize: %s is no interpreter that was stripped\n", path);
        return 1;
    }
    while (scanf("%" SCNx64, &address) == 1)
        print_address(source, state, address);
    source->close(state);
    return 0;
}

int main(int argc, char **argv)
{
    const struct debug_places places = {NULL, NULL, 0};
    const struct build_id any = {NULL, 0};
    struct debug_files files;
    uint64_t address;
    void *state;

    if (argc == 3 && strcmp(argv[1], "--stripped-python") == 0)
        return print_interpreter(argv[2]);
    if (argc != 2)
        return 2;
    debug_files_find(&files, &places, argv[1], any);
    if (!files.debug || isolated_dwarf_source.open(files.debug, any, 0, &state) != SYMBOLS_OPENED) {
        fprintf(stderr, "symbolize: no debug data of %s\n", argv[1]);
        return 1;
    }
    while (scanf("%" SCNx64, &address) == 1)
        print_address(&isolated_dwarf_source, state, address);
    isolated_dwarf_source.close(state);
    debug_files_release(&files);
    return 0;
}
