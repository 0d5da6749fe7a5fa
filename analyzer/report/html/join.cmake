# Joins the page of the HTML report into one C file: the skeleton with style and script inside, as
# three byte arrays between which the data goes.
#
#   cmake -DSCRIPTS=a.js,b.js -DSTYLES=a.css -DSKELETON=page.html -DOUTPUT=page_bytes.c -P join.cmake
#
# Each script but uPlot is an ECMAScript module for editors and linters; here they become one script,
# in this order. Import statements go; what a module exports becomes a constant of the whole:
#
#   const {size, count} = (() => { ...the module... return {size, count}; })();
#
# So an export is declared where it stands, one name each, and no two modules export one name. The
# Content-Security-Policy allows this script and this style by their hashes, nothing else.

function(hex_to_base64 hex variable)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  string(LENGTH "${hex}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${hex}" ${at} 6 piece)
    string(LENGTH "${piece}" digits)
    string(SUBSTRING "${piece}0000" 0 6 padded)
    math(EXPR bits "0x${padded}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
    math(EXPR at "${at} + 6")
  endwhile()
  math(EXPR missing "(6 - ${digits}) / 2")
  string(LENGTH "${text}" size)
  math(EXPR kept "${size} - ${missing}")
  string(SUBSTRING "${text}" 0 ${kept} text)
  string(REPEAT "=" ${missing} padding)
  set(${variable} "${text}${padding}" PARENT_SCOPE)
endfunction()

function(join_files files variable)
  set(joined "\n")
  string(REPLACE "," ";" files "${files}")
  foreach(name IN LISTS files)
    file(READ "${name}" text)
    string(APPEND joined "${text}\n")
  endforeach()
  set(${variable} "${joined}" PARENT_SCOPE)
endfunction()

function(hash_of text variable)
  string(SHA256 hex "${text}")
  hex_to_base64(${hex} base64)
  set(${variable} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

function(add_array name text variable)
  file(WRITE "${OUTPUT}.piece" "${text}")
  file(READ "${OUTPUT}.piece" hex HEX)
  file(REMOVE "${OUTPUT}.piece")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${variable}
    "${${variable}}const unsigned char ${name}[] = {\n${hex}\n};\nconst size_t ${name}_bytes = sizeof(${name});\n"
    PARENT_SCOPE)
endfunction()

# A module without its imports, in a scope of its own, with its exports outside.
function(wrap_module text variable)
  string(REGEX REPLACE "\nimport [^;]*;" "" text "\n${text}")
  string(REGEX MATCHALL "\nexport [a-z ]*(function|const|class) [A-Za-z0-9_]+" exports "${text}")
  string(REGEX REPLACE "\nexport [a-z ]* " "" exports "${exports}")
  string(REPLACE ";" ", " exports "${exports}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  if(exports)
    set(text "const {${exports}} = (() => {${text}return {${exports}};\n})();\n")
  else()
    set(text "(() => {${text}})();\n")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(join_modules files variable)
  set(joined "")
  string(REPLACE "," ";" files "${files}")
  foreach(name IN LISTS files)
    file(READ "${name}" text)
    if(NOT name MATCHES "uPlot")
      wrap_module("${text}" text)
    endif()
    string(APPEND joined "${text}\n")
  endforeach()
  set(${variable} "${joined}" PARENT_SCOPE)
endfunction()

join_modules("${SCRIPTS}" script)
set(script "\n(() => {\n'use strict';\n${script}})();\n")
join_files("${STYLES}" style)
hash_of("${script}" script_hash)
hash_of("${style}" style_hash)

file(READ "${SKELETON}" page)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(FIND "${page}" "@VERDICT@" verdict_at)
string(FIND "${page}" "@DATA@" data_at)
math(EXPR data_length "${data_at} - ${verdict_at} - 9")
math(EXPR middle "${verdict_at} + 9")
math(EXPR end "${data_at} + 6")
string(SUBSTRING "${page}" 0 ${verdict_at} before)
string(SUBSTRING "${page}" ${middle} ${data_length} between)
string(SUBSTRING "${page}" ${end} -1 after)

set(source "/* Made by join.cmake. */\n#include \"page_bytes.h\"\n\n")
add_array(page_before_verdict "${before}" source)
add_array(page_before_data "${between}" source)
add_array(page_after_data "${after}" source)
file(WRITE "${OUTPUT}" "${source}")
