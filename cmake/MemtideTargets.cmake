# What every target of memtide shares: warnings, and sanitizers where they can be used.

add_library(mt_warnings INTERFACE)
target_compile_options(mt_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wwrite-strings
  $<$<BOOL:${MT_WARNINGS_AS_ERRORS}>:-Werror>)

# The tracer is loaded into programs that nobody built with a sanitizer, so it never has one.
add_library(mt_sanitizers INTERFACE)
if(MT_SANITIZE)
  target_compile_options(mt_sanitizers INTERFACE -fsanitize=${MT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(mt_sanitizers INTERFACE -fsanitize=${MT_SANITIZE})
endif()

# mt_add_library(name sources...): an internal static library that sees the public headers
function(mt_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC mt_headers PRIVATE mt_warnings)
endfunction()
