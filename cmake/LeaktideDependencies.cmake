# Finds what leaktide is built from, and names the Debian package of what is missing.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

set(mt_missing "")

# mt_require_module(target pkg-config-name debian-package)
function(mt_require_module prefix module package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${prefix}_FOUND)
    set(mt_missing "${mt_missing} ${package}" PARENT_SCOPE)
  endif()
endfunction()

# mt_require_file(variable package names...): a static library that has no pkg-config file of use
function(mt_require_library variable package)
  find_library(${variable} NAMES ${ARGN})
  if(NOT ${variable})
    set(mt_missing "${mt_missing} ${package}" PARENT_SCOPE)
  endif()
endfunction()

function(mt_require_header variable package header)
  find_path(${variable} ${header} ${ARGN})
  if(NOT ${variable})
    set(mt_missing "${mt_missing} ${package}" PARENT_SCOPE)
  endif()
endfunction()

mt_require_module(zstd libzstd libzstd-dev)
mt_require_library(ZSTD_STATIC_LIBRARY libzstd-dev libzstd.a)
mt_require_library(JEMALLOC_PIC_ARCHIVE libjemalloc-dev libjemalloc_pic.a libjemalloc.a)
mt_require_header(XXHASH_INCLUDE_DIR libxxhash-dev xxhash.h)
if(MT_BUILD_ANALYZER)
  mt_require_module(sqlite3 sqlite3 libsqlite3-dev)
  mt_require_module(yajl yajl libyajl-dev)
  mt_require_module(zlib zlib zlib1g-dev)
  mt_require_header(DWARF_INCLUDE_DIR libdwarf-dev libdwarf.h PATH_SUFFIXES libdwarf-2 libdwarf-0 libdwarf)
  mt_require_library(DWARF_LIBRARY libdwarf-dev dwarf)
endif()
if(MT_BUILD_TESTS)
  mt_require_module(cmocka cmocka libcmocka-dev)
endif()

if(mt_missing)
  message(FATAL_ERROR
    "leaktide needs these packages, which are missing:${mt_missing}\n"
    "On Debian or Ubuntu: apt-get install${mt_missing}")
endif()

if(NOT MT_BUILD_ANALYZER)
  return()
endif()

# dwarf_init_path() lost four arguments in libdwarf 0.1, which has no version macro yet. One of the
# two forms must link: a library that cannot be linked would look like the older one.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${DWARF_INCLUDE_DIR})
set(CMAKE_REQUIRED_LIBRARIES ${DWARF_LIBRARY})
set(CMAKE_REQUIRED_FLAGS -Werror=implicit-function-declaration)
check_c_source_compiles("
#include <stddef.h>
#include <libdwarf.h>
int main(void)
{
    Dwarf_Debug debug;
    Dwarf_Error error;

    return dwarf_init_path(\"\", NULL, 0, 0, NULL, NULL, &debug, &error);
}" MT_LIBDWARF_NEW)
if(NOT MT_LIBDWARF_NEW)
  check_c_source_compiles("
#include <stddef.h>
#include <libdwarf.h>
int main(void)
{
    Dwarf_Debug debug;
    Dwarf_Error error;

    return dwarf_init_path(\"\", NULL, 0, 0, 0, NULL, NULL, &debug, NULL, 0, NULL, &error);
}" MT_LIBDWARF_OLD)
  if(NOT MT_LIBDWARF_OLD)
    message(FATAL_ERROR "${DWARF_LIBRARY} does not link, or has another dwarf_init_path(): see "
      "CMakeFiles/CMakeError.log")
  endif()
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
