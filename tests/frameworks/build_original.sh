#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# build_original.sh SOURCE: builds msmemscope in its own source tree (a clone of Ascend/msmemscope), in two minutes.
#
# What its build would download stands in: Debian's nlohmann-json3-dev and libsqlite3-dev, and the three functions of
# libboundscheck that it calls.
set -eu
cd "$1"
mkdir -p platform/securec/include opensource/json/single_include opensource/googletest
cat > platform/securec/include/securec.h <<'HEADER'
#ifndef SECUREC_H
#define SECUREC_H
#include <stddef.h>
#include <string.h>
typedef int errno_t;
enum { EOK = 0, TOO_LONG = 34 };
static inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t count)
{
    return count > room ? TOO_LONG : (memcpy(to, from, count), EOK);
}
static inline errno_t memset_s(void *to, size_t room, int byte, size_t count)
{
    return count > room ? TOO_LONG : (memset(to, byte, count), EOK);
}
static inline errno_t strncpy_s(char *to, size_t room, const char *from, size_t count)
{
    size_t length = strnlen(from, count);
    return length >= room ? TOO_LONG : (memcpy(to, from, length), to[length] = 0, EOK);
}
#endif
HEADER
cat > platform/securec-build/CMakeLists.txt <<'CMAKE'
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.c "")
add_library(c_sec SHARED ${CMAKE_CURRENT_BINARY_DIR}/empty.c)
CMAKE
cat > opensource/sqlite3/CMakeLists.txt <<'CMAKE'
add_library(sqlite3 INTERFACE)
target_link_libraries(sqlite3 INTERFACE -l:libsqlite3.so)
CMAKE
cp -r /usr/include/nlohmann opensource/json/single_include/
touch opensource/json/CMakeLists.txt opensource/googletest/CMakeLists.txt
cmake -S . -B build/out -DCMAKE_BUILD_TYPE=Release "-DPython3_ROOT_DIR=$(python3 -c 'import sys; print(sys.base_prefix)')"
cmake --build build/out -j"${JOBS:-2}"
cp output/lib64/_msmemscope.so python/msmemscope/
