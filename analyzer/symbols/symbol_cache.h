/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were found in files, kept on disk: a file for each build-id in the folder of
 * cache_folder.h. Starting a process for debug data, or sorting the symbols of a large library,
 * takes longer than to read a few names again.
 *
 *   header     what it is, which files the names came from, how much follows, its checksum
 *   addresses  sorted
 *   frames     of an address, what is inlined first
 *   texts      each once, terminated
 *
 * A file that is damaged, of another version, or made from other debug data is as good as none. It
 * is written whole beside the old one and then takes its name, so a reader never sees half of it;
 * of two writers the last one wins. One thread at a time.
 */
#ifndef LEAKTIDE_SYMBOL_CACHE_H
#define LEAKTIDE_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "symbol_source.h"

struct symbol_cache;

/*
 * origin: a number that is another one when the files are others that the names come from. NULL
 * where nothing can be kept: no build-id, no folder for caches, no memory.
 */
struct symbol_cache *symbol_cache_open(struct build_id build_id, uint64_t origin);

/*
 * The same in a folder of somebody's: names that stay with a recording. Of any origin. NULL also
 * where the folder is not there.
 */
struct symbol_cache *symbol_cache_open_in(const char *folder, struct build_id build_id);
/* It knows any address. */
bool symbol_cache_is_filled(const struct symbol_cache *cache);
/* Its names came with debug data: some have a file. */
bool symbol_cache_has_lines(const struct symbol_cache *cache);

/* It has this name for some address. */
bool symbol_cache_has_name(const struct symbol_cache *cache, const char *name);

/* Whether the address is known; *count may then be 0. Texts live until the cache is closed. */
bool symbol_cache_find(const struct symbol_cache *cache, uint64_t address, struct symbol *found,
                       size_t most, size_t *count);

/* The texts must live until the cache is closed. cache may be NULL. */
void symbol_cache_add(struct symbol_cache *cache, uint64_t address, const struct symbol *symbols,
                      size_t count);

/* Writes it when something is new. NULL is accepted. */
void symbol_cache_close(struct symbol_cache *cache);

#endif
