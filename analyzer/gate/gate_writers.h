/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict where people look for it: one file for each format.
 */
#ifndef MEMTIDE_GATE_GATE_WRITERS_H
#define MEMTIDE_GATE_GATE_WRITERS_H

#include <stdio.h>

#include "judge.h"
#include "text_builder.h"

struct gate_writer {
    const char *name, *meaning;
    const char *file_name; /* in a folder of results */
    void (*write)(const struct gate_verdict *verdict, struct text_builder *text);
};

extern const struct gate_writer gate_writers[]; /* ends with a NULL name */

void gate_write_text(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_markdown(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_junit(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_sarif(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_json(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_openmetrics(const struct gate_verdict *verdict, struct text_builder *text);
void gate_write_github(const struct gate_verdict *verdict, struct text_builder *text);

/* "Memory gate FAILED: 2 of 9 limits exceeded, 1 cannot be judged." */
void gate_add_headline(const struct gate_verdict *verdict, struct text_builder *text);
/* Of all cases; the worst counts. */
enum case_outcome gate_worst(const struct gate_verdict *verdict);

/* A file of the program as people of its project know it: below the current folder, or as it is. */
const char *project_path(const char *path);

#endif
