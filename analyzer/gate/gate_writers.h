/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict where people look for it: one file for each format.
 */
#ifndef LEAKTIDE_GATE_GATE_WRITERS_H
#define LEAKTIDE_GATE_GATE_WRITERS_H

#include <stdio.h>

#include "judge.h"
#include "outlet.h"

struct gate_writer {
    const char *name, *meaning;
    const char *file_name; /* in a folder of results */
    enum audience audience;
    void (*write)(const struct gate_verdict *verdict, struct outlet *out);
};

extern const struct gate_writer gate_writers[]; /* ends with a NULL name */

void gate_write_text(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_markdown(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_junit(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_sarif(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_json(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_openmetrics(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_github(const struct gate_verdict *verdict, struct outlet *out);
void gate_write_gitlab(const struct gate_verdict *verdict, struct outlet *out);

/* "Memory gate FAILED: 2 of 9 checks failed, 1 cannot be judged." */
void gate_put_headline(const struct gate_verdict *verdict, struct outlet *out);
/* Of all cases; the worst counts. */
enum case_outcome gate_worst(const struct gate_verdict *verdict);

/* A number of a case that has a unit, for people: "12.1 MiB", "64.0 KiB per step". In the arena. */
const char *gate_amount(struct arena *arena, const struct gate_case *row, uint64_t amount);

/* What to type to agree to what grew, or to leaks; NULL when nothing of the kind failed. */
const char *gate_accept_growth(const struct gate_verdict *verdict, struct arena *arena);
const char *gate_accept_leaks(const struct gate_verdict *verdict, struct arena *arena);

/* What a rule is called where findings of many programs are collected. */
struct gate_rule {
    const char *rule, *id, *meaning; /* "leak", "mem/leak" */
    const char *help;                /* NULL: as of every limit */
};
extern const struct gate_rule gate_rules[];
extern const size_t gate_rule_count;
/* What to do, for people. */
const char *gate_rule_help(size_t index);
/* Always one of them. */
size_t gate_rule_index(const char *rule);

/* Where a case is shown: at the program's own line where that is known, else at the policy's. */
struct gate_place {
    const char *file; /* as project_path() */
    uint32_t line;    /* at least 1 */
};
struct gate_place gate_place_of(const struct gate_verdict *verdict, const struct gate_case *row);

/* A file of the program as people of its project know it: below the current folder, or as it is. */
const char *project_path(const char *path);

#endif
