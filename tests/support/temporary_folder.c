/* SPDX-License-Identifier: Apache-2.0 */
#include "temporary_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int is_true, const char *what)
{
    if (!is_true) {
        perror(what);
        abort();
    }
}

static char *join(const char *folder, const char *name)
{
    size_t size_bytes = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size_bytes);

    must(path != NULL, "temporary folder");
    snprintf(path, size_bytes, "%s/%s", folder, name);
    return path;
}

char *temporary_folder_create(void)
{
    const char *base = getenv("TMPDIR");
    char *path = join(base && *base ? base : "/tmp", "leaktide-test-XXXXXX");

    must(mkdtemp(path) != NULL, path);
    return path;
}

void temporary_folder_remove(char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;

    must(listing != NULL, folder);
    while ((entry = readdir(listing))) {
        char *path = join(folder, entry->d_name);

        unlink(path); /* not "." and ".." */
        free(path);
    }
    closedir(listing);
    must(rmdir(folder) == 0, folder);
    free(folder);
}

char *temporary_file_write(const char *folder, const char *name, const void *bytes,
                           size_t size_bytes)
{
    char *path = join(folder, name);
    FILE *file = fopen(path, "wb");

    must(file && (!size_bytes || fwrite(bytes, size_bytes, 1, file) == 1) && fclose(file) == 0,
         path);
    return path;
}
