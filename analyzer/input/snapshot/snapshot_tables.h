/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator snapshot of PyTorch or torch_npu as flat tables, built from values as they are read.
 *
 *   pickle, JSON -> values on a stack -> dicts and lists -> rows
 *
 * There is no tree of objects: when a dict is complete, its keys say what it is, and it becomes
 * one row; a list of rows becomes a range of them, and a list of frames a stack of the model. What
 * no analysis needs is dropped at once.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_TABLES_H
#define LEAKTIDE_INPUT_SNAPSHOT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"
#include "model.h"
#include "snapshot_entries.h"
#include "snapshot_memo.h"
#include "snapshot_words.h"
#include "table.h"

enum snapshot_value_kind { VALUE_OTHER, VALUE_NUMBER, VALUE_TEXT, VALUE_OBJECT, VALUE_STACK };

struct snapshot_value {
    uint64_t number; /* negative ones as two's complement */
    uint32_t index;  /* VALUE_TEXT: in the model; VALUE_OBJECT: in objects; VALUE_STACK: site */
    uint8_t kind;    /* enum snapshot_value_kind */
    uint8_t word;    /* enum word; WORD_NONE if it is not a text or not a known one */
};

/* What a dict or a list turned out to be. Lists of rows are ranges: first, count. */
enum object_kind {
    OBJECT_EMPTY_DICT,
    OBJECT_PARTIAL, /* a dict that is filled key by key; first = row of partials */
    OBJECT_ENTRY,
    OBJECT_BLOCK,
    OBJECT_SEGMENT,
    OBJECT_HISTORY,
    OBJECT_ANNOTATION,
    OBJECT_FRAME, /* first = frame of the model */
    OBJECT_TOP,
    OBJECT_SETTINGS, /* first = text: as they were given */
    OBJECT_EMPTY_LIST,
    OBJECT_ENTRIES,
    OBJECT_BLOCKS,
    OBJECT_SEGMENTS,
    OBJECT_HISTORIES,
    OBJECT_ANNOTATIONS,
    OBJECT_FRAMES, /* first, count: of waiting */
    OBJECT_STACK,  /* first = site: a list of frames that was used */
    OBJECT_LISTS,  /* first, count: of children */
    OBJECT_IGNORED,
    OBJECT_FREE /* it is no more; first = row + 1 of the next of its kind */
};

struct object {
    uint32_t kind; /* enum object_kind */
    uint32_t first, count;
    uint32_t memo; /* its number in the memo + 1; 0: none; OBJECT_IS_SHARED: who knows */
};

#define OBJECT_IS_SHARED UINT32_MAX

struct snapshot_block {
    uint64_t address; /* when it has none: UINT64_MAX, it follows the block before */
    uint64_t size_bytes, requested_bytes;
    uint32_t site;
    uint8_t state; /* enum word */
};

/* Nobody else may have its memory. */
static inline bool snapshot_block_is_active(const struct snapshot_block *block)
{
    return block->state == WORD_ACTIVE_ALLOCATED || block->state == WORD_ACTIVE_PENDING_FREE ||
           block->state == WORD_ACTIVE_AWAITING_FREE;
}

struct snapshot_segment {
    uint64_t address, total_bytes, stream;
    uint32_t first_block, block_count;
    int32_t device;
    bool is_expandable;
};

struct snapshot_annotation {
    uint64_t time_us;
    uint32_t name;
    int32_t device;
    bool is_start, has_time;
};

struct snapshot_range {
    uint32_t first, count;
};

struct snapshot_tables {
    struct model *model;
    uint16_t process;
    struct arena arena;
    struct snapshot_entries *entries;
    struct table objects, blocks, segments, histories, annotations, children;
    struct table partials;
    uint32_t free_objects;      /* row + 1 of the first unused one */
    struct snapshot_memo *memo; /* of the pickle that is read; NULL: none. Borrowed. */
    uint32_t *waiting;          /* frames of the model, in lists that are not used yet */
    size_t waiting_count, waiting_capacity;
    struct fields *fields;
    uint32_t free_partials; /* row + 1 of the first unused one */
    uint64_t unknown_actions;
    uint64_t odd_count;   /* dicts and lists that lack what makes them events, blocks, segments */
    uint64_t odd_times;   /* of events, that are no numbers */
    bool is_npu;          /* it names torch_npu */
    uint32_t newest_file; /* text: of the newest frame */
    /* The answer, once snapshot_tables_finish() returned MT_OK. */
    struct snapshot_range segments_found, annotations_found;
    struct snapshot_range traces_found; /* of children: objects, one for each device */
    uint32_t settings;                  /* text: of the allocator; 0: not known */
    bool has_settings, has_host_part;
};

enum mt_result snapshot_tables_init(struct snapshot_tables *tables, struct model *model,
                                    uint16_t process, struct mt_error *error);
void snapshot_tables_release(struct snapshot_tables *tables);

/* Values. Texts are kept in the model. */
struct snapshot_value value_number(uint64_t number);
struct snapshot_value value_other(void);
struct snapshot_value snapshot_text(struct snapshot_tables *tables, const char *bytes,
                                    size_t size_bytes);
/* The object has that number in the memo from now on; another value of it was made from there. */
void snapshot_remember(struct snapshot_tables *tables, struct snapshot_value object, size_t number);
void snapshot_share(struct snapshot_tables *tables, struct snapshot_value object);
/* VALUE_OTHER when there is no memory, which is then remembered. */
struct snapshot_value snapshot_dict(struct snapshot_tables *tables);
struct snapshot_value snapshot_list(struct snapshot_tables *tables);

/*
 * Puts count items (key, value, key, value ...) into a dict, or count items after a list. Errors
 * say what is wrong, but not where: that is for the caller.
 */
enum mt_result snapshot_set(struct snapshot_tables *tables, struct snapshot_value dict,
                            const struct snapshot_value *items, size_t count,
                            struct mt_error *error);
enum mt_result snapshot_append(struct snapshot_tables *tables, struct snapshot_value list,
                               const struct snapshot_value *items, size_t count,
                               struct mt_error *error);

/*
 * A list or dict that damage left open gets the values that were read for it; what does not fit,
 * as it is itself unfinished, is left out.
 */
void snapshot_fill_open(struct snapshot_tables *tables, struct snapshot_value target,
                        const struct snapshot_value *items, size_t count);

/* The last value of all. MT_UNSUPPORTED: no snapshot. MT_NO_DATA: one without anything in it. */
enum mt_result snapshot_tables_finish(struct snapshot_tables *tables, struct snapshot_value root,
                                      struct mt_error *error);

#endif
