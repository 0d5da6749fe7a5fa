# Makes one object out of a jemalloc archive, with every public name renamed.
#
#   cmake -DARCHIVE=libjemalloc_pic.a -DOUTPUT=jemalloc.o -DAR= -DLD= -DNM= -DOBJCOPY= -P RenameJemalloc.cmake
#
#   libjemalloc_pic.a --ar x--> members --ld -r--> one object --objcopy--> malloc is mt_je_malloc
#
# The C++ members (operator new and delete) are left out. Internal names (je_...) become local, so
# that another jemalloc in the same program cannot meet them. What jemalloc asks its surroundings
# for its settings and for its profiles is renamed too: see environment.c.

cmake_minimum_required(VERSION 3.22)

set(prefix mt_je_)
set(asks_surroundings secure_getenv readlink mmap munmap exp log round _Unwind_Backtrace _Unwind_GetIP)

function(must_run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${folder} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE trouble)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}${trouble}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(folder ${OUTPUT}.members)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
must_run(${AR} x ${ARCHIVE})
file(GLOB members ${folder}/*.o)
list(FILTER members EXCLUDE REGEX "/jemalloc_cpp[^/]*$")
list(SORT members)
if(NOT members)
  message(FATAL_ERROR "${ARCHIVE}: holds no objects")
endif()
must_run(${LD} -r -o joined.o ${members})

must_run(${NM} --extern-only --defined-only --format=posix joined.o)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(renames "")
set(kept "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " .*" "" name "${line}")
  if(NOT name MATCHES "^je_")
    string(APPEND renames "${name} ${prefix}${name}\n")
    string(APPEND kept "${prefix}${name}\n")
  endif()
endforeach()
if(NOT renames MATCHES "(^|\n)malloc mt_je_malloc\n")
  message(FATAL_ERROR "${ARCHIVE}: does not define malloc; jemalloc with a prefix of its own?")
endif()
foreach(name IN LISTS asks_surroundings)
  string(APPEND renames "${name} ${prefix}${name}\n")
endforeach()
file(WRITE ${folder}/renames "${renames}")
file(WRITE ${folder}/kept "${kept}")

# Two passes: the second sees the new names.
must_run(${OBJCOPY} --redefine-syms=renames joined.o renamed.o)
must_run(${OBJCOPY} --keep-global-symbols=kept renamed.o ${OUTPUT})
file(REMOVE_RECURSE ${folder})
