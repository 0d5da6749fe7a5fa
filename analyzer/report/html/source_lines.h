/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files beside the frames of a page, for who asks for them.
 *
 * A recording is a stranger's and could name any file of whoever writes the page. So a file is read
 * only if it is called as sources are, and of it only the lines that frames name are taken. What
 * was written after the recording began may say something else on its lines: such a file is only
 * named.
 */
#ifndef LEAKTIDE_REPORT_SOURCE_LINES_H
#define LEAKTIDE_REPORT_SOURCE_LINES_H

#include <stdint.h>

#include "arena.h"
#include "outlet.h"
#include "table.h"

/* Longer lines are cut, and more lines are left out. */
enum { SOURCE_LINE_BYTES_MAX = 200, SOURCE_LINES_MAX = 20000 };

struct source_lines {
    struct arena arena;
    struct table wanted; /* struct source_line */
    uint64_t
        recorded_ns; /* since 1970, when the recording began; 0: not known, no file is younger */
};

void source_lines_init(struct source_lines *sources, uint64_t recorded_ns);
void source_lines_release(struct source_lines *sources);

/* A frame's place; one without a file or a line is passed over. file is borrowed. */
void source_lines_want(struct source_lines *sources, const char *file, uint64_t line);

/* The dataset source-lines, docs/html-report.md. Reads the files, each once. */
void source_lines_write(struct source_lines *sources, struct outlet *out);

#endif
