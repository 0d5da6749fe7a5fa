# Where things lie, in the build folder as after installation, so that the command finds the tracer
# beside itself in both:
#
#   bin/memtide; msleaks and msmemscope are links to it
#   lib/memtide/libascend_kernel_hook.so    the name is what frameworks look for
#   include/memtide/*.h, *.def
#   lib/cmake/memtide/memtideConfig.cmake, lib/pkgconfig/memtide.pc
#   share/memtide/python/memtide.py, share/man/man1/*.1

include(CMakePackageConfigHelpers)

if(TARGET memtide)
  set_target_properties(memtide PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS memtide RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The same command under the names of the tools whose words it knows.
  foreach(name msleaks msmemscope)
    install(FILES ${PROJECT_BINARY_DIR}/bin/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
endif()
if(TARGET ascend_kernel_hook)
  set_target_properties(ascend_kernel_hook PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/memtide)
endif()

install(TARGETS mt_headers EXPORT memtideTargets)
install(EXPORT memtideTargets NAMESPACE memtide:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memtide)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/memtideConfig.cmake.in ${PROJECT_BINARY_DIR}/memtideConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memtide)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memtideConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/memtide.pc.in ${PROJECT_BINARY_DIR}/memtide.pc @ONLY)
install(
  FILES ${PROJECT_BINARY_DIR}/memtideConfig.cmake ${PROJECT_BINARY_DIR}/memtideConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memtide)
install(FILES ${PROJECT_BINARY_DIR}/memtide.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/memtide.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# "cpack" in a build folder makes memtide-<version>-<system>-<processor>.tar.gz of all this.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME
  ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
include(CPack)
