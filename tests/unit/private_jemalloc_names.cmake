# The private jemalloc shows and asks for nothing under a name that the program might have too.
#
#   cmake -DARCHIVE=libmt_private_jemalloc.a -DNM=nm -P private_jemalloc_names.cmake

cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND ${NM} --extern-only --format=posix ${ARCHIVE}
  OUTPUT_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} ${ARCHIVE}: ${status}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(defined_count 0)
set(wrong "")
foreach(line IN LISTS lines)
  if(line MATCHES ":$" OR NOT line MATCHES "^([^ ]+) ([A-Za-z])")
    continue() # the name of a member
  endif()
  set(name ${CMAKE_MATCH_1})
  if(CMAKE_MATCH_2 STREQUAL "U")
    # What jemalloc itself defines, what drives it from outside, and C++.
    if(NOT name MATCHES "^mt_je_"
       AND name MATCHES "^(secure_getenv|getenv|readlink|free|_Z.*|je_.*|.*alloc.*|mallctl.*)$")
      list(APPEND wrong "asks for ${name}")
    endif()
  else()
    math(EXPR defined_count "${defined_count} + 1")
    if(NOT name MATCHES "^mt_je_")
      list(APPEND wrong "defines ${name}")
    endif()
  endif()
endforeach()
if(defined_count LESS 20)
  message(FATAL_ERROR "${ARCHIVE}: only ${defined_count} names found")
endif()
if(wrong)
  message(FATAL_ERROR "${ARCHIVE}: ${wrong}")
endif()
message(STATUS "${defined_count} names, all private")
