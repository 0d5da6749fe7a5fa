/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files tell about a module.
 */
#define _GNU_SOURCE /* vasprintf */
#include "debug_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readable_name.h"

static const char system_folder[] = "/usr/lib/debug";

struct search {
    struct debug_files *files;
    const struct debug_places *places;
    struct build_id recorded;
    uint8_t own_id[BUILD_ID_MOST]; /* of the module, when none was recorded */
    char *link; /* the name of the file with debug data that the module gives; may be NULL */
};

/* Notes what is at this path, if it is a file of the module; the path is freed or kept. */
static void try_path(struct search *search, char *path, bool is_module)
{
    struct elf_file file;
    bool is_ours;

    if (path && elf_file_open(&file, path)) {
        is_ours = elf_file_is(&file, search->recorded);
        search->files->is_changed |= is_module && !is_ours;
        if (is_ours && !search->files->debug &&
            (elf_file_section(&file, ".debug_info") || elf_file_section(&file, ".zdebug_info")))
            search->files->debug = strdup(path);
        if (is_ours && is_module && !search->files->module) {
            search->files->module = strdup(path);
            search->link = elf_file_debuglink(&file);
            if (!search->recorded.size_bytes)
                search->recorded =
                    (struct build_id){search->own_id, elf_file_build_id(&file, search->own_id)};
        }
        elf_file_close(&file);
    }
    free(path);
}

/* For free(); NULL without memory. */
__attribute__((format(printf, 1, 2))) static char *path_make(const char *format, ...)
{
    va_list arguments;
    char *path = NULL;
    int length;

    va_start(arguments, format);
    length = vasprintf(&path, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : path;
}

static void find_module(struct search *search, const char *path)
{
    const struct debug_places *places = search->places;

    if (places->sysroot)
        try_path(search, path_make("%s/%s", places->sysroot, path), true);
    /* Without a build-id, a file of this machine may be any file of that name. */
    if (!search->files->module && (!places->sysroot || search->recorded.size_bytes))
        try_path(search, strdup(path), true);
    for (size_t i = 0; !search->files->module && i < places->folder_count; i++) {
        try_path(search, path_make("%s/%s", places->folders[i], path), true);
        if (!search->files->module)
            try_path(search, path_make("%s/%s", places->folders[i], base_of_path(path)), true);
    }
}

/* "/usr/lib/debug/.build-id/2e/f1c0....debug" */
static void try_build_id(struct search *search, const char *root, const char *folder)
{
    const struct build_id *id = &search->recorded;
    char digits[2 * BUILD_ID_MOST + 1];

    if (id->size_bytes < 2 || id->size_bytes > BUILD_ID_MOST || search->files->debug)
        return;
    for (size_t i = 0; i < id->size_bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
    try_path(search, path_make("%s%s/.build-id/%.2s/%s.debug", root, folder, digits, digits + 2),
             false);
}

/* What is named in the module, in a folder and in .debug below it. */
static void try_link(struct search *search, const char *folder, const char *subfolder)
{
    if (!search->files->debug)
        try_path(search, path_make("%s%s/%s", folder, subfolder, search->link), false);
    if (!search->files->debug)
        try_path(search, path_make("%s%s/.debug/%s", folder, subfolder, search->link), false);
}

static void find_by_link(struct search *search)
{
    const struct debug_places *places = search->places;
    const char *module = search->files->module;
    char *folder = path_make("%.*s", (int)(base_of_path(module) - module), module);

    for (size_t i = 0; folder && i < places->folder_count; i++) {
        try_link(search, places->folders[i], folder);
        try_link(search, places->folders[i], "");
    }
    if (folder && places->sysroot)
        try_link(search, places->sysroot, system_folder);
    if (folder) {
        try_link(search, folder, "");
        try_link(search, system_folder, folder);
    }
    free(folder);
}

void debug_files_find(struct debug_files *files, const struct debug_places *places,
                      const char *path, struct build_id recorded)
{
    struct search search = {.files = files, .places = places, .recorded = recorded};

    memset(files, 0, sizeof(*files));
    find_module(&search, path);
    for (size_t i = 0; i < places->folder_count; i++)
        try_build_id(&search, places->folders[i], "");
    if (places->sysroot)
        try_build_id(&search, places->sysroot, system_folder);
    try_build_id(&search, "", system_folder);
    if (search.link && !files->debug)
        find_by_link(&search);
    free(search.link);
}

void debug_files_release(struct debug_files *files)
{
    free(files->module);
    free(files->debug);
    memset(files, 0, sizeof(*files));
}
