# Ring words to chunks, without the rest of the tracer: the trace builder of the tests uses it too.
# Who links it brings a zstd: the tracer mt_private_zstd, tests PkgConfig::zstd.
mt_add_library(mt_chunk_encoder chunk_encoder.c chunk_pack.c)
target_include_directories(mt_chunk_encoder PRIVATE ${XXHASH_INCLUDE_DIR} ${zstd_INCLUDE_DIRS})
