# What every target of leaktide shares: warnings, sanitizers, and how libraries and fuzz targets are made.

add_library(mt_warnings INTERFACE)
target_compile_options(mt_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wwrite-strings
  $<$<BOOL:${MT_WARNINGS_AS_ERRORS}>:-Werror>)

# A build with sanitizers has them everywhere, so that unit tests of the tracer's parts are watched
# too. Its preloaded library is therefore of no use in programs that lack them: tests labelled
# "tracer" are run in plain builds only.
add_library(mt_sanitizers INTERFACE)
if(MT_SANITIZE)
  target_compile_options(mt_sanitizers INTERFACE
    -fsanitize=${MT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mt_sanitizers INTERFACE -fsanitize=${MT_SANITIZE})
endif()

# mt_add_library(name sources...): an internal static library that sees the public headers
function(mt_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC mt_headers mt_sanitizers PRIVATE mt_warnings)
endfunction()

# mt_writes_through_outlets(target [EXCEPT source...])
#
# The sources of the target, made in this folder, show names to people and other programs: in them
# only analyzer/base/outlet.h writes, and anything else does not compile.
function(mt_writes_through_outlets target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  set(only ${PROJECT_SOURCE_DIR}/analyzer/base/outlets_only.h)
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -include ${only})
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${only})
endfunction()

# mt_add_fuzz_target(name SOURCES source... LIBRARIES library... CORPUS folder)
#
# The source defines LLVMFuzzerTestOneInput. With MT_FUZZ (clang) libFuzzer drives it for
# MT_FUZZ_SECONDS from MT_FUZZ_SEED. In any other build tests/fuzz/replay.c feeds it the corpus, whole
# and damaged, so that what was found once stays found. Both are tests called fuzz.<name>, labelled
# "fuzz"; the target "fuzzers" builds them.
function(mt_add_fuzz_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} mt_sanitizers mt_warnings)
  if(MT_FUZZ)
    set(found_folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.found)
    file(MAKE_DIRECTORY ${found_folder})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND ${name}
      -max_total_time=${MT_FUZZ_SECONDS} -seed=${MT_FUZZ_SEED} -timeout=10 -rss_limit_mb=2048
      -verbosity=0
      -artifact_prefix=${found_folder}/ ${found_folder} ${arg_CORPUS})
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME fuzz.${name} COMMAND ${name} ${arg_CORPUS})
  endif()
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
  add_dependencies(fuzzers ${name})
endfunction()
