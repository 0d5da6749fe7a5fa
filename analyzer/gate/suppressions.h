/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that a team knows about and lives with, for a while: one line each.
 *
 *     leak:forget_metrics  reason="known, fixed in 2.3" issue=https://... until=2027-01-31 max="2
 * MiB" leak:^libfoo.so$
 *
 * The word after leak: is matched as LeakSanitizer does: anywhere in the name of a function, file
 * or module of any frame; * is any text, ^ and $ are its ends. So a file of LeakSanitizer can be
 * used as it is. until is the last day; max is what the finding may hold.
 */
#ifndef LEAKTIDE_GATE_SUPPRESSIONS_H
#define LEAKTIDE_GATE_SUPPRESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"
#include "symbols.h"
#include "table.h"

struct suppression {
    const char *pattern;
    const char *reason, *issue; /* "" when not given */
    uint32_t until;             /* 20270131; 0: for ever */
    bool has_max;
    uint64_t max_bytes;
    unsigned line;
    /* Counted while judging. */
    size_t use_count;
};

struct suppressions {
    const char *path;
    struct arena arena;
    struct table rows;
};

/* MT_NOT_FOUND, MT_IO; MT_USAGE with file and line; MT_NO_MEMORY. */
enum mt_result suppressions_open(const char *path, struct suppressions **out,
                                 struct mt_error *error);
void suppressions_close(struct suppressions *suppressions);

/* Also of the label, for what has no frames. */
bool suppression_matches(const struct suppression *row, const char *label,
                         const struct symbol_frame *frames, size_t frame_count);

/* As LeakSanitizer's templates. */
bool pattern_matches(const char *pattern, const char *text);

/* Today as 20261231: of SOURCE_DATE_EPOCH if it is set. */
uint32_t date_today(void);

#endif
