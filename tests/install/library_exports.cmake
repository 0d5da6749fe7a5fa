# libleaktide exports the names of libleaktide.symbols, and these are what its headers declare.
#
#   cmake -DLIBRARY=libleaktide.so -DNM=nm -DSYMBOLS=libleaktide.symbols -DHEADERS=include/leaktide
#         -P library_exports.cmake

cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE trouble)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${LIBRARY}: ${trouble}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(exported "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES " A ") # the name of the version
    string(REGEX REPLACE "[ @].*" "" name "${line}")
    list(APPEND exported ${name})
  endif()
endforeach()
file(STRINGS ${SYMBOLS} listed)

# A declaration begins with MT_API; its name is the first word before a parenthesis.
set(declared "")
file(GLOB headers ${HEADERS}/*.h)
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "\nMT_API [^(]*\\(" declarations "${text}")
  foreach(declaration IN LISTS declarations)
    string(REGEX MATCH "mt_[a-z_]*\\($" name "${declaration}")
    string(REPLACE "(" "" name "${name}")
    list(APPEND declared ${name})
  endforeach()
endforeach()

# must_be_in(what other): each name of the one list stands in the other
function(must_be_in what other)
  foreach(name IN LISTS ${what})
    if(NOT name IN_LIST ${other})
      list(APPEND wrong "${name} is ${what}, and not ${other}")
    endif()
  endforeach()
  set(wrong "${wrong}" PARENT_SCOPE)
endfunction()

must_be_in(exported listed)
must_be_in(listed exported)
must_be_in(declared exported)
must_be_in(exported declared)
if(wrong)
  list(JOIN wrong "\n  " text)
  message(FATAL_ERROR "${LIBRARY}:\n  ${text}")
endif()
list(LENGTH exported count)
message(STATUS "${count} names exported, all of them meant to be")
