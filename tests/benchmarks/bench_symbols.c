/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast addresses get names: 10,000 of the C library, with its debug data, without and with what
 * was kept of an earlier run.
 *
 *     bench_symbols [--quick]
 */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "module_symbols.h"

enum { runs_full = 5, addresses_full = 10000, quick = 100 };

/* Where the C library is, and how long its code. */
struct library {
    const char *path;
    uint64_t bias, code, code_bytes;
    uint8_t build_id[BUILD_ID_MOST];
    size_t build_id_bytes;
};

static int library_look(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct library *library = context;

    (void)size_bytes;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    library->path = info->dlpi_name;
    library->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_flags & PF_X) {
            library->code = info->dlpi_phdr[i].p_vaddr;
            library->code_bytes = info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static struct library library_find(void)
{
    struct library library = {.path = ""};
    struct elf_file file;

    dl_iterate_phdr(library_look, &library);
    if (elf_file_open(&file, library.path)) {
        library.build_id_bytes = elf_file_build_id(&file, library.build_id);
        elf_file_close(&file);
    }
    return library;
}

/* Seconds for all; *named: how many have a line. */
static double name_all(const struct library *library, size_t count, size_t *named)
{
    uint64_t start_ns = bench_now_ns(), random = 1;
    struct model_module module = {.size_bytes = UINT64_MAX, .unloaded_ns = UINT64_MAX};
    struct module_symbols symbols;
    struct model *model;

    if (model_create(&model, NULL) != MT_OK)
        exit(1);
    module.path = model_text(model, library->path, strlen(library->path));
    module.build_id_bytes = (uint8_t)library->build_id_bytes;
    memcpy(module.build_id, library->build_id, library->build_id_bytes);
    model_module(model, &module);
    module_symbols_init(&symbols, model);
    *named = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            struct address_names found;
            struct return_place place = {.process = 0};

            random = i ? random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) : 1;
            place.address = library->code + (random >> 33) % library->code_bytes;
            if (!pass) {
                module_symbols_expect(&symbols, &place);
                continue;
            }
            module_symbols_find(&symbols, &place, &found);
            *named += found.count && found.symbols[0].line;
        }
    module_symbols_release(&symbols);
    model_destroy(model);
    return (double)(bench_now_ns() - start_ns) / 1e9;
}

int main(int argc, char **argv)
{
    bool is_quick = bench_is_quick(argc, argv);
    size_t count = is_quick ? addresses_full / quick : addresses_full, named;
    size_t run_count = is_quick ? 1 : runs_full;
    struct library library = library_find();
    double cold[runs_full], warm[runs_full];

    for (size_t i = 0; i < run_count; i++) {
        char folder[] = "/tmp/leaktide-names-XXXXXX", path[512];

        if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) != 0)
            exit(1);
        cold[i] = name_all(&library, count, &named) * 1e3;
        warm[i] = name_all(&library, count, &named) * 1e3;
        snprintf(path, sizeof(path), "rm -rf '%s'", folder);
        if (system(path) != 0 || !named)
            break;
    }
    if (!named) {
        fprintf(stderr, "bench_symbols: skipped: no debug data of the C library (libc6-dbg)\n");
        return 0;
    }
    bench_report("name addresses of libc, cold", "ms", cold, run_count);
    bench_report("name addresses of libc, kept", "ms", warm, run_count);
    return 0;
}
