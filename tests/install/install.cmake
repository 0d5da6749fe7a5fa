# Installs a build into an empty folder, looks at what came, and builds and runs a program on it
# with find_package and with pkg-config.
#
#   cmake -DBUILD= -DPREFIX= -DCONSUMER= -DCOMPILER= -DGENERATOR= -P install.cmake

cmake_minimum_required(VERSION 3.22)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE trouble OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}\n${trouble}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${PREFIX})
must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})

set(expected
  bin/leaktide
  lib/leaktide/libascend_kernel_hook.so
  include/leaktide/tracer.h
  share/leaktide/python/leaktide.py)
foreach(file IN LISTS expected)
  if(NOT EXISTS ${PREFIX}/${file})
    list(APPEND missing ${file})
  endif()
endforeach()
file(GLOB_RECURSE config ${PREFIX}/lib*/leaktideConfig.cmake)
file(GLOB_RECURSE pc ${PREFIX}/lib*/leaktide.pc)
if(missing OR NOT config OR NOT pc)
  message(FATAL_ERROR "not installed: ${missing}; config: ${config}; pc: ${pc}")
endif()

set(folder ${PREFIX}/consumer)
must_run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${folder} -G ${GENERATOR}
  -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX})
must_run(${CMAKE_COMMAND} --build ${folder})
must_run(${folder}/consumer)

find_program(PKG_CONFIG NAMES pkgconf pkg-config)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
must_run(${PKG_CONFIG} --define-prefix --cflags --libs leaktide)
separate_arguments(flags UNIX_COMMAND "${output}")
must_run(${COMPILER} -o ${folder}/by_pkg_config ${CONSUMER}/main.c ${flags})
must_run(${folder}/by_pkg_config)
must_run(${PREFIX}/bin/leaktide --version)
