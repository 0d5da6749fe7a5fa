# The page: scripts, style and skeleton joined into one C file, and the writer that puts data in.
# Included by the folder above, whose target it adds to.

set(page_folder ${CMAKE_CURRENT_LIST_DIR})
# In this order: a module may use what stands above it.
set(page_scripts
  uplot/uPlot.iife.min.js
  language.js
  format.js
  dom.js
  colours.js
  payload.js
  search.js
  recording.js
  envelope.js
  changes.js
  layers.js
  selected_blocks.js
  table.js
  view_state.js
  stack.js
  tables.js
  icicle.js
  timeline.js
  selection.js
  verdict.js
  peak.js
  steps.js
  counters.js
  fragmentation.js
  ranks.js
  difference.js
  page.js)
list(TRANSFORM page_scripts PREPEND ${page_folder}/)
set(page_styles ${page_folder}/uplot/uPlot.min.css ${page_folder}/page.css)
# uPlot is as it was published: uplot/README.md.
file(READ ${page_folder}/uplot/README.md uplot_sums)
foreach(file IN ITEMS uPlot.iife.min.js uPlot.min.css)
  file(SHA256 ${page_folder}/uplot/${file} sum)
  if(NOT uplot_sums MATCHES "`${file}` . `${sum}`")
    message(FATAL_ERROR "${page_folder}/uplot/${file} is not the published one: its SHA-256 is ${sum}")
  endif()
endforeach()
set(page_skeleton ${page_folder}/page.html)
set(page_bytes ${CMAKE_CURRENT_BINARY_DIR}/page_bytes.c)
list(JOIN page_scripts "," scripts_joined)
list(JOIN page_styles "," styles_joined)

add_custom_command(
  OUTPUT ${page_bytes}
  COMMAND ${CMAKE_COMMAND} -DSCRIPTS=${scripts_joined} -DSTYLES=${styles_joined}
    -DSKELETON=${page_skeleton} -DOUTPUT=${page_bytes} -P ${page_folder}/join.cmake
  DEPENDS ${page_folder}/join.cmake ${page_scripts} ${page_styles} ${page_skeleton}
  COMMENT "Joining the page of the HTML report"
  VERBATIM)

target_sources(mt_report PRIVATE
  ${page_folder}/report_html.c ${page_folder}/payload.c ${page_bytes})
target_include_directories(mt_report PRIVATE ${page_folder})
target_link_libraries(mt_report PRIVATE PkgConfig::zlib)
