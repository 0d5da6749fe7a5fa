# The tracer shows the program only what it must, and asks for nothing that a program might not have.
#
#   cmake -DLIBRARY=libascend_kernel_hook.so -DTABLES=tracer/hooks -DNM=nm -DREADELF=readelf
#         -P exports.cmake
#
# Exported are functions of the hook tables (*.def), the entry points that frameworks look for, and
# mt_*. Needed are parts of the C library; a build on Debian 12 or older runs where glibc is 2.34.

cmake_minimum_required(VERSION 3.22)

set(host_heap malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign valloc
  pvalloc malloc_usable_size mmap mmap64 munmap mremap mlockall)
set(shared_memory open open64 openat openat64 unlink unlinkat remove ftruncate ftruncate64
  posix_fallocate posix_fallocate64 shm_open shm_unlink shmget shmat shmdt shmctl _exit _Exit)
set(starts execve execv execvp execvpe execl execle execlp execveat fexecve posix_spawn posix_spawnp)
set(loader dlopen dlmopen dlclose dlsym)
set(confinement prctl syscall)
set(entry_points InitInjectionMstx ${loader} ${confinement} ${host_heap} ${shared_memory} ${starts})
set(must_be_there InitInjectionMstx mt_tracer_functions ${loader} ${confinement} ${host_heap} ${shared_memory} ${starts}
  halMemAlloc halMemFree aclrtMalloc aclrtFree rtMalloc rtFree
  clCreateBuffer clReleaseMemObject clSVMAlloc cudaMalloc cudaFree cuMemAlloc_v2 cuMemFree_v2)
# libdl, libpthread and librt are parts of the C library that have been one with it since glibc 2.34.
set(needed_pattern "^(lib(c|dl|pthread|rt)\\.so\\.[0-9]|ld-linux.*)$")
set(newest_glibc 2.34)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE trouble)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${trouble}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(IS_SYMLINK ${LIBRARY} OR NOT LIBRARY MATCHES "/libascend_kernel_hook\\.so$")
  message(FATAL_ERROR "${LIBRARY}: frameworks look for a file of the name libascend_kernel_hook.so")
endif()

# Every word of the tables may be a function; a comment that names one does no harm.
file(GLOB tables ${TABLES}/*.def)
set(words "")
foreach(table IN LISTS tables)
  file(READ ${table} text)
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" found "${text}")
  list(APPEND words ${found})
endforeach()
list(REMOVE_DUPLICATES words)

must_run(${NM} --dynamic --defined-only --format=posix ${LIBRARY})
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(exported "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "[ @].*" "" name "${line}")
  list(APPEND exported ${name})
  if(NOT name MATCHES "^mt_" AND NOT name IN_LIST entry_points AND NOT name IN_LIST words)
    list(APPEND wrong "exports ${name}")
  elseif(name MATCHES "^mt_je_")
    list(APPEND wrong "exports ${name}")
  endif()
endforeach()
foreach(name IN LISTS must_be_there)
  if(NOT name IN_LIST exported)
    list(APPEND wrong "does not export ${name}")
  endif()
endforeach()

must_run(${READELF} --dynamic --wide ${LIBRARY})
if(output MATCHES "TEXTREL")
  list(APPEND wrong "has text relocations")
endif()
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${output}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*\\[(.*)\\].*" "\\1" name "${line}")
  if(NOT name MATCHES "${needed_pattern}")
    list(APPEND wrong "needs ${name}")
  endif()
endforeach()

must_run(getconf GNU_LIBC_VERSION)
string(REGEX REPLACE "[^0-9.]" "" glibc_here "${output}")
set(versions "")
if(glibc_here VERSION_LESS 2.37) # newer ones put newer names into what is built on them
  must_run(${READELF} --version-info --wide ${LIBRARY})
  string(REGEX MATCHALL "GLIBC_[0-9.]+" versions "${output}")
  list(REMOVE_DUPLICATES versions)
endif()
foreach(version IN LISTS versions)
  string(REPLACE "GLIBC_" "" version ${version})
  if(version VERSION_GREATER newest_glibc)
    list(APPEND wrong "needs glibc ${version}")
  endif()
endforeach()

if(wrong)
  list(JOIN wrong "\n  " text)
  message(FATAL_ERROR "${LIBRARY}:\n  ${text}")
endif()
list(LENGTH exported count)
message(STATUS "${count} names exported, all of them meant to be")
