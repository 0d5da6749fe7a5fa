/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that a snapshot is made of. Keys come first: their numbers are bits of a set.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_WORDS_H
#define LEAKTIDE_INPUT_SNAPSHOT_WORDS_H

#include <stddef.h>

// clang-format off
#define SNAPSHOT_KEYS(X)                                                                           \
    X(ACTION, "action") X(ADDR, "addr") X(SIZE, "size") X(TIME_US, "time_us")                      \
    X(FRAMES, "frames") X(DEVICE_FREE, "device_free") X(NAME, "name") X(FILENAME, "filename")      \
    X(LINE, "line") X(ADDRESS, "address") X(TOTAL_SIZE, "total_size")                              \
    X(REQUESTED_SIZE, "requested_size") X(STATE, "state") X(DEVICE, "device")                      \
    X(BLOCKS, "blocks") X(IS_EXPANDABLE, "is_expandable") X(HISTORY, "history")                    \
    X(REAL_SIZE, "real_size") X(STAGE, "stage") X(SEGMENTS, "segments")                            \
    X(DEVICE_TRACES, "device_traces") X(EXTERNAL_ANNOTATIONS, "external_annotations")              \
    X(HOST_SEGMENTS, "host_segments") X(HOST_TRACES, "host_traces") X(STREAM, "stream")            \
    X(ALLOCATOR_SETTINGS, "allocator_settings") X(ALLOC_CONF, "PYTORCH_CUDA_ALLOC_CONF")

/* Keys whose values may be long texts, and say nothing about memory. */
#define SNAPSHOT_DROPPED_KEYS(X)                                                                   \
    X(COMPILE_CONTEXT, "compile_context") X(USER_METADATA, "user_metadata")                        \
    X(INTERNAL_METADATA, "internal_metadata") X(FX_NODE_OP, "fx_node_op")                          \
    X(FX_NODE_NAME, "fx_node_name") X(FX_NODE_TARGET, "fx_node_target")                            \
    X(FX_ORIGINAL_TRACE, "fx_original_trace")

#define SNAPSHOT_VALUES(X)                                                                         \
    X(ALLOC, "alloc") X(FREE_REQUESTED, "free_requested") X(FREE_COMPLETED, "free_completed")      \
    X(SEGMENT_ALLOC, "segment_alloc") X(SEGMENT_FREE, "segment_free")                              \
    X(SEGMENT_MAP, "segment_map") X(SEGMENT_UNMAP, "segment_unmap") X(SNAPSHOT, "snapshot")        \
    X(WORKSPACE_SNAPSHOT, "workspace_snapshot") X(OOM, "oom") X(ANNOTATE, "annotate")              \
    X(ACTIVE_ALLOCATED, "active_allocated") X(ACTIVE_PENDING_FREE, "active_pending_free")          \
    X(ACTIVE_AWAITING_FREE, "active_awaiting_free") X(INACTIVE, "inactive")                        \
    X(START, "START") X(END, "END")
// clang-format on

#define SNAPSHOT_WORD_ID(id, text) WORD_##id,
enum word {
    WORD_NONE,
    SNAPSHOT_KEYS(SNAPSHOT_WORD_ID) WORD_KEY_COUNT,
    SNAPSHOT_DROPPED_KEYS(SNAPSHOT_WORD_ID) WORD_DROPPED_END,
    SNAPSHOT_VALUES(SNAPSHOT_WORD_ID) WORD_COUNT
};
#undef SNAPSHOT_WORD_ID

enum word snapshot_word(const char *bytes, size_t size_bytes);
const char *snapshot_word_text(enum word word); /* "" if it is none */

static inline int word_is_dropped_key(enum word word)
{
    return word > WORD_KEY_COUNT && word < WORD_DROPPED_END;
}

#endif
