/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a file of msleaks or msmemscope that is searched and written anew.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dump_inefficient.h"
#include "dump_leaks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void ask(const char *path, FILE *out, bool is_strict)
{
    struct dump_leaks leaks = {path, "test", 0};
    struct dump_leaks_counts leaked;
    struct dump_inefficient_search search = {
        .path = path, .idle_threshold = 2, .is_strict = is_strict};
    struct dump_inefficient_counts marked;

    dump_leaks_write(&leaks, out, &leaked, NULL);
    dump_inefficient_mark(&search, out, &marked, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char path[] = "/tmp/leaktide-dump-fuzz-XXXXXX";
    int file = mkstemp(path);
    FILE *out = fopen("/dev/null", "w");

    if (file < 0 || !out || write(file, data, size_bytes) != (ssize_t)size_bytes)
        abort();
    close(file);
    ask(path, out, false);
    ask(path, out, true);
    fclose(out);
    unlink(path);
    return 0;
}
