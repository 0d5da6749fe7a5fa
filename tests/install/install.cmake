# Installs a build into an empty folder, looks at what came, and builds and runs a program on it
# with find_package and with pkg-config.
#
#   cmake -DBUILD= -DPREFIX= -DCONSUMER= -DSAMPLE= -DRECORDING= -DCOMPILER= -DGENERATOR=
#         -P install.cmake
#
# CONSUMER marks its steps and links nothing; SAMPLE prints the leaks of RECORDING through the
# library. The tree is moved before anything is built on it.

cmake_minimum_required(VERSION 3.22)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE trouble OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}\n${trouble}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# The leaks that a program of the sample has to print.
function(must_print_the_leak program)
  execute_process(COMMAND ${program} ${RECORDING} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE trouble)
  set(expected "196608 bytes per step at leak\\+0x3018 \\(opencl device 0\\)\n")
  if(NOT status EQUAL 1 OR NOT output MATCHES "^${expected}$")
    message(FATAL_ERROR "${program}: ${status}\n${output}${trouble}")
  endif()
endfunction()

# And that it does not pass for want of data: too few steps, no recording.
function(must_not_pass program)
  get_filename_component(recordings ${RECORDING} DIRECTORY)
  execute_process(COMMAND ${program} ${recordings}/../snapshot/snapshot.json RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE trouble)
  if(NOT status EQUAL 4 OR NOT trouble MATCHES "CANNOT SAY whether something leaks: 1 step judged")
    message(FATAL_ERROR "${program}, not judged: ${status}\n${output}${trouble}")
  endif()
  execute_process(COMMAND ${program} RESULT_VARIABLE status ERROR_VARIABLE trouble)
  if(NOT status EQUAL 2 OR NOT trouble MATCHES "^no recording is named")
    message(FATAL_ERROR "${program} of nothing: ${status}\n${trouble}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.first)
must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.first)
file(RENAME ${PREFIX}.first ${PREFIX})

set(expected
  bin/leaktide
  lib/leaktide/libascend_kernel_hook.so
  include/leaktide/tracer.h
  share/leaktide/msmemscope/bin/msmemscope
  share/leaktide/msmemscope/lib64/libleaks_ascend_hal_hook.so
  share/leaktide/msmemscope/python/msmemscope/describe.py
  share/leaktide/python/leaktide.py
  share/leaktide/python/leaktide_reading.py)
foreach(file IN LISTS expected)
  if(NOT EXISTS ${PREFIX}/${file})
    list(APPEND missing ${file})
  endif()
endforeach()
file(GLOB_RECURSE config ${PREFIX}/lib*/leaktideConfig.cmake)
file(GLOB_RECURSE pc ${PREFIX}/lib*/leaktide.pc)
file(GLOB_RECURSE library ${PREFIX}/lib*/libleaktide.so)
if(missing OR NOT config OR NOT pc OR NOT library)
  message(FATAL_ERROR "not installed: ${missing}; config: ${config}; pc: ${pc}; library: ${library}")
endif()

# build_with_cmake(source program): in a folder below the prefix
function(build_with_cmake source program)
  set(folder ${PREFIX}/build/${program})
  must_run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX})
  must_run(${CMAKE_COMMAND} --build ${folder})
endfunction()

find_program(PKG_CONFIG NAMES pkgconf pkg-config)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
# build_with_pkg_config(module source program)
function(build_with_pkg_config module source program)
  must_run(${PKG_CONFIG} --cflags --libs ${module})
  separate_arguments(flags UNIX_COMMAND "${output}")
  must_run(${COMPILER} -Wall -Werror -o ${PREFIX}/build/${program}_by_pkg_config ${source} ${flags})
endfunction()

build_with_cmake(${CONSUMER} consumer)
must_run(${PREFIX}/build/consumer/consumer)
build_with_pkg_config(leaktide-headers ${CONSUMER}/main.c consumer)
must_run(${PREFIX}/build/consumer_by_pkg_config)

build_with_cmake(${SAMPLE} leaks)
must_print_the_leak(${PREFIX}/build/leaks/leaks)
must_not_pass(${PREFIX}/build/leaks/leaks)
build_with_pkg_config(leaktide ${SAMPLE}/leaks.c leaks)
get_filename_component(library_folder ${library} DIRECTORY)
set(ENV{LD_LIBRARY_PATH} ${library_folder})
must_print_the_leak(${PREFIX}/build/leaks_by_pkg_config)
unset(ENV{LD_LIBRARY_PATH})
must_run(${PREFIX}/bin/leaktide --version)
