/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries that are in leaktide, and their versions.
 */
#include <stddef.h>

#include <libdwarf.h>
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <yajl/yajl_version.h>
#include <zlib.h>
#include <zstd.h>

#include "leaktide/library.h"

#define MT_TEXT_OF(tokens) #tokens
#define MT_TEXT(tokens)    MT_TEXT_OF(tokens)

static const char *dwarf_version(void)
{
#ifdef DW_LIBDWARF_VERSION
    return dwarf_package_version();
#else
    return "older than 0.2";
#endif
}

static const char *xxhash_version(void)
{
    return MT_TEXT(XXH_VERSION_MAJOR) "." MT_TEXT(XXH_VERSION_MINOR) "." MT_TEXT(
        XXH_VERSION_RELEASE);
}

static const char *yajl_text(void)
{
    return MT_TEXT(YAJL_MAJOR) "." MT_TEXT(YAJL_MINOR) "." MT_TEXT(YAJL_MICRO);
}

static const char *jemalloc_version(void)
{
    return MT_JEMALLOC_VERSION;
}

const char *mt_part_at(size_t index, const char **version)
{
    static const struct {
        const char *name;
        const char *(*version)(void);
    } parts[] = {
        {"jemalloc", jemalloc_version}, {"libdwarf", dwarf_version}, {"sqlite", sqlite3_libversion},
        {"xxhash", xxhash_version},     {"yajl", yajl_text},         {"zlib", zlibVersion},
        {"zstd", ZSTD_versionString},
    };

    if (index >= sizeof(parts) / sizeof(parts[0]))
        return NULL;
    if (version)
        *version = parts[index].version();
    return parts[index].name;
}
