/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: on each file of a folder, whole, cut and damaged.
 *
 *     trace_fuzz corpus [rounds]
 *
 * The damage comes from a fixed seed, so a crash here is the same crash tomorrow.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { damages_per_input = 4, default_rounds = 200, max_input_bytes = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(*state >> 33);
}

/* The target gets a heap copy of the exact size, so that a sanitizer sees one byte too far. */
static int feed(const uint8_t *bytes, size_t size_bytes)
{
    uint8_t *copy = malloc(size_bytes ? size_bytes : 1);

    if (!copy)
        return 1;
    memcpy(copy, bytes, size_bytes);
    LLVMFuzzerTestOneInput(copy, size_bytes);
    free(copy);
    return 0;
}

static int feed_damaged(const uint8_t *bytes, size_t size_bytes, unsigned rounds)
{
    uint64_t state = size_bytes;
    uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
    int trouble = !copy;

    for (unsigned round = 0; round < rounds && !trouble && size_bytes; round++) {
        memcpy(copy, bytes, size_bytes);
        for (unsigned i = 0; i < 1 + random_next(&state) % damages_per_input; i++)
            copy[random_next(&state) % size_bytes] = (uint8_t)random_next(&state);
        trouble = feed(copy, round % 2 ? size_bytes : random_next(&state) % size_bytes);
    }
    free(copy);
    return trouble;
}

static int feed_file(const char *path, unsigned rounds)
{
    uint8_t *bytes = malloc(max_input_bytes);
    FILE *file = fopen(path, "rb");
    int trouble = 1;

    if (bytes && file) {
        size_t size_bytes = fread(bytes, 1, max_input_bytes, file);

        trouble = feed(bytes, size_bytes) || feed_damaged(bytes, size_bytes, rounds);
    } else {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    if (file)
        fclose(file);
    free(bytes);
    return trouble;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : default_rounds;
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    unsigned files = 0;
    int trouble = 0;

    if (!folder) {
        fprintf(stderr, "usage: %s corpus-folder [rounds]\n", argv[0]);
        return 2;
    }
    feed((const uint8_t *)"", 0);
    while (!trouble && (entry = readdir(folder)) != NULL) {
        char path[4096];
        struct stat status;

        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        trouble = feed_file(path, rounds);
        files++;
    }
    closedir(folder);
    printf("%u files, %u damaged copies of each\n", files, rounds);
    return trouble || files == 0;
}
