# Where things lie, in the build folder as after installation, so that the command finds the tracer
# beside itself in both:
#
#   bin/leaktide; msleaks and msmemscope are scripts that call it (LeaktideOtherTool.cmake)
#   share/leaktide/msmemscope/{bin,lib64,python}    links: the layout of the tool of that name
#   lib/leaktide/libascend_kernel_hook.so    the name is what frameworks look for
#   lib/libleaktide.so                       what leaktide/analyzer.h declares
#   include/leaktide/*.h, *.def
#   lib/cmake/leaktide/leaktideConfig.cmake, lib/pkgconfig/leaktide.pc, leaktide-headers.pc
#   share/leaktide/python/leaktide.py, share/man/man1/*.1

include(CMakePackageConfigHelpers)

if(TARGET leaktide)
  set_target_properties(leaktide PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS leaktide RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  include(LeaktideOtherTool)
endif()
if(TARGET ascend_kernel_hook)
  set_target_properties(ascend_kernel_hook PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/leaktide)
endif()

if(TARGET mt_library)
  set_target_properties(mt_library PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS mt_library EXPORT leaktideTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

install(TARGETS mt_headers EXPORT leaktideTargets)
install(EXPORT leaktideTargets NAMESPACE leaktide:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leaktide)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/leaktideConfig.cmake.in ${PROJECT_BINARY_DIR}/leaktideConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leaktide)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leaktideConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# Where the tree is moved to, its .pc files go along.
set(mt_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH mt_pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(mt_pc_files leaktide-headers)
if(TARGET mt_library)
  list(APPEND mt_pc_files leaktide)
endif()
foreach(name IN LISTS mt_pc_files)
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${mt_pc_folder})
endforeach()
install(
  FILES ${PROJECT_BINARY_DIR}/leaktideConfig.cmake ${PROJECT_BINARY_DIR}/leaktideConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leaktide)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/leaktide.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/leaktide)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# "cpack" in a build folder makes leaktide-<version>-<system>-<processor>.tar.gz of all this.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME
  ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
include(CPack)
