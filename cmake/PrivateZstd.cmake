# zstd inside the tracer: the static library, kept out of the exports of whatever links it, so that
# it never meets the zstd of the traced program.
#
# Only libzstd.a is named: a blanket "ALL" would hide the hooks too, which come from archives. A
# linker without the option needs an archive that hides its names by itself (cmake/packages).

include(CheckLinkerFlag)
check_linker_flag(C "LINKER:--exclude-libs,libzstd.a" MT_LINKER_EXCLUDES)

add_library(mt_private_zstd STATIC IMPORTED GLOBAL)
set_target_properties(mt_private_zstd PROPERTIES
  IMPORTED_LOCATION ${ZSTD_STATIC_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES "${zstd_INCLUDE_DIRS}"
  INTERFACE_LINK_OPTIONS "$<$<BOOL:${MT_LINKER_EXCLUDES}>:LINKER:--exclude-libs,libzstd.a>"
  INTERFACE_LINK_LIBRARIES Threads::Threads)
