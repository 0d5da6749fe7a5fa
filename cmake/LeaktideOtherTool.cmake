# The same command under the names of the tools whose words it knows, and a folder laid out as theirs: bin, lib64 with the
# names that their users' scripts preload, python.

# mt_other_tool(folder libraries): the layout, beside which the libraries lie in ../../../<libraries>
function(mt_other_tool folder libraries)
  set(sources ${PROJECT_SOURCE_DIR}/tracer/python/msmemscope)
  file(MAKE_DIRECTORY ${folder}/bin ${folder}/lib64)
  foreach(name msleaks msmemscope)
    file(CREATE_LINK ../../../../bin/${name} ${folder}/bin/${name} SYMBOLIC)
    foreach(module __init__ analyzer describe)
      configure_file(${sources}/${module}.py ${folder}/python/${name}/${module}.py COPYONLY)
    endforeach()
  endforeach()
  # All of them are the one library: the loader takes a file once, whatever its names.
  foreach(name libascend_kernel_hook.so libascend_mstx_hook.so libleaks_ascend_hal_hook.so)
    file(CREATE_LINK ../../../../${libraries}/leaktide/libascend_kernel_hook.so ${folder}/lib64/${name} SYMBOLIC)
  endforeach()
endfunction()

foreach(name msleaks msmemscope)
  file(REMOVE ${PROJECT_BINARY_DIR}/bin/${name}) # a link to the command, of an older build
  configure_file(${PROJECT_SOURCE_DIR}/analyzer/msmemscope/command/msmemscope.sh
    ${PROJECT_BINARY_DIR}/bin/${name} COPYONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
mt_other_tool(${PROJECT_BINARY_DIR}/share/leaktide/msmemscope lib)
mt_other_tool(${PROJECT_BINARY_DIR}/installed/msmemscope ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/installed/msmemscope DESTINATION ${CMAKE_INSTALL_DATADIR}/leaktide)
